//! How a flow in space changes by itself, in the coefficients of its modes.

use meniscus_core::vector::cross;

use super::modes::{Modes, square, wave_numbers};
use super::transform::{Along, Shape, along_all};
use crate::flow::Advection;

/// What finds how the modes of a box in space carry each other.
#[derive(Clone, Debug)]
pub struct Dynamics {
    /// The shape of lists of amplitudes, and where those of each mode are.
    shape: Shape,
    places: Vec<usize>,
    directions: Vec<[f64; 3]>,
    /// The amplitudes of the vorticity of a flow with a coefficient of one.
    turns: Vec<[f64; 3]>,
    squares: Vec<f64>,
    /// The length of the greatest wave number, in 1/m.
    wave_number: f64,
    /// For sines and cosines along each axis, to points, and back.
    to_points: [[Along; 2]; 3],
    to_waves: [[Along; 2]; 3],
    /// The velocity that is held, at the points.
    velocity: [Vec<f64>; 3],
}

/// Sines, or cosines.
const SIN: usize = 0;
const COS: usize = 1;

impl Dynamics {
    /// For the modes of a box.
    pub fn new(modes: &Modes) -> Self {
        let counts = modes.counts();
        // Exact for products of three.
        let points = counts.map(|count| 3 * count / 2 + 1);
        let shape = Shape(counts.map(|count| count + 1));
        let waves = [f64::sin, f64::cos];
        let to_points =
            std::array::from_fn(|axis| waves.map(|wave| Along::middles(counts[axis], points[axis], wave)));
        let to_waves =
            std::array::from_fn(|axis| waves.map(|wave| Along::amplitudes(counts[axis], points[axis], wave)));
        let turn = |mode: &super::Mode| {
            cross(wave_numbers(modes.size, mode.half_waves), mode.direction).map(|turn| -turn)
        };
        Self {
            shape,
            places: modes.modes.iter().map(|mode| shape.place(mode.half_waves)).collect(),
            directions: modes.modes.iter().map(|mode| mode.direction).collect(),
            turns: modes.modes.iter().map(turn).collect(),
            squares: modes.squares(),
            wave_number: modes.eigenvalues().into_iter().fold(0.0, f64::max).sqrt(),
            to_points,
            to_waves,
            velocity: [const { Vec::new() }; 3],
        }
    }

    /// A vector field at the points by what each mode has of it: with `own` along its own axis and `other` along the others for waves.
    fn at_points(&self, flow: &[f64], of: &[[f64; 3]], [own, other]: [usize; 2]) -> [Vec<f64>; 3] {
        std::array::from_fn(|axis| {
            let mut values = vec![0.0; self.shape.len()];
            for ((&place, amplitude), c) in self.places.iter().zip(of).zip(flow) {
                values[place] += c * amplitude[axis];
            }
            let along =
                std::array::from_fn(|a| self.to_points[a][if a == axis { own } else { other }].clone());
            along_all(&values, self.shape, &along)
        })
    }
}

impl Advection for Dynamics {
    fn rate(&mut self, flow: &[f64], rate: &mut [f64]) {
        self.set_velocity(flow);
        self.rate_of(flow, rate);
    }

    fn set_velocity(&mut self, flow: &[f64]) {
        self.velocity = self.at_points(flow, &self.directions, [SIN, COS]);
    }

    fn rate_of(&mut self, flow: &[f64], rate: &mut [f64]) {
        let vorticity = self.at_points(flow, &self.turns, [COS, SIN]);
        rate.fill(0.0);
        let points = Shape(std::array::from_fn(|axis| self.to_waves[axis][SIN].from()));
        for axis in 0..3 {
            let [next, last] = [(axis + 1) % 3, (axis + 2) % 3];
            let product: Vec<f64> = (0..points.len())
                .map(|k| {
                    self.velocity[next][k] * vorticity[last][k] - self.velocity[last][k] * vorticity[next][k]
                })
                .collect();
            let along = std::array::from_fn(|a| self.to_waves[a][if a == axis { SIN } else { COS }].clone());
            let amplitudes = along_all(&product, points, &along);
            for ((to, &place), direction) in rate.iter_mut().zip(&self.places).zip(&self.directions) {
                *to += amplitudes[place] * direction[axis] / square(*direction);
            }
        }
    }

    fn frequency(&self) -> f64 {
        let [u, v, w] = &self.velocity;
        let squares = u.iter().zip(v).zip(w).map(|((u, v), w)| u * u + v * v + w * w);
        squares.fold(0.0, f64::max).sqrt() * self.wave_number
    }

    fn squares(&self) -> &[f64] {
        &self.squares
    }

    /// Vortices are stretched: the enstrophy is not kept.
    fn eigenvalues(&self) -> Option<&[f64]> {
        None
    }
}

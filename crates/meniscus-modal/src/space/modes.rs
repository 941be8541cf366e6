//! The modes of a box in space.

use std::f64::consts::PI;

use meniscus_core::vector::{cross, dot};

use super::transform::{Along, Shape, along_all};
use crate::flow::Decay;
use crate::tracers::Velocities;

/// Eigenmodes of a box. A flow is a list of coefficients: for each the amplitude of its vorticity, in 1/s.
#[derive(Clone, Debug, PartialEq)]
pub struct Modes {
    /// The sides of the box, in m.
    pub size: [f64; 3],
    /// The modes.
    pub modes: Vec<Mode>,
}

/// An eigenmode.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mode {
    /// Half waves along each axis.
    pub half_waves: [usize; 3],
    /// The amplitudes a of its velocity, in m, for a vorticity with an amplitude of one: orthogonal to the wave numbers.
    pub direction: [f64; 3],
}

/// Cells of velocities that carry tracers to a half wave of the shortest along an axis, and how many there are along an axis at least and at most.
const CELLS_A_WAVE: usize = 8;
const CELLS: [usize; 2] = [16, 96];

impl Modes {
    /// Those with the lowest eigenvalues. Of those that share one, the first have fewer half waves along x, then along y, and turn about z.
    pub fn new(size: [f64; 3], count: usize) -> Self {
        let volume: f64 = size.iter().product();
        // Two for each point of an eighth of a ball of this radius, in the space of wave numbers, and more until there are enough.
        let mut most = (3.0 * PI * PI * count as f64 / volume).cbrt();
        loop {
            let mut waves = waves_within(size, most);
            let modes_of = |half_waves: &[usize; 3]| 1 + usize::from(half_waves.iter().all(|&k| k > 0));
            if waves.iter().map(modes_of).sum::<usize>() >= count {
                let key = |half_waves: &[usize; 3]| square(wave_numbers(size, *half_waves));
                waves.sort_by(|a, b| key(a).total_cmp(&key(b)).then(a.cmp(b)));
                let mut modes: Vec<Mode> = waves.into_iter().flat_map(|k| modes(size, k)).collect();
                modes.truncate(count);
                return Self { size, modes };
            }
            most *= 1.2;
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.modes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.modes.is_empty()
    }

    /// The volume of the box, in m³.
    pub fn volume(&self) -> f64 {
        self.size.iter().product()
    }

    /// λ of each, in 1/m².
    pub fn eigenvalues(&self) -> Vec<f64> {
        self.modes.iter().map(|mode| square(wave_numbers(self.size, mode.half_waves))).collect()
    }

    /// For each eight times the mean square of the velocity of a flow with a coefficient of one.
    pub fn squares(&self) -> Vec<f64> {
        let of_mode = |mode: &Mode| weight(mode.half_waves) * square(mode.direction);
        self.modes.iter().map(of_mode).collect()
    }

    /// The integral of half the square of the vorticity of a flow.
    pub fn enstrophy(&self, flow: &[f64]) -> f64 {
        let of_mode = |(mode, c): (&Mode, &f64)| weight(mode.half_waves) * c * c;
        self.volume() / 16.0 * self.modes.iter().zip(flow).map(of_mode).sum::<f64>()
    }

    /// How they decay.
    pub fn decay(&self) -> Decay {
        Decay::apart(self.eigenvalues())
    }

    /// The coefficients of a wave that turns about an axis, with an amplitude of its vorticity; nothing if it does not turn, or is none of these modes.
    pub fn wave(&self, half_waves: [usize; 3], axis: [f64; 3], vorticity: f64) -> Option<Vec<f64>> {
        let k = wave_numbers(self.size, half_waves);
        let across = cross(k, axis);
        let of_waves: [f64; 3] = std::array::from_fn(|i| if half_waves[i] == 0 { 0.0 } else { across[i] });
        let length = square(of_waves).sqrt();
        if length <= 1e-9 * square(k).sqrt() * square(axis).sqrt() {
            return None;
        }
        let amplitude = of_waves.map(|a| vorticity / square(k).sqrt() * a / length);
        let mut flow = vec![0.0; self.len()];
        let mut is_there = false;
        for (c, mode) in flow.iter_mut().zip(&self.modes).filter(|(_, mode)| mode.half_waves == half_waves) {
            *c = dot(amplitude, mode.direction) / square(mode.direction);
            is_there = true;
        }
        is_there.then_some(flow)
    }

    /// The velocity of a flow at a point.
    pub fn velocity(&self, flow: &[f64], x: [f64; 3]) -> [f64; 3] {
        let mut velocity = [0.0; 3];
        for (mode, c) in self.modes.iter().zip(flow) {
            let k = wave_numbers(self.size, mode.half_waves);
            for (axis, to) in velocity.iter_mut().enumerate() {
                let waves = (0..3).map(|a| {
                    let angle = k[a] * x[a];
                    if a == axis { angle.sin() } else { angle.cos() }
                });
                *to += c * mode.direction[axis] * waves.product::<f64>();
            }
        }
        velocity
    }

    /// The velocity along an axis through the faces of the cells of a grid that are across to it, as a mean over each: what flows into a cell is nothing. In lists by x, and these by y, with a face more than
    /// cells along the axis.
    pub fn through_faces(&self, flow: &[f64], axis: usize, cells: [usize; 3]) -> Vec<f64> {
        let counts = self.counts();
        let along: [Along; 3] = std::array::from_fn(|a| {
            if a == axis {
                return Along::nodes(counts[a], cells[a], f64::sin);
            }
            Along::means(counts[a], cells[a])
        });
        self.component(flow, axis, &along)
    }

    /// The velocities that carry tracers.
    pub fn velocities(&self, flow: &[f64]) -> Velocities<3> {
        let counts = self.counts();
        let cells = counts.map(|count| (CELLS_A_WAVE * count).clamp(CELLS[0], CELLS[1]));
        let of_axis: [Vec<f64>; 3] = std::array::from_fn(|axis| {
            let along: [Along; 3] = std::array::from_fn(|a| {
                Along::nodes(counts[a], cells[a], if a == axis { f64::sin } else { f64::cos })
            });
            self.component(flow, axis, &along)
        });
        let at = |k: usize| [0, 1, 2].map(|axis: usize| of_axis[axis][k] as f32);
        Velocities::at_nodes(self.size, cells, (0..of_axis[0].len()).map(at).collect())
    }

    /// A component of the velocity at points along the axes.
    fn component(&self, flow: &[f64], axis: usize, along: &[Along; 3]) -> Vec<f64> {
        let shape = Shape(self.counts().map(|count| count + 1));
        let mut values = vec![0.0; shape.len()];
        for (mode, c) in self.modes.iter().zip(flow) {
            values[shape.place(mode.half_waves)] += c * mode.direction[axis];
        }
        along_all(&values, shape, along)
    }

    /// The most half waves along each axis.
    pub(super) fn counts(&self) -> [usize; 3] {
        std::array::from_fn(|axis| self.modes.iter().map(|mode| mode.half_waves[axis]).max().unwrap_or(0))
    }
}

/// π k / L along each axis.
pub(super) fn wave_numbers(size: [f64; 3], half_waves: [usize; 3]) -> [f64; 3] {
    std::array::from_fn(|axis| PI * half_waves[axis] as f64 / size[axis])
}

pub(super) fn square(a: [f64; 3]) -> f64 {
    dot(a, a)
}

/// Eight times the mean square of what has these waves, if its amplitude is one.
fn weight(half_waves: [usize; 3]) -> f64 {
    if half_waves.contains(&0) { 2.0 } else { 1.0 }
}

/// All half waves with wave numbers up to some length that there are modes of: no more than one is 0.
fn waves_within(size: [f64; 3], most: f64) -> Vec<[usize; 3]> {
    let counts = size.map(|side| (most * side / PI) as usize);
    let all = (0..=counts[0])
        .flat_map(|k| (0..=counts[1]).flat_map(move |l| (0..=counts[2]).map(move |m| [k, l, m])));
    all.filter(|k| k.iter().filter(|k| **k == 0).count() <= 1)
        .filter(|&k| square(wave_numbers(size, k)) <= most * most)
        .collect()
}

/// The modes with some half waves: one that turns about z, and then one with what is left.
fn modes(size: [f64; 3], half_waves: [usize; 3]) -> Vec<Mode> {
    let k = wave_numbers(size, half_waves);
    let flat = [k[1], -k[0], 0.0];
    let other = cross(k, flat);
    let directions = match half_waves {
        [_, _, 0] => vec![flat],
        [0, _, _] => vec![[0.0, k[2], -k[1]]],
        [_, 0, _] => vec![[k[2], 0.0, -k[0]]],
        _ => vec![flat, other],
    };
    let scaled = |a: [f64; 3]| {
        let factor = 1.0 / (square(k) * square(a)).sqrt();
        Mode { half_waves, direction: a.map(|a| factor * a) }
    };
    directions.into_iter().map(scaled).collect()
}

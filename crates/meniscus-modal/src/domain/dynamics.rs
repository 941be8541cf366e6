//! How a flow between islands changes by itself, in the coefficients of its modes.

use std::sync::Arc;

use meniscus_core::nodes::Node;

use super::modes::{Modes, irrotational};
use super::tensor::Tensor;
use crate::flow::{Advection, dot};

/// What finds how the modes of a domain carry each other.
#[derive(Clone, Debug)]
pub struct Dynamics {
    tensor: Arc<Tensor>,
    eigenvalues: Vec<f64>,
    squares: Vec<f64>,
    /// For each circulation what it adds to the coefficients of eigenmodes without turning.
    turning: Vec<Vec<f64>>,
    /// For each of some points the velocity along x of each eigenmode with a stream function of one, and along y.
    samples: Vec<[Vec<f64>; 2]>,
    /// The stream function that is held, and a vorticity, by eigenmodes.
    stream: Vec<f64>,
    vorticity: Vec<f64>,
}

impl Dynamics {
    /// For the modes of a domain.
    pub fn new(modes: &Modes) -> Self {
        let eigenvalues = modes.eigenvalues().to_vec();
        let count = eigenvalues.len();
        let circulations = modes.len() - count;
        let squares = eigenvalues.iter().map(|l| 1.0 / l).chain((0..circulations).map(|_| 1.0)).collect();
        Self {
            tensor: modes.tensor().clone(),
            squares,
            turning: modes.turning().to_vec(),
            samples: samples(modes),
            stream: vec![0.0; count],
            vorticity: vec![0.0; count],
            eigenvalues,
        }
    }

    /// Finds the vorticity of a flow by eigenmodes.
    fn turn(&mut self, flow: &[f64]) {
        self.vorticity.copy_from_slice(&flow[..self.eigenvalues.len()]);
        for (turning, amplitude) in self.turning.iter().zip(&flow[self.eigenvalues.len()..]) {
            self.vorticity.iter_mut().zip(turning).for_each(|(w, turns)| *w -= amplitude * turns);
        }
    }
}

impl Advection for Dynamics {
    fn rate(&mut self, flow: &[f64], rate: &mut [f64]) {
        self.set_velocity(flow);
        self.rate_of(flow, rate);
    }

    fn set_velocity(&mut self, flow: &[f64]) {
        for ((s, b), eigenvalue) in self.stream.iter_mut().zip(flow).zip(&self.eigenvalues) {
            *s = b / eigenvalue;
        }
    }

    fn rate_of(&mut self, flow: &[f64], rate: &mut [f64]) {
        self.turn(flow);
        let (of_eigenmodes, of_circulations) = rate.split_at_mut(self.eigenvalues.len());
        self.tensor.advect(&self.vorticity, &self.stream, of_eigenmodes);
        of_circulations.fill(0.0);
    }

    fn frequency(&self) -> f64 {
        let square = |[of_u, of_v]: &[Vec<f64>; 2]| {
            let (u, v) = (dot(of_u, &self.stream), dot(of_v, &self.stream));
            u * u + v * v
        };
        let largest = self.eigenvalues.last().copied().unwrap_or(0.0);
        (self.samples.iter().map(square).fold(0.0, f64::max) * largest).sqrt()
    }

    fn squares(&self) -> &[f64] {
        &self.squares
    }

    fn eigenvalues(&self) -> Option<&[f64]> {
        Some(&self.eigenvalues)
    }

    fn irrotational(&self, flow: &[f64]) -> Vec<f64> {
        irrotational(&self.turning, flow, self.eigenvalues.len())
    }
}

/// The velocities of eigenmodes at corners a quarter of the shortest wave apart, and at all if that is less than two cells.
fn samples(modes: &Modes) -> Vec<[Vec<f64>; 2]> {
    let nodes = modes.nodes();
    let largest = modes.eigenvalues().last().copied().unwrap_or(0.0);
    let quarter = std::f64::consts::FRAC_PI_2 / largest.sqrt();
    let apart = ((quarter / nodes.dx) as usize).max(1);
    let ny = nodes.counts()[1];
    let eigenmodes = &modes.profiles()[..modes.eigenvalues().len()];
    let mut samples = Vec::new();
    for i in (1..nodes.cells[0]).step_by(apart) {
        for j in (1..nodes.cells[1]).step_by(apart) {
            let node = i * ny + j;
            if nodes.of[node] == Node::Fluid {
                let slope = |step: usize| {
                    let of_mode =
                        |mode: &Vec<f64>| (mode[node + step] - mode[node - step]) / (2.0 * nodes.dx);
                    eigenmodes.iter().map(of_mode).collect::<Vec<f64>>()
                };
                samples.push([slope(1), slope(ny)]);
            }
        }
    }
    samples
}

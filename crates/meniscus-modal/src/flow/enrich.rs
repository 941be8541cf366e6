//! Modes that are drawn, or learnt from flows.

use faer::{Mat, Side};

use super::basis::{Basis, EnrichedMode};
use super::sines::Sines;

/// Wave numbers along the sides of a square that modes other than eigenmodes are made of.
const FINE: f64 = 64.0;
/// What is left of a flow without the modes that are there already makes a mode of its own if it is more than this part of the flow, as a speed.
const LEAST_NEW: f64 = 0.05;
/// The least part of the largest that a learnt mode has in the flows that it is learnt from, as a speed: a matrix of products of flows sees no less.
const LEAST_LEARNT: f64 = 1e-7;

impl Basis {
    /// The sines that modes which are drawn or learnt are made of.
    pub fn fine_sines(&self) -> Sines {
        let [x, y] = self.sines.size;
        let wanted = [FINE * (x / y).sqrt(), FINE * (y / x).sqrt()];
        let counts = [0, 1].map(|axis| {
            let of_eigenmodes = self.eigenmodes.iter().map(|mode| mode[axis]).max().unwrap_or(1);
            of_eigenmodes.max(wanted[axis].round() as usize)
        });
        Sines { size: self.sines.size, counts }
    }

    /// Adds what is new in a flow, given by its vorticity in [`fine_sines`](Self::fine_sines), as a mode; says whether there is enough of it.
    pub fn add_mode(&mut self, name: &str, vorticity: &[f64]) -> bool {
        let inverse = self.inverse_eigenvalues();
        let whole = product(vorticity, vorticity, &inverse).sqrt();
        let mut mode = vorticity.to_vec();
        self.refine();
        let left = self.deflate(&mut mode, &inverse);
        if left <= LEAST_NEW * whole {
            self.coarsen();
            return false;
        }
        self.enrichment.push(EnrichedMode { name: name.into(), vorticity: mode });
        true
    }

    /// Adds the modes that hold the most of what is new in some flows, each given by its vorticity in [`fine_sines`](Self::fine_sines) and counted as if it had the energy of the others:
    /// at most some number of them (Gerszewski 2015, eq. 10). Gives the part of what is new that each holds, in energy, which may be fewer.
    pub fn learn_modes(&mut self, name: &str, flows: &[Vec<f64>], most: usize) -> Vec<f64> {
        let inverse = self.inverse_eigenvalues();
        self.refine();
        let mut new: Vec<Vec<f64>> = Vec::new();
        for flow in flows {
            let size = product(flow, flow, &inverse).sqrt();
            if size > 0.0 {
                let mut rest: Vec<f64> = flow.iter().map(|w| w / size).collect();
                self.remove_modes_from(&mut rest, &inverse);
                new.push(rest);
            }
        }
        if new.is_empty() {
            self.coarsen();
            return Vec::new();
        }
        let products = Mat::from_fn(new.len(), new.len(), |i, j| product(&new[i], &new[j], &inverse));
        let eigen =
            products.self_adjoint_eigen(Side::Lower).expect("a symmetric matrix of numbers has eigenvalues");
        let shares: Vec<f64> = eigen.S().column_vector().iter().map(|share| share.max(0.0)).collect();
        let all: f64 = shares.iter().sum();
        let largest = shares.iter().copied().fold(0.0, f64::max);
        let mut learnt = Vec::new();
        // Eigenvalues come from the smallest to the largest.
        for column in (0..shares.len()).rev().take(most) {
            if shares[column].sqrt() <= LEAST_LEARNT * largest.sqrt() {
                break;
            }
            let mut mode = vec![0.0; inverse.len()];
            for (row, flow) in new.iter().enumerate() {
                let factor = eigen.U()[(row, column)];
                mode.iter_mut().zip(flow).for_each(|(to, w)| *to += factor * w);
            }
            if self.deflate(&mut mode, &inverse) == 0.0 {
                break;
            }
            let name = format!("{name}-{}", learnt.len() + 1);
            self.enrichment.push(EnrichedMode { name, vorticity: mode });
            learnt.push(shares[column] / all);
        }
        self.coarsen();
        learnt
    }

    /// Removes the mode with a place among those that are no eigenmodes.
    pub fn remove_mode(&mut self, place: usize) {
        self.enrichment.remove(place);
        self.coarsen();
    }

    /// Makes modes that are not eigenmodes of fewer sines: of about so many along each side, and of those that eigenmodes are made of. What that leaves of them is made orthogonal again.
    pub fn trim(&mut self, most: usize) {
        if self.enrichment.is_empty() {
            return;
        }
        let fine = self.fine_sines();
        let of_axis = |axis: usize| {
            let of_eigenmodes = self.eigenmodes.iter().map(|mode| mode[axis]).max().unwrap_or(1);
            let wanted = (fine.counts[axis] as f64 * most as f64 / FINE).ceil() as usize;
            wanted.clamp(of_eigenmodes, self.sines.counts[axis])
        };
        let sines = Sines { size: fine.size, counts: [of_axis(0), of_axis(1)] };
        let inverse: Vec<f64> = sines.eigenvalues().iter().map(|eigenvalue| 1.0 / eigenvalue).collect();
        let before = std::mem::replace(&mut self.sines, sines.clone());
        for mode in std::mem::take(&mut self.enrichment) {
            let mut vorticity = before.moved(&mode.vorticity, &sines);
            if self.deflate(&mut vorticity, &inverse) > LEAST_NEW {
                self.enrichment.push(EnrichedMode { vorticity, ..mode });
            }
        }
        self.coarsen();
    }

    /// 1 / λ of the fine sines.
    fn inverse_eigenvalues(&self) -> Vec<f64> {
        self.fine_sines().eigenvalues().iter().map(|eigenvalue| 1.0 / eigenvalue).collect()
    }

    /// Makes room for modes other than eigenmodes.
    fn refine(&mut self) {
        self.sines = self.fine_sines();
    }

    /// Gives up the room that is not needed without them.
    fn coarsen(&mut self) {
        if self.enrichment.is_empty() {
            let of_axis = |axis: usize| self.eigenmodes.iter().map(|mode| mode[axis]).max().unwrap_or(1);
            self.sines.counts = [of_axis(0), of_axis(1)];
        }
    }

    /// Takes what lies in the span of the modes from a flow, and makes what is left of unit size; gives how large that was.
    fn deflate(&self, flow: &mut [f64], inverse: &[f64]) -> f64 {
        // Twice, since the first time leaves what rounding makes.
        for _ in 0..2 {
            self.remove_modes_from(flow, inverse);
        }
        let left = product(flow, flow, inverse).sqrt();
        if left > 0.0 {
            flow.iter_mut().for_each(|w| *w /= left);
        }
        left
    }

    fn remove_modes_from(&self, flow: &mut [f64], inverse: &[f64]) {
        for &mode in &self.eigenmodes {
            flow[self.sines.place(mode)] = 0.0;
        }
        for mode in &self.enrichment {
            let part = product(flow, &mode.vorticity, inverse);
            flow.iter_mut().zip(&mode.vorticity).for_each(|(to, w)| *to -= part * w);
        }
    }
}

/// What two flows have in common in energy: the sum of products over λ.
fn product(a: &[f64], b: &[f64], inverse_eigenvalues: &[f64]) -> f64 {
    a.iter().zip(b).zip(inverse_eigenvalues).map(|((a, b), inverse)| a * b * inverse).sum()
}

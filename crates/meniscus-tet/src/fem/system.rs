//! The linear system of a stage.

use meniscus_core::vector::{add_scaled, norm};

use super::rows::BlockRows;
use super::walls::Frame;

/// Velocities u and impulses l = dt p with
///
/// ```text
/// A u - G l = f
/// D u + C l = c
/// ```
///
/// the conditions for the least of the energies of a step under the constraint of its volumes (Misztal and others 2012,
/// eq. 33). G is the transpose of D but for the residual part of the stabiliser. Each velocity is in the coordinates
/// of its frame; those that are held have a row of their own and no part in the others.
#[derive(Clone, Debug)]
pub struct System {
    /// A: mass, viscosity and the curvature of the surface energy, kg.
    pub momentum: BlockRows<3, 3>,
    /// G: the gradient, m²; its columns add up to the gradient of a component's volume.
    pub gradient: BlockRows<3, 1>,
    /// D: the divergence, m².
    pub divergence: BlockRows<1, 3>,
    /// C: the stabiliser, m⁴ s/kg; symmetric and positive semidefinite.
    pub leak: BlockRows<1, 1>,
    /// f: momenta and impulses, kg m/s.
    pub force: Vec<[f64; 3]>,
    /// c: wanted expansion, m³/s.
    pub expansion: Vec<f64>,
    /// The volume of each pressure's share of its tets, m³.
    pub volumes: Vec<f64>,
    /// The lumped mass of each velocity, kg: what of A is there without viscosity and tension.
    pub masses: Vec<f64>,
    /// dt times the mean viscosity at each pressure over its volume, kg/(m⁴ s).
    pub viscous: Vec<f64>,
    /// The coordinates of each velocity.
    pub frames: Vec<Frame>,
    /// The pressures of each part that knows its pressures only up to a constant.
    pub closed_parts: Vec<Vec<usize>>,
}

/// The solution of a `System`.
#[derive(Clone, Debug)]
pub struct Solution {
    /// Velocities in their frames, m/s.
    pub velocities: Vec<[f64; 3]>,
    /// Impulses dt p, Pa s.
    pub impulses: Vec<f64>,
}

impl System {
    /// Finds the parts without an opening: those in which a uniform pressure pushes nothing.
    pub(super) fn close_parts(&mut self, part_of: &[u32]) {
        let mut parts = vec![Vec::new(); part_of.iter().max().map_or(0, |&p| p as usize + 1)];
        for (pressure, &part) in part_of.iter().enumerate() {
            parts[part as usize].push(pressure);
        }
        let pushes = self.uniform_pushes(part_of, parts.len());
        let closed = parts.into_iter().zip(pushes).filter(|(part, push)| !part.is_empty() && *push < 1e-9);
        self.closed_parts = closed.map(|(part, _)| part).collect();
    }

    /// How strongly a uniform pressure in each part pushes a vertex at most, over the strongest push of one pressure.
    fn uniform_pushes(&self, part_of: &[u32], parts: usize) -> Vec<f64> {
        let (mut together, mut alone) = (vec![0.0_f64; parts], vec![f64::MIN_POSITIVE; parts]);
        let mut sums = vec![[0.0; 3]; parts];
        for node in 0..self.gradient.pattern.rows() {
            for (pressure, block) in self.gradient.row(node) {
                let (part, push) = (part_of[pressure] as usize, block.map(|[g]| g));
                sums[part] = add_scaled(sums[part], 1.0, push);
                alone[part] = alone[part].max(norm(push));
            }
            for (pressure, _) in self.gradient.row(node) {
                let part = part_of[pressure] as usize;
                together[part] = together[part].max(norm(std::mem::take(&mut sums[part])));
            }
        }
        together.iter().zip(alone).map(|(together, alone)| together / alone).collect()
    }

    /// Takes from the wanted expansion of closed parts what they cannot do: their sum, evenly by volume.
    pub(super) fn balance(&mut self) {
        for part in &self.closed_parts {
            let sum: f64 = part.iter().map(|&q| self.expansion[q]).sum();
            let volume: f64 = part.iter().map(|&q| self.volumes[q]).sum();
            for &q in part {
                self.expansion[q] -= sum * self.volumes[q] / volume;
            }
        }
    }
}

//! The linear system of a stage.

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
        let parts = part_of.iter().max().map_or(0, |&p| p as usize + 1);
        let mut pushed = vec![0.0_f64; parts];
        let mut largest = vec![0.0_f64; parts];
        let mut push = vec![[0.0; 3]; parts];
        for node in 0..self.gradient.pattern.rows() {
            for (pressure, block) in self.gradient.row(node) {
                let part = part_of[pressure] as usize;
                for x in 0..3 {
                    push[part][x] += block[x][0];
                    largest[part] = largest[part].max(block[x][0].abs());
                }
            }
            for (pressure, _) in self.gradient.row(node) {
                let part = part_of[pressure] as usize;
                let sum = std::mem::take(&mut push[part]);
                pushed[part] = sum.iter().fold(pushed[part], |most, s| most.max(s.abs()));
            }
        }
        let mut members = vec![Vec::new(); parts];
        for (pressure, &part) in part_of.iter().enumerate() {
            members[part as usize].push(pressure);
        }
        let is_closed = |part: usize| pushed[part] <= 1e-9 * largest[part];
        self.closed_parts = members
            .into_iter()
            .enumerate()
            .filter(|(p, m)| !m.is_empty() && is_closed(*p))
            .map(|(_, m)| m)
            .collect();
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

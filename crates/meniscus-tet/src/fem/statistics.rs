//! What a state amounts to: energies, momentum, volumes.

use meniscus_core::vector::{add_scaled, dot};

use super::assemble::Setting;
use super::discretisation::Discretisation;
use super::mesh::Mesh;

/// Sums over all fluids.
#[derive(Clone, Debug, PartialEq)]
pub struct Statistics {
    /// Kinetic energy, J.
    pub kinetic: f64,
    /// Energy of all faces with tension, J.
    pub surface: f64,
    /// Energy in the field of gravity, J; 0 for what lies at the origin.
    pub potential: f64,
    /// Momentum, kg m/s.
    pub momentum: [f64; 3],
    /// The volume of each component, m³.
    pub volumes: Vec<f64>,
}

impl Statistics {
    /// Of fluids with these velocities at the mesh's vertices.
    pub fn new(
        discretisation: &Discretisation,
        setting: &Setting<'_>,
        mesh: &Mesh<'_>,
        velocities: &[[f64; 3]],
    ) -> Self {
        let mass = discretisation.scheme.mass;
        let (mut kinetic, mut potential, mut momentum) = (0.0, 0.0, [0.0; 3]);
        for (t, tet) in mesh.tets.iter().enumerate() {
            let Some((density, _)) = setting.materials.fluid(mesh.labels[t]) else { continue };
            let weight = density * mesh.element(t).volume;
            for (a, &v) in tet.iter().enumerate() {
                let u = velocities[v as usize];
                for (b, &w) in tet.iter().enumerate() {
                    kinetic += 0.5 * weight * mass.share(a, b) * dot(u, velocities[w as usize]);
                }
                momentum = add_scaled(momentum, 0.25 * weight, u);
                potential -= 0.25 * weight * dot(setting.gravity, mesh.positions[v as usize]);
            }
        }
        Self {
            kinetic,
            surface: discretisation.surface.energy(mesh.positions),
            potential,
            momentum,
            volumes: discretisation.components.volumes(mesh),
        }
    }

    /// Kinetic, surface and potential energy, J.
    pub fn energy(&self) -> f64 {
        self.kinetic + self.surface + self.potential
    }
}

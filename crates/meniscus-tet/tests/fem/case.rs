//! A mesh with materials and walls, ready to be stepped.

use meniscus_core::vector::norm;
use meniscus_tet::fem::assemble::{Setting, Stage, assemble};
use meniscus_tet::fem::components::Components;
use meniscus_tet::fem::direct::{self, Singular};
use meniscus_tet::fem::discretisation::{Discretisation, Scheme};
use meniscus_tet::fem::incidence::neighbours;
use meniscus_tet::fem::integrate::{Integrator, Motion, StepError, Stepper};
use meniscus_tet::fem::materials::{Material, Materials};
use meniscus_tet::fem::statistics::Statistics;
use meniscus_tet::fem::system::{Solution, System};
use meniscus_tet::fem::walls::WallVertex;

use crate::meshes::Tets;

pub struct Case {
    pub tets: Tets,
    pub materials: Materials,
    pub walls: Vec<WallVertex>,
    pub gravity: [f64; 3],
    pub expansion: Vec<f64>,
    pub discretisation: Discretisation,
}

impl Case {
    pub fn new(tets: Tets, materials: Materials, walls: Vec<WallVertex>, scheme: Scheme) -> Self {
        Self::with_sealed(tets, materials, walls, scheme, false)
    }

    pub fn with_sealed(
        tets: Tets,
        materials: Materials,
        walls: Vec<WallVertex>,
        scheme: Scheme,
        sealed: bool,
    ) -> Self {
        let mesh = tets.mesh();
        let across = neighbours(&mesh);
        let components = Components::new(&mesh, &across);
        let expansion = vec![0.0; components.len()];
        let sealed = vec![sealed; components.len()];
        let discretisation = Discretisation::new(&mesh, &materials, across, components, &sealed, scheme);
        Self { tets, materials, walls, gravity: [0.0; 3], expansion, discretisation }
    }

    pub fn falling(mut self, gravity: [f64; 3]) -> Self {
        self.gravity = gravity;
        self
    }

    pub fn setting(&self) -> Setting<'_> {
        Setting {
            materials: &self.materials,
            walls: &self.walls,
            gravity: self.gravity,
            expansion: &self.expansion,
        }
    }

    pub fn at_rest(&self) -> Motion {
        Motion {
            positions: self.tets.positions.clone(),
            velocities: vec![[0.0; 3]; self.tets.positions.len()],
        }
    }

    /// The system of a stage that starts from rest where the vertices are.
    pub fn system(&self, dt: f64) -> System {
        let rest = self.at_rest();
        let stage = Stage { mesh: self.tets.mesh(), base: &rest.positions, velocities: &rest.velocities, dt };
        assemble(&self.discretisation, &self.setting(), &stage).expect("a mesh that is not turned over")
    }

    pub fn step(&self, integrator: Integrator, start: &Motion, dt: f64) -> (Motion, Vec<f64>) {
        self.try_step(integrator, start, dt).expect("a step")
    }

    pub fn try_step(
        &self,
        integrator: Integrator,
        start: &Motion,
        dt: f64,
    ) -> Result<(Motion, Vec<f64>), StepError<Singular>> {
        let stepper = Stepper {
            discretisation: &self.discretisation,
            setting: self.setting(),
            tets: &self.tets.tets,
            labels: &self.tets.labels,
        };
        stepper.step(integrator, start, dt, direct::solve)
    }

    pub fn statistics(&self, motion: &Motion) -> Statistics {
        let mesh = self.tets.mesh().moved_to(&motion.positions);
        Statistics::new(&self.discretisation, &self.setting(), &mesh, &motion.velocities)
    }

    /// The velocities of a solution at the vertices.
    pub fn velocities(&self, system: &System, solution: &Solution) -> Vec<[f64; 3]> {
        let world: Vec<_> =
            system.frames.iter().zip(&solution.velocities).map(|(f, &w)| f.leave(w)).collect();
        self.discretisation.unknowns.scatter(&world, [0.0; 3], self.tets.positions.len())
    }
}

pub fn fluid(density: f64, viscosity: f64) -> Material {
    Material::Fluid { density, viscosity }
}

pub fn fastest(velocities: &[[f64; 3]]) -> f64 {
    velocities.iter().map(|&u| norm(u)).fold(0.0, f64::max)
}

/// Walls with slip around a box from the origin to `size`.
pub fn slip_box(tets: &Tets, size: [f64; 3]) -> Vec<WallVertex> {
    let axis = |k: usize| std::array::from_fn(|x| if x == k { 1.0 } else { 0.0 });
    let mut walls = Vec::new();
    for (vertex, x) in tets.positions.iter().enumerate() {
        let (held, free): (Vec<usize>, Vec<usize>) =
            (0..3).partition(|&k| x[k] < 1e-9 || x[k] > size[k] - 1e-9);
        if !held.is_empty() {
            let order: Vec<usize> = held.iter().chain(&free).copied().collect();
            let frame = std::array::from_fn(|k| axis(order[k]));
            walls.push(WallVertex { vertex: vertex as u32, frame, held: held.len(), velocity: [0.0; 3] });
        }
    }
    walls
}

/// Walls without slip at all vertices of `at`.
pub fn sticky(tets: &Tets, at: impl Fn([f64; 3]) -> bool) -> Vec<WallVertex> {
    let on = (0..tets.positions.len()).filter(|&v| at(tets.positions[v]));
    on.map(|v| WallVertex::without_slip(v as u32, [0.0; 3])).collect()
}

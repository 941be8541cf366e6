//! Finite elements on the complex: forces, masses and constraints of a step.
//!
//! Velocities are linear in each tet and live at vertices; pressures are linear in each tet too, with one value for each
//! pair of a vertex and a phase component that touches it, so that they jump at interfaces. A stage of a step minimises
//!
//! ```text
//! ½ (u - u*)' M (u - u*) + ½ dt u' V u - dt u' F + U(x* + dt u)
//! ```
//!
//! with the masses M, the viscosity V, gravity F and the energy U of all interfaces, under the constraint that every
//! phase component keeps its volume around each of its vertices. That is the method of Misztal, Erleben, Bargteil,
//! Fursund, Christensen, Baerentzen and Bridson, "Multiphase flow of immiscible fluids on unstructured moving meshes"
//! (2012), with other pressures, stabiliser, tension force, walls and steps in time; their choices are kept beside ours
//! to compare with (`PressureSpace::Tets`, `TensionForce::Variational`, `SurfaceEnergy::FirstOrder`,
//! `Integrator::BackwardEuler`).
//!
//! Whatever depends on how the mesh hangs together is in a [`Discretisation`](discretisation::Discretisation), made
//! once after each change; [`assemble`](assemble::assemble) makes the system of a stage, and a
//! [`Stepper`](integrate::Stepper) goes through the stages of a step with any solver.
//!
//! ```
//! use meniscus_tet::fem::components::Components;
//! use meniscus_tet::fem::discretisation::{Discretisation, Scheme};
//! use meniscus_tet::fem::integrate::{Integrator, Motion, Stepper};
//! use meniscus_tet::fem::materials::{Material, Materials, Side};
//! use meniscus_tet::fem::{assemble::Setting, direct, incidence::neighbours, mesh::Mesh};
//!
//! // A drop of one tet, which its tension draws to a regular one.
//! let positions = vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
//! let mesh = Mesh { positions: &positions, tets: &[[0, 1, 2, 3]], labels: &[0] };
//! let water = Material::Fluid { density: 1000.0, viscosity: 1e-3 };
//! let materials = Materials::new(vec![water]).with_tension(Side::Label(0), Side::Wall, 0.07);
//!
//! let across = neighbours(&mesh);
//! let components = Components::new(&mesh, &across);
//! let finite_elements =
//!     Discretisation::new(&mesh, &materials, across, components, &[false], Scheme::default());
//!
//! let setting = Setting { materials: &materials, walls: &[], gravity: [0.0; 3], expansion: &[0.0] };
//! let stepper =
//!     Stepper { discretisation: &finite_elements, setting, tets: mesh.tets, labels: mesh.labels };
//! let start = Motion { positions: positions.clone(), velocities: vec![[0.0; 3]; 4] };
//! let (end, pressures) = stepper.step(Integrator::SecondOrder, &start, 0.1, direct::solve)?;
//! assert!(end.velocities[0][0] < 0.0 && pressures.len() == 4);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod assemble;
pub mod components;
pub mod direct;
pub mod discretisation;
pub mod element;
pub mod incidence;
pub mod integrate;
pub mod iterative;
pub mod materials;
pub mod mesh;
mod paper;
mod rigid;
pub mod rows;
mod stabilise;
pub mod statistics;
pub mod surface;
pub mod system;
pub mod tension;
pub mod unknowns;
pub mod walls;

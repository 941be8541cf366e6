//! Validation against published and derived values. One binary: each would compile the solvers anew.

mod affine;
mod bodies;
mod bubbles;
mod capillary;
mod dam_break;
mod determinism;
mod energy;
mod floating;
mod hydrostatic;
mod projection;
mod rest;
mod rising_bubble;
mod rotated_box;
mod scenes;
mod separation;
mod sloshing;
mod smoke;
mod surface_tension;
mod tracking;
mod two_phase;
mod viscosity;
mod viscous_waves;
mod volume;
mod walls;

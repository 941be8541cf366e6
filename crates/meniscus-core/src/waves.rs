//! What waves that a grid carries allow.

/// The largest time step that is stable with surface tension, in s: 2 / omega for the shortest wave of cells of an edge `dx`, in m.
///
/// A wave has `omega² = sigma k³ / rho`, `rho` the sum of the densities on both sides of the surface; the shortest, along the diagonal of a plane of cells,
/// `k² = (D - 1) (pi / dx)²`. The surface moves first, and its new shape then drives the velocity: for an oscillator
/// that is the symplectic Euler method, stable for `omega dt < 2`. The grid's own waves are slower than the
/// exact ones, which leaves a margin.
pub fn capillary_time_step<const D: usize>(dx: f64, density: f64, surface_tension: f64) -> f64 {
    if surface_tension == 0.0 {
        return f64::INFINITY;
    }
    let shortest = ((D - 1) as f64).sqrt() * std::f64::consts::PI / dx;
    2.0 * (density / (surface_tension * shortest.powi(3))).sqrt()
}

/// The largest time step that is stable with gravity, in s, for a surface across which the density changes by a `part` of the larger one.
///
/// The fastest wave of the grid has crests on every other cell, with the surface at the centres of cells: these then have the pressure of their crest or trough, and drive the flow through their
/// `2 (D - 1)` faces to the sides by twice as much. All of that passes their upper faces, and about `g / dx` times the height of the wave from below; only the latter their lower ones. The
/// surface, half-way between, follows with `omega² = (2 D - 1) g / dx`. Water beside walls that cut its cells was seen to shake from `omega dt = 2` on, where they leave a tenth
/// of a cell from 1.6 on.
pub fn gravity_time_step<const D: usize>(dx: f64, gravity: f64, part: f64) -> f64 {
    1.4 * (dx / ((2 * D - 1) as f64 * gravity * part)).sqrt()
}

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

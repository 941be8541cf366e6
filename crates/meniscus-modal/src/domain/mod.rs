//! A flow in a box with resting solids in it: modes of any domain in the plane, found on a grid.
//!
//! A flow is told by its stream function, which is zero on walls and one number on each island. The eigenmodes, -Δψ = λψ, have no circulation about islands; each island adds a mode that has:
//! the flow about it without vorticity, less what the eigenmodes hold of it. [`Modes`] holds them, and [`Dynamics`] how they carry each other.
//!
//! With the coefficients b of the eigenmodes, by their vorticity, and those of the circulations, g, the vorticity of a flow is that of the eigenmodes with the coefficients w = b - s(g), since
//! what was taken from the flows about islands turns. What changes is
//!
//! dw/dt = -Σ T(k, i, j) w_i b_j / λ_j,   T(k, i, j) = ∫ φ_k (∂x φ_i ∂y φ_j - ∂y φ_i ∂x φ_j) / ∫ φ_k²,
//!
//! the vorticity that eigenmodes hold of what the flow does to it: it is carried by all of the flow but for the modes of circulation, which are what eigenmodes do not resolve of flows about
//! islands, and ever less with more modes. T changes its sign with any two of its numbers exchanged, here as well, so that the equations keep the energy, the enstrophy and the circulation
//! about each island (Kelvin's theorem): all that an ideal flow keeps and that is a sum of squares.

mod circulation;
mod decay;
mod dynamics;
mod eigen;
mod error;
mod laplacian;
mod modes;
mod sight;
mod tensor;

#[cfg(test)]
mod tests;

pub use dynamics::Dynamics;
pub use error::DomainError;
pub use modes::Modes;

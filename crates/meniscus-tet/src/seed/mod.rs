//! First meshes: a graded lattice in a box, fitted to the surfaces of shapes.
//!
//! Vertices near a surface are moved onto it, edges that still cross it are split where they do (both by the
//! operations of every other step), and tets take the label of their side. So every tet is of one liquid, and
//! the interface is right to second order whatever the lattice is.

mod fit;
mod lattice;
#[cfg(test)]
mod tests;

use meniscus_core::shape::Shape;
use thiserror::Error;

pub use lattice::graded_lattice;

use crate::complex::{BuildError, Complex, NoValues};
use crate::container::Container;
use crate::repair::Editor;
use crate::sizing::Sizing;

/// The quality that first meshes are brought to.
const QUALITY: f64 = 0.35;

/// Rounds of sizing, repairs and pulling vertices onto the surfaces.
const ROUNDS: usize = 4;

/// Why there is no first mesh.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum SeedError {
    /// There are more liquids than labels.
    #[error("{0} liquids are more than the 254 that there are labels for")]
    TooManyLiquids(usize),
    /// The lattice is no complex: the box is too thin, or the sizes are not positive.
    #[error("no lattice fits the box: {0}")]
    Lattice(#[from] BuildError),
}

/// Liquids in a box. Liquid `i` of the list has label `i + 1`, and where several overlap the first has the
/// place; what is in none has label zero. Walls 0 to 5 are the box's sides.
pub fn seed_box(
    lower: [f64; 3],
    upper: [f64; 3],
    liquids: &[Shape<3>],
    sizing: &Sizing,
) -> Result<(Complex, Container), SeedError> {
    seed(lower, upper, None, liquids, sizing)
}

/// Liquids in what a box and a shape have in common, as in [`seed_box`]. The shape's surface is wall 6. It
/// should be smooth inside of the box, and cross its sides: a vessel with flat ends is a longer cylinder cut
/// off by the box.
pub fn seed_vessel(
    lower: [f64; 3],
    upper: [f64; 3],
    vessel: &Shape<3>,
    liquids: &[Shape<3>],
    sizing: &Sizing,
) -> Result<(Complex, Container), SeedError> {
    seed(lower, upper, Some(vessel), liquids, sizing)
}

fn seed(
    lower: [f64; 3],
    upper: [f64; 3],
    vessel: Option<&Shape<3>>,
    liquids: &[Shape<3>],
    sizing: &Sizing,
) -> Result<(Complex, Container), SeedError> {
    if liquids.len() > 254 {
        return Err(SeedError::TooManyLiquids(liquids.len()));
    }
    let to_surface =
        |x: [f64; 3]| liquids.iter().map(|s| s.signed_distance(x).abs()).fold(f64::INFINITY, f64::min);
    // Edges of the lattice are on average 0.9 sides of its cells.
    let side = |x| sizing.at(to_surface(x)) / 0.9;
    let halvings = (sizing.interior / sizing.surface).log2().floor().max(0.0);
    let coarsest = sizing.surface / 0.9 * halvings.exp2();
    let mut complex = graded_lattice(lower, upper, coarsest, side)?;
    let mut container = Container::box_between(lower, upper);
    if let Some(vessel) = vessel {
        complex = fit::keep_inside(complex, &mut container, vessel)?;
    }
    for (index, liquid) in liquids.iter().enumerate() {
        fit::cut_out(&mut complex, &container, liquid, index as u8 + 1);
    }
    for _ in 0..ROUNDS {
        let mut nothing = NoValues;
        let mut editor = Editor::new(&mut complex, &container, &mut nothing);
        editor.resize(sizing);
        editor.improve(QUALITY, 4);
        fit::pull_onto_surfaces(&mut complex, &container, liquids);
    }
    complex.compact();
    Ok((complex, container))
}

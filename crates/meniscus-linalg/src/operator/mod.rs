//! The operator: a stencil on grid cells, extra unknowns, and low-rank terms, in one sum.
//!
//! Vectors hold one value for every slot of the active blocks, block after block, and then one for
//! every extra unknown. Slots that are not unknowns have a zero row, and hold zero in every vector that
//! the operator is applied to.

mod affine;
mod arranged;
mod assemble;
mod contact;
mod expand;
mod extras;
mod level;
mod low_rank;
mod matrix;
mod outer;
mod places;
mod sheets;
mod stencil;
mod tile;
mod without;

use meniscus_core::grid::block_len;

pub(crate) use affine::Affine;
pub use affine::AffineTerm;
pub(crate) use arranged::Arranged;
pub use assemble::{AssembleError, Operator};
pub(crate) use contact::{Contact, Moments};
pub(crate) use expand::Expanded;
pub use extras::ExtraUnknown;
pub(crate) use extras::{Coupling, Edge};
pub(crate) use level::{ExtraNodes, Hold, Level};
pub use low_rank::LowRankTerm;
pub(crate) use low_rank::{Factor, LowRank};
pub(crate) use matrix::{Matrix, Scratch};
pub use outer::Compliance;
pub(crate) use outer::{Outer, Term};
pub(crate) use places::Places;
pub(crate) use sheets::{NONE, Others, SHEET};
pub use stencil::{Patch, face_len, lower_face, upper_face};
pub(crate) use stencil::{Stencil, coordinate};
pub(crate) use tile::{LANES, Planes, Tile, lane, planes, spread};

/// Blocks that one task works through: large enough to hide the cost of a task. Sums are taken over them, so results depend on this number by rounding.
pub(crate) const TASK_BLOCKS: usize = 16;

/// Sheets that one task works through, about as many cells as [`TASK_BLOCKS`] have.
pub(crate) const SHEET_TASK: usize = 128;

/// The cells of a block with coordinate 0 along `axis`.
fn boundary_cells<const D: usize>(axis: usize) -> impl Iterator<Item = usize> {
    let low = 8usize.pow(axis as u32);
    (0..block_len::<D>() / 8).map(move |k| k % low + k / low * low * 8)
}

//! Blocked sparse grids.
//!
//! A domain of cells is cut into blocks of 8^D cells ([`BLOCK_EDGE`]). [`Blocks`] says which blocks are
//! active and who their neighbours are; a [`Field`] holds one value a cell of the active blocks, and
//! a [`FaceField`] one value a face (component `a` of cell `c` lives on the *lower* face of `c`
//! along axis `a`). Memory follows the active blocks, never the domain.

mod blocks;
mod field;
mod geometry;
mod labels;
mod mask;
mod tile;

pub use blocks::{BLOCK_EDGE, Blocks, Slot, block_len, cell_in_block, local_index, ravel, sides, unravel};
pub use field::{FaceField, Field};
pub use geometry::Grid;
pub use labels::Labels;
pub use mask::Mask;
pub use tile::{HaloTile, for_each_overlap, neighbourhood};

//! What can be wrong with a projection.

use std::sync::Arc;

use meniscus_core::grid::Blocks;
use meniscus_linalg::{AssembleError, SolveError};

use meniscus_core::parallel;

use super::{Liquid, NO_BUBBLE, ProjectionParams};

/// Why a projection failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ProjectionError {
    /// A parameter has a value that makes no sense.
    #[error("{name} is {value}, it must be {expected}")]
    BadParameter {
        /// The parameter.
        name: &'static str,
        /// Its value.
        value: f64,
        /// What it should be.
        expected: &'static str,
    },
    /// The fields differ in their blocks, or the blocks in their domain from the grid.
    #[error("{0} has other blocks than the level set")]
    OtherBlocks(&'static str),
    /// A face of a liquid cell has no value, because the block that would hold it is not active.
    #[error("the upper face along axis {axis} of liquid cell {cell:?} lies outside the active blocks")]
    FaceOutsideBlocks {
        /// The axis.
        axis: usize,
        /// The cell.
        cell: Vec<usize>,
    },
    /// The level set is not a number.
    #[error("the level set of cell {cell:?} is not a number")]
    BadLevelSet {
        /// The cell.
        cell: Vec<usize>,
    },
    /// An open fraction lies outside 0 to 1.
    #[error("the lower face along axis {axis} of cell {cell:?} has the open fraction {value}")]
    BadOpenFraction {
        /// The axis.
        axis: usize,
        /// The cell.
        cell: Vec<usize>,
        /// The open fraction.
        value: f64,
    },
    /// The cells of the bubbles do not fit the level set, or name a bubble that is not there.
    #[error(
        "the bubbles are given for {found} slots and name bubble {largest}; there are {slots} slots and {count} bubbles"
    )]
    BadBubbles {
        /// The slots for which a bubble is given.
        found: usize,
        /// The slots that there are.
        slots: usize,
        /// The largest number of a bubble that a slot names.
        largest: u32,
        /// The bubbles that there are.
        count: usize,
    },
    /// There are bubbles, which have no mass, where the second fluid is.
    #[error("there is no room for bubbles where a second fluid fills what the liquid leaves")]
    BubblesInSecondFluid,
    /// The operator could not be assembled.
    #[error(transparent)]
    Assemble(#[from] AssembleError),
    /// The system could not be solved.
    #[error(transparent)]
    Solve(#[from] SolveError),
}

pub(super) fn check_params(params: &ProjectionParams) -> Result<(), ProjectionError> {
    for (name, value) in [("dt", params.dt), ("density", params.density)] {
        if !(value > 0.0 && value.is_finite()) {
            return Err(ProjectionError::BadParameter { name, value, expected: "positive and finite" });
        }
    }
    let theta_min = params.theta_min;
    if !(0.0..=1.0).contains(&theta_min) {
        let expected = "between 0 and 1";
        return Err(ProjectionError::BadParameter { name: "theta_min", value: theta_min, expected });
    }
    Ok(())
}

/// Checks that every slot has a bubble that exists, or none.
pub(super) fn check_bubbles<T: Copy, const D: usize>(liquid: &Liquid<T, D>) -> Result<(), ProjectionError> {
    let Some(bubbles) = liquid.bubbles else { return Ok(()) };
    let (found, slots) = (bubbles.of_slot.len(), liquid.level_set.blocks().slots());
    let largest = |piece: &[u32]| piece.iter().copied().filter(|&bubble| bubble != NO_BUBBLE).max();
    let count = bubbles.growth.len();
    match parallel::map_pieces(&bubbles.of_slot, largest).into_iter().flatten().max() {
        None if found == slots => Ok(()),
        Some(largest) if found == slots && (largest as usize) < count => Ok(()),
        largest => {
            Err(ProjectionError::BadBubbles { found, slots, largest: largest.unwrap_or(NO_BUBBLE), count })
        }
    }
}

/// Checks that a field and the grid have the blocks of the level set.
pub(super) fn check_blocks<T: Copy, const D: usize>(
    liquid: &Liquid<T, D>,
    name: &'static str,
    of_field: &Arc<Blocks<D>>,
) -> Result<(), ProjectionError> {
    let blocks = liquid.level_set.blocks();
    if blocks.cells() != liquid.grid.cells {
        return Err(ProjectionError::OtherBlocks("the grid"));
    }
    if Arc::ptr_eq(of_field, blocks) || of_field == blocks {
        Ok(())
    } else {
        Err(ProjectionError::OtherBlocks(name))
    }
}

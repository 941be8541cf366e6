//! The air of a frame.

use std::collections::BTreeSet;
use std::sync::Arc;

use meniscus_core::grid::{Blocks, Field};
use meniscus_core::serde_array::array;
use serde::{Deserialize, Serialize};

/// The identity of air that belongs to no bubble.
pub const OPEN_AIR: u32 = 0;

/// What cells without air have instead of an identity.
pub const NO_AIR: u32 = u32::MAX;

/// The air of a frame whose bubbles keep their volume.
#[derive(Clone, Debug, PartialEq)]
pub struct FrameAir<const D: usize> {
    /// The bubbles that liquid touches.
    pub bubbles: Vec<FrameBubble<D>>,
    /// By cell, the bubble that its air belongs to, or [`OPEN_AIR`], over the blocks of the level set. Cells of liquid
    /// and of solids have [`NO_AIR`]; what a cell of liquid has is not stored.
    pub bubble_of: Field<u32, D>,
}

/// A bubble of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FrameBubble<const D: usize> {
    /// Its identity, from 1, the same in all frames.
    pub id: u32,
    /// Its volume, in m³ (2D: m²).
    pub volume: f64,
    /// The volume that it should have.
    pub rest_volume: f64,
    /// Its pressure, in Pa, above that of the open air.
    pub pressure: f64,
    /// The centre of its volume, in m.
    #[serde(with = "array")]
    pub centroid: [f64; D],
    /// The velocity of that centre, in m/s.
    #[serde(with = "array")]
    pub velocity: [f64; D],
    /// The area of its surface to liquid, in m² (2D: m).
    pub area: f64,
    /// For how long it has been, in s.
    pub age: f64,
}

/// The air as runs of cells with the same identity, in the order of the blocks. Cells of liquid lengthen the run that
/// they are in, so a run ends where solids or another bubble begin: most blocks take no byte.
#[derive(Serialize, Deserialize)]
pub(super) struct PackedAir<const D: usize> {
    bubbles: Vec<FrameBubble<D>>,
    /// Identities, and how many cells have them.
    runs: Vec<(u32, u64)>,
}

impl<const D: usize> PackedAir<D> {
    pub(super) fn new(air: &FrameAir<D>, level_set: &Field<f32, D>) -> Self {
        assert_eq!(air.bubble_of.blocks(), level_set.blocks(), "the air has the blocks of the level set");
        let mut runs: Vec<(u32, u64)> = Vec::new();
        for (&id, &phi) in air.bubble_of.values().iter().zip(level_set.values()) {
            match runs.last_mut() {
                Some((last, count)) if *last == id || phi < 0.0 => *count += 1,
                _ => runs.push((if phi < 0.0 { NO_AIR } else { id }, 1)),
            }
        }
        Self { bubbles: air.bubbles.clone(), runs }
    }

    pub(super) fn unpack(
        self,
        blocks: Arc<Blocks<D>>,
        level_set: &Field<f32, D>,
    ) -> Result<FrameAir<D>, String> {
        let known: BTreeSet<u32> =
            self.bubbles.iter().map(|bubble| bubble.id).chain([OPEN_AIR, NO_AIR]).collect();
        if known.len() != self.bubbles.len() + 2 {
            return Err("two of its bubbles have the same number".into());
        }
        if let Some((id, _)) = self.runs.iter().find(|(id, _)| !known.contains(id)) {
            return Err(format!("its cells hold a bubble {id} that its list does not"));
        }
        let total = self.runs.iter().try_fold(0u64, |sum, &(_, count)| sum.checked_add(count));
        if total != Some(blocks.slots() as u64) {
            return Err(format!("its air is not that of {} cells", blocks.slots()));
        }
        let mut bubble_of = Field::new(blocks, NO_AIR);
        let mut rest = bubble_of.values_mut();
        for (id, count) in self.runs {
            let (run, after) = rest.split_at_mut(count as usize);
            run.fill(id);
            rest = after;
        }
        for (id, &phi) in bubble_of.values_mut().iter_mut().zip(level_set.values()) {
            if phi < 0.0 {
                *id = NO_AIR;
            }
        }
        Ok(FrameAir { bubbles: self.bubbles, bubble_of })
    }
}

#[cfg(test)]
impl<const D: usize> PackedAir<D> {
    /// Claims more cells than there are, in a way that wraps.
    pub(super) fn spoil_length(&mut self) {
        self.runs.extend([(OPEN_AIR, u64::MAX), (OPEN_AIR, 1)]);
    }

    /// Gives cells to a bubble that is not there.
    pub(super) fn spoil_identity(&mut self) {
        self.runs[0].0 = 77;
    }

    /// Lists a bubble twice.
    pub(super) fn spoil_list(&mut self) {
        self.bubbles.push(self.bubbles[0]);
    }

    pub(super) fn run_count(&self) -> usize {
        self.runs.len()
    }
}

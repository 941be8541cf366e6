//! Which region the cells of a frame belong to.

use std::collections::BTreeSet;
use std::sync::Arc;

use meniscus_core::grid::{Blocks, Field};
use serde::{Deserialize, Serialize};

/// The label of air that belongs to no bubble.
pub const OPEN_AIR: u32 = 0;

/// The label of cells without air.
pub const NO_AIR: u32 = u32::MAX;

/// Runs of cells with the same label, in the order of the blocks. Cells of liquid lengthen the run that
/// they are in, so a run ends where solids or another bubble begin: most blocks take no byte.
#[derive(Serialize, Deserialize)]
pub(super) struct PackedLabels {
    background: u32,
    /// Labels, and how many cells have them.
    runs: Vec<(u32, u64)>,
}

impl PackedLabels {
    /// The labels of cells in which the level set, if there is one, is not negative.
    pub(super) fn new<const D: usize>(labels: &Field<u32, D>, level_set: Option<&Field<f32, D>>) -> Self {
        let is_liquid = |k: usize| level_set.is_some_and(|phi| phi.values()[k] < 0.0);
        let mut runs: Vec<(u32, u64)> = Vec::new();
        for (k, &label) in labels.values().iter().enumerate() {
            match runs.last_mut() {
                Some((last, count)) if *last == label || is_liquid(k) => *count += 1,
                _ => runs.push((if is_liquid(k) { NO_AIR } else { label }, 1)),
            }
        }
        Self { background: labels.background(), runs }
    }

    pub(super) fn unpack<const D: usize>(
        &self,
        blocks: Arc<Blocks<D>>,
        level_set: Option<&Field<f32, D>>,
    ) -> Result<Field<u32, D>, String> {
        let total = self.runs.iter().try_fold(0u64, |sum, &(_, count)| sum.checked_add(count));
        if total != Some(blocks.slots() as u64) {
            return Err(format!("its labels are not those of {} cells", blocks.slots()));
        }
        let mut labels = Field::new(blocks, self.background);
        let mut rest = labels.values_mut();
        for &(label, count) in &self.runs {
            let (run, after) = rest.split_at_mut(count as usize);
            run.fill(label);
            rest = after;
        }
        if let Some(level_set) = level_set {
            for (label, &phi) in labels.values_mut().iter_mut().zip(level_set.values()) {
                if phi < 0.0 {
                    *label = NO_AIR;
                }
            }
        }
        Ok(labels)
    }

    /// The labels that there are.
    pub(super) fn known(&self) -> BTreeSet<u32> {
        self.runs.iter().map(|&(label, _)| label).collect()
    }
}

#[cfg(test)]
impl PackedLabels {
    /// Claims more cells than there are, in a way that wraps.
    pub(super) fn spoil_length(&mut self) {
        self.runs.extend([(OPEN_AIR, u64::MAX), (OPEN_AIR, 1)]);
    }

    /// Gives cells to a bubble that is not there.
    pub(super) fn spoil_label(&mut self) {
        self.runs[0].0 = 77;
    }

    pub(super) fn run_count(&self) -> usize {
        self.runs.len()
    }
}

//! Signed distances of a frame.

use std::sync::Arc;

use meniscus_core::grid::{Blocks, Field, block_len};
use meniscus_core::parallel;
use meniscus_core::serde_array::bulk;
use serde::{Deserialize, Serialize};

use super::planes::{difference, from_planes, integrate, to_planes};

/// Distances are stored up to this many cells.
pub(crate) const BAND: f32 = 3.0;

/// The number stored for a distance of [`BAND`].
const STEPS: i16 = i16::MAX;

/// Signed distances in 16 bits a cell, and nearly nothing for blocks all of whose cells agree.
#[derive(Serialize, Deserialize)]
pub(super) struct PackedDistance {
    background: i16,
    /// For each block one if its cells differ, else zero.
    #[serde(with = "bulk")]
    is_mixed: Vec<u8>,
    /// The value of each block that agrees.
    #[serde(with = "bulk")]
    uniform: Vec<i16>,
    /// The cells of the other blocks.
    #[serde(with = "bulk")]
    planes: Vec<u8>,
}

impl PackedDistance {
    pub(super) fn new<const D: usize>(field: &Field<f32, D>) -> Self {
        let values = parallel::map_each(field.values().len(), |k| quantise(field.values()[k]));
        let blocks = || values.chunks_exact(block_len::<D>());
        let agrees = |block: &[i16]| block.iter().all(|&v| v == block[0]);
        let is_mixed = blocks().map(|block| u8::from(!agrees(block))).collect();
        let uniform = blocks().filter(|block| agrees(block)).map(|block| block[0]).collect();
        let mut mixed: Vec<i16> = blocks().filter(|block| !agrees(block)).flatten().copied().collect();
        parallel::for_chunks(&mut mixed, block_len::<D>(), |_, block| difference::<D>(block));
        Self { background: quantise(field.background()), is_mixed, uniform, planes: to_planes(&mixed) }
    }

    pub(super) fn unpack<const D: usize>(&self, blocks: Arc<Blocks<D>>) -> Result<Field<f32, D>, String> {
        let mixed_count = self.is_mixed.iter().filter(|&&mixed| mixed != 0).count();
        if self.is_mixed.len() != blocks.len() || self.uniform.len() != blocks.len() - mixed_count {
            return Err(format!("its distances are not those of {} blocks", blocks.len()));
        }
        let mut mixed = from_planes(&self.planes, mixed_count * block_len::<D>(), "its distances")?;
        parallel::for_chunks(&mut mixed, block_len::<D>(), |_, block| integrate::<D>(block));

        let mut field = Field::new(blocks, restore(self.background));
        let (mut mixed, mut uniform) = (mixed.chunks_exact(block_len::<D>()), self.uniform.iter());
        for (block, &is_mixed) in field.values_mut().chunks_exact_mut(block_len::<D>()).zip(&self.is_mixed) {
            if is_mixed != 0 {
                for (value, &stored) in block.iter_mut().zip(mixed.next().unwrap_or_default()) {
                    *value = restore(stored);
                }
            } else {
                block.fill(restore(uniform.next().copied().unwrap_or(STEPS)));
            }
        }
        Ok(field)
    }
}

/// For each block, whether a cell of it is within the band of the liquid.
pub(super) fn near_liquid<const D: usize>(level_set: &Field<f32, D>) -> Vec<bool> {
    parallel::map(level_set.blocks().len(), |block| {
        level_set.block(block).iter().any(|&phi| quantise(phi) < STEPS)
    })
}

/// The nearest multiple of the step, but never zero for what is negative: zero is air.
fn quantise(phi: f32) -> i16 {
    if phi.is_nan() {
        return STEPS;
    }
    let steps = (phi * (f32::from(STEPS) / BAND)).round().clamp(-f32::from(STEPS), f32::from(STEPS)) as i16;
    if phi < 0.0 { steps.min(-1) } else { steps }
}

fn restore(steps: i16) -> f32 {
    f32::from(steps) * (BAND / f32::from(STEPS))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn distances_keep_their_sign_and_their_value(phi in -4.0f32..4.0, small in -1e-4f32..1e-4) {
            for phi in [phi, small] {
                let back = restore(quantise(phi));
                prop_assert!((back - phi.clamp(-3.0, 3.0)).abs() < 1e-4);
                prop_assert_eq!(back < 0.0, phi < 0.0);
                prop_assert_eq!(quantise(back), quantise(phi), "written again, it is the same");
            }
        }
    }

    #[test]
    fn special_values() {
        for (phi, expected) in
            [(0.0, 0.0), (-0.0, 0.0), (3.0, 3.0), (-3.0, -3.0), (f32::INFINITY, 3.0), (f32::NAN, 3.0)]
        {
            assert_eq!(restore(quantise(phi)), expected, "{phi}");
        }
        assert!(restore(quantise(-f32::MIN_POSITIVE)) < 0.0);
        assert_eq!(restore(quantise(f32::NEG_INFINITY)), -3.0);
    }
}

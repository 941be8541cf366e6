//! Components on faces, and how any velocities are stored: relative to the fastest of a group.

use std::sync::Arc;

use meniscus_core::grid::{Blocks, FaceField, Field, block_len};
use meniscus_core::parallel;
use meniscus_core::serde_array::bulk;
use serde::{Deserialize, Serialize};

use super::planes::{difference, from_planes, integrate, to_planes};

/// The number stored for the largest component of a group: 11 bits with the sign, like a half-precision number.
const STEPS: f64 = 1023.0;

/// Components on the faces of some blocks.
#[derive(Serialize, Deserialize)]
pub(super) struct PackedFaces {
    /// One for each axis.
    #[serde(with = "bulk")]
    background: Vec<f32>,
    /// The largest component of each stored block.
    #[serde(with = "bulk")]
    largest: Vec<f32>,
    /// The faces of the stored blocks, axis by axis.
    #[serde(with = "bulk")]
    planes: Vec<u8>,
}

impl PackedFaces {
    /// Stores the blocks for which `is_stored`.
    pub(super) fn new<const D: usize>(field: &FaceField<f32, D>, is_stored: &[bool]) -> Self {
        let stored = stored_blocks(is_stored);
        let largest = parallel::map(stored.len(), |k| {
            largest(field.axes.iter().flat_map(|axis| axis.block(stored[k])).copied())
        });
        let mut planes = Vec::with_capacity(2 * D * stored.len() * block_len::<D>());
        for axis in &field.axes {
            let mut values = vec![0; stored.len() * block_len::<D>()];
            parallel::for_chunks(&mut values, block_len::<D>(), |k, packed| {
                for (packed, &v) in packed.iter_mut().zip(axis.block(stored[k])) {
                    *packed = quantise(v, largest[k]);
                }
                difference::<D>(packed);
            });
            planes.extend(to_planes(&values));
        }
        Self { background: field.axes.iter().map(|axis| axis.background()).collect(), largest, planes }
    }

    pub(super) fn unpack<const D: usize>(
        &self,
        blocks: Arc<Blocks<D>>,
        is_stored: &[bool],
    ) -> Result<FaceField<f32, D>, String> {
        let stored = stored_blocks(is_stored);
        if self.background.len() != D || self.largest.len() != stored.len() {
            return Err(format!("its faces are not those of {} blocks", stored.len()));
        }
        let count = stored.len() * block_len::<D>();
        let mut packed = from_planes_by_axis(&self.planes, D, count, "its faces")?;
        let mut field = FaceField::new(blocks.clone(), 0.0);
        for (a, axis) in field.axes.iter_mut().enumerate() {
            *axis = Field::new(blocks.clone(), self.background[a]);
            parallel::for_chunks(&mut packed[a], block_len::<D>(), |_, packed| integrate::<D>(packed));
            for (k, packed) in packed[a].chunks_exact(block_len::<D>()).enumerate() {
                let first = stored[k] * block_len::<D>();
                let values = &mut axis.values_mut()[first..first + block_len::<D>()];
                for (value, &packed) in values.iter_mut().zip(packed) {
                    *value = restore(packed, self.largest[k]);
                }
            }
        }
        Ok(field)
    }
}

fn stored_blocks(is_stored: &[bool]) -> Vec<usize> {
    (0..is_stored.len()).filter(|&block| is_stored[block]).collect()
}

/// The numbers of each of `axes` planes that follow one another.
pub(super) fn from_planes_by_axis(
    planes: &[u8],
    axes: usize,
    count: usize,
    what: &str,
) -> Result<Vec<Vec<i16>>, String> {
    match count.checked_mul(2 * axes) {
        Some(len) if len == planes.len() => {}
        _ => {
            return Err(format!(
                "{what} should have {axes} times {count} numbers, but has {} bytes",
                planes.len()
            ));
        }
    }
    (0..axes).map(|axis| from_planes(&planes[2 * axis * count..][..2 * count], count, what)).collect()
}

/// The largest magnitude; what is not finite does not count.
pub(super) fn largest(values: impl Iterator<Item = f32>) -> f32 {
    values.map(f32::abs).filter(|v| v.is_finite()).fold(0.0, f32::max)
}

/// A component in steps of the largest of its group.
pub(super) fn quantise(v: f32, largest: f32) -> i16 {
    // What is no number becomes zero.
    let steps = (f64::from(v) / f64::from(largest) * STEPS).clamp(-STEPS, STEPS);
    (steps + 0.5f64.copysign(steps)) as i16
}

pub(super) fn restore(steps: i16, largest: f32) -> f32 {
    (f64::from(steps) * f64::from(largest) / STEPS) as f32
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn velocities_are_off_by_little_of_the_largest(
            values in prop::collection::vec(-1.0f32..1.0, 1..50),
            exponent in -38i32..38,
        ) {
            let values: Vec<f32> = values.iter().map(|v| v * 10f32.powi(exponent)).collect();
            let largest = largest(values.iter().copied());
            for &v in &values {
                let back = restore(quantise(v, largest), largest);
                prop_assert!((back - v).abs() <= 5e-4 * largest, "{v:e} {back:e}");
                prop_assert_eq!(quantise(back, largest), quantise(v, largest));
            }
        }
    }

    #[test]
    fn special_values() {
        let values = [f32::NAN, f32::INFINITY, -2.0, 1.0];
        assert_eq!(largest(values.into_iter()), 2.0);
        assert_eq!(values.map(|v| restore(quantise(v, 2.0), 2.0))[..3], [0.0, 2.0, -2.0]);
        assert_eq!(restore(quantise(0.0, 0.0), 0.0), 0.0);
        assert_eq!(restore(quantise(f32::MAX, f32::MAX), f32::MAX), f32::MAX);
    }
}

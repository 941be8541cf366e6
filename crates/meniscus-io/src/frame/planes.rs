//! 16-bit numbers as two planes of bytes that compress well.

use meniscus_core::grid::{BLOCK_EDGE, block_len};

/// The upper bytes of all numbers, then the lower ones. Numbers of small magnitude have an upper byte of zero.
pub(super) fn to_planes(values: &[i16]) -> Vec<u8> {
    let mut planes = vec![0; 2 * values.len()];
    let (upper, lower) = planes.split_at_mut(values.len());
    for ((upper, lower), &value) in upper.iter_mut().zip(lower).zip(values) {
        // 0, -1, 1, -2, ... become 0, 1, 2, 3, ...
        let folded = (value << 1 ^ value >> 15) as u16;
        [*lower, *upper] = folded.to_le_bytes();
    }
    planes
}

/// What [`to_planes`] was given, if there are `count` numbers; `what` names them.
pub(super) fn from_planes(planes: &[u8], count: usize, what: &str) -> Result<Vec<i16>, String> {
    if Some(planes.len()) != count.checked_mul(2) {
        return Err(format!("{what} should have {count} numbers, but has {} bytes", planes.len()));
    }
    let (upper, lower) = planes.split_at(count);
    let unfold = |(&upper, &lower): (&u8, &u8)| {
        let folded = u16::from_le_bytes([lower, upper]);
        (folded >> 1) as i16 ^ -((folded & 1) as i16)
    };
    Ok(upper.iter().zip(lower).map(unfold).collect())
}

/// Subtracts from each number of a block the one before it along each axis in turn: what is left is how much
/// the block bends. Numbers wrap, so that nothing is lost.
pub(super) fn difference<const D: usize>(block: &mut [i16]) {
    for axis in 0..D {
        let stride = BLOCK_EDGE.pow(axis as u32);
        for i in (stride..block_len::<D>()).rev() {
            if !(i / stride).is_multiple_of(BLOCK_EDGE) {
                block[i] = block[i].wrapping_sub(block[i - stride]);
            }
        }
    }
}

/// The inverse of [`difference`].
pub(super) fn integrate<const D: usize>(block: &mut [i16]) {
    for axis in (0..D).rev() {
        let stride = BLOCK_EDGE.pow(axis as u32);
        for i in stride..block_len::<D>() {
            if !(i / stride).is_multiple_of(BLOCK_EDGE) {
                block[i] = block[i].wrapping_add(block[i - stride]);
            }
        }
    }
}

/// Each number less the one before.
pub(super) fn differences(mut values: Vec<i16>) -> Vec<i16> {
    for i in (1..values.len()).rev() {
        values[i] = values[i].wrapping_sub(values[i - 1]);
    }
    values
}

/// The inverse of [`differences`].
pub(super) fn sums(values: &mut [i16]) {
    for i in 1..values.len() {
        values[i] = values[i].wrapping_add(values[i - 1]);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn planes_and_differences_are_undone(values in prop::collection::vec(any::<i16>(), 512)) {
            prop_assert_eq!(&from_planes(&to_planes(&values), 512, "").unwrap(), &values);
            let mut cube = values.clone();
            difference::<3>(&mut cube);
            integrate::<3>(&mut cube);
            prop_assert_eq!(&cube, &values);
            let mut square = values[..64].to_vec();
            difference::<2>(&mut square);
            integrate::<2>(&mut square);
            prop_assert_eq!(&square, &values[..64]);
        }
    }

    #[test]
    fn a_plane_has_no_differences_but_its_edges() {
        let mut values: Vec<i16> = (0..512).map(|i| 3 * (i % 8) - 5 * (i / 8 % 8) + (i / 64)).collect();
        difference::<3>(&mut values);
        assert_eq!(values.iter().filter(|&&v| v != 0).count(), 3 * 7);
        assert!(from_planes(&[0; 5], 3, "a field").is_err());
    }
}

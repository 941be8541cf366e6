//! Extrapolation of face velocities from where they are known to where they are not.

use crate::grid::{Blocks, FaceField, Field, Mask, Slot, block_len, sides};
use crate::parallel;

/// Gives values to faces without one, `layers` layers outwards from the `valid` faces: a face of the
/// next layer gets the mean of what its valid neighbours of the same component continue to it. On return `valid`
/// marks the new faces too. Only faces of active blocks and of the domain take part.
///
/// A neighbour continues the lesser of the last two slopes along its axis, none where they differ in sign or one
/// of them is not known: smooth fields are continued to second order in the distance, so that a surface
/// moves with the flow of the liquid up to it; noise, and what is thinner than three faces, as a constant.
/// A constant field is continued exactly, bit for bit.
///
/// # Panics
/// If the fields differ in their blocks.
pub fn extrapolate<const D: usize>(
    velocity: &mut FaceField<f32, D>,
    valid: &mut FaceField<bool, D>,
    layers: usize,
) {
    assert_eq!(velocity.blocks(), valid.blocks(), "both fields have the same blocks");
    for (axis, (velocity, valid)) in velocity.axes.iter_mut().zip(&mut valid.axes).enumerate() {
        extrapolate_axis(velocity, valid, axis, layers);
    }
}

fn extrapolate_axis<const D: usize>(
    velocity: &mut Field<f32, D>,
    valid: &mut Field<bool, D>,
    axis: usize,
    layers: usize,
) {
    let blocks = velocity.blocks().clone();
    let faces = parallel::map(blocks.len(), |block| faces(&blocks, axis, block));
    let mut known = parallel::map(blocks.len(), |block| {
        let valid = valid.block(block);
        Mask::from_fn(|local| valid[local]).and(&faces[block])
    });
    for _ in 0..layers {
        let next = |block: usize| next_to(&known, &blocks, block).and(&faces[block]).without(&known[block]);
        let layer = parallel::map(blocks.len(), next);
        if layer.iter().all(Mask::is_empty) {
            break;
        }
        // All new values are found before any is written: a layer never sees itself.
        let values: Vec<Vec<f32>> = parallel::map(blocks.len(), |block| {
            layer[block].iter().map(|local| mean(velocity, &known, Slot { block, local })).collect()
        });
        parallel::for_chunks(velocity.values_mut(), block_len::<D>(), |block, velocity| {
            layer[block].iter().zip(&values[block]).for_each(|(local, &value)| velocity[local] = value);
        });
        parallel::for_each_mut(&mut known, |block, known| *known = known.or(&layer[block]));
    }
    parallel::for_chunks(valid.values_mut(), block_len::<D>(), |block, valid| {
        known[block].iter().for_each(|local| valid[local] = true);
    });
}

/// The cells of a block that share a face with a cell in `of`, by block.
fn next_to<const D: usize>(of: &[Mask<D>], blocks: &Blocks<D>, block: usize) -> Mask<D> {
    let other = |axis, side| blocks.neighbour(block, axis, side).map_or(Mask::EMPTY, |other| of[other]);
    (0..D).fold(Mask::EMPTY, |cells, axis| {
        let (above, below) =
            (of[block].raised(axis, &other(axis, 0)), of[block].lowered(axis, &other(axis, 1)));
        cells.or(&above).or(&below)
    })
}

/// The mean of what the known neighbours of a face, of which there is at least one, continue to it.
fn mean<const D: usize>(velocity: &Field<f32, D>, known: &[Mask<D>], slot: Slot) -> f32 {
    let blocks = velocity.blocks();
    let (mut first, mut excess, mut count) = (0.0, 0.0, 0);
    for (axis, side) in sides::<D>() {
        let next = |slot| blocks.step(slot, axis, side).filter(|s| known[s.block].has(s.local));
        if let Some(value) = continued(velocity, slot, next) {
            if count == 0 {
                first = value;
            }
            // The mean as a correction to the first value, so that equal values are kept.
            excess += value - first;
            count += 1;
        }
    }
    first + excess / count as f32
}

/// What the next known face in a direction continues to a face.
#[inline]
fn continued<const D: usize>(
    velocity: &Field<f32, D>,
    slot: Slot,
    next: impl Fn(Slot) -> Option<Slot>,
) -> Option<f32> {
    let near = next(slot)?;
    let slope = next(near).and_then(|second| {
        let third = next(second)?;
        Some(lesser(velocity[near] - velocity[second], velocity[second] - velocity[third]))
    });
    Some(velocity[near] + slope.unwrap_or(0.0))
}

/// The one nearer to 0 of two numbers of the same sign; 0 if their signs differ.
fn lesser(a: f32, b: f32) -> f32 {
    if a * b <= 0.0 {
        0.0
    } else if a.abs() < b.abs() {
        a
    } else {
        b
    }
}

/// The cells of a block whose lower faces along `axis` belong to the domain.
fn faces<const D: usize>(blocks: &Blocks<D>, axis: usize, block: usize) -> Mask<D> {
    if is_face(blocks, axis, Slot { block, local: block_len::<D>() - 1 }) {
        return Mask::all();
    }
    Mask::from_fn(|local| is_face(blocks, axis, Slot { block, local }))
}

/// Whether the lower face along `axis` of the cell at a slot belongs to the domain: blocks at the end of
/// the domain store more.
#[inline]
fn is_face<const D: usize>(blocks: &Blocks<D>, axis: usize, slot: Slot) -> bool {
    let (cell, cells) = (blocks.cell(slot), blocks.cells());
    (0..D).all(|a| cell[a] < cells[a] + usize::from(a == axis))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;

    fn is_valid<const D: usize>(mask: u64, axis: usize, cell: [usize; D]) -> bool {
        let hash =
            cell.iter().fold(mask ^ axis as u64, |h, &c| (h ^ c as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        (hash >> 40).is_multiple_of(40)
    }

    /// The definition: distances in steps between faces of active blocks, by relaxation.
    fn layer_of<const D: usize>(valid: &Field<bool, D>, axis: usize) -> Vec<usize> {
        let blocks = valid.blocks();
        let n = block_len::<D>();
        let slot = |index: usize| Slot { block: index / n, local: index % n };
        let mut layer: Vec<usize> = (0..blocks.slots())
            .map(|k| if valid.values()[k] && is_face(blocks, axis, slot(k)) { 0 } else { usize::MAX - 1 })
            .collect();
        loop {
            let old = layer.clone();
            for k in 0..layer.len() {
                if !is_face(blocks, axis, slot(k)) {
                    continue;
                }
                for a in 0..D {
                    for side in 0..2 {
                        if let Some(other) = blocks.step(slot(k), a, side) {
                            layer[k] = layer[k].min(old[other.flat::<D>()] + 1);
                        }
                    }
                }
            }
            if layer == old {
                return layer;
            }
        }
    }

    fn constant_is_continued<const D: usize>(cells: [usize; D], mask: u64, layers: usize) {
        let blocks = Arc::new(Blocks::new(cells, |c| mask >> (c.iter().sum::<usize>() % 64) & 1 == 1));
        let mut valid = FaceField::from_fn(blocks.clone(), false, |axis, c| is_valid(mask, axis, c));
        let constant = |axis: usize| 0.1 + axis as f32;
        let mut velocity =
            FaceField::from_fn(
                blocks,
                0.0,
                |axis, c| {
                    if is_valid(mask, axis, c) { constant(axis) } else { f32::NAN }
                },
            );
        let before = valid.clone();
        extrapolate(&mut velocity, &mut valid, layers);
        for axis in 0..D {
            for (k, layer) in layer_of(&before.axes[axis], axis).into_iter().enumerate() {
                let (known, value) = (valid.axes[axis].values()[k], velocity.axes[axis].values()[k]);
                if layer <= layers {
                    assert!(known && value == constant(axis), "layer {layer}: {value}");
                } else if !before.axes[axis].values()[k] {
                    assert!(!known && value.is_nan());
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        #[test]
        fn constants_fill_exactly_the_layers_asked_for(mask in any::<u64>(), layers in 0usize..5) {
            constant_is_continued([40, 27], mask, layers);
            constant_is_continued([16, 10, 17], mask, layers);
        }
    }

    /// A half plane with a field of x: six layers beyond its last face, at 15.
    fn continued_from_half_plane(field: impl Fn(f32) -> f32 + Sync) -> [f32; 6] {
        let blocks = Arc::new(Blocks::all([32, 32]));
        let mut valid = FaceField::from_fn(blocks.clone(), false, |_, c| c[0] < 16);
        let mut velocity = FaceField::from_fn(blocks, 0.0, |_, c| field(c[0] as f32));
        extrapolate(&mut velocity, &mut valid, 6);
        assert!(!valid.get(1, [22, 9]));
        std::array::from_fn(|layer| velocity.get(1, [16 + layer as i64, 9]))
    }

    #[test]
    fn a_linear_field_is_continued_exactly() {
        assert_eq!(continued_from_half_plane(|x| 3.0 - x), [16, 17, 18, 19, 20, 21].map(|x| 3.0 - x as f32));
    }

    /// The error of the first layer falls with the square of the distance.
    #[test]
    fn a_smooth_field_is_continued_to_second_order() {
        let error = |k: f32| continued_from_half_plane(|x| (k * (x - 16.0)).exp())[0] - 1.0;
        let errors = [error(0.1), error(0.05)];
        assert!(
            (-0.02..0.0).contains(&errors[0]) && (3.6..4.4).contains(&(errors[0] / errors[1])),
            "{errors:?}"
        );
    }

    #[test]
    fn noise_does_not_grow() {
        assert_eq!(continued_from_half_plane(|x| if x % 2.0 == 0.0 { 1.0 } else { -1.0 }), [-1.0; 6]);
    }

    #[test]
    fn the_same_bits_for_any_number_of_threads() {
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let blocks = Arc::new(Blocks::all([24, 20, 30]));
                let mut valid = FaceField::from_fn(blocks.clone(), false, |axis, c| is_valid(3, axis, c));
                let mut velocity =
                    FaceField::from_fn(blocks, 0.0, |axis, c| ((c[0] * 7 + c[1] * c[2] + axis) as f32).sin());
                extrapolate(&mut velocity, &mut valid, 4);
                velocity.axes.map(|a| a.values().iter().map(|v| v.to_bits()).collect::<Vec<_>>())
            })
        };
        assert!(run(1) == run(2) && run(1) == run(3));
    }
}

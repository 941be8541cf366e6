//! Points of a frame.

use std::borrow::Cow;

use meniscus_core::grid::BLOCK_EDGE;
use meniscus_core::parallel;
use meniscus_core::serde_array::bulk;
use serde::{Deserialize, Serialize};

use super::attributes::{Attribute, Attributes, PackedAttributes, into_owned};
use super::faces::from_planes_by_axis;
use super::planes::{differences, sums, to_planes};

/// The edge of a block, in cells.
const EDGE: f32 = BLOCK_EDGE as f32;

/// Positions have this many steps across a block.
const STEPS: f32 = 65536.0;

/// Points; they are smallest when sorted by block and cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Points<'a, const D: usize> {
    /// Where they are, in cells.
    pub position: Cow<'a, [[f32; D]]>,
    /// What each of them has.
    pub attributes: Attributes<'a, D>,
}

impl<'a, const D: usize> Points<'a, D> {
    /// Points with nothing but their places.
    pub fn at(position: impl Into<Cow<'a, [[f32; D]]>>) -> Self {
        Self { position: position.into(), attributes: Attributes::new() }
    }

    /// Points that move.
    pub fn moving(
        position: impl Into<Cow<'a, [[f32; D]]>>,
        velocity: impl Into<Cow<'a, [[f32; D]]>>,
    ) -> Self {
        let attributes = [("velocity".to_string(), Attribute::Vectors(velocity.into()))].into();
        Self { position: position.into(), attributes }
    }

    /// Their velocities, in m/s, if they have any.
    pub fn velocity(&self) -> Option<&[[f32; D]]> {
        match self.attributes.get("velocity")? {
            Attribute::Vectors(velocity) => Some(velocity),
            _ => None,
        }
    }

    pub(super) fn into_owned(self) -> Points<'static, D> {
        Points { position: Cow::Owned(self.position.into_owned()), attributes: into_owned(self.attributes) }
    }
}

/// Points as runs in the same block.
#[derive(Serialize, Deserialize)]
pub(super) struct PackedPoints<const D: usize> {
    /// The block of each run.
    #[serde(with = "bulk")]
    block: Vec<[i32; D]>,
    /// The number of points of each run.
    #[serde(with = "bulk")]
    count: Vec<u32>,
    /// Places in the block, axis by axis, less that of the point before.
    #[serde(with = "bulk")]
    position: Vec<u8>,
    attributes: PackedAttributes,
}

impl<const D: usize> PackedPoints<D> {
    pub(super) fn new(points: &Points<D>) -> Self {
        let position = &points.position;
        let blocks = parallel::map_each(position.len(), |k| block_of(&position[k]));
        let (block, count): (Vec<_>, Vec<_>) =
            blocks.chunk_by(|x, y| x == y).map(|run| (run[0], run.len() as u32)).unzip();
        let places = |axis: usize| position.iter().map(|x| place_in_block(x[axis])).collect();
        let planes = parallel::map(D, |axis| to_planes(&differences(places(axis))));
        let attributes = PackedAttributes::new(&points.attributes, &count);
        Self { block, count, position: planes.concat(), attributes }
    }

    pub(super) fn unpack(&self) -> Result<Points<'static, D>, String> {
        let runs = self.block.len();
        if self.count.len() != runs {
            return Err(format!("its points are not in {runs} runs"));
        }
        let total = self.count.iter().map(|&count| count as usize).sum();
        let mut places = from_planes_by_axis(&self.position, D, total, "its positions of points")?;
        places.iter_mut().for_each(|values| sums(values));
        let mut position = Vec::with_capacity(total);
        for (block, &count) in self.block.iter().zip(&self.count) {
            for _ in 0..count {
                let k = position.len();
                position.push(std::array::from_fn(|a| restore_position(block[a], places[a][k])));
            }
        }
        Ok(Points { position: Cow::Owned(position), attributes: self.attributes.unpack(&self.count)? })
    }
}

#[cfg(test)]
impl<const D: usize> PackedPoints<D> {
    /// Claims more points than there are.
    pub(super) fn spoil(&mut self) {
        self.count[0] = u32::MAX;
    }
}

fn block_of<const D: usize>(x: &[f32; D]) -> [i32; D] {
    x.map(|x| floor(x / EDGE))
}

/// The largest whole number that is not larger. Without a call: the instruction for it is not on every machine.
fn floor(x: f32) -> i32 {
    let towards_zero = x as i32;
    towards_zero.saturating_sub(i32::from(towards_zero as f32 > x))
}

/// The step within the block that holds a coordinate. 2^13 steps a cell: a particle stays in its cell.
fn place_in_block(x: f32) -> i16 {
    let fraction = x / EDGE - floor(x / EDGE) as f32;
    (fraction * STEPS) as u16 as i16
}

/// The middle of a step, but within the cell where that rounds to the end of it.
fn restore_position(block: i32, place: i16) -> f32 {
    const STEPS_IN_CELL: f64 = (STEPS / EDGE) as f64;
    let cells = (f64::from(place as u16) + 0.5) / STEPS_IN_CELL;
    let lower = f64::from(block) * f64::from(EDGE);
    let (x, end) = ((lower + cells) as f32, (lower + cells.ceil()) as f32);
    if x < end { x } else { end.next_down() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn vectors<'a, const D: usize>(points: &'a Points<D>) -> impl Iterator<Item = &'a f32> {
        points.velocity().unwrap().iter().flatten()
    }

    proptest! {
        #[test]
        fn particles_stay_in_their_cells(
            position in prop::collection::vec(prop::array::uniform3(-20.0f32..1100.0), 0..100),
        ) {
            let velocity: Vec<_> = position.iter().map(|x| x.map(|x| 0.01 * x)).collect();
            let particles = Points::moving(position, velocity);
            let back = PackedPoints::new(&particles).unpack().unwrap();
            prop_assert_eq!(back.position.len(), particles.position.len());
            for (x, y) in particles.position.iter().zip(back.position.iter()) {
                for a in 0..3 {
                    prop_assert!((x[a] - y[a]).abs() <= 1.3e-4, "{} {}", x[a], y[a]);
                    prop_assert_eq!(x[a].floor(), y[a].floor());
                }
            }
            for (v, w) in vectors(&particles).zip(vectors(&back)) {
                prop_assert!((v - w).abs() <= 5e-4 * 11.0);
            }
        }
    }

    #[test]
    fn the_ends_of_blocks_stay_in_their_blocks() {
        for block in [0, 1, 127, 128, 511, 512, 4000] {
            for place in [0, -1i16, i16::MAX, i16::MIN] {
                let x = restore_position(block, place);
                assert_eq!(block_of(&[x]), [block], "{x} {place}");
            }
        }
        for position in [[f32::NAN, 1e30], [f32::NEG_INFINITY, -1e30]] {
            let strange = Points::moving(vec![position], vec![[f32::NAN; 2]]);
            let back = PackedPoints::new(&strange).unpack().unwrap();
            assert!(back.position[0].iter().chain(vectors(&back)).all(|x| x.is_finite()));
        }
    }
}

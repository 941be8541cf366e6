//! The particles of a frame.

use meniscus_core::grid::BLOCK_EDGE;
use meniscus_core::parallel;
use meniscus_core::serde_array::bulk;
use serde::{Deserialize, Serialize};

use super::FrameParticles;
use super::planes::to_planes;
use super::velocity::{from_planes_by_axis, largest, quantise, restore};

/// The edge of a block, in cells.
const EDGE: f32 = BLOCK_EDGE as f32;

/// Positions have this many steps across a block.
const STEPS: f32 = 65536.0;

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
}

impl<const D: usize> PackedPoints<D> {
    pub(super) fn new(position: &[[f32; D]]) -> Self {
        let blocks = parallel::map_each(position.len(), |k| block_of(&position[k]));
        let (block, count) = blocks.chunk_by(|x, y| x == y).map(|run| (run[0], run.len() as u32)).unzip();
        let places = |axis: usize| position.iter().map(|x| place_in_block(x[axis])).collect();
        let planes = parallel::map(D, |axis| to_planes(&differences(places(axis))));
        Self { block, count, position: planes.concat() }
    }

    pub(super) fn unpack(&self) -> Result<Vec<[f32; D]>, String> {
        let runs = self.block.len();
        if self.count.len() != runs {
            return Err(format!("its particles are not in {runs} runs"));
        }
        let total = self.count.iter().map(|&count| count as usize).sum();
        let mut places = from_planes_by_axis(&self.position, D, total, "its particle positions")?;
        places.iter_mut().for_each(|values| sums(values));
        let mut position = Vec::with_capacity(total);
        for (block, &count) in self.block.iter().zip(&self.count) {
            for _ in 0..count {
                let k = position.len();
                position.push(std::array::from_fn(|a| restore_position(block[a], places[a][k])));
            }
        }
        Ok(position)
    }
}

/// Particles as runs in the same block.
#[derive(Serialize, Deserialize)]
pub(super) struct PackedParticles<const D: usize> {
    points: PackedPoints<D>,
    /// The largest velocity component of each run.
    #[serde(with = "bulk")]
    largest: Vec<f32>,
    /// Velocities, axis by axis, less that of the particle before.
    #[serde(with = "bulk")]
    velocity: Vec<u8>,
}

impl<const D: usize> PackedParticles<D> {
    pub(super) fn new(particles: &FrameParticles<D>) -> Self {
        let FrameParticles { position, velocity } = particles;
        assert_eq!(position.len(), velocity.len(), "every particle has a velocity");
        let points = PackedPoints::new(position);
        let mut fastest = Vec::with_capacity(points.count.len());
        let mut packed = vec![Vec::with_capacity(position.len()); D];
        let mut rest = &velocity[..];
        for &count in &points.count {
            let run = rest.split_off(..count as usize).expect("runs hold every particle");
            let speed = largest(run.as_flattened().iter().copied());
            for (axis, packed) in packed.iter_mut().enumerate() {
                packed.extend(run.iter().map(|v| quantise(v[axis], speed)));
            }
            fastest.push(speed);
        }
        let velocity = parallel::map_parts_with(packed, || (), |_, _, v| to_planes(&differences(v)));
        Self { points, largest: fastest, velocity: velocity.concat() }
    }

    pub(super) fn unpack(&self) -> Result<FrameParticles<D>, String> {
        let position = self.points.unpack()?;
        let count = &self.points.count;
        if self.largest.len() != count.len() {
            return Err(format!("its particles are not in {} runs", self.largest.len()));
        }
        let mut packed = from_planes_by_axis(&self.velocity, D, position.len(), "its particle velocities")?;
        packed.iter_mut().for_each(|values| sums(values));
        let mut velocity = Vec::with_capacity(position.len());
        for (&count, &largest) in count.iter().zip(&self.largest) {
            for _ in 0..count {
                let k = velocity.len();
                velocity.push(std::array::from_fn(|a| restore(packed[a][k], largest)));
            }
        }
        Ok(FrameParticles { position, velocity })
    }
}

#[cfg(test)]
impl<const D: usize> PackedParticles<D> {
    /// Claims more particles than there are.
    pub(super) fn spoil(&mut self) {
        self.points.count[0] = u32::MAX;
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

/// Each number less the one before.
fn differences(mut values: Vec<i16>) -> Vec<i16> {
    for i in (1..values.len()).rev() {
        values[i] = values[i].wrapping_sub(values[i - 1]);
    }
    values
}

/// The inverse of [`differences`].
fn sums(values: &mut [i16]) {
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
        fn particles_stay_in_their_cells(
            position in prop::collection::vec(prop::array::uniform3(-20.0f32..1100.0), 0..100),
        ) {
            let velocity = position.iter().map(|x| x.map(|x| 0.01 * x)).collect();
            let particles = FrameParticles { position, velocity };
            let back = PackedParticles::new(&particles).unpack().unwrap();
            prop_assert_eq!(back.position.len(), particles.position.len());
            for (x, y) in particles.position.iter().zip(&back.position) {
                for a in 0..3 {
                    prop_assert!((x[a] - y[a]).abs() <= 1.3e-4, "{} {}", x[a], y[a]);
                    prop_assert_eq!(x[a].floor(), y[a].floor());
                }
            }
            for (v, w) in particles.velocity.iter().flatten().zip(back.velocity.iter().flatten()) {
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
            let strange = FrameParticles { position: vec![position], velocity: vec![[f32::NAN; 2]] };
            let back = PackedParticles::new(&strange).unpack().unwrap();
            assert!(back.position[0].iter().chain(&back.velocity[0]).all(|x| x.is_finite()));
        }
    }
}

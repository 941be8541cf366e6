//! Points that the flow carries, and that carry nothing.

use meniscus_core::parallel;
use meniscus_core::particles::{jittered, markers_along};
use meniscus_core::serde_array::bulk;
use meniscus_core::simd::simd;
use serde::{Deserialize, Serialize};

use crate::flow::{Sines, velocities_at_nodes};
use crate::panels::{Body, Pose};

/// Points that show the flow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tracers<const D: usize = 2> {
    /// Where they are, in m.
    #[serde(with = "bulk")]
    pub position: Vec<[f32; D]>,
}

/// Tracers that are moved together, so that what comes of it does not depend on the number of threads.
const PIECE: usize = 4096;
/// Tracers that are worked on together.
const LANES: usize = 16;
/// Pairs of corners of a cell that are neighbours along the last axis, in space.
const PAIRS: usize = 4;
/// 2^23: a float of that size counts ones with its last bits, which are these.
const COUNT: f32 = 8_388_608.0;
const COUNT_BITS: u32 = 0x7f_ffff;
/// Cells of velocities along the longer side of the box: between them the velocity is taken to be linear.
const CELLS: usize = 128;

impl Tracers {
    /// Carries them for a time by a flow that stays as it is (the midpoint rule); none leaves the box or gets into a body.
    pub fn carry(&mut self, velocities: &Velocities, bodies: &[Body], poses: &[Pose], dt: f64) {
        let obstacles: Vec<Obstacle> = bodies.iter().zip(poses).map(Obstacle::new).collect();
        let keep_out = |x: &mut [f32; 2]| {
            for obstacle in &obstacles {
                obstacle.keep_out(x);
            }
        };
        self.carry_past(velocities, keep_out, dt);
    }
}

impl<const D: usize> Tracers<D> {
    /// The same past anything: `keep_out` moves a point out of it.
    pub fn carry_past(
        &mut self,
        velocities: &Velocities<D>,
        keep_out: impl Fn(&mut [f32; D]) + Sync,
        dt: f64,
    ) {
        let half = 0.5 * dt as f32;
        parallel::for_chunks(&mut self.position, PIECE, |_, points| {
            simd(
                #[inline(always)]
                || {
                    for group in points.chunks_mut(LANES) {
                        velocities.carry(group, half);
                    }
                },
            );
            for x in points {
                keep_out(x);
                *x = std::array::from_fn(|axis| x[axis].clamp(0.0, velocities.size[axis]));
            }
        });
    }

    /// Adds one in each part of a grid's cells that has none, where asked for; `dx` is the edge of a cell, and the parts reach from the first to the last.
    pub fn fill(
        &mut self,
        dx: f64,
        [first, last]: [[usize; D]; 2],
        salt: u64,
        belongs: impl Fn([f64; D]) -> bool + Sync,
    ) {
        let along = markers_along::<D>() as f64 / dx;
        let count: [usize; D] = std::array::from_fn(|axis| (last[axis] + 1).saturating_sub(first[axis]));
        let mut is_full = vec![false; count.iter().product()];
        for x in &self.position {
            let part = x.map(|x| (f64::from(x) * along) as usize);
            if (0..D).all(|axis| (first[axis]..=last[axis]).contains(&part[axis])) {
                is_full[(0..D).fold(0, |number, axis| number * count[axis] + part[axis] - first[axis])] =
                    true;
            }
        }
        let new = parallel::gather(is_full.len(), |number| {
            let mut left = number;
            let mut part = first;
            for axis in (0..D).rev() {
                part[axis] += left % count[axis];
                left /= count[axis];
            }
            // Parts are as half-cells of cells of a grid that is finer.
            let half = (0..D).map(|axis| (part[axis] % 2) << axis).sum();
            let x = jittered(part.map(|p| p / 2), half, salt).map(|c| (2.0 * f64::from(c) / along) as f32);
            (!is_full[number] && belongs(x.map(f64::from))).then_some(x)
        });
        self.position.extend(new);
    }
}

/// The velocity on a grid of points.
pub struct Velocities<const D: usize = 2> {
    size: [f32; D],
    /// Cells in a metre along each axis.
    per_metre: [f32; D],
    /// The end of the last cell along each axis, and its number.
    last: [f32; D],
    last_cell: [u32; D],
    /// Points from one to the next along each axis.
    strides: [u32; D],
    /// By x, and in these by y.
    values: Vec<[f32; D]>,
}

impl Velocities {
    /// Of a flow by its vorticity in sines.
    pub fn new(sines: &Sines, vorticity: &[f64]) -> Self {
        let cells = cells_in(sines.size, CELLS);
        let values = velocities_at_nodes(sines, vorticity, cells);
        let values = values.into_iter().map(|velocity| velocity.map(|v| v as f32)).collect();
        Self::at_nodes(sines.size, cells, values)
    }
}

/// Cells of a box, so many along its longer side.
pub(crate) fn cells_in(size: [f64; 2], along: usize) -> [usize; 2] {
    let longer = size[0].max(size[1]);
    size.map(|side| ((along as f64 * side / longer).round() as usize).max(2))
}

impl<const D: usize> Velocities<D> {
    /// By those at the corners of the cells of a box, in lists by x, and these by y.
    pub fn at_nodes(size: [f64; D], cells: [usize; D], values: Vec<[f32; D]>) -> Self {
        let size = size.map(|side| side as f32);
        let per_metre = std::array::from_fn(|axis| cells[axis] as f32 / size[axis]);
        let (last, last_cell) = (cells.map(|count| count as f32), cells.map(|count| count as u32 - 1));
        let strides =
            std::array::from_fn(|axis| cells[axis + 1..].iter().map(|&count| count as u32 + 1).product());
        Self { size, per_metre, last, last_cell, strides, values }
    }

    /// Carries some points for two times a half by the midpoint rule.
    #[inline(always)]
    fn carry(&self, points: &mut [[f32; D]], half: f32) {
        let mut x = [[0.0; D]; LANES];
        x[..points.len()].copy_from_slice(points);
        let first = self.at(&x);
        let middle = along(&x, half, &first);
        let velocity = self.at(&middle);
        let end = along(&x, 2.0 * half, &velocity);
        points.copy_from_slice(&end[..points.len()]);
    }

    /// At points; beyond the box that of its edge.
    #[inline(always)]
    fn at(&self, x: &[[f32; D]; LANES]) -> [[f32; D]; LANES] {
        let mut first = [0; LANES];
        let mut parts = [[0.0; LANES]; D];
        for axis in 0..D {
            for lane in 0..LANES {
                let along = (x[lane][axis] * self.per_metre[axis]).max(0.0).min(self.last[axis]);
                let cell = (along.floor() + COUNT).to_bits() & COUNT_BITS;
                let cell = cell.min(self.last_cell[axis]);
                first[lane] += cell * self.strides[axis];
                parts[axis][lane] = along - cell as i32 as f32;
            }
        }
        let mut velocities = [[0.0; D]; LANES];
        for lane in 0..LANES {
            // Between neighbours along the last axis comes last: these lie beside each other.
            let mut pairs = [[[0.0; D]; 2]; PAIRS];
            for (number, pair) in pairs[..1 << (D - 1)].iter_mut().enumerate() {
                let step: u32 =
                    (0..D - 1).map(|axis| (number as u32 >> (D - 2 - axis) & 1) * self.strides[axis]).sum();
                let corner = (first[lane] + step) as usize;
                pair.copy_from_slice(&self.values[corner..corner + 2]);
            }
            for axis in (0..D - 1).rev() {
                for number in 0..1 << axis {
                    pairs[number] = std::array::from_fn(|end| {
                        between(parts[axis][lane], pairs[2 * number][end], pairs[2 * number + 1][end])
                    });
                }
            }
            velocities[lane] = between(parts[D - 1][lane], pairs[0][0], pairs[0][1]);
        }
        velocities
    }
}

#[inline(always)]
fn along<const D: usize>(
    x: &[[f32; D]; LANES],
    time: f32,
    velocity: &[[f32; D]; LANES],
) -> [[f32; D]; LANES] {
    std::array::from_fn(|lane| std::array::from_fn(|axis| x[lane][axis] + time * velocity[lane][axis]))
}

/// A part of the way from one to another.
#[inline(always)]
fn between<const D: usize>(part: f32, low: [f32; D], high: [f32; D]) -> [f32; D] {
    std::array::from_fn(|axis| low[axis] + part * (high[axis] - low[axis]))
}

/// A body in the way of tracers.
struct Obstacle<'a> {
    body: &'a Body,
    pose: &'a Pose,
}

impl<'a> Obstacle<'a> {
    fn new((body, pose): (&'a Body, &'a Pose)) -> Self {
        Self { body, pose }
    }

    /// Moves a point that is in the body to the nearest of its outline.
    fn keep_out(&self, x: &mut [f32; 2]) {
        let from_centre = [0, 1].map(|axis| f64::from(x[axis]) - self.pose.centre[axis]);
        if from_centre[0].hypot(from_centre[1]) >= self.body.profile.reach {
            return;
        }
        let local = self.pose.turn_back(from_centre);
        if let Some(outside) = self.body.profile.nearest_outside(local) {
            *x = self.pose.place(outside).map(|c| c as f32);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::samples;
    use crate::panels::tests::disc;

    #[test]
    fn tracers_go_round_and_come_back() {
        let sines = Sines { size: [1.0, 1.0], counts: [1, 1] };
        let velocities = Velocities::new(&sines, &[20.0]);
        let mut tracers = Tracers { position: vec![[0.5, 0.6], [0.3, 0.5], [0.5, 0.99]] };
        let stream =
            |x: &[f32; 2]| x.map(|c| (std::f64::consts::PI * f64::from(c)).sin()).iter().product::<f64>();
        let before: Vec<f64> = tracers.position.iter().map(stream).collect();
        for _ in 0..1000 {
            tracers.carry(&velocities, &[], &[], 0.01);
        }
        for (x, before) in tracers.position.iter().zip(before) {
            assert!((stream(x) - before).abs() < 5e-3, "{x:?}");
        }
    }

    #[test]
    fn velocities_at_points_are_those_of_the_flow() {
        let sines = Sines { size: [1.6, 0.9], counts: [3, 2] };
        let vorticity = [1.0, -2.0, 0.5, 3.0, -1.0, 0.7];
        let velocities = Velocities::new(&sines, &vorticity);
        let points: Vec<[f32; 2]> =
            (0..500).map(|k| [(k as f32 * 0.618) % 1.0 * 1.6, (k as f32 * 0.755) % 1.0 * 0.9]).collect();
        let points = [points, vec![[0.0, 0.0], [0.001, 0.001], [1.6, 0.9]]].concat();
        for group in points.chunks(LANES) {
            let mut moved = group.to_vec();
            velocities.carry(&mut moved, 0.5e-3);
            for (before, after) in group.iter().zip(&moved) {
                let exact = samples(&sines, &vorticity, &[before.map(f64::from)])[0].velocity;
                for axis in 0..2 {
                    let found = f64::from(after[axis] - before[axis]) * 1e3;
                    assert!((found - exact[axis]).abs() < 2e-3, "{before:?}: {found} {exact:?}");
                }
            }
        }
    }

    #[test]
    fn none_gets_into_a_body() {
        let bodies = [Body::of_density(disc(40, 0.2), 1.0)];
        let poses = [Pose { centre: [0.5, 0.5], angle: 0.3 }];
        let sines = Sines { size: [1.0, 1.0], counts: [2, 2] };
        let velocities = Velocities::new(&sines, &[5.0, -10.0, 7.0, 20.0]);
        let mut tracers = Tracers::default();
        let outside = |x: [f64; 2]| (x[0] - 0.5).hypot(x[1] - 0.5) > 0.21;
        tracers.fill(1.0 / 32.0, [[0, 0], [63, 63]], 1, outside);
        let count = tracers.position.len();
        assert!((count as f64 / 4096.0 - (1.0 - 0.044 * std::f64::consts::PI)).abs() < 0.01, "{count}");
        tracers.fill(1.0 / 32.0, [[0, 0], [63, 63]], 1, outside);
        assert_eq!(tracers.position.len(), count, "what is full is not filled again");
        for _ in 0..100 {
            tracers.carry(&velocities, &bodies, &poses, 0.02);
            let inside = |x: &&[f32; 2]| (x[0] - 0.5).hypot(x[1] - 0.5) < 0.198;
            assert_eq!(tracers.position.iter().filter(inside).count(), 0);
        }
    }
}

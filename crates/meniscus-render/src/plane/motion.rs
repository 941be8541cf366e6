//! The liquid's velocity everywhere, for colours and lines.

use meniscus_core::vector::norm;

use super::solid_distance;
use crate::view::View;

/// How many cells beyond the liquid its velocity is continued.
const LAYERS: usize = 3;

/// Velocities at cell centres, continued from the liquid outwards, so that colours do not darken where the
/// faces beyond the surface hold nothing.
pub(super) struct Motion {
    cells: [usize; 2],
    velocity: Vec<[f32; 2]>,
    /// The fastest speed in the liquid.
    pub fastest: f32,
}

impl Motion {
    pub fn new(view: &View<2>) -> Self {
        let cells = view.grid.cells;
        let mut known: Vec<Option<[f32; 2]>> = (0..cells[0] * cells[1])
            .map(|k| {
                let cell = [(k % cells[0]) as i64, (k / cells[0]) as i64];
                let wet = view.level_set.get(cell) < 0.0;
                (wet && !in_solid(view, cell)).then(|| centre_velocity(view, cell))
            })
            .collect();
        let speed = |v: &[f32; 2]| norm(v.map(f64::from)) as f32;
        let fastest = known.iter().flatten().map(speed).fold(0.0, f32::max);
        for _ in 0..LAYERS {
            known = continued(&known, cells);
        }
        Self { cells, velocity: known.into_iter().map(Option::unwrap_or_default).collect(), fastest }
    }

    /// The velocity at a point, in m/s.
    pub fn at(&self, p: [f32; 2]) -> [f32; 2] {
        let (mut base, mut fraction) = ([0; 2], [0.0; 2]);
        for a in 0..2 {
            let last = self.cells[a] - 1;
            let w = (p[a] - 0.5).clamp(0.0, last as f32);
            base[a] = (w as usize).min(last.saturating_sub(1));
            fraction[a] = w - base[a] as f32;
        }
        let next = [0, 1].map(|a| usize::from(self.cells[a] > 1));
        let value = |i: usize, j: usize| {
            self.velocity[base[0] + i * next[0] + self.cells[0] * (base[1] + j * next[1])]
        };
        let [f, g] = fraction;
        std::array::from_fn(|c| {
            let along = |j| value(0, j)[c] + f * (value(1, j)[c] - value(0, j)[c]);
            along(0) + g * (along(1) - along(0))
        })
    }
}

fn in_solid(view: &View<2>, cell: [i64; 2]) -> bool {
    !view.solids.is_empty() && solid_distance(view, cell.map(|c| c as f32 + 0.5)) < 0.0
}

fn centre_velocity(view: &View<2>, cell: [i64; 2]) -> [f32; 2] {
    std::array::from_fn(|axis| {
        let mut above = cell;
        above[axis] += 1;
        0.5 * (view.velocity.get(axis, cell) + view.velocity.get(axis, above))
    })
}

/// One layer more: each unknown value becomes the mean of the known ones around it.
fn continued(known: &[Option<[f32; 2]>], cells: [usize; 2]) -> Vec<Option<[f32; 2]>> {
    let around = |k: usize| {
        let (x, y) = (k % cells[0], k / cells[0]);
        let columns = x.saturating_sub(1)..(x + 2).min(cells[0]);
        (y.saturating_sub(1)..(y + 2).min(cells[1]))
            .flat_map(move |j| columns.clone().map(move |i| i + cells[0] * j))
    };
    (0..known.len())
        .map(|k| {
            known[k].or_else(|| {
                let (mut sum, mut count) = ([0.0; 2], 0.0);
                for v in around(k).filter_map(|n| known[n]) {
                    sum = [sum[0] + v[0], sum[1] + v[1]];
                    count += 1.0;
                }
                (count > 0.0).then(|| sum.map(|s| s / count))
            })
        })
        .collect()
}

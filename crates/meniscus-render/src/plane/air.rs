//! Which bubble the air of a pixel belongs to.

use super::solid_distance;
use crate::colour::{bubble_colour_linear, from_srgb};
use crate::vec3::Vec3;
use crate::view::{NO_AIR, View};

/// How far the air goes on under the lines that bound it, in cells.
const MARGIN: usize = 2;

/// The bubble of every cell of the domain.
pub(super) struct Air {
    cells: [usize; 2],
    bubble_of: Vec<u32>,
}

impl Air {
    /// None where there is no bubble to be seen.
    pub fn new(view: &View<2>) -> Option<Self> {
        let known = view.air?;
        if known.values().iter().all(|&id| id == 0 || id == NO_AIR) {
            return None;
        }
        let cells = view.grid.cells;
        let place = |k: usize| [k % cells[0], k / cells[0]];
        let mut air = Self { cells, bubble_of: Vec::new() };
        air.bubble_of = (0..cells[0] * cells[1]).map(|k| known.get(place(k).map(|c| c as i64))).collect();
        let blocks = known.blocks();
        let is_unknown = |k: usize| {
            let cell = place(k);
            blocks.locate(cell.map(|c| c as i64)).is_none()
                && solid_distance(view, cell.map(|c| c as f32 + 0.5)) >= 0.0
        };
        air.spread(usize::MAX, is_unknown);
        air.spread(MARGIN, |_| true);
        Some(air)
    }

    /// Lets the bubbles grow into the cells without one that `may` be theirs, by a layer of cells at a time.
    fn spread(&mut self, layers: usize, may: impl Fn(usize) -> bool) {
        let [columns, rows] = self.cells;
        let mut front: Vec<usize> =
            (0..self.bubble_of.len()).filter(|&k| self.bubble_of[k] != NO_AIR).collect();
        for _ in 0..layers {
            let mut next = Vec::new();
            for &k in &front {
                let (x, y) = (k % columns, k / columns);
                let beside = [
                    (x > 0).then(|| k - 1),
                    (x + 1 < columns).then(|| k + 1),
                    (y > 0).then(|| k - columns),
                    (y + 1 < rows).then(|| k + columns),
                ];
                for neighbour in beside.into_iter().flatten() {
                    if self.bubble_of[neighbour] == NO_AIR && may(neighbour) {
                        self.bubble_of[neighbour] = self.bubble_of[k];
                        next.push(neighbour);
                    }
                }
            }
            if next.is_empty() {
                break;
            }
            front = next;
        }
    }

    /// The colour at a point in cells; that of the open air where there is no bubble.
    pub fn colour(&self, p: [f32; 2]) -> Vec3 {
        let [x, y] = std::array::from_fn(|a| (p[a].max(0.0) as usize).min(self.cells[a] - 1));
        match self.bubble_of[x + self.cells[0] * y] {
            0 | NO_AIR => from_srgb(super::AIR),
            id => bubble_colour_linear(id),
        }
    }
}

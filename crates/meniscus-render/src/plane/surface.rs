//! The outline of a plane liquid: a cubic spline of its level set.

use meniscus_core::grid::Field;
use meniscus_core::parallel;

use crate::spline::{mirrored, slopes, weights};

/// Samples beyond the domain on either side.
const PAD: i64 = 2;

/// Values far from the surface are cut to this, in cells.
const FAR: f32 = 3.0;

/// The level set as a spline; see [`crate::spline`].
pub(super) struct Outline {
    cells: [usize; 2],
    row: usize,
    coefficients: Vec<f32>,
}

impl Outline {
    pub fn new(level_set: &Field<f32, 2>) -> Self {
        let cells = level_set.blocks().cells();
        let sample = |x: i64, y: i64| {
            let value = level_set.get([mirrored(x, cells[0]), mirrored(y, cells[1])]);
            if value.is_nan() { FAR } else { value.clamp(-FAR, FAR) }
        };
        let [row, rows] = cells.map(|n| n + 2 * PAD as usize);
        let coefficients = parallel::map_each(row * rows, |k| {
            let (x, y) = ((k % row) as i64 - PAD, (k / row) as i64 - PAD);
            let across = |y: i64| (sample(x - 1, y) + 4.0 * sample(x, y) + sample(x + 1, y)) / 6.0;
            2.0 * sample(x, y) - (across(y - 1) + 4.0 * across(y) + across(y + 1)) / 6.0
        });
        Self { cells, row, coefficients }
    }

    /// The signed distance to the surface, in cells: the spline over the length of its gradient.
    pub fn distance(&self, p: [f32; 2]) -> f32 {
        let (mut base, mut fraction) = ([0; 2], [0.0; 2]);
        for a in 0..2 {
            let w = p[a].clamp(0.0, self.cells[a] as f32) - 0.5 + PAD as f32;
            base[a] = (w as usize).clamp(1, self.cells[a] + 2 * PAD as usize - 3) - 1;
            fraction[a] = w - (base[a] + 1) as f32;
        }
        let [wx, wy] = fraction.map(weights);
        let [sx, sy] = fraction.map(slopes);
        let (mut value, mut slope) = (0.0, [0.0; 2]);
        for j in 0..4 {
            let start = base[0] + self.row * (base[1] + j);
            let row = &self.coefficients[start..start + 4];
            let plain: f32 = (0..4).map(|i| wx[i] * row[i]).sum();
            let sloped: f32 = (0..4).map(|i| sx[i] * row[i]).sum();
            value += wy[j] * plain;
            slope[0] += wy[j] * sloped;
            slope[1] += sy[j] * plain;
        }
        // Where the gradient is short there is no surface near, but the value may be small: between two
        // close ones it counts as it is.
        value / slope[0].hypot(slope[1]).clamp(0.5, 2.0)
    }
}

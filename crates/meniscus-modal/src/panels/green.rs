//! The stream function of a vortex in a box.

use std::f64::consts::PI;

/// The stream function of point vortices in a closed box, all images included. A vortex and its images across the shorter side are one term in closed form,
/// (ch k Δy - cos k Δx) / (ch k Δy - cos k (x + x')) with k = π / that side; the images along the longer side are a sum, which
/// falls by e^-π with each side that one is farther off.
#[derive(Clone, Debug)]
pub struct Images {
    size: [f64; 2],
    wave_number: f64,
    /// The axis of the shorter side.
    across: usize,
    rows: Vec<Row>,
}

/// Images in a row.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// Whether they are mirrored, and turn the other way.
    is_mirrored: bool,
    /// e to the wave number times how far off the row is, and the inverse.
    off: [f64; 2],
}

/// Rows that are farther off than this, in shorter sides, are left out.
const REACH: f64 = 5.0;
/// No hyperbolic cosine counts as more: beyond it a term is one to rounding.
const MOST: f64 = 1e20;

/// A point, as terms are made of it: the cosine and the sine of where it is across, and e to where it is along and the inverse.
#[derive(Clone, Copy, Debug, Default)]
pub struct Place {
    cos: f64,
    sin: f64,
    up: f64,
    down: f64,
}

impl Images {
    /// In a box with these sides.
    pub fn new(size: [f64; 2]) -> Self {
        let across = usize::from(size[1] < size[0]);
        let (short, long) = (size[across], size[1 - across]);
        let wave_number = PI / short;
        let farthest = (REACH * short / (2.0 * long)).ceil() as i64 + 1;
        let mut rows = Vec::new();
        for number in -farthest..=farthest {
            let offset = 2.0 * number as f64 * long;
            let off =
                [(wave_number * offset).min(MOST.ln()).exp(), (-wave_number * offset).min(MOST.ln()).exp()];
            // Two points are at most a side apart, and a point from a mirrored one between none and two.
            for (is_mirrored, distance) in
                [(false, offset.abs() - long), (true, (offset - long).abs() - long)]
            {
                if distance < REACH * short {
                    rows.push(Row { is_mirrored, off });
                }
            }
        }
        Self { size, wave_number, across, rows }
    }

    /// The sides of the box, in m.
    pub fn size(&self) -> [f64; 2] {
        self.size
    }

    /// What terms are made of at a point.
    pub fn place(&self, x: [f64; 2]) -> Place {
        let (sin, cos) = (self.wave_number * x[self.across]).sin_cos();
        let along = self.wave_number * x[1 - self.across];
        Place { cos, sin, up: along.exp(), down: (-along).exp() }
    }

    /// The stream function at one point of a vortex of unit circulation at another one, without that of the same vortex without walls, -ln r / 2π; `square` is the square of their distance.
    pub fn rest(&self, at: Place, from: Place, square: f64) -> f64 {
        let (own, others) = self.products(at, from);
        // At the vortex itself: what the term tends to.
        let ratio = if square > 0.0 { own / square } else { 0.5 * self.wave_number * self.wave_number };
        -(ratio * others).ln() / (4.0 * PI)
    }

    /// The term that vanishes at the vortex, and the product of all others.
    #[inline(always)]
    fn products(&self, at: Place, from: Place) -> (f64, f64) {
        let difference = at.cos * from.cos + at.sin * from.sin;
        let sum = at.cos * from.cos - at.sin * from.sin;
        let (mut own, mut above, mut below) = (1.0, 1.0, 1.0);
        for row in &self.rows {
            let [up, down] = if row.is_mirrored { [from.down, from.up] } else { [from.up, from.down] };
            // e to k (y ∓ y' - offset), and the inverse.
            let cosh = 0.5 * (at.up * down * row.off[1] + at.down * up * row.off[0]);
            let cosh = cosh.min(MOST);
            match row.is_mirrored {
                true => (above, below) = (above * (cosh - sum), below * (cosh - difference)),
                false if row.off[0] == 1.0 => (own, below) = (cosh - difference, below * (cosh - sum)),
                false => (above, below) = (above * (cosh - difference), below * (cosh - sum)),
            }
        }
        (own, above / below)
    }
}

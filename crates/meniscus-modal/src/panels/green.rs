//! The stream function of a vortex in a box.

use std::f64::consts::PI;

use meniscus_core::simd::simd;

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
    /// e to the wave number times how far off the row is from the middle of the box, and the inverse.
    off: [f64; 2],
    /// Whether the vortex itself is in it.
    is_own: bool,
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
            // Seen from the middle, y + y' - offset is a side less.
            for (is_mirrored, offset) in [(false, offset), (true, offset - long)] {
                // Two points are at most a side apart, and one from the mirrored other one too.
                if offset.abs() - long < REACH * short {
                    let off = [(wave_number * offset).exp(), (-wave_number * offset).exp()];
                    rows.push(Row { is_mirrored, off, is_own: !is_mirrored && number == 0 });
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
        // From the middle, so that long boxes make no larger numbers than they must.
        let along = self.wave_number * (x[1 - self.across] - 0.5 * self.size[1 - self.across]);
        Place { cos, sin, up: along.exp(), down: (-along).exp() }
    }

    /// Adds the stream function at points, from some number on, of a vortex of some circulation.
    pub fn add_streams(&self, at: &Places, first: usize, from: Place, circulation: f64, streams: &mut [f64]) {
        let factor = -circulation / (4.0 * PI);
        let rows: Vec<Terms> = self.rows.iter().map(|row| row.terms(from)).collect();
        simd(
            #[inline(always)]
            || {
                for (number, streams) in streams.chunks_mut(LANES).enumerate() {
                    let mut logs = at.group(first + number * LANES).products(from, &rows);
                    for value in &mut logs {
                        *value = logarithm(*value);
                    }
                    for (to, log) in streams.iter_mut().zip(logs) {
                        *to += factor * log;
                    }
                }
            },
        );
    }

    /// What the stream function at a vortex itself tends to, of one of unit circulation, without that of the same vortex without walls, -ln r / 2π.
    pub fn rest_at_itself(&self, at: Place) -> f64 {
        let terms: Vec<Terms> = self.rows.iter().filter(|row| !row.is_own).map(|row| row.terms(at)).collect();
        let [others, ..] = Places::of(&[at]).group(0).products(at, &terms);
        // The own row's denominator stays.
        let below = 1.0 - (at.cos * at.cos - at.sin * at.sin);
        let own = 0.5 * self.wave_number * self.wave_number / below;
        -(own * others).ln() / (4.0 * PI)
    }
}

impl Row {
    /// What it is for a vortex.
    fn terms(&self, from: Place) -> Terms {
        let [up, down] = if self.is_mirrored { [from.down, from.up] } else { [from.up, from.down] };
        Terms {
            is_mirrored: self.is_mirrored,
            of_up: 0.5 * down * self.off[1],
            of_down: 0.5 * up * self.off[0],
        }
    }
}

/// Images in a row of one vortex.
struct Terms {
    is_mirrored: bool,
    /// What e to where a point is along, and the inverse, count in the hyperbolic cosine of k (y ∓ y' - offset).
    of_up: f64,
    of_down: f64,
}

/// Points that are worked on together.
const LANES: usize = 8;

/// Some points, each part of all of them in a list.
struct Group {
    cos: [f64; LANES],
    sin: [f64; LANES],
    up: [f64; LANES],
    down: [f64; LANES],
}

impl Group {
    /// For each the product of the terms of all rows.
    #[inline(always)]
    fn products(&self, from: Place, rows: &[Terms]) -> [f64; LANES] {
        let (mut difference, mut sum) = ([0.0; LANES], [0.0; LANES]);
        for lane in 0..LANES {
            let (cos, sin) = (self.cos[lane] * from.cos, self.sin[lane] * from.sin);
            (difference[lane], sum[lane]) = (cos + sin, cos - sin);
        }
        let (mut above, mut below) = ([1.0; LANES], [1.0; LANES]);
        for row in rows {
            let (with, without) = if row.is_mirrored { (&sum, &difference) } else { (&difference, &sum) };
            for lane in 0..LANES {
                let cosh = (self.up[lane] * row.of_up + self.down[lane] * row.of_down).min(MOST);
                above[lane] *= cosh - with[lane];
                below[lane] *= cosh - without[lane];
            }
        }
        std::array::from_fn(|lane| above[lane] / below[lane])
    }
}

/// Points, each part of all of them in a list.
#[derive(Clone, Debug, Default)]
pub struct Places {
    cos: Vec<f64>,
    sin: Vec<f64>,
    up: Vec<f64>,
    down: Vec<f64>,
}

impl Places {
    /// Of points one after another.
    pub fn of(places: &[Place]) -> Self {
        let part = |f: fn(&Place) -> f64| places.iter().map(f).collect();
        Self { cos: part(|p| p.cos), sin: part(|p| p.sin), up: part(|p| p.up), down: part(|p| p.down) }
    }

    /// Those from some number on; the last one again where there are no more.
    #[inline(always)]
    fn group(&self, first: usize) -> Group {
        let part = |list: &[f64]| -> [f64; LANES] {
            match list.get(first..first + LANES) {
                Some(whole) => std::array::from_fn(|lane| whole[lane]),
                None => std::array::from_fn(|lane| list[(first + lane).min(list.len() - 1)]),
            }
        };
        Group { cos: part(&self.cos), sin: part(&self.sin), up: part(&self.up), down: part(&self.down) }
    }
}

/// The natural logarithm of a positive number, in steps that loops over many can take together: with x = 2^e m, m about 1,
/// e ln 2 + 2 artanh((m - 1) / (m + 1)), as a series.
#[inline(always)]
fn logarithm(x: f64) -> f64 {
    const MANTISSA: u64 = (1 << 52) - 1;
    const ONE: u64 = 1.0f64.to_bits();
    // 2^52, whose last bits count ones.
    const COUNT: u64 = 4_503_599_627_370_496.0f64.to_bits();
    let bits = x.to_bits();
    let mantissa = f64::from_bits(bits & MANTISSA | ONE);
    let is_large = mantissa > std::f64::consts::SQRT_2;
    let mantissa = if is_large { 0.5 * mantissa } else { mantissa };
    let exponent = f64::from_bits(bits >> 52 | COUNT) - 4_503_599_627_370_496.0 - 1023.0;
    let exponent = if is_large { exponent + 1.0 } else { exponent };
    let part = (mantissa - 1.0) / (mantissa + 1.0);
    let square = part * part;
    let mut series = 0.0;
    for odd in [21.0, 19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0] {
        series = series * square + 1.0 / odd;
    }
    exponent * std::f64::consts::LN_2 + 2.0 * part * series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_logarithm_is_that_of_the_library_to_rounding() {
        let mut x: f64 = 1e-30;
        while x < 1e250 {
            let (found, expected) = (logarithm(x), x.ln());
            assert!((found - expected).abs() <= 4e-16 * expected.abs().max(1.0), "{x}: {found} {expected}");
            x *= 1.0173;
        }
        assert_eq!(logarithm(1.0), 0.0);
    }
}

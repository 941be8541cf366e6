//! The stream function of a vortex in a box.

use std::f64::consts::PI;

use meniscus_core::simd::simd;

/// The stream function of point vortices in a closed box, all images included. A vortex and its images across the shorter side are one row in closed form,
/// (ch k Δy - cos k Δx) / (ch k Δy - cos k (x + x')) with k = π / that side. What a row does falls by e^-π with each side that one is farther off: of its own row and
/// those beyond the nearest walls, which may be close, the logarithm is taken; all rows behind them are sums of waves across,
/// ln (ch a - cos b) = |a| - ln 2 - 2 Σ e^(-n |a|) cos (n b) / n, in which source and point are factors, and the sums over rows geometric.
#[derive(Clone, Debug)]
pub struct Images {
    size: [f64; 2],
    wave_number: f64,
    /// The axis of the shorter side.
    across: usize,
    /// e to the wave number times the longer side, and the inverse.
    side: [f64; 2],
    /// For each wave that counts what all rows behind the nearest do that are as the vortex is, and all that are mirrored.
    far: [[f64; 2]; WAVES],
}

/// Waves across: in a square, where rows are closest, the next one is e^-6π of the first at a wall.
const WAVES: usize = 5;

/// No hyperbolic cosine counts as more: beyond it a row is one to rounding.
const MOST: f64 = 1e20;
/// Waves that are less than this at the walls are none.
const LEAST: f64 = 1e-12;

/// A point, as rows are made of it: the cosine and the sine of where it is across, and e to where it is along and the inverse.
#[derive(Clone, Copy, Debug, Default)]
pub struct Place {
    cos: f64,
    sin: f64,
    up: f64,
    down: f64,
    /// The waves across times e to as many times where it is along, and times the inverse.
    waves: [[f64; 2]; WAVES],
}

impl Images {
    /// In a box with these sides.
    pub fn new(size: [f64; 2]) -> Self {
        let across = usize::from(size[1] < size[0]);
        let (short, long) = (size[across], size[1 - across]);
        let wave_number = PI / short;
        let along = wave_number * long;
        let far = std::array::from_fn(|wave| {
            let n = (wave + 1) as f64;
            // Rows at 2 m and, mirrored, at 2 m + 1 sides, m from 1 on, on both sides.
            let [first, second] = [2.0, 3.0].map(|sides| (-n * sides * along).exp());
            // Two points are at most a side apart, and one from the other one mirrored too.
            let is_seen = (n * along).exp() * first > LEAST;
            let factor = if is_seen { 1.0 / (PI * n) / (1.0 - first) } else { 0.0 };
            [factor * first, -factor * second]
        });
        Self { size, wave_number, across, side: [along.exp(), (-along).exp()], far }
    }

    /// The sides of the box, in m.
    pub fn size(&self) -> [f64; 2] {
        self.size
    }

    /// What rows are made of at a point.
    pub fn place(&self, x: [f64; 2]) -> Place {
        let (sin, cos) = (self.wave_number * x[self.across]).sin_cos();
        // From the middle, so that long boxes make no larger numbers than they must.
        let along = self.wave_number * (x[1 - self.across] - 0.5 * self.size[1 - self.across]);
        let (up, down) = (along.exp(), (-along).exp());
        let mut place = Place { cos, sin, up, down, waves: [[0.0; 2]; WAVES] };
        let (mut wave, mut next) = ([sin, cos], [up, down]);
        for (to, _) in place.waves.iter_mut().zip(self.far).take_while(|(_, far)| far[0] > 0.0) {
            *to = next.map(|e| wave[0] * e);
            wave = [wave[0] * cos + wave[1] * sin, wave[1] * cos - wave[0] * sin];
            next = [next[0] * up, next[1] * down];
        }
        place
    }

    /// Adds the stream function at points, from some number on, of a vortex of some circulation.
    pub fn add_streams(&self, at: &Places, first: usize, from: Place, circulation: f64, streams: &mut [f64]) {
        let factor = -circulation / (4.0 * PI);
        let own = Row { of_up: 0.5 * from.down, of_down: 0.5 * from.up };
        let beyond = [0, 1].map(|end| self.row_beyond(from, end));
        let far = self.far_of(from).map(|of| of.map(|of| circulation * of));
        simd(
            #[inline(always)]
            || {
                for ([up, down], &[of_up, of_down]) in at.waves.iter().zip(&far) {
                    for ((to, up), down) in streams.iter_mut().zip(&up[first..]).zip(&down[first..]) {
                        *to += of_up * up + of_down * down;
                    }
                }
                for (number, streams) in streams.chunks_mut(LANES).enumerate() {
                    let group = at.group(first + number * LANES);
                    let [difference, sum] = group.cosines(from);
                    let (mut above, mut below) = group.row_terms(&own, &difference, &sum);
                    for row in &beyond {
                        let (of_like, of_mirrored) = group.row_terms(row, &sum, &difference);
                        for lane in 0..LANES {
                            above[lane] *= of_like[lane];
                            below[lane] *= of_mirrored[lane];
                        }
                    }
                    let mut logs = [0.0; LANES];
                    for lane in 0..LANES {
                        logs[lane] = log_of_ratio(above[lane], below[lane]);
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
        let group = Group::of(at);
        let [difference, sum] = group.cosines(at);
        let beyond = [0, 1].map(|end| group.row_terms(&self.row_beyond(at, end), &sum, &difference));
        let others: f64 = beyond.iter().map(|(above, below)| above[0] / below[0]).product();
        let of_wave = |([up, down], of): ([f64; 2], [f64; 2])| up * of[0] + down * of[1];
        let far: f64 = at.waves.into_iter().zip(self.far_of(at)).map(of_wave).sum();
        // The own row's denominator stays.
        let below = 1.0 - (at.cos * at.cos - at.sin * at.sin);
        let own = 0.5 * self.wave_number * self.wave_number / below;
        far - (own * others).ln() / (4.0 * PI)
    }

    /// The image of a vortex's row beyond a wall at an end of the box.
    fn row_beyond(&self, from: Place, end: usize) -> Row {
        let [up, down] = [self.side[1 - end], self.side[end]];
        Row { of_up: 0.5 * from.up * up, of_down: 0.5 * from.down * down }
    }

    /// What is seen of all rows behind these: for each wave of a point.
    fn far_of(&self, from: Place) -> [[f64; 2]; WAVES] {
        let of_wave = |([like, mirrored], [up, down]): ([f64; 2], [f64; 2])| {
            [like * down + mirrored * up, like * up + mirrored * down]
        };
        std::array::from_fn(|wave| of_wave((self.far[wave], from.waves[wave])))
    }
}

/// A vortex and its images across, as a point sees them.
struct Row {
    /// What e to where a point is along, and the inverse, count in the hyperbolic cosine of how far off the row is.
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
    /// The same point in all places.
    fn of(Place { cos, sin, up, down, .. }: Place) -> Self {
        Self { cos: [cos; LANES], sin: [sin; LANES], up: [up; LANES], down: [down; LANES] }
    }

    /// For each cos k (x - x') and cos k (x + x').
    #[inline(always)]
    fn cosines(&self, from: Place) -> [[f64; LANES]; 2] {
        let (mut difference, mut sum) = ([0.0; LANES], [0.0; LANES]);
        for lane in 0..LANES {
            let (cos, sin) = (self.cos[lane] * from.cos, self.sin[lane] * from.sin);
            (difference[lane], sum[lane]) = (cos + sin, cos - sin);
        }
        [difference, sum]
    }

    /// For each the terms of a row, above and below the line.
    #[inline(always)]
    fn row_terms(
        &self,
        row: &Row,
        with: &[f64; LANES],
        without: &[f64; LANES],
    ) -> ([f64; LANES], [f64; LANES]) {
        let (mut above, mut below) = ([0.0; LANES], [0.0; LANES]);
        for lane in 0..LANES {
            let cosh = (self.up[lane] * row.of_up + self.down[lane] * row.of_down).min(MOST);
            above[lane] = cosh - with[lane];
            below[lane] = cosh - without[lane];
        }
        (above, below)
    }
}

/// Points, each part of all of them in a list.
#[derive(Clone, Debug, Default)]
pub struct Places {
    cos: Vec<f64>,
    sin: Vec<f64>,
    up: Vec<f64>,
    down: Vec<f64>,
    waves: [[Vec<f64>; 2]; WAVES],
}

impl Places {
    /// Of points one after another.
    pub fn of(places: &[Place]) -> Self {
        let part = |f: fn(&Place) -> f64| places.iter().map(f).collect();
        let wave = |n: usize, end: usize| places.iter().map(|place| place.waves[n][end]).collect();
        Self {
            cos: part(|p| p.cos),
            sin: part(|p| p.sin),
            up: part(|p| p.up),
            down: part(|p| p.down),
            waves: std::array::from_fn(|n| [0, 1].map(|end| wave(n, end))),
        }
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

/// The natural logarithm of a ratio of positive numbers, in steps that loops over many can take together: with a / b = 2^e p / q, p and q about 1,
/// e ln 2 + 2 artanh((p - q) / (p + q)), as a series.
#[inline(always)]
fn log_of_ratio(a: f64, b: f64) -> f64 {
    let ((of_a, p), (of_b, q)) = (exponent_and_mantissa(a), exponent_and_mantissa(b));
    let (is_large, is_small) = (p > std::f64::consts::SQRT_2 * q, q > std::f64::consts::SQRT_2 * p);
    let p = if is_large { 0.5 * p } else { p };
    let q = if is_small { 0.5 * q } else { q };
    let more = if is_large { 1.0 } else { 0.0 } - if is_small { 1.0 } else { 0.0 };
    let part = (p - q) / (p + q);
    // Σ part^2k / (2k + 1), in sums that need not wait for each other.
    let x = part * part;
    let (x2, x4) = (x * x, x * x * (x * x));
    let pair = |k: f64| 1.0 / (2.0 * k + 1.0) + x * (1.0 / (2.0 * k + 3.0));
    let series =
        pair(0.0) + x2 * pair(2.0) + x4 * (pair(4.0) + x2 * pair(6.0) + x4 * (pair(8.0) + x2 * (1.0 / 21.0)));
    (of_a - of_b + more) * std::f64::consts::LN_2 + 2.0 * part * series
}

/// A positive number as 2^e m with m from 1 to 2; e is 1023 too large.
#[inline(always)]
fn exponent_and_mantissa(x: f64) -> (f64, f64) {
    const MANTISSA: u64 = (1 << 52) - 1;
    const ONE: u64 = 1.0f64.to_bits();
    // 2^52, whose last bits count ones.
    const COUNT: f64 = 4_503_599_627_370_496.0;
    let bits = x.to_bits();
    let exponent = f64::from_bits(bits >> 52 | COUNT.to_bits()) - COUNT;
    (exponent, f64::from_bits(bits & MANTISSA | ONE))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ψ of a vortex by its images one by one, as far as they are seen.
    fn by_images(size: [f64; 2], from: [f64; 2], x: [f64; 2]) -> f64 {
        let k = PI / size[0];
        let mut log = 0.0;
        for row in -12..=12 {
            for (side, sign) in [(1.0, 1.0), (-1.0, -1.0)] {
                let cosh = (k * (x[1] - side * from[1] - 2.0 * f64::from(row) * size[1])).cosh();
                let [less, more] = [x[0] - from[0], x[0] + from[0]].map(|across| (k * across).cos());
                log += sign * ((cosh - less) / (cosh - more)).ln();
            }
        }
        -log / (4.0 * PI)
    }

    #[test]
    fn walls_are_images_without_end() {
        for size in [[1.0, 1.0], [0.7, 1.0], [0.3, 1.9]] {
            let images = Images::new(size);
            let points = [[0.5, 0.5], [0.01, 0.02], [0.97, 0.99], [0.4, 0.985], [0.98, 0.03]];
            let points = points.map(|x| [0, 1].map(|axis| x[axis] * size[axis]));
            let places = points.map(|x| images.place(x));
            for (from, place) in points.iter().zip(places) {
                let mut streams = [0.0; 5];
                images.add_streams(&Places::of(&places), 0, place, 2.0, &mut streams);
                for (x, found) in points.iter().zip(streams).filter(|(x, _)| *x != from) {
                    let exact = 2.0 * by_images(size, *from, *x);
                    assert!((found - exact).abs() < 1e-9, "{size:?} {from:?} {x:?}: {found} {exact}");
                }
                let beside = [1e-5, -1e-5].map(|way| by_images(size, *from, [from[0] + way, from[1]]));
                let exact = 0.5 * (beside[0] + beside[1]) + (1e-5f64).ln() / (2.0 * PI);
                let found = images.rest_at_itself(place);
                assert!((found - exact).abs() < 1e-5, "{size:?} {from:?}: {found} {exact}");
            }
        }
    }

    #[test]
    fn the_logarithm_is_that_of_the_library_to_rounding() {
        let mut x: f64 = 1e-30;
        while x < 1e250 {
            let (found, inverse, expected) = (log_of_ratio(x, 1.0), log_of_ratio(1.0, x), x.ln());
            assert!((found - expected).abs() <= 4e-16 * expected.abs().max(1.0), "{x}: {found} {expected}");
            assert!((found + inverse).abs() <= 4e-16 * expected.abs().max(1.0), "{x}: {found} {inverse}");
            x *= 1.0173;
        }
        assert_eq!(log_of_ratio(3.7, 3.7), 0.0);
    }
}

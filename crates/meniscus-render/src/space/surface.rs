//! The liquid's surface: a cubic spline of the level set, stored where the surface passes.

use meniscus_core::grid::{BLOCK_EDGE, Field};
use meniscus_core::parallel;

use super::ray::Ray;
use crate::spline::{mirrored, slopes, weights};
use crate::vec3::{Vec3, vec3};

/// Points are in cells from the domain's lower corner. Sample `i` lies at `i + 1/2`; in *brick
/// coordinates*, shifted by one half, at `i + 1`, so that every point of the domain lies in a brick.
const SHIFT: f32 = 0.5;

/// Spline coefficients along an edge of a brick: one below, `BLOCK_EDGE` of its own, two above.
const EDGE: usize = BLOCK_EDGE + 3;

/// Samples along an edge that the coefficients of a brick need.
const SAMPLES: usize = EDGE + 2;

/// No surface passes through a brick whose samples all are farther from it than this, in cells.
const CLEAR: f32 = 0.75;

/// The distance that a brick without a surface reports.
const FAR: f32 = 3.0;

/// The level set is only nearly a distance; a step along a ray takes this part of it, and at least
/// `MIN_STEP` cells.
const STEP: f32 = 0.95;
const MIN_STEP: f32 = 0.1;

/// A ray that leaves the surface may start on its wrong side by this many cells.
const SLACK: f32 = 0.2;

/// The distance from a point to the nearest sample is at most sqrt(3) / 2 cells; a little more, since the
/// level set is only nearly a distance.
const NODE_REACH: f32 = 1.0;

#[derive(Clone, Copy)]
enum Brick {
    Air,
    Liquid,
    /// Where its coefficients begin.
    Surface(usize),
}

/// Where a point lies: in which brick, the lowest of the 4^3 coefficients around it there, and where among
/// them.
struct Place {
    brick: [usize; 3],
    base: [usize; 3],
    fraction: [f32; 3],
}

/// From the lowest to the highest of 4^3 coefficients.
const WINDOW: usize = 3 * EDGE * EDGE + 3 * EDGE + 4;

/// The level set as a spline in bricks of `BLOCK_EDGE`^3 cells.
pub(super) struct Surface {
    dims: [usize; 3],
    bricks: Vec<Brick>,
    coefficients: Vec<f32>,
}

impl Surface {
    pub fn new(level_set: &Field<f32, 3>) -> Self {
        let cells = level_set.blocks().cells();
        let dims = cells.map(|n| (n + 1) / BLOCK_EDGE + 1);
        let built = parallel::map(dims.iter().product(), |index| {
            let coord = [index % dims[0], index / dims[0] % dims[1], index / (dims[0] * dims[1])];
            build_brick(level_set, coord)
        });
        let (mut bricks, mut coefficients) = (Vec::with_capacity(built.len()), Vec::new());
        for (brick, own) in built {
            bricks.push(own.as_ref().map_or(brick, |_| Brick::Surface(coefficients.len())));
            coefficients.extend(own.into_iter().flatten());
        }
        Self { dims, bricks, coefficients }
    }

    #[inline]
    fn locate(&self, p: Vec3) -> Place {
        let mut place = Place { brick: [0; 3], base: [0; 3], fraction: [0.0; 3] };
        let p = p.to_array();
        for axis in 0..3 {
            let w = (p[axis] + SHIFT).max(0.0);
            let floor = (w as u32).min((BLOCK_EDGE * self.dims[axis]) as u32 - 1);
            place.brick[axis] = floor as usize / BLOCK_EDGE;
            place.base[axis] = floor as usize % BLOCK_EDGE;
            place.fraction[axis] = w - floor as f32;
        }
        place
    }

    #[inline]
    fn brick(&self, place: &Place) -> Brick {
        let [x, y, z] = place.brick;
        self.bricks[x + self.dims[0] * (y + self.dims[1] * z)]
    }

    /// The level set at a point of the domain, in cells.
    pub fn value(&self, p: Vec3) -> f32 {
        let place = self.locate(p);
        match self.brick(&place) {
            Brick::Air => FAR,
            Brick::Liquid => -FAR,
            Brick::Surface(start) => self.spline(start, &place),
        }
    }

    /// The outward normal of the surface near a point of it.
    pub fn normal(&self, p: Vec3) -> Option<Vec3> {
        let place = self.locate(p);
        let Brick::Surface(start) = self.brick(&place) else { return None };
        let window = self.window(start, &place);
        let [wx, wy, wz] = place.fraction.map(weights);
        let [sx, sy, sz] = place.fraction.map(slopes);
        let (mut plain, mut by_y, mut by_z) = ([0.0; 4], [0.0; 4], [0.0; 4]);
        for k in 0..4 {
            for j in 0..4 {
                let row = EDGE * (j + EDGE * k);
                let (w, y, z) = (wy[j] * wz[k], sy[j] * wz[k], wy[j] * sz[k]);
                for i in 0..4 {
                    plain[i] += w * window[row + i];
                    by_y[i] += y * window[row + i];
                    by_z[i] += z * window[row + i];
                }
            }
        }
        let gradient = vec3(dot4(plain, sx), dot4(by_y, wx), dot4(by_z, wx));
        let length = gradient.length();
        (length > 1e-6).then(|| gradient / length)
    }

    /// The spline, or where it is surely far from zero, by the coefficient next to the point, a value of the
    /// same sign that is nearer to zero.
    #[inline]
    fn about(&self, start: usize, place: &Place) -> f32 {
        let [x, y, z] = std::array::from_fn(|a| place.base[a] + 1 + usize::from(place.fraction[a] > 0.5));
        let nearest = self.coefficients[start + x + EDGE * (y + EDGE * z)];
        let surely = nearest.abs() - NODE_REACH;
        if surely > 0.5 { surely.copysign(nearest) } else { self.spline(start, place) }
    }

    #[inline]
    fn spline(&self, start: usize, place: &Place) -> f32 {
        let window = self.window(start, place);
        let [wx, wy, wz] = place.fraction.map(weights);
        let mut sum = [0.0; 4];
        for k in 0..4 {
            let mut plane = [0.0; 4];
            for j in 0..4 {
                let row = EDGE * (j + EDGE * k);
                for i in 0..4 {
                    plane[i] += wy[j] * window[row + i];
                }
            }
            for i in 0..4 {
                sum[i] += wz[k] * plane[i];
            }
        }
        dot4(sum, wx)
    }

    /// The coefficients from the lowest to the highest of the 4^3 around a place. Its length is fixed, so
    /// that one check of bounds serves all of them.
    #[inline]
    fn window(&self, start: usize, place: &Place) -> &[f32; WINDOW] {
        let [x, y, z] = place.base;
        let rest = &self.coefficients[start + x + EDGE * (y + EDGE * z)..];
        rest.first_chunk().expect("a brick has room above")
    }

    /// Where, between `from` and `to`, a ray that runs in the liquid (`wet`) or out of it first crosses the
    /// surface. The ray must lie in the domain there.
    pub fn first_crossing(&self, ray: &Ray, from: f32, to: f32, wet: bool) -> Option<f32> {
        let side = if wet { -1.0 } else { 1.0 };
        let mut t = from;
        let mut before = None;
        while t < to {
            let p = ray.at(t);
            let place = self.locate(p);
            let (value, step) = match self.brick(&place) {
                Brick::Surface(start) => {
                    let value = side * self.about(start, &place);
                    (value, (STEP * value).max(MIN_STEP))
                }
                Brick::Air => (side * FAR, to_next_brick(ray, p, &place)),
                Brick::Liquid => (-side * FAR, to_next_brick(ray, p, &place)),
            };
            if value > 0.0 {
                before = Some((t, value));
                t += step;
            } else if let Some(before) = before {
                return Some(self.refine(ray, side, before, (t, value)));
            } else if t > from + SLACK {
                return Some(t);
            } else {
                t += MIN_STEP;
            }
        }
        None
    }

    /// The crossing between two points on either side, by false position with the Illinois rule.
    fn refine(&self, ray: &Ray, side: f32, mut out: (f32, f32), mut beyond: (f32, f32)) -> f32 {
        let mut middle = out.0;
        for _ in 0..5 {
            middle = out.0 + (beyond.0 - out.0) * out.1 / (out.1 - beyond.1);
            let value = side * self.value(ray.at(middle));
            if value.abs() < 1e-3 {
                break;
            }
            if value > 0.0 {
                out = (middle, value);
                beyond.1 *= 0.5;
            } else {
                beyond = (middle, value);
                out.1 *= 0.5;
            }
        }
        middle
    }
}

/// How far a ray goes from a point until it leaves the brick, and a little farther.
fn to_next_brick(ray: &Ray, p: Vec3, place: &Place) -> f32 {
    let (p, d) = (p.to_array(), ray.direction.to_array());
    let mut step = f32::INFINITY;
    for axis in 0..3 {
        if d[axis] != 0.0 {
            let ahead = place.brick[axis] + usize::from(d[axis] > 0.0);
            let plane = (ahead * BLOCK_EDGE) as f32 - SHIFT;
            step = step.min((plane - p[axis]) / d[axis]);
        }
    }
    step.max(0.0) + 1e-2
}

#[inline]
fn dot4(a: [f32; 4], b: [f32; 4]) -> f32 {
    (a[0] * b[0] + a[1] * b[1]) + (a[2] * b[2] + a[3] * b[3])
}

fn build_brick(level_set: &Field<f32, 3>, coord: [usize; 3]) -> (Brick, Option<Vec<f32>>) {
    let blocks = level_set.blocks();
    let nothing_near = (0..27).all(|k| {
        let offset = [k % 3, k / 3 % 3, k / 9];
        let near: [i64; 3] = std::array::from_fn(|a| coord[a] as i64 + offset[a] - 1);
        near.iter().any(|&c| c < 0) || blocks.find(near.map(|c| c as usize)).is_none()
    });
    if nothing_near {
        return (if level_set.background() > 0.0 { Brick::Air } else { Brick::Liquid }, None);
    }
    let samples = gather(level_set, coord);
    let (low, high) =
        samples.iter().fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), &s| (low.min(s), high.max(s)));
    if low > CLEAR {
        (Brick::Air, None)
    } else if high < -CLEAR {
        (Brick::Liquid, None)
    } else {
        (Brick::Surface(0), Some(coefficients(&samples)))
    }
}

/// The samples around a brick. What is no number counts as air.
fn gather(level_set: &Field<f32, 3>, coord: [usize; 3]) -> Vec<f32> {
    let cells = level_set.blocks().cells();
    // Coefficient 0 is sample `8 b - 2`; its filter reaches one further.
    let index: [[i64; SAMPLES]; 3] = std::array::from_fn(|a| {
        std::array::from_fn(|i| mirrored((coord[a] * BLOCK_EDGE + i) as i64 - 3, cells[a]))
    });
    let mut samples = Vec::with_capacity(SAMPLES * SAMPLES * SAMPLES);
    for z in index[2] {
        for y in index[1] {
            for x in index[0] {
                let value = level_set.get([x, y, z]);
                samples.push(if value.is_nan() { FAR } else { value.clamp(-FAR, FAR) });
            }
        }
    }
    samples
}

/// `2 f - B f`; see [`crate::spline`].
fn coefficients(samples: &[f32]) -> Vec<f32> {
    let mut filtered = samples.to_vec();
    for stride in [1, SAMPLES, SAMPLES * SAMPLES] {
        let unfiltered = filtered.clone();
        for at in stride..filtered.len() - stride {
            filtered[at] =
                (unfiltered[at - stride] + 4.0 * unfiltered[at] + unfiltered[at + stride]) * (1.0 / 6.0);
        }
    }
    let mut own = Vec::with_capacity(EDGE * EDGE * EDGE);
    for z in 1..=EDGE {
        for y in 1..=EDGE {
            for x in 1..=EDGE {
                let at = x + SAMPLES * (y + SAMPLES * z);
                own.push(2.0 * samples[at] - filtered[at]);
            }
        }
    }
    own
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use meniscus_core::grid::Blocks;

    use super::*;

    fn ball(cells: [usize; 3], centre: Vec3, radius: f32) -> Surface {
        let field = Field::from_fn(Arc::new(Blocks::all(cells)), FAR, |c| {
            let [x, y, z] = c.map(|c| c as f32 + 0.5);
            ((vec3(x, y, z) - centre).length() - radius).clamp(-FAR, FAR)
        });
        Surface::new(&field)
    }

    #[test]
    fn balls_keep_their_size_and_have_smooth_normals() {
        for (radius, tolerance) in [(9.3, 0.01), (2.5, 0.03), (1.2, 0.15)] {
            let centre = vec3(15.3, 14.8, 16.1);
            let surface = ball([32, 29, 33], centre, radius);
            for k in 0..200 {
                let [a, b] = [k as f32 * 2.399, (k as f32 + 0.5) / 100.0 - 1.0];
                let ring = (1.0 - b * b).sqrt();
                let direction = vec3(a.cos() * ring, b, a.sin() * ring);
                let ray = Ray { origin: centre + direction * 12.0, direction: -direction };
                let t = surface.first_crossing(&ray, 0.0, 12.0, false).expect("a hit");
                assert!((12.0 - t - radius).abs() < tolerance, "radius {} for {radius}", 12.0 - t);
                let normal = surface.normal(ray.at(t)).expect("a normal");
                assert!(normal.dot(direction) > 1.0 - 0.5 * tolerance);
            }
        }
    }

    #[test]
    fn a_ray_in_the_liquid_leaves_where_one_from_outside_enters() {
        let surface = ball([40; 3], Vec3::splat(20.2), 11.0);
        let direction = vec3(0.6, 0.0, 0.8);
        let out = Ray { origin: vec3(20.2, 17.0, 20.2), direction };
        let leaves = surface.first_crossing(&out, 0.0, 19.0, true).expect("an exit");
        let back = Ray { origin: out.at(19.0), direction: -direction };
        let enters = surface.first_crossing(&back, 0.0, 19.0, false).expect("an entry");
        assert!((leaves + enters - 19.0).abs() < 5e-3);
        assert!((leaves - (121.0f32 - 3.2 * 3.2).sqrt()).abs() < 0.02);
    }
}

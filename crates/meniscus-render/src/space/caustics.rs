//! The key light on the floor: shadows, and the light that water gathers and colours.

use std::f32::consts::FRAC_PI_2;

use meniscus_core::parallel;

use super::light::{KEY_SOFTNESS, key_direction};
use super::ray::{Ray, frame_of, reflect, refract};
use super::scene::{End, Medium, Scene, UP, leave};
use super::water::Water;
use crate::vec3::{Vec3, vec3};

/// Texels along the longer side of the map, as a part of the picture's pixels along its longer side.
const TEXELS: f32 = 0.33;

/// Points of the lamp that a texel looks at. Each casts a picture of its own; their sum has soft shadows
/// without noise.
const LAMPS: usize = 9;

/// The texels of a square of two by two look at different points; the blur makes one lamp of them.
const LAMP_SETS: usize = 4;

/// Interfaces that a ray from the lamp may pass.
const MAX_INTERFACES: usize = 16;

/// The light on the floor around the domain, as a part of that without anything in the way.
pub(super) struct FloorLight {
    lower: [f32; 2],
    texel: f32,
    size: [usize; 2],
    light: Vec<Vec3>,
    /// The height of the water above each texel, in cells.
    depth: Vec<f32>,
}

impl FloorLight {
    /// Follows rays from the lamp that would meet the floor at the middle of every texel. Where nothing
    /// is in the way they do, so the lit floor is exactly even. `pixels` is the longer side of the picture.
    pub fn new(scene: &Scene, water: &Water, pixels: usize) -> Self {
        let key = key_direction();
        let reach = scene.upper.y / key.y;
        let margin = 0.06 * scene.size() + KEY_SOFTNESS * reach;
        let span = |upper: f32, slope: f32| {
            let shadow = -slope * reach;
            (shadow.min(0.0) - margin, upper + shadow.max(0.0) + margin)
        };
        let ([x0, x1], [z0, z1]) = (span(scene.upper.x, key.x).into(), span(scene.upper.z, key.z).into());
        let texel = (x1 - x0).max(z1 - z0) / (TEXELS * pixels as f32).clamp(24.0, 512.0);
        let size = [x1 - x0, z1 - z0].map(|length: f32| (length / texel).ceil() as usize);
        let light = vec![Vec3::ZERO; size[0] * size[1]];
        let mut map = Self { lower: [x0, z0], texel, size, light, depth: Vec::new() };
        map.depth = parallel::map_each(size[0] * size[1], |k| {
            let foot = map.centre(k % size[0], k / size[0]) + UP * 1e-2;
            scene.wet_length(&Ray { origin: foot, direction: UP })
        });

        let lamps: [Vec<Vec3>; LAMP_SETS] =
            std::array::from_fn(|set| (0..LAMPS).map(|k| lamp(set, k)).collect());
        let rows = parallel::map(size[1], |row| map.row(scene, water, &lamps, row));
        for deposit in rows.iter().flatten() {
            map.add(deposit);
        }
        map.blur();
        map.blur();
        map
    }

    /// The point of the floor in the middle of a texel.
    fn centre(&self, column: usize, row: usize) -> Vec3 {
        let [x, z] = [column, row].map(|k| (k as f32 + 0.5) * self.texel);
        vec3(self.lower[0] + x, 0.0, self.lower[1] + z)
    }

    fn row(&self, scene: &Scene, water: &Water, lamps: &[Vec<Vec3>; LAMP_SETS], row: usize) -> Vec<Deposit> {
        let mut deposits = Vec::with_capacity(self.size[0] * LAMPS);
        for column in 0..self.size[0] {
            let aim = self.centre(column, row);
            for &lamp in &lamps[column % 2 + 2 * (row % 2)] {
                let height = scene.upper.y + 1.0;
                let ray = Ray { origin: aim + lamp * (height / lamp.y), direction: -lamp };
                deposits.extend(follow(scene, water, ray));
            }
        }
        deposits
    }

    fn add(&mut self, deposit: &Deposit) {
        let part = 1.0 / LAMPS as f32;
        let x = (deposit.at[0] - self.lower[0]) / self.texel - 0.5;
        let z = (deposit.at[1] - self.lower[1]) / self.texel - 0.5;
        let (i, j) = (x.floor(), z.floor());
        for (dj, wz) in [(0, 1.0 - (z - j)), (1, z - j)] {
            for (di, wx) in [(0, 1.0 - (x - i)), (1, x - i)] {
                let (column, row) = (i as i64 + di, j as i64 + dj);
                if (0..self.size[0] as i64).contains(&column) && (0..self.size[1] as i64).contains(&row) {
                    let at = column as usize + self.size[0] * row as usize;
                    self.light[at] += deposit.light * (part * wx * wz);
                }
            }
        }
    }

    /// A narrow binomial blur: it hides the lattice of rays where the water spreads them, and evens out the sets
    /// of lamps, since it lets nothing pass that alternates from texel to texel.
    fn blur(&mut self) {
        let [columns, rows] = self.size;
        for (stride, count, lines) in [(1, columns, rows), (columns, rows, columns)] {
            for line in 0..lines {
                let start = if stride == 1 { line * columns } else { line };
                let old: Vec<Vec3> = (0..count).map(|k| self.light[start + k * stride]).collect();
                for k in 0..count {
                    let (below, above) = (old[k.saturating_sub(1)], old[(k + 1).min(count - 1)]);
                    self.light[start + k * stride] = old[k] * 0.5 + (below + above) * 0.25;
                }
            }
        }
    }

    /// The key light at a point of the floor, and the height of the water there; beyond the map nothing is in
    /// the way.
    pub fn at(&self, x: f32, z: f32) -> (Vec3, f32) {
        let u = (x - self.lower[0]) / self.texel - 0.5;
        let v = (z - self.lower[1]) / self.texel - 0.5;
        let last = self.size.map(|n| (n - 1) as f32);
        if !(u > 0.0 && v > 0.0 && u < last[0] && v < last[1]) {
            return (Vec3::ONE, 0.0);
        }
        let (i, j) = (u as usize, v as usize);
        let (f, g) = (u - i as f32, v - j as f32);
        let at = i + self.size[0] * j;
        let corners = [at, at + 1, at + self.size[0], at + self.size[0] + 1];
        let weights = [(1.0 - f) * (1.0 - g), f * (1.0 - g), (1.0 - f) * g, f * g];
        let (mut light, mut depth) = (Vec3::ZERO, 0.0);
        for (k, w) in corners.into_iter().zip(weights) {
            light += self.light[k] * w;
            depth += self.depth[k] * w;
        }
        // The outermost texels share their light with what lies beyond the map.
        let rim = u.min(v).min(last[0] - u).min(last[1] - v);
        (Vec3::ONE.lerp(light, (rim / 6.0).min(1.0)), depth)
    }
}

/// Light that arrives at a point of the floor.
struct Deposit {
    at: [f32; 2],
    light: Vec3,
}

/// Directions to points spread evenly over the lamp's disc, those of every set and those of all.
fn lamp(set: usize, k: usize) -> Vec3 {
    let key = key_direction();
    let [u, v] = frame_of(key);
    let radius = KEY_SOFTNESS * (((LAMP_SETS * k + set) as f32 + 0.5) / (LAMP_SETS * LAMPS) as f32).sqrt();
    let (sin, cos) = (k as f32 * 2.399_963 + set as f32 * FRAC_PI_2).sin_cos();
    (key + u * (radius * cos) + v * (radius * sin)).normalized_or(UP)
}

fn follow(scene: &Scene, water: &Water, mut ray: Ray) -> Option<Deposit> {
    let (mut medium, mut light) = (Medium::Air, Vec3::ONE);
    for _ in 0..MAX_INTERFACES {
        match scene.trace(&ray, medium) {
            End::Floor { t } => {
                let p = ray.at(t);
                light *= water.transmittance(medium, t);
                return Some(Deposit { at: [p.x, p.z], light });
            }
            End::Interface { t, normal, next } => {
                let p = ray.at(t);
                light *= water.transmittance(medium, t);
                match refract(ray.direction, normal, medium.index() / next.index()) {
                    Some((direction, reflected)) => {
                        light = light * (1.0 - reflected);
                        ray = leave(p, -normal, direction);
                        medium = next;
                    }
                    None => ray = leave(p, normal, reflect(ray.direction, normal)),
                }
                if light.max_component() < 0.01 {
                    return None;
                }
            }
            End::Sky | End::Solid { .. } => return None,
        }
    }
    None
}

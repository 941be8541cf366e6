//! Smoke in space: what it hides, and how it shines.

use super::light::{KEY, SKY, key_direction};
use super::ray::{Ray, clip_to_box};
use crate::smoke::{Density, smoke_colour};
use crate::vec3::{Vec3, vec3};

/// The optical depth of full smoke as thick as the domain's longest side.
const OPACITY: f32 = 22.0;

/// The part of the light that smoke scatters towards the eye.
const SCATTERED: f32 = 0.62;

/// How far points on a ray are apart, in cells.
const STEP: f32 = 0.8;

/// The smokes of a scene, lit.
pub(super) struct Haze {
    clouds: Vec<Density<3>>,
    /// The part of the key light that reaches each node.
    key: Density<3>,
    upper: Vec3,
    /// The extinction of full smoke, per cell.
    extinction: f32,
}

impl Haze {
    /// None where there is no smoke.
    pub fn new(cells: [usize; 3], smoke: &[&[[f32; 3]]]) -> Option<Self> {
        if smoke.iter().all(|markers| markers.is_empty()) {
            return None;
        }
        let clouds: Vec<Density<3>> = smoke.iter().map(|markers| Density::new(cells, markers)).collect();
        let upper = Vec3::from_array(cells.map(|n| n as f32));
        let extinction = OPACITY / upper.max_component();
        let key = key_light(&clouds, extinction);
        Some(Self { clouds, key, upper, extinction })
    }

    /// The part of the light that passes along a ray.
    pub fn transmittance(&self, ray: &Ray) -> f32 {
        let mut optical = 0.0;
        for (p, step) in self.points(ray, f32::INFINITY) {
            let around = self.key.around(p);
            let density: f32 = self.clouds.iter().map(|cloud| cloud.between(&around)).sum();
            optical += self.extinction * step * density;
        }
        (-optical).exp()
    }

    /// What is seen along `t` cells of a ray with `light` behind them.
    pub fn veil(&self, ray: &Ray, t: f32, light: Vec3) -> Vec3 {
        let (mut through, mut shine) = (1.0f32, Vec3::ZERO);
        for (p, step) in self.points(ray, t) {
            let around = self.key.around(p);
            let densities = self.clouds.iter().map(|cloud| cloud.between(&around));
            let (mut sum, mut colour) = (0.0, Vec3::ZERO);
            for (index, density) in densities.enumerate().filter(|(_, density)| *density > 0.0) {
                sum += density;
                colour += smoke_colour(index) * density;
            }
            if sum > 1e-4 {
                let passed = (-self.extinction * sum * step).exp();
                let lit = KEY * self.key.between(&around) + SKY;
                shine += (colour / sum) * lit * (SCATTERED * through * (1.0 - passed));
                through *= passed;
                if through < 0.01 {
                    break;
                }
            }
        }
        light * through + shine
    }

    /// Points on `t` cells of a ray, in the domain, and the way that each stands for.
    fn points(&self, ray: &Ray, t: f32) -> impl Iterator<Item = ([f32; 3], f32)> + use<> {
        let [from, to] = match clip_to_box(ray, Vec3::ZERO, self.upper) {
            Some([enter, leave]) => [enter.0.max(0.0), leave.0.min(t)],
            None => [0.0; 2],
        };
        let steps = ((to - from) / STEP).ceil().max(0.0);
        let (step, ray) = ((to - from) / steps, *ray);
        (0..steps as usize).map(move |k| (ray.at(from + (k as f32 + 0.5) * step).to_array(), step))
    }
}

/// The part of the key light at each node, plane by plane from above.
fn key_light(clouds: &[Density<3>], extinction: f32) -> Density<3> {
    let (nodes, along) = (clouds[0].nodes, clouds[0].along);
    let mut light = Density { nodes, along, values: vec![1.0; clouds[0].values.len()] };
    let towards = key_direction();
    let way = towards / towards.y;
    let optical = extinction * way.length() / along as f32;
    for y in (0..nodes[1] - 1).rev() {
        for (x, z) in (0..nodes[2]).flat_map(|z| (0..nodes[0]).map(move |x| (x, z))) {
            let p = (vec3(x as f32, y as f32, z as f32) + vec3(0.5, 0.5, 0.5) + way) / along as f32;
            let inside = p.x >= 0.0
                && p.z >= 0.0
                && p.x <= (nodes[0] / along) as f32
                && p.z <= (nodes[2] / along) as f32;
            let above = if inside { light.at(p.to_array()) } else { 1.0 };
            let index = x + nodes[0] * (y + nodes[1] * z);
            let density: f32 = clouds.iter().map(|cloud| cloud.at(p.to_array())).sum();
            light.values[index] = above * (-optical * density).exp();
        }
    }
    light
}

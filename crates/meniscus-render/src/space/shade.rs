//! The light that arrives along a ray.

use super::caustics::FloorLight;
use super::haze::Haze;
use super::light::{BOUNCE, FILL, FILL_DIRECTION, KEY, KEY_SOFTNESS, SKY};
use super::light::{backdrop, environment, floor_albedo, key_direction, smooth_step};
use super::ray::{Ray, reflect, refract};
use super::scene::{End, Medium, Scene, UP, leave};
use super::water::Water;
use crate::vec3::Vec3;

/// Interfaces that a ray may meet: many, since a thin sheet of water leads light along like a fibre.
const MAX_DEPTH: usize = 16;

/// Total reflections one after another after which a ray counts as caught in glass. Where it would come out depends on
/// less than a pixel: followed further, it would show as grains.
const MAX_CAUGHT: usize = 3;

/// What caught light looks like: the dull green of the edge of a pane.
const CAUGHT: Vec3 = Vec3 { x: 0.30, y: 0.38, z: 0.40 };

/// Light of less weight than this is not followed.
const MIN_WEIGHT: f32 = 0.015;

/// Tiles along the domain's longest side.
const TILES: f32 = 8.0;

/// The scene and what the lamps make of it.
pub(super) struct Shader<'a> {
    pub scene: &'a Scene<'a>,
    pub haze: Option<&'a Haze>,
    pub water: &'a Water,
    pub floor_light: &'a FloorLight,
    /// The angle of a pixel.
    pub pixel_angle: f32,
}

/// How a ray came to be.
#[derive(Clone, Copy)]
struct Past {
    depth: usize,
    /// The part of its light that reaches the eye.
    weight: f32,
    /// The length of the way from the eye.
    length: f32,
    /// Total reflections in glass just before.
    caught: usize,
}

impl Shader<'_> {
    /// The light along a ray from the eye, and the distance to what it first meets.
    pub fn eye(&self, ray: &Ray, medium: Medium) -> (Vec3, f32) {
        let end = self.scene.trace(ray, medium);
        let past = Past { depth: 0, weight: 1.0, length: 0.0, caught: 0 };
        (self.light(ray, medium, end, past), end.way())
    }

    fn follow(&self, ray: &Ray, medium: Medium, past: Past) -> Vec3 {
        self.light(ray, medium, self.scene.trace(ray, medium), past)
    }

    fn light(&self, ray: &Ray, medium: Medium, end: End, past: Past) -> Vec3 {
        let light = self.light_behind(ray, medium, end, past);
        match self.haze {
            Some(haze) => haze.veil(ray, end.way(), light),
            None => light,
        }
    }

    fn light_behind(&self, ray: &Ray, medium: Medium, end: End, past: Past) -> Vec3 {
        match end {
            End::Sky if past.depth == 0 => backdrop(ray.direction),
            End::Sky => environment(ray.direction),
            End::Floor { t } => self.water.veil(medium, t, self.floor(ray, medium, t, past.length + t)),
            End::Solid { t, normal } => self.water.veil(medium, t, self.solid(ray, medium, t, normal)),
            End::Interface { t, normal, next } => {
                let past = Past { depth: past.depth + 1, length: past.length + t, ..past };
                self.water.veil(medium, t, self.interface(ray, medium, (t, normal, next), past))
            }
        }
    }

    /// Reflection and refraction. Each is followed where it matters; the rest is guessed.
    fn interface(&self, ray: &Ray, medium: Medium, at: (f32, Vec3, Medium), past: Past) -> Vec3 {
        let (t, normal, next) = at;
        let p = ray.at(t);
        let mirrored = reflect(ray.direction, normal);
        let Some((direction, reflected)) = refract(ray.direction, normal, medium.index() / next.index())
        else {
            if medium == Medium::Glass && past.caught == MAX_CAUGHT {
                return CAUGHT;
            }
            let past = Past { caught: past.caught + usize::from(medium == Medium::Glass), ..past };
            return self.branch(leave(p, normal, mirrored), medium, past, 1.0);
        };
        let past = Past { caught: 0, ..past };
        let through = self.branch(leave(p, -normal, direction), next, past, 1.0 - reflected);
        let back = self.branch(leave(p, normal, mirrored), medium, past, reflected);
        through * (1.0 - reflected) + back * reflected
    }

    fn branch(&self, ray: Ray, medium: Medium, past: Past, part: f32) -> Vec3 {
        let weight = past.weight * part;
        if past.depth < MAX_DEPTH && weight > MIN_WEIGHT {
            return self.follow(&ray, medium, Past { weight, ..past });
        }
        self.unhindered(&ray, medium, past.length)
    }

    /// What a ray would show if no surface and no solid were in its way.
    fn unhindered(&self, ray: &Ray, medium: Medium, length: f32) -> Vec3 {
        if ray.direction.y < 0.0 && ray.origin.y > 0.0 {
            let t = -ray.origin.y / ray.direction.y;
            self.floor(ray, medium, t, length + t)
        } else {
            environment(ray.direction)
        }
    }

    fn floor(&self, ray: &Ray, medium: Medium, t: f32, way: f32) -> Vec3 {
        let p = ray.at(t);
        let size = self.scene.size();
        let tile = size / TILES;
        let footprint = self.pixel_angle * way / (-ray.direction.y).max(0.05);
        let albedo = seen_in(medium, floor_albedo(p.x / tile, p.z / tile, footprint / tile));
        let (light, depth) = self.floor_light.at(p.x, p.z);
        let clear = self.clear(p);
        let key = light * (KEY * key_direction().y) * clear;
        let open = self.scene.opaque.openness(p, UP, 0.06 * size);
        let ambient = SKY * self.water.transmittance(Medium::Water, depth) * open;
        let lit = albedo * (key + ambient);
        // Far away the floor becomes the backdrop.
        let middle = self.scene.upper * 0.5;
        let away = Vec3 { y: 0.0, ..p - middle }.length() / size;
        lit.lerp(backdrop(ray.direction), smooth_step(0.5, 3.2, away))
    }

    /// The part of the key light that smoke lets through to a point.
    fn clear(&self, p: Vec3) -> f32 {
        self.haze.map_or(1.0, |haze| haze.transmittance(&Ray { origin: p, direction: key_direction() }))
    }

    fn water_above(&self, p: Vec3) -> f32 {
        self.scene.wet_length(&Ray { origin: p + UP * 1e-2, direction: UP })
    }

    fn solid(&self, ray: &Ray, medium: Medium, t: f32, normal: Vec3) -> Vec3 {
        let p = ray.at(t) + normal * 0.02;
        let to_key = Ray { origin: p, direction: key_direction() };
        let facing = normal.dot(to_key.direction).max(0.0);
        let mut key = KEY * facing;
        if facing > 0.0 {
            let wet = self.scene.wet_length(&to_key);
            key = key * self.scene.opaque.light(&to_key, 2.0 * KEY_SOFTNESS);
            key *= self.water.transmittance(Medium::Water, wet) * self.clear(p);
        }
        let open = self.scene.opaque.openness(p, normal, 0.06 * self.scene.size());
        let near_floor = smooth_step(0.0, 0.15 * self.scene.size(), p.y);
        let mut ambient = BOUNCE.lerp(SKY, 0.5 + 0.5 * normal.y) * (open * (0.6 + 0.4 * near_floor));
        if medium == Medium::Water {
            // Light in water comes from all sides, not from above alone.
            ambient *= self.water.transmittance(Medium::Water, 0.4 * self.water_above(p));
        }
        let fill = FILL * (normal.dot(FILL_DIRECTION).max(0.0) * open);
        let matt = seen_in(medium, self.scene.opaque.colour(p)) * (key + ambient + fill);
        // A thin varnish, dry only.
        let gloss = 0.04 + 0.5 * (1.0 - (-normal.dot(ray.direction)).clamp(0.0, 1.0)).powi(5);
        let gloss = if medium == Medium::Water { 0.0 } else { 0.5 * gloss };
        matt.lerp(backdrop(reflect(ray.direction, normal)), gloss)
    }
}

/// A matt colour as it is when dry or wet. Of the light that it scatters into water, the surface of the water
/// lets about a half out and sends the rest back to be scattered again (Lekner and Dorf 1988): wet things are
/// darker and richer, and show where a film of water ends.
fn seen_in(medium: Medium, colour: Vec3) -> Vec3 {
    const OUT: f32 = 0.52;
    if medium == Medium::Water { colour.map(|c| OUT * c / (1.0 - (1.0 - OUT) * c)) } else { colour }
}

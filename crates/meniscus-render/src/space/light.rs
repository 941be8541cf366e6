//! The studio: its backdrop, its lamps, and the tiled floor.

use crate::vec3::{Vec3, vec3};

/// Towards the key light: behind the liquid and to the left, so that it shines through and glints.
pub(super) fn key_direction() -> Vec3 {
    vec3(-0.46, 0.74, -0.50).normalized_or(vec3(0.0, 1.0, 0.0))
}

/// The key light on a surface that faces it.
pub(super) const KEY: Vec3 = vec3(1.75, 1.66, 1.52);

/// The sine of the key light's half-angle.
pub(super) const KEY_SOFTNESS: f32 = 0.08;

/// Towards a weak light beside the camera, without shadows, for what the key light leaves dark.
pub(super) const FILL_DIRECTION: Vec3 = vec3(0.60, 0.42, 0.68);
pub(super) const FILL: Vec3 = vec3(0.42, 0.46, 0.50);

/// The light of the sky on a surface that faces up, and from the floor on one that faces down.
pub(super) const SKY: Vec3 = vec3(0.40, 0.46, 0.54);
pub(super) const BOUNCE: Vec3 = vec3(0.34, 0.33, 0.32);

/// The backdrop, as the camera sees it and as the floor fades into it, from below to above.
pub(super) fn backdrop(direction: Vec3) -> Vec3 {
    const LOW: Vec3 = vec3(0.20, 0.275, 0.345);
    const HIGH: Vec3 = vec3(0.055, 0.085, 0.125);
    LOW.lerp(HIGH, smooth_step(-0.40, 0.35, direction.y))
}

/// The light that comes from a direction: the backdrop, bright walls above the horizon that the camera does
/// not see, a large soft box overhead, a strip to the side, and the key light itself.
pub(super) fn environment(direction: Vec3) -> Vec3 {
    const WALLS: Vec3 = vec3(0.66, 0.76, 0.84);
    let up = direction.y;
    let key = direction.dot(key_direction());
    let walls = smooth_step(0.0, 0.22, up) * (1.0 - smooth_step(0.22, 0.85, up));
    let mut light = backdrop(direction).lerp(WALLS, walls);
    light += vec3(1.0, 0.97, 0.92) * (5.0 * soft_box(direction));
    light += vec3(0.92, 0.96, 1.0) * (2.0 * strip(direction));
    light + vec3(1.0, 0.96, 0.88) * (40.0 * smooth_step(0.9950, 0.9985, key) + 0.6 * key.max(0.0).powi(40))
}

/// A glowing rectangle on the ceiling, seen from the middle of the studio.
fn soft_box(d: Vec3) -> f32 {
    if d.y < 0.05 {
        return 0.0;
    }
    let (x, z) = (d.x / d.y, d.z / d.y);
    bell((x + 0.6) / 0.8) * bell((z + 1.1) / 0.6)
}

/// A glowing upright strip to the right of the front.
fn strip(d: Vec3) -> f32 {
    if d.x < 0.05 {
        return 0.0;
    }
    bell((d.z / d.x - 0.55) / 0.35) * bell((d.y / d.x - 0.75) / 0.6)
}

/// One in the middle, falling off smoothly.
fn bell(x: f32) -> f32 {
    (-x * x).exp()
}

/// The floor's own colour at a point given in tiles, seen by a ray that covers `footprint` tiles: square
/// stones of slightly different tones with narrow joints.
pub(super) fn floor_albedo(x: f32, z: f32, footprint: f32) -> Vec3 {
    const STONE: Vec3 = vec3(0.40, 0.385, 0.36);
    const JOINT: Vec3 = vec3(0.19, 0.185, 0.18);
    let joint = joint(x, footprint) + joint(z, footprint);
    let sharp = 1.0 - smooth_step(0.15, 1.0, footprint);
    let tone = 1.0 + 0.10 * sharp * (hash(x.floor() as i32, z.floor() as i32) - 0.5);
    (STONE * tone).lerp(JOINT, joint.min(1.0))
}

/// The part of an interval of some width around `x` that lies in the joints at the whole numbers.
fn joint(x: f32, width: f32) -> f32 {
    const HALF: f32 = 0.018;
    let width = width.clamp(0.01, 2.0);
    // The length of joints below a place.
    let below = |x: f32| {
        let whole = x.round();
        2.0 * HALF * whole + (x - whole).clamp(-HALF, HALF)
    };
    (below(x + 0.5 * width) - below(x - 0.5 * width)) / width
}

/// A number from 0 to 1 for a tile.
fn hash(i: i32, j: i32) -> f32 {
    let mixed = (i as u32).wrapping_mul(0x9E37_79B1) ^ (j as u32).wrapping_mul(0x85EB_CA77);
    let mixed = (mixed ^ mixed >> 15).wrapping_mul(0x2C1B_3C6D);
    ((mixed ^ mixed >> 13) & 0xFFFF) as f32 / 65535.0
}

/// 0 below `low`, 1 above `high`, smooth between.
pub(super) fn smooth_step(low: f32, high: f32, x: f32) -> f32 {
    let s = ((x - low) / (high - low)).clamp(0.0, 1.0);
    s * s * (3.0 - 2.0 * s)
}

/// The filmic curve of Narkowicz's fit to ACES, from light to what the screen shows, both linear.
pub(super) fn tone_map(light: Vec3) -> Vec3 {
    light.map(|x| {
        let x = 0.62 * x.clamp(0.0, 60.0);
        (x * (2.51 * x + 0.03)) / (x * (2.43 * x + 0.59) + 0.14)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joints_are_dark_and_far_away_become_their_mean() {
        assert!(floor_albedo(2.0, 0.5, 0.01).x < 0.7 * floor_albedo(2.5, 0.5, 0.01).x);
        let mean = (0..1000).map(|k| joint(k as f32 / 1000.0, 0.01)).sum::<f32>() / 1000.0;
        assert!((joint(0.5, 2.0) - mean).abs() < 1e-3);
    }

    #[test]
    fn tones_rise_with_light_and_stay_on_the_screen() {
        let mut last = -1.0;
        for k in 0..200 {
            let tone = tone_map(Vec3::splat(k as f32 * 0.1)).x;
            assert!(tone > last && tone < 1.06);
            last = tone;
        }
    }
}

//! Rays, boxes, and what happens where two media meet.

use crate::vec3::{Vec3, vec3};

/// A half-line; `direction` has length one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ray {
    pub origin: Vec3,
    pub direction: Vec3,
}

impl Ray {
    pub fn at(&self, t: f32) -> Vec3 {
        self.origin + self.direction * t
    }
}

/// Where a ray enters and leaves the box between two corners, with the outward normals there; none where
/// it misses or the box lies behind. A ray that starts inside enters at 0.
pub(super) fn clip_to_box(ray: &Ray, lower: Vec3, upper: Vec3) -> Option<[(f32, Vec3); 2]> {
    let (origin, direction) = (ray.origin.to_array(), ray.direction.to_array());
    let (lower, upper) = (lower.to_array(), upper.to_array());
    let (mut enter, mut leave) = ((0.0, -ray.direction), (f32::INFINITY, ray.direction));
    for axis in 0..3 {
        if direction[axis] == 0.0 {
            if origin[axis] < lower[axis] || origin[axis] > upper[axis] {
                return None;
            }
            continue;
        }
        let sign = direction[axis].signum();
        let (near, far) = if sign > 0.0 { (lower[axis], upper[axis]) } else { (upper[axis], lower[axis]) };
        let (near, far) = ((near - origin[axis]) / direction[axis], (far - origin[axis]) / direction[axis]);
        if near > enter.0 {
            enter = (near, Vec3::ZERO.with_axis(axis, -sign));
        }
        if far < leave.0 {
            leave = (far, Vec3::ZERO.with_axis(axis, sign));
        }
    }
    (enter.0 < leave.0).then_some([enter, leave])
}

/// The signed distance to the box from zero to `upper`, exact inside.
pub(super) fn box_distance(p: Vec3, upper: Vec3) -> f32 {
    (-p).max(p - upper).max_component()
}

pub(super) fn reflect(direction: Vec3, normal: Vec3) -> Vec3 {
    direction - normal * (2.0 * direction.dot(normal))
}

/// The refracted direction, and the part of unpolarised light that is reflected (Fresnel); none where all of it is.
///
/// `normal` faces the ray, `ratio` is the index of refraction on the ray's side over that beyond.
pub(super) fn refract(direction: Vec3, normal: Vec3, ratio: f32) -> Option<(Vec3, f32)> {
    let cos = (-direction.dot(normal)).clamp(0.0, 1.0);
    let sin2_beyond = ratio * ratio * (1.0 - cos * cos);
    if sin2_beyond >= 1.0 {
        return None;
    }
    let cos_beyond = (1.0 - sin2_beyond).sqrt();
    let across = (ratio * cos - cos_beyond) / (ratio * cos + cos_beyond);
    let along = (cos - ratio * cos_beyond) / (cos + ratio * cos_beyond);
    let refracted = direction * ratio + normal * (ratio * cos - cos_beyond);
    Some((refracted.normalized_or(direction), 0.5 * (across * across + along * along)))
}

/// Two unit vectors that make a frame with the unit vector `n`.
pub(super) fn frame_of(n: Vec3) -> [Vec3; 2] {
    let helper = if n.y.abs() < 0.9 { vec3(0.0, 1.0, 0.0) } else { vec3(1.0, 0.0, 0.0) };
    let u = helper.cross(n).normalized_or(vec3(0.0, 0.0, 1.0));
    [u, n.cross(u)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refraction_obeys_snell_and_ends_at_the_critical_angle() {
        let normal = vec3(0.0, 1.0, 0.0);
        for degrees in [0.0f32, 20.0, 45.0, 70.0] {
            let (sin, cos) = degrees.to_radians().sin_cos();
            let (into, reflected) = refract(vec3(sin, -cos, 0.0), normal, 1.0 / 1.33).unwrap();
            assert!((into.x * 1.33 - sin).abs() < 1e-5 && (into.length() - 1.0).abs() < 1e-5);
            assert!((0.0..1.0).contains(&reflected));
            let (out, _) = refract(into, normal, 1.33).unwrap();
            assert!((out - vec3(sin, -cos, 0.0)).length() < 1e-4);
        }
        let (_, head_on) = refract(vec3(0.0, -1.0, 0.0), normal, 1.0 / 1.33).unwrap();
        assert!((head_on - (0.33f32 / 2.33).powi(2)).abs() < 1e-6);
        let (sin, cos) = 49.0f32.to_radians().sin_cos();
        assert!(refract(vec3(sin, -cos, 0.0), normal, 1.33).is_none());
    }

    #[test]
    fn rays_meet_the_box_where_it_is() {
        let ray = Ray { origin: vec3(-1.0, 0.5, 0.5), direction: vec3(1.0, 0.0, 0.0) };
        let [enter, leave] = clip_to_box(&ray, Vec3::ZERO, vec3(2.0, 1.0, 1.0)).unwrap();
        assert_eq!((enter.0, leave.0), (1.0, 3.0));
        assert_eq!((enter.1, leave.1), (vec3(-1.0, 0.0, 0.0), vec3(1.0, 0.0, 0.0)));
        let away = Ray { direction: vec3(-1.0, 0.0, 0.0), ..ray };
        assert!(clip_to_box(&away, Vec3::ZERO, vec3(2.0, 1.0, 1.0)).is_none());
    }
}

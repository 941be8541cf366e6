//! A triangle in space: distance and solid angle.

use super::segment_offset;
use crate::vector::{add_scaled, dot, norm, sub};

/// The corners of a triangle, counter-clockwise seen from outside.
pub(super) type Triangle = [[f64; 3]; 3];

pub(super) fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// Half the cross product of two edges: the outward normal with the length of the area.
pub(super) fn area_normal([a, b, c]: &Triangle) -> [f64; 3] {
    cross(sub(*b, *a), sub(*c, *a)).map(|x| 0.5 * x)
}

pub(super) fn centroid([a, b, c]: &Triangle) -> [f64; 3] {
    std::array::from_fn(|i| (a[i] + b[i] + c[i]) / 3.0)
}

/// The square of the distance from `point` to the triangle.
///
/// Every candidate is the distance to a point *of* the triangle, so the result is never too small,
/// however thin the triangle and however ill-conditioned the projection on its plane.
pub(super) fn distance_squared(point: [f64; 3], [a, b, c]: &Triangle) -> f64 {
    let (ab, ac, ap) = (sub(*b, *a), sub(*c, *a), sub(point, *a));
    let normal = cross(ab, ac);
    let scale = 1.0 / dot(normal, normal);
    let (u, v) = (dot(cross(ap, ac), normal) * scale, dot(cross(ab, ap), normal) * scale);
    let squared = |offset| dot(offset, offset);
    let edges = squared(segment_offset(point, *a, *b))
        .min(squared(segment_offset(point, *b, *c)))
        .min(squared(segment_offset(point, *c, *a)));
    // False for the NaN of a triangle without area.
    if u >= 0.0 && v >= 0.0 && u + v <= 1.0 {
        squared(add_scaled(add_scaled(ap, -u, ab), -v, ac)).min(edges)
    } else {
        edges
    }
}

/// The signed solid angle of the triangle seen from `point`, positive from behind (van Oosterom and
/// Strackee 1983).
pub(super) fn solid_angle(point: [f64; 3], triangle: &Triangle) -> f64 {
    let [a, b, c] = triangle.map(|corner| sub(corner, point));
    let [la, lb, lc] = [a, b, c].map(norm);
    let volume = dot(a, cross(b, c));
    let denominator = la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb;
    2.0 * volume.atan2(denominator)
}

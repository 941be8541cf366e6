//! Where the picture is taken from.

use meniscus_core::grid::Grid;

use super::ray::Ray;
use crate::vec3::{Vec3, vec3};

/// A pinhole camera that stands upright (y is up).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Where it is, in metres.
    pub from: [f64; 3],
    /// The point in the middle of the picture, in metres.
    pub to: [f64; 3],
    /// The angle that the picture's height spans.
    pub fov_degrees: f64,
}

/// From the domain to the default camera: in front (+z), to the right, above.
const FRAMING_DIRECTION: Vec3 = vec3(0.48, 0.40, 1.0);
const FRAMING_FOV: f64 = 30.0;

/// The part of the picture that the domain fills.
const FRAMING_FILL: f32 = 0.86;

impl Camera {
    /// A three-quarter view from above the front that holds the whole domain, in a picture with the
    /// given width over height.
    pub fn framing(grid: &Grid<3>, aspect: f64) -> Self {
        let size = Vec3::from_f64(grid.cells.map(|n| n as f64 * grid.dx));
        let corners: [Vec3; 8] = std::array::from_fn(|k| {
            let along = |bit: usize, length: f32| if k >> bit & 1 == 1 { length } else { 0.0 };
            vec3(along(0, size.x), along(1, size.y), along(2, size.z))
        });
        let away = FRAMING_DIRECTION.normalized_or(vec3(0.0, 0.0, 1.0));
        let [right, up] = upright(-away);
        let (tall, wide) = half_spans(FRAMING_FOV, aspect);
        let (tall, wide) = (FRAMING_FILL * tall, FRAMING_FILL * wide);
        // Every side of the picture asks that a corner at (x, y) and depth z (towards the camera) has
        // |x - cx| <= wide (distance - z), and the same for y: the widest pair of opposite sides fixes
        // the distance, and the sides of both pairs are then centred.
        let [across, upwards] = [(right, wide), (up, tall)].map(|(axis, span)| {
            let high = corners.iter().map(|c| c.dot(axis) + span * c.dot(away)).fold(f32::MIN, f32::max);
            let low = corners.iter().map(|c| c.dot(axis) - span * c.dot(away)).fold(f32::MAX, f32::min);
            (0.5 * (high + low), 0.5 * (high - low) / span)
        });
        let distance = across.1.max(upwards.1);
        let depth = (size * 0.5).dot(away);
        let to = right * across.0 + up * upwards.0 + away * depth;
        let from = right * across.0 + up * upwards.0 + away * distance;
        let place = |p: Vec3| {
            let p = p.to_array();
            std::array::from_fn(|a| grid.origin[a] + f64::from(p[a]))
        };
        Self { from: place(from), to: place(to), fov_degrees: FRAMING_FOV }
    }
}

/// A camera in cells, with the frame of its picture.
pub(super) struct Lens {
    pub origin: Vec3,
    pub forward: Vec3,
    right: Vec3,
    up: Vec3,
    wide: f32,
    tall: f32,
    size: [f32; 2],
}

impl Lens {
    pub fn new(camera: &Camera, grid: &Grid<3>, width: usize, height: usize) -> Self {
        let [origin, to] = [camera.from, camera.to].map(|p| Vec3::from_f64(grid.to_cells(p)));
        let forward = (to - origin).normalized_or(vec3(0.0, 0.0, -1.0));
        let [right, up] = upright(forward);
        let (tall, wide) = half_spans(camera.fov_degrees, width as f64 / height as f64);
        Self { origin, forward, right, up, wide, tall, size: [width as f32, height as f32] }
    }

    /// The ray through a point of the picture, in pixels from its top left corner.
    pub fn ray(&self, x: f32, y: f32) -> Ray {
        let across = (2.0 * x / self.size[0] - 1.0) * self.wide;
        let upwards = (1.0 - 2.0 * y / self.size[1]) * self.tall;
        let direction = (self.forward + self.right * across + self.up * upwards).normalized_or(self.forward);
        Ray { origin: self.origin, direction }
    }

    /// Where a point appears, in pixels, and its depth; the inverse of [`Lens::ray`] in front of the camera.
    pub fn project(&self, p: Vec3) -> ([f32; 2], f32) {
        let offset = p - self.origin;
        let depth = offset.dot(self.forward);
        let across = offset.dot(self.right) / (depth * self.wide);
        let upwards = offset.dot(self.up) / (depth * self.tall);
        ([0.5 * (across + 1.0) * self.size[0], 0.5 * (1.0 - upwards) * self.size[1]], depth)
    }

    /// The angle of a pixel, in radians.
    pub fn pixel_angle(&self) -> f32 {
        2.0 * self.tall / self.size[1]
    }
}

/// To the right and upwards for one who looks along `forward`.
fn upright(forward: Vec3) -> [Vec3; 2] {
    let right = forward.cross(vec3(0.0, 1.0, 0.0)).normalized_or(vec3(1.0, 0.0, 0.0));
    [right, right.cross(forward)]
}

/// Half of the picture's height and width at distance one.
fn half_spans(fov_degrees: f64, aspect: f64) -> (f32, f32) {
    let tall = (0.5 * fov_degrees.clamp(1.0, 170.0)).to_radians().tan();
    (tall as f32, (tall * aspect) as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_the_picture_looks_at_the_target_and_up_is_up() {
        let grid = Grid { origin: [1.0, -1.0, 0.5], dx: 0.25, cells: [8, 8, 8] };
        let camera = Camera { from: [3.0, 2.0, 6.0], to: [1.5, 0.0, 1.0], fov_degrees: 40.0 };
        let lens = Lens::new(&camera, &grid, 200, 100);
        let ray = lens.ray(100.0, 50.0);
        let target = Vec3::from_f64(grid.to_cells(camera.to));
        assert!((ray.at((target - ray.origin).length()) - target).length() < 1e-3);
        assert!(lens.ray(100.0, 0.0).direction.y > ray.direction.y);
        let half = lens.ray(100.0, 0.0).direction.dot(lens.forward).acos().to_degrees();
        assert!((half - 20.0).abs() < 1e-3);
    }

    #[test]
    fn projection_inverts_the_rays() {
        let grid = Grid { origin: [0.0; 3], dx: 0.1, cells: [10, 20, 30] };
        let lens = Lens::new(&Camera::framing(&grid, 1.5), &grid, 300, 200);
        for (x, y) in [(0.0, 0.0), (31.5, 170.25), (299.0, 12.0)] {
            let ([px, py], _) = lens.project(lens.ray(x, y).at(17.0));
            assert!((px - x).abs() < 1e-2 && (py - y).abs() < 1e-2);
        }
    }

    #[test]
    fn framing_holds_any_domain_and_fills_the_picture() {
        for cells in [[64, 64, 64], [200, 20, 30], [10, 90, 10], [1, 1, 1]] {
            for (width, height) in [(320, 180), (100, 300)] {
                let grid = Grid { origin: [-3.0, 4.0, 1.0], dx: 0.05, cells };
                let lens =
                    Lens::new(&Camera::framing(&grid, width as f64 / height as f64), &grid, width, height);
                let mut reach = 0.0f32;
                for k in 0..8usize {
                    let corner: [f32; 3] = std::array::from_fn(|a| (k >> a & 1) as f32 * cells[a] as f32);
                    let ([x, y], depth) = lens.project(Vec3::from_array(corner));
                    assert!(depth > 0.0);
                    let x = (2.0 * x / width as f32 - 1.0).abs();
                    let y = (2.0 * y / height as f32 - 1.0).abs();
                    reach = reach.max(x.max(y));
                }
                assert!((reach - FRAMING_FILL).abs() < 0.01, "{reach} for {cells:?}");
            }
        }
    }
}

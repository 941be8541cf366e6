//! Solids within the domain, met by sphere tracing.

use meniscus_core::grid::Grid;
use meniscus_core::parallel;
use meniscus_core::shape::{Bounds, Shape};

use super::ray::{Ray, box_distance, clip_to_box};
use crate::vec3::{Vec3, vec3};

/// Nodes of the coarse distances along the domain's longest side.
const COARSE: usize = 32;

/// How near to a surface a ray ends, in cells.
const TOUCH: f32 = 2e-3;

const MAX_STEPS: usize = 160;

/// The union of some solids, cut off at the domain's walls. Lengths are in cells.
///
/// Distances to meshes are costly, so a coarse lattice of them tells where none is near: the distance
/// changes by no more than the way from the nearest node.
pub(super) struct Solids<'a> {
    shapes: Vec<&'a Shape<3>>,
    colours: Vec<Vec3>,
    grid: Grid<3>,
    /// The domain's upper corner.
    upper: Vec3,
    /// The box within the domain that holds the solids.
    bounds: [Vec3; 2],
    spacing: f32,
    nodes: [usize; 3],
    coarse: Vec<f32>,
}

impl<'a> Solids<'a> {
    /// Shapes and their colours, in linear light.
    pub fn new(painted: Vec<(&'a Shape<3>, Vec3)>, grid: &Grid<3>) -> Self {
        let (shapes, colours): (Vec<&Shape<3>>, Vec<Vec3>) = painted.into_iter().unzip();
        let longest = grid.cells.into_iter().max().unwrap_or(1);
        let spacing = longest as f32 / COARSE as f32;
        let nodes = grid.cells.map(|n| (n as f32 / spacing).ceil() as usize + 1);
        let upper = Vec3::from_array(grid.cells.map(|n| n as f32));
        let bounds = shapes.iter().fold(Bounds::EMPTY, |sum, shape| sum.union(shape.bounds()));
        let bounds = [bounds.lower, bounds.upper]
            .map(|corner| Vec3::from_f64(grid.to_cells(corner)).max(Vec3::ZERO).min(upper));
        let mut solids =
            Self { shapes, colours, grid: *grid, upper, bounds, spacing, nodes, coarse: Vec::new() };
        if !solids.is_empty() {
            solids.coarse = parallel::map_each(nodes.iter().product(), |k| {
                let node = [k % nodes[0], k / nodes[0] % nodes[1], k / (nodes[0] * nodes[1])];
                solids.exact(Vec3::from_array(node.map(|n| n as f32 * spacing)))
            });
        }
        solids
    }

    pub fn is_empty(&self) -> bool {
        self.shapes.is_empty()
    }

    fn exact(&self, p: Vec3) -> f32 {
        let point = self.grid.point(p.to_array().map(f64::from));
        let nearest = self.shapes.iter().map(|s| s.signed_distance(point)).fold(f64::INFINITY, f64::min);
        (nearest / self.grid.dx) as f32
    }

    /// The colour of the solid that is nearest to a point.
    pub fn colour(&self, p: Vec3) -> Vec3 {
        let point = self.grid.point(p.to_array().map(f64::from));
        let distances = self.shapes.iter().map(|s| s.signed_distance(point)).zip(&self.colours);
        distances.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(Vec3::ZERO, |(_, &colour)| colour)
    }

    /// The signed distance, or where nothing is near one of the same sign that is nearer to zero.
    pub fn distance(&self, p: Vec3) -> f32 {
        if self.is_empty() {
            return f32::INFINITY;
        }
        let node = |x: f32, n: usize| ((x / self.spacing + 0.5) as usize).min(n - 1);
        let [x, y, z] = [node(p.x, self.nodes[0]), node(p.y, self.nodes[1]), node(p.z, self.nodes[2])];
        let there = self.coarse[x + self.nodes[0] * (y + self.nodes[1] * z)];
        let way = (p - vec3(x as f32, y as f32, z as f32) * self.spacing).length();
        let surely = there.abs() - way;
        if surely > self.spacing { surely.copysign(there) } else { self.exact(p) }
    }

    /// The distance to the solids with the domain's walls as their ends.
    pub fn clipped_distance(&self, p: Vec3) -> f32 {
        self.distance(p).max(box_distance(p, self.upper))
    }

    fn exact_clipped(&self, p: Vec3) -> f32 {
        self.exact(p).max(box_distance(p, self.upper))
    }

    pub fn contains(&self, p: Vec3) -> bool {
        !self.is_empty() && self.clipped_distance(p) < 0.0
    }

    /// Where a ray that starts outside first meets a solid before `to`, with the outward normal.
    pub fn first_hit(&self, ray: &Ray, to: f32) -> Option<(f32, Vec3)> {
        if self.is_empty() {
            return None;
        }
        let [enter, leave] = clip_to_box(ray, self.bounds[0], self.bounds[1])?;
        let to = to.min(leave.0);
        let mut t = enter.0;
        for _ in 0..MAX_STEPS {
            if t >= to {
                return None;
            }
            let p = ray.at(t);
            let distance = self.distance(p);
            if distance < TOUCH {
                let normal = if t == enter.0 && t > 0.0 { enter.1 } else { self.normal(p) };
                // A ray that leaves the surface starts within reach of it.
                if normal.dot(ray.direction) < 0.0 {
                    return Some((t, normal));
                }
            }
            t += distance.max(TOUCH);
        }
        None
    }

    /// Where a ray that starts inside leaves the solids, with the outward normal.
    pub fn exit(&self, ray: &Ray) -> Option<(f32, Vec3)> {
        let [_, leave] = clip_to_box(ray, self.bounds[0], self.bounds[1])?;
        let mut t = 0.0;
        for _ in 0..MAX_STEPS {
            if t >= leave.0 {
                break;
            }
            let p = ray.at(t);
            let depth = -self.distance(p);
            if depth < TOUCH {
                let normal = self.normal(p);
                if normal.dot(ray.direction) > 0.0 {
                    return Some((t, normal));
                }
            }
            t += depth.max(TOUCH);
        }
        Some(leave)
    }

    /// The outward normal near the surface, from four distances at the corners of a tetrahedron.
    pub fn normal(&self, p: Vec3) -> Vec3 {
        const REACH: f32 = 0.02;
        let corners = [vec3(1.0, -1.0, -1.0), vec3(-1.0, -1.0, 1.0), vec3(-1.0, 1.0, -1.0), Vec3::ONE];
        let sum = corners.into_iter().fold(Vec3::ZERO, |sum, c| sum + c * self.exact(p + c * REACH));
        sum.normalized_or(vec3(0.0, 1.0, 0.0))
    }

    /// How much of a distant light of some width arrives, from 0 to 1: the closest the ray to it passes
    /// by a solid, against `softness`, the sine of the light's half-angle.
    pub fn light(&self, ray: &Ray, softness: f32) -> f32 {
        if self.is_empty() {
            return 1.0;
        }
        let Some([_, leave]) = clip_to_box(ray, Vec3::ZERO, self.upper) else { return 1.0 };
        let (mut t, mut light) = (0.5f32, 1.0f32);
        for _ in 0..MAX_STEPS {
            if t >= leave.0 {
                break;
            }
            let p = ray.at(t);
            let mut distance = self.clipped_distance(p);
            if distance < softness * t {
                distance = self.exact_clipped(p);
            }
            light = light.min(0.5 + 0.5 * distance / (softness * t));
            if light <= 0.0 {
                return 0.0;
            }
            t += distance.clamp(0.25, 8.0);
        }
        light * light * (3.0 - 2.0 * light)
    }

    /// How open the sky above a surface point is, from 0 to 1: distances along the normal that fall short
    /// of the way gone tell of something near.
    pub fn openness(&self, p: Vec3, normal: Vec3, reach: f32) -> f32 {
        let nearest = p.max(self.bounds[0]).min(self.bounds[1]);
        if self.is_empty() || (p - nearest).length() > 2.0 * reach {
            return 1.0;
        }
        let (mut shut, mut weight) = (0.0, 0.28);
        for k in 1..=5 {
            let way = reach * k as f32 / 5.0;
            shut += weight * (way - self.exact_clipped(p + normal * way).max(0.0)).max(0.0) / way;
            weight *= 0.6;
        }
        (1.0 - shut).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> Grid<3> {
        Grid { origin: [-1.0, 0.0, 2.0], dx: 0.05, cells: [40, 20, 40] }
    }

    #[test]
    fn coarse_distances_never_exceed_the_exact_ones() {
        let shape = Shape::capsule([-0.3, 0.1, 2.4], [0.5, 0.8, 3.5], 0.12).unwrap();
        let solids = Solids::new(vec![(&shape, Vec3::ZERO)], &grid());
        for k in 0..500 {
            let k = k as f32;
            let p = vec3((k * 7.31) % 40.0, (k * 3.17) % 20.0, (k * 5.77) % 40.0);
            let (given, exact) = (solids.distance(p), solids.exact(p));
            assert!(given.abs() <= exact.abs() + 1e-3 && given.signum() == exact.signum());
        }
    }

    #[test]
    fn rays_meet_and_leave_a_sphere() {
        let shape = Shape::sphere([0.0, 0.5, 3.0], 0.25).unwrap();
        let solids = Solids::new(vec![(&shape, Vec3::ZERO)], &grid());
        let ray = Ray { origin: vec3(-4.0, 10.0, 20.0), direction: vec3(1.0, 0.0, 0.0) };
        let (t, normal) = solids.first_hit(&ray, 1e9).unwrap();
        assert!((t - 19.0).abs() < 1e-2 && normal.x < -0.999);
        let inside = Ray { origin: vec3(20.0, 10.0, 20.0), ..ray };
        let (t, normal) = solids.exit(&inside).unwrap();
        assert!((t - 5.0).abs() < 1e-2 && normal.x > 0.999);
        assert!(solids.first_hit(&Ray { origin: vec3(-4.0, 16.0, 20.0), ..ray }, 1e9).is_none());
    }

    #[test]
    fn solids_end_at_the_walls() {
        let shape = Shape::half_space([0.0, 0.0, 3.0], [0.0, 0.0, 1.0]).unwrap();
        let solids = Solids::new(vec![(&shape, Vec3::ZERO)], &grid());
        let ray = Ray { origin: vec3(10.0, 25.0, 5.0), direction: vec3(0.0, -1.0, 0.0) };
        let (t, normal) = solids.first_hit(&ray, 1e9).unwrap();
        assert!((t - 5.0).abs() < 1e-3 && normal.y == 1.0);
        assert!(!solids.contains(vec3(10.0, 25.0, 5.0)) && solids.contains(vec3(10.0, 15.0, 5.0)));
    }
}

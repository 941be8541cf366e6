//! The edges of the domain, drawn as those of a glass tank.

use super::camera::Lens;
use crate::vec3::Vec3;

/// Half of the width of an edge, in pixels of a picture 540 rows high.
const HALF_WIDTH: f32 = 0.7;

/// How much of an edge covers what is behind it.
const STRENGTH: f32 = 0.28;

const COLOUR: Vec3 = Vec3 { x: 0.82, y: 0.90, z: 0.94 };

/// The twelve edges of the domain as they appear in a picture.
pub(super) struct Tank {
    /// Both ends in pixels, and one over their depths.
    edges: Vec<[([f32; 2], f32); 2]>,
    half_width: f32,
}

impl Tank {
    pub fn new(lens: &Lens, upper: Vec3, height: usize) -> Self {
        let corner = |k: usize| {
            let bit = |a: usize| (k >> a & 1) as f32;
            Vec3 { x: bit(0) * upper.x, y: bit(1) * upper.y, z: bit(2) * upper.z }
        };
        let mut edges = Vec::new();
        for from in 0..8usize {
            for axis in (0..3).filter(|axis| from >> axis & 1 == 0) {
                let ends = [corner(from), corner(from | 1 << axis)].map(|p| lens.project(p));
                // An edge that reaches behind the camera has no picture.
                if ends.iter().all(|&(_, depth)| depth > 0.01 * upper.max_component()) {
                    edges.push(ends.map(|(at, depth)| (at, 1.0 / depth)));
                }
            }
        }
        Self { edges, half_width: HALF_WIDTH * height as f32 / 540.0 }
    }

    /// The light of a pixel with the edges before it; `depth` is that of what the pixel shows.
    pub fn over(&self, x: f32, y: f32, depth: f32, shown: Vec3) -> Vec3 {
        let cover = self.edges.iter().map(|edge| self.cover(edge, [x, y], depth)).fold(0.0, f32::max);
        shown.lerp(COLOUR, STRENGTH * cover)
    }

    fn cover(&self, [a, b]: &[([f32; 2], f32); 2], at: [f32; 2], depth: f32) -> f32 {
        let along = [b.0[0] - a.0[0], b.0[1] - a.0[1]];
        let offset = [at[0] - a.0[0], at[1] - a.0[1]];
        let length_squared = (along[0] * along[0] + along[1] * along[1]).max(1e-6);
        let s = ((offset[0] * along[0] + offset[1] * along[1]) / length_squared).clamp(0.0, 1.0);
        let way = [offset[0] - s * along[0], offset[1] - s * along[1]];
        let distance = (way[0] * way[0] + way[1] * way[1]).sqrt();
        // One over the depth is linear along a projected line.
        let edge_depth = 1.0 / (a.1 + s * (b.1 - a.1));
        if edge_depth > depth * 1.002 { 0.0 } else { (self.half_width + 0.5 - distance).clamp(0.0, 1.0) }
    }
}

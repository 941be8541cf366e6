//! The surface of a frame.

use meniscus_core::grid::{BLOCK_EDGE, Field, Grid, Slot, block_len};
use meniscus_core::interpolate::interpolate_faces;
use meniscus_core::level_set::{contour, surface_mesh};
use meniscus_core::parallel;
use meniscus_core::shape::Shape;

use super::bubbles::bordering;
use crate::FrameLiquid;
use crate::frame::BAND;

/// A surface in space, or an outline in the plane z = 0, with values at its vertices.
#[derive(Clone, Debug, PartialEq)]
pub struct SurfaceExport {
    /// Positions, in metres.
    pub position: Vec<[f32; 3]>,
    /// Unit vectors out of the liquid.
    pub normal: Vec<[f32; 3]>,
    /// Velocities of the liquid, in metres a second.
    pub velocity: Vec<[f32; 3]>,
    /// The identities of the bubbles that the vertices border, where bubbles are known: 0 is the open air, and
    /// [`WALL`](super::WALL) is none.
    pub bubble: Option<Vec<i32>>,
    /// What the vertices are joined to.
    pub elements: Elements,
}

/// The parts of a surface or an outline, as indices of vertices.
#[derive(Clone, Debug, PartialEq)]
pub enum Elements {
    /// Counter-clockwise seen from outside the liquid.
    Triangles(Vec<[u32; 3]>),
    /// With the liquid on the left.
    Edges(Vec<[u32; 2]>),
}

/// The surface of the liquid of a frame, closed, without what lies in the `solids`. These are where they are in
/// the frame:
///
/// ```
/// # use meniscus_core::shape::{Shape, ShapeError};
/// # fn posed(shapes: &[Shape<3>], frame: &meniscus_io::Frame<3>) -> Result<Vec<Shape<3>>, ShapeError> {
/// let poses = frame.poses(meniscus_io::names::SOLIDS).unwrap_or_default();
/// shapes.iter().zip(poses).map(|(shape, pose)| shape.clone().transformed(*pose)).collect()
/// # }
/// ```
pub fn frame_surface(liquid: &FrameLiquid<3>, solids: &[Shape<3>]) -> SurfaceExport {
    let mesh = surface_mesh(&without_solids(liquid, solids));
    let (position, count) = (&mesh.position, mesh.position.len());
    let bubble = liquid.bubble.map(|bubble_of| bordering(bubble_of, position, &mesh.normal));
    SurfaceExport {
        bubble,
        position: parallel::map_each(count, |k| metres(liquid.grid, position[k])),
        velocity: parallel::map_each(count, |k| interpolate_faces(liquid.velocity, position[k])),
        normal: mesh.normal,
        elements: Elements::Triangles(mesh.triangles),
    }
}

/// The outline of the liquid of a frame in the plane; see [`frame_surface`].
pub fn frame_contour(liquid: &FrameLiquid<2>, solids: &[Shape<2>]) -> SurfaceExport {
    let (mut position, mut normal, mut edges) = (Vec::new(), Vec::new(), Vec::new());
    for points in contour(&without_solids(liquid, solids)) {
        let (first, count) = (position.len() as u32, points.len());
        for (k, &point) in points.iter().enumerate() {
            let (before, after) = (points[(k + count - 1) % count], points[(k + 1) % count]);
            // To the right of the way from one neighbour to the other.
            let across = [after[1] - before[1], before[0] - after[0]];
            let length = across[0].hypot(across[1]).max(f32::MIN_POSITIVE);
            normal.push([across[0] / length, across[1] / length, 0.0]);
            position.push(point);
            edges.push([first + k as u32, first + ((k + 1) % count) as u32]);
        }
    }
    let bubble = liquid.bubble.map(|bubble_of| bordering(bubble_of, &position, &normal));
    let of_liquid = |k: usize| in_space(interpolate_faces(liquid.velocity, position[k]));
    let velocity = parallel::map_each(position.len(), of_liquid);
    let position = parallel::map_each(position.len(), |k| metres(liquid.grid, position[k]));
    SurfaceExport { position, normal, velocity, bubble, elements: Elements::Edges(edges) }
}

/// The level set of a frame with the solids cut away, in cells: `max(phi, -solid)`.
pub fn without_solids<const D: usize>(liquid: &FrameLiquid<D>, solids: &[Shape<D>]) -> Field<f32, D> {
    let FrameLiquid { grid, level_set, .. } = *liquid;
    let mut phi = level_set.clone();
    let blocks = level_set.blocks();
    let solid = |x: [f64; D]| {
        solids.iter().map(|shape| shape.signed_distance(x) / grid.dx).fold(f64::INFINITY, f64::min)
    };
    // From the centre of a block to its farthest cell; a distance changes by no more than that.
    let reach = 0.5 * (BLOCK_EDGE as f64) * (D as f64).sqrt();
    parallel::for_chunks(phi.values_mut(), block_len::<D>(), |block, values| {
        let centre =
            grid.point(blocks.coord(block).map(|c| (c * BLOCK_EDGE) as f64 + 0.5 * BLOCK_EDGE as f64));
        let distance = solid(centre);
        if distance > reach + f64::from(BAND) {
            return;
        }
        if distance < -reach - 1.0 {
            values.fill(BAND);
            return;
        }
        for (local, value) in values.iter_mut().enumerate() {
            // Farther out no sample borders on the liquid.
            if *value < 2.0 {
                let cell = blocks.cell(Slot { block, local }).map(|c| c as i64);
                *value = value.max(-solid(grid.cell_centre(cell)) as f32);
            }
        }
    });
    phi
}

/// A point in metres, z being zero in the plane.
pub(super) fn metres<const D: usize>(grid: &Grid<D>, in_cells: [f32; D]) -> [f32; 3] {
    in_space(grid.point(in_cells.map(f64::from)).map(|x| x as f32))
}

/// A vector in space, z being zero in the plane.
pub(super) fn in_space<const D: usize>(vector: [f32; D]) -> [f32; 3] {
    std::array::from_fn(|a| if a < D { vector[a] } else { 0.0 })
}

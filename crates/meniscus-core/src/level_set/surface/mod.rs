//! Surfaces and contours of level sets, closed and manifold.
//!
//! Samples are cell centres. The cubes between them that the surface passes through get one vertex for
//! each piece of surface inside them (*patch*), and each lattice edge whose ends differ in sign gets a
//! quad between the vertices of the four cubes around it: surface nets, or dual marching cubes
//! (Nielson 2004).
//!
//! Why the dual: its vertices are spread like the cubes, so there are few thin triangles, where marching
//! cubes makes slivers wherever the surface passes close to a sample. And a vertex may be put
//! anywhere in its cube, so in the cubes that straddle the boundary of the domain it is put exactly on the
//! boundary's planes, edges and corners: a full domain gives the domain's box.
//!
//! Why it is manifold: a quad's corners lie in four different cubes, so a side joins cubes that share a
//! face, and a diagonal cubes that share only the lattice edge. Two sides can have the same ends only
//! where two patches meet twice on one face, and the [patches] are chosen so that they never do.

mod contour;
mod patches;
#[cfg(test)]
mod tests;
mod vertices;

use crate::grid::{Field, block_len};
use crate::parallel::{self, PIECE};
pub use contour::contour;
use vertices::DualVertices;

/// A closed surface of triangles; lengths are in cells.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SurfaceMesh {
    /// The positions of the vertices.
    pub position: Vec<[f32; 3]>,
    /// Unit vectors out of the liquid, one for each vertex.
    pub normal: Vec<[f32; 3]>,
    /// The corners of each triangle, counter-clockwise seen from outside the liquid.
    pub triangles: Vec<[u32; 3]>,
}

/// The surface where a level set changes from negative (liquid) to air. Inactive blocks and everything
/// beyond the domain are air, and so is what is not a number. The surface is closed: liquid that touches
/// the boundary of the domain ends exactly there. Each edge has two triangles that run along it in opposite
/// directions.
///
/// Solids are cut away beforehand: `max(phi, -solid)`.
///
/// # Panics
/// If the surface has more vertices than 32-bit indices can name.
pub fn surface_mesh(phi: &Field<f32, 3>) -> SurfaceMesh {
    let dual = DualVertices::new(phi);
    let position = dual.positions();
    let parts = parallel::map(dual.blocks().len(), |block| block_triangles(&dual, block, &position));
    let triangles = parts.concat();
    let normal = vertex_normals(&position, &triangles);
    SurfaceMesh { position, normal, triangles }
}

/// Two triangles for each quad whose lattice edge belongs to the block.
fn block_triangles(dual: &DualVertices<3>, block: usize, position: &[[f32; 3]]) -> Vec<[u32; 3]> {
    let mut triangles = Vec::new();
    for local in 0..block_len::<3>() {
        dual.for_each_crossing(block, local, |crossing| {
            // Counter-clockwise about the edge, seen from its upper end.
            let mut quad =
                [[1, 1], [0, 1], [0, 0], [1, 0]].map(|[b, c]| dual.vertex_beside(&crossing, b + 2 * c));
            if !crossing.rising {
                quad.reverse();
            }
            triangles.extend(split_quad(quad, position));
        });
    }
    triangles
}

/// Cuts a quad along its shorter diagonal.
fn split_quad([a, b, c, d]: [u32; 4], position: &[[f32; 3]]) -> [[u32; 3]; 2] {
    let squared = |i: u32, j: u32| {
        let edge = sub(position[i as usize], position[j as usize]);
        dot(edge, edge)
    };
    if squared(a, c) <= squared(b, d) { [[a, b, c], [a, c, d]] } else { [[a, b, d], [b, c, d]] }
}

/// The mean of the normals of the triangles around each vertex, each weighted by its sine over the
/// product of the sides at the vertex: exact on spheres, whatever the triangles (Max 1999).
fn vertex_normals(position: &[[f32; 3]], triangles: &[[u32; 3]]) -> Vec<[f32; 3]> {
    let mut normals = vec![[0.0; 3]; position.len()];
    for corners in triangles {
        let x = corners.map(|v| position[v as usize]);
        for k in 0..3 {
            let (e, f) = (sub(x[(k + 1) % 3], x[k]), sub(x[(k + 2) % 3], x[k]));
            let weight = 1.0 / (dot(e, e) * dot(f, f)).max(f32::MIN_POSITIVE);
            let normal = cross(e, f);
            for a in 0..3 {
                normals[corners[k] as usize][a] += weight * normal[a];
            }
        }
    }
    parallel::for_chunks(&mut normals, PIECE, |_, normals| {
        for normal in normals {
            let length = dot(*normal, *normal).sqrt();
            *normal = if length > 0.0 { normal.map(|x| x / length) } else { [0.0, 1.0, 0.0] };
        }
    });
    normals
}

fn sub(a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    std::array::from_fn(|i| a[i] - b[i])
}

fn dot(a: [f32; 3], b: [f32; 3]) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    std::array::from_fn(|i| a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3])
}

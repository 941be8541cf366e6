//! Surfaces of shapes that are known by their signed distance alone.

use std::sync::Arc;

use meniscus_core::grid::{Blocks, Field};
use meniscus_core::level_set::surface_mesh;
use meniscus_core::shape::{Bounds, RigidTransform, Shape, TriangleMesh};
use meniscus_core::vector::add_scaled;

use crate::Domain;

/// The surface of a shape, from its distances at points half a cell apart; of one without an end, what lies in the
/// domain and a little beyond. Nothing if there is none, or in 2D, where all shapes can be cut into pieces.
pub fn sampled<const D: usize>(
    shape: &Shape<D>,
    placement: &RigidTransform<D>,
    domain: &Domain<D>,
) -> Option<TriangleMesh> {
    let spacing = 0.5 * domain.dx;
    let bounds = shape.bounds().transformed(placement);
    let bounds = bounds.intersection(domain.bounds.expanded(4.0 * domain.dx)).expanded(2.0 * spacing);
    if D != 3 || bounds.is_empty() {
        return None;
    }
    let Bounds { lower, .. } = bounds;
    let cells: [usize; 3] = std::array::from_fn(|a| (bounds.extent()[a] / spacing).ceil() as usize);
    let distance = |cell: [usize; 3]| {
        let point = std::array::from_fn(|a| lower[a] + spacing * (cell[a] as f64 + 0.5));
        (shape.signed_distance(placement.apply_inverse(point)) / spacing) as f32
    };
    let surface = surface_mesh(&Field::from_fn(Arc::new(Blocks::all(cells)), 3.0, distance));
    let origin: [f64; 3] = std::array::from_fn(|a| lower[a]);
    let vertices = surface.position.iter().map(|x| add_scaled(origin, spacing, x.map(f64::from))).collect();
    (!surface.triangles.is_empty()).then_some(TriangleMesh { vertices, triangles: surface.triangles })
}

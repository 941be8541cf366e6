//! The mesh as the finite elements see it: plain slices.

use meniscus_core::vector::{cross, sub};

use super::element::Element;

/// No tet, vertex or unknown: what an index is where there is none.
pub const NONE: u32 = u32::MAX;

/// The vertices of a tet's faces; face `k` is opposite to vertex `k`, and counter-clockwise seen from outside.
pub const FACES: [[usize; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];

/// Tets with labels. All are positively oriented: vertices 1, 2, 3 are counter-clockwise seen from vertex 0's
/// opposite side.
#[derive(Clone, Copy, Debug)]
pub struct Mesh<'a> {
    /// Vertex positions, m.
    pub positions: &'a [[f64; 3]],
    /// The vertices of each tet.
    pub tets: &'a [[u32; 4]],
    /// The kind of fluid in each tet.
    pub labels: &'a [u8],
}

impl<'a> Mesh<'a> {
    /// The same tets with their vertices elsewhere.
    pub fn moved_to<'b>(&self, positions: &'b [[f64; 3]]) -> Mesh<'b>
    where
        'a: 'b,
    {
        Mesh { positions, tets: self.tets, labels: self.labels }
    }

    /// The element that tet `tet` carries.
    pub fn element(&self, tet: usize) -> Element {
        Element::new(self.tets[tet].map(|v| self.positions[v as usize]))
    }
}

/// The area of a triangle times its unit normal.
pub fn area_vector(x: [[f64; 3]; 3]) -> [f64; 3] {
    cross(sub(x[1], x[0]), sub(x[2], x[0])).map(|c| 0.5 * c)
}

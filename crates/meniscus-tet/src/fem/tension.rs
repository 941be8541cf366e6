//! Surface energy: the areas of faces, their first and second derivatives, and the forces that follow.

use meniscus_core::vector::{add_scaled, cross, dot, norm, sub, unit};

use super::element::Block;
use super::mesh::area_vector;
use super::surface::Surface;

/// Which force the tension exerts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TensionForce {
    /// Minus the gradient of the energy, along the gradient of the volume where a vertex lies inside of an interface:
    /// what slides vertices along a surface is no physics, but the mesh's unevenness. The whole gradient on triple and
    /// contact lines, where it is the physics.
    Projected,
    /// Minus the gradient of the energy.
    Variational,
}

/// How the energy at the end of a step is foreseen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SurfaceEnergy {
    /// With the positive semidefinite part of its second derivatives: stable for any step.
    SecondOrder,
    /// With its gradient only: explicit.
    FirstOrder,
}

/// dA/dx_a = ½ n x e_a for each vertex of a triangle, with e_a the edge opposite to it.
pub fn area_gradients(x: [[f64; 3]; 3]) -> [[f64; 3]; 3] {
    let normal = unit(area_vector(x));
    opposite_edges(x).map(|edge| cross(normal, edge).map(|c| 0.5 * c))
}

/// The positive semidefinite part (e_a . e_b) n n^T / (4 A) of a triangle's second derivatives of its area. They lack
/// -½ [n]x for (a, b) in cyclic order, which turns in the triangle's plane; Misztal and others 2012 misprint both
/// (eq. 22, 23).
pub fn area_curvature(x: [[f64; 3]; 3], a: usize, b: usize) -> Block {
    let (area, edges) = (area_vector(x), opposite_edges(x));
    let normal = unit(area);
    let s = dot(edges[a], edges[b]) / (4.0 * norm(area));
    std::array::from_fn(|i| std::array::from_fn(|j| s * normal[i] * normal[j]))
}

fn opposite_edges(x: [[f64; 3]; 3]) -> [[f64; 3]; 3] {
    std::array::from_fn(|a| sub(x[(a + 2) % 3], x[(a + 1) % 3]))
}

impl Surface {
    /// The energy of all faces, J.
    pub fn energy(&self, positions: &[[f64; 3]]) -> f64 {
        (0..self.facets.len())
            .map(|f| self.facets[f].tension * norm(area_vector(self.corners(f, positions))))
            .sum()
    }

    /// The force on a velocity's vertex, N.
    pub fn force(&self, node: usize, positions: &[[f64; 3]], kind: TensionForce) -> [f64; 3] {
        let (mut force, mut volume_gradient) = ([0.0; 3], [0.0; 3]);
        for (f, a) in self.facets_at_node.at(node) {
            let x = self.corners(f, positions);
            force = add_scaled(force, -self.facets[f].tension, area_gradients(x)[a]);
            volume_gradient = add_scaled(volume_gradient, 1.0 / 3.0, area_vector(x));
        }
        let square = dot(volume_gradient, volume_gradient);
        let projected = kind == TensionForce::Projected && self.is_inside_interface(node) && square > 0.0;
        if projected { volume_gradient.map(|c| c * dot(force, volume_gradient) / square) } else { force }
    }

    /// The vertices of a face.
    pub fn corners(&self, facet: usize, positions: &[[f64; 3]]) -> [[f64; 3]; 3] {
        self.facets[facet].vertices.map(|v| positions[v as usize])
    }
}

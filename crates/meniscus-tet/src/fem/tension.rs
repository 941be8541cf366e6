//! Surface energy: the areas of faces, their first and second derivatives, and the forces that follow.

use meniscus_core::vector::{add_scaled, cross, dot, norm, sub, unit};

use super::element::Block;
use super::mesh::area_vector;
use super::rigid::{RigidPoint, rigid_forces};
use super::surface::Surface;

/// Which force the tension exerts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TensionForce {
    /// Minus the gradient of the energy, along the gradient of the volume where a vertex lies inside of an interface:
    /// what slides vertices along a surface is no physics, but the mesh's unevenness. The whole gradient on triple and
    /// contact lines, where it is the physics. Sum and torque are those of the whole gradient.
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
/// -½ n x for (a, b) in cyclic order, which turns in the triangle's plane; Misztal and others 2012 misprint both
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

    /// The force on each velocity's vertex, N.
    pub fn forces(&self, positions: &[[f64; 3]], kind: TensionForce) -> Vec<[f64; 3]> {
        let mut forces: Vec<_> =
            (0..self.facets_at_node.rows()).map(|node| self.variational_force(node, positions)).collect();
        if kind == TensionForce::Projected {
            for patch in &self.patches {
                self.project(patch, positions, &mut forces);
            }
        }
        forces
    }

    fn variational_force(&self, node: usize, positions: &[[f64; 3]]) -> [f64; 3] {
        self.facets_at_node.at(node).fold([0.0; 3], |force, (f, a)| {
            add_scaled(force, -self.facets[f].tension, area_gradients(self.corners(f, positions))[a])
        })
    }

    /// Projects the forces of a patch on the gradients of the volume. Their sum and torque must not change, or a free
    /// drop would set itself in motion: what they lack is given back as the force that moves the patch rigidly.
    fn project(&self, patch: &[u32], positions: &[[f64; 3]], forces: &mut [[f64; 3]]) {
        let mut points = Vec::with_capacity(patch.len());
        for &node in patch {
            let (place, gradient) = self.volume_gradient(node as usize, positions);
            let square = dot(gradient, gradient);
            let force = &mut forces[node as usize];
            let along = if square > 0.0 { dot(*force, gradient) / square } else { 0.0 };
            let projected = gradient.map(|c| c * along);
            points.push(RigidPoint { place, weight: square.sqrt(), force: sub(*force, projected) });
            *force = projected;
        }
        for (&node, back) in patch.iter().zip(rigid_forces(&points)) {
            forces[node as usize] = add_scaled(forces[node as usize], 1.0, back);
        }
    }

    /// Where a velocity's vertex is, and how the volume behind the faces at it grows with its position.
    fn volume_gradient(&self, node: usize, positions: &[[f64; 3]]) -> ([f64; 3], [f64; 3]) {
        self.facets_at_node.at(node).fold(([0.0; 3], [0.0; 3]), |(_, gradient), (f, a)| {
            let x = self.corners(f, positions);
            (x[a], add_scaled(gradient, 1.0 / 3.0, area_vector(x)))
        })
    }

    /// The vertices of a face.
    pub fn corners(&self, facet: usize, positions: &[[f64; 3]]) -> [[f64; 3]; 3] {
        self.facets[facet].vertices.map(|v| positions[v as usize])
    }
}

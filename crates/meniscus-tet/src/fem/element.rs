//! The linear tetrahedron: shape functions 1 at a vertex and 0 at the others.

use meniscus_core::vector::{cross, dot, sub};

/// A 3x3 block that couples the velocities of two vertices: rows are components of the force.
pub type Block = [[f64; 3]; 3];

/// A block plus `s` times the identity.
pub fn plus_scalar(mut block: Block, s: f64) -> Block {
    for (x, row) in block.iter_mut().enumerate() {
        row[x] += s;
    }
    block
}

/// Which mass matrix: the integral of products of shape functions, or its row sums on the diagonal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mass {
    /// Row sums on the diagonal: calm where tets are bad, and diagonal, but waves are slow to second order.
    Lumped,
    /// (1 + delta_ab) rho V / 20: the more accurate.
    Consistent,
}

impl Mass {
    /// The share of a tet's mass that couples its vertices `a` and `b`.
    pub fn share(self, a: usize, b: usize) -> f64 {
        match (self, a == b) {
            (Self::Lumped, true) => 1.0 / 4.0,
            (Self::Lumped, false) => 0.0,
            (Self::Consistent, true) => 1.0 / 10.0,
            (Self::Consistent, false) => 1.0 / 20.0,
        }
    }
}

/// Geometry of a linear tet.
#[derive(Clone, Copy, Debug)]
pub struct Element {
    /// V, m³; negative where the tet is turned over.
    pub volume: f64,
    /// dV/dx_a = V grad phi_a, m²: minus a third of the area vector of the face opposite to vertex `a`. Finite for
    /// flat tets too, so constraints on volumes need nothing else.
    pub volume_gradients: [[f64; 3]; 4],
}

impl Element {
    /// The tet with these vertices.
    pub fn new(x: [[f64; 3]; 4]) -> Self {
        let [e1, e2, e3] = [sub(x[1], x[0]), sub(x[2], x[0]), sub(x[3], x[0])];
        let sixth = |v: [f64; 3]| v.map(|c| c / 6.0);
        let [g1, g2, g3] = [sixth(cross(e2, e3)), sixth(cross(e3, e1)), sixth(cross(e1, e2))];
        let g0 = std::array::from_fn(|c| -(g1[c] + g2[c] + g3[c]));
        Self { volume: dot(g1, e1), volume_gradients: [g0, g1, g2, g3] }
    }

    /// Integral of grad phi_a . grad phi_b.
    pub fn stiffness(&self, a: usize, b: usize) -> f64 {
        dot(self.volume_gradients[a], self.volume_gradients[b]) / self.volume
    }

    /// The force of this viscosity on vertex `a` by the velocity of vertex `b`: the integral of
    /// mu ((grad phi_a . grad phi_b) I + grad phi_b grad phi_a^T), the second derivative of half of the dissipation
    /// mu |grad u + grad u^T|² / 2 (Misztal and others 2012, eq. 12, whose dyad is to be read transposed).
    pub fn viscous_block(&self, a: usize, b: usize, viscosity: f64) -> Block {
        let ga = self.volume_gradients[a].map(|g| g * viscosity / self.volume);
        let gb = self.volume_gradients[b];
        plus_scalar(gb.map(|b| ga.map(|a| b * a)), dot(ga, gb))
    }

    /// The square of the length that stabilisation scales with: 2 V^(2/3), .48 of an edge's square if regular.
    pub fn length_squared(&self) -> f64 {
        2.0 * self.volume.cbrt().powi(2)
    }
}

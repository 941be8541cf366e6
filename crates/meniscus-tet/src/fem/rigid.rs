//! Forces that move a set of points as one body.

use meniscus_core::vector::{add_scaled, cross, dot, sub};

/// A point with a weight and a force on it.
pub struct RigidPoint {
    /// Where it is.
    pub place: [f64; 3],
    /// How much of the body's force it takes.
    pub weight: f64,
    /// A force.
    pub force: [f64; 3],
}

/// Spreads the forces' sum and torque: weight times the acceleration w (a + b x r) of a rigid body of these weights.
/// Where the points are too few or in line, the torque stays out.
pub fn rigid_forces(points: &[RigidPoint]) -> Vec<[f64; 3]> {
    let weight: f64 = points.iter().map(|p| p.weight).sum();
    if weight <= 0.0 {
        return vec![[0.0; 3]; points.len()];
    }
    let centre = points.iter().fold([0.0; 3], |c, p| add_scaled(c, p.weight / weight, p.place));
    let (mut force, mut torque, mut inertia) = ([0.0; 3], [0.0; 3], [[0.0; 3]; 3]);
    for point in points {
        let arm = sub(point.place, centre);
        force = add_scaled(force, 1.0, point.force);
        torque = add_scaled(torque, 1.0, cross(arm, point.force));
        for (x, row) in inertia.iter_mut().enumerate() {
            row[x] += point.weight * dot(arm, arm);
            *row = add_scaled(*row, -point.weight * arm[x], arm);
        }
    }
    let turn = solve_symmetric(inertia, torque);
    let push = force.map(|f| f / weight);
    points
        .iter()
        .map(|p| add_scaled(push, 1.0, cross(turn, sub(p.place, centre))).map(|a| p.weight * a))
        .collect()
}

/// Solves a symmetric positive 3x3 system by its adjugate; 0 where it is singular to rounding.
fn solve_symmetric(m: [[f64; 3]; 3], right: [f64; 3]) -> [f64; 3] {
    let cofactors = [cross(m[1], m[2]), cross(m[2], m[0]), cross(m[0], m[1])];
    let (determinant, trace) = (dot(m[0], cofactors[0]), m[0][0] + m[1][1] + m[2][2]);
    if determinant <= 1e-9 * trace.powi(3) {
        return [0.0; 3];
    }
    cofactors.map(|row| dot(row, right) / determinant)
}

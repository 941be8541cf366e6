//! VALIDATION 11: the projection is orthogonal, KE(u*) - KE(u) = KE(u* - u) in the mass norm, to the
//! tolerance of the solve.

use meniscus_core::fractions::ghost_fluid_fraction;
use meniscus_core::shape::{Rotation, Shape};
use meniscus_core::vector::{norm, sub};
use meniscus_tests::{Case, cube_rotation, noise, rotated_container, square_rotation, tight_params};

/// A rotated container with a ball cut out of the liquid and a second one of solid, and irregular
/// velocities.
fn rough_case<const D: usize>(cells: usize, rotation: Rotation<D>) -> Case<D> {
    let mut solid = [0.4; D];
    solid[0] = 0.55;
    let ball = Shape::sphere(solid, 0.12).expect("a valid ball");
    let mut case = Case::in_container(cells, &rotated_container(rotation).difference(ball));
    let mut air = [0.5; D];
    air[1] = 0.8;
    case.set_level_set(|point| 0.25 - norm(sub(point, air)));
    case.set_velocity(noise);
    case
}

/// The mass of a face, from its definition.
fn mass<const D: usize>(case: &Case<D>, axis: usize, cell: [usize; D], density: f64, theta_min: f64) -> f64 {
    let upper = cell.map(|c| c as i64);
    let mut lower = upper;
    lower[axis] -= 1;
    let (a, b) = (case.level_set.get(lower), case.level_set.get(upper));
    let theta = if a.max(b) < 0.0 { 1.0 } else { ghost_fluid_fraction(a.min(b), a.max(b), theta_min) };
    density * case.open.get(axis, upper) * theta * case.grid.dx.powi(D as i32)
}

fn check<const D: usize>(cells: usize, rotation: Rotation<D>) {
    let tentative = rough_case(cells, rotation);
    for tolerance in [1e-4, 1e-8, 1e-12] {
        let mut params = tight_params();
        params.solve.tolerance = tolerance;
        let mut case = rough_case(cells, rotation);
        let energy = case.project(&params).expect("the projection converges").kinetic_energy;

        let [mut before, mut after, mut change] = [0.0; 3];
        for (axis, cell, u) in case.valid_velocities() {
            let half_mass = 0.5 * mass(&case, axis, cell, params.density, params.theta_min);
            let old = tentative.velocity.get(axis, cell.map(|c| c as i64));
            before += half_mass * old * old;
            after += half_mass * u * u;
            change += half_mass * (u - old) * (u - old);
        }
        for (reported, own) in [(energy.before, before), (energy.after, after), (energy.change, change)] {
            assert!((reported - own).abs() < 1e-13 * before, "reported {reported}, {own}");
        }
        // The defect is the work of the pressure on the divergence that the solve leaves. Conjugate
        // gradients keep the two orthogonal, so that it is far below the tolerance (2.5e-12 at 1e-4).
        let defect = (before - after - change).abs() / before;
        assert!(defect < (1e-3 * tolerance).max(1e-13), "{defect:e} at tolerance {tolerance:e}");
        // Neither part is negligible.
        assert!(after > 0.1 * before && change > 0.1 * before);
        // The norm of the right-hand side, relative to which the tolerance is, is that of irregular
        // fluxes of about 1 in up to 5000 cells: below 100.
        let divergence = case.max_divergence() * case.grid.dx;
        assert!(divergence < 100.0 * tolerance, "{divergence:e}");
    }
}

#[test]
fn the_projection_is_orthogonal_in_2d() {
    check(64, square_rotation());
}

#[test]
fn the_projection_is_orthogonal_in_3d() {
    check(24, cube_rotation());
}

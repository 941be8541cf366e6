//! VALIDATION 3: convergence of the projection in a sealed box that is rotated against the grid.
//!
//! A known flow without normal velocity at the walls, plus a gradient: the projection must take away
//! the gradient. The errors are the mean, the root mean square and the maximum of |u - exact| over the
//! faces that are open and whose centres lie in the box. With this norm the L1 errors of the reference
//! at 256 cells, 3.8e-3, 2.3e-4 and 1.8e-5, come out to their two digits (3.76e-3, 2.29e-4, 1.79e-5).
//! Closed faces have no velocity of the liquid to compare: counting the faces that the voxel box closes
//! although their centres are inside, with the velocity 0, would double the voxel error.

use meniscus_core::fractions::grid_cell_open_fraction;
use meniscus_core::grid::Grid;
use meniscus_core::vector::sub;
use meniscus_tests::{Case, SIDE, centre, rotated_container, square_rotation, tight_params};

/// How much of a face is open.
#[derive(Clone, Copy, Debug)]
enum Weights {
    /// All of it or nothing: open where the centres of both cells lie inside.
    Voxel,
    /// The part of the staggered cell around the face that lies inside (Batty 2007).
    Volume,
    /// The part of the face that lies inside.
    Area,
}

/// The reference: orders and the mean error at 256 cells.
struct Reference {
    orders: [f64; 3],
    mean_error: f64,
}

const CELLS: [usize; 4] = [32, 64, 128, 256];

/// (-cos kX sin kY, sin kX cos kY) in the frame of the box, k = pi / side.
fn exact(point: [f64; 2]) -> [f64; 2] {
    let k = std::f64::consts::PI / SIDE;
    let rotation = square_rotation();
    let [x, y] = rotation.apply_inverse(sub(point, centre())).map(|c| k * c);
    rotation.apply([-x.cos() * y.sin(), x.sin() * y.cos()])
}

/// ½ grad (sin(2x + 1) cos 3y).
fn gradient([x, y]: [f64; 2]) -> [f64; 2] {
    let (sin, cos) = (2.0 * x + 1.0).sin_cos();
    [cos * (3.0 * y).cos(), -1.5 * sin * (3.0 * y).sin()]
}

fn case(cells: usize, weights: Weights) -> Case<2> {
    let container = rotated_container(square_rotation());
    let grid = Grid { origin: [0.0; 2], dx: 1.0 / cells as f64, cells: [cells; 2] };
    match weights {
        Weights::Voxel => Case::with_open(cells, |axis, cell| {
            let upper = cell.map(|c| c as i64);
            let mut lower = upper;
            lower[axis] -= 1;
            let inside = |cell| container.signed_distance(grid.cell_centre(cell)) < 0.0;
            if inside(upper) && inside(lower) { 1.0 } else { 0.0 }
        }),
        Weights::Volume => Case::with_open(cells, |axis, cell| {
            let mut staggered = grid;
            staggered.origin[axis] -= 0.5 * grid.dx;
            let distance = |node| -container.signed_distance(staggered.node(node));
            grid_cell_open_fraction(cell.map(|c| c as i64), distance)
        }),
        Weights::Area => Case::in_container(cells, &container),
    }
}

/// The errors in L1, L2 and Linf.
fn errors(cells: usize, weights: Weights) -> [f64; 3] {
    let container = rotated_container(square_rotation());
    let mut case = case(cells, weights);
    let grid = case.grid;
    let centre_of = |axis, cell: [usize; 2]| grid.face_centre(axis, cell.map(|c| c as i64));
    case.set_velocity(|axis, cell| {
        let point = centre_of(axis, cell);
        exact(point)[axis] + gradient(point)[axis]
    });
    let info = case.project(&tight_params()).expect("the projection converges");
    assert_eq!(info.solve.sealed.len(), 1);
    assert!(info.solve.sealed[0].imbalance < 1e-14, "{:?}", info.solve.sealed);

    let errors: Vec<f64> = (case.valid_velocities().into_iter())
        .map(|(axis, cell, u)| (axis, centre_of(axis, cell), u))
        .filter(|&(_, point, _)| container.signed_distance(point) < 0.0)
        .map(|(axis, point, u)| (u - exact(point)[axis]).abs())
        .collect();
    let count = errors.len() as f64;
    [
        errors.iter().sum::<f64>() / count,
        (errors.iter().map(|e| e * e).sum::<f64>() / count).sqrt(),
        errors.iter().fold(0.0, |max: f64, &e| max.max(e)),
    ]
}

/// The slope of -log2(error) over refinements, by least squares.
fn order(errors: [f64; 4]) -> f64 {
    let [a, b, c, d] = errors.map(|e| -e.log2());
    (1.5 * (d - a) + 0.5 * (c - b)) / 5.0
}

fn check(weights: Weights, reference: Reference) {
    let all = CELLS.map(|cells| errors(cells, weights));
    for (norm, (wanted, tolerance)) in reference.orders.into_iter().zip([0.15, 0.15, 0.25]).enumerate() {
        let order = order(all.map(|errors| errors[norm]));
        assert!((order - wanted).abs() < tolerance, "norm {norm}: order {order}, {all:?}");
    }
    let mean_error = all[3][0];
    assert!((mean_error / reference.mean_error - 1.0).abs() < 0.03, "{mean_error:e}");
}

/// Measured orders 0.95, 0.53, -0.05.
#[test]
fn a_voxel_box_is_of_first_order_in_the_mean() {
    check(Weights::Voxel, Reference { orders: [0.95, 0.5, 0.0], mean_error: 3.8e-3 });
}

/// Measured orders 1.09, 0.60, 0.03: the error at the walls stays.
#[test]
fn volume_weights_do_not_converge_at_the_wall() {
    check(Weights::Volume, Reference { orders: [1.0, 0.5, 0.0], mean_error: 2.3e-4 });
}

/// Measured orders 1.92, 1.49, 0.80. The maximum sits on a few slivers at the walls and moves from grid
/// to grid (pairwise orders 0.4, 1.1, 0.8), hence the wider tolerance in Linf.
#[test]
fn area_fractions_converge_in_every_norm() {
    check(Weights::Area, Reference { orders: [1.9, 1.5, 1.0], mean_error: 1.8e-5 });
}

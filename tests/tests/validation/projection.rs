//! The projection with moving solids, in sealed containers, on f32 fields, and with bad input.

use std::sync::Arc;

use meniscus_core::grid::{Blocks, FaceField, Field, Grid};
use meniscus_core::shape::Rotation;
use meniscus_linalg::SolveError;
use meniscus_liquid::projection::{
    Liquid, ProjectionError, ProjectionParams, Workspace, max_divergence, project,
};
use meniscus_tests::{
    Case, all_cells, cube_rotation, noise, rotated_container, square_rotation, tight_params,
};

const CELLS: usize = 32;
const WALLS: [usize; 2] = [8, 24];

/// A square of 16² whole cells, closed all round.
fn closed_box() -> Case<2> {
    let inside = |c: usize| (WALLS[0]..WALLS[1]).contains(&c);
    Case::with_open(CELLS, |axis, cell| {
        let across = cell[axis] > WALLS[0] && cell[axis] < WALLS[1];
        if across && inside(cell[1 - axis]) { 1.0 } else { 0.0 }
    })
}

/// Moves the left wall of the closed box, and the right one too where `both`, to the right at speed 1.
fn piston(both: bool) -> impl Fn(usize, [usize; 2]) -> f64 + Sync {
    move |axis, cell| {
        let moves = axis == 0 && (cell[0] == WALLS[0] || both && cell[0] == WALLS[1]);
        if moves { 1.0 } else { 0.0 }
    }
}

#[test]
fn a_piston_pushes_a_plug_of_liquid() {
    let mut case = closed_box();
    let info = case.project_moving(&tight_params(), Some(&piston(true))).expect("converges");
    assert_eq!(info.unknowns, 256);
    assert_eq!(info.solve.sealed.len(), 1);
    assert!(info.solve.sealed[0].imbalance < 1e-15, "{:?}", info.solve.sealed);
    for (axis, cell, u) in case.valid_velocities() {
        let plug = if axis == 0 { 1.0 } else { 0.0 };
        assert!((u - plug).abs() < 1e-11, "{u} at {cell:?} along {axis}");
    }
}

/// 16 cells gain a flux of 1 each: the mean over the 256 cells has the norm 1, the right-hand side 4.
#[test]
fn a_piston_without_outlet_is_reported_and_its_flux_shared() {
    let mut case = closed_box();
    let moving = piston(false);
    let info = case.project_moving(&tight_params(), Some(&moving)).expect("converges");
    let [sealed] = &info.solve.sealed[..] else { panic!("{:?}", info.solve.sealed) };
    assert_eq!(sealed.unknowns, 256);
    assert!((sealed.imbalance - 0.25).abs() < 1e-14, "{}", sealed.imbalance);
    let moving = case.on_faces(&moving);
    let liquid = Liquid { solid_velocity: Some(&moving), ..case.liquid() };
    let divergence = max_divergence(&liquid, &case.velocity).expect("a valid case") * case.grid.dx;
    assert!((divergence - 16.0 / 256.0).abs() < 1e-11, "{divergence}");
}

#[test]
fn a_piston_under_a_free_surface_lifts_it() {
    let mut case = closed_box();
    case.set_level_set(|point| point[1] - 0.53);
    let moving = piston(false);
    let info = case.project_moving(&tight_params(), Some(&moving)).expect("converges");
    assert!(info.solve.sealed.is_empty());
    let moving = case.on_faces(&moving);
    let liquid = Liquid { solid_velocity: Some(&moving), ..case.liquid() };
    assert!(max_divergence(&liquid, &case.velocity).expect("a valid case") < 1e-11 / case.grid.dx);
    let (top, rows) = (17, 9.0);
    let lifted: f64 = (WALLS[0]..WALLS[1]).map(|x| case.velocity.get(1, [x as i64, top])).sum();
    assert!((lifted - rows).abs() < 1e-10, "{lifted}");
}

/// The closed part of every cut face moves with the container, and the liquid with it: both parts carry
/// the same flux, and a constant velocity is a gradient.
fn carry<const D: usize>(cells: usize, rotation: Rotation<D>) {
    let velocity = |axis: usize| [0.3, -0.7, 0.5][axis];
    let mut case = Case::in_container(cells, &rotated_container(rotation));
    let solid = |axis: usize, _| velocity(axis);
    let info = case.project_moving(&tight_params(), Some(&solid)).expect("converges");
    assert_eq!(info.solve.sealed.len(), 1);
    assert!(info.solve.sealed[0].imbalance < 1e-14, "{:?}", info.solve.sealed);
    for (axis, cell, u) in case.valid_velocities() {
        assert!((u - velocity(axis)).abs() < 1e-10, "{u} at {cell:?} along {axis}");
    }
}

#[test]
fn a_moving_container_carries_its_liquid() {
    carry(64, square_rotation());
    carry(24, cube_rotation());
}

#[test]
fn the_pressure_of_a_sealed_box_has_no_mean() {
    let mut case = Case::in_container(48, &rotated_container(square_rotation()));
    case.set_velocity(noise);
    let info = case.project(&tight_params()).expect("converges");
    let [sealed] = &info.solve.sealed[..] else { panic!("{:?}", info.solve.sealed) };
    assert_eq!(sealed.unknowns, info.unknowns);
    assert!(sealed.imbalance < 1e-14, "{}", sealed.imbalance);
    assert!(case.max_divergence() * case.grid.dx < 1e-10);
    let sum: f64 = case.pressure.values().iter().sum();
    let largest = case.pressure.values().iter().fold(0.0, |max: f64, p| max.max(p.abs()));
    assert!(sum.abs() < 1e-10 * largest * info.unknowns as f64, "{sum} of {largest}");
}

#[test]
fn a_good_guess_saves_the_work() {
    let mut case = Case::in_container(48, &rotated_container(square_rotation()));
    case.set_level_set(|point| point[1] - 0.537);
    case.set_velocity(noise);
    let params = ProjectionParams::new(0.01);
    let cold = case.project(&params).expect("converges");
    case.set_velocity(noise);
    let warm = case.project(&params).expect("converges");
    assert!(cold.solve.iterations > 3 && warm.solve.iterations == 0, "{:?}", warm.solve.history);
}

/// The stored fields are rounded to f32, the arithmetic is not: the velocities agree to the roundings
/// of f32, 6e-8, amplified by up to 1 / theta_min = 100 at the surface.
#[test]
fn f32_fields_give_the_same_velocities() {
    let mut case = Case::in_container(48, &rotated_container(square_rotation()));
    case.set_level_set(|point| point[1] + 0.2 * point[0] - 0.637);
    case.set_velocity(noise);
    let level_set = Field::from_fn(case.blocks.clone(), 1.0, |c| to_f32(&case.level_set, c));
    let open = FaceField::from_fn(case.blocks.clone(), 0.0, |axis, c| to_f32(&case.open.axes[axis], c));
    let mut velocity =
        FaceField::from_fn(case.blocks.clone(), 0.0, |axis, c| to_f32(&case.velocity.axes[axis], c));
    let params = tight_params();
    case.project(&params).expect("converges");
    let liquid = Liquid {
        grid: &case.grid,
        level_set: &level_set,
        open: &open,
        solid_velocity: None,
        bubbles: None,
        divergence: None,
        bodies: &[],
        touching: None,
        tiles: None,
        second_density_ratio: None,
        separates: None,
        surface_pressure: None,
        weight_outside: [0.0; 2],
    };
    let mut pressure = Field::new(case.blocks.clone(), 0.0);
    project(&liquid, &mut velocity, &mut pressure, &params, &mut Workspace::default()).expect("converges");
    for (axis, cell, u) in case.valid_velocities() {
        let stored = f64::from(velocity.get(axis, cell.map(|c| c as i64)));
        assert!((stored - u).abs() < 1e-4, "{stored} and {u} at {cell:?} along {axis}");
    }
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool of threads");
        pool.install(|| {
            let mut case = Case::in_container(24, &rotated_container(cube_rotation()));
            case.set_level_set(|point| point[1] - 0.537);
            case.set_velocity(noise);
            let info = case.project(&ProjectionParams::new(0.01)).expect("converges");
            (case.velocity, case.pressure, info.kinetic_energy)
        })
    };
    assert!(run(1) == run(3));
}

fn to_f32(field: &Field<f64, 2>, cell: [usize; 2]) -> f32 {
    field.get(cell.map(|c| c as i64)) as f32
}

#[test]
fn only_valid_faces_change() {
    let mut case = Case::in_container(48, &rotated_container(square_rotation()));
    case.set_level_set(|point| point[1] - 0.537);
    case.set_velocity(noise);
    case.project(&ProjectionParams::new(0.01)).expect("converges");
    let valid: std::collections::HashSet<_> =
        case.valid_velocities().into_iter().map(|(axis, cell, _)| (axis, cell)).collect();
    for cell in all_cells(case.grid.cells) {
        for axis in 0..2 {
            let kept = case.velocity.get(axis, cell.map(|c| c as i64)) == noise(axis, cell);
            assert_ne!(kept, valid.contains(&(axis, cell)), "{cell:?} along {axis}");
        }
    }
}

#[test]
fn bad_input_is_refused() {
    let mut case = closed_box();
    let bad = ProjectionParams { density: -1.0, ..tight_params() };
    let error = case.project(&bad).unwrap_err();
    assert_eq!(error.to_string(), "density is -1, it must be positive and finite");

    case.open.axes[0].set([10, 10], 1.5);
    let error = case.project(&tight_params()).unwrap_err();
    assert_eq!(error, ProjectionError::BadOpenFraction { axis: 0, cell: vec![10, 10], value: 1.5 });

    let mut case = closed_box();
    case.set_velocity(noise);
    let mut hasty = tight_params();
    hasty.solve.max_iterations = 1;
    let before = case.velocity.clone();
    let error = case.project(&hasty).unwrap_err();
    assert!(matches!(error, ProjectionError::Solve(SolveError::NotConverged { .. })), "{error}");
    assert!(case.velocity == before);

    let mut case = closed_box();
    case.level_set.set([9, 9], f64::NAN);
    let error = case.project(&tight_params()).unwrap_err();
    assert_eq!(error, ProjectionError::BadLevelSet { cell: vec![9, 9] });
}

/// A pool up to the top of the only active block: the face above it is not stored, and must not be
/// taken for a lid.
#[test]
fn a_surface_at_the_end_of_the_blocks_is_refused() {
    let grid = Grid { origin: [0.0; 2], dx: 1.0, cells: [16, 16] };
    let blocks = Arc::new(Blocks::new(grid.cells, |coord| coord[1] == 0));
    let level_set = Field::new(blocks.clone(), -1.0);
    let open = FaceField::new(blocks.clone(), 1.0);
    let liquid = Liquid {
        grid: &grid,
        level_set: &level_set,
        open: &open,
        solid_velocity: None,
        bubbles: None,
        divergence: None,
        bodies: &[],
        touching: None,
        tiles: None,
        second_density_ratio: None,
        separates: None,
        surface_pressure: None,
        weight_outside: [0.0; 2],
    };
    let error = max_divergence(&liquid, &FaceField::new(blocks, 0.0)).unwrap_err();
    assert!(matches!(error, ProjectionError::FaceOutsideBlocks { axis: 1, .. }), "{error}");
}

//! Bubbles in the projection: VALIDATION 2 (release of a bubble) and 6 (identities).

use faer::Mat;
use faer::prelude::Solve;
use meniscus_core::fractions::ghost_fluid_fraction;
use meniscus_core::grid::{FaceField, Field};
use meniscus_core::shape::Rotation;
use meniscus_core::vector::{norm, sub};
use meniscus_liquid::projection::ProjectionParams;
use meniscus_tests::{
    Case, SolidVelocity, all_cells, cube_rotation, noise, rotated_container, square_rotation, tight_params,
};

/// What the saddle-point system says: the velocities of the faces as (axis, cell above, velocity), the pressures of
/// the liquid cells and of the bubbles.
struct Solution<const D: usize> {
    velocity: Vec<(usize, [usize; D], f64)>,
    pressure: Vec<([usize; D], f64)>,
    bubbles: Vec<f64>,
}

/// Solves the indefinite system of velocities, pressures and multipliers (eq. 8 of Goldade 2020) directly, from
/// the definitions of its parts.
fn solve_saddle_point<const D: usize>(
    case: &Case<D>,
    params: &ProjectionParams,
    solid: SolidVelocity<D>,
) -> Solution<D> {
    let bubbles = case.bubbles.as_ref().expect("the case has bubbles");
    let cells = case.grid.cells;
    let dx = case.grid.dx;
    let at = |cell: [usize; D]| cell.map(|c| c as i64);
    let level = |cell: [usize; D]| case.level_set.get(at(cell));
    let inside = |cell: [usize; D]| (0..D).all(|a| cell[a] < cells[a]);
    let open = |axis: usize, cell: [usize; D]| case.open.get(axis, at(cell));
    let up = |mut cell: [usize; D], axis: usize| {
        cell[axis] += 1;
        cell
    };
    let is_liquid = |cell: [usize; D]| {
        inside(cell)
            && level(cell) < 0.0
            && (0..D).any(|axis| open(axis, cell) > 0.0 || open(axis, up(cell, axis)) > 0.0)
    };
    let liquid: Vec<[usize; D]> = all_cells(cells).filter(|&cell| is_liquid(cell)).collect();
    let node_of = |cell: [usize; D]| -> Option<usize> {
        if is_liquid(cell) {
            return liquid.iter().position(|&c| c == cell);
        }
        let bubble = bubbles.of_slot[case.blocks.locate(at(cell))?.flat::<D>()] as usize;
        (bubble < bubbles.growth.len()).then_some(liquid.len() + bubble)
    };
    let nodes = liquid.len() + bubbles.growth.len();

    // Every face between two cells of the domain, as (axis, lower, upper).
    let faces: Vec<(usize, [usize; D], [usize; D])> = (0..D)
        .flat_map(|axis| all_cells(cells).map(move |lower| (axis, lower)))
        .map(|(axis, lower)| (axis, lower, up(lower, axis)))
        .filter(|(_, _, upper)| inside(*upper))
        .collect();
    let carriers: Vec<_> = faces
        .iter()
        .copied()
        .filter(|&(axis, lower, upper)| open(axis, upper) > 0.0 && (is_liquid(lower) || is_liquid(upper)))
        .collect();
    let n = carriers.len();
    let area = dx.powi(D as i32 - 1);
    let mut matrix = Mat::<f64>::zeros(n + nodes, n + nodes);
    let mut rhs = Mat::<f64>::zeros(n + nodes, 1);
    for (k, &(axis, lower, upper)) in carriers.iter().enumerate() {
        let theta = match (is_liquid(lower), is_liquid(upper)) {
            (true, true) => 1.0,
            (true, false) => ghost_fluid_fraction(level(lower), level(upper), params.theta_min),
            _ => ghost_fluid_fraction(level(upper), level(lower), params.theta_min),
        };
        let w = open(axis, upper);
        let mass = params.density * w * theta * dx.powi(D as i32);
        matrix[(k, k)] = mass;
        rhs[(k, 0)] = mass * case.velocity.get(axis, at(upper));
        if let (Some(excess), false) = (&case.surface_pressure, is_liquid(lower) && is_liquid(upper)) {
            // The surface pushes the liquid, in proportion to the area, away from the air.
            let (inner, outer, sign) =
                if is_liquid(lower) { (lower, upper, -1.0) } else { (upper, lower, 1.0) };
            let part = ghost_fluid_fraction(level(inner), level(outer), 0.0);
            let jump = (1.0 - part) * excess.get(at(inner)) + part * excess.get(at(outer));
            rhs[(k, 0)] += sign * params.dt * w * area * jump;
        }
        for (cell, sign) in [(lower, 1.0), (upper, -1.0)] {
            if let Some(node) = node_of(cell) {
                matrix[(k, n + node)] += sign * w * area;
                matrix[(n + node, k)] += sign * w * area;
            }
        }
    }
    for &(axis, lower, upper) in &faces {
        let of_solid = (1.0 - open(axis, upper)) * solid(axis, upper) * area;
        for (cell, sign) in [(lower, 1.0), (upper, -1.0)] {
            if let Some(node) = node_of(cell) {
                rhs[(n + node, 0)] -= sign * of_solid;
            }
        }
    }
    for (bubble, growth) in bubbles.growth.iter().enumerate() {
        rhs[(n + liquid.len() + bubble, 0)] += growth;
    }
    let x = matrix.partial_piv_lu().solve(&rhs);
    let pressure = |node: usize| -x[(n + node, 0)] / params.dt;
    Solution {
        velocity: carriers
            .iter()
            .enumerate()
            .map(|(k, &(axis, _, upper))| (axis, upper, x[(k, 0)]))
            .collect(),
        pressure: liquid.iter().enumerate().map(|(k, &cell)| (cell, pressure(k))).collect(),
        bubbles: (0..bubbles.growth.len()).map(|b| pressure(liquid.len() + b)).collect(),
    }
}

/// A tilted container of liquid under a free surface, with two balls of air in it, moving walls, and bubbles that
/// are to grow and shrink; and, with `tension`, irregular jumps of the pressure on all surfaces.
fn agrees_with_the_saddle_point<const D: usize>(cells: usize, rotation: Rotation<D>, tension: bool) {
    let mut case = Case::in_container(cells, &rotated_container(rotation));
    // A flux through a slit is known to the tolerance of the solve, its velocity to that over the slit's width.
    case.open = FaceField::from_fn(case.blocks.clone(), 0.0, |axis, cell| {
        let open = case.open.get(axis, cell.map(|c| c as i64));
        if open < 1e-3 { 0.0 } else { open }
    });
    let balls = [([0.42; D], 0.085), ([0.58; D], 0.07)];
    let ball = |point: [f64; D], (centre, radius): ([f64; D], f64)| {
        radius - (0..D).map(|a| (point[a] - centre[a]).powi(2)).sum::<f64>().sqrt()
    };
    case.set_level_set(|point| balls.iter().fold(point[1] - 0.73, |level, &b| level.max(ball(point, b))));
    let grid = case.grid;
    case.set_bubbles(vec![0.013, -0.02], |cell| {
        let point = grid.cell_centre(cell.map(|c| c as i64));
        balls.iter().position(|&b| ball(point, b) >= 0.0).map(|b| b as u32)
    });
    case.set_velocity(noise);
    if tension {
        let excess = |cell: [usize; D]| 3e4 * noise(D, cell);
        case.surface_pressure = Some(Field::from_fn(case.blocks.clone(), 0.0, excess));
    }
    // The sides of the domain rest.
    let solid = |axis: usize, cell: [usize; D]| match cell[axis] {
        0 => 0.0,
        c if c == cells => 0.0,
        _ => 0.3 * noise(axis, cell.map(|c| c + 7)),
    };
    let params = tight_params();
    let expected = solve_saddle_point(&case, &params, &solid);
    let info = case.project_moving(&params, Some(&solid)).expect("converges");
    assert!(info.solve.sealed.is_empty(), "{:?}", info.solve.sealed);
    // 12 are what it took.
    assert!(info.solve.iterations <= 14, "{}", info.solve.iterations);

    let found = case.valid_velocities();
    assert_eq!(found.len(), expected.velocity.len());
    for (found, expected) in found.iter().zip(&expected.velocity) {
        assert_eq!((found.0, found.1), (expected.0, expected.1));
        assert!((found.2 - expected.2).abs() < 1e-8, "{found:?} instead of {expected:?}");
    }
    let scale = expected.pressure.iter().fold(0.0, |max: f64, (_, p)| max.max(p.abs()));
    for &(cell, pressure) in &expected.pressure {
        let found = case.pressure.get(cell.map(|c| c as i64));
        assert!((found - pressure).abs() < 1e-8 * scale, "{found} instead of {pressure} at {cell:?}");
    }
    for (found, expected) in info.bubble_pressure.iter().zip(&expected.bubbles) {
        assert!((found - expected).abs() < 1e-8 * scale, "{found} instead of {expected}");
    }
}

#[test]
fn the_projection_solves_the_saddle_point_system() {
    for tension in [false, true] {
        agrees_with_the_saddle_point(20, square_rotation(), tension);
        agrees_with_the_saddle_point(10, cube_rotation(), tension);
    }
}

/// A box of liquid, with or without a free top, around a ball of air that is let go: the acceleration of the ball
/// in terms of g, and its pressure in terms of rho g L.
fn release<const D: usize>(cells: usize, diameter: f64, free_top: bool) -> (f64, f64) {
    const G: f64 = 9.81;
    let rows = if free_top { cells + 4 } else { cells };
    let radius = 0.5 * diameter;
    let mut case = Case::<D>::with_open(rows, |_, cell| {
        // The box is as wide as it is deep, whatever stands above it.
        f64::from(u8::from((0..D).all(|a| a == 1 || cell[a] < cells)))
    });
    let scale = rows as f64 / cells as f64;
    let closed = |axis: usize, cell: [usize; D]| axis != 1 && cell[axis] == cells;
    let open = case.open.clone();
    case.open = FaceField::from_fn(case.blocks.clone(), 0.0, |axis, cell| {
        if closed(axis, cell) { 0.0 } else { open.get(axis, cell.map(|c| c as i64)) }
    });
    let ball = |point: [f64; D]| {
        let distance = (0..D).map(|a| (point[a] * scale - 0.5).powi(2)).sum::<f64>().sqrt();
        radius - distance
    };
    let surface = |point: [f64; D]| if free_top { point[1] * scale - 1.0 } else { -1.0 };
    case.set_level_set(|point| surface(point).max(ball(point)));
    let grid = case.grid;
    if free_top {
        case.set_bubbles(vec![0.0], |cell| {
            (ball(grid.cell_centre(cell.map(|c| c as i64))) >= 0.0).then_some(0)
        });
    }
    let params = tight_params();
    case.set_velocity(|axis, _| if axis == 1 { -G * params.dt } else { 0.0 });
    let info = case.project(&params).expect("converges");

    // What the ball gains in upward flow, the liquid loses: the whole flow through a level is nought.
    let centre = |cell: [usize; D]| case.level_set.get(cell.map(|c| c as i64));
    let flow: f64 = case
        .valid_velocities()
        .iter()
        .filter(|(axis, _, _)| *axis == 1)
        .map(|&(_, cell, u)| {
            let mut below = cell;
            below[1] -= 1;
            let (lower, upper) = (centre(below), centre(cell));
            let theta = match (lower < 0.0, upper < 0.0) {
                (true, true) => 1.0,
                (true, false) => lower / (lower - upper),
                _ => upper / (upper - lower),
            };
            theta * u
        })
        .sum();
    let ball_volume = if D == 2 {
        std::f64::consts::PI * radius * radius
    } else {
        4.0 / 3.0 * std::f64::consts::PI * radius.powi(3)
    };
    let acceleration = -flow / (cells as f64).powi(D as i32) / ball_volume / params.dt / G;
    let pressure = info.bubble_pressure.first().copied().unwrap_or(0.0);
    // Lengths of the case are in units of its own box.
    (acceleration, pressure * scale / (params.density * G))
}

/// VALIDATION 2: the acceleration of a bubble released in the middle of a box, 1/C for the added mass C, and its
/// pressure. The error falls with the square of the cells across the bubble: 2.7 % for 8, 0.8 % for 16, 0.3 % for 32; in space 0.9 % for 16 and 0.2 % for 24.
#[test]
fn a_bubble_starts_to_rise_as_its_added_mass_says() {
    let check = |what: &str, found: f64, expected: f64, tolerance: f64| {
        assert!((found / expected - 1.0).abs() < tolerance, "{what}: {found} instead of {expected}");
    };
    for (cells, diameter, expected) in [(256, 0.125, 0.97350), (128, 0.25, 0.89805), (64, 0.5, 0.64639)] {
        check("closed square", release::<2>(cells, diameter, false).0, expected, 0.005);
    }
    let free =
        [(256, 0.125, 0.97462, None), (128, 0.25, 0.90222, Some(0.45296)), (64, 0.5, 0.65933, Some(0.33556))];
    for (cells, diameter, expected, expected_pressure) in free {
        let (found, pressure) = release::<2>(cells, diameter, true);
        check("square with a free top", found, expected, 0.005);
        if let Some(expected) = expected_pressure {
            check("pressure", pressure, expected, 0.0005);
        }
    }
    for (cells, diameter, closed, free, tolerance) in
        [(64, 0.25, 1.0 / 0.51433, 1.0 / 0.51336, 0.01), (48, 0.5, 1.0 / 0.6228, 1.0 / 0.6140, 0.005)]
    {
        check("closed cube", release::<3>(cells, diameter, false).0, closed, tolerance);
        check("cube with a free top", release::<3>(cells, diameter, true).0, free, tolerance);
    }
    let error = |cells| (release::<2>(cells, 0.125, true).0 / 0.97462 - 1.0).abs();
    let [coarse, fine] = [64, 128].map(error);
    assert!(coarse / fine > 2.8, "errors {coarse} and {fine} are not of second order");
}

/// VALIDATION 6: a piston pushes a slug of liquid through the air between them, against a gravity that points along
/// the tube. The slug moves as fast as the piston, and the air's pressure is what accelerates and holds it.
#[test]
fn a_piston_pushes_liquid_that_it_does_not_touch() {
    const CELLS: usize = 32;
    const G: f64 = 9.81;
    let mut case = Case::<2>::with_open(CELLS, |axis, cell| {
        let in_tube = (12..20).contains(&cell[1]);
        // Closed by the piston at 8, and open at the end.
        let within = if axis == 0 { cell[0] > 8 && in_tube } else { cell[0] >= 8 && in_tube && cell[1] > 12 };
        f64::from(u8::from(within))
    });
    let (from, to) = (0.383, 0.618);
    case.set_level_set(|point| (from - point[0]).max(point[0] - to));
    case.set_bubbles(vec![0.0], |cell| {
        ((8..16).contains(&cell[0]) && (12..20).contains(&cell[1])).then_some(0)
    });
    let params = ProjectionParams { theta_min: 0.0, ..tight_params() };
    case.set_velocity(|axis, _| if axis == 0 { -G * params.dt } else { 0.0 });
    let speed = 0.7;
    let piston = move |axis: usize, cell: [usize; 2]| if axis == 0 && cell[0] == 8 { speed } else { 0.0 };
    let info = case.project_moving(&params, Some(&piston)).expect("converges");
    for (axis, cell, u) in case.valid_velocities() {
        let expected = if axis == 0 { speed } else { 0.0 };
        assert!((u - expected).abs() < 1e-9, "{u} at {cell:?} along {axis}");
    }
    let expected = params.density * (to - from) * (G + speed / params.dt);
    assert!((info.bubble_pressure[0] / expected - 1.0).abs() < 1e-9, "{:?} {expected}", info.bubble_pressure);
}

/// VALIDATION 6: n bubbles in a sealed volume have n - 1 constraints; whichever is left out, the flow is the same,
/// and with one bubble that of a free surface.
#[test]
fn it_does_not_matter_whose_constraint_is_left_out() {
    let balls = [([0.35, 0.4], 0.08), ([0.6, 0.35], 0.07), ([0.5, 0.65], 0.1)];
    let ball = |point: [f64; 2], (centre, radius): ([f64; 2], f64)| {
        radius - (0..2).map(|a| (point[a] - centre[a]).powi(2)).sum::<f64>().sqrt()
    };
    let flow = |balls: &[([f64; 2], f64)], left_out: Option<usize>| {
        let mut case = Case::in_container(48, &rotated_container(square_rotation()));
        case.set_level_set(|point| balls.iter().map(|&b| ball(point, b)).fold(-1.0, f64::max));
        case.set_velocity(noise);
        let kept: Vec<usize> = (0..balls.len()).filter(|&b| Some(b) != left_out).collect();
        let grid = case.grid;
        case.set_bubbles(vec![0.0; kept.len()], |cell| {
            let point = grid.cell_centre(cell.map(|c| c as i64));
            kept.iter().position(|&b| ball(point, balls[b]) >= 0.0).map(|b| b as u32)
        });
        let info = case.project(&tight_params()).expect("converges");
        assert_eq!(info.solve.sealed.len(), usize::from(left_out.is_none()));
        case.valid_velocities()
    };
    let same = |a: &[(usize, [usize; 2], f64)], b: &[(usize, [usize; 2], f64)]| {
        assert_eq!(a.len(), b.len());
        for (a, b) in a.iter().zip(b) {
            assert!((a.2 - b.2).abs() < 1e-8, "{a:?} {b:?}");
        }
    };
    let all = flow(&balls, None);
    for left_out in 0..3 {
        same(&all, &flow(&balls, Some(left_out)));
    }
    same(&flow(&balls[2..], None), &flow(&balls[2..], Some(0)));
}

/// 648 bubbles of different sizes under a free surface at 128³, in a flow of noise, from a guess of nothing, to 1e-5: 10
/// iterations.
#[test]
fn hundreds_of_bubbles_take_few_iterations() {
    const ACROSS: usize = 9;
    const LAYERS: usize = 8;
    let pocket = |point: [f64; 3]| point.map(|x| (x * ACROSS as f64) as usize);
    let ball = |point: [f64; 3]| {
        let [i, j, k] = pocket(point);
        let radius = (0.2 + 0.01 * ((7 * i + 11 * j + 13 * k) % 16) as f64) / ACROSS as f64;
        let centre = [i, j, k].map(|c| (c as f64 + 0.5) / ACROSS as f64);
        if j < LAYERS { radius - norm(sub(point, centre)) } else { -1.0 }
    };
    let mut case = Case::<3>::with_open(128, |_, _| 1.0);
    case.set_level_set(|point| (point[1] - 0.92).max(ball(point)));
    let grid = case.grid;
    case.set_bubbles(vec![0.0; ACROSS * LAYERS * ACROSS], |cell| {
        let point = grid.cell_centre(cell.map(|c| c as i64));
        let [i, j, k] = pocket(point);
        (ball(point) >= 0.0).then_some((i + ACROSS * (j + LAYERS * k)) as u32)
    });
    case.set_velocity(|axis, cell| 0.1 * noise(axis, cell) - if axis == 1 { 0.05 } else { 0.0 });
    let info = case.project(&ProjectionParams::new(0.005)).expect("converges");
    assert_eq!(info.bubble_pressure.len(), 648);
    assert!(info.bubble_pressure.iter().all(|p| p.abs() > 0.0));
    assert!(info.solve.iterations <= 12, "{} iterations", info.solve.iterations);
}

//! Affine regions in the projection (Goldade 2020, section 5): its identities, and VALIDATION 2 (drops).

use std::path::Path;

use faer::Mat;
use faer::prelude::Solve;
use meniscus::Scene;
use meniscus_core::vector::{norm, sub};
use meniscus_tests::{Case, Simulation, all_cells, noise, rotated_container, square_rotation, tight_params};

use crate::two_phase::wet;

/// The rows of the degrees of freedom of an affine field of no divergence: the velocity across `axis` at `r`.
fn row<const D: usize>(axis: usize, r: [f64; D]) -> Vec<f64> {
    let mut row = vec![0.0; D + D * D - 1];
    row[axis] = 1.0;
    for b in 0..D {
        match (axis, b) {
            (a, b) if (a, b) == (D - 1, D - 1) => (0..D - 1).for_each(|c| row[D + c * D + c] -= r[b]),
            (a, b) => row[D + a * D + b] += r[b],
        }
    }
    row
}

/// A face's velocity as a combination of unknowns, those of itself or of a region.
type Combination = Vec<(usize, f64)>;

/// A face: its axis, its two cells, its mass, and its velocity.
type Face<const D: usize> = (usize, [usize; D], [usize; D], f64, Combination);

/// The velocities of the minimum of appendix A, by (axis, cell above), from its conditions solved directly. The pressure of the first node is held
/// at 0 if the domain is sealed.
fn solve_directly<const D: usize>(case: &Case<D>, sealed: bool) -> Vec<(usize, [usize; D], f64)> {
    let cells = case.grid.cells;
    let at = |cell: [usize; D]| cell.map(|c| c as i64);
    let regions = case.regions.as_ref().expect("there are regions");
    let region = |cell: [usize; D]| {
        let slot = case.blocks.locate(at(cell)).expect("a cell of the domain");
        Some(regions.of_slot[slot.flat::<D>()]).filter(|&r| (r as usize) < regions.count)
    };
    let is_liquid = |cell: [usize; D]| case.level_set.get(at(cell)) < 0.0;
    let second = case.second_density_ratio;
    let density = |cell: [usize; D]| if is_liquid(cell) { 1.0 } else { second.unwrap_or(0.0) };
    let k = D + D * D - 1;
    let mut faces: Vec<Face<D>> = Vec::new();
    let mut unknowns = regions.count * k;
    for (axis, lower) in (0..D).flat_map(|axis| all_cells(cells).map(move |cell| (axis, cell))) {
        let mut upper = lower;
        upper[axis] += 1;
        if upper[axis] == cells[axis] || case.open.get(axis, at(upper)) == 0.0 {
            continue;
        }
        let open = case.open.get(axis, at(upper));
        let (a, b) = (case.level_set.get(at(lower)), case.level_set.get(at(upper)));
        let mass = match (a < 0.0, b < 0.0) {
            (false, false) if second.is_none() => continue,
            (x, y) if x == y => density(lower),
            (true, _) => a / (a - b) + (1.0 - a / (a - b)) * second.unwrap_or(0.0),
            (false, _) => b / (b - a) + (1.0 - b / (b - a)) * second.unwrap_or(0.0),
        };
        let combination = match region(lower).or(region(upper)) {
            Some(region) => {
                let mut r: [f64; D] = std::array::from_fn(|c| upper[c] as f64 + 0.5);
                r[axis] -= 0.5;
                let first = region as usize * k;
                row(axis, r).into_iter().enumerate().map(|(i, c)| (first + i, c)).collect()
            }
            None => {
                unknowns += 1;
                vec![(unknowns - 1, 1.0)]
            }
        };
        faces.push((axis, lower, upper, open * mass, combination));
    }
    let is_node = |cell: [usize; D]| {
        (is_liquid(cell) || second.is_some())
            && region(cell).is_none()
            && faces.iter().any(|face| face.1 == cell || face.2 == cell)
    };
    let nodes: Vec<[usize; D]> =
        all_cells(cells).filter(|&cell| is_node(cell)).skip(usize::from(sealed)).collect();
    let n = unknowns;
    let mut matrix = Mat::<f64>::zeros(n + nodes.len(), n + nodes.len());
    let mut rhs = Mat::<f64>::zeros(n + nodes.len(), 1);
    for (axis, lower, upper, mass, combination) in &faces {
        let wanted = case.velocity.get(*axis, at(*upper));
        for &(i, c) in combination {
            rhs[(i, 0)] += mass * c * wanted;
            for &(j, d) in combination {
                matrix[(i, j)] += mass * c * d;
            }
            for (cell, sign) in [(lower, 1.0), (upper, -1.0)] {
                if let Some(node) = nodes.iter().position(|c| c == cell) {
                    let weight = sign * case.open.get(*axis, at(*upper)) * c;
                    matrix[(i, n + node)] += weight;
                    matrix[(n + node, i)] += weight;
                }
            }
        }
    }
    let x = matrix.partial_piv_lu().solve(&rhs);
    let value = |combination: &Combination| combination.iter().map(|&(i, c)| c * x[(i, 0)]).sum();
    faces.iter().map(|(axis, _, upper, _, combination)| (*axis, *upper, value(combination))).collect()
}

fn agrees_with_the_minimum<const D: usize>(mut case: Case<D>, sealed: bool) {
    let expected = solve_directly(&case, sealed);
    let params = tight_params();
    let info = case.project(&params).expect("converges");
    let scale = expected.iter().fold(0.0, |most: f64, face| most.max(face.2.abs()));
    for (axis, cell, u) in expected {
        let found = case.velocity.get(axis, cell.map(|c| c as i64));
        assert!((found - u).abs() < 1e-7 * scale, "{found} instead of {u} at {cell:?} along {axis}");
    }
    let energy = info.kinetic_energy;
    assert!((energy.before - energy.after - energy.change).abs() < 1e-7 * energy.before, "{energy:?}");
}

/// A rotated container with a free surface and two regions of irregular shape in it, one L-shaped; two fluids with a region in
/// each; and a region in space.
#[test]
fn the_reduced_system_solves_the_variational_problem() {
    let mut free = Case::<2>::in_container(20, &rotated_container(square_rotation()));
    free.set_level_set(|[_, y]| y - 0.71);
    free.set_velocity(noise);
    free.set_regions(|[x, y]| {
        let is_first =
            (6..9).contains(&x) && (7..12).contains(&y) || (6..12).contains(&x) && (7..9).contains(&y);
        let is_second = (10..13).contains(&x) && (10..13).contains(&y);
        if is_first { Some(0) } else { is_second.then_some(1) }
    });
    agrees_with_the_minimum(free, false);

    let mut two = Case::<2>::with_open(18, |_, _| 1.0);
    two.set_level_set(|p| norm(sub(p, [0.45, 0.52])) - 0.3);
    two.second_density_ratio = Some(0.1);
    two.set_velocity(noise);
    two.set_regions(|[x, y]| match (x, y) {
        (7..10, 8..12) => Some(0),
        (14..17, 3..15) => Some(1),
        _ => None,
    });
    agrees_with_the_minimum(two, true);

    let mut space = Case::<3>::with_open(7, |_, _| 1.0);
    space.set_level_set(|[_, y, _]| y - 0.93);
    space.set_velocity(noise);
    space
        .set_regions(|cell| (0..3).all(|a| (2..5).contains(&cell[a]) || a == 0 && cell[0] == 1).then_some(0));
    agrees_with_the_minimum(space, false);
}

/// A flow that is affine everywhere, between walls that move with it, is left alone, and the fit finds it again.
#[test]
fn an_affine_flow_comes_back_exactly() {
    let mut case = Case::<3>::with_open(12, |_, _| 1.0);
    let flow = |axis: usize, r: [f64; 3]| {
        [[0.3, 0.7, -0.4, 0.9], [-0.2, 0.5, 0.8, -0.6], [0.6, 0.1, 0.3, -1.5]][axis]
            .iter()
            .zip([1.0, r[0], r[1], r[2]])
            .map(|(c, x)| c * x)
            .sum::<f64>()
    };
    let grid = case.grid;
    let at = move |axis: usize, cell: [usize; 3]| flow(axis, grid.face_centre(axis, cell.map(|c| c as i64)));
    case.set_velocity(at);
    case.set_regions(|cell| cell.iter().all(|c| (3..9).contains(c)).then_some(0));
    case.project_moving(&tight_params(), Some(&at)).expect("converges");
    for (axis, cell, u) in case.valid_velocities() {
        assert!((u - at(axis, cell)).abs() < 1e-9, "{u} at {cell:?} along {axis}");
    }
}

/// Whatever the tentative velocities, there is no divergence inside of regions, to rounding.
#[test]
fn there_is_no_divergence_inside_of_regions() {
    let mut case = Case::<3>::with_open(16, |_, _| 1.0);
    case.set_level_set(|[_, y, _]| y - 0.9);
    case.set_velocity(noise);
    let is_inside = |cell: [usize; 3]| (0..3).all(|a| (3..10).contains(&cell[a]));
    case.set_regions(|cell| is_inside(cell).then_some(0));
    case.project(&tight_params()).expect("converges");
    for cell in all_cells([16; 3]).filter(|&cell| is_inside(cell)) {
        let flux = |axis: usize| {
            let (lower, mut upper) = (cell.map(|c| c as i64), cell.map(|c| c as i64));
            upper[axis] += 1;
            case.velocity.get(axis, upper) - case.velocity.get(axis, lower)
        };
        let divergence: f64 = (0..3).map(flux).sum();
        assert!(divergence.abs() < 1e-14, "{divergence} in {cell:?}");
    }
}

/// The acceleration of a drop, in terms of g, in the middle of a closed box; regions fill what is `band` cells from the surface in the drop, and outside of it
/// in tiles.
fn release(cells: usize, diameter: f64, ratio: f64, band: [f64; 2], tile: Option<usize>) -> f64 {
    const G: f64 = 9.81;
    let mut case = Case::<2>::with_open(cells, |_, _| 1.0);
    let level = move |point: [f64; 2]| norm(sub(point, [0.5; 2])) - 0.5 * diameter;
    case.set_level_set(level);
    case.second_density_ratio = Some(1.0 / ratio);
    let grid = case.grid;
    case.set_regions(|cell| {
        let depth = level(grid.cell_centre(cell.map(|c| c as i64))) * cells as f64;
        if depth < -band[0] {
            return Some(0);
        }
        let tile = tile?;
        let is_wall = cell.iter().any(|&c| c % tile == 0 || c < 2 || c + 2 >= cells);
        (!is_wall && depth > band[1])
            .then(|| 1 + (cell[0] / tile + cell[1] / tile * (cells / tile + 1)) as u32)
    });
    drop_thin_regions(&mut case);
    let params = tight_params();
    case.set_velocity(|axis, _| if axis == 1 { -G * params.dt } else { 0.0 });
    let info = case.project(&params).expect("converges");
    // 14 are what it took.
    assert!(info.solve.iterations <= 16, "{:?}", info.solve);
    let (mut momentum, mut volume) = (0.0, 0.0);
    for (_, cell, u) in case.valid_velocities().into_iter().filter(|(axis, _, _)| *axis == 1) {
        let mut below = cell;
        below[1] -= 1;
        let [lower, upper] = [below, cell].map(|c| case.level_set.get(c.map(|c| c as i64)));
        momentum += wet(lower, upper) * u;
        volume += wet(lower, upper);
    }
    momentum / volume / params.dt / G
}

/// Takes away the regions that are not two cells wide, and numbers the others.
fn drop_thin_regions(case: &mut Case<2>) {
    let regions = case.regions.as_mut().expect("there are regions");
    let mut bounds = vec![([usize::MAX; 2], [0; 2]); regions.count];
    let of = |cell: [usize; 2], of_slot: &[u32]| {
        of_slot[case.blocks.locate(cell.map(|c| c as i64)).expect("inside").flat::<2>()] as usize
    };
    for cell in all_cells(case.grid.cells) {
        let region = of(cell, &regions.of_slot);
        if region < regions.count {
            for a in 0..2 {
                bounds[region].0[a] = bounds[region].0[a].min(cell[a]);
                bounds[region].1[a] = bounds[region].1[a].max(cell[a]);
            }
        }
    }
    let mut number = 0;
    let numbers: Vec<u32> = bounds
        .iter()
        .map(|(low, high)| {
            if (0..2).all(|a| high[a] > low[a].saturating_add(1)) {
                number += 1;
                number - 1
            } else {
                meniscus_liquid::projection::NO_TILE
            }
        })
        .collect();
    for region in regions.of_slot.iter_mut().filter(|region| (**region as usize) < numbers.len()) {
        *region = numbers[*region as usize];
    }
    regions.count = number as usize;
}

/// The same values as for two fluids of cells alone, with one region in the drop (band of 3); and with tiles in both fluids (bands of 6), which leave 8 cells for the flow
/// between the drop and the walls and make it 1 to 1.3 % slower.
#[test]
fn drops_of_affine_regions_rise_and_sink_as_others() {
    for ratio in [0.1, 0.9, 1.1, 10.0] {
        for (band, tile, tolerance) in [([3.0, 0.0], None, 0.02), ([6.0, 6.0], Some(16), 0.03)] {
            let found = release(64, 0.5, ratio, band, tile);
            let expected = (1.0 - ratio) / (ratio + 1.54751);
            assert!(
                (found / expected - 1.0).abs() < tolerance,
                "{found} instead of {expected} at {ratio}, {tile:?}"
            );
        }
    }
    for (band, tile) in [([3.0, 0.0], None), ([6.0, 6.0], Some(16))] {
        assert!(release(64, 0.5, 1.0, band, tile).abs() < 1e-9);
    }
}

/// What a bubble and a body have done in a deep pool with surface tension after a quarter of a second: the height of both centres, and the volume of the bubble.
fn bubble_and_body(regions: &str, solid_band: u32) -> [f64; 3] {
    let text = format!(
        r#"
        [domain]
        size = [1.0, 1.0]
        cells = 128
        [time]
        frames = 12
        fps = 48.0
        [air]
        model = "bubbles"
        [[liquid]]
        shape = {{ difference = [
            {{ box = {{ from = [0.0, 0.0], to = [1.0, 0.85] }} }},
            {{ sphere = {{ centre = [0.3, 0.3], radius = 0.1 }} }},
        ] }}
        surface_tension = 5.0
        [[body]]
        shape = {{ sphere = {{ centre = [0.72, 0.6], radius = 0.08 }} }}
        density = 3000.0
        [regions]
        model = "{regions}"
        solid_band = {solid_band}
        "#
    );
    let scene = Scene::parse("pool.toml", &text, Path::new(""), &[]).expect("a scene");
    let mut simulation = Simulation::<2>::new(&scene);
    let mut iterations = 0;
    for _ in 0..12 {
        let substeps = simulation.advance_frame().expect("a step");
        iterations = substeps.iter().map(|s| s.solve.iterations).fold(iterations, usize::max);
    }
    // 8 are what they took.
    assert!(iterations <= 10, "{iterations} iterations with {regions}");
    let state = simulation.state();
    let submerged = state.bubbles().filter(|bubble| bubble.centroid[1] < 0.8);
    let bubble = submerged.max_by(|a, b| a.volume.total_cmp(&b.volume)).expect("a bubble");
    [bubble.centroid[1], state.bodies[0].pose.translation[1], bubble.volume]
}

/// A bubble rises and a body sinks in tiles as they do by cells alone. What is left of the flow around the body in a band of two cells, a fifth of its radius,
/// makes it 6 % slower; in one of eight, 1 %.
#[test]
fn bubbles_bodies_and_tension_go_with_tiles() {
    let cells = bubble_and_body("none", 2);
    for (solid_band, of_body) in [(2, 0.08), (8, 0.015)] {
        let tiles = bubble_and_body("tiles", solid_band);
        for (k, start, tolerance) in [(0, 0.3, 0.02), (1, 0.6, of_body)] {
            let (moved, expected) = (tiles[k] - start, cells[k] - start);
            assert!(expected.abs() > 0.05, "{cells:?}");
            assert!((moved / expected - 1.0).abs() < tolerance, "{tiles:?} instead of {cells:?}");
        }
        assert!((tiles[2] / cells[2] - 1.0).abs() < 0.01, "{tiles:?} instead of {cells:?}");
    }
}

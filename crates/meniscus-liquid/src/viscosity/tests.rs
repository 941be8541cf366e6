//! The system and its preconditioner against a dense matrix that is summed up sample by sample.

use faer::Mat;
use faer::linalg::solvers::Solve;
use meniscus_core::grid::{Grid, Slot, unravel};

use super::*;
use meniscus_rigid::{PAIRS, motions, pair_count};

/// A number between 0 and 1 that is a fixed but irregular function of a cell.
fn noise<const D: usize>(seed: u64, cell: [usize; D]) -> f64 {
    let mut hash = 0x9e37_79b9_7f4a_7c15_u64 ^ seed;
    for c in cell {
        hash = (hash ^ c as u64).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        hash ^= hash >> 29;
    }
    (hash >> 11) as f64 / (1_u64 << 53) as f64
}

struct Case<const D: usize> {
    grid: Grid<D>,
    level_set: Field<f64, D>,
    open: FaceField<f64, D>,
    velocity: FaceField<f64, D>,
    viscosity: Field<f32, D>,
    walls: FaceField<f64, D>,
}

/// Ragged liquid, ragged walls, viscosities from 1 to 1000, random velocities, an open side.
fn ragged<const D: usize>(cells: [usize; D]) -> Case<D> {
    let blocks = Arc::new(Blocks::all(cells));
    let level = |cell: [usize; D]| noise(1, cell) - 0.6 + 0.05 * cell[1] as f64;
    let open = |axis: usize, cell: [usize; D]| {
        let is_inside = (0..D).all(|a| cell[a] < cells[a]) && (cell[axis] > 0 || axis == 1);
        match noise(2 + axis as u64, cell) {
            _ if !is_inside => 0.0,
            closed if closed < 0.15 => 0.0,
            part if part < 0.3 => noise(7, cell),
            _ => 1.0,
        }
    };
    Case {
        grid: Grid { origin: [0.0; D], dx: 0.1, cells },
        level_set: Field::from_fn(blocks.clone(), 1.0, level),
        open: FaceField::from_fn(blocks.clone(), 0.0, open),
        velocity: FaceField::from_fn(blocks.clone(), 0.0, |axis, cell| noise(20 + axis as u64, cell) - 0.5),
        viscosity: Field::from_fn(blocks.clone(), 0.0, |cell| 1000f32.powf(noise(9, cell) as f32)),
        walls: FaceField::from_fn(blocks, 0.0, wall_velocity),
    }
}

fn wall_velocity<const D: usize>(axis: usize, cell: [usize; D]) -> f64 {
    noise(40 + axis as u64, cell) - 0.5
}

impl<const D: usize> Case<D> {
    fn liquid(&self) -> Liquid<'_, f64, D> {
        Liquid {
            grid: &self.grid,
            level_set: &self.level_set,
            open: &self.open,
            solid_velocity: Some(&self.walls),
            bubbles: None,
            divergence: None,
            bodies: &[],
            touching: None,
            surface_pressure: None,
            weight_outside: [0.0; D],
            tiles: None,
            second_density_ratio: None,
            separates: None,
        }
    }

    fn params(&self, walls: Slip) -> ViscosityParams<'_, D> {
        let solve = SolveParams { tolerance: 1e-12, max_iterations: 3000 };
        ViscosityParams {
            dt: 0.3,
            density: 10.0,
            viscosity: Viscosity::Varying(&self.viscosity),
            walls,
            slip_sides: [[false; 2]; D],
            solve,
        }
    }

    fn cells(&self) -> impl Iterator<Item = [usize; D]> {
        let all = self.grid.cells.map(|n| n + 1);
        (0..all.iter().product()).map(move |index| unravel(index, all))
    }
}

fn moved<const D: usize>(cell: [usize; D], steps: &[(usize, i64)]) -> [i64; D] {
    let mut cell = cell.map(|c| c as i64);
    steps.iter().for_each(|&(axis, by)| cell[axis] += by);
    cell
}

/// The dense matrix and right-hand side on all faces, by the definition: the sum over samples of weight times the square of
/// the strain, one cell of the whole domain after the other.
struct Dense {
    index: Vec<Option<usize>>,
    matrix: Mat<f64>,
    rhs: Mat<f64>,
}

/// The weight, the terms (entry, sign) and the known part of a strain.
type Sample = (f64, Vec<(usize, f64)>, f64);

fn dense<const D: usize>(case: &Case<D>, walls: Slip) -> Dense {
    let blocks = case.level_set.blocks();
    let corners = liquid_corners(&case.level_set);
    let params = case.params(walls);
    let scale = params.dt / (params.density * case.grid.dx.powi(2));
    let inside = |cell: [i64; D]| (0..D).all(|a| cell[a] >= 0 && cell[a] < case.grid.cells[a] as i64);
    let wet = |cell: [i64; D], sides: &[(usize, usize)]| -> f64 {
        let of = corners.get(cell);
        let mean = |k: &usize| sides.iter().all(|&(a, side)| k >> a & 1 == side);
        (0..1usize << D).filter(mean).map(|k| f64::from(of[k])).sum::<f64>() / f64::from(1u32 << D)
    };
    let open = |axis: usize, cell: [i64; D]| case.open.get(axis, cell);
    let entry = |axis: usize, cell: [i64; D]| {
        let slot: Slot = blocks.locate(cell).expect("a cell of the domain");
        (slot.block * D + axis) * block_len::<D>() + slot.local
    };
    let harmonic = |parts: &[([i64; D], f64)]| {
        let resistance: f64 =
            parts.iter().filter(|p| p.1 > 0.0).map(|&(c, wet)| wet / f64::from(case.viscosity.get(c))).sum();
        let all: f64 = parts.iter().map(|p| p.1).sum();
        if all > 0.0 { all / resistance * all } else { 0.0 }
    };
    let mut samples: Vec<Sample> = Vec::new();
    let mut touched = vec![false; D * blocks.slots()];
    for cell in case.cells() {
        let here = cell.map(|c| c as i64);
        for axis in 0..D {
            let above = moved(cell, &[(axis, 1)]);
            let weight = 2.0 * scale * harmonic(&[(here, wet(here, &[]))]);
            if inside(here) && weight > 0.0 {
                let (mut terms, mut known) = (Vec::new(), 0.0);
                for (face, sign) in [(above, 1.0), (here, -1.0)] {
                    if open(axis, face) > 0.0 {
                        terms.push((entry(axis, face), sign));
                        touched[entry(axis, face)] = true;
                    } else {
                        known += sign * wall_velocity(axis, face.map(|c| c as usize));
                    }
                }
                samples.push((weight, terms, known));
            }
        }
        for &(a, b) in PAIRS.iter().take(pair_count::<D>()) {
            let around = [
                (moved(cell, &[]), 0, 0),
                (moved(cell, &[(a, -1)]), 1, 0),
                (moved(cell, &[(b, -1)]), 0, 1),
                (moved(cell, &[(a, -1), (b, -1)]), 1, 1),
            ];
            let faces = [
                (a, around[0].0, 1.0),
                (a, around[2].0, -1.0),
                (b, around[0].0, 1.0),
                (b, around[1].0, -1.0),
            ];
            let exists = |&(axis, face, _): &(usize, [i64; D], f64)| open(axis, face) > 0.0;
            let parts = around.map(|(c, side_a, side_b)| (c, wet(c, &[(a, side_a), (b, side_b)])));
            let weight = scale * harmonic(&parts);
            if faces.iter().all(exists) && weight > 0.0 {
                let terms: Vec<_> =
                    faces.iter().map(|&(axis, face, sign)| (entry(axis, face), sign)).collect();
                terms.iter().for_each(|&(entry, _)| touched[entry] = true);
                samples.push((weight, terms, 0.0));
            }
        }
    }
    let mut index = vec![None; D * blocks.slots()];
    let mut masses: Vec<(usize, f64, f64)> = Vec::new();
    for cell in case.cells() {
        let here = cell.map(|c| c as i64);
        for axis in 0..D {
            let below = moved(cell, &[(axis, -1)]);
            let parts = [(below, wet(below, &[(axis, 1)])), (here, wet(here, &[(axis, 0)]))];
            let fraction = parts[0].1 + parts[1].1;
            let entry = entry(axis, here);
            if open(axis, here) <= 0.0 || !(touched[entry] || fraction > 0.0) {
                continue;
            }
            index[entry] = Some(masses.len());
            let is_liquid = |cell: [i64; D]| inside(cell) && case.level_set.get(cell) < 0.0;
            let inertia = if is_liquid(below) || is_liquid(here) { fraction } else { 0.0 };
            masses.push((entry, (inertia * open(axis, here)).max(0.01), case.velocity.get(axis, here)));
            if walls == Slip::Free {
                continue;
            }
            for other in (0..D).filter(|&b| b != axis) {
                for side in 0..2 {
                    let edge = moved(cell, &[(other, side)]);
                    let mut beside = edge;
                    beside[axis] -= 1;
                    let across = |face: [i64; D]| {
                        (0..D).all(|a| a == other || (0..case.grid.cells[a] as i64).contains(&face[a]))
                    };
                    let closed = |face| if across(face) { 1.0 - open(other, face) } else { 0.0 };
                    let area = 0.5 * (closed(edge) + closed(beside));
                    if area > 0.0 {
                        let distance = (open(axis, here) - 0.5).clamp(0.1, 0.5);
                        let beyond = moved(cell, &[(other, 2 * side - 1)])[other];
                        let rests = beyond < 0 || beyond >= case.grid.cells[other] as i64;
                        let velocity = if rests { 0.0 } else { wall_velocity(axis, cell) };
                        let weight = scale * harmonic(&parts) * area / distance;
                        samples.push((weight, vec![(entry, 1.0)], -velocity));
                    }
                }
            }
        }
    }
    let n = masses.len();
    let (mut matrix, mut rhs) = (Mat::zeros(n, n), Mat::zeros(n, 1));
    for (i, &(_, mass, velocity)) in masses.iter().enumerate() {
        matrix[(i, i)] += mass;
        rhs[(i, 0)] += mass * velocity;
    }
    for (weight, terms, known) in samples {
        for &(i, sign) in &terms {
            let row = index[i].expect("samples tie unknown faces");
            rhs[(row, 0)] -= weight * sign * known;
            for &(j, other) in &terms {
                matrix[(row, index[j].expect("samples tie unknown faces"))] += weight * sign * other;
            }
        }
    }
    Dense { index, matrix, rhs }
}

fn agrees_with_the_dense_system<const D: usize>(cells: [usize; D], walls: Slip) {
    let case = ragged(cells);
    let Dense { index, matrix, rhs } = dense(&case, walls);
    let corners = liquid_corners(&case.level_set);
    let (liquid, params) = (case.liquid(), case.params(walls));
    let system = System::new(&Source {
        liquid: &liquid,
        velocity: &case.velocity,
        params: &params,
        corners: &corners,
    });
    let held: Vec<f64> = system.gather(|weights, out| out.copy_from_slice(&weights.held));
    for (entry, index) in index.iter().enumerate() {
        assert_eq!(held[entry] > 0.0, index.is_some(), "entry {entry}");
    }
    assert!(matrix.nrows() > 100, "{} unknowns", matrix.nrows());

    let x: Vec<f64> =
        (0..system.len()).map(|i| if index[i].is_some() { noise(99, [i, 0]) - 0.5 } else { 0.0 }).collect();
    let mut y = vec![0.0; system.len()];
    system.product(&x, &mut y);
    let mut dense_x = Mat::zeros(matrix.nrows(), 1);
    index.iter().enumerate().for_each(|(entry, i)| {
        if let Some(i) = *i {
            dense_x[(i, 0)] = x[entry];
        }
    });
    let dense_y = &matrix * &dense_x;
    let largest = (0..matrix.nrows()).map(|i| dense_y[(i, 0)].abs()).fold(0.0, f64::max);
    for (entry, i) in index.iter().enumerate() {
        let expected = i.map_or(0.0, |i| dense_y[(i, 0)]);
        // The weights are stored in f32.
        assert!((y[entry] - expected).abs() < 1e-6 * largest, "{} for {expected}", y[entry]);
    }

    let solution = matrix.llt(faer::Side::Lower).expect("definite").solve(&rhs);
    let mut velocity = case.velocity.clone();
    diffuse(&case.liquid(), &mut velocity, &case.params(walls)).expect("converges");
    let blocks = case.level_set.blocks().clone();
    for (entry, i) in index.iter().enumerate() {
        let n = block_len::<D>();
        let (block, axis, local) = (entry / n / D, entry / n % D, entry % n);
        let slot = Slot { block, local };
        let expected = i.map_or(case.velocity.axes[axis][slot], |i| solution[(i, 0)]);
        let found = velocity.axes[axis][slot];
        assert!((found - expected).abs() < 1e-5, "{axis} {:?}: {found} for {expected}", blocks.cell(slot));
    }
}

#[test]
fn it_solves_the_dense_system_in_two_dimensions() {
    agrees_with_the_dense_system([17, 12], Slip::Free);
    agrees_with_the_dense_system([17, 12], Slip::None);
}

#[test]
fn it_solves_the_dense_system_in_three_dimensions() {
    agrees_with_the_dense_system([6, 9, 5], Slip::Free);
    agrees_with_the_dense_system([6, 9, 5], Slip::None);
}

/// x · M y = y · M x and x · M x > 0, for the system and for its preconditioner.
fn is_symmetric_and_definite<const D: usize>(cells: [usize; D]) {
    let case = ragged(cells);
    let corners = liquid_corners(&case.level_set);
    let (liquid, params) = (case.liquid(), case.params(Slip::None));
    let system = System::new(&Source {
        liquid: &liquid,
        velocity: &case.velocity,
        params: &params,
        corners: &corners,
    });
    let mut preconditioner = Preconditioner::new(&system, &corners, &case.open).expect("assembles");
    let held: Vec<f64> = system.gather(|weights, out| out.copy_from_slice(&weights.held));
    let random = |seed: u64| -> Vec<f64> {
        let value = |i: usize| if held[i] > 0.0 { noise(seed, [i, 1]) - 0.5 } else { 0.0 };
        (0..system.len()).map(value).collect()
    };
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let check = |apply: &mut dyn FnMut(&[f64], &mut [f64]), rounding: f64| {
        for seed in 0..4 {
            let (x, y) = (random(2 * seed), random(2 * seed + 1));
            let [mut ax, mut ay] = [vec![0.0; x.len()], vec![0.0; x.len()]];
            apply(&x, &mut ax);
            apply(&y, &mut ay);
            let (xx, yy) = (dot(&x, &ax), dot(&y, &ay));
            assert!(xx > 0.0 && yy > 0.0);
            let (xy, yx) = (dot(&x, &ay), dot(&y, &ax));
            assert!((xy - yx).abs() < rounding * (xx * yy).sqrt(), "{xy} {yx}");
        }
    };
    check(&mut |x, y| system.product(x, y), 1e-13);
    check(&mut |r, z| preconditioner.apply(r, z), 1e-5);
}

#[test]
fn the_system_and_the_preconditioner_are_symmetric_and_positive_definite() {
    is_symmetric_and_definite([33, 22]);
    is_symmetric_and_definite([9, 12, 10]);
}

/// The momentum and the angular momentum of a drop in open air do not change, of whatever viscosity it is.
fn keeps_momentum<const D: usize>(cells: [usize; D]) {
    let mut case = ragged(cells);
    let blocks = case.level_set.blocks().clone();
    let ball = |cell: [usize; D]| {
        let from = |a: usize| (cell[a] as f64 + 0.5 - 0.47 * cells[a] as f64).powi(2);
        (0..D).map(from).sum::<f64>().sqrt() - 0.3 * cells[0] as f64
    };
    case.level_set = Field::from_fn(blocks.clone(), 1.0, ball);
    case.open = FaceField::from_fn(blocks, 0.0, |_, cell| f64::from((0..D).all(|a| cell[a] < cells[a])));
    let corners = liquid_corners(&case.level_set);
    let (liquid, params) = (case.liquid(), case.params(Slip::None));
    let system = System::new(&Source {
        liquid: &liquid,
        velocity: &case.velocity,
        params: &params,
        corners: &corners,
    });
    let rigid = RigidMotions::new(&system, &corners, &case.open);
    let mut velocity = case.velocity.clone();
    diffuse(&liquid, &mut velocity, &params).expect("converges");
    let [before, after] = [&case.velocity, &velocity].map(|velocity| {
        let u = system.velocities(velocity);
        rigid.sums(&system, |entry, held, axis, x| motions(axis, x).map(|m| m * held * u[entry]))
    });
    assert_eq!(before.len(), 1);
    let largest = before[0].iter().fold(0.0, |largest: f64, m| largest.max(m.abs()));
    for (before, after) in before[0].iter().zip(&after[0]) {
        assert!((before - after).abs() < 1e-9 * largest, "{before} became {after}");
    }
}

#[test]
fn a_free_drop_keeps_its_momentum_and_angular_momentum() {
    keeps_momentum([30, 28]);
    keeps_momentum([14, 15, 12]);
}

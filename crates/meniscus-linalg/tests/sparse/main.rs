//! Multigrid for systems on tetrahedral meshes: iterations, symmetry, the same bits.

#![allow(clippy::print_stdout, reason = "the figures are for whoever runs the test by hand")]

mod mesh;
mod saddle;
mod speed;

use meniscus_linalg::sparse::{Amg, AmgParams, Block, Bsr, rigid_motions};
use meniscus_linalg::{SolveInfo, SolveParams, conjugate_gradients};
use mesh::*;

fn ones(matrix: &Bsr<1, 1>) -> Vec<Block<1, 1>> {
    vec![[[1.0]]; matrix.height()]
}

/// The motions of the points, where they are free to move.
fn motions(mesh: &Mesh, held: impl Fn(usize, usize) -> bool) -> Vec<Block<3, 6>> {
    let mut motions = rigid_motions(&mesh.points);
    for (v, block) in motions.iter_mut().enumerate() {
        for (axis, values) in block.iter_mut().enumerate() {
            if held(v, axis) {
                values.fill(0.0);
            }
        }
    }
    motions
}

fn elastic_candidates(mesh: &Mesh) -> Vec<Block<3, 6>> {
    motions(mesh, |v, _| mesh.points[v][2] == 0.0)
}

fn solve<const R: usize, const K: usize>(
    matrix: &Bsr<R, R>,
    amg: &mut Amg<R, K>,
    b: &[f64],
    tolerance: f64,
) -> (Vec<f64>, SolveInfo) {
    let params = SolveParams { tolerance, max_iterations: 200 };
    let mut x = vec![0.0; b.len()];
    let product = |p: &[f64], q: &mut [f64]| matrix.apply(p, q);
    let info = conjugate_gradients(b, &mut x, product, |r, z| amg.apply(r, z), &params);
    (x, info.expect("converges"))
}

/// Iterations to 1e-8; `measured` is what was found when the case was written, two more are left to rounding on other machines.
fn check<const R: usize, const K: usize>(
    name: &str,
    measured: usize,
    matrix: &Bsr<R, R>,
    candidates: &[Block<R, K>],
) {
    let mut amg = Amg::new(matrix, candidates, &AmgParams::default()).expect("definite");
    let b = Random(7).vector(matrix.height());
    let (x, info) = solve(matrix, &mut amg, &b, 1e-8);
    let mut residual = b.clone();
    matrix.apply_add(-1.0, &x, &mut residual);
    let [norm, of] = [&residual, &b].map(|v| v.iter().map(|v| v * v).sum::<f64>().sqrt());
    assert!(norm <= 1.1e-8 * of, "{name}: {norm} of {of}");
    println!("{name}: {} iterations ({measured} when measured), levels {:?}", info.iterations, amg.sizes());
    assert!(info.iterations <= measured + 2, "{name}: {} instead of {measured}", info.iterations);
}

#[test]
fn laplacians_take_flat_iterations() {
    for (n, measured) in [(8, 7), (16, 8), (24, 9)] {
        let matrix = laplacian(&kuhn(n), false, |_| 1.0);
        check(&format!("laplacian {n}"), measured, &matrix, &ones(&matrix));
    }
}

#[test]
fn laplacians_with_jumps_take_flat_iterations() {
    for (n, measured) in [(8, [8, 7]), (16, [9, 8]), (24, [10, 8])] {
        let mesh = kuhn(n);
        let ball = mesh.ball();
        for (jump, measured) in [1e3, 1e-3].into_iter().zip(measured) {
            let matrix = laplacian(&mesh, false, |k| if ball[k] == 1 { jump } else { 1.0 });
            check(&format!("laplacian {n} jump {jump}"), measured, &matrix, &ones(&matrix));
        }
    }
}

#[test]
fn elasticity_takes_flat_iterations() {
    for (n, measured) in [(8, [11, 11]), (16, [11, 12]), (24, [12, 14])] {
        let mesh = kuhn(n);
        let ball = mesh.ball();
        for (jump, measured) in [1.0, 1e3].into_iter().zip(measured) {
            let matrix = elasticity(&mesh, |k| if ball[k] == 1 { jump } else { 1.0 });
            check(&format!("elasticity {n} jump {jump}"), measured, &matrix, &elastic_candidates(&mesh));
        }
    }
}

/// Rows of one part after the other: the part that is not coupled to the first has its own constant.
#[test]
fn singular_systems_are_solved_where_they_have_a_solution() {
    for n in [3, 16] {
        let mesh = kuhn(n);
        let ball = mesh.ball();
        for parts in [1, 2] {
            let mut matrix = laplacian(&mesh, true, |k| if ball[k] == 1 { 1e3 } else { 1.0 });
            let part = |row: usize| usize::from(parts == 2 && row > matrix_middle(n));
            matrix.update(|row, columns, blocks| {
                let own = columns.binary_search(&(row as u32)).expect("stored");
                for place in (0..columns.len()).filter(|place| part(columns[*place] as usize) != part(row)) {
                    blocks[own][0][0] += blocks[place][0][0];
                    blocks[place][0][0] = 0.0;
                }
            });
            let mut b = vec![0.0; matrix.height()];
            matrix.apply(&Random(11).vector(b.len()), &mut b);
            let mut amg = Amg::new(&matrix, &ones(&matrix), &AmgParams::default()).expect("positive");
            let (x, info) = solve(&matrix, &mut amg, &b, 1e-8);
            println!("singular {n} in {parts} parts: {} iterations", info.iterations);
            assert!(info.iterations <= 12, "{n} in {parts} parts: {} iterations", info.iterations);
            matrix.apply_add(-1.0, &x, &mut b);
            assert!(b.iter().all(|r| r.abs() < 1e-5));
        }
    }
}

fn matrix_middle(n: usize) -> usize {
    (n + 1).pow(2) * n.div_ceil(2) - 1
}

fn check_symmetry<const R: usize, const K: usize>(
    matrix: &Bsr<R, R>,
    candidates: &[Block<R, K>],
    params: &AmgParams,
) {
    let mut amg = Amg::new(matrix, candidates, params).expect("definite");
    let mut random = Random(5);
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut of = |r: &[f64]| {
        let mut z = vec![0.0; r.len()];
        amg.apply(r, &mut z);
        z
    };
    for _ in 0..5 {
        let [mut r, s] = [(); 2].map(|()| random.vector(matrix.height()));
        let mut smooth = vec![0.0; r.len()];
        matrix.apply(&s, &mut smooth);
        r.iter_mut().zip(&smooth).for_each(|(r, s)| *r += s);
        let [br, bs] = [of(&r), of(&s)];
        let [rr, ss, rs, sr] = [product(&r, &br), product(&s, &bs), product(&r, &bs), product(&s, &br)];
        assert!(rr > 0.0 && ss > 0.0, "{rr}, {ss}");
        // In f32.
        assert!((rs - sr).abs() < 1e-5 * (rr * ss).sqrt(), "{rs} is not {sr}");
    }
}

#[test]
fn the_preconditioner_is_symmetric_and_positive() {
    let mesh = kuhn(10);
    let ball = mesh.ball();
    let jump = |k: usize| if ball[k] == 1 { 1e3 } else { 1.0 };
    for degree in 1..4 {
        for free in [false, true] {
            let params = AmgParams { degree, ..AmgParams::default() };
            let matrix = laplacian(&mesh, free, jump);
            check_symmetry(&matrix, &ones(&matrix), &params);
            check_symmetry(&elasticity(&mesh, jump), &elastic_candidates(&mesh), &params);
        }
    }
}

#[test]
fn a_hierarchy_is_kept_or_refreshed() {
    let mesh = kuhn(12);
    let first = elasticity(&mesh, |_| 1.0);
    let second = elasticity(&mesh, |k| 1.0 + 0.2 * (k as f64).sin());
    let (params, candidates) = (AmgParams::default(), elastic_candidates(&mesh));
    let b = Random(9).vector(first.height());
    let mut fresh = Amg::new(&second, &candidates, &params).expect("definite");
    let mut kept = Amg::new(&first, &candidates, &params).expect("definite");
    let [best, old] = [&mut fresh, &mut kept].map(|amg| solve(&second, amg, &b, 1e-8).1.iterations);
    assert!(old <= best + 3, "{old} iterations instead of {best}");
    kept.refresh(&second).expect("the same pattern");
    let refreshed = solve(&second, &mut kept, &b, 1e-8).1.iterations;
    assert!(refreshed <= best + 1, "{refreshed} iterations instead of {best}");
    // A refresh with what is there already changes nothing.
    let mut again = Amg::new(&second, &candidates, &params).expect("definite");
    again.refresh(&second).expect("the same pattern");
    let [x, y] = [&mut fresh, &mut again].map(|amg| solve(&second, amg, &b, 1e-8).0);
    assert!(x == y);
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    let mesh = kuhn(14);
    let ball = mesh.ball();
    let solve_with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| {
            let matrix = elasticity(&mesh, |k| if ball[k] == 1 { 1e3 } else { 1.0 });
            let b = Random(2).vector(matrix.height());
            let candidates = elastic_candidates(&mesh);
            let mut amg = Amg::new(&matrix, &candidates, &AmgParams::default()).expect("definite");
            let (x, info) = solve(&matrix, &mut amg, &b, 1e-8);
            let case = saddle::Case { n: 10, densities: [1.0, 1000.0], viscous: 1.0, capillary: 1.0 };
            let (system, minres) = saddle::iterations(case, &AmgParams::default(), true);
            (x, info.history, system.history, minres)
        })
    };
    let one = solve_with(1);
    for threads in [2, 3, 5] {
        assert!(solve_with(threads) == one, "{threads} threads differ");
    }
}

//! Solutions with bounds against a direct method, on random geometry and in every combination of terms.

mod common;

use common::*;
use faer::Mat;
use faer::prelude::Solve;
use meniscus_linalg::{BoundedInfo, Operator, SolveError, SolveParams, Workspace, solve_bounded};
use proptest::prelude::*;

const TIGHT: SolveParams = SolveParams { tolerance: 1e-12, max_iterations: 3000 };

fn solve_from<const D: usize>(
    operator: &Operator<D>,
    bounded: &[usize],
    b: &[f64],
    x: &mut [f64],
) -> Result<BoundedInfo, SolveError> {
    solve_bounded(operator, bounded, b, x, &TIGHT, &mut Workspace::default())
}

/// The dense matrix over the unknowns with a non-zero row, and those unknowns.
fn assembled<const D: usize>(operator: &Operator<D>) -> (Vec<usize>, Mat<f64>) {
    let unknowns: Vec<usize> = (0..operator.len()).filter(|&i| operator.is_unknown(i)).collect();
    let mut matrix = Mat::zeros(unknowns.len(), unknowns.len());
    for (r, &i) in unknowns.iter().enumerate() {
        for (j, value) in operator.row(i).into_iter().filter(|e| e.1 != 0.0) {
            matrix[(r, unknowns.binary_search(&j).expect("columns are unknowns"))] = value;
        }
    }
    (unknowns, matrix)
}

/// The solution by single pivots: of the unknowns that violate a condition the last one changes sides (Murty 1974), which ends for
/// any definite matrix. Every set is solved directly.
fn by_single_pivots(matrix: &Mat<f64>, is_bounded: &[bool], b: &[f64]) -> Vec<f64> {
    let n = b.len();
    let mut active = vec![false; n];
    for _ in 0..100_000 {
        let free: Vec<usize> = (0..n).filter(|&i| !active[i]).collect();
        let reduced = Mat::from_fn(free.len(), free.len(), |r, c| matrix[(free[r], free[c])]);
        let rhs = Mat::from_fn(free.len(), 1, |r, _| b[free[r]]);
        let solution = reduced.partial_piv_lu().solve(&rhs);
        let mut x = vec![0.0; n];
        free.iter().enumerate().for_each(|(r, &i)| x[i] = solution[(r, 0)]);
        let gradient = |i: usize| (0..n).map(|j| matrix[(i, j)] * x[j]).sum::<f64>() - b[i];
        let is_wrong =
            |i: &usize| is_bounded[*i] && if active[*i] { gradient(*i) < -1e-12 } else { x[*i] < -1e-12 };
        match (0..n).rev().find(is_wrong) {
            Some(i) => active[i] = !active[i],
            None => return x,
        }
    }
    panic!("single pivots do not end");
}

fn random_bounds<const D: usize>(operator: &Operator<D>, seed: u64, part: f64) -> Vec<usize> {
    let is_bounded = |&i: &usize| operator.is_unknown(i) && 0.5 + 0.5 * noise(seed ^ (i as u64) << 20) < part;
    (0..operator.len()).filter(is_bounded).collect()
}

fn random_rhs<const D: usize>(operator: &Operator<D>, seed: u64) -> Vec<f64> {
    let value = |i: usize| noise(seed.wrapping_mul(7919).wrapping_add(i as u64));
    (0..operator.len()).map(|i| if operator.is_unknown(i) { value(i) } else { 0.0 }).collect()
}

fn check<const D: usize>(random: &Random<D>, part: f64) {
    let operator = random.operator();
    let (unknowns, matrix) = assembled(&operator);
    let bounded = random_bounds(&operator, random.seed, part);
    let b = random_rhs(&operator, random.seed);
    let mut x = vec![0.0; operator.len()];
    let info = solve_from(&operator, &bounded, &b, &mut x).expect("converges");
    assert!(info.complementarity <= 1e-6, "{info:?}");
    if !info.solve.sealed.is_empty() || unknowns.is_empty() {
        return;
    }
    let is_bounded: Vec<bool> = unknowns.iter().map(|i| bounded.contains(i)).collect();
    let smallest = matrix.self_adjoint_eigen(faer::Side::Lower).expect("eigenvalues").S()[0];
    // With a sealed part that is held by its bounds alone, single pivots would meet singular systems.
    if smallest < 1e-9 {
        return;
    }
    let expected =
        by_single_pivots(&matrix, &is_bounded, &unknowns.iter().map(|&i| b[i]).collect::<Vec<_>>());
    let error = norm(&unknowns.iter().zip(&expected).map(|(&i, e)| x[i] - e).collect::<Vec<_>>());
    // A set that is off where x and its gradient are both within the tolerance of the conditions moves x by that over the least eigenvalue.
    let allowed = 1e-6 * norm(&expected).max(norm(&b)) / smallest.min(1.0);
    assert!(error <= allowed, "error {error:e}, allowed {allowed:e}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn random_operators_2d(w in 4usize..14, h in 4usize..12, seed in any::<u32>(), extras in any::<bool>(), terms in any::<bool>(), outer in any::<bool>(), part in 0.05f64..1.0) {
        let parts = Parts { known: true, extras, terms, outer, plain: false };
        check(&Random::new([w, h], u64::from(seed), 0.7, 0.1, parts), part);
    }

    #[test]
    fn random_operators_3d(edge in 3usize..6, seed in any::<u32>(), extras in any::<bool>(), terms in any::<bool>(), outer in any::<bool>(), part in 0.05f64..1.0) {
        let parts = Parts { known: true, extras, terms, outer, plain: false };
        check(&Random::new([edge; 3], u64::from(seed), 0.7, 0.1, parts), part);
    }
}

/// A string over a flat obstacle: -u'' = -1, u = 0 at both ends, u >= h on all of it, with u = h + x. It touches where it would hang lower than
/// the obstacle, and leaves it on a parabola whose tangent is the obstacle.
#[test]
fn a_string_touches_an_obstacle_along_the_part_that_it_should() {
    let n = 100;
    let problem = Problem::<2>::new([n + 2, 1], |cell| {
        if cell[0] == 0 || cell[0] == n as i64 + 1 { Kind::Known } else { Kind::Unknown }
    });
    let operator = problem.operator();
    let dx = 1.0 / (n + 1) as f64;
    // At the ends x = 0.02, under a load of 1: what leaves the obstacle is sqrt(2 * 0.02) = 0.2 long.
    let height = 0.02;
    let mut b = vec![0.0; operator.len()];
    for c in 1..=n as i64 {
        let end = c == 1 || c == n as i64;
        b[problem.flat([c, 0])] = -dx * dx + if end { height } else { 0.0 };
    }
    let bounded: Vec<usize> = (1..=n as i64).map(|c| problem.flat([c, 0])).collect();
    let mut x = vec![0.0; operator.len()];
    let info = solve_from(&operator, &bounded, &b, &mut x).expect("converges");
    for c in 1..=n as i64 {
        let from_end = (c as f64 * dx).min(1.0 - c as f64 * dx);
        let expected = 0.5 * (0.2 - from_end).max(0.0).powi(2);
        let found = x[problem.flat([c, 0])];
        assert!((found - expected).abs() < 0.2 * dx, "{found} {expected} at {c}");
    }
    let touching = info.active.len() as f64 * dx;
    assert!((touching - 0.6).abs() < 2.0 * dx, "{touching}");
}

/// A box of unknowns without an anchor: a right-hand side with a sum below zero has a solution by its bounds, one above
/// zero has none and is said to have none, and one without a sum has the lowest that the bounds allow.
#[test]
fn bounds_anchor_what_is_sealed() {
    let problem = Problem::<2>::new([20, 20], |_| Kind::Unknown);
    let operator = problem.operator();
    let bounded: Vec<usize> =
        all_cells([20, 20]).filter(|c| c[1] == 19 || c[0] == 0).map(|c| problem.flat(c)).collect();
    let with_sum = |sum: f64| -> Vec<f64> {
        let mut b = problem.rhs();
        let mean = b.iter().sum::<f64>() / 400.0 - sum / 400.0;
        all_cells([20, 20]).for_each(|c| b[problem.flat(c)] -= mean);
        b
    };
    for sum in [-30.0, -0.01, 0.0, 20.0] {
        let (b, mut x) = (with_sum(sum), vec![0.0; operator.len()]);
        let info = solve_from(&operator, &bounded, &b, &mut x).expect("converges");
        let lowest = bounded.iter().map(|&i| x[i]).fold(f64::INFINITY, f64::min);
        assert_eq!(lowest, 0.0, "sum {sum}");
        let mut product = vec![0.0; x.len()];
        operator.apply(&x, &mut product);
        let gained: f64 = product.iter().zip(&b).map(|(a, b)| a - b).sum();
        assert!((gained + sum).abs() < 1e-8, "{gained} {sum}");
        let imbalance: f64 = info.solve.sealed.iter().map(|sealed| sealed.imbalance).sum();
        assert!((imbalance - sum.max(0.0) / 20.0 / norm(&b)).abs() < 1e-12, "{sum}: {:?}", info.solve.sealed);
    }
}

/// Without anything that pulls, it is the plain solution.
#[test]
fn what_is_positive_anyway_is_the_plain_solution() {
    let problem = tank::<3>(16);
    let operator = problem.operator();
    let b: Vec<f64> = (0..operator.len()).map(|i| f64::from(u8::from(operator.is_unknown(i)))).collect();
    let bounded: Vec<usize> = (0..operator.len()).filter(|&i| operator.is_unknown(i) && i % 3 == 0).collect();
    let mut x = vec![0.0; b.len()];
    let info = solve_from(&operator, &bounded, &b, &mut x).expect("converges");
    let mut plain = vec![0.0; b.len()];
    meniscus_linalg::Solver::new(operator).solve(&b, &mut plain, &TIGHT).expect("converges");
    let error = norm(&x.iter().zip(&plain).map(|(a, b)| a - b).collect::<Vec<_>>()) / norm(&plain);
    assert!(error < 1e-10 && info.active.is_empty(), "{error} {info:?}");
}

/// Iterations and rounds of a tank with bounds on all of its walls, from nothing and from the solution of a nearby problem.
fn effort<const D: usize>(n: usize) -> [BoundedInfo; 2] {
    let problem = bodies::<D>(n, 2, 0.1, true);
    let operator = problem.operator();
    let is_wall = |c: &Cell<D>| (0..D).any(|a| c[a] == 0 || a < D - 1 && c[a] == n as i64 - 1);
    let cells = || all_cells(problem.cells).filter(|&c| problem.kind(c) == Kind::Unknown);
    let bounded: Vec<usize> = cells().filter(is_wall).map(|c| problem.flat(c)).collect();
    let rhs = |phase: f64| {
        let mut b = vec![0.0; operator.len()];
        for c in cells() {
            let at = |a: usize| c[a] as f64 / n as f64;
            b[problem.flat(c)] = (9.0 * at(0) + phase).sin() * (7.0 * at(D - 1) + 2.0 * phase).cos()
                + 0.1 * noise(problem.flat(c) as u64);
        }
        b
    };
    let mut x = vec![0.0; operator.len()];
    let params = SolveParams::default();
    [0.0, 0.05].map(|phase| {
        let info =
            solve_bounded(&operator, &bounded, &rhs(phase), &mut x, &params, &mut Workspace::default());
        let info = info.expect("converges");
        assert!(info.complementarity <= 1e-6 && info.solve.relative_residual <= 1e-5, "{info:?}");
        info
    })
}

/// Rounds and the iterations of all of them, from nothing and from a good guess, on three grids: twice the cells along an axis cost two rounds more at most, and one from
/// a good guess. The iterations are those measured, and two that are left to rounding; from nothing they grow, as each round is of more unknowns that are to change.
#[test]
fn the_work_hardly_grows_with_the_size() {
    let cases = [
        ("2D", [32, 64, 128].map(effort::<2>), [[21, 26, 48], [9, 13, 14]]),
        ("3D", [12, 24, 48].map(effort::<3>), [[16, 28, 37], [11, 15, 16]]),
    ];
    for (name, sizes, measured) in cases {
        for (guess, (measured, more)) in measured.into_iter().zip([2, 1]).enumerate() {
            let rounds = sizes.each_ref().map(|effort| effort[guess].rounds);
            let iterations = sizes.each_ref().map(|effort| effort[guess].solve.iterations);
            assert!(rounds.windows(2).all(|pair| pair[1] <= pair[0] + more), "{name}: {rounds:?} rounds");
            let few = iterations.iter().zip(measured).all(|(&found, measured)| found <= measured + 2);
            assert!(few, "{name}: {iterations:?} iterations instead of {measured:?}");
        }
    }
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool of threads");
        pool.install(|| {
            let problem = bodies::<2>(64, 2, 0.1, true);
            let operator = problem.operator();
            let bounded = random_bounds(&operator, 3, 0.3);
            let mut x = vec![0.0; operator.len()];
            let info = solve_from(&operator, &bounded, &problem.rhs(), &mut x).expect("converges");
            (x, info.active, info.solve.history)
        })
    };
    assert!(run(1) == run(3));
}

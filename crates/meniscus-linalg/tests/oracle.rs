//! The matrix-free operator, its preconditioner and its solutions against assembled matrices and direct
//! solves, on random geometry and in every combination of terms.

mod common;

use common::*;
use faer::Mat;
use faer::prelude::Solve;
use meniscus_linalg::{Operator, SolveError, SolveParams, Solver};
use proptest::prelude::*;

fn parts() -> impl Strategy<Value = Parts> {
    (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>())
        .prop_map(|(known, extras, terms, plain)| Parts { known, extras, terms, plain })
}

fn random_vector(len: usize, seed: u64) -> Vec<f64> {
    (0..len).map(|i| noise(seed.wrapping_mul(1013).wrapping_add(i as u64))).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The unknowns with a non-zero row, and the dense matrix over them.
fn assembled<const D: usize>(operator: &Operator<D>) -> (Vec<usize>, Mat<f64>) {
    let rows: Vec<Vec<(usize, f64)>> = (0..operator.len()).map(|i| operator.row(i)).collect();
    let unknowns: Vec<usize> = (0..rows.len()).filter(|&i| rows[i].iter().any(|e| e.1 != 0.0)).collect();
    let mut matrix = Mat::zeros(unknowns.len(), unknowns.len());
    for (r, &i) in unknowns.iter().enumerate() {
        for &(j, value) in rows[i].iter().filter(|e| e.1 != 0.0) {
            matrix[(r, unknowns.binary_search(&j).expect("columns are unknowns"))] = value;
        }
    }
    (unknowns, matrix)
}

fn check_operator<const D: usize>(operator: &Operator<D>, seed: u64) {
    let (unknowns, matrix) = assembled(operator);
    assert_eq!(unknowns.len(), operator.unknowns());
    let n = operator.len();
    let (x, y) = (random_vector(n, seed), random_vector(n, seed + 1));
    let (mut ax, mut ay) = (vec![0.0; n], vec![0.0; n]);
    let xax = operator.apply(&x, &mut ax);
    operator.apply(&y, &mut ay);
    let scale = norm(&ax) * norm(&y) + 1e-300;
    assert!((dot(&y, &ax) - dot(&x, &ay)).abs() <= 1e-13 * scale, "the operator is not symmetric");
    assert!((xax - dot(&x, &ax)).abs() <= 1e-13 * norm(&x) * norm(&ax));
    assert!(xax >= -1e-12 * norm(&x) * norm(&ax));
    for (r, &i) in unknowns.iter().enumerate() {
        let product: f64 = (0..unknowns.len()).map(|c| matrix[(r, c)] * x[unknowns[c]]).sum();
        let size: f64 = (0..unknowns.len()).map(|c| matrix[(r, c)].abs()).sum();
        assert!(
            (product - ax[i]).abs() <= 1e-12 * size,
            "row {i}: assembled {product}, matrix-free {}",
            ax[i]
        );
        assert!(
            (0..r).all(|c| (matrix[(r, c)] - matrix[(c, r)]).abs() <= 1e-13 * size),
            "row {i} is not symmetric"
        );
    }
}

fn check_preconditioner<const D: usize>(operator: &Operator<D>, seed: u64) {
    let n = operator.len();
    let on_unknowns = |mut v: Vec<f64>| {
        (0..n).filter(|&i| operator.row(i).iter().all(|e| e.1 == 0.0)).for_each(|i| v[i] = 0.0);
        v
    };
    let (x, y) = (on_unknowns(random_vector(n, seed)), on_unknowns(random_vector(n, seed + 1)));
    let mut solver = Solver::new(operator.clone());
    let (mut bx, mut by) = (vec![0.0; n], vec![0.0; n]);
    solver.precondition(&x, &mut bx);
    solver.precondition(&y, &mut by);
    let scale = norm(&x) * norm(&by) + norm(&y) * norm(&bx) + 1e-300;
    let gap = (dot(&y, &bx) - dot(&x, &by)).abs() / scale;
    // The cycle works in f32: 24 bits, and a few hundred operations between entry and exit.
    assert!(gap <= 2e-6, "the preconditioner is not symmetric: {gap:e}");
    assert!(dot(&x, &bx) > 0.0 || norm(&x) == 0.0, "the preconditioner is not positive definite");
}

/// Solves to a tight tolerance and compares with a direct solve of the same right-hand side, made
/// compatible where the matrix is singular.
fn check_solution<const D: usize>(operator: &Operator<D>, seed: u64) {
    let n = operator.len();
    let (unknowns, matrix) = assembled(operator);
    if unknowns.is_empty() {
        return;
    }
    // A right-hand side in the range of the operator, and more than that if it is regular.
    let (mut b, guess) = (vec![0.0; n], random_vector(n, seed));
    operator.apply(&guess, &mut b);
    let mut solver = Solver::new(operator.clone());
    let mut x = vec![0.0; n];
    let params = SolveParams { tolerance: 1e-11, max_iterations: 3000 };
    let info = solver.solve(&b, &mut x, &params).expect("the solve converges");
    assert!(info.sealed.iter().all(|s| s.imbalance < 1e-10), "{:?}", info.sealed);

    let m = unknowns.len();
    let eigen = matrix.self_adjoint_eigen(faer::Side::Lower).expect("eigenvalues of a symmetric matrix");
    let largest = eigen.S()[m - 1];
    let null = (0..m).filter(|&k| eigen.S()[k] < 1e-11 * largest).count();
    assert_eq!(null, info.sealed.len(), "sealed components against zero eigenvalues");
    let smallest = (0..m).map(|k| eigen.S()[k]).find(|&s| s >= 1e-11 * largest).unwrap_or(largest);
    let mut direct = vec![0.0; m];
    for k in null..m {
        let along: f64 = (0..m).map(|i| eigen.U()[(i, k)] * b[unknowns[i]]).sum();
        (0..m).for_each(|i| direct[i] += along / eigen.S()[k] * eigen.U()[(i, k)]);
    }
    let error = norm(&(0..m).map(|i| direct[i] - x[unknowns[i]]).collect::<Vec<_>>());
    let allowed = 1e-10 * norm(&b) / smallest + 1e-9 * norm(&direct);
    assert!(error <= allowed, "error {error:e}, allowed {allowed:e}");
}

fn check_all<const D: usize>(random: &Random<D>) {
    let operator = random.operator();
    check_operator(&operator, random.seed);
    check_preconditioner(&operator, random.seed);
    check_solution(&operator, random.seed);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn random_operators_2d(w in 5usize..26, h in 5usize..20, seed in any::<u32>(), density in 0.4f64..1.0, closed in 0.0f64..0.6, parts in parts()) {
        check_all(&Random::new([w, h], u64::from(seed), density, closed, parts));
    }

    #[test]
    fn random_operators_3d(w in 4usize..12, h in 4usize..10, d in 4usize..9, seed in any::<u32>(), density in 0.4f64..1.0, closed in 0.0f64..0.6, parts in parts()) {
        check_all(&Random::new([w, h, d], u64::from(seed), density, closed, parts));
    }
}

/// A whole tank with bodies, cavities and a jump, large enough for a hierarchy, against a sparse direct solve.
#[test]
fn the_solution_of_a_tank_equals_a_direct_solve() {
    let problem = bodies::<2>(48, 3, 0.1, true);
    let operator = problem.operator_weighted(jump_weight(48, 100.0, true));
    let (unknowns, matrix) = assembled(&operator);
    let b = problem.rhs();
    let rhs = Mat::from_fn(unknowns.len(), 1, |i, _| b[unknowns[i]]);
    let direct = matrix.llt(faer::Side::Lower).expect("positive definite").solve(&rhs);
    let mut x = vec![0.0; b.len()];
    let params = SolveParams { tolerance: 1e-12, max_iterations: 100 };
    Solver::new(operator).solve(&b, &mut x, &params).expect("the solve converges");
    let error: f64 = (0..unknowns.len()).map(|i| (direct[(i, 0)] - x[unknowns[i]]).abs()).fold(0.0, f64::max);
    let size: f64 = x.iter().map(|x| x.abs()).fold(0.0, f64::max);
    assert!(error < 1e-9 * size, "{:e}", error / size);
}

/// Sealed chambers: the mean of each is taken away, and said.
#[test]
fn sealed_chambers_are_made_compatible() {
    let problem = Problem::<2>::new([40, 24], |[x, y]| {
        if x == 19 || (x > 30 && (y == 5 || x == 31) && y < 6) { Kind::Closed } else { Kind::Unknown }
    });
    let b = problem.rhs();
    let (x, info) = {
        let mut solver = Solver::new(problem.operator());
        let mut x = vec![0.0; b.len()];
        let info = solver.solve(&b, &mut x, &SolveParams::default()).expect("converges");
        (x, info)
    };
    assert_eq!(info.sealed.len(), 3);
    let cells = |range: std::ops::Range<i64>| -> Vec<usize> {
        all_cells([40, 24]).filter(|c| range.contains(&c[0])).map(|c| problem.flat(c)).collect()
    };
    let left = cells(0..19);
    let chamber = info.sealed.iter().find(|s| s.unknowns == left.len()).expect("the left chamber");
    assert!(left.contains(&chamber.first));
    assert!(chamber.imbalance > 1e-3);
    let mean: f64 = left.iter().map(|&i| b[i]).sum::<f64>() / left.len() as f64;
    let mut product = vec![0.0; b.len()];
    problem.operator().apply(&x, &mut product);
    let worst = left.iter().map(|&i| (b[i] - mean - product[i]).abs()).fold(0.0, f64::max);
    assert!(worst < 1e-4, "{worst}");
    assert!(left.iter().map(|&i| x[i]).sum::<f64>().abs() < 1e-9 * norm(&x) * left.len() as f64);
}

/// Two sealed chambers with a piston between them have one constant in common, not two.
#[test]
fn a_low_rank_term_between_chambers_joins_their_null_spaces() {
    let problem = Problem::<2>::new([33, 16], |[x, _]| if x == 16 { Kind::Term(0) } else { Kind::Unknown })
        .with_terms(|_, axis, _| vec![if axis == 0 { 1.0 } else { 0.0 }], |_| vec![4.0]);
    let b = problem.rhs();
    let mut solver = Solver::new(problem.operator());
    let mut x = vec![0.0; b.len()];
    let info = solver.solve(&b, &mut x, &SolveParams::default()).expect("converges");
    assert_eq!(info.sealed.len(), 1);
    assert_eq!(info.sealed[0].unknowns, 2 * 16 * 16);
}

#[test]
fn no_convergence_is_an_error_with_its_history() {
    let problem = tank::<2>(64);
    let mut solver = Solver::new(problem.operator());
    let b = problem.rhs();
    let mut x = vec![0.0; b.len()];
    let params = SolveParams { tolerance: 1e-12, max_iterations: 3 };
    let error = solver.solve(&b, &mut x, &params).expect_err("three iterations are too few");
    let SolveError::NotConverged { history, .. } = &error else { panic!("{error}") };
    assert_eq!(history.len(), 4);
    assert!(error.to_string().contains("after 3 iterations"));
    let bad = vec![f64::NAN; b.len()];
    assert_eq!(solver.solve(&bad, &mut x, &params), Err(SolveError::NotFinite));
    assert!(matches!(solver.solve(&b[1..], &mut x, &params), Err(SolveError::Length { .. })));
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    let problem = bodies::<3>(32, 2, 0.1, true);
    let b = problem.rhs();
    let solve_with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| {
            let mut x = vec![0.0; b.len()];
            let info = Solver::new(problem.operator()).solve(&b, &mut x, &SolveParams::default());
            (x, info.expect("converges").history)
        })
    };
    let one = solve_with(1);
    for threads in [2, 3, 5] {
        assert!(solve_with(threads) == one, "{threads} threads differ");
    }
}

//! The matrix-free operator, its preconditioner and its solutions against assembled matrices and direct
//! solves, on random geometry and in every combination of terms.

mod common;

use common::*;
use std::sync::Arc;

use faer::Mat;
use faer::prelude::Solve;
use meniscus_core::grid::Blocks;
use meniscus_linalg::{
    ExtraUnknown, LowRankTerm, Operator, Patch, SolveError, SolveParams, Solver, Workspace,
};
use proptest::prelude::*;

fn parts() -> impl Strategy<Value = Parts> {
    (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>())
        .prop_map(|(known, extras, terms, outer, plain)| Parts { known, extras, terms, outer, plain })
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

/// A random vector that is zero where there is no unknown.
fn random_unknowns<const D: usize>(operator: &Operator<D>, seed: u64) -> Vec<f64> {
    let mut vector = random_vector(operator.len(), seed);
    for (i, value) in vector.iter_mut().enumerate() {
        if !operator.is_unknown(i) {
            *value = 0.0;
        }
    }
    vector
}

fn check_operator<const D: usize>(operator: &Operator<D>, has_outer: bool, seed: u64) {
    let (unknowns, matrix) = assembled(operator);
    assert_eq!(unknowns.len(), operator.unknowns());
    let n = operator.len();
    let (x, y) = (random_unknowns(operator, seed), random_unknowns(operator, seed + 1));
    let (mut ax, mut ay) = (vec![0.0; n], vec![0.0; n]);
    let xax = operator.apply(&x, &mut ax);
    operator.apply(&y, &mut ay);
    let scale = norm(&ax) * norm(&y) + 1e-300;
    let rounding = if has_outer { 1e-12 } else { 1e-13 };
    let gap = (dot(&y, &ax) - dot(&x, &ay)).abs();
    assert!(gap <= rounding * scale, "the operator is not symmetric: {gap:e} of {scale:e}");
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

fn check_preconditioner<const D: usize>(operator: &Operator<D>, has_outer: bool, seed: u64) {
    let n = operator.len();
    // What outer terms alone see of the null space is taken away on one side of the preconditioner only: it is asked in the range.
    let in_range = |seed: u64| {
        let (x, mut ax) = (random_unknowns(operator, seed), vec![0.0; n]);
        operator.apply(&x, &mut ax);
        if has_outer { ax } else { x }
    };
    let (x, y) = (in_range(seed), in_range(seed + 1));
    let mut solver = Solver::new(operator.clone());
    let (mut bx, mut by) = (vec![0.0; n], vec![0.0; n]);
    solver.precondition(&x, &mut bx);
    solver.precondition(&y, &mut by);
    let scale = norm(&x) * norm(&by) + norm(&y) * norm(&bx) + 1e-300;
    let gap = (dot(&y, &bx) - dot(&x, &by)).abs() / scale;
    // The cycle works in f32: 24 bits, and a few hundred operations between entry and exit. The projections
    // beside outer terms are oblique and magnify that.
    let allowed = if has_outer { 2e-5 } else { 2e-6 };
    assert!(gap <= allowed, "the preconditioner is not symmetric: {gap:e}");
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
    let (mut b, guess) = (vec![0.0; n], random_unknowns(operator, seed));
    operator.apply(&guess, &mut b);
    let mut solver = Solver::new(operator.clone());
    let mut x = vec![0.0; n];
    let params = SolveParams { tolerance: 1e-11, max_iterations: 3000 };
    let info = solver.solve(&b, &mut x, &params).expect("the solve converges");
    assert!(info.sealed.iter().all(|s| s.imbalance < 1e-10), "{:?}", info.sealed);

    let m = unknowns.len();
    let eigen = matrix.self_adjoint_eigen(faer::Side::Lower).expect("eigenvalues of a symmetric matrix");
    let largest = eigen.S()[m - 1];
    let null = (0..m).filter(|&k| eigen.S()[k] < 1e-13 * largest).count();
    assert_eq!(null, info.sealed.len(), "sealed components against zero eigenvalues");
    let smallest = (0..m).map(|k| eigen.S()[k]).find(|&s| s >= 1e-13 * largest).unwrap_or(largest);
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
    check_operator(&operator, random.problem.has_outer(), random.seed);
    check_preconditioner(&operator, random.problem.has_outer(), random.seed);
    check_solution(&operator, random.seed);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn random_operators_2d(w in 5usize..26, h in 5usize..20, seed in any::<u32>(), density in 0.4f64..1.0, closed in prop_oneof![Just(0.0), 0.0f64..0.6], parts in parts()) {
        check_all(&Random::new([w, h], u64::from(seed), density, closed, parts));
    }

    #[test]
    fn random_operators_3d(w in 4usize..12, h in 4usize..10, d in 4usize..9, seed in any::<u32>(), density in 0.4f64..1.0, closed in prop_oneof![Just(0.0), 0.0f64..0.6], parts in parts()) {
        check_all(&Random::new([w, h, d], u64::from(seed), density, closed, parts));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, ..ProptestConfig::default() })]

    /// Hierarchies of several levels: parts of parts, and groups of blocks visited in parallel.
    #[test]
    fn preconditioners_of_deep_hierarchies_are_symmetric(seed in any::<u32>(), density in 0.5f64..1.0, closed in prop_oneof![Just(0.0), 0.0f64..0.6], parts in parts()) {
        let random = Random::new([150, 90], u64::from(seed), density, closed, parts);
        check_preconditioner(&random.operator(), random.problem.has_outer(), random.seed);
        let random = Random::new([40, 40, 30], u64::from(seed), density, closed, Parts { terms: false, ..parts });
        check_preconditioner(&random.operator(), random.problem.has_outer(), random.seed);
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

/// Sealed systems converge to the limits of f64.
#[test]
fn a_sealed_box_is_solved_to_rounding() {
    let problem = Problem::<2>::new([128, 128], |[x, y]| {
        if (x - 60).pow(2) + (y - 50).pow(2) < 300 { Kind::Closed } else { Kind::Unknown }
    });
    let b = problem.rhs();
    let mut x = vec![0.0; b.len()];
    let params = SolveParams { tolerance: 2e-15, max_iterations: 60 };
    Solver::new(problem.operator()).solve(&b, &mut x, &params).expect("converges");
}

/// Two sealed chambers with a piston between them have one constant in common, not two.
#[test]
fn a_low_rank_term_between_chambers_joins_their_null_spaces() {
    let problem = Problem::<2>::new([33, 16], |[x, _]| if x == 16 { Kind::Term(0) } else { Kind::Unknown })
        .with_terms(|_, axis, _| vec![if axis == 0 { 1.0 } else { 0.0 }], |_| vec![4.0]);
    for problem in [problem.clone(), problem.with_outer_terms()] {
        let b = problem.rhs();
        let mut solver = Solver::new(problem.operator());
        let mut x = vec![0.0; b.len()];
        let info = solver.solve(&b, &mut x, &SolveParams::default()).expect("converges");
        assert_eq!(info.sealed.len(), 1);
        assert_eq!(info.sealed[0].unknowns, 2 * 16 * 16);
    }
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
fn a_right_hand_side_of_any_size_is_solved() {
    let problem = tank::<2>(40);
    for scale in [1e-60, 1e-30, 1e30, 1e60] {
        let b: Vec<f64> = problem.rhs().iter().map(|b| scale * b).collect();
        let (_, info) = solve(problem.operator(), &b);
        // 7 are what it took.
        assert!(info.iterations <= 9, "{} iterations", info.iterations);
    }
}

#[test]
fn a_uniform_source_in_a_sealed_box_leaves_nothing_to_solve() {
    let problem = Problem::<2>::new([61, 40], |_| Kind::Unknown);
    let b: Vec<f64> = problem.rhs().iter().map(|b| if *b == 0.0 { 0.0 } else { 0.1 }).collect();
    let mut x = vec![1.0; b.len()];
    let info = Solver::new(problem.operator()).solve(&b, &mut x, &SolveParams::default()).expect("converges");
    assert_eq!(info.iterations, 0);
    assert!((info.sealed[0].imbalance - 1.0).abs() < 1e-12);
    assert!(x.iter().all(|&x| x == 0.0));
}

#[test]
fn terms_that_touch_only_extra_unknowns() {
    let mut problem = cavities::<2>(48, 4);
    let slots = problem.blocks.slots();
    let term =
        LowRankTerm { inverse_mass: vec![3.0], unknowns: vec![slots, slots + 2], columns: vec![1.0, -1.0] };
    problem.terms = vec![term];
    for problem in [problem.clone(), problem.with_outer_terms()] {
        let operator = problem.operator();
        check_preconditioner(&operator, problem.has_outer(), 5);
        check_solution(&operator, 5);
    }
}

/// Thousands of single cells that touch nothing but one cavity share its unknown on coarser levels.
#[test]
fn single_cells_inside_a_cavity_do_not_burden_the_coarsest_level() {
    let problem = Problem::<2>::new([160, 160], |[x, y]| {
        let single = x < 150 && x % 2 == 1 && y % 2 == 1;
        if y < 4 && x < 20 {
            Kind::Known
        } else if x < 20 || single {
            Kind::Unknown
        } else {
            Kind::Extra(0)
        }
    })
    .with_extras();
    let mut solver = Solver::new(problem.operator());
    assert!(*solver.level_sizes().last().expect("levels") < 200, "{:?}", solver.level_sizes());
    let b = problem.rhs();
    let mut x = vec![0.0; b.len()];
    let info = solver.solve(&b, &mut x, &SolveParams::default()).expect("converges");
    // 8 are what it took.
    assert!(info.iterations <= 10, "{} iterations", info.iterations);
}

#[test]
fn thousands_of_sealed_components() {
    let kind = |[x, y]: [i64; 2]| if x % 3 == 2 || y % 2 == 1 { Kind::Closed } else { Kind::Unknown };
    let problem = Problem::<2>::new([200, 200], kind);
    let mut solver = Solver::new(problem.operator());
    let b = problem.rhs();
    let mut x = vec![0.0; b.len()];
    let info = solver.solve(&b, &mut x, &SolveParams::default()).expect("converges");
    assert_eq!(info.sealed.len(), 67 * 100);
    assert!(solver.relative_residual(&b, &x) < 1e-5);
}

/// Vectors that an earlier solver used change nothing.
#[test]
fn a_workspace_can_be_handed_on() {
    let operators = [
        bodies::<2>(40, 2, 0.1, true).operator(),
        tank::<2>(24).operator(),
        cavities::<2>(48, 5).operator(),
        bodies::<2>(56, 3, 1.0, true).operator(),
    ];
    let mut workspace = Workspace::default();
    for operator in operators {
        let b = random_unknowns(&operator, 3);
        let solve = |operator: Operator<2>, workspace: Workspace| {
            let mut solver = Solver::with_workspace(operator, workspace);
            let mut x = vec![0.0; b.len()];
            let info = solver.solve(&b, &mut x, &SolveParams::default()).expect("converges");
            (x, info.history, solver.into_workspace())
        };
        let fresh = solve(operator.clone(), Workspace::default());
        let reused = solve(operator, workspace);
        assert!(fresh.0 == reused.0 && fresh.1 == reused.1);
        workspace = reused.2;
    }
}

#[test]
fn bad_parts_are_refused_with_a_reason() {
    let blocks = Arc::new(Blocks::<2>::all([16, 16]));
    let closed = |_: usize, _: &mut Patch<2>| {};
    let refused =
        |fill: &(dyn Fn(usize, &mut Patch<2>) + Sync), extras: &[ExtraUnknown], terms: &[LowRankTerm]| {
            Operator::assemble(blocks.clone(), fill, extras, terms).expect_err("refused").to_string()
        };
    let out_of_blocks = |_: usize, patch: &mut Patch<2>| patch.fill_faces(1.0);
    assert!(refused(&out_of_blocks, &[], &[]).contains("leads out of the active blocks"));
    let one_sided = |block: usize, patch: &mut Patch<2>| {
        if block == 0 {
            patch.set_face(0, 1, 7, 1.0);
        }
    };
    assert!(refused(&one_sided, &[], &[]).contains("does not agree"));
    let negative = |_: usize, patch: &mut Patch<2>| patch.anchors[3] = -1.0;
    assert!(refused(&negative, &[], &[]).contains("weight -1"));
    let extra = ExtraUnknown { couplings: vec![(1 << 20, 1.0)], anchor: 0.0 };
    assert!(refused(&closed, &[extra], &[]).contains("names unknown 1048576"));
    let term = |inverse_mass: &[f64], unknowns: &[usize], columns: &[f64]| LowRankTerm {
        inverse_mass: inverse_mass.to_vec(),
        unknowns: unknowns.to_vec(),
        columns: columns.to_vec(),
    };
    for (term, reason) in [
        (term(&[1.0; 3], &[], &[]), "not a square"),
        (term(&[1.0], &[1], &[1.0, 2.0]), "one column"),
        (term(&[1.0], &[1, 1], &[1.0, 2.0]), "twice"),
        (term(&[1.0], &[1], &[f64::NAN]), "not finite"),
        (term(&[-1.0], &[1], &[1.0]), "positive semi-definite"),
        (term(&[0.0, 1.0, 1.0, 0.0], &[1], &[1.0, 1.0]), "positive semi-definite"),
        (term(&[1.0, 0.5, 0.0, 1.0], &[1], &[1.0, 1.0]), "symmetric"),
    ] {
        let message = refused(&closed, &[], &[term]);
        assert!(message.contains(reason), "{message}");
    }
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

#[test]
fn terms_of_no_strength_leave_the_null_space_alone() {
    let mut problem = bodies::<2>(32, 2, 1.0, false);
    problem.outer.iter_mut().for_each(|term| term.inverse_mass.fill(0.0));
    let operator = problem.operator();
    check_solution(&operator, 6);
    let (mut b, x) = (vec![0.0; operator.len()], random_unknowns(&operator, 3));
    operator.apply(&x, &mut b);
    let (_, info) = solve(operator, &b);
    assert_eq!(info.sealed.len(), 1);
    // 5 are what it took.
    assert!(info.iterations <= 7, "{} iterations", info.iterations);
}

fn check_tiles<const D: usize>(n: usize, tile: usize, open: bool) {
    // Steps in the band make tiles of irregular shape.
    let band = |cell: Cell<D>| 3 + (cell[0] / 5 + 2 * cell[D - 2]) % 7;
    let (mut problem, affine) = tiles_below::<D>(n, tile, band);
    if !open {
        problem.kinds.iter_mut().filter(|k| **k == Kind::Known).for_each(|k| *k = Kind::Closed);
    }
    let plain = problem.operator();
    (problem.terms, problem.affine) = (Vec::new(), affine);
    let operator = problem.operator();
    assert_eq!(operator.unknowns(), plain.unknowns());
    let x = random_unknowns(&operator, 4);
    let (mut ax, mut expected) = (vec![0.0; x.len()], vec![0.0; x.len()]);
    operator.apply(&x, &mut ax);
    plain.apply(&x, &mut expected);
    let gap = norm(&ax.iter().zip(&expected).map(|(a, e)| a - e).collect::<Vec<_>>());
    assert!(gap < 1e-12 * norm(&ax), "{gap:e}");
    check_preconditioner(&plain, false, 7);
    check_preconditioner(&operator, false, 7);
    let b = random_unknowns(&operator, 9);
    let solution = |operator: Operator<D>| {
        let mut x = vec![0.0; b.len()];
        let params = SolveParams { tolerance: 1e-11, max_iterations: 60 };
        let info = Solver::new(operator).solve(&b, &mut x, &params).expect("converges");
        assert_eq!(info.sealed.len(), usize::from(!open));
        x
    };
    let (x, expected) = (solution(operator), solution(plain));
    let gap = norm(&x.iter().zip(&expected).map(|(x, e)| x - e).collect::<Vec<_>>());
    assert!(gap < 1e-7 * norm(&expected), "{gap:e} of {:e}", norm(&expected));
}

#[test]
fn affine_terms_equal_plain_low_rank_terms_2d() {
    check_tiles::<2>(60, 16, true);
    check_tiles::<2>(92, 16, false);
}

#[test]
fn affine_terms_equal_plain_low_rank_terms_3d() {
    check_tiles::<3>(40, 16, true);
    check_tiles::<3>(40, 16, false);
}

#[test]
fn rows_of_affine_terms_are_those_of_the_product() {
    let mut problem = affine_tiles::<2>(24, 8);
    check_operator(&problem.operator(), false, 3);
    problem.terms = vec![random_term(&problem, 5, 2.0)];
    for problem in [problem.clone(), problem.with_outer_terms()] {
        check_operator(&problem.operator(), problem.has_outer(), 3);
        check_preconditioner(&problem.operator(), problem.has_outer(), 3);
        check_solution(&problem.operator(), 3);
    }
}

/// A wall of closed faces around one cell that touches a term: nothing of its value may pass the wall.
#[test]
fn a_cell_that_only_an_affine_term_holds_is_shut_off_from_others() {
    let problem = affine_tiles::<2>(24, 8);
    let touches = |cell: Cell<2>| {
        let beside = problem.faces().into_iter().filter(|face| face.0 == cell);
        beside.into_iter().any(|(_, _, _, other)| matches!(problem.kind(other), Kind::Term(_)))
    };
    let held = all_cells(problem.cells).filter(|&c| problem.kind(c) == Kind::Unknown && touches(c));
    let held: Vec<Cell<2>> = held.step_by(7).collect();
    let is_closed = |axis: usize, upper: Cell<2>| {
        let mut lower = upper;
        lower[axis] -= 1;
        held.contains(&upper) || held.contains(&lower)
    };
    let operator = problem.operator_weighted(|axis, upper| f64::from(u8::from(!is_closed(axis, upper))));
    check_operator(&operator, false, 3);
    check_preconditioner(&operator, false, 3);
}

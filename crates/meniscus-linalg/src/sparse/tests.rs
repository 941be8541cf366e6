use std::sync::Arc;

use faer::Mat;
use faer::linalg::solvers::Solve;
use proptest::prelude::*;

use super::*;
use crate::{SolveError, SolveParams};

/// A matrix of these places and numbers; of numbers in one place the last counts.
fn matrix_of<const R: usize, const C: usize>(
    [rows, width]: [usize; 2],
    entries: &[(usize, usize, Vec<f64>)],
) -> Bsr<R, C> {
    let in_row = |row: usize| entries.iter().filter(move |entry| entry.0 % rows == row);
    let pattern = Pattern::from_rows(rows, width, |row, columns| {
        columns.extend(in_row(row).map(|entry| (entry.1 % width) as u32));
    });
    Bsr::assembled(Arc::new(pattern), |row, columns, blocks| {
        for (_, column, numbers) in in_row(row) {
            let place = columns.binary_search(&((column % width) as u32)).expect("in the pattern");
            for (k, number) in numbers.iter().take(R * C).enumerate() {
                blocks[place][k / C][k % C] = *number;
            }
        }
    })
}

fn dense<const R: usize, const C: usize>(matrix: &Bsr<R, C>) -> Mat<f64> {
    let mut out = Mat::zeros(matrix.height(), matrix.width());
    for row in 0..matrix.pattern().rows() {
        let (columns, blocks) = matrix.row(row);
        for (column, block) in columns.iter().zip(blocks) {
            for k in 0..R * C {
                out[(row * R + k / C, *column as usize * C + k % C)] = block[k / C][k % C];
            }
        }
    }
    out
}

fn assert_near(a: &Mat<f64>, b: &Mat<f64>) {
    assert_eq!([a.nrows(), a.ncols()], [b.nrows(), b.ncols()]);
    assert!((a - b).norm_max() < 1e-12, "{a:?} is not {b:?}");
}

fn check_products<const R: usize, const M: usize, const C: usize>(
    sizes: [usize; 3],
    [first, second]: &[Vec<(usize, usize, Vec<f64>)>; 2],
) {
    let a = matrix_of::<R, M>([sizes[0], sizes[1]], first);
    let b = matrix_of::<M, C>([sizes[1], sizes[2]], second);
    let transposition = Transposition::new(a.pattern());
    let mut transposed = transposition.apply(&a);
    assert_near(&dense(&transposed), &dense(&a).transpose().to_owned());
    assert_eq!(Transposition::new(transposed.pattern()).apply(&transposed), a);
    let product = Product::new(a.pattern(), b.pattern());
    let mut ab = product.compute(&a, &b);
    assert_near(&dense(&ab), &(dense(&a) * dense(&b)));
    // Symbolic parts serve other numbers.
    let mut other = a.clone();
    other.scale_rows(&(0..a.height()).map(|i| i as f64 - 1.5).collect::<Vec<_>>());
    product.compute_into(&other, &b, &mut ab);
    assert_near(&dense(&ab), &(dense(&other) * dense(&b)));
    transposition.apply_into(&other, &mut transposed);
    assert_near(&dense(&transposed), &dense(&other).transpose().to_owned());
    let x: Vec<f64> = (0..b.width()).map(|i| (i as f64).sin()).collect();
    let column = Mat::from_fn(x.len(), 1, |i, _| x[i]);
    let mut y = vec![0.5; b.height()];
    b.apply(&x, &mut y);
    assert_near(&Mat::from_fn(y.len(), 1, |i, _| y[i]), &(dense(&b) * &column));
    b.apply_add(-1.0, &x, &mut y);
    assert!(y.iter().all(|y| y.abs() < 1e-12));
}

proptest! {
    #[test]
    fn products_and_transposes_are_those_of_dense_matrices(
        sizes in [1usize..12, 1..12, 1..12],
        entries in prop::array::uniform2(prop::collection::vec(
            (0usize..12, 0usize..12, prop::collection::vec(-1.0..1.0, 9)), 0..60)),
    ) {
        check_products::<1, 1, 1>(sizes, &entries);
        check_products::<3, 3, 3>(sizes, &entries);
        check_products::<1, 3, 1>(sizes, &entries);
        check_products::<3, 1, 3>(sizes, &entries);
        check_products::<3, 3, 6>(sizes, &entries);
    }

    #[test]
    fn sums_have_room_in_products(
        sizes in [1usize..8, 1..8],
        entries in prop::collection::vec((0usize..12, 0usize..12, prop::collection::vec(-1.0..1.0, 3)), 0..40),
        others in prop::collection::vec((0usize..12, 0usize..12, prop::collection::vec(-1.0..1.0, 1)), 0..40),
    ) {
        let a = matrix_of::<1, 3>(sizes, &entries);
        let c = matrix_of::<1, 1>([sizes[0]; 2], &others);
        let transposed = Transposition::new(a.pattern()).apply(&a);
        let product = Product::containing(a.pattern(), transposed.pattern(), &[c.pattern()]);
        let mut sum = product.compute(&a, &transposed);
        sum.add(-0.5, &c);
        let expected = dense(&a) * dense(&a).transpose() - faer::Scale(0.5) * dense(&c);
        assert_near(&dense(&sum), &expected);
    }
}

#[test]
fn patterns_are_checked() {
    assert!(Pattern::new(vec![0, 2, 2, 3], vec![0, 4, 1], 5).is_ok());
    let refused = |offsets: &[usize], columns: &[u32]| Pattern::new(offsets.to_vec(), columns.to_vec(), 5);
    assert_eq!(refused(&[0, 2, 1], &[0, 4]), Err(PatternError::Offsets { columns: 2 }));
    assert_eq!(refused(&[0, 1], &[0, 4]), Err(PatternError::Offsets { columns: 2 }));
    assert_eq!(refused(&[], &[]), Err(PatternError::Offsets { columns: 0 }));
    assert_eq!(refused(&[0, 1, 3], &[0, 4, 4]), Err(PatternError::Order { row: 1 }));
    assert_eq!(refused(&[0, 1, 2], &[0, 5]), Err(PatternError::Column { row: 1, column: 5, width: 5 }));
    let empty = Pattern::new(vec![0], Vec::new(), 5).expect("no rows");
    assert_eq!((empty.rows(), empty.len(), empty.is_empty()), (0, 0, true));
}

/// A line of `n` unknowns, with a slant that is not symmetric.
fn line(n: usize, slant: f64, shift: f64) -> Bsr<1, 1> {
    let pattern = Pattern::from_rows(n, n, |row, columns| {
        columns.extend((row.saturating_sub(1)..n.min(row + 2)).map(|column| column as u32));
    });
    Bsr::assembled(Arc::new(pattern), |row, columns, blocks| {
        for (&column, block) in columns.iter().zip(blocks) {
            block[0][0] = match (column as usize).cmp(&row) {
                std::cmp::Ordering::Less => -1.0 - slant,
                std::cmp::Ordering::Equal => 2.0 + shift,
                std::cmp::Ordering::Greater => -1.0 + slant,
            };
        }
    })
}

fn direct(matrix: &Bsr<1, 1>, b: &[f64]) -> Vec<f64> {
    let solution = dense(matrix).partial_piv_lu().solve(Mat::from_fn(b.len(), 1, |i, _| b[i]));
    (0..b.len()).map(|i| solution[(i, 0)]).collect()
}

fn difference(a: &[f64], b: &[f64]) -> f64 {
    let largest = b.iter().fold(0.0f64, |largest, b| largest.max(b.abs()));
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) / largest
}

#[test]
fn gmres_with_a_preconditioner_that_changes_finds_the_direct_solution() {
    let matrix = line(200, 0.4, 0.1);
    let b: Vec<f64> = (0..200).map(|i| 1e20 * f64::from(i * i % 13 - 5)).collect();
    let exact = direct(&matrix, &b);
    for restart in [5, 30, 200] {
        let mut calls = 0;
        let precondition = |r: &[f64], z: &mut [f64]| {
            // Steps of Jacobi's method, now more and now less.
            calls += 1;
            z.fill(0.0);
            let mut left = r.to_vec();
            for _ in 0..1 + calls % 3 {
                z.iter_mut().zip(&left).for_each(|(z, r)| *z += 0.4 * r);
                left.copy_from_slice(r);
                matrix.apply_add(-1.0, z, &mut left);
            }
        };
        let params = GmresParams { tolerance: 1e-11, max_iterations: 2000, restart };
        let mut x = vec![3.0; 200];
        let info =
            flexible_gmres(&b, &mut x, |p, q| matrix.apply(p, q), precondition, &params).expect("converges");
        assert!(difference(&x, &exact) < 1e-8, "restart {restart}: {}", difference(&x, &exact));
        assert!(info.relative_residual <= 1e-11 && info.history.len() == info.iterations + 1);
        // Within a cycle the residual never grows.
        assert!(info.history.windows(2).all(|pair| pair[1] <= pair[0] * (1.0 + 1e-6)), "{:?}", info.history);
    }
}

#[test]
fn gmres_takes_as_many_iterations_as_unknowns_at_most() {
    let matrix = line(40, 0.3, 0.0);
    let b = vec![1.0; 40];
    let mut x = vec![0.0; 40];
    let params = GmresParams { tolerance: 1e-12, max_iterations: 40, restart: 40 };
    let same = |r: &[f64], z: &mut [f64]| z.copy_from_slice(r);
    flexible_gmres(&b, &mut x, |p, q| matrix.apply(p, q), same, &params).expect("converges");
    assert!(difference(&x, &direct(&matrix, &b)) < 1e-10);
    // A good guess costs nothing.
    let info = flexible_gmres(&b, &mut x, |p, q| matrix.apply(p, q), same, &GmresParams::default());
    assert_eq!(info.expect("solved").iterations, 0);
}

/// [[A, B^T], [B, -C]] with A a line, and B sums of neighbours.
#[test]
fn minres_finds_the_direct_solution_of_a_saddle_point_system() {
    let (n, m) = (60, 20);
    let a = line(n, 0.0, 0.2);
    let inside = |i: usize, k: usize| i / 3 == k;
    let pattern = Pattern::from_rows(n + m, n + m, |row, columns| {
        if row < n {
            columns.extend(a.row(row).0);
            columns.push((n + row / 3) as u32);
        } else {
            columns.extend((0..n).filter(|&i| inside(i, row - n)).map(|i| i as u32));
            columns.push(row as u32);
        }
    });
    let matrix = Bsr::<1, 1>::assembled(Arc::new(pattern), |row, columns, blocks| {
        for (&column, block) in columns.iter().zip(blocks) {
            let column = column as usize;
            block[0][0] = match (row < n, column < n) {
                (true, true) => a.get(row, column).expect("stored")[0][0],
                (false, false) => -0.1,
                _ => 1.0 + (row.min(column) % 3) as f64,
            };
        }
    });
    let b: Vec<f64> = (0..n + m).map(|i| (i as f64).cos()).collect();
    let precondition = |r: &[f64], z: &mut [f64]| {
        for i in 0..n + m {
            z[i] = if i < n { 0.5 * r[i] } else { 0.2 * r[i] };
        }
    };
    let mut x = vec![1.0; n + m];
    let params = SolveParams { tolerance: 1e-12, max_iterations: 200 };
    let info = minres(&b, &mut x, |p, q| matrix.apply(p, q), precondition, &params).expect("converges");
    assert!(difference(&x, &direct(&matrix, &b)) < 1e-9);
    assert!(info.history.windows(2).all(|pair| pair[1] <= pair[0]));
    assert!(info.iterations < 82, "{}", info.iterations);
}

#[test]
fn what_does_not_converge_or_is_not_finite_is_refused() {
    let matrix = line(100, 0.0, 0.0);
    let same = |r: &[f64], z: &mut [f64]| z.copy_from_slice(r);
    let few = SolveParams { tolerance: 1e-9, max_iterations: 7 };
    let restart = GmresParams { tolerance: 1e-9, max_iterations: 7, restart: 3 };
    let by_gmres = |b: &[f64], len: usize| {
        flexible_gmres(b, &mut vec![0.0; len], |p, q| matrix.apply(p, q), same, &restart)
    };
    let by_minres =
        |b: &[f64], len: usize| minres(b, &mut vec![0.0; len], |p, q| matrix.apply(p, q), same, &few);
    for solve in [&by_gmres as &dyn Fn(&[f64], usize) -> Result<_, _>, &by_minres] {
        let Err(SolveError::NotConverged { history, .. }) = solve(&[1.0; 100], 100) else {
            panic!("seven iterations are too few");
        };
        assert_eq!(history.len(), 8);
        assert_eq!(solve(&[1.0; 100], 99), Err(SolveError::Length { expected: 100, found: 99 }));
        assert_eq!(solve(&[f64::INFINITY; 100], 100), Err(SolveError::NotFinite));
        assert_eq!(solve(&[0.0; 100], 100).expect("nothing to do").iterations, 0);
    }
    let nothing = |_: &[f64], z: &mut [f64]| z.fill(f64::NAN);
    let mut x = vec![0.0; 100];
    let result = flexible_gmres(&[1.0; 100], &mut x, |p, q| matrix.apply(p, q), nothing, &restart);
    assert!(matches!(result, Err(SolveError::NotConverged { .. })));
    let result = minres(&[1.0; 100], &mut x, |p, q| matrix.apply(p, q), nothing, &few);
    assert!(matches!(result, Err(SolveError::NotConverged { .. })));
}

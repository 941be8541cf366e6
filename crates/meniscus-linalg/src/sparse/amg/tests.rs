use std::sync::Arc;

use super::aggregates::{aggregate, strong};
use super::level::Plan;
use super::tentative::tentative;
use super::*;
use crate::sparse::Pattern;
use crate::sparse::pattern::NONE;

/// Squares of `n` by `n` points and their neighbours, with a held corner.
fn square(n: usize) -> Bsr<1, 1> {
    let near = |row: usize| {
        let (x, y) = (row % n, row / n);
        let all = (y.saturating_sub(1)..n.min(y + 2))
            .flat_map(move |j| (x.saturating_sub(1)..n.min(x + 2)).map(move |i| (j * n + i) as u32));
        all.collect::<Vec<_>>()
    };
    let pattern = Pattern::from_rows(n * n, n * n, |row, columns| columns.extend(near(row)));
    Bsr::assembled(Arc::new(pattern), |row, columns, blocks| {
        for (&column, block) in columns.iter().zip(blocks.iter_mut()) {
            block[0][0] = if column as usize == row { (columns.len() - 1) as f64 } else { -1.0 };
        }
        if row == 0 {
            blocks[0][0][0] += 1.0;
        }
    })
}

#[test]
fn aggregates_cover_all_that_is_coupled_and_stay_in_their_parts() {
    let matrix = square(20);
    let parts: Vec<u32> = (0..400).map(|row| u32::from(row % 20 > 7)).collect();
    for parts in [None, Some(&parts[..])] {
        let aggregates = aggregate(&strong(&matrix, 0.08, parts));
        assert!(aggregates.of.iter().all(|&k| (k as usize) < aggregates.count));
        assert!((30..100).contains(&aggregates.count), "{} aggregates", aggregates.count);
        let (offsets, members) = aggregates.members();
        assert_eq!(members.len(), 400);
        for k in 0..aggregates.count {
            let members = &members[offsets[k]..offsets[k + 1]];
            assert!(members.iter().all(|&row| aggregates.of[row as usize] as usize == k));
            let part = |row: u32| parts.map_or(0, |parts| parts[row as usize]);
            assert!(members.iter().all(|&row| part(row) == part(members[0])));
        }
    }
    assert!(aggregate(&strong(&matrix, 10.0, None)).of.iter().all(|&k| k == NONE));
}

/// Aggregates of one and two points have dependent motions.
#[test]
fn the_tentative_prolongation_reproduces_the_candidates_with_orthonormal_columns() {
    let points: Vec<[f64; 3]> =
        (0..60).map(|k| [1, 7, 31].map(|m| f64::from(k * m % 37) * 0.1 + 5.0)).collect();
    let candidates = rigid_motions(&points);
    let aggregates = aggregates::Aggregates {
        of: (0..60)
            .map(|k| [0, 1, 1, NONE][k.min(3)].min(if k < 4 { NONE } else { 2 + k as u32 % 5 }))
            .collect(),
        count: 7,
    };
    let (blocks, coarse) = tentative(&candidates, &aggregates);
    for (row, (block, candidate)) in blocks.iter().zip(&candidates).enumerate() {
        let aggregate = aggregates.of[row];
        if aggregate == NONE {
            assert_eq!(*block, [[0.0; 6]; 3]);
            continue;
        }
        let again = crate::sparse::block::product(block, &coarse[aggregate as usize]);
        for (a, b) in again.as_flattened().iter().zip(candidate.as_flattened()) {
            assert!((a - b).abs() < 1e-12, "{again:?} is not {candidate:?}");
        }
    }
    for k in 0..7 {
        let members: Vec<usize> = (0..60).filter(|&row| aggregates.of[row] == k).collect();
        let rank = [3, 5, 6][members.len().min(3) - 1];
        let dot = |a: usize, b: usize| -> f64 {
            members.iter().flat_map(|&row| blocks[row]).map(|values| values[a] * values[b]).sum()
        };
        for (a, b) in (0..36).map(|n| (n / 6, n % 6)).filter(|(a, b)| a != b) {
            assert!(dot(a, b).abs() < 1e-12);
        }
        let lengths: Vec<f64> = (0..6).map(|a| dot(a, a)).collect();
        assert_eq!(lengths.iter().filter(|length| (*length - 1.0).abs() < 1e-12).count(), rank);
        assert_eq!(lengths.iter().filter(|length| **length == 0.0).count(), 6 - rank);
    }
}

/// What a coarse matrix is told from its prolongation, which is found from the products of the cycle with unit vectors.
#[test]
fn coarse_matrices_are_galerkin_products() {
    let (matrix, params) = (square(12), AmgParams::default());
    let ones = vec![[[1.0]]; 144];
    let (plan, _) = Plan::new(&matrix, &ones, None, &params);
    let (mut level, coarse) = Level::<1, 1>::new(&plan, &matrix, &params, 1.0, true).expect("definite");
    let count = plan.aggregates();
    let column = |level: &mut Level<1, 1>, k: usize| -> Vec<f64> {
        let mut unit = vec![[0.0]; count];
        unit[k][0] = 1.0;
        level.prolong(&unit).iter().map(|x| f64::from(x[0])).collect()
    };
    let columns: Vec<Vec<f64>> = (0..count).map(|k| column(&mut level, k)).collect();
    for i in 0..count {
        let mut image = vec![0.0; 144];
        matrix.apply(&columns[i], &mut image);
        for j in 0..count {
            let expected: f64 = columns[j].iter().zip(&image).map(|(a, b)| a * b).sum();
            let found = coarse.get(j, i).map_or(0.0, |block| block[0][0]);
            assert!((found - expected).abs() < 1e-5, "({j}, {i}): {found} is not {expected}");
        }
    }
}

#[test]
fn what_is_not_definite_is_refused() {
    let pattern = Arc::new(Pattern::new(vec![0, 1, 2], vec![0, 0], 2).expect("ascends"));
    let missing = Bsr::<1, 1>::assembled(pattern, |_, _, blocks| blocks.fill([[1.0]]));
    let new = |matrix: &Bsr<1, 1>, len: usize| {
        Amg::new(matrix, &vec![[[1.0]]; len], &AmgParams::default()).map(|_| ()).expect_err("not definite")
    };
    assert_eq!(new(&missing, 2), AmgError::Diagonal { row: 1 });
    let mut matrix = square(20);
    assert_eq!(new(&matrix, 399), AmgError::Length { expected: 400, found: 399 });
    let mut amg = Amg::new(&matrix, &vec![[[1.0]]; 400], &AmgParams::default()).expect("definite");
    assert_eq!(amg.refresh(&square(21)), Err(AmgError::Pattern));
    matrix.update(|row, _, blocks| {
        blocks.iter_mut().for_each(|b| b[0][0] *= if row == 77 { -1.0 } else { 1.0 });
    });
    assert_eq!(new(&matrix, 400), AmgError::Diagonal { row: 77 });
}

/// Nothing is coupled: there are no aggregates, and the smoother is all there is.
#[test]
fn a_diagonal_is_solved_by_the_smoother() {
    let pattern = Arc::new(Pattern::from_rows(300, 300, |row, columns| columns.push(row as u32)));
    let matrix = Bsr::<1, 1>::assembled(pattern, |row, _, blocks| blocks[0][0][0] = 1.0 + row as f64);
    let mut amg = Amg::new(&matrix, &vec![[[1.0]]; 300], &AmgParams::default()).expect("definite");
    let (b, mut x) = (vec![1.0; 300], vec![0.0; 300]);
    let params = crate::SolveParams { tolerance: 1e-6, max_iterations: 3 };
    let product = |p: &[f64], q: &mut [f64]| matrix.apply(p, q);
    crate::conjugate_gradients(&b, &mut x, product, |r, z| amg.apply(r, z), &params).expect("converges");
    assert!((0..300).all(|row| (x[row] * (1.0 + row as f64) - 1.0).abs() < 1e-4));
}

/// Vectors as they come from other units are within reach.
#[test]
fn a_cycle_is_linear_in_its_scale() {
    let mut matrix = square(20);
    let mut amg = Amg::new(&matrix, &vec![[[1.0]]; 400], &AmgParams::default()).expect("definite");
    let r: Vec<f64> = (0..400).map(|i| f64::from(i).sin()).collect();
    let [mut z, mut far] = [vec![0.0; 400], vec![0.0; 400]];
    amg.apply(&r, &mut z);
    matrix.update(|_, _, blocks| blocks.iter_mut().for_each(|b| b[0][0] *= 1e60));
    amg.refresh(&matrix).expect("the same pattern");
    amg.apply(&r.iter().map(|r| 1e-70 * r).collect::<Vec<_>>(), &mut far);
    let size = z.iter().fold(0.0f64, |size, z| size.max(z.abs()));
    assert!(z.iter().zip(&far).all(|(z, far)| (z - 1e130 * far).abs() < 1e-5 * size));
    amg.apply(&[0.0; 400], &mut far);
    assert!(far.iter().all(|z| *z == 0.0));
}

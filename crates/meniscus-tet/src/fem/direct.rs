//! A direct solve: the oracle for iterations, and quick enough for small meshes.

use faer::Col;
use faer::linalg::solvers::Solve;
use faer::sparse::{SparseColMat, Triplet};

use super::rows::BlockRows;
use super::system::{Solution, System};

/// The system has no unique solution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the system of the finite elements is singular")]
pub struct Singular;

/// Solves a system by sparse LU. In each closed part one impulse is 0: one in its lightest fluid, which would feel the
/// rounding of large ones most.
pub fn solve(system: &System) -> Result<Solution, Singular> {
    let (nodes, pressures) = (system.force.len(), system.expansion.len());
    let (first, size) = (3 * nodes, 3 * nodes + pressures);
    let pinned: Vec<usize> = system.closed_parts.iter().map(|part| first + lightest(system, part)).collect();

    let mut entries = Vec::new();
    let mut add = |row: usize, column: usize, value: f64| {
        if !pinned.contains(&row) && !pinned.contains(&column) {
            entries.push(Triplet::new(row, column, value));
        }
    };
    spread(&system.momentum, 0, 0, 1.0, &mut add);
    spread(&system.gradient, 0, first, -1.0, &mut add);
    spread(&system.divergence, first, 0, -1.0, &mut add);
    spread(&system.leak, first, first, -1.0, &mut add);
    entries.extend(pinned.iter().map(|&p| Triplet::new(p, p, -1.0)));

    let right = Col::from_fn(size, |i| match i.checked_sub(first) {
        None => system.force[i / 3][i % 3],
        Some(_) if pinned.contains(&i) => 0.0,
        Some(pressure) => -system.expansion[pressure],
    });
    let matrix =
        SparseColMat::<usize, f64>::try_new_from_triplets(size, size, &entries).map_err(|_| Singular)?;
    let factors = matrix.sp_lu().map_err(|_| Singular)?;
    let rough = factors.solve(&right);
    // One refinement: masses of fluids that differ a thousandfold cost the factors three digits.
    let x = &rough + factors.solve(&right - &matrix * &rough);
    if !x.iter().all(|x| x.is_finite()) {
        return Err(Singular);
    }
    Ok(Solution {
        velocities: (0..nodes).map(|node| std::array::from_fn(|k| x[3 * node + k])).collect(),
        impulses: (first..size).map(|i| x[i]).collect(),
    })
}

/// The pressure of a part whose stabiliser, which goes as 1 / density, is the strongest.
fn lightest(system: &System, part: &[usize]) -> usize {
    let strength = |q: usize| system.leak.row(q).find(|&(r, _)| r == q).map_or(0.0, |(_, c)| c[0][0]);
    part.iter().copied().max_by(|&q, &r| strength(q).total_cmp(&strength(r))).expect("a part has pressures")
}

/// Gives each number of a block matrix to `add`, times `sign`, at its place in a matrix of numbers.
fn spread<const R: usize, const C: usize>(
    matrix: &BlockRows<R, C>,
    first_row: usize,
    first_column: usize,
    sign: f64,
    add: &mut impl FnMut(usize, usize, f64),
) {
    for i in 0..matrix.pattern.rows() {
        for (j, block) in matrix.row(i) {
            for (r, row) in block.iter().enumerate() {
                for (c, value) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
                    add(first_row + R * i + r, first_column + C * j + c, sign * value);
                }
            }
        }
    }
}

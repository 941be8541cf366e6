//! Algebraic multigrid by smoothed aggregation (Vanek, Mandel, Brezina 1996).

mod aggregates;
mod arranged;
mod coarsest;
mod level;
mod spectrum;
mod tentative;
#[cfg(test)]
mod tests;

use meniscus_core::parallel;

use super::block::Block;
use super::bsr::{Bsr, same};
use arranged::Vector;
use coarsest::Coarsest;
use level::{Level, Plan};

/// The precision of the cycle. It is a preconditioner, and most of its time goes into reading it.
type Number = f32;

/// Numbers that one task converts.
const COPIED: usize = 1 << 13;

/// How a hierarchy is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AmgParams {
    /// Two unknowns are strongly coupled if |a_ij| is at least this fraction of the geometric mean of their diagonal entries, and
    /// half as much on each next level. For blocks of a mesh 0.04, or 0.02, makes smaller hierarchies.
    pub strength: f64,
    /// The Jacobi step that smooths the prolongation, as a fraction of the inverse of the largest eigenvalue of D^-1 A.
    pub relaxation: f64,
    /// Unknowns, as numbers, below which the system is solved by a dense inverse.
    pub max_coarse: usize,
    /// Levels above the dense one at most.
    pub max_levels: usize,
    /// The degree of the polynomial in D^-1 A that smooths errors before and after the correction by the next level.
    pub degree: usize,
}

impl Default for AmgParams {
    fn default() -> Self {
        Self { strength: 0.08, relaxation: 4.0 / 3.0, max_coarse: 200, max_levels: 10, degree: 2 }
    }
}

/// Why there is no hierarchy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AmgError {
    /// The matrix is not square.
    #[error("a matrix of {rows} rows and {columns} columns is not square")]
    Square {
        /// Rows of blocks.
        rows: usize,
        /// Columns of blocks.
        columns: usize,
    },
    /// There are not as many candidates, or parts, as rows.
    #[error("there are {found} blocks of candidates or parts for {expected} rows")]
    Length {
        /// Rows of blocks.
        expected: usize,
        /// Blocks of candidates, or parts.
        found: usize,
    },
    /// A block on the diagonal is missing, or not positive definite.
    #[error("the diagonal block of row {row} is missing or not positive definite")]
    Diagonal {
        /// The row.
        row: usize,
    },
    /// A matrix with another pattern.
    #[error("the matrix has another pattern than that of the hierarchy")]
    Pattern,
}

/// A V-cycle of smoothed aggregation for a symmetric positive matrix of R x R blocks, as a symmetric positive definite preconditioner.
/// The next levels have K x K blocks: one unknown for each of the K candidates, the vectors that the matrix hardly sees. The
/// matrix may be singular.
pub struct Amg<const R: usize, const K: usize> {
    params: AmgParams,
    len: usize,
    scale: f64,
    finest: Option<(Plan<R, K>, Level<R, K>)>,
    plans: Vec<Plan<K, K>>,
    levels: Vec<Level<K, K>>,
    coarsest: Coarsest,
    sizes: Vec<[usize; 2]>,
    b: Vector<K>,
    x: Vector<K>,
}

impl<const R: usize, const K: usize> Amg<R, K> {
    /// The hierarchy of a matrix, with candidates as a block for each row, whose columns are the vectors: ones for a
    /// Laplacian, [`rigid_motions`] for elasticity.
    ///
    /// # Errors
    /// If the matrix is not square, has no positive definite blocks on its diagonal, or candidates are missing.
    pub fn new(matrix: &Bsr<R, R>, candidates: &[Block<R, K>], params: &AmgParams) -> Result<Self, AmgError> {
        Self::build(matrix, candidates, None, params)
    }

    /// As [`new`](Self::new), where no aggregate holds rows of different parts: a part for each row.
    ///
    /// # Errors
    /// As those of [`new`](Self::new).
    pub fn with_parts(
        matrix: &Bsr<R, R>,
        candidates: &[Block<R, K>],
        parts: &[u32],
        params: &AmgParams,
    ) -> Result<Self, AmgError> {
        Self::build(matrix, candidates, Some(parts), params)
    }

    fn build(
        matrix: &Bsr<R, R>,
        candidates: &[Block<R, K>],
        parts: Option<&[u32]>,
        params: &AmgParams,
    ) -> Result<Self, AmgError> {
        let [rows, columns] = [matrix.pattern().rows(), matrix.pattern().width()];
        if rows != columns {
            return Err(AmgError::Square { rows, columns });
        }
        for found in [candidates.len(), parts.map_or(rows, <[u32]>::len)] {
            if found != rows {
                return Err(AmgError::Length { expected: rows, found });
            }
        }
        let scale = scale_of(matrix)?;
        let len = matrix.height();
        let mut sizes = vec![[len, matrix.pattern().len() * R * R]];
        let mut amg = Self {
            params: *params,
            len,
            scale,
            finest: None,
            plans: Vec::new(),
            levels: Vec::new(),
            coarsest: Coarsest::empty(),
            sizes: Vec::new(),
            b: Vec::new(),
            x: Vec::new(),
        };
        if len <= params.max_coarse {
            amg.coarsest = Coarsest::new(matrix, scale);
        } else {
            let (plan, mut next) = Plan::new(matrix, candidates, parts, params);
            let (level, mut coarse) = Level::new(&plan, matrix, params, scale, true)?;
            amg.finest = Some((plan, level));
            while coarse.height() > params.max_coarse && amg.levels.len() + 1 < params.max_levels {
                sizes.push([coarse.height(), coarse.pattern().len() * K * K]);
                // Coarse matrices couple farther: what counts as strong is halved from level to level.
                let strength = params.strength * 0.5f64.powi(amg.plans.len() as i32 + 1);
                let params = &AmgParams { strength, ..*params };
                let (plan, after) = Plan::new(&coarse, &next.candidates, next.parts.as_deref(), params);
                let (level, after_coarse) = Level::new(&plan, &coarse, params, scale, false)?;
                amg.plans.push(plan);
                amg.levels.push(level);
                (next, coarse) = (after, after_coarse);
            }
            sizes.push([coarse.height(), coarse.height().pow(2)]);
            amg.coarsest = Coarsest::new(&coarse, scale);
            let zeros = || vec![[0.0; K]; coarse.pattern().rows()];
            (amg.b, amg.x) = (zeros(), zeros());
        }
        amg.sizes = sizes;
        Ok(amg)
    }

    /// Takes the numbers of another matrix with the same pattern, and keeps the aggregates. After small changes the
    /// hierarchy may be kept altogether.
    ///
    /// # Errors
    /// If the pattern is another one, or a block on the diagonal is not positive definite.
    pub fn refresh(&mut self, matrix: &Bsr<R, R>) -> Result<(), AmgError> {
        if matrix.height() != self.len {
            return Err(AmgError::Pattern);
        }
        self.scale = scale_of(matrix)?;
        let Some((plan, finest)) = &mut self.finest else {
            self.coarsest = Coarsest::new(matrix, self.scale);
            return Ok(());
        };
        if !same(&plan.pattern, matrix.pattern()) {
            return Err(AmgError::Pattern);
        }
        let (level, mut coarse) = Level::new(plan, matrix, &self.params, self.scale, true)?;
        *finest = level;
        for (plan, level) in self.plans.iter().zip(&mut self.levels) {
            let (renewed, next) = Level::new(plan, &coarse, &self.params, self.scale, false)?;
            (*level, coarse) = (renewed, next);
        }
        self.coarsest = Coarsest::new(&coarse, self.scale);
        Ok(())
    }

    /// Unknowns and stored numbers of every level, the finest first.
    pub fn sizes(&self) -> &[[usize; 2]] {
        &self.sizes
    }

    /// z = B r, one V-cycle.
    ///
    /// # Panics
    /// If a vector has the wrong length.
    pub fn apply(&mut self, r: &[f64], z: &mut [f64]) {
        assert_eq!([r.len(), z.len()], [self.len; 2], "vectors as long as the matrix");
        // Scaled to entries of one, whatever comes in stays within the range of f32.
        let largest = parallel::map_pieces(r, |r| r.iter().fold(0.0, |largest: f64, r| largest.max(r.abs())));
        let size = largest.into_iter().fold(0.0, f64::max);
        if size == 0.0 {
            z.fill(if r.iter().all(|r| *r == 0.0) { 0.0 } else { f64::NAN });
            return;
        }
        let (into, out) = (1.0 / size, size / self.scale);
        let Some((_, finest)) = &mut self.finest else {
            let b: Vec<Number> = r.iter().map(|r| (into * r) as Number).collect();
            let mut x = vec![0.0; b.len()];
            self.coarsest.solve(&b, &mut x);
            z.iter_mut().zip(x).for_each(|(z, x)| *z = out * f64::from(x));
            return;
        };
        copy(r, finest.b.as_flattened_mut(), |r| (into * r) as Number);
        cycle(finest, &mut self.levels, &self.coarsest, [&mut self.b, &mut self.x]);
        copy(finest.x.as_flattened(), z, |x| out * f64::from(x));
    }
}

/// From b to x of a level, by way of all that follow.
fn cycle<const R: usize, const K: usize>(
    level: &mut Level<R, K>,
    rest: &mut [Level<K, K>],
    coarsest: &Coarsest,
    [b, x]: [&mut Vector<K>; 2],
) {
    if let Some((next, rest)) = rest.split_first_mut() {
        level.descend(&mut next.b);
        cycle(next, rest, coarsest, [b, x]);
        level.ascend(&next.x);
    } else {
        level.descend(b);
        coarsest.solve(b.as_flattened(), x.as_flattened_mut());
        level.ascend(x);
    }
}

/// The largest number on the diagonal, which must be stored and positive throughout.
fn scale_of<const B: usize>(matrix: &Bsr<B, B>) -> Result<f64, AmgError> {
    let diagonal = matrix.diagonal();
    match diagonal.iter().position(|value| !(*value > 0.0 && value.is_finite())) {
        Some(place) => Err(AmgError::Diagonal { row: place / B }),
        None => Ok(diagonal.into_iter().fold(0.0, f64::max).max(f64::MIN_POSITIVE)),
    }
}

fn copy<A: Copy + Sync, B: Send>(from: &[A], to: &mut [B], f: impl Fn(A) -> B + Sync) {
    parallel::for_chunks(to, COPIED, |k, to| {
        to.iter_mut().zip(parallel::chunk(from, COPIED, k)).for_each(|(to, from)| *to = f(*from));
    });
}

/// The six rigid motions of points: translations along the axes and rotations about them through the middle of the points.
pub fn rigid_motions(points: &[[f64; 3]]) -> Vec<Block<3, 6>> {
    let mut middle = [0.0; 3];
    for point in points {
        (0..3).for_each(|axis| middle[axis] += point[axis] / points.len() as f64);
    }
    let of = |point: &[f64; 3]| {
        let [x, y, z] = [0, 1, 2].map(|axis| point[axis] - middle[axis]);
        [[1.0, 0.0, 0.0, 0.0, z, -y], [0.0, 1.0, 0.0, -z, 0.0, x], [0.0, 0.0, 1.0, y, -x, 0.0]]
    };
    points.iter().map(of).collect()
}

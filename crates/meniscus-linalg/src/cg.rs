//! Preconditioned conjugate gradients.

use std::borrow::Cow;

use meniscus_core::grid::block_len;
use meniscus_core::parallel;
use meniscus_core::simd::simd;

use crate::deflation::Deflation;
use crate::multigrid::{Multigrid, NullSpace, Vectors};
use crate::operator::{Compliance, Operator, TASK_BLOCKS};
use crate::profile::{Kernel, Profile};
use crate::real::Real;

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolveParams {
    /// The residual to reach, as a fraction of the right-hand side's norm.
    pub tolerance: f64,
    /// Iterations after which the solve has failed.
    pub max_iterations: usize,
}

impl Default for SolveParams {
    fn default() -> Self {
        Self { tolerance: 1e-5, max_iterations: 200 }
    }
}

/// How a solve went.
#[derive(Clone, Debug, PartialEq)]
pub struct SolveInfo {
    /// Iterations taken.
    pub iterations: usize,
    /// |b - A x| / |b| as the iteration tracks it.
    pub relative_residual: f64,
    /// The relative residual before the first and after every iteration.
    pub history: Vec<f64>,
    /// The sealed components, whose right-hand side was made compatible.
    pub sealed: Vec<Sealed>,
    /// Where the time went.
    pub profile: Profile,
}

/// A component of unknowns that nothing anchors: its solution is known up to a constant, and only
/// right-hand sides that sum to zero have one. The mean is taken away from both.
#[derive(Clone, Debug, PartialEq)]
pub struct Sealed {
    /// The flat index of its first unknown.
    pub first: usize,
    /// Its unknowns.
    pub unknowns: usize,
    /// The norm of what was taken from the right-hand side, as a fraction of that side's norm: at
    /// rounding level if the side was compatible.
    pub imbalance: f64,
}

/// Why a solve failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SolveError {
    /// The tolerance was not reached.
    #[error(
        "no convergence: the relative residual is {:.3e} after {} iterations, {tolerance:.1e} was asked for",
        history.last().copied().unwrap_or(f64::NAN), history.len().saturating_sub(1)
    )]
    NotConverged {
        /// The tolerance that was asked for.
        tolerance: f64,
        /// The relative residual before the first and after every iteration.
        history: Vec<f64>,
    },
    /// Which bounded unknowns are zero was not found.
    #[error(
        "the bounds were not met: |min(x, A x - b)| is {complementarity:.1e} of the solution after {rounds} rounds"
    )]
    NotSettled {
        /// The rounds that were tried.
        rounds: usize,
        /// The residual of the conditions.
        complementarity: f64,
    },
    /// A vector has the wrong length.
    #[error("a vector has {found} entries, the operator has {expected}")]
    Length {
        /// Entries of the operator.
        expected: usize,
        /// Entries of the vector.
        found: usize,
    },
    /// The right-hand side or the guess holds a number that is not finite.
    #[error("the right-hand side or the initial guess holds a number that is not finite")]
    NotFinite,
}

/// The vectors of a solve. One that is handed from solver to solver saves the system from giving out the
/// same memory again and again.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    residual: Vec<f64>,
    direction: Vec<f64>,
    product: Vec<f64>,
    pub(crate) cycle: Vectors,
    /// The right-hand side and the solution, where the finest level is arranged.
    inner: [Vec<f64>; 2],
    /// Two more that a bounded solve needs.
    pub(crate) of_bounded: [Vec<f64>; 2],
}

/// An operator with its multigrid hierarchy, ready to solve.
pub struct Solver<const D: usize> {
    operator: Operator<D>,
    multigrid: Multigrid<D>,
    deflation: Option<Deflation>,
    /// What the hierarchy does not see.
    kernel: NullSpace,
    /// The null space of the operator, where outer terms hold a part of that.
    left: Option<NullSpace>,
    workspace: Workspace,
}

impl<const D: usize> Solver<D> {
    /// Builds the hierarchy.
    pub fn new(operator: Operator<D>) -> Self {
        Self::with_workspace(operator, Workspace::default())
    }

    /// Builds the hierarchy, to work in memory that an earlier solver used.
    pub fn with_workspace(operator: Operator<D>, mut workspace: Workspace) -> Self {
        let Operator { level, outer } = &operator;
        let touched = outer.touched_blocks::<D>();
        let multigrid = rayon::scope(|_| Multigrid::new(level, &touched));
        workspace.cycle.fit(multigrid.finest());
        let kernel = multigrid.null_space().with_single(level.len(), outer.bare());
        let deflation = rayon::scope(|_| Deflation::new(level, outer, &kernel, multigrid.places()));
        let left = deflation.as_ref().map(|_| kernel.unfelt_by(outer));
        Self { operator, multigrid, deflation, kernel, left, workspace }
    }

    /// The memory, for the next solver.
    pub fn into_workspace(self) -> Workspace {
        self.workspace
    }

    /// The operator.
    pub fn operator(&self) -> &Operator<D> {
        &self.operator
    }

    pub(crate) fn null_space(&self) -> &NullSpace {
        self.left.as_ref().unwrap_or(self.multigrid.null_space())
    }

    /// Puts another matrix in the place of the inverse masses of all outer terms: see [`Operator::set_compliance`]. It costs next to nothing.
    ///
    /// # Panics
    /// As that.
    pub fn set_compliance(&mut self, compliance: Vec<Compliance>) {
        self.operator.set_compliance(compliance);
        let outer = &self.operator.outer;
        if let Some(deflation) = &mut self.deflation {
            deflation.set_compliance(outer);
            self.left = Some(self.kernel.unfelt_by(outer));
        }
    }

    /// An estimate of J A^-1 J^T, with A the operator without outer terms and J those of their columns, row by row: what resists their degrees of freedom beside
    /// their own masses. It is not more than that, and very large where A holds them.
    pub fn outer_inertia(&self) -> Vec<f64> {
        self.deflation.as_ref().map_or_else(Vec::new, Deflation::inertia)
    }

    /// The cells of chambers that nothing but outer terms holds, and that have no extra unknown, in ascending order.
    pub fn sealed_cells(&self) -> Vec<usize> {
        self.multigrid.null_space().sealed_cells(self.operator.level.slots())
    }

    /// Unknowns of every level, finest first.
    pub fn level_sizes(&self) -> Vec<usize> {
        std::iter::once(self.operator.level.unknowns()).chain(self.multigrid.coarse_sizes()).collect()
    }

    /// |b - A x| / |b|, computed afresh; b is made compatible first, as [`Solver::solve`] does.
    pub fn relative_residual(&mut self, b: &[f64], x: &[f64]) -> f64 {
        let chunk = TASK_BLOCKS * block_len::<D>();
        let square_b = dot(b, b, chunk);
        if square_b == 0.0 {
            return 0.0;
        }
        let mut q = std::mem::take(&mut self.workspace.product);
        q.resize(b.len(), 0.0);
        self.operator.apply(x, &mut q);
        let (b, _) = self.compatible(b, square_b.sqrt());
        each_chunk(&mut q, &b, |q, b| *q = b - *q);
        let relative = (dot(&q, &q, chunk) / square_b).sqrt();
        self.workspace.product = q;
        relative
    }

    /// z = B r with the preconditioner B, one V-cycle.
    ///
    /// # Panics
    ///
    /// If the vectors are not as long as the operator.
    pub fn precondition(&mut self, r: &[f64], z: &mut [f64]) {
        assert!(
            r.len() == self.operator.len() && z.len() == r.len(),
            "vectors must be as long as the operator"
        );
        let vectors = &mut self.workspace.cycle;
        let mut inner = Cow::Borrowed(r);
        if let Some(places) = self.multigrid.places() {
            places.gather(r, 0.0, inner.to_mut());
        }
        let mut within = Vec::new();
        if let Some(deflation) = &self.deflation {
            within.resize(inner.len(), 0.0);
            deflation.solve_within(&mut within, inner.to_mut());
            deflation.kernel().project_out(inner.to_mut());
        }
        each_chunk(&mut vectors.b, &inner, |b, r| *b = r as f32);
        rayon::scope(|_| self.multigrid.cycle(vectors, &mut Profile::default()));
        if let Some(deflation) = &self.deflation {
            deflation.correct(&deflation.correction(&vectors.x, &inner, 1.0).0, &mut within);
        }
        each_chunk(inner.to_mut(), &vectors.x, |z, x| *z = f64::from(x));
        if self.deflation.is_some() {
            each_chunk(inner.to_mut(), &within, |z, w| *z += w);
        }
        match self.multigrid.places() {
            Some(places) => places.scatter(&inner, z),
            None => z.copy_from_slice(&inner),
        }
    }

    /// Solves A x = b; `x` holds the initial guess and receives the solution.
    pub fn solve(&mut self, b: &[f64], x: &mut [f64], params: &SolveParams) -> Result<SolveInfo, SolveError> {
        let expected = self.operator.len();
        for found in [b.len(), x.len()] {
            if found != expected {
                return Err(SolveError::Length { expected, found });
            }
        }
        rayon::scope(|_| self.iterate(b, x, params))
    }

    fn iterate(&mut self, b: &[f64], x: &mut [f64], params: &SolveParams) -> Result<SolveInfo, SolveError> {
        let chunk = TASK_BLOCKS * block_len::<D>();
        let (square_b, square_x) = (dot(b, b, chunk), dot(x, x, chunk));
        if !square_b.is_finite() || !square_x.is_finite() {
            return Err(SolveError::NotFinite);
        }
        let (b, sealed) = self.compatible(b, square_b.sqrt());
        let norm_b = if sealed.is_empty() { square_b } else { dot(&b, &b, chunk) }.sqrt();
        // What is left of an incompatible side may be nothing but rounding.
        if norm_b <= 1e-14 * square_b.sqrt() {
            x.fill(0.0);
            let history = vec![0.0];
            return Ok(SolveInfo {
                iterations: 0,
                relative_residual: 0.0,
                history,
                sealed,
                profile: Profile::default(),
            });
        }
        if square_x > 0.0 {
            self.operator.level.clear_known(x);
        }
        let guess = square_x > 0.0;
        let outcome = match self.multigrid.places() {
            None => self.descend(&b, x, guess, norm_b, params),
            Some(places) => {
                let mut inner = std::mem::take(&mut self.workspace.inner);
                let [inner_b, inner_x] = &mut inner;
                places.gather(&b, 0.0, inner_b);
                if guess {
                    places.gather(x, 0.0, inner_x);
                } else {
                    inner_x.clear();
                    inner_x.resize(places.len(), 0.0);
                }
                let outcome = self.descend(inner_b, inner_x, guess, norm_b, params);
                self.multigrid.places().expect("as before").scatter(inner_x, x);
                self.workspace.inner = inner;
                outcome
            }
        };
        let (history, profile) = outcome?;
        let relative_residual = *history.last().expect("never empty");
        self.null_space().project_out(x);
        Ok(SolveInfo { iterations: history.len() - 1, relative_residual, history, sealed, profile })
    }

    /// The iteration, on vectors as the finest level is arranged; returns its history.
    fn descend(
        &mut self,
        b: &[f64],
        x: &mut [f64],
        guess: bool,
        norm_b: f64,
        params: &SolveParams,
    ) -> Result<(Vec<f64>, Profile), SolveError> {
        let chunk = TASK_BLOCKS * block_len::<D>();
        let Workspace { residual: r, direction: p, product: q, cycle, .. } = &mut self.workspace;
        [&mut *r, &mut *p, &mut *q].into_iter().for_each(|vector| vector.resize(b.len(), 0.0));
        let (multigrid, deflation) = (&mut self.multigrid, self.deflation.as_ref());
        let product = |multigrid: &Multigrid<D>, x: &[f64], y: &mut [f64]| {
            let of_terms =
                |y: &mut [f64]| deflation.map_or(0.0, |deflation| deflation.outer().add_product(x, y));
            multigrid.finest().apply(x, y) + of_terms(y)
        };
        each_chunk(r, b, |r, b| *r = b);
        if guess {
            product(multigrid, x, q);
            each_chunk(r, q, |r, q| *r -= q);
        }
        if let Some(deflation) = deflation {
            deflation.solve_within(x, r);
            deflation.kernel().project_out(r);
        }
        // The preconditioner is linear: scaled to one, the residual stays within the range of f32.
        let scale = 1.0 / norm_b;
        each_chunk(&mut cycle.b, r, |b, r| *b = (scale * r) as f32);
        let mut history = vec![dot(r, r, chunk).sqrt() / norm_b];
        let (mut rho, mut profile) = (0.0, Profile::default());
        loop {
            let reached = *history.last().expect("never empty");
            if reached <= params.tolerance {
                break;
            }
            if history.len() > params.max_iterations || !reached.is_finite() {
                return Err(SolveError::NotConverged { tolerance: params.tolerance, history });
            }
            multigrid.cycle(cycle, &mut profile);
            profile.time(Kernel::Direction, || {
                let within = deflation.map(|deflation| deflation.correction(&cycle.x, r, scale));
                let rho_new = dot(r, &cycle.x, chunk) + within.as_ref().map_or(0.0, |within| within.1);
                if history.len() == 1 {
                    each_chunk(p, &cycle.x, |p, z| *p = f64::from(z));
                } else {
                    let beta = rho_new / rho;
                    each_chunk(p, &cycle.x, |p, z| *p = f64::from(z) + beta * *p);
                }
                if let Some((deflation, (within, _))) = deflation.zip(within) {
                    deflation.correct(&within, p);
                }
                rho = rho_new;
            });
            let curvature = profile.time(Kernel::Product, || product(multigrid, p, q));
            let square =
                profile.time(Kernel::Update, || update(x, r, &mut cycle.b, p, q, rho / curvature, scale));
            // Rounding brings the null space back, where nothing would ever take it away.
            let kernel = deflation.map_or(multigrid.inner_null_space(), Deflation::kernel);
            if !kernel.is_empty() {
                kernel.project_out(r);
                match kernel.few() {
                    Some(few) => {
                        for i in few.iter().map(|&i| i as usize) {
                            cycle.b[i] = (scale * r[i]) as f32;
                        }
                    }
                    None => each_chunk(&mut cycle.b, r, |b, r| *b = (scale * r) as f32),
                }
            }
            history.push(square.sqrt() / norm_b);
        }
        Ok((history, profile))
    }

    /// The right-hand side without what no solution can produce.
    fn compatible<'a>(&self, b: &'a [f64], norm: f64) -> (Cow<'a, [f64]>, Vec<Sealed>) {
        let (mut b, mut sealed) = (Cow::Borrowed(b), Vec::new());
        let zero_rows = self.operator.level.zero_rows_with(&b);
        for i in zero_rows.into_iter().filter(|&i| !self.operator.outer.is_bare(i)) {
            sealed.push(Sealed { first: i, unknowns: 1, imbalance: b[i].abs() / norm });
            b.to_mut()[i] = 0.0;
        }
        let null_space = self.null_space();
        if !null_space.is_empty() {
            let coefficients = null_space.project_out(b.to_mut());
            // Once more for what rounding left.
            null_space.project_out(b.to_mut());
            for (vector, k) in null_space.vectors.iter().zip(coefficients) {
                let members = || vector.iter().filter(|(_, w)| w.abs() > 1e-12).map(|&(c, _)| c);
                sealed.push(Sealed {
                    first: members().map(|c| null_space.first[c]).min().unwrap_or(0),
                    unknowns: members().map(|c| null_space.sizes[c]).sum(),
                    imbalance: k.abs() / norm,
                });
            }
        }
        (b, sealed)
    }
}

/// x += alpha p, r -= alpha q, b = scale r; returns r · r.
fn update(x: &mut [f64], r: &mut [f64], b: &mut [f32], p: &[f64], q: &[f64], alpha: f64, scale: f64) -> f64 {
    const CHUNK: usize = 1 << 13;
    let parts = x.chunks_mut(CHUNK).zip(r.chunks_mut(CHUNK)).zip(b.chunks_mut(CHUNK)).collect();
    let update_part = |_: &mut (), k: usize, ((x, r), b): ((&mut [f64], &mut [f64]), &mut [f32])| {
        let [p, q] = [p, q].map(|vector| parallel::chunk(vector, CHUNK, k));
        simd(
            #[inline(always)]
            || {
                for (x, p) in x.iter_mut().zip(p) {
                    *x += alpha * p;
                }
                for ((r, q), b) in r.iter_mut().zip(q).zip(b) {
                    *r -= alpha * q;
                    *b = (scale * *r) as f32;
                }
                lane_dot(r, r)
            },
        )
    };
    parallel::map_parts_with(parts, || (), update_part).iter().sum()
}

/// Calls `f` with every entry of `a` and the entry of `b` at the same place.
pub(crate) fn each_chunk<A: Send, B: Copy + Sync>(a: &mut [A], b: &[B], f: impl Fn(&mut A, B) + Sync) {
    const CHUNK: usize = 1 << 13;
    parallel::for_chunks(a, CHUNK, |k, a| {
        let b = parallel::chunk(b, CHUNK, k);
        simd(
            #[inline(always)]
            || {
                for (a, b) in a.iter_mut().zip(b) {
                    f(a, *b);
                }
            },
        );
    });
}

/// The inner product, summed in an order that does not depend on the number of threads.
pub(crate) fn dot<V: Real>(a: &[f64], b: &[V], chunk: usize) -> f64 {
    let part = |k: usize| {
        let (a, b) = (parallel::chunk(a, chunk, k), parallel::chunk(b, chunk, k));
        simd(
            #[inline(always)]
            || lane_dot(a, b),
        )
    };
    parallel::map(a.len().div_ceil(chunk), part).iter().sum()
}

#[inline(always)]
fn lane_dot<V: Real>(a: &[f64], b: &[V]) -> f64 {
    let (mut lanes, whole) = ([0.0; 8], a.len() / 8 * 8);
    for (a, b) in a.chunks_exact(8).zip(b.chunks_exact(8)) {
        for i in 0..8 {
            lanes[i] += a[i] * b[i].f64();
        }
    }
    let rest: f64 = a[whole..].iter().zip(&b[whole..]).map(|(a, b)| a * b.f64()).sum();
    lanes.iter().sum::<f64>() + rest
}

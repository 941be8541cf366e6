//! Solutions by conjugate gradients, preconditioned by the multigrid and what goes with it.

use std::borrow::Cow;

use meniscus_core::grid::block_len;

use crate::conjugate::{Iteration, iterate};
use crate::deflation::Deflation;
use crate::multigrid::{Multigrid, NullSpace, Vectors};
use crate::operator::{Compliance, Operator, TASK_BLOCKS};
use crate::outcome::{Sealed, SolveError, SolveInfo, SolveParams};
use crate::profile::Profile;
use crate::vectors::{dot, each_chunk, update};

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
    /// The right-hand side without the active unknowns and the gradient of a bounded solve.
    pub(crate) of_bounded: [Vec<f64>; 2],
}

/// An operator with its multigrid hierarchy, ready to solve.
pub struct Solver<const D: usize> {
    operator: Operator<D>,
    multigrid: Multigrid<D>,
    deflation: Option<Deflation>,
    /// What the operator without outer terms does not see, and unknowns that nothing else holds.
    kernel: NullSpace,
    /// The null space of the operator with outer terms, if it has any: what of the kernel these do not hold.
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
    /// If a matrix is not square, or a degree of freedom is in two groups, or there is none of its number.
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
            return Ok(SolveInfo::idle(sealed));
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

    /// The iteration, on vectors as the finest level is arranged; `x` holds a guess or zeros.
    fn descend(
        &mut self,
        b: &[f64],
        x: &mut [f64],
        guess: bool,
        norm_b: f64,
        params: &SolveParams,
    ) -> Result<(Vec<f64>, Profile), SolveError> {
        let Workspace { residual: r, direction: p, product: q, cycle, .. } = &mut self.workspace;
        [&mut *r, &mut *p, &mut *q].into_iter().for_each(|vector| vector.resize(b.len(), 0.0));
        let (multigrid, deflation) = (&mut self.multigrid, self.deflation.as_ref());
        let (scale, within) = (1.0 / norm_b, None);
        let mut descent = Descent { multigrid, deflation, x, r, p, q, cycle, norm_b, scale, within };
        descent.begin(b, guess);
        iterate(&mut descent, params)
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

/// The iteration of a [`Solver`]. The preconditioner is linear: it is given the residual scaled to norm one, which stays within the range of f32.
struct Descent<'a, const D: usize> {
    multigrid: &'a mut Multigrid<D>,
    deflation: Option<&'a Deflation>,
    x: &'a mut [f64],
    r: &'a mut [f64],
    p: &'a mut [f64],
    q: &'a mut [f64],
    /// From the scaled residual to what the multigrid makes of it.
    cycle: &'a mut Vectors,
    norm_b: f64,
    /// Of the residual.
    scale: f64,
    /// What deflation adds to the latest cycle, and its product with the residual.
    within: Option<(Vec<f64>, f64)>,
}

impl<const D: usize> Descent<'_, D> {
    /// Entries that are summed up one after another.
    const CHUNK: usize = TASK_BLOCKS * block_len::<D>();

    fn begin(&mut self, b: &[f64], guess: bool) {
        each_chunk(self.r, b, |r, b| *r = b);
        if guess {
            product(self.multigrid, self.deflation, self.x, self.q);
            each_chunk(self.r, self.q, |r, q| *r -= q);
        }
        if let Some(deflation) = self.deflation {
            deflation.solve_within(self.x, self.r);
            deflation.kernel().project_out(self.r);
        }
        self.scale_residual();
    }

    fn scale_residual(&mut self) {
        let scale = self.scale;
        each_chunk(&mut self.cycle.b, self.r, |b, r| *b = (scale * r) as f32);
    }

    /// Rounding brings the null space back, where nothing would ever take it away.
    fn take_null_space_away(&mut self) {
        let kernel = self.deflation.map_or(self.multigrid.arranged_null_space(), Deflation::kernel);
        if kernel.is_empty() {
            return;
        }
        kernel.project_out(self.r);
        match kernel.few() {
            Some(few) => {
                for i in few.iter().map(|&i| i as usize) {
                    self.cycle.b[i] = (self.scale * self.r[i]) as f32;
                }
            }
            None => self.scale_residual(),
        }
    }
}

impl<const D: usize> Iteration for Descent<'_, D> {
    fn residual(&self) -> f64 {
        dot(self.r, self.r, Self::CHUNK).sqrt() / self.norm_b
    }

    fn precondition(&mut self, profile: &mut Profile) {
        self.multigrid.cycle(self.cycle, profile);
    }

    fn gain(&mut self) -> f64 {
        let z = &self.cycle.x;
        self.within = self.deflation.map(|deflation| deflation.correction(z, self.r, self.scale));
        dot(self.r, z, Self::CHUNK) + self.within.as_ref().map_or(0.0, |within| within.1)
    }

    fn turn(&mut self, beta: Option<f64>) {
        match beta {
            None => each_chunk(self.p, &self.cycle.x, |p, z| *p = f64::from(z)),
            Some(beta) => each_chunk(self.p, &self.cycle.x, |p, z| *p = f64::from(z) + beta * *p),
        }
        if let Some((deflation, (within, _))) = self.deflation.zip(self.within.take()) {
            deflation.correct(&within, self.p);
        }
    }

    fn product(&mut self) -> f64 {
        product(self.multigrid, self.deflation, self.p, self.q)
    }

    fn advance(&mut self, alpha: f64) -> f64 {
        let square = update(self.x, self.r, &mut self.cycle.b, self.p, self.q, alpha, self.scale);
        self.take_null_space_away();
        square.sqrt() / self.norm_b
    }
}

/// y = K x with all terms; returns x · y.
fn product<const D: usize>(
    multigrid: &Multigrid<D>,
    deflation: Option<&Deflation>,
    x: &[f64],
    y: &mut [f64],
) -> f64 {
    multigrid.finest().apply(x, y) + deflation.map_or(0.0, |deflation| deflation.outer().add_product(x, y))
}

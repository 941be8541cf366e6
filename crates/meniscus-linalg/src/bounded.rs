//! Solutions that are not negative where they must not be.
//!
//! The minimum of ½ x·A x - b·x over all x with `x_i >= 0` for the *bounded* unknowns i is where, with g = A x - b,
//!
//! ```text
//! g_i = 0 for the unknowns without a bound,    0 <= x_i,  0 <= g_i,  x_i g_i = 0  for the others
//! ```
//!
//! If it were known which bounded unknowns are zero (the *active* ones), what is left is a linear system, and the
//! multigrid of that system is the right preconditioner: one of the whole operator does not know that the solution vanishes on
//! the active unknowns, and is off by the most for what is smooth. So each round guesses a set, solves without it, and from the outcome makes the next
//! guess: unknowns that came out negative become active, active ones with a negative g are let go. This is the primal-dual
//! active set method (Hintermüller, Ito, Kunisch 2003), which is Newton's method for g and x. For a stencil with extra unknowns,
//! an M-matrix, the rounds are monotone after the first and end. Low-rank terms are none, and rounds may repeat themselves; after some
//! rounds every further one must lower the minimised function (projected Newton method, Bertsekas 1982), which ends for any
//! definite operator.
//!
//! Early rounds are solved loosely. The set is looked at through the residual of the conditions, |min(x_i, g_i)|, and need not
//! be settled where both are nothing but rounding.
//!
//! # Sealed components
//! In a component without an anchor, what is bounded fixes the level of the solution: its least bounded unknown is zero. A
//! right-hand side with a negative sum, for which the plain system has no solution, has one here, since g may be positive.
//! One with a positive sum still has none; its mean is taken away, and the result says so.

use meniscus_core::grid::block_len;

use crate::operator::{Operator, TASK_BLOCKS};
use crate::outcome::{SolveError, SolveInfo, SolveParams};
use crate::profile::Profile;
use crate::solver::{Solver, Workspace};
use crate::vectors::{dot, each_chunk};

/// The relative residual of rounds after which much of the set changes. Found by measurement: with 1e-3 a tank takes 58 iterations instead of 48, and with 0.1
/// guesses mislead and a good first one is worth less (`the_work_hardly_grows_with_the_size` in `tests/bounded.rs` notices both).
const LOOSE: f64 = 1e-2;

/// The part of the bounded unknowns that is not much. Found by measurement: none instead takes up to 13 rounds, a tenth 67 iterations instead of 48 (the
/// same test).
const FEW: f64 = 0.02;

/// The residual of the conditions, as a part of the scale of the solution, at which a set is accepted: within the 1e-6 that [`solve_bounded`] promises, which
/// `tests/bounded.rs` asks for. A tenth of it takes more rounds (`the_work_hardly_grows_with_the_size`).
const COMPLEMENTARITY: f64 = 3e-7;

/// Rounds in which the next set is guessed from the last, with low-rank terms; without them all are. Guesses seldom go in circles: the tests take as many rounds with any
/// number from 3 on, and `guessing_and_descending_find_the_same` has none.
const GUESSES: usize = 30;

/// Rounds after which the solve has failed; with 15 `a_string_touches_an_obstacle_along_the_part_that_it_should` does.
const ROUNDS: usize = 200;

/// The sum of the right-hand side of a sealed component below this part of its norm is none: above rounding, below anything meant. No test tells 1e-14
/// from 1e-3: a component that is taken for balanced wrongly is held by its bounds one round later.
const BALANCED: f64 = 1e-10;

/// How a bounded solve went.
#[derive(Clone, Debug, PartialEq)]
pub struct BoundedInfo {
    /// The inner solves together; the residual is that of the unknowns that are not active.
    pub solve: SolveInfo,
    /// Rounds: how many sets were solved for, and the same one again to a tighter tolerance.
    pub rounds: usize,
    /// The bounded unknowns that are zero, in the order in which they were given.
    pub active: Vec<usize>,
    /// The largest |min(x_i, g_i)| of a bounded unknown, as a part of the largest |x_i| or |b_i|.
    pub complementarity: f64,
}

/// Minimises ½ x·A x - b·x with x_i >= 0 for the unknowns i in `bounded`. `x` holds the initial guess, from which the first guess of what
/// is zero is made as well, and receives the solution. [`BoundedInfo::complementarity`] is at most 1e-6.
///
/// # Errors
/// If the tolerance is not reached, or the zero unknowns are not found.
///
/// # Panics
/// If `bounded` names an unknown that is not there.
pub fn solve_bounded<const D: usize>(
    operator: &Operator<D>,
    bounded: &[usize],
    b: &[f64],
    x: &mut [f64],
    params: &SolveParams,
    workspace: &mut Workspace,
) -> Result<BoundedInfo, SolveError> {
    for found in [b.len(), x.len()] {
        if found != operator.len() {
            return Err(SolveError::Length { expected: operator.len(), found });
        }
    }
    rayon::scope(|_| {
        let mut rounds = Rounds::new(operator, bounded, b, x, params, workspace)?;
        let guesses = if operator.outer.is_empty() && operator.level.matrix.low_rank.is_empty() {
            ROUNDS
        } else {
            GUESSES
        };
        let outcome = rounds.run(x, guesses);
        rounds.give_back(workspace);
        outcome
    })
}

/// The rounds of a solve.
struct Rounds<'a, const D: usize> {
    operator: &'a Operator<D>,
    bounded: &'a [usize],
    b: &'a [f64],
    params: SolveParams,
    norm_b: f64,
    /// Whether an unknown is active.
    active: Vec<bool>,
    /// The solver without the active unknowns.
    solver: Option<Solver<D>>,
    memory: Workspace,
    /// b without the active unknowns.
    rest: Vec<f64>,
    /// g = A x - b of the latest x, without what is in the null space.
    gradient: Vec<f64>,
    /// Bounded unknowns that must be active, or a sealed component could not grow.
    forced: Vec<usize>,
    count: usize,
    log: SolveInfo,
}

impl<'a, const D: usize> Rounds<'a, D> {
    fn new(
        operator: &'a Operator<D>,
        bounded: &'a [usize],
        b: &'a [f64],
        x: &mut [f64],
        params: &SolveParams,
        workspace: &mut Workspace,
    ) -> Result<Self, SolveError> {
        let chunk = TASK_BLOCKS * block_len::<D>();
        let (square_b, square_x) = (dot(b, b, chunk), dot(x, x, chunk));
        if !square_b.is_finite() || !square_x.is_finite() {
            return Err(SolveError::NotFinite);
        }
        let mut memory = std::mem::take(workspace);
        let [rest, gradient] = std::mem::take(&mut memory.of_bounded);
        let log = SolveInfo {
            iterations: 0,
            relative_residual: 0.0,
            history: Vec::new(),
            sealed: Vec::new(),
            profile: Profile::default(),
        };
        let mut this = Self {
            operator,
            bounded,
            b,
            params: *params,
            norm_b: square_b.sqrt(),
            active: vec![false; b.len()],
            solver: None,
            memory,
            rest,
            gradient,
            forced: Vec::new(),
            count: 0,
            log,
        };
        this.rest.resize(b.len(), 0.0);
        this.gradient.resize(b.len(), 0.0);
        operator.level.clear_known(x);
        this.find_gradient(x);
        // Those that a step of relaxation would make negative.
        let diagonal = operator.diagonal();
        for &i in bounded {
            this.active[i] = diagonal[i] * x[i] < this.gradient[i];
        }
        Ok(this)
    }

    fn give_back(self, workspace: &mut Workspace) {
        *workspace = self.solver.map_or(self.memory, Solver::into_workspace);
        workspace.of_bounded = [self.rest, self.gradient];
    }

    fn run(&mut self, x: &mut [f64], guesses: usize) -> Result<BoundedInfo, SolveError> {
        let asked = self.params.tolerance;
        let mut tolerance = asked.max(LOOSE);
        loop {
            if self.count == ROUNDS {
                return Err(SolveError::NotSettled {
                    rounds: ROUNDS,
                    complementarity: self.complementarity(x),
                });
            }
            if self.count < guesses {
                self.solve_round(x, tolerance)?;
            } else {
                self.descend(x, tolerance)?;
            }
            let is_solved = tolerance <= asked && self.forced.is_empty();
            if is_solved && self.complementarity(x) <= COMPLEMENTARITY {
                return Ok(self.finish(x));
            }
            let changes = if self.count < guesses { self.guess(x) } else { self.bind(x) };
            tolerance = match (tolerance > asked, changes) {
                (false, 0) => 0.1 * tolerance,
                (true, changes) if changes as f64 > FEW * self.bounded.len() as f64 => tolerance,
                _ => asked,
            };
        }
    }

    /// Solves for the unknowns that are not active.
    fn solve_round(&mut self, x: &mut [f64], tolerance: f64) -> Result<(), SolveError> {
        let chunk = TASK_BLOCKS * block_len::<D>();
        each_chunk(&mut self.rest, self.b, |rest, b| *rest = b);
        for &i in self.bounded.iter().filter(|&&i| self.active[i]) {
            (self.rest[i], x[i]) = (0.0, 0.0);
        }
        let norm = dot(&self.rest, &self.rest, chunk).sqrt();
        let part = if self.norm_b > 0.0 { norm / self.norm_b } else { 1.0 };
        let memory = &mut self.memory;
        let solver = self.solver.get_or_insert_with(|| {
            Solver::with_workspace(self.operator.without(&self.active), std::mem::take(memory))
        });
        let params = SolveParams { tolerance: tolerance / part.max(f64::MIN_POSITIVE), ..self.params };
        let info = solver.solve(&self.rest, x, &params)?;
        self.forced = solver.null_space().raise(x, self.bounded, self.b, BALANCED * self.norm_b);
        self.log.iterations += info.iterations;
        self.log.relative_residual = info.relative_residual * part;
        self.log.history.extend(info.history.iter().map(|r| r * part));
        self.log.profile.add(&info.profile);
        self.log.sealed = info.sealed;
        self.count += 1;
        self.find_gradient(x);
        Ok(())
    }

    fn find_gradient(&mut self, x: &[f64]) {
        self.operator.apply(x, &mut self.gradient);
        each_chunk(&mut self.gradient, self.b, |g, b| *g -= b);
        if let Some(solver) = &self.solver {
            solver.null_space().project_out(&mut self.gradient);
        }
    }

    /// The residual of the conditions.
    fn complementarity(&self, x: &[f64]) -> f64 {
        let largest = |values: &[f64]| values.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
        let worst =
            self.bounded.iter().fold(0.0, |worst: f64, &i| worst.max(x[i].min(self.gradient[i]).abs()));
        worst / largest(x).max(largest(self.b)).max(f64::MIN_POSITIVE)
    }

    /// Guesses the next set; how much of it is new.
    fn guess(&mut self, x: &[f64]) -> usize {
        let next = |this: &Self, i: usize| if this.active[i] { this.gradient[i] >= 0.0 } else { x[i] < 0.0 };
        self.set(next)
    }

    /// Makes those active that are at their bound and held there by the gradient; how much of the set is new.
    fn bind(&mut self, x: &[f64]) -> usize {
        self.set(|this, i| x[i] <= 0.0 && this.gradient[i] > 0.0)
    }

    fn set(&mut self, is_active: impl Fn(&Self, usize) -> bool) -> usize {
        let mut changes = 0;
        for &i in self.bounded {
            let next = is_active(self, i) || self.forced.contains(&i);
            changes += usize::from(next != self.active[i]);
            self.active[i] = next;
        }
        if let Some(solver) = self.solver.take_if(|_| changes > 0) {
            self.memory = solver.into_workspace();
        }
        changes
    }

    /// Moves towards the solution of the unknowns that are not active, along its projection on the bounds, as far as
    /// the minimised function falls.
    fn descend(&mut self, x: &mut [f64], tolerance: f64) -> Result<(), SolveError> {
        // The part of the fall along the slope that a step must keep (Armijo's rule, as Bertsekas 1982 has it: any below ½ ends), and the part of the way at which
        // rounding is all that is left. Both only tell when to stop halving: `guessing_and_descending_find_the_same` is as good with any.
        const SLOPE: f64 = 1e-4;
        const SHORTEST: f64 = 1e-10;
        let chunk = TASK_BLOCKS * block_len::<D>();
        self.clip(x);
        self.find_gradient(x);
        self.bind(x);
        let (from, slope) = (x.to_vec(), self.gradient.clone());
        self.solve_round(x, tolerance)?;
        let target = x.to_vec();
        let (mut length, mut step, mut product) = (1.0, vec![0.0; x.len()], vec![0.0; x.len()]);
        loop {
            for (x, (from, target)) in x.iter_mut().zip(from.iter().zip(&target)) {
                *x = from + length * (target - from);
            }
            self.clip(x);
            step.iter_mut().zip(&*x).zip(&from).for_each(|((step, x), from)| *step = x - from);
            let curvature = self.operator.apply(&step, &mut product);
            let fall = dot(&slope, &step, chunk);
            if 0.5 * curvature + fall <= SLOPE * fall || length < SHORTEST {
                break;
            }
            length *= 0.5;
        }
        self.find_gradient(x);
        Ok(())
    }

    fn clip(&self, x: &mut [f64]) {
        for &i in self.bounded {
            x[i] = x[i].max(0.0);
        }
    }

    fn finish(&mut self, x: &mut [f64]) -> BoundedInfo {
        self.clip(x);
        self.find_gradient(x);
        let complementarity = self.complementarity(x);
        BoundedInfo {
            solve: self.log.clone(),
            rounds: self.count,
            active: self.bounded.iter().copied().filter(|&i| x[i] == 0.0).collect(),
            complementarity,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use meniscus_core::grid::{Blocks, Slot};

    use super::*;
    use crate::{LowRankTerm, Patch};

    /// A box of 16² cells below known ones, with a body that all cells of its walls push.
    fn tank() -> (Operator<2>, Vec<usize>) {
        let blocks = Arc::new(Blocks::new([16, 16], |coord| coord.iter().all(|&c| c < 2)));
        let at = blocks.clone();
        let fill = |block: usize, patch: &mut Patch<2>| {
            for local in 0..64 {
                let cell = at.cell(Slot { block, local });
                for (axis, side) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                    if cell[axis] != 15 * side {
                        patch.set_face(axis, side, local, 1.0);
                    }
                }
                patch.anchors[local] = if cell[1] == 15 { 2.0 } else { 0.0 };
            }
        };
        let is_wall = |i: &usize| {
            let cell = blocks.cell(Slot { block: i / 64, local: i % 64 });
            cell[0] % 15 == 0 || cell[1] == 0
        };
        let walls: Vec<usize> = (0..256).filter(is_wall).collect();
        let columns = walls.iter().map(|&i| wave(i, 0.7)).collect();
        let term = LowRankTerm { inverse_mass: vec![5.0], unknowns: walls.clone(), columns };
        let operator = Operator::assemble(blocks.clone(), fill, &[], &[term]).expect("a valid operator");
        (operator, walls)
    }

    fn wave(i: usize, frequency: f64) -> f64 {
        (frequency * i as f64).sin()
    }

    #[test]
    fn guessing_and_descending_find_the_same() {
        let (operator, walls) = tank();
        let b: Vec<f64> = (0..256).map(|i| wave(i, 1.3)).collect();
        let params = SolveParams { tolerance: 1e-12, max_iterations: 200 };
        let [guessed, descended] = [GUESSES, 0].map(|guesses| {
            let mut x = vec![0.0; 256];
            let mut rounds = Rounds::new(&operator, &walls, &b, &mut x, &params, &mut Workspace::default())
                .expect("finite numbers");
            let info = rounds.run(&mut x, guesses).expect("converges");
            assert!(info.complementarity < 1e-6 && !info.active.is_empty(), "{info:?}");
            (x, info.active)
        });
        assert_eq!(guessed.1, descended.1);
        let error = guessed.0.iter().zip(&descended.0).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(error < 1e-9, "{error}");
    }
}

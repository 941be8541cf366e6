//! An iterative solve: flexible GMRES with a block-triangular preconditioner of algebraic multigrids.

use std::sync::Arc;

use meniscus_linalg::sparse::{
    Amg, AmgError, AmgParams, Bsr, GmresParams, Pattern, PatternError, Product, flexible_gmres, rigid_motions,
};
use meniscus_linalg::{SolveError, SolveInfo};

use super::rows::BlockRows;
use super::system::{Solution, System};

/// Why a system was not solved.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum IterativeError {
    /// Its rows are in disorder.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// A part of it is not positive.
    #[error(transparent)]
    Hierarchy(#[from] AmgError),
    /// The iteration did not reach its tolerance.
    #[error(transparent)]
    Iteration(#[from] SolveError),
}

/// Strength of coupling for the hierarchy of the velocities.
const STRENGTH_OF_VELOCITIES: f64 = 0.04;

/// Solves a system to a residual that is this part of the right-hand side; `points` are the positions of its velocities.
///
/// Of [[A, -G], [-D, -C]] the inverse of the lower triangle is applied, with a V-cycle for A, or its diagonal where it has no other entries, and one for D diag(M)^-1 G + C,
/// the matrix of the pressures without viscosity, beside which a viscous fluid's pressure is its viscosity times the divergence (Cahouet and Chabard 1988).
/// The product must be that one: velocities couple the pressures of fluids that touch, which a Laplacian for each would not.
///
/// # Errors
/// If the tolerance is not reached, or a matrix is not what it should be.
pub fn solve(
    system: &System,
    points: &[[f64; 3]],
    tolerance: f64,
) -> Result<(Solution, SolveInfo), IterativeError> {
    let scaled = Scaled::new(system)?;
    let mut preconditioner = Preconditioner::new(system, &scaled, points)?;
    let nodes = 3 * system.force.len();
    let rhs: Vec<f64> = (system.force.iter().flatten().map(|f| f / scaled.of_velocities))
        .chain(system.expansion.iter().map(|c| -c / scaled.of_pressures))
        .collect();
    let mut x = vec![0.0; rhs.len()];
    let params = GmresParams { tolerance, ..GmresParams::default() };
    let product = |x: &[f64], y: &mut [f64]| scaled.apply(nodes, x, y);
    let precondition = |r: &[f64], z: &mut [f64]| preconditioner.apply(&scaled, nodes, r, z);
    let info = flexible_gmres(&rhs, &mut x, product, precondition, &params)?;
    let (velocities, impulses) = x.split_at(nodes);
    let velocities = velocities.as_chunks::<3>().0.iter();
    let solution = Solution {
        velocities: velocities.map(|u| u.map(|u| u / scaled.of_velocities)).collect(),
        impulses: impulses.iter().map(|l| l / scaled.of_pressures).collect(),
    };
    Ok((solution, info))
}

/// The matrices in units in which velocities and pressures count alike: their diagonals are about one.
struct Scaled {
    momentum: Bsr<3, 3>,
    gradient: Bsr<3, 1>,
    divergence: Bsr<1, 3>,
    leak: Bsr<1, 1>,
    /// The root of a mass.
    of_velocities: f64,
    /// The root of an entry of the pressures' matrix.
    of_pressures: f64,
}

impl Scaled {
    fn new(system: &System) -> Result<Self, PatternError> {
        let (nodes, pressures) = (system.force.len(), system.expansion.len());
        let of_velocities = middle(system.masses.iter().copied()).sqrt();
        let mass = of_velocities * of_velocities;
        let squares = |q: usize| {
            let of_row = system.divergence.row(q).flat_map(|(_, block)| block[0].map(|d| d * d));
            of_row.sum::<f64>() / mass
        };
        let of_pressures = middle((0..pressures).map(squares)).sqrt();
        let both = of_velocities * of_pressures;
        Ok(Self {
            momentum: stored(&system.momentum, nodes, 1.0 / mass)?,
            gradient: stored(&system.gradient, pressures, 1.0 / both)?,
            divergence: stored(&system.divergence, nodes, 1.0 / both)?,
            leak: stored(&system.leak, pressures, 1.0 / (of_pressures * of_pressures))?,
            of_velocities,
            of_pressures,
        })
    }

    fn apply(&self, nodes: usize, x: &[f64], y: &mut [f64]) {
        let ((u, l), (f, c)) = (x.split_at(nodes), y.split_at_mut(nodes));
        self.momentum.apply(u, f);
        self.gradient.apply_add(-1.0, l, f);
        self.divergence.apply(u, c);
        self.leak.apply_add(1.0, l, c);
        c.iter_mut().for_each(|c| *c = -*c);
    }
}

/// The middle of positive numbers in the order of their size; one if there are none.
fn middle(values: impl Iterator<Item = f64>) -> f64 {
    let mut positive: Vec<f64> = values.filter(|v| *v > 0.0).collect();
    positive.sort_by(f64::total_cmp);
    positive.get(positive.len() / 2).copied().unwrap_or(1.0)
}

fn stored<const R: usize, const C: usize>(
    rows: &BlockRows<R, C>,
    width: usize,
    scale: f64,
) -> Result<Bsr<R, C>, PatternError> {
    let pattern = Pattern::new(rows.pattern.starts.clone(), rows.pattern.columns.clone(), width)?;
    Ok(Bsr::assembled(Arc::new(pattern), |row, _, blocks| {
        for (to, (_, block)) in blocks.iter_mut().zip(rows.row(row)) {
            *to = block.map(|values| values.map(|value| scale * value));
        }
    }))
}

struct Preconditioner {
    velocities: Velocities,
    pressures: Amg<1, 1>,
    /// What a viscous fluid's pressure is of its divergence.
    viscous: Vec<f64>,
    rest: Vec<f64>,
}

/// What stands for the inverse of the velocities' matrix.
enum Velocities {
    Diagonal(Vec<f64>),
    Hierarchy(Box<Amg<3, 6>>),
}

impl Preconditioner {
    fn new(system: &System, scaled: &Scaled, points: &[[f64; 3]]) -> Result<Self, AmgError> {
        let is_viscous = system.viscous.iter().any(|v| *v > 0.0);
        let diagonal = scaled.momentum.diagonal();
        let inertia: Vec<f64> = if is_viscous {
            let mass = scaled.of_velocities * scaled.of_velocities;
            let held = |(node, k): (usize, usize)| k < system.frames[node].held;
            let of_entry = |i: usize| {
                let (node, k) = (i / 3, i % 3);
                if held((node, k)) { diagonal[i] } else { system.masses[node] / mass }
            };
            (0..diagonal.len()).map(of_entry).collect()
        } else {
            diagonal.clone()
        };
        let inverse: Vec<f64> = inertia.iter().map(|m| 1.0 / m).collect();
        let mut lifted = scaled.gradient.clone();
        lifted.scale_rows(&inverse);
        let (divergence, gradient) = (scaled.divergence.pattern(), scaled.gradient.pattern());
        let product = Product::containing(divergence, gradient, &[scaled.leak.pattern()]);
        let mut schur = product.compute(&scaled.divergence, &lifted);
        schur.add(1.0, &scaled.leak);
        let ones = vec![[[1.0]]; schur.height()];
        let unit = scaled.of_pressures * scaled.of_pressures;
        Ok(Self {
            velocities: Self::of_velocities(system, scaled, points, is_viscous, &diagonal)?,
            pressures: Amg::new(&schur, &ones, &AmgParams::default())?,
            viscous: system.viscous.iter().map(|v| unit * v).collect(),
            rest: vec![0.0; schur.height()],
        })
    }

    fn of_velocities(
        system: &System,
        scaled: &Scaled,
        points: &[[f64; 3]],
        is_viscous: bool,
        diagonal: &[f64],
    ) -> Result<Velocities, AmgError> {
        let is_diagonal = |row: usize| {
            let (columns, blocks) = scaled.momentum.row(row);
            let is_own = |(column, block): (&u32, &[[f64; 3]; 3])| {
                let off = |r: usize, c: usize| *column as usize != row || r != c;
                (0..3).all(|r| (0..3).all(|c| !off(r, c) || block[r][c] == 0.0))
            };
            columns.iter().zip(blocks).all(is_own)
        };
        if (0..system.force.len()).all(is_diagonal) {
            return Ok(Velocities::Diagonal(diagonal.iter().map(|d| 1.0 / d).collect()));
        }
        let mut candidates = rigid_motions(points);
        for (candidate, frame) in candidates.iter_mut().zip(&system.frames) {
            *candidate = frame.without_held_rows(frame.enter_rows(*candidate));
            if !is_viscous {
                // Nothing but tension resists beside the masses, and that does not know of turns.
                candidate.iter_mut().for_each(|row| row[3..].fill(0.0));
            }
        }
        let params = AmgParams { strength: STRENGTH_OF_VELOCITIES, max_coarse: 300, ..AmgParams::default() };
        Ok(Velocities::Hierarchy(Box::new(Amg::new(&scaled.momentum, &candidates, &params)?)))
    }

    fn apply(&mut self, scaled: &Scaled, nodes: usize, r: &[f64], z: &mut [f64]) {
        let ((ru, rl), (zu, zl)) = (r.split_at(nodes), z.split_at_mut(nodes));
        match &mut self.velocities {
            Velocities::Diagonal(inverse) => {
                zu.iter_mut().zip(ru.iter().zip(inverse)).for_each(|(z, (r, d))| *z = r * *d);
            }
            Velocities::Hierarchy(amg) => amg.apply(ru, zu),
        }
        self.rest.copy_from_slice(rl);
        scaled.divergence.apply_add(1.0, zu, &mut self.rest);
        self.rest.iter_mut().for_each(|r| *r = -*r);
        self.pressures.apply(&self.rest, zl);
        zl.iter_mut().zip(self.rest.iter().zip(&self.viscous)).for_each(|(z, (r, v))| *z += v * r);
    }
}

//! The standard pressure systems, by which solvers are compared.
//!
//! A box of N³ cells with solid walls and z up. System A has a wavy free surface and a solid sphere;
//! system B an air layer and a spherical bubble whose cells share one unknown. Every open face of a
//! liquid cell has weight 1. The right-hand side is minus the divergence of a swirl with a small
//! compressive part, a gravity kick, and noise, zero on faces that touch a solid.

use std::f64::consts::TAU;
use std::sync::Arc;
use std::time::Instant;

use meniscus_core::grid::{Blocks, Labels, Slot, block_len, cell_in_block};
use meniscus_core::parallel;
use meniscus_linalg::{
    AssembleError, ExtraUnknown, Operator, Patch, SolveError, SolveParams, Solver, Workspace,
};
pub use meniscus_linalg::{Kernel, Profile};

/// Which of the two systems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// Free surface and solid sphere.
    A,
    /// Air layer and bubble.
    B,
}

/// What a cell is made of, in the codes of the file format.
pub mod label {
    /// Known value 0.
    pub const AIR: u8 = 0;
    /// An unknown.
    pub const LIQUID: u8 = 1;
    /// Closed.
    pub const SOLID: u8 = 2;
    /// All bubble cells share one unknown.
    pub const BUBBLE: u8 = 3;
}

/// A system: labels and right-hand side.
#[derive(Clone, Debug)]
pub struct StandardSystem {
    /// Cells along each edge.
    pub cells: usize,
    /// What each cell is.
    pub labels: Labels<3>,
    /// The blocks that hold liquid.
    pub blocks: Arc<Blocks<3>>,
    /// The right-hand side in the order of the operator's unknowns.
    pub rhs: Vec<f64>,
    has_bubble: bool,
}

/// Why a standard system is not solved.
#[derive(Debug, thiserror::Error)]
pub enum StandardError {
    /// It cannot be assembled.
    #[error(transparent)]
    Assemble(#[from] AssembleError),
    /// It cannot be solved.
    #[error(transparent)]
    Solve(#[from] SolveError),
}

/// What a solve of a standard system is started with: what a simulation keeps from step to step.
#[derive(Debug, Default)]
pub struct Memory {
    x: Vec<f64>,
    workspace: Workspace,
}

/// A solve of a standard system to a relative residual of 1e-5.
#[derive(Clone, Debug)]
pub struct StandardSolve {
    /// Unknowns.
    pub unknowns: usize,
    /// Values stored in a vector of the solver.
    pub slots: usize,
    /// Iterations.
    pub iterations: usize,
    /// |b - A x| / |b|, recomputed from the solution.
    pub relative_residual: f64,
    /// Seconds to assemble the operator and its hierarchy.
    pub setup_s: f64,
    /// Seconds to solve.
    pub solve_s: f64,
    /// Where those went.
    pub profile: Profile,
}

impl StandardSystem {
    /// Builds a standard system.
    pub fn standard(variant: Variant, cells: usize) -> Self {
        let n = cells;
        let kind = |cell: [usize; 3]| variant.label(cell.map(|c| (c as f64 + 0.5) / n as f64));
        let mut labels = Labels::uniform([n; 3], label::AIR);
        labels.fill([0; 3], [n; 3], kind);
        let rhs_of = |cell: [usize; 3]| -divergence(&labels, n, cell);
        let mut system = Self::from_cells(labels.clone(), variant == Variant::B, rhs_of);
        if variant == Variant::B {
            // Faces inside the bubble cancel in the sum, so they need not be left out.
            let sums = parallel::map(n, |k| {
                let cells = (0..n * n).map(|ij| [ij % n, ij / n, k]);
                let bubble = cells.filter(|c| kind(*c) == label::BUBBLE);
                bubble.map(|c| -divergence(&labels, n, c)).sum::<f64>()
            });
            *system.rhs.last_mut().expect("the bubble is the last unknown") = sums.iter().sum();
        }
        system
    }

    /// A system from the bytes of a file of the standard format (`PPOISS01`).
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        if bytes.len() < 32 || &bytes[..8] != b"PPOISS01" {
            return Err("it does not begin with PPOISS01".into());
        }
        let int = |at: usize| i32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        let float = |at: usize| f64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        let n = usize::try_from(int(8)).ok().filter(|n| (1..=2048).contains(n));
        let n = n.ok_or_else(|| format!("it says {} cells an edge; 1 to 2048 are possible", int(8)))?;
        let count = n * n * n;
        if bytes.len() != 32 + 9 * count {
            return Err(format!("it has {} bytes; {n}³ cells need {}", bytes.len(), 32 + 9 * count));
        }
        let types = &bytes[32..32 + count];
        if let Some(at) = types.iter().position(|&t| t > label::BUBBLE) {
            return Err(format!("cell {at} has the type {}; 0 to 3 are known", types[at]));
        }
        let index = |c: [usize; 3]| c[0] + n * (c[1] + n * c[2]);
        let mut labels = Labels::uniform([n; 3], label::AIR);
        labels.fill([0; 3], [n; 3], |c| types[index(c)]);
        let has_bubble = types.contains(&label::BUBBLE);
        let mut system = Self::from_cells(labels, has_bubble, |c| float(32 + count + 8 * index(c)));
        if has_bubble {
            *system.rhs.last_mut().expect("the bubble is the last unknown") = float(24);
        }
        Ok(system)
    }

    fn from_cells(labels: Labels<3>, has_bubble: bool, rhs_of: impl Fn([usize; 3]) -> f64 + Sync) -> Self {
        let blocks = Arc::new(labels.blocks_with(|l| l == label::LIQUID));
        let n = block_len::<3>();
        let mut rhs = vec![0.0; blocks.slots() + usize::from(has_bubble)];
        let slots = blocks.slots();
        parallel::for_chunks(&mut rhs[..slots], n, |block, rhs| {
            for (local, value) in rhs.iter_mut().enumerate() {
                let cell = blocks.cell(Slot { block, local });
                if labels.get(cell.map(|c| c as i64), label::SOLID) == label::LIQUID {
                    *value = rhs_of(cell);
                }
            }
        });
        Self { cells: labels.cells()[0], labels, blocks, rhs, has_bubble }
    }

    /// Solves it from zero.
    ///
    /// # Errors
    /// If it cannot be solved.
    pub fn solve(&self, memory: &mut Memory) -> Result<StandardSolve, StandardError> {
        let Memory { x, workspace } = memory;
        x.clear();
        x.resize(self.rhs.len(), 0.0);
        let start = Instant::now();
        let operator = self.operator()?;
        let mut solver = Solver::with_workspace(operator, std::mem::take(workspace));
        let setup_s = start.elapsed().as_secs_f64();

        let start = Instant::now();
        let info = solver.solve(&self.rhs, x, &SolveParams::default())?;
        let solve_s = start.elapsed().as_secs_f64();

        let solve = StandardSolve {
            unknowns: solver.operator().unknowns(),
            slots: solver.operator().len(),
            iterations: info.iterations,
            relative_residual: solver.relative_residual(&self.rhs, x),
            setup_s,
            solve_s,
            profile: info.profile,
        };
        *workspace = solver.into_workspace();
        Ok(solve)
    }

    /// The operator of the system.
    pub fn operator(&self) -> Result<Operator<3>, AssembleError> {
        let fill = |block: usize, patch: &mut Patch<3>| {
            let coord = self.blocks.coord(block);
            if self.labels.is_surrounded_by_own(coord)
                && self.labels.uniform_block(coord) == Some(label::LIQUID)
            {
                return patch.fill_faces(1.0);
            }
            let labels = self.labels.padded_block(self.blocks.coord(block), label::SOLID);
            fill_patch(&labels, patch);
        };
        let extras = if self.has_bubble { vec![self.bubble()] } else { Vec::new() };
        Operator::assemble(self.blocks.clone(), fill, &extras, &[])
    }

    /// The bubble: coupled to each liquid cell by the number of faces they share.
    fn bubble(&self) -> ExtraUnknown {
        let couplings = parallel::map(self.blocks.len(), |block| {
            let labels = self.labels.padded_block(self.blocks.coord(block), label::SOLID);
            if !labels.contains(&label::BUBBLE) {
                return Vec::new();
            }
            let faces = |local| neighbours(local).filter(|&at| labels[at] == label::BUBBLE).count();
            (0..block_len::<3>())
                .filter(|&local| labels[padded(local)] == label::LIQUID && faces(local) > 0)
                .map(|local| (Slot { block, local }.flat::<3>(), faces(local) as f64))
                .collect()
        });
        ExtraUnknown { couplings: couplings.concat(), anchor: 0.0 }
    }
}

/// The place of a block's cell in the labels of [`Labels::padded_block`].
fn padded(local: usize) -> usize {
    let [x, y, z] = cell_in_block::<3>(local);
    (x + 1) + 10 * ((y + 1) + 10 * (z + 1))
}

fn neighbours(local: usize) -> impl Iterator<Item = usize> {
    [1, 10, 100].into_iter().flat_map(move |step| [padded(local) - step, padded(local) + step])
}

fn fill_patch(labels: &[u8; 1000], patch: &mut Patch<3>) {
    for local in 0..block_len::<3>() {
        let at = padded(local);
        if labels[at] != label::LIQUID {
            continue;
        }
        for (axis, step) in [1, 10, 100].into_iter().enumerate() {
            for (side, other) in [labels[at - step], labels[at + step]].into_iter().enumerate() {
                match other {
                    label::LIQUID => patch.set_face(axis, side, local, 1.0),
                    label::AIR => patch.anchors[local] += 1.0,
                    _ => {}
                }
            }
        }
    }
}

impl Variant {
    fn label(self, [x, y, z]: [f64; 3]) -> u8 {
        let square = |a: f64, b: f64| (a - b) * (a - b);
        match self {
            Self::A => {
                let surface = 0.5
                    + 0.05 * (TAU * x).sin() * (2.0 * TAU * y).cos()
                    + 0.02 * (5.0 * TAU * x + 3.0 * y).sin();
                if square(x, 0.5) + square(y, 0.45) + square(z, 0.27) < 0.15 * 0.15 {
                    label::SOLID
                } else if z < surface {
                    label::LIQUID
                } else {
                    label::AIR
                }
            }
            Self::B => {
                if square(x, 0.5) + square(y, 0.5) + square(z, 0.35) < 0.125 * 0.125 {
                    label::BUBBLE
                } else if z < 0.875 {
                    label::LIQUID
                } else {
                    label::AIR
                }
            }
        }
    }
}

/// The divergence of the tentative velocity over unit faces.
fn divergence(labels: &Labels<3>, n: usize, cell: [usize; 3]) -> f64 {
    let label_at = |c: [i64; 3]| labels.get(c, label::SOLID);
    let here = cell.map(|c| c as i64);
    if label_at(here) == label::SOLID {
        return 0.0;
    }
    let flux = |axis: usize, side: usize| {
        let mut other = here;
        other[axis] += 2 * side as i64 - 1;
        if label_at(other) == label::SOLID {
            return 0.0;
        }
        let mut face = cell;
        face[axis] += side;
        velocity(axis, face, n)
    };
    (0..3).map(|axis| flux(axis, 1) - flux(axis, 0)).sum()
}

/// The tentative velocity on the lower face of cell `face` along `axis`.
fn velocity(axis: usize, face: [usize; 3], n: usize) -> f64 {
    let at = |a: usize| (face[a] as f64 + if a == axis { 0.0 } else { 0.5 }) / n as f64;
    let (x, y, z) = (TAU * at(0), TAU * at(1), TAU * at(2));
    let smooth = match axis {
        0 => 0.3 * x.sin() * y.cos() * z.cos() + 0.01 * (x + 1.0).sin() * y.cos() * (z + 0.5).sin(),
        1 => -0.3 * x.cos() * y.sin() * z.cos() + 0.01 * x.cos() * (2.0 * y + 0.3).sin() * z.cos(),
        _ => 0.01 * (2.0 * x).sin() * (y + 0.7).cos() * z.sin() - 1.0,
    };
    let key = ((axis as u64 * 1024 + face[2] as u64) * 1024 + face[1] as u64) * 1024 + face[0] as u64;
    let noise = (splitmix64(key) >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
    smooth + 0.05 * noise
}

fn splitmix64(key: u64) -> u64 {
    let z = key.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

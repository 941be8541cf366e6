//! How much faster a system is whose deep interior is cut into tiles, each one term, than the same system with an unknown in
//! every cell. `cargo run --release -p meniscus-linalg --example tile_speed [cells along x] [multigrid|diagonal|both] [part of a name]`
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::sync::Arc;
use std::time::Instant;

use meniscus_core::grid::{BLOCK_EDGE, Blocks, Slot, block_len};
use meniscus_linalg::{
    AffineTerm, Kernel, Operator, Patch, SolveParams, Solver, Workspace, solve_by_diagonal,
};
use rayon::prelude::*;

const KNOWN: i32 = -3;
const CLOSED: i32 = -2;
const UNKNOWN: i32 = -1;
/// Degrees of freedom of a term: a constant vector and a gradient without trace.
const DOFS: usize = 11;
/// Unknown layers below the surface and at the walls.
const BANDS: (i64, i64) = (9, 2);

type Cell = [i64; 3];

/// The edge of tiles by how deep they lie.
type Edge<'a> = &'a dyn Fn(i64) -> i64;

/// A tank filled to `level`; a cell's label is one of the constants above or its term.
struct Tank {
    cells: [usize; 3],
    labels: Vec<i32>,
    terms: usize,
}

/// A tile: its lowest cell and its edge. Its lower layers are walls.
struct Leaf {
    corner: Cell,
    edge: i64,
}

impl Tank {
    /// `edge(depth)` is the edge of tiles whose top lies `depth` cells below the band.
    fn new(cells: [usize; 3], level: i64, largest: i64, edge: impl Fn(i64) -> i64) -> Self {
        let size = cells.map(|c| c as i64);
        let mut leaves = Vec::new();
        for k in 0..size.iter().map(|s| (s + largest - 1) / largest).product::<i64>().max(1) {
            let per = size.map(|s| (s + largest - 1) / largest);
            let corner = [k % per[0], k / per[0] % per[1], k / per[0] / per[1]].map(|c| c * largest);
            split(Leaf { corner, edge: largest }, level - BANDS.0, &edge, &mut leaves);
        }
        let mut tank = Self { cells, labels: vec![UNKNOWN; cells.iter().product()], terms: 0 };
        let plane = cells[0] * cells[1];
        tank.labels.par_chunks_mut(plane).for_each(|labels| {
            for (i, label) in labels.iter_mut().enumerate() {
                *label = if (i / cells[0]) as i64 >= level { KNOWN } else { UNKNOWN };
            }
        });
        if largest == 1 {
            return tank;
        }
        for leaf in &leaves {
            let low: Cell = std::array::from_fn(|a| (leaf.corner[a] + 1).max(BANDS.1));
            let high: Cell = std::array::from_fn(|a| {
                let end = if a == 1 { level - BANDS.0 } else { size[a] - BANDS.1 };
                (leaf.corner[a] + leaf.edge).min(end)
            });
            // A sliver has no gradient of its own.
            if (0..3).any(|a| high[a] - low[a] < 3) {
                continue;
            }
            for z in low[2]..high[2] {
                for y in low[1]..high[1] {
                    let first = tank.index([low[0], y, z]);
                    tank.labels[first..first + (high[0] - low[0]) as usize].fill(tank.terms as i32);
                }
            }
            tank.terms += 1;
        }
        tank
    }

    fn index(&self, cell: Cell) -> usize {
        cell[0] as usize + self.cells[0] * (cell[1] as usize + self.cells[1] * cell[2] as usize)
    }

    fn label(&self, cell: Cell) -> i32 {
        match (0..3).all(|a| cell[a] >= 0 && cell[a] < self.cells[a] as i64) {
            true => self.labels[self.index(cell)],
            false => CLOSED,
        }
    }

    fn blocks(&self) -> Arc<Blocks<3>> {
        let dims = Blocks::<3>::dims_of(self.cells);
        let coords: Vec<[usize; 3]> =
            (0..dims.iter().product()).map(|i| meniscus_core::grid::unravel(i, dims)).collect();
        let active = |coord: &[usize; 3]| {
            (0..block_len::<3>()).any(|local| {
                let inner = meniscus_core::grid::cell_in_block::<3>(local);
                self.label(std::array::from_fn(|a| (coord[a] * BLOCK_EDGE + inner[a]) as i64)) == UNKNOWN
            })
        };
        let list: Vec<[usize; 3]> = coords.into_par_iter().filter(active).collect();
        Arc::new(Blocks::from_list(self.cells, list))
    }

    fn fill(&self, blocks: &Blocks<3>, block: usize, patch: &mut Patch<3>) {
        let corner: Cell = blocks.coord(block).map(|c| (c * BLOCK_EDGE) as i64);
        let mut labels = [[[CLOSED; 10]; 10]; 10];
        for z in -1..9 {
            for y in -1..9 {
                let row = &mut labels[(z + 1) as usize][(y + 1) as usize];
                let at = [corner[0], corner[1] + y, corner[2] + z];
                if (1..3).all(|a| at[a] >= 0 && at[a] < self.cells[a] as i64) {
                    let first = at[0].max(1) - 1;
                    let last = (at[0] + 9).min(self.cells[0] as i64);
                    let from = self.index([first, at[1], at[2]]);
                    let to = (first + 1 - at[0]) as usize;
                    let len = (last - first) as usize;
                    row[to..to + len].copy_from_slice(&self.labels[from..from + len]);
                }
            }
        }
        if labels.as_flattened().as_flattened().iter().all(|&label| label == UNKNOWN) {
            return patch.fill_faces(1.0);
        }
        for local in 0..block_len::<3>() {
            let at = [local % 8 + 1, local / 8 % 8 + 1, local / 64 + 1];
            if labels[at[2]][at[1]][at[0]] != UNKNOWN {
                continue;
            }
            for axis in 0..3 {
                for side in 0..2 {
                    let mut other = at;
                    other[axis] = other[axis] + 2 * side - 1;
                    match labels[other[2]][other[1]][other[0]] {
                        UNKNOWN => patch.set_face(axis, side, local, 1.0),
                        KNOWN => patch.anchors[local] += 1.0,
                        CLOSED => {}
                        term => patch.touch(axis, side, local, term as usize),
                    }
                }
            }
        }
    }

    fn affine_terms(&self) -> Vec<AffineTerm<3>> {
        let mut cells: Vec<Vec<Cell>> = vec![Vec::new(); self.terms];
        for (i, &label) in self.labels.iter().enumerate().filter(|(_, l)| **l >= 0) {
            let (x, rest) = (i % self.cells[0], i / self.cells[0]);
            cells[label as usize].push([x, rest % self.cells[1], rest / self.cells[1]].map(|c| c as i64));
        }
        cells.into_par_iter().map(|cells| self.term(&cells)).collect()
    }

    fn term(&self, cells: &[Cell]) -> AffineTerm<3> {
        let centre: [f64; 3] = std::array::from_fn(|a| {
            cells.iter().map(|c| c[a] as f64 + 0.5).sum::<f64>() / cells.len() as f64
        });
        let own = self.label(cells[0]);
        let mut mass = [[0.0; DOFS]; DOFS];
        for &cell in cells {
            for (axis, side) in (0..6).map(|k| (k / 2, k % 2)) {
                let mut other = cell;
                other[axis] += 2 * side as i64 - 1;
                let inner = self.label(other) == own;
                if inner && side == 0 {
                    continue;
                }
                let mut r: [f64; 3] = std::array::from_fn(|a| cell[a] as f64 + 0.5 - centre[a]);
                r[axis] += side as f64 - 0.5;
                let row = affine_row(axis, r);
                for i in (0..DOFS).filter(|&i| row[i] != 0.0) {
                    (0..DOFS).for_each(|j| mass[i][j] += row[i] * row[j]);
                }
            }
        }
        AffineTerm { centre, inverse_mass: invert(&mass), weight: 1.0 }
    }
}

fn split(leaf: Leaf, top: i64, edge: &impl Fn(i64) -> i64, leaves: &mut Vec<Leaf>) {
    let depth = top - (leaf.corner[1] + leaf.edge);
    if leaf.edge <= edge(depth) || leaf.edge <= 1 {
        return leaves.push(leaf);
    }
    let half = leaf.edge / 2;
    for k in 0..8 {
        let corner = std::array::from_fn(|a| leaf.corner[a] + half * (k >> a & 1));
        split(Leaf { corner, edge: half }, top, edge, leaves);
    }
}

fn affine_row(axis: usize, r: [f64; 3]) -> [f64; DOFS] {
    let mut row = [0.0; DOFS];
    row[axis] = 1.0;
    for j in 0..3 {
        if 3 + 3 * axis + j < DOFS {
            row[3 + 3 * axis + j] = r[j];
        }
    }
    if axis == 2 {
        row[3] -= r[2];
        row[7] -= r[2];
    }
    row
}

fn invert(matrix: &[[f64; DOFS]; DOFS]) -> Vec<f64> {
    let mut a = *matrix;
    let mut inverse: [[f64; DOFS]; DOFS] =
        std::array::from_fn(|i| std::array::from_fn(|j| f64::from(i == j)));
    for p in 0..DOFS {
        let pivot = a[p][p];
        for c in 0..DOFS {
            a[p][c] /= pivot;
            inverse[p][c] /= pivot;
        }
        for r in (0..DOFS).filter(|&r| r != p) {
            let factor = a[r][p];
            for c in 0..DOFS {
                a[r][c] -= factor * a[p][c];
                inverse[r][c] -= factor * inverse[p][c];
            }
        }
    }
    (0..DOFS * DOFS).map(|k| 0.5 * (inverse[k / DOFS][k % DOFS] + inverse[k % DOFS][k / DOFS])).collect()
}

/// A number in [-1, 1) from a hash.
fn noise(key: u64) -> f64 {
    let z = key.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(0x1234_5678_9ABC_DEF1);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

fn rhs(tank: &Tank, blocks: &Blocks<3>) -> Vec<f64> {
    let mut b = vec![0.0; blocks.slots()];
    b.par_chunks_mut(512).enumerate().for_each(|(block, b)| {
        for (local, b) in b.iter_mut().enumerate() {
            let cell = blocks.cell(Slot { block, local }).map(|c| c as i64);
            if tank.label(cell) == UNKNOWN {
                let smooth: f64 =
                    (0..3).map(|a| (cell[a] as f64 / tank.cells[a] as f64 * 5.0 + a as f64).sin()).sum();
                *b = noise(tank.index(cell) as u64) + 0.1 * smooth;
            }
        }
    });
    b
}

/// Everything about one system, and the seconds it took last.
struct Case {
    name: &'static str,
    tank: Tank,
    blocks: Arc<Blocks<3>>,
    terms: Vec<AffineTerm<3>>,
    rhs: Vec<f64>,
    x: Vec<f64>,
}

impl Case {
    fn new(name: &'static str, tank: Tank) -> Self {
        let blocks = tank.blocks();
        let terms = tank.affine_terms();
        let rhs = rhs(&tank, &blocks);
        let x = vec![0.0; rhs.len()];
        Self { name, tank, blocks, terms, rhs, x }
    }

    fn operator(&self) -> Operator<3> {
        let fill = |block: usize, patch: &mut Patch<3>| self.tank.fill(&self.blocks, block, patch);
        Operator::assemble_with_affine(self.blocks.clone(), fill, &[], &[], &self.terms)
            .expect("a valid operator")
    }

    fn multigrid(&mut self, workspace: Workspace) -> (f64, Workspace) {
        let start = Instant::now();
        let operator = self.operator();
        let assemble = start.elapsed().as_secs_f64();
        let unknowns = operator.unknowns();
        let start = Instant::now();
        let mut solver = Solver::with_workspace(operator, workspace);
        let hierarchy = start.elapsed().as_secs_f64();
        self.x.fill(0.0);
        let start = Instant::now();
        let info = solver.solve(&self.rhs, &mut self.x, &SolveParams::default()).expect("converges");
        let solve = start.elapsed().as_secs_f64();
        let true_residual = solver.relative_residual(&self.rhs, &self.x);
        assert!(true_residual < 1.01e-5, "{true_residual}");
        println!(
            "{:>10} {unknowns:>9} unknowns {:>6} terms {:>6} blocks | assemble {assemble:.3} hierarchy {hierarchy:.3} solve {solve:.3} in {:>2} | all {:.3}",
            self.name,
            self.terms.len(),
            self.blocks.len(),
            info.iterations,
            assemble + hierarchy + solve,
        );
        let parts: Vec<String> =
            Kernel::ALL.iter().map(|k| format!("{k:?} {:.3}", info.profile.seconds(*k))).collect();
        println!("           {}", parts.join(" "));
        (assemble + hierarchy + solve, solver.into_workspace())
    }

    fn diagonal(&self) -> f64 {
        let start = Instant::now();
        let operator = self.operator();
        let mut x = vec![0.0; self.rhs.len()];
        let params = SolveParams { max_iterations: 5000, ..SolveParams::default() };
        let info = solve_by_diagonal(&operator, &self.rhs, &mut x, &params).expect("converges");
        let seconds = start.elapsed().as_secs_f64();
        println!("{:>10} diagonal: {} iterations, {seconds:.3} s", self.name, info.iterations);
        seconds
    }
}

fn main() {
    let argument = |k: usize| std::env::args().nth(k);
    let n: usize = argument(1).map_or(256, |a| a.parse().expect("a number of cells"));
    let what = argument(2).unwrap_or("multigrid".into());
    let cells = [n, n / 2, n];
    let level = (n / 2 * 110 / 128) as i64;
    // The largest edge, up to 64, of which a quarter lies below the band.
    let graded = |least: i64| {
        move |depth: i64| [64, 32, 16].into_iter().find(|edge| 4 * depth >= *edge).unwrap_or(0).max(least)
    };
    let (graded_16, graded_32) = (graded(16), graded(32));
    let only = argument(3).unwrap_or_default();
    let systems: [(&'static str, i64, Edge); 6] = [
        ("uniform", 1, &|_| 1),
        ("tiles 16", 16, &|_| 16),
        ("tiles 32", 32, &|_| 32),
        ("tiles 64", 64, &|_| 64),
        ("16 to 64", 64, &graded_16),
        ("32 to 64", 64, &graded_32),
    ];
    let systems = systems.into_iter().filter(|system| system.0.contains(&only));
    let mut cases: Vec<Case> = systems
        .map(|(name, largest, edge)| Case::new(name, Tank::new(cells, level, largest, edge)))
        .collect();
    for round in 0..2 {
        println!("round {round}");
        let mut workspace = Workspace::default();
        let mut first = [0.0; 2];
        for (k, case) in cases.iter_mut().enumerate() {
            if what != "diagonal" {
                let seconds;
                (seconds, workspace) = case.multigrid(workspace);
                first[0] = if k == 0 { seconds } else { first[0] };
                println!("           {:.2} times as fast", first[0] / seconds);
            }
            if what != "multigrid" && round == 1 {
                let seconds = case.diagonal();
                first[1] = if k == 0 { seconds } else { first[1] };
                println!("           {:.2} times as fast", first[1] / seconds);
            }
        }
    }
}

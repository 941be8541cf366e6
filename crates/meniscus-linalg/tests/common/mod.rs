//! Problems that the tests share: grids of cells with faces, obstacles, extra unknowns and low-rank
//! terms, built from plain functions of the cell.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::collections::BTreeMap;
use std::sync::Arc;

use meniscus_core::grid::{BLOCK_EDGE, Blocks, Slot, block_len};
use meniscus_linalg::{
    AffineTerm, ExtraUnknown, LowRankTerm, Operator, Patch, SolveInfo, SolveParams, Solver,
};

pub type Cell<const D: usize> = [i64; D];

/// What a cell is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Unknown,
    /// Value 0.
    Known,
    Closed,
    /// Part of the extra unknown with this number.
    Extra(usize),
    /// Part of the low-rank term with this number.
    Term(usize),
}

/// A grid of cells; outside is closed.
#[derive(Clone)]
pub struct Problem<const D: usize> {
    pub cells: [usize; D],
    pub kinds: Vec<Kind>,
    pub blocks: Arc<Blocks<D>>,
    pub extras: Vec<ExtraUnknown>,
    pub terms: Vec<LowRankTerm>,
    /// Terms that the hierarchy does not carry.
    pub outer: Vec<LowRankTerm>,
    /// Where there are any, [`Kind::Term`] counts these.
    pub affine: Vec<AffineTerm<D>>,
}

pub fn all_cells<const D: usize>(cells: [usize; D]) -> impl Iterator<Item = Cell<D>> {
    (0..cells.iter().product::<usize>()).map(move |mut i| {
        std::array::from_fn(|a| {
            let c = i % cells[a];
            i /= cells[a];
            c as i64
        })
    })
}

impl<const D: usize> Problem<D> {
    pub fn new(cells: [usize; D], kind: impl Fn(Cell<D>) -> Kind) -> Self {
        let kinds: Vec<Kind> = all_cells(cells).map(&kind).collect();
        let unknown = all_cells(cells).zip(&kinds).filter(|(_, k)| **k == Kind::Unknown);
        let coords: Vec<[usize; D]> = unknown.map(|(c, _)| c.map(|c| c as usize / BLOCK_EDGE)).collect();
        let blocks = Arc::new(Blocks::from_list(cells, coords));
        Self {
            cells,
            kinds,
            blocks,
            extras: Vec::new(),
            terms: Vec::new(),
            outer: Vec::new(),
            affine: Vec::new(),
        }
    }

    /// Numbers the terms from 0 on without gaps.
    fn number_terms(&mut self) {
        let mut numbers = BTreeMap::new();
        for kind in &mut self.kinds {
            if let Kind::Term(t) = kind {
                let next = numbers.len();
                *t = *numbers.entry(*t).or_insert(next);
            }
        }
    }

    pub fn kind(&self, cell: Cell<D>) -> Kind {
        if (0..D).any(|a| cell[a] < 0 || cell[a] >= self.cells[a] as i64) {
            return Kind::Closed;
        }
        self.kinds[(0..D).rev().fold(0, |i, a| i * self.cells[a] + cell[a] as usize)]
    }

    pub fn flat(&self, cell: Cell<D>) -> usize {
        self.blocks.locate(cell).expect("an unknown lies in an active block").flat::<D>()
    }

    /// Couples every unknown next to a cell of extra unknown k to it, with weight 1 a face.
    pub fn with_extras(mut self) -> Self {
        let mut couplings: BTreeMap<usize, BTreeMap<usize, f64>> = BTreeMap::new();
        for (cell, axis, side, other) in self.faces() {
            if let (Kind::Unknown, Kind::Extra(e)) = (self.kind(cell), self.kind(other)) {
                let _ = (axis, side);
                *couplings.entry(e).or_default().entry(self.flat(cell)).or_insert(0.0) += 1.0;
            }
        }
        let extra =
            |c: BTreeMap<usize, f64>| ExtraUnknown { couplings: c.into_iter().collect(), anchor: 0.0 };
        self.extras = couplings.into_values().map(extra).collect();
        self
    }

    /// Every (cell, axis, side, cell across) of the grid.
    pub fn faces(&self) -> Vec<(Cell<D>, usize, usize, Cell<D>)> {
        let mut faces = Vec::new();
        for cell in all_cells(self.cells) {
            for axis in 0..D {
                for side in 0..2 {
                    let mut other = cell;
                    other[axis] += 2 * side as i64 - 1;
                    faces.push((cell, axis, side, other));
                }
            }
        }
        faces
    }

    /// Low-rank terms from the regions of [`Kind::Term`] cells: `column(region, axis, face centre)` is the
    /// row C_a of the region's basis, `masses(region, basis at all its faces)` its mass matrix.
    pub fn with_terms(
        mut self,
        basis: impl Fn(usize, usize, [f64; D]) -> Vec<f64>,
        mass: impl Fn(usize) -> Vec<f64>,
    ) -> Self {
        let mut columns: BTreeMap<usize, BTreeMap<usize, Vec<f64>>> = BTreeMap::new();
        for (cell, axis, side, other) in self.faces() {
            if let (Kind::Unknown, Kind::Term(t)) = (self.kind(cell), self.kind(other)) {
                let mut centre = cell.map(|c| c as f64 + 0.5);
                centre[axis] += side as f64 - 0.5;
                let normal = 2.0 * side as f64 - 1.0;
                let row = basis(t, axis, centre);
                let sum = columns
                    .entry(t)
                    .or_default()
                    .entry(self.flat(cell))
                    .or_insert_with(|| vec![0.0; row.len()]);
                for (s, r) in sum.iter_mut().zip(row) {
                    *s += normal * r;
                }
            }
        }
        self.terms = columns
            .into_iter()
            .map(|(t, columns)| LowRankTerm {
                inverse_mass: invert(&mass(t)),
                unknowns: columns.keys().copied().collect(),
                columns: columns.into_values().flatten().collect(),
            })
            .collect();
        self
    }

    /// The operator with weight `weight(axis, upper cell of the face)` on every face between unknowns and
    /// towards known cells.
    pub fn operator_weighted(&self, weight: impl Fn(usize, Cell<D>) -> f64 + Sync) -> Operator<D> {
        let fill = |block: usize, patch: &mut Patch<D>| {
            for local in 0..block_len::<D>() {
                let cell = self.blocks.cell(Slot { block, local }).map(|c| c as i64);
                if self.kind(cell) != Kind::Unknown {
                    continue;
                }
                for axis in 0..D {
                    for side in 0..2 {
                        let (mut other, mut upper) = (cell, cell);
                        other[axis] += 2 * side as i64 - 1;
                        upper[axis] += side as i64;
                        match self.kind(other) {
                            Kind::Unknown => patch.set_face(axis, side, local, weight(axis, upper)),
                            Kind::Known => patch.anchors[local] += weight(axis, upper),
                            Kind::Term(t) if t < self.affine.len() => patch.touch(axis, side, local, t),
                            _ => {}
                        }
                    }
                }
            }
        };
        let operator = Operator::assemble_with_affine(
            self.blocks.clone(),
            fill,
            &self.extras,
            &self.terms,
            &self.affine,
        );
        let operator = operator.and_then(|operator| operator.with_outer(&self.outer));
        operator.expect("a valid operator")
    }

    /// Whether there are terms outside the hierarchy.
    pub fn has_outer(&self) -> bool {
        !self.outer.is_empty()
    }

    /// The same with all terms outside the hierarchy.
    pub fn with_outer_terms(mut self) -> Self {
        self.outer.append(&mut self.terms);
        self
    }

    pub fn operator(&self) -> Operator<D> {
        self.operator_weighted(|_, _| 1.0)
    }

    /// A right-hand side of noise and something smooth on all unknowns.
    pub fn rhs(&self) -> Vec<f64> {
        let mut rhs = vec![0.0; self.blocks.slots() + self.extras.len()];
        for cell in all_cells(self.cells) {
            if self.kind(cell) == Kind::Unknown {
                let smooth: f64 =
                    (0..D).map(|a| (cell[a] as f64 / self.cells[a] as f64 * 5.0 + a as f64).sin()).sum();
                let flat = self.flat(cell);
                rhs[flat] = noise(flat as u64) + 0.1 * smooth;
            }
        }
        for e in 0..self.extras.len() {
            rhs[self.blocks.slots() + e] = noise(1 << 40 | e as u64);
        }
        rhs
    }
}

/// A number in [-1, 1) from a hash.
pub fn noise(key: u64) -> f64 {
    let z = key.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(0x1234_5678_9ABC_DEF1);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

/// Solves and checks the residual against a fresh product.
pub fn solve<const D: usize>(operator: Operator<D>, rhs: &[f64]) -> (Vec<f64>, SolveInfo) {
    let mut solver = Solver::new(operator);
    let mut x = vec![0.0; rhs.len()];
    let info = solver.solve(rhs, &mut x, &SolveParams::default()).expect("the solve converges");
    let mut product = vec![0.0; x.len()];
    solver.operator().apply(&x, &mut product);
    let residual = norm(&rhs.iter().zip(&product).map(|(b, a)| b - a).collect::<Vec<_>>());
    assert!(residual <= 1.001e-5 * norm(rhs), "true residual {residual:e}");
    (x, info)
}

pub fn norm(v: &[f64]) -> f64 {
    v.iter().map(|v| v * v).sum::<f64>().sqrt()
}

/// The inverse of a small dense symmetric matrix.
pub fn invert(matrix: &[f64]) -> Vec<f64> {
    let n = matrix.len().isqrt();
    let (mut a, mut inverse) = (matrix.to_vec(), vec![0.0; n * n]);
    (0..n).for_each(|i| inverse[i * n + i] = 1.0);
    for p in 0..n {
        let pivot = a[p * n + p];
        assert!(pivot.abs() > 1e-12, "singular");
        for c in 0..n {
            a[p * n + c] /= pivot;
            inverse[p * n + c] /= pivot;
        }
        for r in (0..n).filter(|&r| r != p) {
            let factor = a[r * n + p];
            for c in 0..n {
                a[r * n + c] -= factor * a[p * n + c];
                inverse[r * n + c] -= factor * inverse[p * n + c];
            }
        }
    }
    for r in 0..n {
        for c in 0..r {
            let mean = 0.5 * (inverse[r * n + c] + inverse[c * n + r]);
            inverse[r * n + c] = mean;
            inverse[c * n + r] = mean;
        }
    }
    inverse
}

fn distance<const D: usize>(cell: Cell<D>, centre: [f64; D]) -> f64 {
    (0..D).map(|a| (cell[a] as f64 + 0.5 - centre[a]).powi(2)).sum::<f64>().sqrt()
}

/// A tank, open at the top of the last axis (or closed all round), with a grid of `per_axis`^2 (2D) or
/// `per_axis`^2 × layers (3D) round bodies of several sizes and the given density ratio.
pub fn bodies<const D: usize>(n: usize, per_axis: usize, density: f64, open: bool) -> Problem<D> {
    let spacing = n as f64 / per_axis as f64;
    let count = per_axis.pow(D as u32);
    let centres: Vec<[f64; D]> = (0..count)
        .map(|mut i| {
            std::array::from_fn(|_| {
                let c = (i % per_axis) as f64 + 0.5;
                i /= per_axis;
                c * spacing
            })
        })
        .collect();
    let radius = |b: usize| spacing * (0.18 + 0.2 * (b % 3) as f64 / 2.0);
    let top = if open { n as i64 - 2 } else { n as i64 };
    let kind = |cell: Cell<D>| {
        if cell[D - 1] >= top {
            return Kind::Known;
        }
        let inside = centres.iter().enumerate().find(|(b, c)| distance(cell, **c) < radius(*b));
        inside.map_or(Kind::Unknown, |(b, _)| Kind::Term(b))
    };
    let problem = Problem::new([n; D], kind);
    let mut volume = vec![0.0; count];
    for kind in &problem.kinds {
        if let Kind::Term(b) = kind {
            volume[*b] += 1.0;
        }
    }
    let dofs = D + D * (D - 1) / 2;
    let basis = {
        let centres = centres.clone();
        move |b: usize, axis: usize, x: [f64; D]| {
            rigid_row::<D>(axis, std::array::from_fn(|a| x[a] - centres[b][a]))
        }
    };
    let mass = |b: usize| {
        let mut m = vec![0.0; dofs * dofs];
        for i in 0..dofs {
            let inertia = if D == 2 { 0.5 } else { 0.4 } * radius(b) * radius(b);
            m[i * dofs + i] = density * volume[b] * if i < D { 1.0 } else { inertia };
        }
        m
    };
    problem.with_terms(basis, mass).with_outer_terms()
}

/// Velocity along `axis` at `r` from the centre, per degree of freedom of a rigid motion.
fn rigid_row<const D: usize>(axis: usize, r: [f64; D]) -> Vec<f64> {
    let mut row = vec![0.0; D + D * (D - 1) / 2];
    row[axis] = 1.0;
    // Each rotation turns axis i towards axis j: velocity r_i along j, -r_j along i.
    let mut dof = D;
    for i in 0..D {
        for j in i + 1..D {
            row[dof] = if axis == j {
                r[i]
            } else if axis == i {
                -r[j]
            } else {
                0.0
            };
            dof += 1;
        }
    }
    row
}

/// Velocity along `axis` at `r` from the centre, per degree of freedom of a trace-free affine motion.
fn affine_row<const D: usize>(axis: usize, r: [f64; D]) -> Vec<f64> {
    let mut row = vec![0.0; D + D * D - 1];
    row[axis] = 1.0;
    for i in 0..D {
        for j in 0..D {
            let dof = D + i * D + j;
            if dof < row.len() {
                row[dof] += if axis == i { r[j] } else { 0.0 };
                if i == j && axis == D - 1 {
                    row[dof] -= r[D - 1];
                }
            }
        }
    }
    row
}

/// Liquid under a free surface, cut into affine tiles separated by one layer of cells, as plain low-rank terms.
pub fn tiles<const D: usize>(n: usize, tile: usize) -> Problem<D> {
    tiles_below(n, tile, |_| 4).0
}

/// The same as affine terms.
pub fn affine_tiles<const D: usize>(n: usize, tile: usize) -> Problem<D> {
    let (mut problem, affine) = tiles_below(n, tile, |_| 4);
    (problem.terms, problem.affine) = (Vec::new(), affine);
    problem
}

/// Tiles as plain and as affine terms, below a band whose width is a function of the cell.
pub fn tiles_below<const D: usize>(
    n: usize,
    tile: usize,
    band: impl Fn(Cell<D>) -> i64,
) -> (Problem<D>, Vec<AffineTerm<D>>) {
    let surface = n as i64 - 8;
    let per_axis = n.div_ceil(tile);
    let kind = |cell: Cell<D>| {
        if cell[D - 1] >= surface {
            return Kind::Known;
        }
        let deep = (0..D - 1).all(|a| cell[a] >= 2 && cell[a] < n as i64 - 2)
            && cell[D - 1] >= 2
            && cell[D - 1] < surface - band(cell);
        if deep && cell.iter().all(|c| c % tile as i64 != 0) {
            let id = (0..D).rev().fold(0, |i, a| i * per_axis + cell[a] as usize / tile);
            Kind::Term(id)
        } else {
            Kind::Unknown
        }
    };
    let mut problem = Problem::new([n; D], kind);
    problem.number_terms();
    let mut sums: BTreeMap<usize, (f64, [f64; D])> = BTreeMap::new();
    for cell in all_cells(problem.cells) {
        if let Kind::Term(t) = problem.kind(cell) {
            let entry = sums.entry(t).or_insert((0.0, [0.0; D]));
            entry.0 += 1.0;
            (0..D).for_each(|a| entry.1[a] += cell[a] as f64 + 0.5);
        }
    }
    let centres: BTreeMap<usize, [f64; D]> = sums.iter().map(|(t, (m, s))| (*t, s.map(|s| s / m))).collect();
    let mut masses: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for (cell, axis, side, other) in problem.faces() {
        let Kind::Term(t) = problem.kind(cell) else { continue };
        // An inner face is met from both of its cells.
        let share = if problem.kind(other) == Kind::Term(t) { 0.5 } else { 1.0 };
        let mut r: [f64; D] = std::array::from_fn(|a| cell[a] as f64 + 0.5 - centres[&t][a]);
        r[axis] += side as f64 - 0.5;
        let row = affine_row(axis, r);
        let k = row.len();
        let mass = masses.entry(t).or_insert_with(|| vec![0.0; k * k]);
        for i in 0..k {
            for j in 0..k {
                mass[i * k + j] += share * row[i] * row[j];
            }
        }
    }
    let basis = |t: usize, axis: usize, x: [f64; D]| {
        affine_row::<D>(axis, std::array::from_fn(|a| x[a] - centres[&t][a]))
    };
    let affine = masses
        .iter()
        .map(|(t, mass)| AffineTerm { centre: centres[t], inverse_mass: invert(mass), weight: 1.0 })
        .collect();
    (problem.with_terms(basis, |t| masses[&t].clone()), affine)
}

/// A channel of width `width` folded between walls of one cell; in 3D extruded along z, with the same
/// folds along z in every other bend.
pub fn serpentine<const D: usize>(n: usize, width: i64) -> Problem<D> {
    let period = width + 1;
    let kind = |cell: Cell<D>| {
        let (x, y) = (cell[0], cell[1]);
        let wall = x / period;
        if x % period == width {
            // The gap of each wall lies at alternate ends.
            let gap = if wall % 2 == 0 { y >= n as i64 - width } else { y < width };
            let gap_z = D == 2
                || if (wall / 2) % 2 == 0 { cell[D - 1] < width } else { cell[D - 1] >= n as i64 - width };
            return if gap && gap_z { Kind::Unknown } else { Kind::Closed };
        }
        if x == 0 && y < 2 { Kind::Known } else { Kind::Unknown }
    };
    Problem::new([n; D], kind)
}

/// Two fluids of density 1 (outside) and `inner` across a ball or a wavy layer, in a box with known
/// values above: the weight of each face.
pub fn jump_weight<const D: usize>(
    n: usize,
    inner: f64,
    layer: bool,
) -> impl Fn(usize, Cell<D>) -> f64 + Sync {
    let density = move |cell: Cell<D>| {
        let inside = if layer {
            let x = cell[0] as f64 / n as f64;
            (cell[D - 1] as f64) < n as f64 * (0.5 + 0.08 * (12.0 * x).sin())
        } else {
            distance(cell, [n as f64 * 0.5; D]) < n as f64 * 0.25
        };
        if inside { inner } else { 1.0 }
    };
    move |axis, upper| {
        let mut lower = upper;
        lower[axis] -= 1;
        2.0 / (density(upper) + density(lower))
    }
}

/// Inclusions of a size of one to five cells, a few cells apart, that differ from what is around them by a factor.
pub fn inclusion_weight<const D: usize>(inner: f64) -> impl Fn(usize, Cell<D>) -> f64 + Sync {
    const APART: i64 = 7;
    let density = move |cell: Cell<D>| {
        let place = cell.map(|c| c.div_euclid(APART));
        let hash = place.iter().fold(7u64, |h, &c| (h ^ c as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 7);
        let centre: [f64; D] =
            std::array::from_fn(|a| ((place[a] * APART) as f64) + 3.0 + (hash >> a & 1) as f64);
        let radius = 0.5 + (hash >> 8 & 7) as f64 * 0.3;
        if distance(cell, centre) < radius { inner } else { 1.0 }
    };
    move |axis, upper| {
        let mut lower = upper;
        lower[axis] -= 1;
        2.0 / (density(upper) + density(lower))
    }
}

/// A box of unknowns below an open top.
pub fn tank<const D: usize>(n: usize) -> Problem<D> {
    Problem::new([n; D], |cell| if cell[D - 1] >= n as i64 - 4 { Kind::Known } else { Kind::Unknown })
}

/// A tank with `count` small cavities, each one extra unknown.
pub fn cavities<const D: usize>(n: usize, count: usize) -> Problem<D> {
    let mut kinds: BTreeMap<Cell<D>, usize> = BTreeMap::new();
    let mut id = 0;
    let mut key = 0u64;
    while id < count {
        key += 1;
        let centre: [f64; D] = std::array::from_fn(|a| (0.5 + 0.45 * noise(key * 7 + a as u64)) * n as f64);
        let radius = 1.0 + 2.0 * noise(key * 7 + 5).abs();
        let low = centre.map(|c| (c - radius) as i64 - 1);
        let size = 2 * radius as usize + 4;
        let cells: Vec<Cell<D>> = all_cells([size; D])
            .map(|o| std::array::from_fn(|a| low[a] + o[a]))
            .filter(|c| {
                distance(*c, centre) < radius
                    && (0..D).all(|a| c[a] >= 0 && c[a] < n as i64 - 6 * i64::from(a == D - 1))
            })
            .collect();
        let near = |c: &Cell<D>| {
            (0..D).any(|a| {
                [-1, 0, 1].iter().any(|s| {
                    let mut m = *c;
                    m[a] += s;
                    kinds.contains_key(&m)
                })
            })
        };
        if cells.is_empty() || cells.iter().any(near) {
            continue;
        }
        kinds.extend(cells.into_iter().map(|c| (c, id)));
        id += 1;
    }
    let kind = |cell: Cell<D>| match kinds.get(&cell) {
        Some(&e) => Kind::Extra(e),
        None if cell[D - 1] >= n as i64 - 4 => Kind::Known,
        None => Kind::Unknown,
    };
    Problem::new([n; D], kind).with_extras()
}

/// A random problem: scattered closed and known cells, faces of random weight (some closed), extra unknowns,
/// and low-rank terms on random unknowns. Everything follows from the seed.
pub struct Random<const D: usize> {
    pub problem: Problem<D>,
    pub seed: u64,
    /// The fraction of faces that are closed.
    pub closed_faces: f64,
    /// Whether all open faces have weight 1.
    pub plain: bool,
}

/// Which parts a random operator has.
#[derive(Clone, Copy, Debug)]
pub struct Parts {
    pub known: bool,
    pub extras: bool,
    pub terms: bool,
    /// Terms outside the hierarchy, of any strength.
    pub outer: bool,
    pub plain: bool,
}

impl<const D: usize> Random<D> {
    pub fn new(cells: [usize; D], seed: u64, density: f64, closed_faces: f64, parts: Parts) -> Self {
        let hash = |cell: Cell<D>, salt: u64| {
            let key = cell.iter().fold(seed.wrapping_mul(31).wrapping_add(salt), |k, &c| {
                k.wrapping_mul(1_000_003).wrapping_add(c as u64)
            });
            0.5 + 0.5 * noise(key)
        };
        let kind = |cell: Cell<D>| {
            if hash(cell, 1) > density {
                if parts.known && hash(cell, 2) < 0.3 { Kind::Known } else { Kind::Closed }
            } else if parts.extras && hash(cell.map(|c| c / 3), 3) < 0.1 {
                let id = (0..D).fold(0, |i, a| i * 64 + cell[a] as usize / 3);
                Kind::Extra(id)
            } else {
                Kind::Unknown
            }
        };
        let mut problem = Problem::new(cells, kind);
        if parts.extras {
            problem = problem.with_extras();
        }
        if parts.terms {
            problem.terms = (0..4).map(|t| random_term(&problem, seed.wrapping_add(t), 2.0)).collect();
        }
        if parts.outer {
            problem.outer = (10..13).map(|t| random_term(&problem, seed.wrapping_add(t), 2.0)).collect();
        }
        Self { problem, seed, closed_faces, plain: parts.plain }
    }

    pub fn operator(&self) -> Operator<D> {
        self.problem.operator_weighted(|axis, upper| {
            let key = upper.iter().fold(self.seed.wrapping_add(axis as u64), |k, &c| {
                k.wrapping_mul(69_069).wrapping_add(c as u64 + 7)
            });
            let value = 0.5 + 0.5 * noise(key);
            if value < self.closed_faces {
                0.0
            } else if self.plain {
                1.0
            } else {
                0.01 + value * value * 3.0
            }
        })
    }
}

/// A term on a tenth of the unknowns, at most some hundreds, stronger or weaker than the stencil by up to 10^`range`.
pub fn random_term<const D: usize>(problem: &Problem<D>, seed: u64, range: f64) -> LowRankTerm {
    let k = 3;
    let mut unknowns: Vec<usize> = all_cells(problem.cells)
        .filter(|&c| problem.kind(c) == Kind::Unknown)
        .map(|c| problem.flat(c))
        .filter(|&i| noise(seed.wrapping_mul(77).wrapping_add(i as u64)) > 0.8)
        .collect();
    let every = unknowns.len().div_ceil(300).max(1);
    unknowns = unknowns.into_iter().step_by(every).collect();
    if seed.is_multiple_of(3) && problem.extras.len() > 1 {
        unknowns.clear();
    }
    let extras = problem.blocks.slots()..problem.blocks.slots() + problem.extras.len();
    unknowns.extend(extras.filter(|&i| noise(seed.wrapping_mul(78).wrapping_add(i as u64)) > 0.0));
    let columns =
        (0..k * unknowns.len()).map(|i| noise(seed.wrapping_mul(99).wrapping_add(i as u64))).collect();
    let strength = 10f64.powf(range * noise(seed));
    // A A^T + 1 is symmetric positive definite.
    let a: Vec<f64> = (0..k * k).map(|i| noise(seed.wrapping_mul(55).wrapping_add(i as u64))).collect();
    let inverse_mass = (0..k * k)
        .map(|i| {
            let (r, c) = (i / k, i % k);
            let square: f64 = (0..k).map(|m| a[r * k + m] * a[c * k + m]).sum();
            strength * (square + if r == c { 1.0 } else { 0.0 })
        })
        .collect();
    LowRankTerm { inverse_mass, unknowns, columns }
}

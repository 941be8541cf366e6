//! The lowest eigenmodes of a domain.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par, Side};

use super::error::DomainError;
use super::laplacian::Laplacian;
use crate::flow::dot;

/// Stream functions with -Δψ = λψ, orthogonal, in ascending order of λ.
pub struct Eigenmodes {
    /// λ of each, in 1/m².
    pub values: Vec<f64>,
    /// One a column, as lists of the Laplacian, with ∫ψ² = 1.
    pub vectors: Mat<f64>,
}

/// Vectors that are multiplied by the inverse at a time: as many modes as this may share an eigenvalue, and none is missed.
const BLOCK: usize = 8;
/// Modes that are found beyond those asked for, so that the last of these are found with what they share an eigenvalue with.
const BEYOND: usize = 6;
/// What is left of the equation of a mode, as a part of it.
const TOLERANCE: f64 = 1e-6;
/// How often whether the modes are there is looked at, as a part of the vectors that there are.
const LOOK: f64 = 0.05;

/// Finds the lowest: those with the largest eigenvalues of M^½ K⁻¹ M^½, by Lanczos' method with blocks and full orthogonalisation. K is the energy and M the product of stream functions,
/// and the multigrid stands for K⁻¹.
pub fn lowest(laplacian: &mut Laplacian, count: usize) -> Result<Eigenmodes, DomainError> {
    let wanted = (count + BEYOND).min(laplacian.unknowns());
    let mut search = Search::new(laplacian, wanted);
    let mut look = wanted + wanted / 2;
    loop {
        let is_all = search.extend()?;
        if search.known < look && !is_all {
            continue;
        }
        if let Some(found) = search.found(is_all) {
            return Ok(search.modes(&found));
        }
        look = search.known + ((LOOK * search.known as f64) as usize).max(BLOCK);
    }
}

/// What has been found so far: orthonormal vectors, and what the inverse makes of them.
struct Search<'a> {
    laplacian: &'a mut Laplacian,
    /// The roots of the masses.
    roots: Vec<f64>,
    wanted: usize,
    /// One a column: those that have been multiplied, and then those of the next block.
    basis: Mat<f64>,
    known: usize,
    next: usize,
    /// The products of the vectors with the inverse in between.
    products: Mat<f64>,
}

impl<'a> Search<'a> {
    fn new(laplacian: &'a mut Laplacian, wanted: usize) -> Self {
        let roots: Vec<f64> = laplacian.masses().iter().map(|mass| mass.sqrt()).collect();
        let room = 2 * wanted + 10 * BLOCK;
        let mut basis = Mat::zeros(roots.len(), room);
        let mut next = 0;
        for column in 0..BLOCK.min(laplacian.unknowns()) {
            for (row, root) in roots.iter().enumerate().filter(|(_, root)| **root > 0.0) {
                basis[(row, column)] = root * noise((row * BLOCK + column) as u64);
            }
            next += 1;
        }
        let mut search =
            Self { laplacian, roots, wanted, basis, known: 0, next, products: Mat::zeros(room, room) };
        search.orthonormalise(0);
        search
    }

    /// Multiplies the next block; says whether there is nothing beyond.
    fn extend(&mut self) -> Result<bool, DomainError> {
        let (first, end) = (self.known, self.known + self.next);
        self.make_room(end + self.next);
        for column in first..end {
            let side: Vec<f64> =
                self.roots.iter().zip(self.basis.col_as_slice(column)).map(|(root, x)| root * x).collect();
            let solution = self.laplacian.solve(&side)?;
            let to = self.basis.col_as_slice_mut(column + self.next);
            for ((to, root), x) in to.iter_mut().zip(&self.roots).zip(&solution) {
                *to = root * x;
            }
        }
        self.known = end;
        self.orthonormalise(first);
        Ok(self.next == 0)
    }

    fn make_room(&mut self, columns: usize) {
        if columns > self.basis.ncols() {
            let room = columns + self.wanted / 2 + BLOCK;
            self.basis.resize_with(self.roots.len(), room, |_, _| 0.0);
            self.products.resize_with(room, room, |_, _| 0.0);
        }
    }

    /// Makes the block after the known vectors orthogonal to them and in itself; what that takes from it are products of the vectors from `first` on. Twice, since the first time leaves
    /// what rounding makes.
    fn orthonormalise(&mut self, first: usize) {
        let known = self.known;
        self.next = self.next.min(self.laplacian.unknowns() - known);
        for _ in 0..2 {
            let (old, mut new) = self.basis.as_mut().split_at_col_mut(known);
            let new = new.as_mut().subcols_mut(0, self.next);
            let mut parts = Mat::zeros(known, self.next);
            matmul(parts.as_mut(), Accum::Replace, old.as_ref().transpose(), new.as_ref(), 1.0, Par::Seq);
            matmul(new, Accum::Add, old.as_ref(), parts.as_ref(), -1.0, Par::Seq);
            if known > 0 {
                for column in 0..self.next {
                    for row in 0..known {
                        self.products[(row, first + column)] += parts[(row, column)];
                    }
                }
            }
        }
        let mut kept = 0;
        for column in 0..self.next {
            let before = norm(self.basis.col_as_slice(known + column));
            if before > 0.0 && self.reduce(known + kept, known + column, first + column) > 1e-13 * before {
                kept += 1;
            }
        }
        self.next = kept;
    }

    /// Moves a column to a place where all before it are orthonormal; gives what is left of its size.
    fn reduce(&mut self, place: usize, from: usize, of: usize) -> f64 {
        let mut column = self.basis.col_as_slice(from).to_vec();
        for _ in 0..2 {
            for other in self.known..place {
                let unit = self.basis.col_as_slice(other);
                let part = dot(unit, &column);
                column.iter_mut().zip(unit).for_each(|(to, x)| *to -= part * x);
                if self.known > 0 {
                    self.products[(other, of)] += part;
                }
            }
        }
        let left = norm(&column);
        if self.known > 0 {
            self.products[(place, of)] += left;
        }
        let to = self.basis.col_as_slice_mut(place);
        to.iter_mut().zip(&column).for_each(|(to, x)| *to = x / left);
        left
    }

    /// The eigenvectors within the known vectors, if the lowest modes are among them.
    fn found(&self, is_all: bool) -> Option<Mat<f64>> {
        let known = self.known;
        let within = Mat::from_fn(known, known, |i, j| {
            // The lower half was found where the others had been taken out already.
            self.products[(i.min(j), i.max(j))]
        });
        let eigen = within.self_adjoint_eigen(Side::Lower).expect("numbers");
        let wanted = self.wanted.min(known);
        // They come in ascending order.
        let chosen = Mat::from_fn(known, wanted, |i, k| eigen.U()[(i, known - 1 - k)]);
        let is_there = |k: usize| {
            let value = eigen.S().column_vector()[known - 1 - k];
            let left: f64 = (0..self.next)
                .map(|row| {
                    let part: f64 =
                        (0..known).map(|i| self.products[(known + row, i)] * chosen[(i, k)]).sum();
                    part * part
                })
                .sum();
            left.sqrt() <= TOLERANCE * value
        };
        (is_all || (known > wanted && (0..wanted).all(is_there))).then_some(chosen)
    }

    /// The modes; once more from the energy itself, so that they are orthogonal in it to rounding.
    fn modes(self, chosen: &Mat<f64>) -> Eigenmodes {
        let basis = self.basis.as_ref().subcols(0, self.known);
        let mut vectors = product(basis, chosen.as_ref());
        for column in 0..vectors.ncols() {
            for (x, root) in vectors.col_as_slice_mut(column).iter_mut().zip(&self.roots) {
                *x = if *root > 0.0 { *x / root } else { 0.0 };
            }
        }
        let mut images = Mat::zeros(vectors.nrows(), vectors.ncols());
        for column in 0..vectors.ncols() {
            self.laplacian.apply(vectors.col_as_slice(column), images.col_as_slice_mut(column));
        }
        let energies = product(vectors.transpose(), images.as_ref());
        let eigen = energies.self_adjoint_eigen(Side::Lower).expect("numbers");
        let values = eigen.S().column_vector().iter().copied().collect();
        Eigenmodes { values, vectors: product(vectors.as_ref(), eigen.U()) }
    }
}

fn product(a: MatRef<f64>, b: MatRef<f64>) -> Mat<f64> {
    let mut c = Mat::zeros(a.nrows(), b.ncols());
    matmul(c.as_mut(), Accum::Replace, a, b, 1.0, Par::Seq);
    c
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

/// A number in [-1, 1) that looks like chance.
fn noise(key: u64) -> f64 {
    let z = key.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(0x1234_5678_9abc_def1);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

//! The coefficients of one block, stored only where they are not all the same.

use std::sync::Arc;

use meniscus_core::grid::{BLOCK_EDGE, Mask, block_len, cell_in_block};
use meniscus_core::simd::simd;

use super::boundary_cells;
use super::contact::Contact;
use super::level::Hold;
use crate::real::{Real, Row, row_from, row_of, rows};

/// The distance between the lower and the upper face of a cell in a block's face array.
const FACE_STRIDE: [usize; 3] = [1, 8, 64];

/// Faces of a block along one axis, both of its boundary layers included: 9 × 8^(D-1).
pub const fn face_len<const D: usize>() -> usize {
    (BLOCK_EDGE + 1) * rows::<D>()
}

/// The index of the lower face along `axis` of the first cell of a row.
#[inline(always)]
fn face_row<const D: usize>(axis: usize, row: usize) -> usize {
    let (y, z) = (row % 8, row / 8);
    match axis {
        0 => 9 * row,
        1 => 8 * (y + 9 * z),
        _ => 8 * row,
    }
}

/// The index of the lower face of a cell along `axis`, in an array of [`face_len`] faces.
#[inline(always)]
pub fn lower_face<const D: usize>(axis: usize, local: usize) -> usize {
    face_row::<D>(axis, local / 8) + local % 8
}

/// The index of the upper face of a cell along `axis`, in an array of [`face_len`] faces.
#[inline(always)]
pub fn upper_face<const D: usize>(axis: usize, local: usize) -> usize {
    lower_face::<D>(axis, local) + FACE_STRIDE[axis]
}

/// The stencil of one block while it is being written: a coefficient for every face of the block, its
/// two boundary layers included, and an anchor and a mass for every cell.
///
/// A face with coefficient w between cells c and n adds w (x_c - x_n) to row c. An anchor a (a face
/// towards a known value) adds a x_c. So does a mass: it differs on coarse levels, where a face or an anchor,
/// which stands for a gradient, becomes softer, and a mass, which does not, keeps its weight. Faces towards cells that are not unknowns stay 0. A face on the
/// boundary of two blocks is written by both and must get the same value from both.
#[derive(Clone, Debug)]
pub struct Patch<const D: usize> {
    /// Coefficients by axis, indexed by [`lower_face`] and [`upper_face`].
    faces: [Vec<f64>; D],
    /// Anchors by cell.
    pub anchors: Vec<f64>,
    /// Masses by cell.
    pub masses: Vec<f64>,
    /// Whether all faces are known to be the same.
    alike: bool,
    /// (term, axis and side, cells) of the faces towards affine terms.
    touches: Vec<(u32, u8, Mask<D>)>,
}

impl<const D: usize> Patch<D> {
    pub(crate) fn new() -> Self {
        Self {
            faces: std::array::from_fn(|_| vec![0.0; face_len::<D>()]),
            anchors: vec![0.0; block_len::<D>()],
            masses: vec![0.0; block_len::<D>()],
            alike: true,
            touches: Vec::new(),
        }
    }

    pub(crate) fn clear(&mut self) {
        if !self.alike || self.faces[0][0] != 0.0 {
            self.fill_faces(0.0);
        }
        self.anchors.fill(0.0);
        self.masses.fill(0.0);
        self.touches.clear();
    }

    /// Sets the coefficient of the lower (`side` 0) or upper (`side` 1) face of a cell along `axis`.
    #[inline]
    pub fn set_face(&mut self, axis: usize, side: usize, local: usize, weight: f64) {
        self.alike = false;
        self.faces[axis][lower_face::<D>(axis, local) + side * FACE_STRIDE[axis]] = weight;
    }

    /// Lets the lower (`side` 0) or upper (`side` 1) face of a cell along `axis` lead to an [`AffineTerm`](crate::AffineTerm).
    pub fn touch(&mut self, axis: usize, side: usize, local: usize, term: usize) {
        self.touching(axis, side, term).insert(local);
    }

    /// Lets the lower (`side` 0) or upper (`side` 1) faces of several cells along `axis` lead to an [`AffineTerm`](crate::AffineTerm).
    pub fn touch_cells(&mut self, axis: usize, side: usize, cells: &Mask<D>, term: usize) {
        if !cells.is_empty() {
            let touching = self.touching(axis, side, term);
            *touching = touching.or(cells);
        }
    }

    fn touching(&mut self, axis: usize, side: usize, term: usize) -> &mut Mask<D> {
        let key = (term as u32, (2 * axis + side) as u8);
        // Cells come in order, so the latest is most often the one.
        let at = self.touches.iter().rposition(|t| (t.0, t.1) == key).unwrap_or_else(|| {
            self.touches.push((key.0, key.1, Mask::EMPTY));
            self.touches.len() - 1
        });
        &mut self.touches[at].2
    }

    /// The contacts of a block that lies at `coord`.
    pub(crate) fn contacts(&self, coord: [usize; D]) -> Vec<Contact<D>> {
        let contact = |&(term, face, cells): &(u32, u8, Mask<D>)| {
            let (axis, side) = (face / 2, face % 2);
            let along = |a: usize| if a == axis as usize { f64::from(side) } else { 0.5 };
            let at = std::array::from_fn(|a| (BLOCK_EDGE * coord[a]) as f64 + along(a));
            Contact { term, axis, weight: 2.0 * f32::from(side) - 1.0, bound: 0.0, at, cells }
        };
        let mut contacts: Vec<_> = self.touches.iter().map(contact).collect();
        contacts.sort_by_key(Contact::key);
        contacts
    }

    /// Adds to the coefficient of a face.
    #[inline]
    pub(crate) fn add_face(&mut self, axis: usize, side: usize, local: usize, weight: f64) {
        self.alike = false;
        self.faces[axis][lower_face::<D>(axis, local) + side * FACE_STRIDE[axis]] += weight;
    }

    /// Sets every face of the block, boundary layers included.
    pub fn fill_faces(&mut self, weight: f64) {
        self.faces.iter_mut().for_each(|f| f.fill(weight));
        self.alike = true;
    }

    /// Makes faces alike that differ by rounding, so that the block can be stored as a uniform one.
    pub(crate) fn snap(&mut self) {
        let most = self.faces.iter().flatten().copied().fold(0.0, f64::max);
        let nearly = |face: &&mut f64| (most - **face).abs() < 1e-6 * most;
        self.faces.iter_mut().flatten().filter(nearly).for_each(|face| *face = most);
    }

    /// The cells with an anchor or a mass.
    pub(crate) fn holds<T: Real>(&self) -> Vec<(u16, Hold<T>)> {
        let holds = self.anchors.iter().zip(&self.masses).map(|(&anchor, &mass)| Hold { anchor, mass });
        let holds = holds.enumerate().filter(|(_, hold)| *hold != Hold::default());
        holds.map(|(local, hold)| (local as u16, hold.convert())).collect()
    }

    /// The diagonal of each cell without what extra unknowns add.
    #[inline(always)]
    fn diagonal(&self, diagonal: &mut [f64]) {
        for ((diagonal, anchor), mass) in diagonal.iter_mut().zip(&self.anchors).zip(&self.masses) {
            *diagonal = anchor + mass;
        }
        for (row, diagonal) in diagonal.chunks_exact_mut(8).enumerate() {
            for axis in 0..D {
                let at = face_row::<D>(axis, row);
                let lower = &self.faces[axis][at..at + 8];
                let upper = &self.faces[axis][at + FACE_STRIDE[axis]..at + FACE_STRIDE[axis] + 8];
                for i in 0..8 {
                    diagonal[i] += lower[i] + upper[i];
                }
            }
        }
    }

    /// The stored form: `couplings` are the weights by cell towards extra unknowns.
    pub(crate) fn compress<T: Real>(
        &self,
        mut couplings: impl ExactSizeIterator<Item = (usize, f64)>,
    ) -> Stencil<T, D> {
        let first = self.faces[0][0];
        let held = || self.anchors.iter().chain(&self.masses).any(|&a| a != 0.0);
        if self.alike && couplings.len() == 0 && !held() {
            return if first == 0.0 { Stencil::empty() } else { Stencil::Uniform { kappa: T::of(first) } };
        }
        let mut buffer = [0.0; 512];
        let diagonal = &mut buffer[..block_len::<D>()];
        let kappa = self.faces.iter().flatten().copied().find(|&w| w != 0.0).unwrap_or(1.0);
        simd(
            #[inline(always)]
            || self.diagonal(diagonal),
        );
        for (local, weight) in couplings.by_ref() {
            diagonal[local] += weight;
        }
        // w (kappa - w) vanishes for w = 0 and w = kappa only: sums and minima vectorise.
        let (mut between, mut least) = (0.0, kappa);
        simd(
            #[inline(always)]
            || {
                for faces in &self.faces {
                    let (mut sums, mut minima) = ([0.0; 8], [kappa; 8]);
                    for faces in faces.chunks_exact(8) {
                        for i in 0..8 {
                            let w = faces[i];
                            sums[i] += (w * (kappa - w)).abs();
                            minima[i] = if w < minima[i] { w } else { minima[i] };
                        }
                    }
                    between += sums.iter().sum::<f64>();
                    least = minima.iter().copied().fold(least, f64::min);
                }
            },
        );
        let is_on_off = between == 0.0;
        let whole = is_on_off && diagonal.iter().all(|&d| f64::from((d / kappa) as u8) * kappa == d);
        let all_on = is_on_off && least == kappa;
        let full = all_on && diagonal.iter().all(|&d| d == 2.0 * D as f64 * kappa);
        if !(is_on_off && whole) {
            return Stencil::General(Arc::new(General {
                faces: std::array::from_fn(|a| self.faces[a].iter().map(|&w| T::of(w)).collect()),
                diagonal: diagonal.iter().map(|&d| T::of(d)).collect(),
            }));
        }
        if all_on && full {
            return Stencil::Uniform { kappa: T::of(kappa) };
        }
        let mut open = vec![0; block_len::<D>()].into_boxed_slice();
        simd(
            #[inline(always)]
            || {
                for (row, open) in open.chunks_exact_mut(8).enumerate() {
                    // As wide as the weights, so that the loops become vector instructions.
                    let mut bits = [0u64; 8];
                    for (axis, side) in (0..2 * D).map(|k| (k / 2, k % 2)) {
                        let at = face_row::<D>(axis, row) + side * FACE_STRIDE[axis];
                        let weights = row_of(&self.faces[axis], at);
                        for i in 0..8 {
                            bits[i] |= if weights[i] != 0.0 { 1 << (2 * axis + side) } else { 0 };
                        }
                    }
                    (0..8).for_each(|i| open[i] = bits[i] as u8);
                }
            },
        );
        let degree = diagonal.iter().map(|&d| (d / kappa) as u8).collect();
        Stencil::OnOff(Box::new(OnOff { kappa: T::of(kappa), open, degree, plain: false }))
    }
}

/// The stencil of one block in its cheapest exact form.
#[derive(Clone, Debug)]
pub(crate) enum Stencil<T, const D: usize> {
    /// Every face of the block, boundary layers included, is `kappa`; no anchors, no masses.
    Uniform { kappa: T },
    /// Every face is 0 or `kappa` and every diagonal a whole multiple of it: two bytes a cell.
    OnOff(Box<OnOff<T, D>>),
    /// Anything else. Operators that differ elsewhere share it.
    General(Arc<General<T, D>>),
}

/// The stencil of a block whose faces all are 0 or `kappa`.
#[derive(Clone, Debug)]
pub(crate) struct OnOff<T, const D: usize> {
    pub(crate) kappa: T,
    /// Bit 2a: the lower face along axis a is open; bit 2a+1: the upper.
    pub(crate) open: Box<[u8]>,
    /// The diagonal in units of `kappa`.
    pub(crate) degree: Box<[u8]>,
    /// Whether every closed face leads to a cell that is not an unknown.
    pub(crate) plain: bool,
}

/// The stencil of any block: a coefficient for each face and each diagonal.
#[derive(Clone, Debug)]
pub(crate) struct General<T, const D: usize> {
    pub(crate) faces: [Box<[T]>; D],
    pub(crate) diagonal: Box<[T]>,
}

impl<T: Real, const D: usize> General<T, D> {
    /// The lower (`side` 0) or upper (`side` 1) faces along `axis` of the 64 cells of a plane.
    #[inline(always)]
    pub(crate) fn plane_faces(&self, axis: usize, side: usize, plane: usize) -> [T; 64] {
        let mut faces = [T::ZERO; 64];
        for (y, row) in faces.chunks_exact_mut(8).enumerate() {
            let at = face_row::<D>(axis, 8 * plane + y) + side * FACE_STRIDE[axis];
            row.copy_from_slice(&self.faces[axis][at..at + 8]);
        }
        faces
    }
}

impl<T: Real, const D: usize> Stencil<T, D> {
    /// That of a block without unknowns, but for those that low-rank terms hold.
    fn empty() -> Self {
        let zeros = || vec![0; block_len::<D>()].into_boxed_slice();
        Self::OnOff(Box::new(OnOff { kappa: T::of(1.0), open: zeros(), degree: zeros(), plain: false }))
    }

    /// The coefficient of a face, by its index in an array of [`face_len`] faces.
    #[inline]
    pub(crate) fn face(&self, axis: usize, side: usize, local: usize) -> T {
        match self {
            Self::Uniform { kappa } => *kappa,
            Self::OnOff(on_off) => {
                if (on_off.open[local] >> (2 * axis + side)) & 1 == 1 {
                    on_off.kappa
                } else {
                    T::ZERO
                }
            }
            Self::General(general) => {
                general.faces[axis][lower_face::<D>(axis, local) + side * FACE_STRIDE[axis]]
            }
        }
    }

    /// The diagonal of a cell, low-rank terms left out.
    #[inline]
    pub(crate) fn diagonal(&self, local: usize) -> T {
        match self {
            Self::Uniform { kappa } => *kappa * T::of(2.0 * D as f64),
            Self::OnOff(on_off) => on_off.kappa * T::of(f64::from(on_off.degree[local])),
            Self::General(general) => general.diagonal[local],
        }
    }

    /// Which cells of a row have a non-zero diagonal.
    #[inline(always)]
    pub(crate) fn unknown_row(&self, row: usize) -> Row<bool> {
        match self {
            Self::Uniform { .. } => [true; 8],
            Self::OnOff(on_off) => {
                let degree = row_of(&on_off.degree, 8 * row);
                row_from(|i| degree[i] > 0)
            }
            Self::General(general) => {
                let diagonal = row_of(&general.diagonal, 8 * row);
                row_from(|i| diagonal[i] > T::ZERO)
            }
        }
    }

    /// The cells with a non-zero diagonal.
    pub(crate) fn unknown_cells(&self) -> Mask<D> {
        match self {
            Self::Uniform { .. } => Mask::all(),
            Self::OnOff(on_off) => Mask::of_nonzero(&on_off.degree),
            Self::General(general) => Mask::from_fn(|local| general.diagonal[local] > T::ZERO),
        }
    }

    /// The cells whose lower (`side` 0) or upper (`side` 1) face along `axis` is open.
    pub(crate) fn open_cells(&self, axis: usize, side: usize) -> Mask<D> {
        match self {
            Self::Uniform { .. } => Mask::all(),
            Self::OnOff(on_off) => Mask::of_bit(&on_off.open, 2 * axis + side),
            Self::General(_) => Mask::from_fn(|local| self.face(axis, side, local) != T::ZERO),
        }
    }

    /// A bit for each face on the lower (`side` 0) or upper (`side` 1) side of the block along `axis`: whether it is open.
    pub(crate) fn open_on_side(&self, axis: usize, side: usize) -> u64 {
        let step = side * 7 * FACE_STRIDE[axis];
        let is_open = |local: usize| match self {
            Self::OnOff(on_off) => on_off.open[local] >> (2 * axis + side) & 1 == 1,
            _ => self.face(axis, side, local) != T::ZERO,
        };
        let faces = boundary_cells::<D>(axis).enumerate();
        faces.fold(0, |bits, (k, low)| bits | u64::from(is_open(low + step)) << k)
    }

    /// The weight of all faces that are open, where the block has no other.
    pub(crate) fn one_weight(&self) -> Option<T> {
        match self {
            Self::Uniform { kappa } => Some(*kappa),
            Self::OnOff(on_off) => Some(on_off.kappa),
            Self::General(_) => None,
        }
    }

    /// Whether a cell has a neighbour across an open face.
    #[inline]
    pub(crate) fn has_neighbours(&self, local: usize) -> bool {
        (0..D).any(|a| (0..2).any(|side| self.face(a, side, local) != T::ZERO))
    }

    /// A weight that is negative or not finite.
    pub(crate) fn bad_weight(&self) -> Option<f64> {
        let bad = |w: &T| !(w.f64() >= 0.0 && w.f64() < f64::INFINITY);
        let found = match self {
            Self::Uniform { kappa } => Some(kappa).filter(|w| bad(w)),
            Self::OnOff(on_off) => Some(&on_off.kappa).filter(|w| bad(w)),
            Self::General(general) => {
                general.faces.iter().flatten().chain(&general.diagonal).find(|w| bad(w))
            }
        };
        found.map(|w| w.f64())
    }

    /// Bytes that the coefficients occupy.
    pub(crate) fn bytes(&self) -> usize {
        let n = block_len::<D>();
        match self {
            Self::Uniform { .. } => 0,
            Self::OnOff(_) => 2 * n,
            Self::General(_) => (n + D * face_len::<D>()) * size_of::<T>(),
        }
    }
}

/// The coordinate along `axis` of a cell within its block.
#[inline(always)]
pub(crate) fn coordinate(axis: usize, local: usize) -> usize {
    cell_in_block::<3>(local)[axis]
}

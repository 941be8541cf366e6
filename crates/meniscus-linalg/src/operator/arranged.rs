//! A level as it is worked on: relaxed and multiplied with.

use std::sync::Arc;

use meniscus_core::grid::block_len;
use meniscus_core::parallel;
use meniscus_core::simd::simd;

use super::SHEET_TASK;
use super::contact::{Contact, Moments, Touch, Touches};
use super::extras::Coupling;
use super::level::Level;
use super::low_rank::{Factor, LowRank};
use super::matrix::{Matrix, row_dot};
use super::places::{Cut, Places};
use super::sheets::{AXES, Links, NONE, SHEET, Sheet, Sheets, cells_beside, places_of};
use crate::real::Real;

/// A level whose blocks of few unknowns have been cut into [sheets](super::sheets), if it has any. Vectors hold the cells of the blocks that are left whole, those of
/// the sheets, and then the extra unknowns.
#[derive(Debug)]
pub(crate) struct Arranged<T, const D: usize> {
    /// The matrix of whole blocks and extra unknowns.
    pub(crate) matrix: Arc<Matrix<T, D>>,
    pub(crate) sheets: Sheets<T, D>,
}

impl<T: Real, const D: usize> Arranged<T, D> {
    /// Where sheets begin.
    pub(crate) fn slots(&self) -> usize {
        self.matrix.slots()
    }

    /// The place of the first extra unknown.
    pub(crate) fn first_extra(&self) -> usize {
        self.slots() + SHEET * self.sheets.list.len()
    }

    pub(crate) fn len(&self) -> usize {
        self.first_extra() + self.matrix.extras.len()
    }

    /// The diagonal of an extra unknown, low-rank terms included.
    pub(crate) fn extra_diagonal(&self, extra: usize) -> f64 {
        let Matrix { extras, low_rank, .. } = &*self.matrix;
        let row = low_rank.find_row(self.first_extra() + extra);
        extras.diagonal[extra].f64() + row.map_or(0.0, |row| low_rank.row_diagonal(row).f64())
    }

    /// y = A x; returns x · y.
    pub(crate) fn apply<V: Real>(&self, x: &[V], y: &mut [V]) -> f64 {
        let (cells, rest) = y.split_at_mut(self.slots());
        let (sheets, extras) = rest.split_at_mut(self.first_extra() - self.slots());
        let v = self.state(x);
        let pull = self.matrix.affine.pull(&v);
        let mut total = self.matrix.apply_blocks(x, &v, &pull, cells);
        total += self.apply_sheets(x, &pull, sheets);
        for (e, y) in extras.iter_mut().enumerate() {
            let value = x[self.first_extra() + e].f64();
            let result = self.extra_product(e, x, &v);
            *y = V::of(result);
            total += value * result;
        }
        total
    }

    /// v = F x.
    pub(crate) fn state<V: Real>(&self, x: &[V]) -> Vec<V> {
        let mut v = vec![V::ZERO; self.matrix.dofs];
        self.matrix.low_rank.state(x, &mut v);
        self.find_affine_state(x, &mut v);
        v
    }

    /// v = F x, in the places of the affine terms.
    pub(crate) fn find_affine_state<V: Real>(&self, x: &[V], v: &mut [V]) {
        self.matrix.affine.state(&self.sheets.touches, self.slots(), x, v);
    }

    /// The product A x of one extra unknown; `v` = F x.
    pub(crate) fn extra_product<V: Real>(&self, extra: usize, x: &[V], v: &[V]) -> f64 {
        let Matrix { extras, low_rank, .. } = &*self.matrix;
        let i = self.first_extra() + extra;
        let force = low_rank.find_row(i).map_or(0.0, |row| low_rank.force(row, v).f64());
        extras.diagonal[extra].f64() * x[i].f64() - extras.neighbour_sum(extra, x) + force
    }

    /// The products A x of all sheets; returns the sum of x · y over them.
    fn apply_sheets<V: Real>(&self, x: &[V], pull: &[Moments<V>], y: &mut [V]) -> f64 {
        let first = self.slots();
        let sums = parallel::map_chunks(y, SHEET * SHEET_TASK, |task, chunk| {
            simd(
                #[inline(always)]
                || {
                    let mut sum = 0.0;
                    for (i, y) in chunk.as_chunks_mut().0.iter_mut().enumerate() {
                        let sheet = task * SHEET_TASK + i;
                        self.sheet_product(sheet, x, pull, y);
                        sum += row_dot(&x[first + SHEET * sheet..][..SHEET], y);
                    }
                    sum
                },
            )
        });
        sums.iter().sum()
    }
}

impl<T: Real, const D: usize> Level<T, D> {
    /// The level to be worked on, no block cut.
    pub(crate) fn whole(&self) -> Arranged<T, D> {
        Arranged { matrix: self.matrix.clone(), sheets: Sheets::default() }
    }

    /// The level to be worked on, its blocks in these places.
    pub(crate) fn arranged(&self, places: &Places<D>) -> Arranged<T, D> {
        let matrix = &self.matrix;
        let whole: Vec<usize> = places.whole_blocks().collect();
        let index = |flat: usize| places.index(flat);
        let couplings = parallel::map(whole.len(), |k| self.arranged_couplings(places, whole[k]));
        let list = parallel::map(places.sheets.len(), |sheet| self.sheet(places, sheet));
        let touches = parallel::map(places.sheets.len(), |sheet| self.touches(places, sheet));
        let touches = Touches::new(&touches, matrix.affine.terms());
        let contacts = whole.iter().map(|&block| matrix.affine.contacts(block).to_vec()).collect();
        let renamed = |factor: Factor| Factor {
            unknowns: factor.unknowns.iter().map(|&u| index(u as usize) as u32).collect(),
            ..factor
        };
        let arranged = Matrix {
            blocks: places.blocks.clone(),
            stencils: whole.iter().map(|&block| matrix.stencils[block].clone()).collect(),
            couplings,
            extras: matrix.extras.renamed(index),
            low_rank: LowRank::from_factors(&matrix.low_rank.carried_factors(renamed)),
            affine: matrix.affine.with_contacts(matrix.affine.edge, contacts),
            dofs: matrix.dofs,
        };
        Arranged { matrix: Arc::new(arranged), sheets: Sheets { list, ends: places.ends.clone(), touches } }
    }

    /// The couplings of a block that is kept, with its faces towards blocks that are not.
    fn arranged_couplings(&self, places: &Places<D>, block: usize) -> Vec<Coupling<T>> {
        let coupling = |c: &Coupling<T>| Coupling { extra: places.index(c.extra as usize) as u32, ..*c };
        let mut couplings: Vec<_> = self.matrix.couplings[block].iter().map(coupling).collect();
        for (axis, side) in (0..2 * D).map(|k| (k / 2, k % 2)) {
            let Some(other) =
                self.matrix.blocks.neighbour(block, axis, side).filter(|&b| !places.is_whole(b))
            else {
                continue;
            };
            let step = 7 << (3 * axis);
            for low in super::boundary_cells::<D>(axis) {
                let (near, far) = if side == 0 { (low, low + step) } else { (low + step, low) };
                let weight = self.matrix.stencils[block].face(axis, side, near);
                if weight != T::ZERO {
                    let extra = places.index(other * block_len::<D>() + far) as u32;
                    couplings.push(Coupling { local: near as u16, extra, weight });
                }
            }
        }
        couplings
    }

    fn sheet(&self, places: &Places<D>, sheet: usize) -> Sheet<T> {
        let (block, cut) = places.cut(sheet);
        let (axes, stencil) = (AXES[cut.axis], &self.matrix.stencils[block]);
        let in_plane = |a: usize, side: usize| {
            let other = self.matrix.blocks.neighbour(block, axes[a], side)?;
            places.cuts[other].iter().find(|c| (c.axis, c.at) == (cut.axis, cut.at))
        };
        let beside = [0, 1].map(|a| [0, 1].map(|side| in_plane(a, side)));
        let facing = [0, 1].map(|side| self.facing(places, block, cut, side));
        // By axis and side, the cells whose neighbour is in this sheet or in one of those.
        let near = [0, 1, 2].map(|a| {
            [0, 1].map(|side| match a {
                2 => cut.cells & facing[side].map_or(0, |c| c.cells),
                _ => cut.cells & cells_beside(cut.cells, beside[a][side].map_or(0, |c| c.cells), a, side),
            })
        });
        let face = |a: usize, side: usize, place: usize| stencil.face(axes[a], side, cut.local(place));
        let open = [0, 1, 2].map(|a| [0, 1].map(|side| stencil.open_in(cut, axes[a], side)));
        // The weight of the faces to those, and whether all have it.
        let common = |a: usize, side: usize| {
            let (near, open) = (near[a][side], open[a][side]);
            let first = face(a, side, places_of(near).next()?);
            let is_common = match stencil.one_weight() {
                Some(_) => near & open == near || near & open == 0,
                None => places_of(near).all(|place| face(a, side, place) == first),
            };
            Some((first, is_common))
        };
        let across = [0, 1].map(|side| match (facing[side], common(2, side)) {
            (Some(near), Some((weight, true))) => (near.number, weight),
            _ => (NONE, T::ZERO),
        });
        // All other open faces are couplings.
        let mut couplings = Vec::new();
        for (a, side) in (0..6).map(|k| (k / 2, k % 2)) {
            let held = if a == 2 && across[side].0 == NONE { 0 } else { near[a][side] };
            for place in places_of(open[a][side] & cut.cells & !held) {
                let other = self.matrix.across(block, cut.local(place), axes[a], side);
                let extra = places.index(other.expect("an open face has two cells")) as u32;
                couplings.push(Coupling { local: place as u16, extra, weight: face(a, side, place) });
            }
        }
        let mut diagonal = [T::ZERO; SHEET];
        cut.places().for_each(|place| diagonal[place] = stencil.diagonal(cut.local(place)));
        let weights = [0, 1].map(|a| [0, 1].map(|side| common(a, side))).concat();
        let mut weights = weights.into_iter().flatten();
        let weight = weights.next().filter(|first| first.1 && weights.all(|weight| weight == *first));
        let links = Links::plain(weight.map(|weight| weight.0), &diagonal).unwrap_or_else(|| {
            let mut weights = Box::new([[T::ZERO; SHEET]; 4]);
            for (a, side) in (0..4).map(|k| (k / 2, k % 2)) {
                let of_side = &mut weights[2 * a + side];
                places_of(near[a][side]).for_each(|place| of_side[place] = face(a, side, place));
            }
            Links::Each { weights, diagonal: Box::new(diagonal) }
        });
        let neighbours = beside.map(|sides| sides.map(|cut| cut.map_or(NONE, |c| c.number)));
        Sheet { neighbours, links, across, couplings, cells: cut.cells }
    }

    /// The sheet below (`side` 0) or above another.
    fn facing<'a>(&self, places: &'a Places<D>, block: usize, cut: &Cut, side: usize) -> Option<&'a Cut> {
        let (other, at) = match (cut.at + 2 * side).checked_sub(1) {
            Some(at @ 0..8) => (block, at),
            _ => (self.matrix.blocks.neighbour(block, cut.axis, side)?, 7 * (1 - side)),
        };
        places.cuts[other].iter().find(|c| (c.axis, c.at) == (cut.axis, at))
    }

    fn touches(&self, places: &Places<D>, sheet: usize) -> Vec<Touch<D>> {
        let (block, cut) = places.cut(sheet);
        let along = self.matrix.affine.edge * cut.at as f64;
        let of_contact = |contact: &Contact<D>| {
            let cells = cut.plane(&contact.cells) & cut.cells;
            let at = std::array::from_fn(|a| contact.at[a] + if a == cut.axis { along } else { 0.0 });
            let &Contact { term, axis, weight, bound, .. } = contact;
            (cells != 0).then_some(Touch { term, axis, across: cut.axis as u8, weight, bound, at, cells })
        };
        self.matrix.affine.contacts(block).iter().filter_map(of_contact).collect()
    }
}

//! The cells that touch an affine term: sets in bits, and sums over them.

use meniscus_core::grid::Mask;
use meniscus_core::parallel::{self, PIECE};

use super::sheets::Cells;
use crate::real::{Real, Row, row_from, row_of};

/// D + 1 numbers: of a constant and of the place.
pub(crate) type Moments<V> = [V; 4];

/// The cells of a block that touch one term along one axis, all in the same way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Contact<const D: usize> {
    pub(crate) term: u32,
    pub(crate) axis: u8,
    /// Faces by cell, negative if they lie below it.
    pub(crate) weight: f32,
    /// Half of what the term is at most, as a mass of a cell.
    pub(crate) bound: f32,
    /// Where the block's first cell is touched (or would be), from the centre of the term, in cells of the finest level.
    pub(crate) at: [f64; D],
    pub(crate) cells: Mask<D>,
}

/// The cells of a sheet that touch one term along one axis: what a contact is for a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touch<const D: usize> {
    pub(crate) term: u32,
    pub(crate) axis: u8,
    /// The axis across the sheet.
    pub(crate) across: u8,
    pub(crate) weight: f32,
    pub(crate) bound: f32,
    pub(crate) at: [f64; D],
    pub(crate) cells: u64,
}

impl<const D: usize> Contact<D> {
    /// Its term, axis and side.
    pub(crate) fn key(&self) -> (u32, u8, bool) {
        (self.term, self.axis, self.weight > 0.0)
    }

    pub(crate) fn has(&self, local: usize) -> bool {
        self.cells.has(local)
    }

    /// Where a cell is touched; `edge` is that of a cell.
    pub(crate) fn place(&self, edge: f64, local: usize) -> [f64; D] {
        std::array::from_fn(|a| self.at[a] + edge * (local >> (3 * a) & 7) as f64)
    }

    /// The cells, by local index.
    pub(crate) fn locals(&self) -> impl Iterator<Item = usize> + '_ {
        self.cells.iter()
    }

    /// The sums of x and of x times the cells' coordinates within the block.
    #[inline(always)]
    pub(super) fn sums<V: Real>(&self, x: &[V]) -> Moments<V> {
        let (mut all, mut by_y, mut by_z) = ([V::ZERO; 8], [V::ZERO; 8], [V::ZERO; 8]);
        for_each_row(
            &self.cells,
            #[inline(always)]
            |y, z, bits| {
                let (x, members) = (row_of(x, 64 * z + 8 * y), &MEMBERS[bits as usize]);
                let (y, z) = (V::from_byte(y as u8), V::from_byte(z as u8));
                for i in 0..8 {
                    let value = V::narrow(members[i]) * x[i];
                    all[i] += value;
                    by_y[i] += y * value;
                    by_z[i] += z * value;
                }
            },
        );
        [sum(&all), sum(&by_place(&all)), sum(&by_y), sum(&by_z)]
    }
}

impl<const D: usize> Touch<D> {
    /// 1 for the cells of a row that touch the term, 0 for others.
    #[inline(always)]
    pub(super) fn members(&self, row: usize) -> &'static Row<f32> {
        &MEMBERS[self.cells as usize >> (8 * row) & 255]
    }

    /// Adds its bound to those of the cells of the sheet.
    #[inline(always)]
    pub(super) fn add_bounds(&self, bounds: &mut Cells<f32>) {
        for (y, bounds) in bounds.chunks_exact_mut(8).enumerate() {
            let members = self.members(y);
            (0..8).for_each(|i| bounds[i] += members[i] * self.bound);
        }
    }

    /// The sums of x and of x times the cells' coordinates within the sheet.
    #[inline(always)]
    pub(super) fn sums<V: Real>(&self, x: &[V]) -> Moments<V> {
        let (mut all, mut by_y) = ([V::ZERO; 8], [V::ZERO; 8]);
        for (y, x) in x.chunks_exact(8).enumerate() {
            let (members, y) = (self.members(y), V::from_byte(y as u8));
            for i in 0..8 {
                let value = V::narrow(members[i]) * x[i];
                all[i] += value;
                by_y[i] += y * value;
            }
        }
        [sum(&all), sum(&by_place(&all)), sum(&by_y), V::ZERO]
    }
}

/// All touches of the sheets of a level.
#[derive(Debug)]
pub(super) struct Touches<const D: usize> {
    by_sheet: Grouped<Touch<D>>,
    /// Once more with their sheets, since states are found term by term.
    by_term: Grouped<(u32, Touch<D>)>,
}

impl<const D: usize> Default for Touches<D> {
    fn default() -> Self {
        Self { by_sheet: Grouped::default(), by_term: Grouped::default() }
    }
}

impl<const D: usize> Touches<D> {
    /// From those of each sheet.
    pub(super) fn new(touches: &[Vec<Touch<D>>], terms: usize) -> Self {
        let with_sheet = |sheet: usize| -> Vec<(u32, Touch<D>)> {
            touches[sheet].iter().map(|touch| (sheet as u32, *touch)).collect()
        };
        let all = parallel::map(touches.len(), with_sheet).concat();
        let by_term = Grouped::by(&all, terms, |(_, touch)| touch.term);
        Self { by_sheet: Grouped::of_lists(touches), by_term }
    }

    #[inline(always)]
    pub(super) fn of_sheet(&self, sheet: usize) -> &[Touch<D>] {
        self.by_sheet.group(sheet)
    }

    /// The touches of a term, each with its sheet.
    #[inline(always)]
    pub(super) fn of_term(&self, term: usize) -> &[(u32, Touch<D>)] {
        self.by_term.group(term)
    }
}

/// The sum of a row.
#[inline(always)]
fn sum<V: Real>(row: &Row<V>) -> V {
    ((row[0] + row[4]) + (row[1] + row[5])) + ((row[2] + row[6]) + (row[3] + row[7]))
}

/// A row times the places in it.
#[inline(always)]
fn by_place<V: Real>(row: &Row<V>) -> Row<V> {
    row_from(|i| row[i] * V::from_byte(i as u8))
}

/// The bits of a byte as numbers.
pub(super) static MEMBERS: [Row<f32>; 256] = {
    let mut members = [[0.0; 8]; 256];
    let mut k = 0;
    while k < 256 * 8 {
        members[k / 8][k % 8] = ((k / 8) >> (k % 8) & 1) as f32;
        k += 1;
    }
    members
};

/// Calls `row(y, z, members)` for the rows that have any.
#[inline(always)]
pub(super) fn for_each_row<const D: usize>(cells: &Mask<D>, mut row: impl FnMut(usize, usize, u8)) {
    for (z, &layer) in cells.layers().iter().enumerate().filter(|(_, layer)| **layer != 0) {
        for y in 0..8 {
            let bits = (layer >> (8 * y)) as u8;
            if bits != 0 {
                row(y, z, bits);
            }
        }
    }
}

/// Lists, one after another.
#[derive(Clone, Debug)]
pub(super) struct Grouped<E> {
    starts: Vec<u32>,
    pub(super) all: Vec<E>,
}

impl<E> Default for Grouped<E> {
    fn default() -> Self {
        Self { starts: vec![0], all: Vec::new() }
    }
}

impl<E: Copy + Send + Sync> Grouped<E> {
    pub(super) fn of_lists(lists: &[Vec<E>]) -> Self {
        let mut starts = vec![0];
        starts.extend(lists.iter().scan(0, |end, list| {
            *end += list.len() as u32;
            Some(*end)
        }));
        Self { starts, all: lists.concat() }
    }

    /// The elements in the order of their groups, of which there are `count`.
    pub(super) fn by(elements: &[E], count: usize, group: impl Fn(&E) -> u32) -> Self {
        let mut starts = vec![0; count + 1];
        elements.iter().for_each(|element| starts[group(element) as usize + 1] += 1);
        (0..count).for_each(|k| starts[k + 1] += starts[k]);
        let (mut next, mut order) = (starts.clone(), vec![0; elements.len()]);
        for (k, element) in elements.iter().enumerate() {
            let next = &mut next[group(element) as usize];
            order[*next as usize] = k as u32;
            *next += 1;
        }
        let mut all = elements.to_vec();
        parallel::for_chunks(&mut all, PIECE, |piece, all| {
            for (to, &k) in all.iter_mut().zip(parallel::chunk(&order, PIECE, piece)) {
                *to = elements[k as usize];
            }
        });
        Self { starts, all }
    }

    #[inline(always)]
    pub(super) fn group(&self, k: usize) -> &[E] {
        match self.starts.get(k + 1) {
            Some(&end) => &self.all[self.starts[k] as usize..end as usize],
            None => &[],
        }
    }
}

//! What passes between a level and the next coarser one, both as they are worked on: residuals down, corrections up.

use meniscus_core::grid::block_len;
use meniscus_core::parallel;
use meniscus_core::simd::simd;

use super::aggregate::{Aggregation, children, coarse_local};
use super::smooth::{Schedule, Vectors};
use crate::operator::{Arranged, Moments, NONE, Places, SHEET, SHEET_TASK, Scratch, Stencil, TASK_BLOCKS};
use crate::real::Real;

/// An [`Aggregation`] between arranged levels; blocks are those that are whole there.
pub(super) struct Transfer<const D: usize> {
    coarse_slots: usize,
    /// By fine block: the coarse block, and which of its children this is.
    parents: Vec<(u32, u8)>,
    /// By coarse block: its children.
    children: Vec<[Option<u32>; 8]>,
    /// By fine block, ascending: the cells that do not belong to the coarse cell at their place, with
    /// the coarse unknown they belong to, if any.
    irregular: Vec<Vec<(u16, Option<u32>)>>,
    /// By fine extra unknown: the coarse unknown.
    extras: Vec<Option<u32>>,
    /// By fine sheet and group of 2×2 cells: the coarse unknown, or [`NONE`].
    sheets: Vec<[u32; 16]>,
}

impl<const D: usize> Aggregation<D> {
    /// The map between arranged levels; unknowns of one without places keep theirs.
    pub(super) fn transfer(self, fine: Option<&Places<D>>, coarse: Option<&Places<D>>) -> Transfer<D> {
        let Some(fine) = fine else {
            let Self { coarse, parents, children, irregular, extras, .. } = self;
            let (coarse_slots, sheets) = (coarse.slots(), Vec::new());
            return Transfer { coarse_slots, parents, children, irregular, extras, sheets };
        };
        let index = |target: u32| coarse.map_or(target, |places| places.index(target as usize) as u32);
        let block = |parent: u32| coarse.map_or(parent, |places| places.block(parent as usize));
        let whole: Vec<usize> = fine.whole_blocks().collect();
        let parents: Vec<(u32, u8)> =
            whole.iter().map(|&b| (block(self.parents[b].0), self.parents[b].1)).collect();
        let blocks = coarse.map_or(&self.coarse, |places| &places.blocks);
        let irregular = |&b: &usize| {
            self.irregular[b].iter().map(|&(local, target)| (local, target.map(index))).collect::<Vec<_>>()
        };
        let sheet = |sheet: usize| {
            let mut targets = [NONE; 16];
            for place in (0..SHEET).filter(|place| fine.cells(sheet) >> place & 1 == 1) {
                let (block, local) = fine.cell(sheet, place);
                let target = &mut targets[group_of(place)];
                if *target == NONE {
                    *target = index(self.coarse_slot(block, local).flat::<D>() as u32);
                }
            }
            targets
        };
        Transfer {
            coarse_slots: blocks.slots(),
            children: children(&parents, blocks.len()),
            parents,
            irregular: whole.iter().map(irregular).collect(),
            extras: self.extras.iter().map(|target| target.map(index)).collect(),
            sheets: parallel::map(fine.sheets.len(), sheet),
        }
    }
}

/// The group of 2×2 cells that a place in a sheet belongs to.
#[inline(always)]
fn group_of(place: usize) -> usize {
    (place & 7) / 2 + place / 16 * 4
}

impl<const D: usize> Transfer<D> {
    /// coarse_b = P^T (b - A x).
    pub(super) fn restrict_residual<T: Real>(
        &self,
        fine: &Arranged<T, D>,
        vectors: &Vectors,
        coarse_b: &mut [f32],
    ) {
        let n = block_len::<D>();
        let Vectors { x, b, v } = vectors;
        let pull = fine.matrix.affine.pull(v);
        let (cells, extras) = coarse_b.split_at_mut(self.coarse_slots);
        let irregular = parallel::map_chunks_with(cells, n, Scratch::new, |scratch, coarse, sums| {
            simd(
                #[inline(always)]
                || {
                    sums.fill(0.0);
                    let mut aside = Vec::new();
                    let mut residual = [0.0; 512];
                    for octant in 0..1 << D {
                        let Some(block) = self.children[coarse][octant].map(|c| c as usize) else {
                            continue;
                        };
                        let residual = &mut residual[..n];
                        fine.matrix.product(block, x, v, &pull, scratch, residual);
                        for (r, b) in residual.iter_mut().zip(&b[block * n..(block + 1) * n]) {
                            *r = b - *r;
                        }
                        for &(local, target) in &self.irregular[block] {
                            aside.extend(target.map(|t| (t, residual[local as usize])));
                            residual[local as usize] = 0.0;
                        }
                        sum_groups::<D>(residual, octant, sums);
                    }
                    aside
                },
            )
        });
        extras.fill(0.0);
        for (target, r) in irregular.into_iter().flatten() {
            extras[target as usize - self.coarse_slots] += r;
        }
        for e in 0..fine.matrix.extras.len() {
            let Some(target) = self.extras[e] else { continue };
            let residual = b[fine.first_extra() + e].f64() - fine.extra_product(e, x, v);
            coarse_b[target as usize] += residual as f32;
        }
        self.restrict_sheets(fine, vectors, &pull, coarse_b);
    }

    /// Adds the residuals of the sheets to coarse_b.
    fn restrict_sheets<T: Real>(
        &self,
        fine: &Arranged<T, D>,
        vectors: &Vectors,
        pull: &[Moments<f32>],
        coarse_b: &mut [f32],
    ) {
        let Vectors { x, b, .. } = vectors;
        let mut sums = vec![[0.0; 16]; fine.sheets.list.len()];
        parallel::for_chunks(&mut sums, SHEET_TASK, |task, sums| {
            simd(
                #[inline(always)]
                || {
                    let mut residual = [0.0; SHEET];
                    for (i, sums) in sums.iter_mut().enumerate() {
                        let sheet = task * SHEET_TASK + i;
                        fine.sheet_product(sheet, x, pull, &mut residual);
                        let b = &b[fine.slots() + SHEET * sheet..][..SHEET];
                        for (r, b) in residual.iter_mut().zip(b) {
                            *r = b - *r;
                        }
                        for (pair, rows) in residual.chunks_exact(16).enumerate() {
                            for u in 0..4 {
                                sums[4 * pair + u] =
                                    (rows[2 * u] + rows[2 * u + 1]) + (rows[8 + 2 * u] + rows[9 + 2 * u]);
                            }
                        }
                    }
                },
            );
        });
        for (targets, sums) in self.sheets.iter().zip(&sums) {
            for (&target, sum) in targets.iter().zip(sums) {
                if target != NONE {
                    coarse_b[target as usize] += sum;
                }
            }
        }
    }

    /// x += P x_coarse, and the states with it: F P x_coarse is the coarse state, of the terms that the coarse level has.
    pub(super) fn prolong<T: Real>(
        &self,
        fine: &Arranged<T, D>,
        schedule: &Schedule,
        coarse: &Vectors,
        vectors: &mut Vectors,
    ) {
        let n = block_len::<D>();
        let (cells, rest) = vectors.x.split_at_mut(fine.slots());
        let (sheets, extras) = rest.split_at_mut(fine.first_extra() - fine.slots());
        self.prolong_sheets(fine, &coarse.x, sheets);
        parallel::for_chunks(cells, n * TASK_BLOCKS, |task, chunk| {
            simd(
                #[inline(always)]
                || {
                    for (i, own) in chunk.chunks_exact_mut(n).enumerate() {
                        let block = task * TASK_BLOCKS + i;
                        let (parent, octant) = self.parents[block];
                        let (parent, octant) = (parent as usize, octant as usize);
                        let above = &coarse.x[parent * n..(parent + 1) * n];
                        let stencil = &fine.matrix.stencils[block];
                        for &(local, target) in &self.irregular[block] {
                            // What the loop below adds is taken away first.
                            let wrong = above[coarse_local::<D>(octant, local as usize)];
                            own[local as usize] += target.map_or(0.0, |t| coarse.x[t as usize]) - wrong;
                        }
                        add_to_groups(above, octant, own, stencil);
                        // Cells that only low-rank terms hold.
                        for &local in &schedule.held[block] {
                            own[local as usize] += above[coarse_local::<D>(octant, local as usize)];
                        }
                    }
                },
            );
        });
        for (x, target) in extras.iter_mut().zip(&self.extras) {
            *x += target.map_or(0.0, |t| coarse.x[t as usize]);
        }
        for (v, dv) in vectors.v.iter_mut().zip(&coarse.v) {
            *v += dv;
        }
    }

    /// Adds the coarse values to the unknowns of the sheets.
    fn prolong_sheets<T: Real>(&self, fine: &Arranged<T, D>, coarse: &[f32], x: &mut [f32]) {
        parallel::for_chunks(x, SHEET * SHEET_TASK, |task, x| {
            let sheets = parallel::chunk(&fine.sheets.list, SHEET_TASK, task).iter();
            let targets = parallel::chunk(&self.sheets, SHEET_TASK, task);
            for ((own, sheet), targets) in x.chunks_exact_mut(SHEET).zip(sheets).zip(targets) {
                let values = targets.map(|target| if target == NONE { 0.0 } else { coarse[target as usize] });
                for (place, own) in own.iter_mut().enumerate() {
                    let value = values[group_of(place)];
                    *own += if sheet.cells >> place & 1 == 1 { value } else { 0.0 };
                }
            }
        });
    }
}

/// Adds the values of a block to the coarse cells above it.
#[inline(always)]
fn sum_groups<const D: usize>(values: &[f32], octant: usize, sums: &mut [f32]) {
    for (row, values) in values.chunks_exact(8).enumerate() {
        let first = coarse_local::<D>(octant, 8 * row);
        let sums = &mut sums[first..first + 4];
        for i in 0..4 {
            sums[i] += values[2 * i] + values[2 * i + 1];
        }
    }
}

/// Adds the values of the coarse cells above a block to its unknowns.
#[inline(always)]
fn add_to_groups<T: Real, const D: usize>(
    above: &[f32],
    octant: usize,
    own: &mut [f32],
    stencil: &Stencil<T, D>,
) {
    let uniform = matches!(stencil, Stencil::Uniform { .. });
    for (row, own) in own.chunks_exact_mut(8).enumerate() {
        let first = coarse_local::<D>(octant, 8 * row);
        let a = &above[first..first + 4];
        let pairs = [a[0], a[0], a[1], a[1], a[2], a[2], a[3], a[3]];
        if uniform {
            for i in 0..8 {
                own[i] += pairs[i];
            }
        } else {
            let unknown = stencil.unknown_row(row);
            for i in 0..8 {
                own[i] += if unknown[i] { pairs[i] } else { 0.0 };
            }
        }
    }
}

//! The operator of the next coarser level.
//!
//! With P the piecewise constant prolongation of an [`Aggregation`], the coarse operator is
//! s P^T S P + P^T M P + (F P)^T (F P). Unsmoothed aggregation overestimates the stiffness of smooth functions by
//! about two, since its gradients span one cell where the coarse ones span two, so the stencil is scaled down
//! by s, and couplings to extra unknowns by a little more. Masses M and low-rank terms have no gradient and are not.

use meniscus_core::grid::{Mask, block_len};
use meniscus_core::parallel;

use super::aggregate::{Aggregation, coarse_local, corners, groups};
use super::dissolve;
use crate::operator::{
    Affine, Contact, Edge, ExtraNodes, Factor, Hold, Level, LowRank, Matrix, Patch, Stencil, coordinate,
};
use crate::real::Real;

/// The factor s on stencil and couplings from one level to the next. The argument gives one half; a little
/// more was as good or better in nearly all of the problems of `tests/iterations.rs`. They allow 0.5 to 0.6; with 0.7 most of them fail.
pub(crate) const STIFFNESS: f64 = 0.55;

/// The factor on couplings to extra unknowns from one level to the next. Their sum over a group of cells is mostly that of the few cells which
/// lie nearest, and what parts the others from them is lost. With the factor of the stencil a
/// system with 648 of them took 16 iterations, with this one 11; one or two of them take half an iteration more. Channels, whose parts become extra unknowns,
/// take 20 iterations instead of 14 with 0.3 and 27 with 1 (`a_serpentine_channel_2d`).
pub(crate) const COUPLING: f64 = 0.45;

/// What the extra unknowns of the fine level add to the cells of a coarse block.
#[derive(Clone, Default)]
struct Additions {
    /// (axis, side, cell, weight)
    faces: Vec<(usize, usize, usize, f64)>,
    holds: Vec<(usize, Hold<f64>)>,
}

/// Collects what does not follow from the grid of the coarse level.
struct Collector<'a, const D: usize> {
    aggregation: &'a Aggregation<D>,
    additions: Vec<Additions>,
    edges: Vec<Edge>,
    /// What holds the extra unknowns.
    holds: Vec<Hold<f64>>,
}

/// The coarse level, and whether terms have dissolved in it.
pub(crate) fn coarsen<T: Real, const D: usize>(
    fine: &Level<T, D>,
    aggregation: &Aggregation<D>,
) -> (Level<f32, D>, bool) {
    let coarse = &aggregation.coarse;
    let mut collector = Collector {
        aggregation,
        additions: vec![Additions::default(); coarse.len()],
        edges: Vec::new(),
        holds: vec![Hold::default(); aggregation.positions.len()],
    };
    collector.collect(fine);
    let (affine, plain, dissolved) = coarse_affine(fine, aggregation);
    dissolved.iter().for_each(|&(a, b, weight)| collector.grid_edge(a, b, weight));
    let Collector { additions, edges, holds, .. } = collector;
    let extras = ExtraNodes { holds, positions: aggregation.positions.clone(), edges };
    let low_rank = LowRank::from_factors(&coarse_factors(fine, aggregation, &plain));
    let fill = |block: usize, patch: &mut Patch<D>| {
        fill_from_children(fine, aggregation, block, patch);
        for &(axis, side, local, weight) in &additions[block].faces {
            patch.add_face(axis, side, local, weight);
        }
        for &(local, hold) in &additions[block].holds {
            patch.anchors[local] += hold.anchor;
            patch.masses[local] += hold.mass;
        }
        if !dissolved.is_empty() {
            patch.snap();
        }
    };
    let (level, _) = Level::assemble(coarse.clone(), fill, extras, low_rank);
    (level.with_affine(affine, fine.matrix.dofs), !dissolved.is_empty())
}

impl<const D: usize> Collector<'_, D> {
    fn collect<T: Real>(&mut self, fine: &Level<T, D>) {
        let (slots, n) = (fine.slots(), block_len::<D>());
        for block in 0..fine.matrix.blocks.len() {
            for &(local, target) in &self.aggregation.irregular[block] {
                for axis in 0..D {
                    for side in 0..2 {
                        self.face(fine, block, local as usize, axis, side, target);
                    }
                }
            }
            for &(local, hold) in &fine.holds[block] {
                if !self.aggregation.is_regular(block, local as usize) {
                    let target = self.aggregation.target(slots, block * n + local as usize);
                    self.hold(target, hold.convert());
                }
            }
        }
        for e in 0..fine.matrix.extras.len() {
            let from = self.aggregation.extras[e];
            for &(to, weight) in fine.matrix.extras.edges(e) {
                // An edge between two extra unknowns is listed by both.
                if (to as usize) < slots || to as usize > slots + e {
                    let to = self.aggregation.target(slots, to as usize);
                    self.edge(from.map(|f| f as usize), to, weight.f64());
                }
            }
            self.hold(from.map(|f| f as usize), fine.extra_holds[e].convert());
        }
    }

    /// A face of an irregular cell. One between two irregular cells is taken from its upper cell.
    fn face<T: Real>(
        &mut self,
        fine: &Level<T, D>,
        block: usize,
        local: usize,
        axis: usize,
        side: usize,
        target: Option<u32>,
    ) {
        let weight = fine.matrix.stencils[block].face(axis, side, local).f64();
        if weight == 0.0 {
            return;
        }
        let n = block_len::<D>();
        let other = fine.matrix.across(block, local, axis, side).expect("an open face has two cells");
        if side == 1 && !self.aggregation.is_regular(other / n, other % n) {
            return;
        }
        self.edge(target.map(|t| t as usize), self.aggregation.target(fine.slots(), other), weight);
    }

    fn hold(&mut self, target: Option<usize>, Hold { anchor, mass }: Hold<f64>) {
        let Some(target) = target else { return };
        let anchor = STIFFNESS * anchor;
        let (slots, n) = (self.aggregation.coarse.slots(), block_len::<D>());
        match target.checked_sub(slots) {
            Some(extra) => {
                self.holds[extra].anchor += anchor;
                self.holds[extra].mass += mass;
            }
            None => self.additions[target / n].holds.push((target % n, Hold { anchor, mass })),
        }
    }

    fn edge(&mut self, a: Option<usize>, b: Option<usize>, weight: f64) {
        let (Some(a), Some(b)) = (a, b) else { return };
        if a == b {
            return;
        }
        let slots = self.aggregation.coarse.slots();
        if a >= slots || b >= slots {
            self.edges.push((a as u32, b as u32, COUPLING * weight));
        } else {
            self.grid_edge(a, b, STIFFNESS * weight);
        }
    }

    /// An edge between two coarse cells: parts keep the neighbours of their place, so the cells share a
    /// face.
    fn grid_edge(&mut self, a: usize, b: usize, weight: f64) {
        let n = block_len::<D>();
        let place = |i: usize| {
            let slot = meniscus_core::grid::Slot { block: i / n, local: i % n };
            self.aggregation.coarse.cell(slot)
        };
        let (at, bt) = (place(a), place(b));
        let axis = (0..D).find(|&x| at[x] != bt[x]).expect("two cells at one place share an unknown");
        debug_assert!((0..D).all(|x| at[x].abs_diff(bt[x]) == usize::from(x == axis)));
        let side = usize::from(bt[axis] > at[axis]);
        self.additions[a / n].faces.push((axis, side, a % n, weight));
        if a / n != b / n {
            self.additions[b / n].faces.push((axis, 1 - side, b % n, weight));
        }
    }
}

/// Sums the faces, anchors and masses of the regular cells below a coarse block.
fn fill_from_children<T: Real, const D: usize>(
    fine: &Level<T, D>,
    aggregation: &Aggregation<D>,
    block: usize,
    patch: &mut Patch<D>,
) {
    if let Some(kappa) = uniform_children(fine, aggregation, block) {
        return patch.fill_faces(STIFFNESS * kappa * f64::from(1u32 << (D - 1)));
    }
    for octant in 0..1 << D {
        let Some(child) = aggregation.children[block][octant].map(|c| c as usize) else { continue };
        if fine.matrix.stencils[child].unknown_cells().is_empty() {
            continue;
        }
        let clean = is_clean(fine, aggregation, child);
        for axis in 0..D {
            add_faces(fine, aggregation, child, octant, axis, clean, patch);
        }
        for &(local, hold) in &fine.holds[child] {
            if clean || aggregation.is_regular(child, local as usize) {
                let coarse = coarse_local::<D>(octant, local as usize);
                patch.anchors[coarse] += STIFFNESS * hold.anchor.f64();
                patch.masses[coarse] += hold.mass.f64();
            }
        }
    }
}

/// The one weight below a coarse block, if there is one: the block is then uniform too.
fn uniform_children<T: Real, const D: usize>(
    fine: &Level<T, D>,
    aggregation: &Aggregation<D>,
    block: usize,
) -> Option<f64> {
    let kappa_of = |child: Option<u32>| match fine.matrix.stencils[child? as usize] {
        Stencil::Uniform { kappa } if is_clean(fine, aggregation, child? as usize) => Some(kappa.f64()),
        _ => None,
    };
    let children = &aggregation.children[block][..1 << D];
    let first = kappa_of(children[0])?;
    children[1..].iter().all(|&child| kappa_of(child) == Some(first)).then_some(first)
}

/// Adds the faces of a child along one axis that lie on faces of coarse cells: the lower ones of its cells
/// with an even coordinate, and at the top of the coarse block the uppermost.
fn add_faces<T: Real, const D: usize>(
    fine: &Level<T, D>,
    aggregation: &Aggregation<D>,
    child: usize,
    octant: usize,
    axis: usize,
    clean: bool,
    patch: &mut Patch<D>,
) {
    let stencil = &fine.matrix.stencils[child];
    let is_top = octant >> axis & 1 == 1;
    let joins = |local, side| clean || joins_regular(fine, aggregation, child, local, axis, side);
    // The other coordinates of the fine faces that a coarse one covers.
    let covered: Vec<usize> = corners::<D>().filter(|&offset| coordinate(axis, offset) == 0).collect();
    let one_weight = stencil.one_weight().filter(|_| clean);
    let counted = one_weight.map(|weight| (weight.f64(), [0, 1].map(|side| stencil.open_cells(axis, side))));
    for group in groups::<D>() {
        let sum = |side: usize| -> f64 {
            let first = group + side * (1 << (3 * axis));
            if let Some((weight, open)) = &counted {
                return weight * open[side].count_in_square(axis, first) as f64;
            }
            let open = covered.iter().map(|offset| first + offset).filter(|&local| joins(local, side));
            open.map(|local| stencil.face(axis, side, local).f64()).sum()
        };
        let coarse = coarse_local::<D>(octant, group);
        let sides = if is_top && coordinate(axis, group) == 6 { 0..2 } else { 0..1 };
        for (side, sum) in sides.map(|side| (side, sum(side))).filter(|(_, sum)| *sum != 0.0) {
            patch.add_face(axis, side, coarse, STIFFNESS * sum);
        }
    }
}

/// Whether neither a block nor its neighbours hold irregular cells.
fn is_clean<T: Real, const D: usize>(fine: &Level<T, D>, aggregation: &Aggregation<D>, block: usize) -> bool {
    let neighbours =
        (0..D).flat_map(|axis| (0..2).filter_map(move |s| fine.matrix.blocks.neighbour(block, axis, s)));
    neighbours.chain([block]).all(|b| aggregation.irregular[b].is_empty())
}

fn joins_regular<T: Real, const D: usize>(
    fine: &Level<T, D>,
    aggregation: &Aggregation<D>,
    block: usize,
    local: usize,
    axis: usize,
    side: usize,
) -> bool {
    let n = block_len::<D>();
    aggregation.is_regular(block, local)
        && fine
            .matrix
            .across(block, local, axis, side)
            .is_some_and(|other| aggregation.is_regular(other / n, other % n))
}

/// F P: the columns of the unknowns that share a coarse one, summed. Affine terms in `plain` become plain ones.
fn coarse_factors<T: Real, const D: usize>(
    fine: &Level<T, D>,
    aggregation: &Aggregation<D>,
    plain: &[usize],
) -> Vec<Factor> {
    let coarse = |factor: Factor| {
        let k = factor.dofs.len();
        let mut order: Vec<(u32, usize)> = factor
            .unknowns
            .iter()
            .enumerate()
            .filter_map(|(entry, &u)| Some((aggregation.target(fine.slots(), u as usize)? as u32, entry)))
            .collect();
        order.sort_unstable();
        let mut coarse = Factor { dofs: factor.dofs, unknowns: Vec::new(), columns: Vec::new() };
        for run in order.chunk_by(|a, b| a.0 == b.0) {
            coarse.unknowns.push(run[0].0);
            for dof in 0..k {
                coarse.columns.push(run.iter().map(|&(_, entry)| factor.columns[entry * k + dof]).sum());
            }
        }
        coarse
    };
    let mut factors = fine.matrix.low_rank.carried_factors(coarse);
    let of_plain = parallel::map(plain.len(), |k| fine.matrix.affine.factor(plain[k]).map(coarse));
    factors.extend(of_plain.into_iter().flatten());
    factors
}

/// The contacts of the coarse level, where cells that share a coarse one add up their faces; the terms that cannot have any there, or had better not; and
/// the edges between cells that others dissolve into.
fn coarse_affine<T: Real, const D: usize>(
    fine: &Level<T, D>,
    aggregation: &Aggregation<D>,
) -> (Affine<D>, Vec<usize>, Vec<dissolve::Edge>) {
    let Matrix { blocks, affine, .. } = &*fine.matrix;
    if affine.is_empty() {
        return (Affine::default(), Vec::new(), Vec::new());
    }
    let of_block = |block: usize| {
        let mut contacts: Vec<Contact<D>> = Vec::new();
        for (octant, child) in aggregation.children[block].iter().enumerate() {
            let Some(child) = child.map(|c| c as usize) else { continue };
            for run in affine.contacts(child).chunk_by(|a, b| a.key() == b.key()) {
                add_contacts(run, affine.edge, octant, &mut contacts);
            }
        }
        contacts.sort_by_key(Contact::key);
        contacts
    };
    let contacts = parallel::map(aggregation.coarse.len(), of_block);
    let coarse = affine.with_contacts(2.0 * affine.edge, contacts);
    let scattered = coarse.scattered();
    let mut plain = vec![false; coarse.terms()];
    // Contacts are with cells: not so of cells that become part of an extra unknown.
    for block in 0..blocks.len() {
        for &(local, _) in &aggregation.irregular[block] {
            let touched = affine.contacts(block).iter().filter(|c| c.has(local as usize));
            touched.for_each(|c| plain[c.term as usize] = true);
        }
    }
    let small = dissolve::small_terms(&coarse, &aggregation.coarse);
    let dissolves: Vec<bool> = (0..plain.len()).map(|term| small[term] && !plain[term]).collect();
    let edges = dissolve::edges(&coarse, &aggregation.coarse, &dissolves);
    (0..plain.len()).for_each(|term| plain[term] |= scattered[term] && !dissolves[term]);
    let terms = (0..plain.len()).filter(|&term| plain[term]).collect();
    let keeps = |contact: &Contact<D>| !plain[contact.term as usize] && !dissolves[contact.term as usize];
    (coarse.retain(keeps), terms, edges)
}

/// Adds the contacts of a child with one term along one axis to those of a coarse block.
fn add_contacts<const D: usize>(run: &[Contact<D>], edge: f64, octant: usize, coarse: &mut Vec<Contact<D>>) {
    // By coarse cell within the child: faces, and the sum of their places.
    let mut sums = [[0.0f64; 4]; 64];
    for contact in run {
        for local in contact.locals() {
            let group = coarse_local::<D>(0, local);
            let sum = &mut sums[group & 3 | (group >> 1) & 12 | (group >> 2) & 48];
            let (place, weight) = (contact.place(edge, local), f64::from(contact.weight));
            sum[0] += weight;
            (0..D).for_each(|a| sum[a + 1] += weight * place[a]);
        }
    }
    for (k, sum) in sums.iter().enumerate().filter(|(_, sum)| sum[0] != 0.0) {
        let place = [k & 3, k >> 2 & 3, k >> 4];
        let inner: [usize; D] = std::array::from_fn(|a| place[a] + 4 * (octant >> a & 1));
        let at = std::array::from_fn(|a| sum[a + 1] / sum[0] - 2.0 * edge * inner[a] as f64);
        // The bound of one face is that of all faces of a term.
        let bound = run[0].bound / run[0].weight * sum[0] as f32;
        let local = meniscus_core::grid::local_index::<D>(inner);
        let mut contact = Contact { weight: sum[0] as f32, bound, at, cells: Mask::EMPTY, ..run[0] };
        let same = |c: &&mut Contact<D>| c.key() == contact.key() && (c.weight, c.at) == (contact.weight, at);
        match coarse.iter_mut().rev().find(same) {
            Some(found) => found.cells.insert(local),
            None => {
                contact.cells.insert(local);
                coarse.push(contact);
            }
        }
    }
}

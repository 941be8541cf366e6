//! The ways that films and seams leave to the liquid.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};

use meniscus_core::grid::Slot;

use super::Boundary;

impl<const D: usize> Boundary<D> {
    /// Of narrow cells, by flat index, those that nothing has to pass: what is connected by them is connected without them too. Where they are the only way to what lies
    /// behind them they stay open: what is shut in there could not leave, and what it carries could not come down, as a plank on two ledges under water.
    /// Cells inside of bodies, which have no room, may have open faces, by the volume around these: they are no place to go to.
    pub(super) fn passed_by_none(
        &self,
        narrow: &BTreeSet<usize>,
        has_room: impl Fn(Slot) -> bool,
    ) -> BTreeSet<usize> {
        let passages = self.passages(narrow, has_room);
        let mut shores = Shores::new(self, narrow, &passages);
        while passages.iter().any(|passage| shores.is_undecided(passage)) {
            shores.grow();
        }
        let needless = passages.into_iter().filter(|passage| shores.are_one(passage));
        needless.flat_map(|passage| passage.cells).collect()
    }

    /// Narrow cells that are connected, and what is beside them.
    fn passages(&self, narrow: &BTreeSet<usize>, has_room: impl Fn(Slot) -> bool) -> Vec<Passage> {
        let mut seen = BTreeSet::new();
        let mut passages = Vec::new();
        for &first in narrow {
            if !seen.insert(first) {
                continue;
            }
            let (mut cells, mut beside) = (vec![first], BTreeSet::new());
            let mut next = 0;
            while let Some(&cell) = cells.get(next) {
                next += 1;
                for other in self.open_neighbours(cell) {
                    if !narrow.contains(&other) {
                        beside.extend(has_room(Slot::from_flat::<D>(other)).then_some(other));
                    } else if seen.insert(other) {
                        cells.push(other);
                    }
                }
            }
            passages.push(Passage { cells, beside });
        }
        passages
    }

    /// The cells of the domain across the faces of a cell that are open, all by flat index.
    fn open_neighbours(&self, cell: usize) -> impl Iterator<Item = usize> {
        let cell = Slot::from_flat::<D>(cell);
        (0..2 * D).filter_map(move |k| {
            let (axis, side) = (k / 2, k % 2);
            let other = self.blocks.step(cell, axis, side)?;
            let face = if side == 0 { cell } else { other };
            let is_open = self.open.axes[axis][face] > 0.0 && self.blocks.is_inside(other);
            is_open.then_some(other.flat::<D>())
        })
    }
}

struct Passage {
    cells: Vec<usize>,
    beside: BTreeSet<usize>,
}

/// What lies beside passages, found from there outwards, from all at once, layer by layer: those that are connected meet, and what is shut in is used up, before much
/// of the domain is seen.
struct Shores<'a, const D: usize> {
    boundary: &'a Boundary<D>,
    narrow: &'a BTreeSet<usize>,
    /// The shore that each cell was reached from.
    of_cell: HashMap<usize, usize>,
    /// The cells that were reached last.
    front: Vec<usize>,
    /// Shores that have met: towards their root.
    joined: Vec<usize>,
    /// Whether there is more of what belongs to a root.
    has_more: Vec<bool>,
}

impl<'a, const D: usize> Shores<'a, D> {
    fn new(boundary: &'a Boundary<D>, narrow: &'a BTreeSet<usize>, passages: &[Passage]) -> Self {
        let beside: BTreeSet<usize> = passages.iter().flat_map(|passage| &passage.beside).copied().collect();
        Self {
            boundary,
            narrow,
            of_cell: beside.iter().copied().zip(0..).collect(),
            joined: (0..beside.len()).collect(),
            has_more: vec![true; beside.len()],
            front: beside.into_iter().collect(),
        }
    }

    fn root_of(&mut self, cell: usize) -> usize {
        self.root(self.of_cell[&cell])
    }

    fn root(&mut self, mut shore: usize) -> usize {
        while self.joined[shore] != shore {
            self.joined[shore] = self.joined[self.joined[shore]];
            shore = self.joined[shore];
        }
        shore
    }

    /// Whether all that is beside a passage is connected.
    fn are_one(&mut self, passage: &Passage) -> bool {
        let roots: BTreeSet<usize> = passage.beside.iter().map(|&cell| self.root_of(cell)).collect();
        roots.len() <= 1
    }

    /// Whether what is beside a passage may still meet.
    fn is_undecided(&mut self, passage: &Passage) -> bool {
        let all_grow = passage.beside.iter().all(|&cell| {
            let root = self.root_of(cell);
            self.has_more[root]
        });
        all_grow && !self.are_one(passage)
    }

    /// Reaches the next layer.
    fn grow(&mut self) {
        let boundary = self.boundary;
        for cell in std::mem::take(&mut self.front) {
            for other in boundary.open_neighbours(cell).filter(|other| !self.narrow.contains(other)) {
                let own = self.root_of(cell);
                let met = match self.of_cell.entry(other) {
                    Entry::Occupied(known) => *known.get(),
                    Entry::Vacant(new) => {
                        new.insert(own);
                        self.front.push(other);
                        continue;
                    }
                };
                let root = self.root(met);
                self.joined[root] = own;
            }
        }
        self.has_more.fill(false);
        for at in 0..self.front.len() {
            let root = self.root_of(self.front[at]);
            self.has_more[root] = true;
        }
    }
}

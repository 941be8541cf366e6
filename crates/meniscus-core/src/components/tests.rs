//! Components against a plain flood fill.

use proptest::prelude::*;

use super::*;

/// A room of cells that are members or not, with faces that are open or not.
struct Room<const D: usize> {
    cells: [usize; D],
    members: Vec<bool>,
    /// By cell and axis.
    open: Vec<[bool; D]>,
}

impl<const D: usize> Room<D> {
    fn index(&self, cell: [usize; D]) -> usize {
        (0..D).rev().fold(0, |index, a| index * self.cells[a] + cell[a])
    }

    fn cell(&self, mut index: usize) -> [usize; D] {
        self.cells.map(|n| {
            let c = index % n;
            index /= n;
            c
        })
    }

    fn inside(&self, cell: [usize; D]) -> bool {
        (0..D).all(|a| cell[a] < self.cells[a])
    }

    fn block(&self, coord: [usize; D]) -> BlockCells<D> {
        let at = |local: usize| {
            let inner = cell_in_block::<D>(local);
            std::array::from_fn(|a| coord[a] * BLOCK_EDGE + inner[a])
        };
        let member = |local: usize| self.inside(at(local)) && self.members[self.index(at(local))];
        let open = |axis: usize, local: usize| self.open[self.index(at(local))][axis];
        let locals = || 0..block_len::<D>();
        if locals().all(|local| member(local) && (0..D).all(|axis| open(axis, local))) {
            BlockCells::All
        } else if locals().any(member) {
            // What is outside the room has no faces.
            let open = |axis: usize| Mask::from_fn(|local| self.inside(at(local)) && open(axis, local));
            BlockCells::in_parts(Mask::from_fn(member), &std::array::from_fn(open))
        } else {
            BlockCells::None
        }
    }

    /// The lowest index of a cell connected to each cell.
    fn flood(&self) -> Vec<Option<usize>> {
        let mut first = vec![None; self.members.len()];
        for start in 0..first.len() {
            let mut stack = if self.members[start] { vec![start] } else { Vec::new() };
            while let Some(index) = stack.pop() {
                if first[index].is_some() {
                    continue;
                }
                first[index] = Some(start);
                let cell = self.cell(index);
                for axis in 0..D {
                    let (mut below, mut above) = (cell, cell);
                    above[axis] += 1;
                    if cell[axis] > 0 && self.open[index][axis] {
                        below[axis] -= 1;
                        stack.extend(Some(self.index(below)).filter(|&i| self.members[i]));
                    }
                    if self.inside(above) && self.open[self.index(above)][axis] {
                        stack.extend(Some(self.index(above)).filter(|&i| self.members[i]));
                    }
                }
            }
        }
        first
    }
}

/// Members and open faces with these probabilities, in percent; the cells below `bare` along x have neither
/// gaps nor closed faces.
fn random_room<const D: usize>(
    cells: [usize; D],
    filled: u64,
    passable: u64,
    bare: usize,
    seed: u64,
) -> Room<D> {
    let mut state = seed;
    let mut percent = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % 100
    };
    let len = cells.iter().product();
    let mut room = Room { cells, members: vec![true; len], open: vec![[true; D]; len] };
    for index in 0..len {
        if room.cell(index)[0] >= bare {
            room.members[index] = percent() < filled;
            room.open[index] = std::array::from_fn(|_| percent() < passable);
        }
    }
    room
}

fn agrees<const D: usize>(room: &Room<D>) {
    let found = Components::find(room.cells, |coord| room.block(coord));
    let first = room.flood();
    let mut numbers = std::collections::HashMap::new();
    for (index, first) in first.iter().enumerate() {
        let cell = room.cell(index);
        let number = found.of_cell(cell.map(|c| c / BLOCK_EDGE), cell.map(|c| c % BLOCK_EDGE));
        assert_eq!(number.is_some(), first.is_some(), "cell {cell:?}");
        if let (Some(number), Some(first)) = (number, first) {
            assert!(number < found.len());
            assert_eq!(*numbers.entry(*first).or_insert(number), number, "cell {cell:?}");
        }
    }
    let distinct: std::collections::HashSet<_> = numbers.values().collect();
    assert_eq!((numbers.len(), distinct.len()), (found.len(), found.len()));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn components_are_those_of_a_flood_fill(
        filled in 20u64..100, passable in 10u64..100, bare in 0usize..24, seed in any::<u64>(),
    ) {
        agrees(&random_room([37, 29], filled, passable, bare, seed));
        agrees(&random_room([24, 11, 17], filled, passable, bare, seed));
    }
}

#[test]
fn a_ring_of_walls_has_an_inside_and_an_outside() {
    let mut room = random_room([40, 40], 100, 100, 40, 0);
    // The faces of the square from 10 to 30: walls without thickness.
    for k in 10..30 {
        for (cell, axis) in [([10, k], 0), ([30, k], 0), ([k, 10], 1), ([k, 30], 1)] {
            let index = room.index(cell);
            room.open[index][axis] = false;
        }
    }
    let found = Components::find(room.cells, |coord| room.block(coord));
    assert_eq!(found.len(), 2);
    assert_eq!(found.of_cell([0, 0], [0, 0]), Some(0));
    assert_eq!(found.of_cell([2, 2], [4, 4]), Some(1));
}

#[test]
fn every_cell_by_itself() {
    let room = random_room([16, 16, 16], 100, 0, 0, 1);
    let found = Components::find(room.cells, |coord| room.block(coord));
    assert_eq!(found.len(), 16 * 16 * 16);
}

//! Connected components of cells, over a whole domain.
//!
//! Two cells are connected if they share an open face. Each block is searched by itself, in parallel: the pieces
//! found are its [`Parts`]. They are then joined across the faces between blocks. Blocks that hold all or none
//! of the cells looked for cost a few bytes, so the air of a large room is nearly free.

use std::sync::Arc;

use crate::grid::{BLOCK_EDGE, Blocks, Mask, block_len, cell_in_block, local_index, ravel, unravel};
use crate::parallel;

/// The cells of one block that are searched.
#[derive(Clone, Debug)]
pub enum BlockCells<const D: usize> {
    /// None of them.
    None,
    /// All of them, with all their lower faces open.
    All,
    /// Some of them, or some of their faces are closed.
    Some(Arc<Parts<D>>),
}

/// Cells of a block in pieces that are connected within it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts<const D: usize> {
    members: Mask<D>,
    /// The parts, in the order of their first cells.
    parts: Vec<Mask<D>>,
    /// By axis, a bit for each cell of the block's lowest layer whose lower face is open; see [`Mask::layer`].
    joins: [u64; D],
}

impl<const D: usize> Parts<D> {
    /// The parts of some cells, connected through the lower faces in `open`, by axis.
    pub fn new(members: Mask<D>, open: &[Mask<D>; D]) -> Self {
        let mut parts = Vec::new();
        let mut left = members;
        while let Some(first) = left.first() {
            let part = left.connected(first, open);
            left = left.without(&part);
            parts.push(part);
        }
        let joins = std::array::from_fn(|axis| members.and(&open[axis]).layer(axis, 0));
        Self { members, parts, joins }
    }

    /// The number of parts.
    pub fn len(&self) -> usize {
        self.parts.len()
    }

    /// Whether the block holds none of the cells.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The parts, in the order of their first cells.
    pub fn iter(&self) -> impl Iterator<Item = &Mask<D>> {
        self.parts.iter()
    }

    /// The part of a cell.
    #[inline]
    pub fn of_cell(&self, local: usize) -> Option<usize> {
        self.parts.iter().position(|part| part.has(local))
    }
}

impl<const D: usize> BlockCells<D> {
    /// Some cells in their parts, or none if there are none.
    pub fn in_parts(members: Mask<D>, open: &[Mask<D>; D]) -> Self {
        if members.is_empty() { Self::None } else { Self::Some(Arc::new(Parts::new(members, open))) }
    }

    /// How many parts they are in.
    pub fn parts(&self) -> usize {
        match self {
            Self::None => 0,
            Self::All => 1,
            Self::Some(parts) => parts.len(),
        }
    }

    /// Those cells.
    pub fn members(&self) -> Mask<D> {
        match self {
            Self::None => Mask::EMPTY,
            Self::All => Mask::all(),
            Self::Some(parts) => parts.members,
        }
    }
}

/// A partition of the numbers from 0 that classes are joined in.
#[derive(Clone, Debug)]
pub struct Partition {
    /// Another number of the same class, less than this one; the least is its own.
    parent: Vec<u32>,
}

impl Partition {
    /// `len` numbers, each by itself.
    pub fn new(len: usize) -> Self {
        Self { parent: (0..len as u32).collect() }
    }

    /// The least number of a class.
    pub fn root(&mut self, number: usize) -> usize {
        let mut at = number as u32;
        while self.parent[at as usize] != at {
            let next = self.parent[self.parent[at as usize] as usize];
            self.parent[at as usize] = next;
            at = next;
        }
        at as usize
    }

    /// Joins the classes of two numbers.
    pub fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a.max(b)] = a.min(b) as u32;
    }

    /// The class of each number, and how many there are; classes are in the order of their least numbers.
    pub fn classes(mut self) -> (Vec<u32>, usize) {
        let mut count = 0;
        for number in 0..self.parent.len() {
            let parent = self.parent[number] as usize;
            if parent == number {
                self.parent[number] = count;
                count += 1;
            } else {
                // It is less, so its class is known already.
                self.parent[number] = self.parent[parent];
            }
        }
        (self.parent, count as usize)
    }
}

/// The components of a domain. They are numbered in the order of their first blocks, x fastest.
#[derive(Clone, Debug)]
pub struct Components<const D: usize> {
    dims: [usize; D],
    blocks: Vec<BlockCells<D>>,
    /// The number of the first part of each block among all parts.
    first: Vec<u32>,
    /// The component of each part.
    of_part: Vec<u32>,
    count: usize,
}

impl<const D: usize> Components<D> {
    /// Finds the components of the cells that `block_cells` gives for each block of a domain of `cells`, by its
    /// coordinates. Cells outside the domain must not be among them.
    pub fn find(cells: [usize; D], block_cells: impl Fn([usize; D]) -> BlockCells<D> + Sync) -> Self {
        let dims = Blocks::dims_of(cells);
        let len = dims.iter().product::<usize>();
        let of_block = |index: usize| block_cells(unravel(index, dims));
        let blocks = parallel::map(len, of_block);
        let mut first = Vec::with_capacity(len);
        let mut parts = 0;
        for block in &blocks {
            first.push(parts);
            parts += block.parts() as u32;
        }
        let mut partition = Partition::new(parts as usize);
        let mut stride = 1;
        for axis in 0..D {
            for index in (0..len).filter(|index| index / stride % dims[axis] > 0) {
                let pair = [index - stride, index];
                let join = |a: u32, b: u32| {
                    partition.join((first[pair[0]] + a) as usize, (first[pair[1]] + b) as usize);
                };
                for_each_join(pair.map(|index| &blocks[index]), axis, join);
            }
            stride *= dims[axis];
        }
        let (of_part, count) = partition.classes();
        Self { dims, blocks, first, of_part, count }
    }

    /// The number of components.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The cells of a block that were searched.
    pub fn block(&self, coord: [usize; D]) -> &BlockCells<D> {
        &self.blocks[self.index(coord)]
    }

    /// The components of the parts of a block, in order; a block that is wholly searched has one part.
    pub fn of_parts(&self, coord: [usize; D]) -> &[u32] {
        let index = self.index(coord);
        let first = self.first[index] as usize;
        &self.of_part[first..first + self.blocks[index].parts()]
    }

    /// The component of a cell of a block.
    #[inline]
    pub fn of_cell(&self, coord: [usize; D], inner: [usize; D]) -> Option<usize> {
        let index = self.index(coord);
        let part = part_of(&self.blocks[index], inner)?;
        Some(self.of_part[(self.first[index] + part) as usize] as usize)
    }

    /// A cell of each component: the first one in its first block.
    pub fn first_cells(&self) -> Vec<[usize; D]> {
        let mut found = Vec::with_capacity(self.count);
        for (index, block) in self.blocks.iter().enumerate() {
            for part in 0..block.parts() {
                // Components are numbered in the order in which they are met.
                if self.of_part[self.first[index] as usize + part] as usize == found.len() {
                    let is_first =
                        |&local: &usize| part_of(block, cell_in_block::<D>(local)) == Some(part as u32);
                    let local = (0..block_len::<D>()).find(is_first).expect("a part has cells");
                    let (coord, inner) = (unravel(index, self.dims), cell_in_block::<D>(local));
                    found.push(std::array::from_fn(|a| coord[a] * BLOCK_EDGE + inner[a]));
                }
            }
        }
        found
    }

    fn index(&self, coord: [usize; D]) -> usize {
        ravel(coord, self.dims)
    }
}

/// Calls `join` with the parts of two blocks, the second above the first along `axis`, that share an open face.
fn for_each_join<const D: usize>(
    [below, above]: [&BlockCells<D>; 2],
    axis: usize,
    mut join: impl FnMut(u32, u32),
) {
    const LAST: usize = BLOCK_EDGE - 1;
    let top = |part: &Mask<D>| part.layer(axis, LAST);
    match (below, above) {
        (BlockCells::None, _) | (_, BlockCells::None) => {}
        (BlockCells::All, BlockCells::All) => join(0, 0),
        (BlockCells::Some(below), BlockCells::All) => {
            let parts = (0..).zip(below.iter()).filter(|(_, part)| top(part) != 0);
            parts.for_each(|(a, _)| join(a, 0));
        }
        (BlockCells::All, BlockCells::Some(above)) => {
            let parts = (0..).zip(above.iter());
            let parts = parts.filter(|(_, part)| part.layer(axis, 0) & above.joins[axis] != 0);
            parts.for_each(|(b, _)| join(0, b));
        }
        (BlockCells::Some(below), BlockCells::Some(above)) => {
            let faces = top(&below.members) & above.joins[axis];
            if faces == 0 {
                return;
            }
            for (b, part) in (0..).zip(above.iter()) {
                let of_part = part.layer(axis, 0) & faces;
                let parts = (0..).zip(below.iter()).filter(|(_, part)| top(part) & of_part != 0);
                parts.for_each(|(a, _)| join(a, b));
            }
        }
    }
}

#[inline]
fn part_of<const D: usize>(block: &BlockCells<D>, inner: [usize; D]) -> Option<u32> {
    match block {
        BlockCells::None => None,
        BlockCells::All => Some(0),
        BlockCells::Some(parts) => parts.of_cell(local_index(inner)).map(|part| part as u32),
    }
}

#[cfg(test)]
mod tests;

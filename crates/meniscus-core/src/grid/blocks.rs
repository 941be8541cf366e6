//! Which blocks of a domain are active, in which order they are stored, and who their neighbours are.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::serde_array::{array, bulk};

/// Cells along each edge of a block.
pub const BLOCK_EDGE: usize = 8;

/// Cells in a block, 8^D.
pub const fn block_len<const D: usize>() -> usize {
    BLOCK_EDGE.pow(D as u32)
}

/// The index of a cell within its block, x fastest, from its coordinates within the block.
#[inline]
pub fn local_index<const D: usize>(cell: [usize; D]) -> usize {
    cell.iter().rev().fold(0, |index, &c| index * BLOCK_EDGE + c)
}

/// The coordinates of a cell within its block; the inverse of [`local_index`].
#[inline]
pub fn cell_in_block<const D: usize>(local: usize) -> [usize; D] {
    std::array::from_fn(|axis| (local >> (3 * axis)) % BLOCK_EDGE)
}

/// Where a cell is stored: the position of its block in storage order and its index within the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slot {
    /// Position of the block in storage order.
    pub block: usize,
    /// Index of the cell within the block, x fastest.
    pub local: usize,
}

impl Slot {
    /// The index into a field's flat storage.
    #[inline]
    pub fn flat<const D: usize>(self) -> usize {
        self.block * block_len::<D>() + self.local
    }

    /// The slot of an index into a field's flat storage.
    #[inline]
    pub fn from_flat<const D: usize>(flat: usize) -> Self {
        Self { block: flat / block_len::<D>(), local: flat % block_len::<D>() }
    }
}

const NONE: u32 = u32::MAX;

/// The active blocks of a domain.
///
/// Invariant: blocks are stored *red first* (coordinate sum even), then black, each colour in
/// lexicographic order with x fastest. Two blocks that share a face differ in colour, so one colour
/// can be written in parallel while the other is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocks<const D: usize> {
    cells: [usize; D],
    dims: [usize; D],
    table: Vec<u32>,
    coords: Vec<[u32; D]>,
    neighbours: Vec<[[u32; 2]; D]>,
    red: usize,
}

impl<const D: usize> Blocks<D> {
    /// The blocks of a domain of `cells` for which `active` holds.
    pub fn new(cells: [usize; D], active: impl Fn([usize; D]) -> bool) -> Self {
        let dims = Self::dims_of(cells);
        let count = dims.iter().product::<usize>();
        let (mut red, mut black) = (Vec::new(), Vec::new());
        for index in 0..count {
            let coord = unravel(index, dims);
            if active(coord) {
                let colour = if is_red(coord) { &mut red } else { &mut black };
                colour.push(coord.map(|c| c as u32));
            }
        }
        Self::from_colours(cells, red, black)
    }

    /// The blocks listed in `coords`, in any order and with repetitions.
    pub fn from_list(cells: [usize; D], coords: impl IntoIterator<Item = [usize; D]>) -> Self {
        let dims = Self::dims_of(cells);
        let mut wanted = vec![false; dims.iter().product()];
        for coord in coords {
            wanted[ravel(coord, dims)] = true;
        }
        Self::new(cells, |coord| wanted[ravel(coord, dims)])
    }

    /// Every block of the domain.
    pub fn all(cells: [usize; D]) -> Self {
        Self::new(cells, |_| true)
    }

    /// Blocks along each axis of a domain of `cells`. There is always room for the face with index
    /// `cells[a]`, so a domain that ends at a block boundary has one more layer of blocks.
    pub fn dims_of(cells: [usize; D]) -> [usize; D] {
        cells.map(|n| n / BLOCK_EDGE + 1)
    }

    fn from_colours(cells: [usize; D], red: Vec<[u32; D]>, black: Vec<[u32; D]>) -> Self {
        let dims = Self::dims_of(cells);
        let red_count = red.len();
        let mut coords = red;
        coords.extend(black);
        let mut table = vec![NONE; dims.iter().product()];
        for (block, coord) in coords.iter().enumerate() {
            table[ravel(coord.map(|c| c as usize), dims)] = block as u32;
        }
        let neighbours = coords
            .iter()
            .map(|&coord| {
                std::array::from_fn(|axis| {
                    [-1, 1].map(|step: i64| {
                        let moved = i64::from(coord[axis]) + step;
                        if moved < 0 || moved >= dims[axis] as i64 {
                            return NONE;
                        }
                        let mut other = coord.map(|c| c as usize);
                        other[axis] = moved as usize;
                        table[ravel(other, dims)]
                    })
                })
            })
            .collect();
        Self { cells, dims, table, coords, neighbours, red: red_count }
    }

    /// Cells of the domain along each axis.
    pub fn cells(&self) -> [usize; D] {
        self.cells
    }

    /// Blocks of the domain along each axis, active or not.
    pub fn dims(&self) -> [usize; D] {
        self.dims
    }

    /// The number of active blocks.
    pub fn len(&self) -> usize {
        self.coords.len()
    }

    /// Whether no block is active.
    pub fn is_empty(&self) -> bool {
        self.coords.is_empty()
    }

    /// The number of red blocks; they are stored first.
    pub fn red_len(&self) -> usize {
        self.red
    }

    /// The number of values a field over these blocks holds.
    pub fn slots(&self) -> usize {
        self.len() * block_len::<D>()
    }

    /// The coordinates of a block, in blocks.
    #[inline]
    pub fn coord(&self, block: usize) -> [usize; D] {
        self.coords[block].map(|c| c as usize)
    }

    /// The active block at `coord`.
    #[inline]
    pub fn find(&self, coord: [usize; D]) -> Option<usize> {
        if (0..D).any(|a| coord[a] >= self.dims[a]) {
            return None;
        }
        let block = self.table[ravel(coord, self.dims)];
        (block != NONE).then_some(block as usize)
    }

    /// The active neighbour of a block along `axis`, below (`side` 0) or above (`side` 1).
    #[inline]
    pub fn neighbour(&self, block: usize, axis: usize, side: usize) -> Option<usize> {
        let other = self.neighbours[block][axis][side];
        (other != NONE).then_some(other as usize)
    }

    /// Where a cell is stored, if its block is active. Cells outside the domain have no slot, except
    /// those of the layer `cells[a]` that carries the uppermost faces.
    #[inline]
    pub fn locate(&self, cell: [i64; D]) -> Option<Slot> {
        if (0..D).any(|a| cell[a] < 0 || cell[a] > self.cells[a] as i64) {
            return None;
        }
        let cell = cell.map(|c| c as usize);
        let block = self.find(cell.map(|c| c / BLOCK_EDGE))?;
        Some(Slot { block, local: local_index(cell.map(|c| c % BLOCK_EDGE)) })
    }

    /// The slot of the next cell along `axis`, below (`side` 0) or above (`side` 1), if its block is
    /// active; it may lie past the end of the domain.
    #[inline]
    pub fn step(&self, slot: Slot, axis: usize, side: usize) -> Option<Slot> {
        const LAST: usize = BLOCK_EDGE - 1;
        let stride = 1 << (3 * axis);
        match (slot.local >> (3 * axis) & LAST, side) {
            (0, 0) => {
                let local = slot.local + LAST * stride;
                self.neighbour(slot.block, axis, 0).map(|block| Slot { block, local })
            }
            (LAST, 1) => {
                let local = slot.local - LAST * stride;
                self.neighbour(slot.block, axis, 1).map(|block| Slot { block, local })
            }
            (_, 0) => Some(Slot { local: slot.local - stride, ..slot }),
            _ => Some(Slot { local: slot.local + stride, ..slot }),
        }
    }

    /// The cell stored at a slot.
    #[inline]
    pub fn cell(&self, slot: Slot) -> [usize; D] {
        let corner = self.coord(slot.block);
        let inner = cell_in_block::<D>(slot.local);
        std::array::from_fn(|a| corner[a] * BLOCK_EDGE + inner[a])
    }

    /// The cells of a block that are inside the domain.
    pub fn cells_inside(&self, block: usize) -> impl Iterator<Item = Slot> {
        (0..block_len::<D>()).map(move |local| Slot { block, local }).filter(|&slot| self.is_inside(slot))
    }

    /// Whether the cell stored at a slot lies in the domain: the last blocks store more than that.
    #[inline]
    pub fn is_inside(&self, slot: Slot) -> bool {
        self.cell(slot).iter().zip(self.cells).all(|(&c, n)| c < n)
    }
}

/// What is stored of [`Blocks`]; the rest follows from it.
#[derive(Serialize)]
struct BlockList<'a, const D: usize> {
    #[serde(with = "array")]
    cells: [usize; D],
    #[serde(with = "bulk")]
    coords: &'a [[u32; D]],
}

impl<const D: usize> Serialize for Blocks<D> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        BlockList { cells: self.cells, coords: &self.coords }.serialize(serializer)
    }
}

#[derive(Deserialize)]
struct UncheckedBlocks<const D: usize> {
    #[serde(with = "array")]
    cells: [usize; D],
    #[serde(with = "bulk")]
    coords: Vec<[u32; D]>,
}

impl<'de, const D: usize> Deserialize<'de> for Blocks<D> {
    fn deserialize<De: Deserializer<'de>>(deserializer: De) -> Result<Self, De::Error> {
        let UncheckedBlocks { cells, coords } = UncheckedBlocks::deserialize(deserializer)?;
        Self::from_stored(cells, coords).map_err(serde::de::Error::custom)
    }
}

impl<const D: usize> Blocks<D> {
    /// The blocks of a list that must be in storage order, and so without repetitions.
    fn from_stored(cells: [usize; D], mut coords: Vec<[u32; D]>) -> Result<Self, String> {
        check_domain(cells)?;
        let dims = Self::dims_of(cells);
        if let Some(outside) = coords.iter().find(|c| (0..D).any(|a| c[a] as usize >= dims[a])) {
            return Err(format!("block {outside:?} lies outside the domain of {dims:?} blocks"));
        }
        let place = |coord: &[u32; D]| {
            let coord = coord.map(|c| c as usize);
            (!is_red(coord), ravel(coord, dims))
        };
        if !coords.is_sorted_by(|a, b| place(a) < place(b)) {
            return Err("the blocks are not in storage order, or repeated".into());
        }
        let red = coords.partition_point(|c| !place(c).0);
        let black = coords.split_off(red);
        Ok(Self::from_colours(cells, coords, black))
    }
}

/// The most blocks in a stored domain: a table of half a gigabyte, 4096^3 cells.
const MOST_BLOCKS: usize = 1 << 27;

/// Refuses a domain whose block table would be absurdly large, before it is allocated.
pub(super) fn check_domain<const D: usize>(cells: [usize; D]) -> Result<(), String> {
    let dims = Blocks::dims_of(cells);
    let count = dims.iter().try_fold(1usize, |product, &n| product.checked_mul(n));
    match count {
        Some(count) if count <= MOST_BLOCKS => Ok(()),
        _ => Err(format!("a domain of {cells:?} cells is too large to be true")),
    }
}

#[inline]
fn is_red<const D: usize>(coord: [usize; D]) -> bool {
    coord.iter().sum::<usize>().is_multiple_of(2)
}

/// The directions from a cell, a block or a domain to what is beside it: an axis, and 0 for down or 1 for up along it.
pub fn sides<const D: usize>() -> impl Iterator<Item = (usize, usize)> {
    (0..D).flat_map(|axis| [(axis, 0), (axis, 1)])
}

/// The place of a coordinate in a table of `dims`, x fastest.
#[inline]
pub fn ravel<const D: usize>(coord: [usize; D], dims: [usize; D]) -> usize {
    (0..D).rev().fold(0, |index, a| index * dims[a] + coord[a])
}

/// The coordinate at a place of a table of `dims`; the inverse of [`ravel`].
#[inline]
pub fn unravel<const D: usize>(mut index: usize, dims: [usize; D]) -> [usize; D] {
    std::array::from_fn(|a| {
        let c = index % dims[a];
        index /= dims[a];
        c
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_and_cells_are_inverse() {
        let blocks = Blocks::<3>::new([20, 9, 16], |c| c[0] != 1);
        for block in 0..blocks.len() {
            for local in 0..block_len::<3>() {
                let slot = Slot { block, local };
                let cell = blocks.cell(slot).map(|c| c as i64);
                let inside = (0..3).all(|a| cell[a] <= blocks.cells()[a] as i64);
                assert_eq!(blocks.locate(cell), inside.then_some(slot));
            }
        }
    }

    #[test]
    fn neighbours_are_mutual_and_of_the_other_colour() {
        let blocks = Blocks::<2>::new([64, 40], |c| (c[0] * 7 + c[1] * 3) % 5 != 0);
        for block in 0..blocks.len() {
            for axis in 0..2 {
                for side in 0..2 {
                    if let Some(other) = blocks.neighbour(block, axis, side) {
                        assert_eq!(blocks.neighbour(other, axis, 1 - side), Some(block));
                        assert_ne!(block < blocks.red_len(), other < blocks.red_len());
                    }
                }
            }
        }
    }

    #[test]
    fn steps_lead_to_the_next_cell() {
        let blocks = Blocks::<3>::new([20, 9, 16], |c| c != [1, 0, 1]);
        for index in 0..blocks.slots() {
            let slot = Slot { block: index / 512, local: index % 512 };
            for (axis, side) in [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)] {
                let mut cell = blocks.cell(slot).map(|c| c as i64);
                cell[axis] += 2 * side as i64 - 1;
                let inside = (0..3).all(|a| cell[a] <= blocks.cells()[a] as i64);
                let next = blocks.step(slot, axis, side);
                assert!(!inside || next == blocks.locate(cell));
                assert!(next.is_none_or(|next| blocks.cell(next).map(|c| c as i64) == cell));
            }
        }
    }

    #[test]
    fn the_uppermost_faces_have_a_slot() {
        let blocks = Blocks::<2>::all([16, 16]);
        assert!(blocks.locate([16, 3]).is_some());
        assert!(blocks.locate([17, 3]).is_none());
        assert!(blocks.locate([-1, 3]).is_none());
    }
}

//! One byte a cell for the whole domain, and far less where a block holds one label.

use super::{BLOCK_EDGE, Blocks, block_len, local_index, ravel, unravel};

#[derive(Clone, Debug, PartialEq, Eq)]
enum BlockLabels {
    Uniform(u8),
    Mixed(Box<[u8]>),
}

/// A label for every cell of a domain, active or not: what a cell is made of.
///
/// A block whose cells all agree costs a few bytes, so ambient air is nearly free.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Labels<const D: usize> {
    cells: [usize; D],
    dims: [usize; D],
    blocks: Vec<BlockLabels>,
}

impl<const D: usize> Labels<D> {
    /// The same label everywhere.
    pub fn uniform(cells: [usize; D], label: u8) -> Self {
        let dims = Blocks::dims_of(cells);
        Self { cells, dims, blocks: vec![BlockLabels::Uniform(label); dims.iter().product()] }
    }

    /// Labels the cells of the box `lower..upper` by a function of the cell.
    pub fn fill(&mut self, lower: [usize; D], upper: [usize; D], label: impl Fn([usize; D]) -> u8) {
        let upper: [usize; D] = std::array::from_fn(|a| upper[a].min(self.cells[a]));
        if (0..D).any(|a| lower[a] >= upper[a]) {
            return;
        }
        let first = lower.map(|c| c / BLOCK_EDGE);
        let last: [usize; D] = std::array::from_fn(|a| (upper[a] - 1) / BLOCK_EDGE);
        let counts: [usize; D] = std::array::from_fn(|a| last[a] - first[a] + 1);
        for index in 0..counts.iter().product() {
            let within = unravel(index, counts);
            let coord = std::array::from_fn(|a| first[a] + within[a]);
            self.fill_block(coord, |cell| {
                (0..D).all(|a| (lower[a]..upper[a]).contains(&cell[a])).then(|| label(cell))
            });
        }
    }

    fn fill_block(&mut self, coord: [usize; D], label: impl Fn([usize; D]) -> Option<u8>) {
        let index = self.block_index(coord);
        let mut mixed = match &self.blocks[index] {
            BlockLabels::Uniform(old) => vec![*old; block_len::<D>()].into_boxed_slice(),
            BlockLabels::Mixed(old) => old.clone(),
        };
        for (local, value) in mixed.iter_mut().enumerate() {
            let inner = super::cell_in_block::<D>(local);
            let cell = std::array::from_fn(|a| coord[a] * BLOCK_EDGE + inner[a]);
            *value = label(cell).unwrap_or(*value);
        }
        let first = mixed[0];
        let uniform = mixed.iter().all(|&l| l == first);
        self.blocks[index] = if uniform { BlockLabels::Uniform(first) } else { BlockLabels::Mixed(mixed) };
    }

    /// The label of a cell; `outside` beyond the domain.
    #[inline]
    pub fn get(&self, cell: [i64; D], outside: u8) -> u8 {
        if (0..D).any(|a| cell[a] < 0 || cell[a] >= self.cells[a] as i64) {
            return outside;
        }
        let cell = cell.map(|c| c as usize);
        match &self.blocks[self.block_index(cell.map(|c| c / BLOCK_EDGE))] {
            BlockLabels::Uniform(label) => *label,
            BlockLabels::Mixed(labels) => labels[local_index(cell.map(|c| c % BLOCK_EDGE))],
        }
    }

    /// The one label of a block, where all its cells agree.
    #[inline]
    pub fn uniform_block(&self, coord: [usize; D]) -> Option<u8> {
        match &self.blocks[self.block_index(coord)] {
            BlockLabels::Uniform(label) => Some(*label),
            BlockLabels::Mixed(_) => None,
        }
    }

    /// Whether a block and the blocks across its faces all hold the same single label.
    pub fn is_surrounded_by_own(&self, coord: [usize; D]) -> bool {
        let Some(label) = self.uniform_block(coord) else { return false };
        (0..D).all(|axis| {
            let (mut below, mut above) = (coord, coord);
            above[axis] += 1;
            let in_domain = coord[axis] > 0 && (above[axis] + 1) * BLOCK_EDGE <= self.cells[axis];
            in_domain && {
                below[axis] -= 1;
                self.uniform_block(below) == Some(label) && self.uniform_block(above) == Some(label)
            }
        })
    }

    /// The labels of a block and of the layer of cells across its faces, in a box of 10^D cells with x
    /// fastest, whose first cell is one below the block's; `outside` beyond the domain. The box's edges
    /// and corners are not filled.
    pub fn padded_block(&self, coord: [usize; D], outside: u8) -> [u8; 1000] {
        let mut padded = [outside; 1000];
        let corner = coord.map(|c| (c * BLOCK_EDGE) as i64);
        let padded_index = |at: [i64; D]| (0..D).rev().fold(0, |i, a| i * 10 + (at[a] + 1) as usize);
        let inside = (0..D).all(|a| (coord[a] + 1) * BLOCK_EDGE <= self.cells[a]);
        let row = |local: usize| padded_index(super::cell_in_block::<D>(local).map(|c| c as i64));
        match &self.blocks[self.block_index(coord)] {
            BlockLabels::Uniform(label) if inside => {
                for local in (0..block_len::<D>()).step_by(8) {
                    padded[row(local)..row(local) + 8].fill(*label);
                }
            }
            BlockLabels::Mixed(labels) if inside => {
                for local in (0..block_len::<D>()).step_by(8) {
                    padded[row(local)..row(local) + 8].copy_from_slice(&labels[local..local + 8]);
                }
            }
            _ => {
                for local in 0..block_len::<D>() {
                    let inner = super::cell_in_block::<D>(local).map(|c| c as i64);
                    padded[row(local)] = self.get(std::array::from_fn(|a| corner[a] + inner[a]), outside);
                }
            }
        }
        for axis in 0..D {
            for layer in [-1, BLOCK_EDGE as i64] {
                for k in 0..block_len::<D>() / BLOCK_EDGE {
                    // The other coordinates count through k.
                    let mut rest = k;
                    let at: [i64; D] = std::array::from_fn(|a| {
                        if a == axis {
                            return layer;
                        }
                        let c = rest % BLOCK_EDGE;
                        rest /= BLOCK_EDGE;
                        c as i64
                    });
                    padded[padded_index(at)] = self.get(std::array::from_fn(|a| corner[a] + at[a]), outside);
                }
            }
        }
        padded
    }

    /// Cells of the domain along each axis.
    pub fn cells(&self) -> [usize; D] {
        self.cells
    }

    /// The blocks that hold at least one cell with a label for which `wanted` holds.
    pub fn blocks_with(&self, wanted: impl Fn(u8) -> bool) -> Blocks<D> {
        Blocks::new(self.cells, |coord| match &self.blocks[self.block_index(coord)] {
            BlockLabels::Uniform(label) => wanted(*label),
            BlockLabels::Mixed(labels) => labels.iter().any(|&l| wanted(l)),
        })
    }

    fn block_index(&self, coord: [usize; D]) -> usize {
        ravel(coord, self.dims)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_in_a_large_room_costs_blocks_not_cells() {
        let mut labels = Labels::<3>::uniform([1024; 3], 0);
        labels.fill([0; 3], [64, 64, 60], |_| 1);
        assert_eq!(labels.get([63, 63, 59], 9), 1);
        assert_eq!(labels.get([63, 63, 60], 9), 0);
        assert_eq!(labels.get([-1, 0, 0], 9), 9);
        assert_eq!(labels.blocks_with(|l| l == 1).len(), 8 * 8 * 8);
        let mixed = labels.blocks.iter().filter(|b| matches!(b, BlockLabels::Mixed(_))).count();
        assert_eq!(mixed, 64);
    }
}

//! Sorting particles by block and cell.

use std::ops::Range;
use std::sync::Arc;

use super::Particles;
use crate::grid::{BLOCK_EDGE, Blocks, block_len, local_index};
use crate::parallel;

/// Where the particles of each block lie after a sort.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockRanges<const D: usize> {
    blocks: Arc<Blocks<D>>,
    /// Block `b` has the particles `offsets[b]..offsets[b + 1]`.
    offsets: Vec<usize>,
    /// Particles inside the domain whose block is not active; they follow the sorted ones.
    pub inactive: usize,
    /// Particles outside the domain, or at no finite position; they come last.
    pub outside: usize,
}

impl<const D: usize> BlockRanges<D> {
    /// The blocks that the particles were sorted by.
    pub fn blocks(&self) -> &Arc<Blocks<D>> {
        &self.blocks
    }

    /// The particles of a block.
    #[inline]
    pub fn range(&self, block: usize) -> Range<usize> {
        self.offsets[block]..self.offsets[block + 1]
    }

    /// The number of particles in active blocks; the others come after them.
    pub fn sorted(&self) -> usize {
        self.offsets[self.blocks.len()]
    }
}

/// The order that a sort put the particles in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Order {
    source: Vec<u32>,
}

impl Order {
    /// Puts an attribute in the order of the sort; `scratch` is overwritten and keeps its memory.
    ///
    /// # Panics
    /// If there is not one value for each particle.
    pub fn apply<T: Copy + Send + Sync>(&self, values: &mut Vec<T>, scratch: &mut Vec<T>) {
        assert_eq!(values.len(), self.source.len(), "one value for each particle");
        let Some(&filler) = values.first() else { return };
        scratch.resize(values.len(), filler);
        parallel::for_chunks(scratch, 4096, |k, chunk| {
            for (value, &source) in chunk.iter_mut().zip(parallel::chunk(&self.source, 4096, k)) {
                *value = values[source as usize];
            }
        });
        std::mem::swap(values, scratch);
    }
}

/// Memory that sorts reuse.
#[derive(Clone, Debug, Default)]
pub struct SortWorkspace<const D: usize> {
    /// Particles by chunk and block, each with its cell in the block.
    by_block: Vec<[u32; 2]>,
    order: Order,
    vectors: Vec<[f32; D]>,
    matrices: Vec<[[f32; D]; D]>,
}

impl<const D: usize> SortWorkspace<D> {
    /// The order of the latest sort, for attributes that are kept outside [`Particles`].
    pub fn order(&self) -> &Order {
        &self.order
    }
}

impl<const D: usize> Particles<D> {
    /// Sorts by (block in storage order, cell), stably. Particles in inactive blocks and outside the
    /// domain are counted in the result and moved to the end, in that order.
    ///
    /// # Panics
    /// If there are 2^32 particles or active cells.
    pub fn sort_by_block(
        &mut self,
        blocks: &Arc<Blocks<D>>,
        workspace: &mut SortWorkspace<D>,
    ) -> BlockRanges<D> {
        let ranges = workspace.sort_points(blocks, &mut self.position);
        workspace.order.apply(&mut self.velocity, &mut workspace.vectors);
        if let Some(affine) = &mut self.affine {
            workspace.order.apply(affine, &mut workspace.matrices);
        }
        ranges
    }
}

impl<const D: usize> SortWorkspace<D> {
    /// Sorts points as [`Particles::sort_by_block`] does particles.
    ///
    /// # Panics
    /// If there are 2^32 points or active cells.
    pub fn sort_points(&mut self, blocks: &Arc<Blocks<D>>, points: &mut Vec<[f32; D]>) -> BlockRanges<D> {
        let ranges = self.sort(blocks, points);
        self.order.apply(points, &mut self.vectors);
        ranges
    }

    /// A counting sort in two steps that write only to memory of their own: chunks of particles are
    /// sorted by block, then each block collects its part of every chunk, sorted by cell. A stable
    /// sort has one result, so the number of chunks may follow the number of threads.
    fn sort(&mut self, blocks: &Arc<Blocks<D>>, position: &[[f32; D]]) -> BlockRanges<D> {
        let count = position.len();
        assert!(count < u32::MAX as usize && blocks.slots() + 2 * block_len::<D>() < u32::MAX as usize);

        let chunk = count.div_ceil(4 * rayon::current_num_threads()).max(1 << 13);
        self.by_block.resize(count, [0; 2]);
        let bins = blocks.len() + 2;
        let starts = parallel::map_chunks(&mut self.by_block, chunk, |c, sorted| {
            sort_chunk(blocks, parallel::chunk(position, chunk, c), (c * chunk) as u32, sorted)
        });

        let mut offsets = vec![0; bins + 1];
        for bin in 0..bins {
            let total: u32 = starts.iter().map(|s| s[bin + 1] - s[bin]).sum();
            offsets[bin + 1] = offsets[bin] + total as usize;
        }

        self.order.source.resize(count, 0);
        let by_block = &self.by_block;
        parallel::for_each_mut(&mut split(&mut self.order.source, &offsets), |bin, out| {
            let parts = starts.iter().enumerate().map(|(c, s)| {
                let first = c * chunk;
                &by_block[first + s[bin] as usize..first + s[bin + 1] as usize]
            });
            sort_block::<D>(parts, out);
        });

        let (inactive, outside) = (offsets[bins - 1] - offsets[bins - 2], offsets[bins] - offsets[bins - 1]);
        offsets.truncate(blocks.len() + 1);
        BlockRanges { blocks: blocks.clone(), offsets, inactive, outside }
    }
}

/// The sort key of a position: its slot, or the first slot of one of two bins past the last block.
#[inline]
fn slot_of<const D: usize>(blocks: &Blocks<D>, x: [f32; D]) -> u32 {
    let cells = blocks.cells();
    let inside = (0..D).all(|a| x[a] >= 0.0 && x[a] < cells[a] as f32);
    let slot = if inside {
        let cell = x.map(|c| c as usize);
        match blocks.find(cell.map(|c| c / BLOCK_EDGE)) {
            Some(block) => block * block_len::<D>() + local_index(cell.map(|c| c % BLOCK_EDGE)),
            None => blocks.slots(),
        }
    } else {
        blocks.slots() + block_len::<D>()
    };
    slot as u32
}

/// Sorts the particles of one chunk, which begins with the particle `first`, by bin; returns where each bin starts.
fn sort_chunk<const D: usize>(
    blocks: &Blocks<D>,
    position: &[[f32; D]],
    first: u32,
    sorted: &mut [[u32; 2]],
) -> Vec<u32> {
    let (bins, n) = (blocks.len() + 2, block_len::<D>() as u32);
    let keys: Vec<u32> = position.iter().map(|&x| slot_of(blocks, x)).collect();
    let mut starts = vec![0; bins + 1];
    for &key in &keys {
        starts[(key / n) as usize + 1] += 1;
    }
    for bin in 0..bins {
        starts[bin + 1] += starts[bin];
    }
    let mut next = starts.clone();
    for (particle, key) in (first..).zip(keys) {
        let place = &mut next[(key / n) as usize];
        sorted[*place as usize] = [particle, key % n];
        *place += 1;
    }
    starts
}

/// Collects the particles of one block, sorted by cell.
fn sort_block<'a, const D: usize>(parts: impl Iterator<Item = &'a [[u32; 2]]> + Clone, out: &mut [u32]) {
    // One place more than cells, and room for the 8^3 cells of the largest block.
    let mut next = [0; BLOCK_EDGE.pow(3) + 1];
    for &[_, cell] in parts.clone().flatten() {
        next[cell as usize + 1] += 1;
    }
    for cell in 0..block_len::<D>() {
        next[cell + 1] += next[cell];
    }
    for &[particle, cell] in parts.flatten() {
        let place = &mut next[cell as usize];
        out[*place] = particle;
        *place += 1;
    }
}

/// Cuts a slice at ascending offsets.
fn split<'a, T>(mut values: &'a mut [T], offsets: &[usize]) -> Vec<&'a mut [T]> {
    offsets
        .windows(2)
        .map(|w| {
            let (part, rest) = std::mem::take(&mut values).split_at_mut(w[1] - w[0]);
            values = rest;
            part
        })
        .collect()
}

/// Cuts a sorted attribute into the parts of each block; particles in no active block are left out.
pub(crate) fn split_by_block<'a, T, const D: usize>(
    values: &'a mut [T],
    ranges: &BlockRanges<D>,
) -> Vec<&'a mut [T]> {
    split(values, &ranges.offsets)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The definition: the standard library's stable sort by the same key.
    fn reference<const D: usize>(blocks: &Blocks<D>, position: &[[f32; D]]) -> Vec<u32> {
        let mut order: Vec<u32> = (0..position.len() as u32).collect();
        order.sort_by_key(|&k| slot_of(blocks, position[k as usize]));
        order
    }

    fn check<const D: usize>(cells: [usize; D], active: u64, position: Vec<[f32; D]>) {
        let blocks = Arc::new(Blocks::new(cells, |c| active >> (c.iter().sum::<usize>() % 64) & 1 == 1));
        let expected = reference(&blocks, &position);
        for threads in 1..=3 {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut particles = Particles::at(position.clone());
            let mut tag: Vec<u32> = (0..position.len() as u32).collect();
            let mut workspace = SortWorkspace::default();
            let ranges = pool.install(|| particles.sort_by_block(&blocks, &mut workspace));
            workspace.order().apply(&mut tag, &mut Vec::new());
            assert_eq!(tag, expected);
            assert_eq!(ranges.sorted() + ranges.inactive + ranges.outside, position.len());
            for block in 0..blocks.len() {
                for k in ranges.range(block) {
                    assert_eq!(particles.position[k], position[tag[k] as usize]);
                    let coord = particles.position[k].map(|x| x as usize / BLOCK_EDGE);
                    assert_eq!(blocks.find(coord), Some(block));
                }
            }
            for (k, x) in particles.position.iter().enumerate().skip(ranges.sorted()) {
                let inside = (0..D).all(|a| x[a] >= 0.0 && x[a] < cells[a] as f32);
                assert_eq!(inside, k < ranges.sorted() + ranges.inactive);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn sorting_is_stable_complete_and_independent_of_threads(
            active in any::<u64>(),
            two in prop::collection::vec(prop::array::uniform2(-4.0f32..70.0), 0..400),
            three in prop::collection::vec(prop::array::uniform3(-1.0f32..26.0), 0..400),
        ) {
            check([64, 61], active, two);
            check([24, 17, 20], active, three);
        }
    }

    #[test]
    fn many_chunks_give_the_stable_order() {
        let position: Vec<[f32; 2]> = (0..60_000u64)
            .map(|k| [(k * 7919 % 6400) as f32 * 0.01, (k * 104_729 % 6100) as f32 * 0.01])
            .collect();
        check([64, 61], 0x7fff_ffff_ffff_fff5, position);
    }

    #[test]
    fn a_particle_at_no_finite_position_is_counted_as_outside() {
        let mut particles = Particles::at(vec![[f32::NAN, 1.0], [1.0, 1.0], [f32::INFINITY, 0.0]]);
        let blocks = Arc::new(Blocks::all([8, 8]));
        let ranges = particles.sort_by_block(&blocks, &mut SortWorkspace::default());
        assert_eq!((ranges.sorted(), ranges.inactive, ranges.outside), (1, 0, 2));
        particles.truncate(ranges.sorted());
        assert_eq!(particles.position, [[1.0, 1.0]]);
    }
}

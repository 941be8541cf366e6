//! What bodies of liquid, regions of air and parts of blocks hold.

use meniscus_core::components::BlockCells;
use meniscus_core::grid::{BLOCK_EDGE, block_len, cell_in_block};

/// What a body or a region holds, in cells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Holding<const D: usize> {
    /// The volume.
    pub volume: f64,
    /// The area of the surface between liquid and air, in faces.
    pub area: f64,
    /// The integral of the position.
    pub first_moment: [f64; D],
}

impl<const D: usize> Holding<D> {
    /// Nothing.
    pub const NOTHING: Self = Self { volume: 0.0, area: 0.0, first_moment: [0.0; D] };

    /// A volume with its centre at a point, without a surface.
    pub fn at(centre: [f64; D], volume: f64) -> Self {
        Self { volume, area: 0.0, first_moment: centre.map(|c| c * volume) }
    }

    /// Adds what a part holds.
    pub fn add(&mut self, other: &Self) {
        self.volume += other.volume;
        self.area += other.area;
        for (sum, part) in self.first_moment.iter_mut().zip(other.first_moment) {
            *sum += part;
        }
    }

    /// The centre of the volume, in cells.
    pub fn centroid(&self) -> [f64; D] {
        self.first_moment.map(|m| if self.volume > 0.0 { m / self.volume } else { 0.0 })
    }
}

/// What the parts of a block hold of air, by the open fraction of its cells.
pub fn holdings_of_parts<const D: usize>(
    coord: [usize; D],
    cells: &BlockCells<D>,
    open: impl Fn(usize) -> f64,
) -> Vec<Holding<D>> {
    let (count, of_cell): (usize, &dyn Fn(usize) -> Option<usize>) = match cells {
        BlockCells::None => return Vec::new(),
        BlockCells::All => (1, &|_| Some(0)),
        BlockCells::Some(parts) => (parts.len(), &|local| parts.of_cell(local)),
    };
    let mut holdings = vec![Holding::NOTHING; count];
    for local in 0..block_len::<D>() {
        if let Some(part) = of_cell(local) {
            let inner = cell_in_block::<D>(local);
            let volume = open(local);
            let centre = std::array::from_fn(|a| (coord[a] * BLOCK_EDGE + inner[a]) as f64 + 0.5);
            holdings[part].add(&Holding::at(centre, volume));
        }
    }
    holdings
}

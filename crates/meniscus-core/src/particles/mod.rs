//! Particles that carry the liquid: storage, sorting by block, seeding, and the blocks they need.
//!
//! Positions are in *cell units* (see [`crate::interpolate`]), so the cell of a particle is the exact
//! floor of its coordinates. In a domain of 1024 cells an f32 coordinate is at worst 2^-14 cell
//! (6e-5) from its neighbour: far below the error of a time step, but a particle that moves
//! less than half of that in one step does not move at all.

mod cover;
mod seed;
mod sort;

pub use cover::blocks_near;
pub use seed::{jittered, markers_along, seed};
pub(crate) use sort::split_by_block;
pub use sort::{BlockRanges, Order, SortWorkspace};

use serde::{Deserialize, Serialize};

use crate::parallel;
use crate::serde_array::{bulk, bulk_option};

/// Particles as one array for each attribute.
///
/// An attribute is an array of small vectors: every use of a particle needs all its components, so a
/// component apart would only cost another cache line in the sort. Attributes that only some
/// simulations need live beside this struct and follow the sort by [`Order::apply`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "UncheckedParticles<D>")]
pub struct Particles<const D: usize> {
    /// Positions, in cell units.
    #[serde(with = "bulk")]
    pub position: Vec<[f32; D]>,
    /// Velocities, in the units of the face velocities.
    #[serde(with = "bulk")]
    pub velocity: Vec<[f32; D]>,
    /// The affine matrices of APIC where they are in use: row `a` is the gradient of velocity component
    /// `a`, per cell.
    #[serde(with = "bulk_option")]
    pub affine: Option<Vec<[[f32; D]; D]>>,
}

#[derive(Deserialize)]
struct UncheckedParticles<const D: usize> {
    #[serde(with = "bulk")]
    position: Vec<[f32; D]>,
    #[serde(with = "bulk")]
    velocity: Vec<[f32; D]>,
    #[serde(with = "bulk_option")]
    affine: Option<Vec<[[f32; D]; D]>>,
}

impl<const D: usize> TryFrom<UncheckedParticles<D>> for Particles<D> {
    type Error = String;

    fn try_from(stored: UncheckedParticles<D>) -> Result<Self, String> {
        let UncheckedParticles { position, velocity, affine } = stored;
        let count = position.len();
        if velocity.len() != count || affine.as_ref().is_some_and(|affine| affine.len() != count) {
            return Err(format!("not every attribute has {count} particles"));
        }
        Ok(Self { position, velocity, affine })
    }
}

impl<const D: usize> Particles<D> {
    /// Particles at rest.
    pub fn at(position: Vec<[f32; D]>) -> Self {
        let velocity = vec![[0.0; D]; position.len()];
        Self { position, velocity, affine: None }
    }

    /// The number of particles.
    pub fn len(&self) -> usize {
        self.position.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.position.is_empty()
    }

    /// Keeps the particles at the positions that `stays` is true of, in their order.
    pub fn retain(&mut self, stays: impl Fn([f32; D]) -> bool + Sync) {
        let kept: Vec<bool> = parallel::map_each(self.position.len(), |k| stays(self.position[k]));
        retain_by(&mut self.position, &kept);
        retain_by(&mut self.velocity, &kept);
        if let Some(affine) = &mut self.affine {
            retain_by(affine, &kept);
        }
    }

    /// Keeps the first `len` particles: after a sort, `truncate(ranges.sorted())` removes those that
    /// lie in no active block.
    pub fn truncate(&mut self, len: usize) {
        self.position.truncate(len);
        self.velocity.truncate(len);
        if let Some(affine) = &mut self.affine {
            affine.truncate(len);
        }
    }
}

fn retain_by<T>(list: &mut Vec<T>, kept: &[bool]) {
    let mut kept = kept.iter();
    list.retain(|_| kept.next().copied().unwrap_or(true));
}

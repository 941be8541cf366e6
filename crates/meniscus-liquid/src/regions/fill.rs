//! Regions of air that are filled with liquid.

use meniscus_core::grid::{Field, block_len};
use meniscus_core::parallel;

use super::{Interface, Owner, Regions, Volumes};
use crate::holding::Holding;

/// The level of cells that have been filled, in cells: just below the surface, as no more is known of them. Particles hold it from the next substep on; deeper, a speck would add more
/// liquid than it held air.
const FILLED: f32 = -0.05;

impl<const D: usize> Regions<D> {
    /// Fills regions with the liquid that touches them most; those that none touches stay. They keep their numbers, but hold
    /// nothing, touch nothing and own no cell of the blocks afterwards.
    pub fn fill(&mut self, regions: &[usize], volumes: &mut Volumes<D>, level_set: &mut Field<f32, D>) {
        let mut body_of = vec![None; self.air.len()];
        for &region in regions {
            let of_region = self.interfaces.iter().filter(|interface| interface.region == region);
            let Some(&Interface { body, .. }) = of_region.max_by(|a, b| a.area.total_cmp(&b.area)) else {
                continue;
            };
            body_of[region] = Some(body);
            let gained = std::mem::replace(&mut volumes.regions[region], Holding::NOTHING);
            volumes.bodies[body].add(&Holding { area: 0.0, ..gained });
        }
        self.interfaces.retain(|interface| body_of[interface.region].is_none());
        let (labels, levels) = (self.labels.values_mut(), level_set.values_mut());
        parallel::for_both_chunks([block_len::<D>(); 2], labels, levels, |_, labels, levels| {
            for (label, level) in labels.iter_mut().zip(levels) {
                if let Some(Owner::Air(region)) = Owner::of(*label)
                    && let Some(body) = body_of[region]
                {
                    *label = Owner::Liquid(body).label();
                    *level = FILLED;
                }
            }
        });
    }
}

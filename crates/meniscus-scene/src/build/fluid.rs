//! A fluid that fills the domain, and smoke.

use super::Builder;
use crate::content::{self, AirModel, Content};
use crate::document::Node;
use crate::setup::{FluidSetup, SmokeSetup};

impl<const D: usize> Builder<'_, D> {
    /// The fluid that fills the domain, if there is one.
    pub(super) fn fluid(&mut self, content: &Content, root: &Node) -> Option<Option<FluidSetup<D>>> {
        let Some(fluid) = &content.fluid else { return Some(None) };
        let node = root.at("fluid");
        let has_bubbles = content.air.model != AirModel::default();
        for (is_there, key, what) in
            [(!content.liquid.is_empty(), "liquid", "[[liquid]]"), (has_bubbles, "air", "[air]")]
        {
            if let Some(other) = root.key(key).filter(|_| is_there) {
                let message =
                    format!("a scene with [fluid] has no {what}: the fluid fills all of the domain");
                let help = format!("remove {what}, or remove [fluid] to have a surface and air");
                self.problems.error(&other.place, message, "no room for it", help);
                self.problems.also_at(&node.place, "fills the domain");
            }
        }
        let velocity = self.optional_vector(node, "velocity", fluid.velocity.as_deref(), [0.0; D])?;
        Some(Some(FluidSetup { velocity }))
    }

    pub(super) fn smoke(&mut self, node: &Node, smoke: &content::Smoke) -> Option<SmokeSetup<D>> {
        let shape = self.shape_in_domain(node, &smoke.shape)?;
        let content::Smoke { start, stop, buoyancy, .. } = *smoke;
        self.ordered_times(node, start, stop);
        Some(SmokeSetup { shape, start, stop, buoyancy })
    }
}

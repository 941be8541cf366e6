//! How the deep interior of fluids moves together.

use super::Builder;
use crate::content::{AirModel, Content, RegionFluids, RegionModel, Regions};
use crate::document::Node;

impl<const D: usize> Builder<'_, D> {
    pub(super) fn regions(&mut self, content: &Content, root: &Node) -> Option<Regions> {
        let regions = content.regions;
        let node = root.at("regions");
        let mut sound = true;
        for (key, edge) in [("tile", regions.tile), ("largest", regions.largest)] {
            if !edge.is_multiple_of(8) {
                sound = false;
                let help = format!("give a multiple of 8, such as {}", edge.next_multiple_of(8));
                let message = format!("`regions.{key}` is {edge}, which is not a multiple of 8");
                self.problems.error(&node.at(key).place, message, "not a multiple of 8", help);
            }
        }
        let steps = regions.largest / regions.tile.max(1);
        let is_grade = regions.largest.is_multiple_of(regions.tile.max(1)) && steps.is_power_of_two();
        if sound && regions.model == RegionModel::Graded && !is_grade {
            sound = false;
            let message = format!("tiles of {} do not grow to {} by doubling", regions.tile, regions.largest);
            let help =
                format!("give `largest` as {}, {} or {}", regions.tile, 2 * regions.tile, 4 * regions.tile);
            self.problems.error(&node.at("largest").place, message, "not reached by doubling", help);
        }
        let has_second = content.air.model == AirModel::TwoPhase || self.has_two_kinds(content);
        if regions.model != RegionModel::None && regions.fluids == RegionFluids::Air && !has_second {
            sound = false;
            let message = "there is no second fluid to be cut into regions";
            let help = "set regions.fluids = \"liquid\", or simulate the air with air.model = \"two-phase\"";
            self.problems.error(&node.at("fluids").place, message, "the air is not simulated", help);
        }
        sound.then_some(regions)
    }
}

//! Flows that are made of modes: what they can do, and what they refuse.

use super::Builder;
use crate::content::{
    AirModel, Content, Method, Modes, ModesDomain, ModesFeedback, Probe, RegionModel, Walls,
};
use crate::document::Node;
use crate::problem::Place;
use crate::setup::{ModesSetup, STEPS_OF_SHEDDING};

/// Keys of `[modes]` that say what bodies and drawn modes do.
const OF_BODIES: [&str; 5] = ["feedback", "fine", "forces", "panel", "shed_time"];
/// Panels along the shorter side of the domain, if nothing is said of them.
const PANELS_ACROSS: f64 = 50.0;

impl<const D: usize> Builder<'_, D> {
    /// How the flow is made of modes, if it is.
    pub(super) fn modes(&mut self, content: &Content, root: &Node) -> Option<Option<ModesSetup>> {
        if content.method != Method::Modes {
            if let Some(key) = root.key("modes").filter(|_| content.modes.is_some()) {
                let help = "add method = \"modes\" at the top of the file, or remove [modes]";
                let message = "[modes] has no meaning with method = \"grid\"";
                self.problems.error(&key.place, message, "only with method = \"modes\"", help);
                return None;
            }
            self.wakes_without_effect(content, root);
            return Some(None);
        }
        let node = root.at("modes");
        let default = Modes::default();
        let modes = content.modes.as_ref().unwrap_or(&default);
        let is_possible = self.is_possible_with_modes(content, root);
        let extent = self.domain.extent();
        let shorter = extent.into_iter().fold(f64::INFINITY, f64::min);
        let panel = modes.panel.unwrap_or(shorter / PANELS_ACROSS);
        let enrich = self.enrich(&modes.enrich, &content.domain.size, node.at("enrich"));
        self.without_effect(content, root);
        is_possible.then_some(())?;
        Some(Some(ModesSetup {
            domain: modes.domain,
            count: modes.count as usize,
            integrator: modes.integrator,
            feedback: modes.feedback,
            shed_time: modes.shed_time,
            panel,
            forces: modes.forces,
            fine: modes.fine.map(|fine| fine as usize),
            enrich: enrich?,
        }))
    }

    /// Refuses, by name, what modes cannot do.
    fn is_possible_with_modes(&mut self, content: &Content, root: &Node) -> bool {
        const OTHERWISE: &str = "remove it, or simulate with method = \"grid\"";
        let mut sound = true;
        let mut refuse = |place: Option<&Place>, what: &str, why: &str, help: &str| {
            let Some(place) = place else { return };
            sound = false;
            let message = format!("{what} is not possible with method = \"modes\"");
            self.problems.error(place, message, why, help);
        };
        let domain = root.at("domain");
        for (is_there, place, what, why, help) in Self::without_bodies(content, root) {
            refuse(place.filter(|_| is_there), what, why, help);
        }
        for (key, count, what) in [
            ("liquid", content.liquid.len(), "[[liquid]]"),
            ("source", content.source.len(), "[[source]]"),
            ("sink", content.sink.len(), "[[sink]]"),
        ] {
            let list = root.key(key).map(|key| &key.place).filter(|_| count > 0);
            refuse(list, what, "one fluid fills the box", OTHERWISE);
        }
        let open = !content.domain.open.is_empty();
        refuse(
            Some(&domain.at("open").place).filter(|_| open),
            "an open side",
            "the box is closed",
            OTHERWISE,
        );
        let no_slip = content.domain.walls == Walls::NoSlip;
        refuse(
            Some(&domain.at("walls").place).filter(|_| no_slip),
            "fluid that sticks to walls",
            "it slips",
            OTHERWISE,
        );
        let air = content.air.model != AirModel::default();
        refuse(
            root.key("air").map(|key| &key.place).filter(|_| air),
            "[air]",
            "one fluid fills the box",
            OTHERWISE,
        );
        let regions = content.regions.model != RegionModel::None;
        refuse(
            root.key("regions").map(|key| &key.place).filter(|_| regions),
            "[regions]",
            "there are no cells to be cut",
            OTHERWISE,
        );
        let moves = content.fluid.as_ref().and_then(|fluid| fluid.velocity.as_ref());
        let moves = moves.is_some_and(|velocity| velocity.iter().any(|v| *v != 0.0));
        let waves = "remove it, and give [[fluid.wave]] or strokes for a flow at the start";
        let node = root.at("fluid").at("velocity");
        refuse(
            Some(&node.place).filter(|_| moves),
            "a fluid that moves as a whole",
            "its box is closed",
            waves,
        );
        for (index, smoke) in content.smoke.iter().enumerate() {
            let node = root.at("smoke").entry(index).at("buoyancy");
            refuse(
                Some(&node.place).filter(|_| smoke.buoyancy != 0.0),
                "smoke that rises",
                "it is only carried",
                OTHERWISE,
            );
        }
        let is_empty = D == 2 && content.body.is_empty() && content.solid.is_empty();
        for (index, probe) in content.probe.iter().enumerate() {
            let (why, help) = match probe {
                Probe::Height { .. } | Probe::Underside { .. } | Probe::Front { .. } => {
                    ("there is no surface", OTHERWISE)
                }
                Probe::Pressure { .. } if !is_empty => {
                    let help = if D == 2 && !content.solid.is_empty() {
                        "remove it; the statistics tell the forces on solids"
                    } else {
                        "remove it"
                    };
                    ("only without bodies and solids, in 2D", help)
                }
                _ => continue,
            };
            let node = root.at("probe").entry(index).at("kind");
            refuse(Some(&node.place), "this kind of probe", why, help);
        }
        sound
    }

    /// Warns of keys that modes do not heed.
    fn without_effect(&mut self, content: &Content, root: &Node) {
        let domain = root.at("domain");
        let particles = content.particles != crate::content::Particles::default();
        let solver = content.solver != crate::content::Solver::default();
        let modes = content.modes.as_ref();
        let shed_time = modes.is_some_and(|modes| modes.feedback != ModesFeedback::Shed);
        // Neither bodies nor modes beside the eigenmodes.
        let is_alone = D == 3 || modes.is_some_and(|modes| modes.domain == ModesDomain::Solids);
        let mut keys: Vec<(Option<&crate::document::Key>, bool)> = vec![
            (domain.key("separation"), content.domain.separation),
            (domain.key("slip"), !content.domain.slip.is_empty()),
            (root.key("particles"), particles),
            (root.key("solver"), solver),
            (root.at("modes").key("shed_time"), shed_time && !is_alone),
        ];
        for key in OF_BODIES {
            keys.push((root.at("modes").key(key), is_alone));
        }
        for (index, body) in content.body.iter().enumerate() {
            keys.push((root.at("body").entry(index).key("separation"), body.separation.is_some()));
        }
        for (index, solid) in content.solid.iter().enumerate() {
            keys.push((root.at("solid").entry(index).key("separation"), solid.separation.is_some()));
        }
        for key in keys.into_iter().filter(|(_, is_set)| *is_set).filter_map(|(key, _)| key) {
            let message = match key.text.as_str() {
                text if is_alone && OF_BODIES.contains(&text) => {
                    let without = if D == 3 { "in 3D" } else { "with domain = \"solids\"" };
                    format!("`{text}` has no meaning {without}")
                }
                "shed_time" => "`shed_time` has no meaning without feedback = \"shed\"".to_owned(),
                text => format!("`{text}` has no meaning with method = \"modes\""),
            };
            self.problems.warning(&key.place, message, "has no effect", "remove it");
        }
        let step = 1.0 / (content.time.fps * f64::from(content.time.max_substeps));
        if let Some(modes) = modes.filter(|modes| !shed_time && modes.shed_time < STEPS_OF_SHEDDING * step) {
            let message = format!("steps of {step:.2e} s are long for a shed_time of {} s", modes.shed_time);
            let help =
                format!("raise time.max_substeps or time.fps, or give {:.2e} s", STEPS_OF_SHEDDING * step);
            let place = &root.at("modes").at("shed_time").place;
            self.problems.warning(place, message, "fewer than ten steps", help);
        }
    }
}

//! Two fluids: liquid and air that is simulated, or liquids of two kinds.

use super::Builder;
use super::material::{Properties, said};
use super::search::{Meeting, below};
use super::warnings::{body_at_the_start, solid_at_the_start};
use crate::content::{AirModel, Content};
use crate::document::Node;
use crate::setup::{SecondSetup, Setup};

/// The density of air, in kg/m3.
const AIR: f64 = 1.2;

impl<const D: usize> Builder<'_, D> {
    /// What fills that which the liquid leaves, if it is simulated.
    pub(super) fn second(&mut self, content: &Content, root: &Node) -> Option<Option<SecondSetup>> {
        let air = simulated_air(content);
        let kinds = self.second_kind(content, root)?;
        if let (Some(node), Some(_)) =
            (root.key("air").filter(|_| content.air.model != AirModel::Void), kinds)
        {
            let message = "liquids of two kinds leave no room for air";
            let help = "remove [air], or give all liquids the same density and viscosity";
            self.problems.error(&node.place, message, "no room for it", help);
            return None;
        }
        Some(air.or(kinds))
    }

    /// Whether there are liquids of two kinds.
    pub(super) fn has_two_kinds(&self, content: &Content) -> bool {
        let mut all = content.liquid.iter().map(Properties::of_liquid);
        all.next().is_some_and(|first| all.any(|other| !other.is_same_fluid(&first)))
    }

    /// What the liquids of the second kind are made of.
    fn second_kind(&mut self, content: &Content, root: &Node) -> Option<Option<SecondSetup>> {
        let all = content.liquid.iter().map(Properties::of_liquid).enumerate();
        let Some(first) = content.liquid.first().map(Properties::of_liquid) else { return Some(None) };
        let mut second: Option<(usize, Properties)> = None;
        let mut sound = true;
        for (index, properties) in all.filter(|(_, p)| !p.is_same_fluid(&first)) {
            match &second {
                None => second = Some((index, properties)),
                Some((_, known)) if known.is_same_fluid(&properties) => {}
                Some((known, of_known)) if !self.pruned => {
                    sound = false;
                    let list = root.at("liquid");
                    let key = if of_known.density == properties.density { "viscosity" } else { "density" };
                    let help = "a scene holds liquids of at most two kinds: give this one the density and viscosity of one of \
                                the others";
                    let place = &said(list.entry(index), key).place;
                    self.problems.error(place, "a third kind of liquid", format!("another {key}"), help);
                    self.problems.also_at(&said(list.entry(*known), key).place, "the second kind");
                }
                Some(_) => {}
            }
        }
        let setup = |(_, p): (usize, Properties)| SecondSetup { density: p.density, viscosity: p.viscosity };
        sound.then_some(second.map(setup))
    }

    /// Where liquids of two kinds leave something, that would be air, which has no place beside them.
    pub(super) fn two_kinds_fill_the_domain(&mut self, setup: &Setup<D>, content: &Content, root: &Node) {
        let Some(index) = setup.liquids.iter().position(|liquid| liquid.is_second) else { return };
        if self.pruned {
            return;
        }
        let solids: Vec<_> = setup.solids.iter().filter_map(solid_at_the_start).collect();
        let bodies: Vec<_> = setup.bodies.iter().filter_map(body_at_the_start).collect();
        let to_anything = |p: [f64; D]| {
            let shapes = setup.liquids.iter().map(|liquid| &liquid.shape).chain(&solids).chain(&bodies);
            shapes.map(|shape| shape.signed_distance(p)).fold(f64::INFINITY, f64::min)
        };
        let dx = self.grid.dx;
        let gap = below(self.domain, 0.5 * dx, dx, &mut self.budget, |p| -to_anything(p));
        if gap != Meeting::Somewhere {
            return;
        }
        let [first, second] = [0, index].map(|index| Properties::of_liquid(&content.liquid[index]));
        let (key, unit, [a, b]) = match first.density == second.density {
            true => ("viscosity", "Pa s", [first.viscosity, second.viscosity]),
            false => ("density", "kg/m3", [first.density, second.density]),
        };
        let list = root.at("liquid");
        self.problems.error(
            &said(list.entry(index), key).place,
            format!("air beside liquids of two kinds, with a {key} of {a} and {b} {unit}"),
            "the second kind",
            format!(
                "liquids of two kinds must fill all that solids leave of the domain: enlarge one of the second kind, which gives way to \
                 those before it, as with {{ box = ... }} over the whole domain; or give all liquids the same {key}"
            ),
        );
        self.problems.also_at(&said(list.entry(0), key).place, "the first kind");
    }

    /// Into a sink flows what finds nothing there that resists: fluids that fill the domain find each other.
    pub(super) fn nothing_flows_into_sinks(&mut self, setup: &Setup<D>, root: &Node) {
        if setup.second.is_none() && setup.fluid.is_none() {
            return;
        }
        for (index, sink) in setup.sinks.iter().enumerate() {
            let message =
                format!("the sink \"{}\" lets nothing out of fluids that fill the domain", sink.name);
            let help =
                "let the fluid out through an open side of the domain, or let air be `void` or `bubbles`";
            self.problems.warning(
                &root.at("sink").entry(index).place,
                message,
                "nothing flows into it",
                help,
            );
        }
    }

    /// Walls let go of liquid where nothing follows it. Beside a second fluid there is always something.
    pub(super) fn nothing_separates_two_fluids(&mut self, setup: &Setup<D>, content: &Content, root: &Node) {
        if setup.second.is_none() {
            return;
        }
        let of_solid = |index: usize| root.at("solid").entry(index).at("separation");
        let solids = content.solid.iter().enumerate().filter(|(_, solid)| solid.separation == Some(true));
        let mut places: Vec<_> = solids.map(|(index, _)| &of_solid(index).place).collect();
        if content.domain.separation {
            places.push(&root.at("domain").at("separation").place);
        }
        for place in places {
            let help = "remove `separation`: where the other fluid follows, liquid comes off by itself";
            let message = "walls cannot let go of liquid where another fluid is simulated";
            self.problems.error(place, message, "no air without mass to leave behind", help);
        }
    }
}

fn simulated_air(content: &Content) -> Option<SecondSetup> {
    let air = &content.air;
    let (density, viscosity) = (air.density.unwrap_or(AIR), air.viscosity.unwrap_or(0.0));
    (air.model == AirModel::TwoPhase).then_some(SecondSetup { density, viscosity })
}

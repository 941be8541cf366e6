//! Modes without bodies: between resting solids, and in 3D.

use meniscus_core::nodes::{MOST_MODES, Nodes, NodesError};
use meniscus_core::shape::Shape;

use super::Builder;
use crate::content::{Content, ModesDomain};
use crate::document::Node;
use crate::problem::Place;
use crate::setup::{ModesSetup, Setup};

/// Whether there is something, where, what it is, why it is refused, and what to do.
pub(super) type Refusal<'a> = (bool, Option<&'a Place>, &'static str, &'static str, &'static str);

impl<const D: usize> Builder<'_, D> {
    /// What there is only in a box of the plane, that of the panels.
    pub(super) fn without_bodies<'a>(content: &Content, root: &'a Node) -> Vec<Refusal<'a>> {
        let list = |key: &str| root.key(key).map(|key| &key.place);
        let modes = root.at("modes");
        let enrich = modes.key("enrich").map(|key| &key.place);
        let between = content.modes.as_ref().is_some_and(|modes| modes.domain == ModesDomain::Solids);
        let (has_bodies, has_solids) = (!content.body.is_empty(), !content.solid.is_empty());
        let is_enriched = content.modes.as_ref().is_some_and(|modes| !modes.enrich.is_empty());
        const IN_SPACE: &str = "only in 2D";
        const TO_2D: &str = "remove it, or give domain.size two entries";
        const BETWEEN: &str = "not with domain = \"solids\"";
        const TO_BOX: &str = "remove it, or set modes.domain = \"box\"";
        if D != 2 {
            return vec![
                (has_bodies, list("body"), "a body in 3D", IN_SPACE, TO_2D),
                (has_solids, list("solid"), "a solid in 3D", IN_SPACE, TO_2D),
                (is_enriched, enrich, "a mode that is drawn or learnt in 3D", IN_SPACE, TO_2D),
                (between, Some(&modes.at("domain").place), "a domain between solids in 3D", IN_SPACE, TO_2D),
            ];
        }
        let moves = content.solid.iter().position(|solid| solid.motion.is_some());
        let place = moves.map(|index| &root.at("solid").entry(index).at("motion").place);
        let edges = content.solid.iter().position(|solid| !solid.wake_edges.is_empty());
        let edges_at = edges.map(|index| &root.at("solid").entry(index).at("wake_edges").place);
        vec![
            (between && edges.is_some(), edges_at, "an edge that a wake leaves", BETWEEN, TO_BOX),
            (between && has_bodies, list("body"), "a body between islands", BETWEEN, TO_BOX),
            (between && is_enriched, enrich, "a mode that is drawn or learnt", BETWEEN, TO_BOX),
            (between && moves.is_some(), place, "a solid that moves between islands", BETWEEN, TO_BOX),
        ]
    }

    /// Refuses solids that modes cannot be found between.
    pub(super) fn between_solids(&mut self, setup: &Setup<D>, modes: &ModesSetup, root: &Node) {
        let shapes: Vec<&dyn std::any::Any> = setup.solids.iter().map(|solid| &solid.shape as _).collect();
        let shapes: Vec<Shape<2>> = shapes.iter().filter_map(|shape| shape.downcast_ref().cloned()).collect();
        let cells = [self.grid.cells[0], self.grid.cells[1]];
        let name = |solid: usize| format!("\"{}\"", setup.solids[solid].name);
        let of_solid = |solid: usize| &root.at("solid").entry(solid).at("shape").place;
        let more = "raise domain.cells";
        let (place, message, help) = match Nodes::new(cells, self.grid.dx, &shapes) {
            Ok(nodes) if modes.count > nodes.most_modes() => {
                let most = nodes.most_modes();
                let message =
                    format!("{} modes are more than are found between solids on this grid", modes.count);
                let or = if most < MOST_MODES { ", or raise domain.cells" } else { "" };
                let help = format!("set modes.count to {most} at most{or}");
                (&root.at("modes").at("count").place, message, help)
            }
            Ok(_) => return,
            Err(NodesError::Full) => {
                let message = "solids leave no room for fluid".to_owned();
                (&root.at("domain").place, message, format!("move or remove some of them, or {more}"))
            }
            Err(NodesError::Thin(solid)) => {
                let message = format!("{} is thinner than a cell, at least in parts", name(solid));
                (of_solid(solid), message, format!("{more}, or make it thicker"))
            }
            Err(NodesError::Gap(solid, other)) => {
                let other = other.map_or_else(|| "a side of the domain".to_owned(), name);
                let message = format!("the gap between {} and {other} is narrower than a cell", name(solid));
                (of_solid(solid), message, format!("{more}, or let them touch"))
            }
            Err(NodesError::Chamber(solid)) => {
                let message = format!("{} shuts fluid in", name(solid));
                (
                    of_solid(solid),
                    message,
                    "fill it, open it, or let it touch a side of the domain".to_owned(),
                )
            }
        };
        self.problems.error(place, message, "with domain = \"solids\"", help);
    }
}

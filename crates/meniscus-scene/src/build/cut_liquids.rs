//! Liquid that solids or the sides of the domain cut.
//!
//! Who draws water at a wall often draws it a bit into the wall, or draws the whole room and lets the solids take their
//! part: one hint then tells of all liquids. Where solids leave nothing of a liquid, that is a mistake.

use meniscus_core::shape::Shape;

use super::Builder;
use super::search::{Meeting, below};
use super::warnings::{SLACK, SLACK_IN_SOLIDS, solid_at_the_start};
use crate::document::Node;
use crate::setup::Setup;
use crate::suggest::list;

/// Names that a hint lists; it counts the others.
const MOST_NAMES: usize = 5;

/// A solid where it is at the start.
struct Obstacle<const D: usize> {
    name: String,
    shape: Shape<D>,
}

/// All liquids that something cuts, and what cuts them.
#[derive(Default)]
struct Cut<'a> {
    liquids: Vec<&'a Node>,
    solids: Vec<String>,
    by_the_domain: bool,
}

impl<const D: usize> Builder<'_, D> {
    /// Warns of each liquid that is wholly in solids, and hints at all that are cut.
    pub(super) fn cut_liquids(&mut self, setup: &Setup<D>, list: &Node) {
        let solids = setup.solids.iter();
        let obstacles: Vec<Obstacle<D>> = solids
            .filter_map(|solid| {
                Some(Obstacle { name: solid.name.clone(), shape: solid_at_the_start(solid)? })
            })
            .collect();
        let mut cut = Cut::default();
        for (index, liquid) in setup.liquids.iter().enumerate() {
            let (node, shape) = (list.entry(index), &liquid.shape);
            let met: Vec<String> = obstacles
                .iter()
                .filter(|obstacle| self.meet(shape, &obstacle.shape, SLACK_IN_SOLIDS))
                .map(|obstacle| obstacle.name.clone())
                .collect();
            if !met.is_empty() && !self.has_a_part_in_the_open(shape, &obstacles) {
                self.wholly_in_solids(node, &met);
                continue;
            }
            // What has no bounds is meant to be cut, as a water level is by its basin.
            if !shape.bounds().is_finite() {
                continue;
            }
            let by_the_domain = self.reaches_beyond_the_domain(shape);
            if !met.is_empty() || by_the_domain {
                cut.liquids.push(node);
            }
            cut.by_the_domain |= by_the_domain;
            for name in met {
                if !cut.solids.contains(&name) {
                    cut.solids.push(name);
                }
            }
        }
        self.hint_at(&cut);
    }

    fn wholly_in_solids(&mut self, node: &Node, solids: &[String]) {
        self.problems.warning(
            &node.at("shape").place,
            format!("no part of the liquid was found outside of {}", first_of(solids, "\"")),
            "in solids",
            "move the liquid or the solid: where both are, the solid counts",
        );
    }

    fn hint_at(&mut self, cut: &Cut<'_>) {
        let Some(first) = cut.liquids.first() else { return };
        let name = |node: &&Node| match self.problems.line(&node.at("shape").place) {
            Some(line) => format!("{} (line {line})", node.path),
            None => node.path.clone(),
        };
        let liquids: Vec<String> = cut.liquids.iter().map(name).collect();
        let into = (!cut.solids.is_empty()).then(|| format!("into {}", first_of(&cut.solids, "\"")));
        let beyond = cut.by_the_domain.then(|| "beyond the domain".to_string());
        let message = format!(
            "{} {} {}: what lies there is cut off",
            first_of(&liquids, ""),
            if liquids.len() == 1 { "reaches" } else { "reach" },
            [into, beyond].into_iter().flatten().collect::<Vec<_>>().join(" or ")
        );
        self.problems.hint(&first.at("shape").place, message, "if that is meant, there is nothing to do");
    }

    /// Whether a search finds a place in the liquid and in the domain that is in no solid.
    fn has_a_part_in_the_open(&mut self, liquid: &Shape<D>, obstacles: &[Obstacle<D>]) -> bool {
        let dx = self.grid.dx;
        let common = liquid.bounds().intersection(self.domain);
        let in_solids =
            |p| obstacles.iter().map(|o| -o.shape.signed_distance(p)).fold(f64::NEG_INFINITY, f64::max);
        let value = |p| liquid.signed_distance(p).max(in_solids(p));
        below(common, SLACK * dx, 0.5 * dx, &mut self.budget, value) == Meeting::Somewhere
    }

    fn reaches_beyond_the_domain(&mut self, liquid: &Shape<D>) -> bool {
        let Ok(domain) = Shape::box_between(self.domain.lower, self.domain.upper) else { return false };
        let dx = self.grid.dx;
        let value = |p| liquid.signed_distance(p).max(-domain.signed_distance(p));
        below(liquid.bounds(), SLACK * dx, dx, &mut self.budget, value) == Meeting::Somewhere
    }
}

/// The names in words, of many only the first.
fn first_of(names: &[String], quote: &str) -> String {
    let mut words: Vec<String> = names.iter().map(|name| format!("{quote}{name}{quote}")).collect();
    if words.len() > MOST_NAMES {
        let more = words.split_off(MOST_NAMES - 1).len();
        words.push(format!("{more} more"));
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    list(&words, "", "and")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_names_are_counted() {
        let names = |count: usize| (0..count).map(|n| format!("s{n}")).collect::<Vec<String>>();
        assert_eq!(first_of(&names(1), "\""), "\"s0\"");
        assert_eq!(first_of(&names(5), ""), "s0, s1, s2, s3 and s4");
        assert_eq!(first_of(&names(40), ""), "s0, s1, s2, s3 and 36 more");
    }
}

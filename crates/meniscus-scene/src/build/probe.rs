//! Probes.

use super::Builder;
use crate::content::{Probe, Side};
use crate::document::Node;
use crate::setup::{ProbeKind, ProbeSetup};

impl<const D: usize> Builder<'_, D> {
    pub(super) fn probe(&mut self, node: &Node, probe: &Probe) -> Option<ProbeSetup<D>> {
        let kind = match probe {
            Probe::Pressure { at, .. } => ProbeKind::Pressure { at: self.point(node.at("at"), at)? },
            Probe::Velocity { at, .. } => ProbeKind::Velocity { at: self.point(node.at("at"), at)? },
            Probe::Height { at, .. } => ProbeKind::Height { at: self.foot(node.at("at"), at)? },
            Probe::Underside { at, .. } => ProbeKind::Underside { at: self.foot(node.at("at"), at)? },
            Probe::Flux { from, to, .. } => self.flux(node, from, to)?,
            Probe::Front { direction, least, .. } => self.front(node, *direction, *least)?,
            Probe::Volume { shape, .. } => ProbeKind::Volume { shape: self.shape_in_domain(node, shape)? },
            Probe::MeanVelocity { shape, .. } => {
                ProbeKind::MeanVelocity { shape: self.shape_in_domain(node, shape)? }
            }
            Probe::Energy { shape, .. } => ProbeKind::Energy { shape: self.shape_in_domain(node, shape)? },
        };
        Some(ProbeSetup { name: probe.name().to_owned(), kind })
    }

    /// A point of the domain.
    fn point(&mut self, node: &Node, at: &[f64]) -> Option<[f64; D]> {
        let point = self.vector(node, at)?;
        self.inside(node, point)
    }

    /// The foot of a vertical line on the floor of the domain, from its horizontal coordinates.
    fn foot(&mut self, node: &Node, at: &[f64]) -> Option<[f64; D]> {
        let mut foot = [0.0; D];
        if D == 2 {
            [foot[0]] = self.entries::<1>(node, at)?;
        } else {
            [foot[0], foot[D - 1]] = self.entries::<2>(node, at)?;
        }
        self.inside(node, foot)
    }

    /// The point, if it lies in the domain; reports it if not. The domain is rounded to whole cells, so what lies up to half
    /// a cell beyond its side is moved there.
    fn inside(&mut self, node: &Node, point: [f64; D]) -> Option<[f64; D]> {
        let (lower, upper) = (self.domain.lower, self.domain.upper);
        if self.domain.expanded(0.5 * self.grid.dx).contains(point) {
            return Some(std::array::from_fn(|a| point[a].clamp(lower[a], upper[a])));
        }
        let size: Vec<String> = upper.iter().map(|x| format!("{x}")).collect();
        let help = format!("move it inside: the domain reaches from the origin to [{}]", size.join(", "));
        self.problems.error(&node.place, "the probe lies outside the domain", "outside the domain", help);
        None
    }

    fn front(&mut self, node: &Node, direction: Side, least: f64) -> Option<ProbeKind<D>> {
        let (axis, end) = direction.axis_and_end();
        if axis >= D {
            self.no_third_axis(node.at("direction"));
            return None;
        }
        let shortest = self.domain.extent().into_iter().fold(f64::INFINITY, f64::min);
        if least >= shortest {
            let message =
                format!("no liquid is {least} m thick: the shortest side of the domain is {shortest} m");
            let help = "give a thickness that films and drops do not have, such as the edge of a cell";
            self.problems.error(&node.at("least").place, message, "too thick", help);
            return None;
        }
        Some(ProbeKind::Front { axis, end, least })
    }

    fn flux(&mut self, node: &Node, from: &[f64], to: &[f64]) -> Option<ProbeKind<D>> {
        let (start, end) = (self.point(node.at("from"), from), self.point(node.at("to"), to));
        let (from, to) = (start?, end?);
        let flat: Vec<usize> = (0..D).filter(|&a| from[a] == to[a]).collect();
        let rectangle = if D == 2 { "segment" } else { "rectangle" };
        let [axis] = flat[..] else {
            let message = match flat.len() {
                0 => format!("the {rectangle} of a flux probe must be perpendicular to an axis"),
                _ => format!("the {rectangle} of a flux probe has no extent"),
            };
            let help = "give `from` and `to` the same coordinate along exactly one axis, the one the flow is measured along";
            let label = format!("equal to `from` along {} axes", flat.len());
            self.problems.error(&node.at("to").place, message, label, help);
            return None;
        };
        if (0..D).any(|a| from[a] > to[a]) {
            let message = format!("the {rectangle} of a flux probe is inverted");
            let help = "make `from` the lower corner and `to` the upper one; flow in the positive direction counts as positive";
            self.problems.error(&node.at("to").place, message, "smaller than `from`", help);
            return None;
        }
        Some(ProbeKind::Flux { axis, from, to })
    }
}

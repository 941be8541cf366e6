//! Solids and bodies in a flow of modes, as panels on their outlines.

use std::any::Any;
use std::f64::consts::{PI, TAU};

use meniscus_core::shape::{OutlineError, Shape, outline};

use super::Builder;
use super::warnings::{body_at_the_start, solid_at_the_start};
use crate::content::{Content, ModesDomain};
use crate::document::Node;
use crate::setup::Setup;

/// No box with bodies in it is more times as long as wide: images in its walls make larger numbers than floats hold.
const LONGEST: f64 = 100.0;
/// Times that a moving solid is looked at, to find whether it leaves the box.
const LOOKS: usize = 400;
/// An edge is where a corner is, but for this part of a panel.
const AT_CORNER: f64 = 0.1;
/// An outline that turns by more, in radians, has a sharp corner.
const SHARP: f64 = 0.5;

impl<const D: usize> Builder<'_, D> {
    /// Refuses outlines that no panels can be made of, and things that overlap at the start.
    pub(super) fn outlines_of_panels(&mut self, setup: &Setup<D>, root: &Node) {
        let Some(modes) = &setup.modes else { return };
        if modes.domain == ModesDomain::Solids {
            self.between_solids(setup, modes, root);
            return;
        }
        let solids =
            setup.solids.iter().enumerate().map(|(k, s)| ("solid", k, &s.name, solid_at_the_start(s)));
        let bodies = setup.bodies.iter().enumerate().map(|(k, b)| ("body", k, &b.name, body_at_the_start(b)));
        let extent = self.domain.extent();
        let longer = extent.into_iter().fold(0.0, f64::max);
        let shorter = extent.into_iter().fold(f64::INFINITY, f64::min);
        let has_panels = !(setup.solids.is_empty() && setup.bodies.is_empty());
        if has_panels && longer > LONGEST * shorter {
            let message = format!("a box {:.0} times as long as wide takes no bodies", longer / shorter);
            let help = format!("make it at most {LONGEST} times as long as wide");
            self.problems.error(&root.at("domain").at("size").place, message, "too long", help);
        }
        self.edges_of_wakes(setup, modes.panel, root);
        let mut earlier: Vec<(String, Shape<D>)> = Vec::new();
        for (kind, index, name, shape) in solids.chain(bodies) {
            let Some(shape) = shape else { continue };
            let node = root.at(kind).entry(index).at("shape");
            let points = match outline(in_plane(&shape), modes.panel) {
                Ok(points) => points,
                Err(error) => {
                    let help = match &error {
                        OutlineError::TooShort { most, .. } => {
                            format!("set modes.panel to {most:.2e} at most")
                        }
                        OutlineError::TooMany { .. } => "raise modes.panel".into(),
                        _ => "split it into parts without holes, or simulate with method = \"grid\"".into(),
                    };
                    let message = format!("no panels can be made of \"{name}\": {error}");
                    self.problems.error(&node.place, message, "this shape", help);
                    continue;
                }
            };
            if let ("solid", Some(motion)) = (kind, setup.solids.get(index).and_then(|s| s.motion.as_ref())) {
                let left = (0..=LOOKS).find_map(|look| {
                    let end = f64::from(setup.time.frames) / setup.time.fps;
                    let time = end * look as f64 / LOOKS as f64;
                    let moved = setup.solids[index].shape.clone().transformed(motion.pose(time)).ok()?;
                    self.leaves_the_box(&moved).then_some(time)
                });
                if let Some(time) = left {
                    let message = format!("\"{name}\" moves out of the box at {time:.3} s");
                    let help = "with method = \"modes\" solids stay inside: change its keyframes";
                    let place = &root.at(kind).entry(index).at("motion").place;
                    self.problems.error(place, message, "leads outside", help);
                    continue;
                }
            }
            let (lower, upper) = (self.domain.lower, self.domain.upper);
            let film = 0.5 * modes.panel;
            // What rests on others or on a side keeps the film but for a little.
            let least = 0.5 * film;
            let is_near = |x: &[f64; 2]| (0..2).any(|a| x[a] < lower[a] + least || x[a] > upper[a] - least);
            if points.iter().any(is_near) {
                let message = format!("\"{name}\" reaches into a side of the domain, or nearly");
                let help = format!("leave {film:.4} m at least between it and the sides: half a panel");
                self.problems.error(&node.place, message, "too near to a side", help);
            }
            for (other, of_other) in &earlier {
                if self.meet(&shape, of_other, -least / self.grid.dx) {
                    let message = format!("\"{name}\" and \"{other}\" overlap at the start, or nearly");
                    let help = format!("leave {film:.4} m at least between them: half a panel");
                    self.problems.error(&node.place, message, "too near", help);
                }
            }
            earlier.push((name.clone(), shape));
        }
    }

    /// Whether a shape reaches out of the domain; by its outline where that is known, since bounds of what is turned are wide.
    fn leaves_the_box(&self, shape: &Shape<D>) -> bool {
        let (lower, upper) = (self.domain.lower, self.domain.upper);
        let bounds = shape.bounds();
        if (0..D).all(|a| bounds.lower[a] >= lower[a] && bounds.upper[a] <= upper[a]) {
            return false;
        }
        let points = outline(in_plane(shape), 0.01 * self.domain.extent()[0]).ok();
        points.is_none_or(|points| points.iter().any(|x| (0..2).any(|a| x[a] < lower[a] || x[a] > upper[a])))
    }

    /// Corners of a shape.
    pub(super) fn wake_edges(&mut self, node: &Node, edges: &[Vec<f64>]) -> Option<Vec<[f64; 2]>> {
        let list = node.at("wake_edges");
        edges.iter().enumerate().map(|(index, edge)| self.entries::<2>(list.entry(index), edge)).collect()
    }

    /// Warns of wakes of what is in a liquid on a grid, which makes its own.
    pub(super) fn wakes_without_effect(&mut self, content: &Content, root: &Node) {
        let bodies = content.body.iter().enumerate().map(|(k, body)| ("body", k, &body.wake_edges));
        let solids = content.solid.iter().enumerate().map(|(k, solid)| ("solid", k, &solid.wake_edges));
        for (kind, index, _) in bodies.chain(solids).filter(|(.., edges)| !edges.is_empty()) {
            if let Some(key) = root.at(kind).entry(index).key("wake_edges") {
                let message = "`wake_edges` has no meaning with method = \"grid\"";
                self.problems.warning(&key.place, message, "has no effect", "remove it");
            }
        }
    }

    /// Refuses edges that are no sharp corners of the outline.
    fn edges_of_wakes(&mut self, setup: &Setup<D>, panel: f64, root: &Node) {
        let solids = setup.solids.iter().enumerate();
        let solids = solids.map(|(k, s)| ("solid", k, &s.shape, &s.wake_edges, [0.0; D]));
        let bodies = setup.bodies.iter().enumerate();
        let bodies = bodies.map(|(k, b)| ("body", k, &b.shape, &b.wake_edges, b.centre));
        for (kind, index, shape, edges, centre) in solids.chain(bodies) {
            let Some(corners) = outline(in_plane(shape), panel).ok().map(|points| sharp_corners(&points))
            else {
                continue;
            };
            let list = root.at(kind).entry(index).at("wake_edges");
            let mut taken: Vec<[f64; 2]> = Vec::new();
            for (index, edge) in edges.iter().enumerate() {
                let off = |x: &[f64; 2]| (x[0] - edge[0]).hypot(x[1] - edge[1]);
                let nearest = corners.iter().min_by(|a, b| off(a).total_cmp(&off(b)));
                let help = match nearest {
                    Some(x) if off(x) < AT_CORNER * panel && taken.contains(x) => {
                        let message = "a wake leaves this corner already";
                        self.problems.error(&list.entry(index).place, message, "once more", "remove it");
                        continue;
                    }
                    Some(x) if off(x) < AT_CORNER * panel => {
                        taken.push(*x);
                        continue;
                    }
                    Some([x, y]) => format!("the nearest is [{:.4}, {:.4}]", x + centre[0], y + centre[1]),
                    None => "the shape has none: cut it, or make it a polygon".into(),
                };
                let message = "the outline has no sharp corner here for a wake to leave";
                self.problems.error(&list.entry(index).place, message, "no corner", help);
            }
        }
    }
}

fn in_plane<const D: usize>(shape: &Shape<D>) -> &Shape<2> {
    let shape: &dyn Any = shape;
    shape.downcast_ref().expect("modes live in the plane")
}

/// The corners of a polygon, counter-clockwise, that point out and are sharp.
fn sharp_corners(points: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let count = points.len();
    let direction = |k: usize| {
        let (from, to) = (points[k % count], points[(k + 1) % count]);
        (to[1] - from[1]).atan2(to[0] - from[0])
    };
    let turn = |k: usize| (direction(k) - direction(k + count - 1) + PI).rem_euclid(TAU) - PI;
    (0..count).filter(|&k| turn(k) > SHARP).map(|k| points[k]).collect()
}

//! What works but is probably not meant.

use meniscus_core::shape::{RigidTransform, Rotation, Shape};
use meniscus_core::waves::capillary_time_step;

use super::Builder;
use super::material::said;
use super::search::{Meeting, below};
use crate::content::{self, AirModel, Content, Method, Walls};
use crate::document::Node;
use crate::setup::{BodySetup, Setup, SolidSetup};

/// Parts of a cell that shapes may overlap by without a warning.
pub(super) const SLACK: f64 = 0.05;

/// How deep, in cells, the middle of what a liquid and a solid share may lie in both: liquid that is to touch a wall is
/// best drawn about a cell into it.
pub(super) const SLACK_IN_SOLIDS: f64 = 0.55;

/// How thick a shape should be at least, and what happens otherwise.
struct Least {
    cells: f64,
    name: &'static str,
    consequence: &'static str,
}

/// Tests hold that nothing passes walls of a tenth of a cell and more (`tests/tests/validation/thin_walls.rs`).
const SOLID: Least = Least { cells: 0.1, name: "a tenth of a cell", consequence: "liquid may pass it" };
const LIQUID: Least = Least { cells: 1.0, name: "a cell", consequence: "it may get no particles" };
const SOURCE: Least = Least { cells: 1.0, name: "a cell", consequence: "it may pour nothing" };
const BODY: Least =
    Least { cells: 2.0, name: "two cells", consequence: "the liquid does not move it as it should" };
/// Cells are cut into four along each axis to tell what part of them is in a probe.
const PROBE: Least =
    Least { cells: 0.25, name: "a quarter of a cell", consequence: "it may measure nothing" };
const BUBBLE: Least = Least { cells: 2.0, name: "two cells", consequence: "the bubble may soon vanish" };

impl<const D: usize> Builder<'_, D> {
    pub(super) fn warn(&mut self, setup: &Setup<D>, content: &Content, root: &Node) {
        if setup.method == Method::Modes {
            // Nothing is on cells.
            self.never_active(setup, root);
            return;
        }
        let (liquid, solid) = (root.at("liquid"), root.at("solid"));
        for (index, part) in content.solid.iter().enumerate() {
            self.thin(solid.entry(index).at("shape"), &part.shape, 1.0, &SOLID);
        }
        for (index, part) in content.liquid.iter().enumerate() {
            let node = liquid.entry(index).at("shape");
            self.thin(node, &part.shape, 1.0, &LIQUID);
            self.cut_out(setup, node, &part.shape);
        }
        for (index, part) in content.body.iter().enumerate() {
            self.thin(root.at("body").entry(index).at("shape"), &part.shape, 1.0, &BODY);
        }
        for (index, part) in content.source.iter().enumerate() {
            self.thin(root.at("source").entry(index).at("shape"), &part.shape, 1.0, &SOURCE);
        }
        for (index, probe) in content.probe.iter().enumerate() {
            if let Some(shape) = probe.shape() {
                self.thin(root.at("probe").entry(index).at("shape"), shape, 1.0, &PROBE);
            }
        }
        self.cut_liquids(setup, liquid);
        self.overlapping_liquids(setup, liquid);
        self.bodies_in_the_way(setup, root.at("body"));
        self.never_active(setup, root);
        self.too_few_substeps(setup, root);
        self.too_few_substeps_for_ripples(setup, root);
        self.walls_without_viscosity(setup, root);
    }

    /// Surface tension whose shortest waves are faster than the substeps of a frame can follow.
    fn too_few_substeps_for_ripples(&mut self, setup: &Setup<D>, root: &Node) {
        let time = &setup.time;
        let density = setup.density + setup.second.map_or(0.0, |second| second.density);
        let limit = capillary_time_step::<D>(self.grid.dx, density, setup.surface_tension);
        let needed = 1.0 / (time.fps * limit);
        if needed > f64::from(time.max_substeps) {
            let table = if setup.liquids.is_empty() { root.at("source") } else { root.at("liquid") };
            self.problems.warning(
                &said(table.entry(0), "surface_tension").place,
                format!("surface tension needs {needed:.0} substeps a frame on cells this small"),
                format!("ripples allow steps of {limit:.2e} s"),
                format!(
                    "time.max_substeps is {}: raise it, or time.fps, or use fewer cells or less surface tension",
                    time.max_substeps
                ),
            );
        }
    }

    /// Liquid that nothing holds to the walls that it should stick to.
    fn walls_without_viscosity(&mut self, setup: &Setup<D>, root: &Node) {
        let second = setup.second.map_or(0.0, |second| second.viscosity);
        if setup.walls == Walls::NoSlip && setup.viscosity == 0.0 && second == 0.0 {
            self.problems.warning(
                &root.at("domain").at("walls").place,
                "no liquid is viscous, so none sticks to the walls",
                "has no effect",
                "give a liquid a viscosity, or remove `walls`",
            );
        }
    }

    /// Gravity that makes liquid faster than the substeps of a frame can follow.
    fn too_few_substeps(&mut self, setup: &Setup<D>, root: &Node) {
        let time = &setup.time;
        let fall: f64 = (0..D).map(|a| setup.gravity[a].abs() * self.domain.extent()[a]).sum();
        let speed = (2.0 * fall).sqrt();
        let needed = speed / (time.fps * time.cfl * self.grid.dx);
        if needed > f64::from(time.max_substeps) {
            let node = root.get("gravity").unwrap_or(root.at("domain"));
            self.problems.warning(
                &node.place,
                format!("liquid that falls through the domain needs {needed:.0} substeps a frame"),
                format!("it reaches {speed:.3} m/s"),
                format!(
                    "time.max_substeps is {}: raise it, or time.fps, or check the units (m, s) of gravity and domain",
                    time.max_substeps
                ),
            );
        }
    }

    /// What is cut out of a liquid where there is none, and bubbles that are too small to live.
    fn cut_out(&mut self, setup: &Setup<D>, node: &Node, shape: &content::Shape) {
        let content::Shape::Difference(parts) = shape else { return };
        let (list, dx) = (node.at("difference"), self.grid.dx);
        let Some(liquid) = parts.first().and_then(|part| self.shape(list.entry(0), part)) else { return };
        for (index, part) in parts.iter().enumerate().skip(1) {
            let node = list.entry(index);
            let Some(cut) = self.shape(node, part) else { continue };
            let common = liquid.bounds().intersection(cut.bounds()).intersection(self.domain);
            let value = |p| liquid.signed_distance(p).max(cut.signed_distance(p));
            if below(common, 0.0, dx, &mut self.budget, value) == Meeting::Nowhere {
                let help = "move it into the first shape of the list, or remove it";
                self.problems.warning(
                    &node.place,
                    "nothing is cut out: the shape does not meet the liquid",
                    "no liquid here",
                    help,
                );
                continue;
            }
            // What a solid fills is no bubble.
            if setup.air != AirModel::Void && !self.meets_a_solid(setup, &cut) {
                self.thin(node, part, 1.0, &BUBBLE);
            }
        }
    }

    fn meets_a_solid(&mut self, setup: &Setup<D>, shape: &Shape<D>) -> bool {
        setup
            .solids
            .iter()
            .any(|solid| solid_at_the_start(solid).is_none_or(|solid| self.meet(shape, &solid, SLACK)))
    }

    /// Shapes that fall between the cells. They are scaled by no more than `factor`.
    fn thin(&mut self, node: &Node, shape: &content::Shape, factor: f64, least: &Least) {
        use content::Shape as S;
        let shortest =
            |lengths: &mut dyn Iterator<Item = f64>| factor * lengths.fold(f64::INFINITY, f64::min);
        match shape {
            S::Box(b) => {
                let extent = shortest(&mut b.from.iter().zip(&b.to).map(|(from, to)| to - from));
                self.thinner(node.at("box"), "box", extent, least);
            }
            S::Sphere(s) => {
                self.thinner(node.at("sphere").at("radius"), "sphere", 2.0 * factor * s.radius, least);
            }
            S::Ellipsoid(e) => {
                let extent = shortest(&mut e.radii.iter().map(|radius| 2.0 * radius));
                self.thinner(node.at("ellipsoid").at("radii"), "ellipsoid", extent, least);
            }
            S::Capsule(c) => {
                self.thinner(node.at("capsule").at("radius"), "capsule", 2.0 * factor * c.radius, least);
            }
            S::Cylinder(c) => {
                let node = node.at("cylinder");
                let length = c.from.iter().zip(&c.to).map(|(a, b)| (b - a) * (b - a)).sum::<f64>().sqrt();
                let (place, size) = if length < 2.0 * c.radius {
                    (node, length)
                } else {
                    (node.at("radius"), 2.0 * c.radius)
                };
                self.thinner(place, "cylinder", factor * size, least);
            }
            S::Shell(s) => {
                let node = node.at("shell");
                let thickness = factor * s.thickness;
                self.thinner(node.at("thickness"), "shell", thickness, least);
                if thickness >= least.cells * self.grid.dx {
                    self.thin(node.at("shape"), &s.shape, factor, least);
                }
            }
            S::Transform(t) => {
                self.thin(node.at("transform").at("shape"), &t.shape, factor * t.scale.largest(), least);
            }
            S::Union(shapes) => {
                for (index, shape) in shapes.iter().enumerate() {
                    self.thin(node.at("union").entry(index), shape, factor, least);
                }
            }
            S::Difference(shapes) => {
                if let Some(first) = shapes.first() {
                    self.thin(node.at("difference").entry(0), first, factor, least);
                }
            }
            S::HalfSpace(_) | S::Polygon(_) | S::Mesh(_) | S::Intersection(_) | S::Complement(_) => {}
        }
    }

    fn thinner(&mut self, node: &Node, kind: &str, size: f64, least: &Least) {
        let dx = self.grid.dx;
        // Rounding must not turn a thickness of one cell into less.
        if size < least.cells * dx * (1.0 - 1e-9) {
            self.problems.warning(
                &node.place,
                format!("the {kind} is thinner than {}: {}", least.name, least.consequence),
                format!("{size:.4} m thick, cells are {dx:.4} m"),
                "make it thicker, or raise domain.cells",
            );
        }
    }

    fn overlapping_liquids(&mut self, setup: &Setup<D>, list: &Node) {
        for (second, b) in setup.liquids.iter().enumerate() {
            for (first, a) in setup.liquids[..second].iter().enumerate() {
                // What lies in a liquid of another kind is meant to take its place.
                if a.is_second == b.is_second && self.meet(&a.shape, &b.shape, SLACK) {
                    let message = format!("liquid[{first}] and liquid[{second}] overlap");
                    let help = "the first one counts where both are; make them touch without overlapping, or join them by a \
                                union";
                    let place = &list.entry(second).at("shape").place;
                    self.problems.warning(place, message, "overlaps an earlier liquid", help);
                }
            }
        }
    }

    /// Bodies that begin in a solid, in one another or beyond a wall.
    fn bodies_in_the_way(&mut self, setup: &Setup<D>, list: &Node) {
        let bodies: Vec<Option<Shape<D>>> = setup.bodies.iter().map(body_at_the_start).collect();
        for (index, body) in bodies.iter().enumerate() {
            let Some(body) = body else { continue };
            let place = &list.entry(index).at("shape").place;
            let bounds = body.bounds();
            let is_beyond = |a: usize| {
                let slack = SLACK_IN_SOLIDS * self.grid.dx;
                (!setup.open[a][0] && bounds.lower[a] < self.domain.lower[a] - slack)
                    || (!setup.open[a][1] && bounds.upper[a] > self.domain.upper[a] + slack)
            };
            if (0..D).any(is_beyond) {
                let help = "move it inside; where it is it will be pushed in";
                self.problems.warning(
                    place,
                    "the body begins in a wall of the domain",
                    "beyond a wall",
                    help,
                );
            }
            let mut others: Vec<(String, Shape<D>)> = Vec::new();
            others.extend(setup.solids.iter().filter_map(|s| Some((s.name.clone(), solid_at_the_start(s)?))));
            let earlier = setup.bodies.iter().zip(&bodies).take(index);
            others.extend(earlier.filter_map(|(b, shape)| Some((b.name.clone(), shape.clone()?))));
            for (name, other) in others {
                if self.meet(body, &other, SLACK_IN_SOLIDS) {
                    let message = format!("the body overlaps \"{name}\" at the start");
                    let help = "move them apart; as they are, they will be pushed apart";
                    self.problems.warning(place, message, "overlaps", help);
                }
            }
        }
    }

    /// Whether two shapes overlap by more than the slack in cells, inside the domain, as far as a search finds out.
    pub(super) fn meet(&mut self, a: &Shape<D>, b: &Shape<D>, slack: f64) -> bool {
        let (dx, slack) = (self.grid.dx, slack * self.grid.dx);
        let common = a.bounds().intersection(b.bounds()).intersection(self.domain);
        let value = |p| a.signed_distance(p).max(b.signed_distance(p));
        below(common, slack, dx, &mut self.budget, value) == Meeting::Somewhere
    }

    /// Sources and sinks that start after the end.
    fn never_active(&mut self, setup: &Setup<D>, root: &Node) {
        let end = f64::from(setup.time.frames) / setup.time.fps;
        let sources = setup.sources.iter().map(|s| s.start).enumerate().map(|s| ("source", s));
        let sinks = setup.sinks.iter().map(|s| s.start).enumerate().map(|s| ("sink", s));
        for (kind, (index, start)) in sources.chain(sinks).filter(|(_, (_, start))| *start >= end) {
            self.problems.warning(
                &root.at(kind).entry(index).at("start").place,
                format!("the {kind} never starts"),
                format!("starts at {start} s"),
                format!(
                    "the simulation ends at {} s; start earlier or raise time.frames",
                    (end * 1e4).round() / 1e4
                ),
            );
        }
    }
}

/// A solid where its motion begins.
pub(super) fn solid_at_the_start<const D: usize>(solid: &SolidSetup<D>) -> Option<Shape<D>> {
    match &solid.motion {
        None => Some(solid.shape.clone()),
        Some(motion) => solid.shape.clone().transformed(motion.pose(0.0)).ok(),
    }
}

/// A body where it begins.
pub(super) fn body_at_the_start<const D: usize>(body: &BodySetup<D>) -> Option<Shape<D>> {
    let pose = RigidTransform { rotation: Rotation::identity(), translation: body.centre };
    body.shape.clone().transformed(pose).ok()
}

//! From the content of a scene file to a [`Setup`]: everything is checked against everything else.

mod between;
mod body;
mod cut_liquids;
mod domain;
mod enrich;
mod fluid;
mod material;
mod modes;
mod motion;
mod names;
mod panels;
mod probe;
mod regions;
mod search;
mod settings;
mod shape;
mod two_phase;
mod warnings;

use std::path::Path;

use material::Properties;
use meniscus_core::grid::Grid;
use meniscus_core::shape::{Bounds, Shape};

use crate::content::{self, Content, Method, Side};
use crate::document::Node;
use crate::problem::Problems;
use crate::setup::{LiquidSetup, Setup, SinkSetup, SolidSetup, SourceSetup};

/// A setup in the dimension of its scene.
#[derive(Clone, Debug)]
pub(crate) enum AnySetup {
    Two(Box<Setup<2>>),
    Three(Box<Setup<3>>),
}

/// Builds the setup of a scene whose structure is sound, or reports why it cannot.
pub(crate) fn build(
    content: &Content,
    root: &Node,
    folder: &Path,
    problems: &mut Problems,
) -> Option<AnySetup> {
    let domain = domain::Domain::new(content, root, problems)?;
    match domain.dimension() {
        2 => Builder::new(domain.grid(), folder, problems)
            .build(content, root)
            .map(Box::new)
            .map(AnySetup::Two),
        _ => Builder::new(domain.grid(), folder, problems)
            .build(content, root)
            .map(Box::new)
            .map(AnySetup::Three),
    }
}

/// What the parts of a scene are checked against.
struct Builder<'a, const D: usize> {
    grid: Grid<D>,
    domain: Bounds<D>,
    meshes: shape::Meshes<'a>,
    problems: &'a mut Problems,
    /// Whether the structure had errors, so that what is missing may have been there.
    pruned: bool,
    /// Whether liquid comes off what does not say otherwise.
    separation: bool,
    /// What the first liquid is.
    first_kind: Option<Properties>,
    /// Evaluations left for the searches of this scene, so that no scene takes long to check.
    budget: usize,
}

impl<'a, const D: usize> Builder<'a, D> {
    fn new(grid: Grid<D>, folder: &'a Path, problems: &'a mut Problems) -> Self {
        let (domain, pruned) = (domain::bounds(&grid), problems.has_errors());
        let meshes = shape::Meshes::new(folder);
        Self {
            grid,
            domain,
            meshes,
            problems,
            pruned,
            separation: false,
            first_kind: None,
            budget: 1_000_000,
        }
    }

    fn build(mut self, content: &Content, root: &Node) -> Option<Setup<D>> {
        // All parts are visited before the first `?`, so that each has its say.
        let gravity = self.optional_vector(root, "gravity", content.gravity.as_deref(), gravity_default());
        let open = self.sides(&content.domain.open, root, "open");
        let slip = self.sides(&content.domain.slip, root, "slip");
        let substance = self.substance(content, root);
        let second = self.second(content, root);
        let fluid = self.fluid(content, root);
        let smoke = self.each(root.get("smoke"), &content.smoke, Self::smoke);
        let liquids = self.each(root.get("liquid"), &content.liquid, Self::liquid);
        let sources = self.each(root.get("source"), &content.source, Self::source);
        let sinks = self.each(root.get("sink"), &content.sink, Self::sink);
        self.separation = content.domain.separation;
        let solids = self.each(root.get("solid"), &content.solid, Self::solid);
        let bodies = self.each(root.get("body"), &content.body, Self::body);
        let probes = self.each(root.get("probe"), &content.probe, Self::probe);
        self.unique_names(content, root);
        let particles = self.particles(content, root);
        let regions = self.regions(content, root);
        let modes = self.modes(content, root);
        let render = self.render(content, root);
        self.anything_to_simulate(content, root);

        let Properties { density, viscosity, surface_tension } = substance?;
        let mut setup = Setup {
            method: content.method,
            gravity: gravity?,
            grid: self.grid,
            open: open?,
            time: content.time,
            density,
            viscosity,
            surface_tension,
            air: content.air.model,
            second: second?,
            walls: content.domain.walls,
            slip: slip?,
            fluid: fluid?,
            smoke: smoke?,
            separation: self.separation,
            liquids: liquids?,
            sources: sources?,
            sinks: sinks?,
            solids: solids?,
            bodies: bodies?,
            probes: probes?,
            particles: particles?,
            regions: regions?,
            modes: modes?,
            solver: content.solver,
            output: content.output,
            render: render?,
        };
        names::fill_in(&mut setup);
        self.two_kinds_fill_the_domain(&setup, content, root);
        self.nothing_separates_two_fluids(&setup, content, root);
        self.nothing_flows_into_sinks(&setup, root);
        self.outlines_of_panels(&setup, root);
        if self.problems.has_errors() {
            return None;
        }
        self.warn(&setup, content, root);
        Some(setup)
    }

    /// Builds every entry of a list, also after one that fails.
    fn each<T, U>(
        &mut self,
        node: Option<&Node>,
        entries: &[T],
        build: impl Fn(&mut Self, &Node, &T) -> Option<U>,
    ) -> Option<Vec<U>> {
        let Some(node) = node else { return Some(Vec::new()) };
        let built = entries.iter().enumerate().map(|(index, entry)| build(self, node.entry(index), entry));
        // Collected first, since collecting into an Option stops at the first failure.
        let built: Vec<Option<U>> = built.collect();
        built.into_iter().collect()
    }

    fn liquid(&mut self, node: &Node, liquid: &content::Liquid) -> Option<LiquidSetup<D>> {
        let shape = self.shape_in_domain(node, &liquid.shape);
        let velocity = self.optional_vector(node, "velocity", liquid.velocity.as_deref(), [0.0; D]);
        let is_second =
            self.first_kind.is_some_and(|first| !Properties::of_liquid(liquid).is_same_fluid(&first));
        Some(LiquidSetup { shape: shape?, velocity: velocity?, is_second })
    }

    fn source(&mut self, node: &Node, source: &content::Source) -> Option<SourceSetup<D>> {
        let shape = self.shape_in_domain(node, &source.shape);
        let velocity = self.vector(node.at("velocity"), &source.velocity);
        let (start, stop) = (source.start, source.stop);
        self.ordered_times(node, start, stop);
        Some(SourceSetup {
            name: name_or_empty(&source.name),
            shape: shape?,
            velocity: velocity?,
            start,
            stop,
        })
    }

    fn sink(&mut self, node: &Node, sink: &content::Sink) -> Option<SinkSetup<D>> {
        let shape = self.shape_in_domain(node, &sink.shape);
        let (start, stop) = (sink.start, sink.stop);
        self.ordered_times(node, start, stop);
        Some(SinkSetup { name: name_or_empty(&sink.name), shape: shape?, start, stop })
    }

    fn solid(&mut self, node: &Node, solid: &content::Solid) -> Option<SolidSetup<D>> {
        let (name, glass) = (name_or_empty(&solid.name), solid.glass);
        let separation = solid.separation.unwrap_or(self.separation);
        let wake_edges = self.wake_edges(node, &solid.wake_edges);
        match &solid.motion {
            None => {
                let shape = self.shape_in_domain(node, &solid.shape)?;
                Some(SolidSetup { name, shape, motion: None, glass, separation, wake_edges: wake_edges? })
            }
            Some(motion) => {
                // It may enter the domain later.
                let shape = self.shape(node.at("shape"), &solid.shape);
                let pivot = shape.as_ref().map_or([0.0; D], centre_or_origin);
                let motion = self.motion(node.at("motion"), motion, pivot);
                let (shape, motion) = (shape?, Some(motion?));
                Some(SolidSetup { name, shape, motion, glass, separation, wake_edges: wake_edges? })
            }
        }
    }

    fn ordered_times(&mut self, node: &Node, start: f64, stop: Option<f64>) {
        if let Some(stop) = stop.filter(|stop| *stop <= start) {
            let message = format!("it stops at {stop} s, before it starts at {start} s");
            let help = "make `stop` larger than `start`, or leave it out";
            self.problems.error(&node.at("stop").place, message, "not after the start", help);
        }
    }

    /// The sides of the domain that a list names.
    fn sides(&mut self, list: &[Side], root: &Node, key: &str) -> Option<[[bool; 2]; D]> {
        let mut named = [[false; 2]; D];
        let mut sound = true;
        for (index, side) in list.iter().enumerate() {
            let (axis, end) = side.axis_and_end();
            if axis < D {
                named[axis][end] = true;
            } else {
                sound = false;
                self.no_third_axis(root.at("domain").at(key).entry(index));
            }
        }
        sound.then_some(named)
    }

    /// Reports a side along z in a 2D scene.
    fn no_third_axis(&mut self, node: &Node) {
        let help = "use -x, +x, -y or +y, or give domain.size three entries to make the scene 3D";
        let message = "a 2D scene has no z axis";
        self.problems.error(&node.place, message, "the scene is 2D: domain.size has 2 entries", help);
    }

    fn anything_to_simulate(&mut self, content: &Content, root: &Node) {
        let has_none = content.liquid.is_empty() && content.source.is_empty() && content.fluid.is_none();
        if has_none && !self.pruned {
            let help = match content.method {
                Method::Grid => {
                    "add a [[liquid]], a [[source]] or a [fluid], for example\n[[liquid]]\nshape = { box = { from = ..., to = ... } }"
                }
                Method::Modes => "add a [fluid], for example\n[fluid]\nmaterial = \"water\"",
            };
            let place = &root.at("domain").place;
            let message = match content.method {
                Method::Grid => "the scene has no liquid",
                Method::Modes => "the scene has no fluid",
            };
            self.problems.error(place, message, "nothing to simulate in this domain", help);
        }
    }

    /// A vector with an entry for each dimension.
    fn vector(&mut self, node: &Node, values: &[f64]) -> Option<[f64; D]> {
        self.entries::<D>(node, values)
    }

    fn optional_vector(
        &mut self,
        node: &Node,
        key: &str,
        values: Option<&[f64]>,
        default: [f64; D],
    ) -> Option<[f64; D]> {
        values.map_or(Some(default), |values| self.vector(node.at(key), values))
    }

    /// A vector with `N` entries in a scene of dimension `D`.
    fn entries<const N: usize>(&mut self, node: &Node, values: &[f64]) -> Option<[f64; N]> {
        if let Ok(vector) = values.try_into() {
            return Some(vector);
        }
        let count = values.len();
        let entries = if count == 1 { "entry" } else { "entries" };
        let names = match (N == D, D) {
            (true, 2) => "[x, y]",
            (true, _) => "[x, y, z]",
            (false, 2) => "[x]",
            (false, _) => "[x, z]",
        };
        self.problems.error(
            &node.place,
            format!("`{}` has {count} {entries}, but the scene is {D}D", node.path),
            format!("{count} {entries}"),
            format!(
                "give {N} number{}, {names}; domain.size has {D} entries, which makes this a {D}D scene",
                if N == 1 { "" } else { "s" }
            ),
        );
        None
    }
}

fn name_or_empty(name: &Option<String>) -> String {
    name.clone().unwrap_or_default()
}

fn gravity_default<const D: usize>() -> [f64; D] {
    std::array::from_fn(|axis| if axis == 1 { -9.81 } else { 0.0 })
}

/// The middle of the bounding box, or the origin if there is none.
fn centre_or_origin<const D: usize>(shape: &Shape<D>) -> [f64; D] {
    let bounds = shape.bounds();
    let centre = bounds.centre();
    if bounds.is_empty() || centre.iter().any(|x| !x.is_finite()) { [0.0; D] } else { centre }
}

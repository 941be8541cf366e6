//! Edge collapse: two vertices become one.

use meniscus_core::vector::add_scaled;

use super::cone::Cone;
use super::link::Neighbourhood;
use super::{Editor, GAIN, MAX_TURN};
use crate::complex::{Cavity, Ring, Sheet, WallFace};

/// The cosine of the angle that faces may turn by where a short edge is collapsed: 45 degrees.
const MAX_TURN_OF_SHORT: f64 = std::f64::consts::FRAC_1_SQRT_2;

/// What a collapse must not do to the worst quality around.
#[derive(Clone, Copy, Debug)]
enum Demand {
    /// It must rise.
    Better,
    /// It must not fall below `floor`, nor below what it was, and no new edge must be longer than `longest`.
    Shorten { floor: f64, longest: f64 },
}

impl Demand {
    /// The least quality of what takes the place of tets of which the worst is this good.
    fn least(self, before: f64) -> f64 {
        match self {
            Self::Better => before + GAIN,
            Self::Shorten { floor, .. } => floor.min(before),
        }
    }

    /// The quality beyond which nothing better is looked for.
    fn enough(self, before: f64) -> f64 {
        match self {
            Self::Better => f64::INFINITY,
            Self::Shorten { .. } => self.least(before),
        }
    }

    /// The cosine of the angle that faces of interfaces may turn by. What is shorter than wanted is not
    /// resolved: there, wrinkles are to go.
    fn max_turn(self) -> f64 {
        match self {
            Self::Better => MAX_TURN,
            Self::Shorten { .. } => MAX_TURN_OF_SHORT,
        }
    }

    /// The longest edge that may be made.
    fn longest(self) -> f64 {
        match self {
            Self::Better => f64::INFINITY,
            Self::Shorten { longest, .. } => longest,
        }
    }
}

impl Editor<'_> {
    /// Collapses an edge of a tet if that makes the worst tet around it better.
    pub fn collapse(&mut self, tet: u32, a: u32, b: u32) -> bool {
        self.collapse_if(tet, a, b, Demand::Better)
    }

    /// Collapses an edge of a tet because it is short, if the worst tet around it does not become worse than
    /// `floor`, or than it is, and no edge becomes longer than `longest`.
    pub fn collapse_short(&mut self, tet: u32, a: u32, b: u32, floor: f64, longest: f64) -> bool {
        self.collapse_if(tet, a, b, Demand::Shorten { floor, longest })
    }

    fn collapse_if(&mut self, tet: u32, a: u32, b: u32, demand: Demand) -> bool {
        let [a, b] = [a, b].map(|v| self.neighbourhood(v));
        // The vertex of the lower stratum stays.
        let (a, b) = if a.strata.vertex() >= b.strata.vertex() { (a, b) } else { (b, a) };
        if a.strata.edge(b.vertex) != a.strata.vertex() {
            return false;
        }
        let ring = self.complex.ring(tet, a.vertex, b.vertex);
        if a.strata.vertex() == b.strata.vertex() {
            self.merge(&a, &b, &ring, demand)
        } else {
            self.pull(&a, &b, &ring, demand)
        }
    }

    /// Collapses the edge to its end `b`, which stays where it is.
    fn pull(&mut self, a: &Neighbourhood, b: &Neighbourhood, ring: &Ring, demand: Demand) -> bool {
        let base = self.base_without(a, b.vertex);
        let mut cone = Cone::new(self, &base, self.way(b.vertex));
        cone.hold_sheets(self, a.vertex, &a.strata, Some(b.vertex));
        let volumes = self.complex.volumes_of(&a.star);
        let x = self.complex.position(b.vertex);
        let least = demand.least(self.worst(&a.star));
        if cone.reach(x) > demand.longest()
            || !cone.reaches(x, least)
            || !cone.keeps_sheets(x, demand.max_turn())
        {
            return false;
        }
        if !self.link_condition(a, b, ring) {
            return false;
        }
        let Some(moved) = cone.volume_moved(x, &volumes) else { return false };
        let walls = wall_faces(b.vertex, [(a, b.vertex)]);
        let new = cone.tets(b.vertex);
        let cavity = Cavity { old: &a.star, new: &new, walls: &walls, vertex: None };
        let collapsed = self.replace(cavity);
        if collapsed {
            self.books.collapsed += 1;
            self.books.volume_moved += moved;
        }
        collapsed
    }

    /// Collapses the edge into a new vertex that keeps the volumes of all labels.
    fn merge(&mut self, a: &Neighbourhood, b: &Neighbourhood, ring: &Ring, demand: Demand) -> bool {
        let old: Vec<u32> =
            a.star.iter().chain(b.star.iter().filter(|t| !a.star.contains(t))).copied().collect();
        let base = [self.base_without(a, b.vertex), self.base_without(b, a.vertex)].concat();
        let (from, to) = (self.complex.position(a.vertex), self.complex.position(b.vertex));
        let way = add_scaled(self.way(a.vertex).map(|c| 0.5 * c), 0.5, self.way(b.vertex));
        let mut cone = Cone::new(self, &base, way);
        cone.hold_sheets(self, a.vertex, &a.strata, Some(b.vertex));
        cone.hold_sheets(self, b.vertex, &b.strata, Some(a.vertex));
        let volumes = self.complex.volumes_of(&old);
        let walls = a.strata.walls();
        let middle = self.container.project(&walls, add_scaled(from.map(|c| 0.5 * c), 0.5, to));
        let leeway = cone.leeway(self, middle, &walls, &volumes);
        let start = leeway.project(middle);
        if cone.reach(start) > demand.longest() || !self.link_condition(a, b, ring) {
            return false;
        }
        let before = self.worst(&old);
        let x = self.container.project(&walls, cone.climb(start, &leeway, demand.enough(before)));
        let fits = cone.reach(x) <= demand.longest() && cone.reaches(x, demand.least(before));
        if !fits || !cone.keeps_sheets(x, demand.max_turn()) {
            return false;
        }
        let Some(moved) = cone.volume_moved(x, &volumes) else { return false };
        let sources = self.sources_at(x, &old);
        let vertex = self.complex.next_vertex();
        let new = cone.tets(vertex);
        let walls = wall_faces(vertex, [(a, b.vertex), (b, a.vertex)]);
        let cavity = Cavity { old: &old, new: &new, walls: &walls, vertex: Some(x) };
        if !self.replace(cavity) {
            return false;
        }
        self.follow(vertex, &sources);
        self.books.collapsed += 1;
        self.books.volume_moved += moved;
        true
    }

    /// The faces opposite to a vertex in those tets of its star that do not have `other`.
    fn base_without(&self, of: &Neighbourhood, other: u32) -> Vec<([u32; 3], u8)> {
        let faces = of.star.iter().map(|&t| (self.complex.link_face(t, of.vertex), self.complex.label(t)));
        faces.filter(|(face, _)| !face.contains(&other)).collect()
    }
}

/// Faces on walls at vertices that become one, but for those with both.
fn wall_faces<const N: usize>(vertex: u32, of: [(&Neighbourhood, u32); N]) -> Vec<WallFace> {
    let mut walls = Vec::new();
    for (neighbourhood, other) in of {
        for &([p, q], sheet) in &neighbourhood.strata.faces {
            if let Sheet::Wall(id) = sheet
                && p != other
                && q != other
            {
                walls.push(([vertex, p, q], id));
            }
        }
    }
    walls
}

//! What fluid in the plane flows between: which corners of cells lie in the fluid, and which in what it flows past.

use thiserror::Error;

use crate::components::Partition;
use crate::parallel;
use crate::shape::Shape;

/// What a corner of cells lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// In the fluid.
    Fluid,
    /// On the sides of the box, or in solids that touch them.
    Wall,
    /// In solids with fluid all around: the island with this number.
    Island(usize),
}

/// The corners of the cells of a box in the plane, with solids in it. Lists of corners are by x: those of one x after those of another.
#[derive(Clone, Debug, PartialEq)]
pub struct Nodes {
    /// Cells along x and y.
    pub cells: [usize; 2],
    /// The edge of a cell, in m.
    pub dx: f64,
    /// What each corner lies in.
    pub of: Vec<Node>,
    /// For each corner the part of the way from it to the next along x that is in the fluid, and the same along y: between 0 and 1 where one of the two lies in the fluid.
    pub open: [Vec<f64>; 2],
    /// How many islands there are.
    pub islands: usize,
}

/// Why solids in a box are nothing that fluid could be found around, on cells of this size. Solids are told by their numbers.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum NodesError {
    /// No corner of a cell lies in the fluid.
    #[error("solids leave no room for fluid")]
    Full,
    /// No corner of a cell lies in a solid, or a piece of it is between two.
    #[error("a solid, or a part of it, is thinner than a cell")]
    Thin(usize),
    /// A gap between two solids, or a solid and a side of the box, has no corner in it.
    #[error("a gap is narrower than a cell")]
    Gap(usize, Option<usize>),
    /// Fluid is shut in by a solid that touches no side of the box.
    #[error("fluid is shut in by a solid")]
    Chamber(usize),
}

/// A solid that is no farther from a corner than this part of a cell holds it.
const TOUCHES: f64 = 1e-3;
/// Points between two corners that are looked at, to find what lies between.
const LOOKS: usize = 8;
/// Halvings until the place of a wall is known to rounding.
const HALVINGS: usize = 45;
/// No grid shows more modes: what they do to each other would take minutes to find.
pub const MOST_MODES: usize = 256;
/// Corners in the fluid for each mode, at least: four for a half wave along each axis.
const CORNERS_A_MODE: usize = 16;

impl Nodes {
    /// The corners of a box from the origin on, with solids in it.
    ///
    /// # Errors
    /// If cells are too large for the solids and what is between them, or solids shut fluid in, or fill the box.
    pub fn new(cells: [usize; 2], dx: f64, solids: &[Shape<2>]) -> Result<Self, NodesError> {
        let sight = Sight { cells, dx, solids };
        let owners = parallel::map_each(sight.count(), |node| sight.owner(node));
        let joined = sight.joined(&owners)?;
        let (classes, count) = joined.classes();
        let walls = classes[0];
        let mut numbers = vec![None; count];
        let mut islands = 0;
        let of = owners.iter().zip(&classes).map(|(&owner, &class)| match owner {
            FLUID => Node::Fluid,
            _ if class == walls => Node::Wall,
            _ => Node::Island(*numbers[class as usize].get_or_insert_with(|| {
                islands += 1;
                islands - 1
            })),
        });
        let of: Vec<Node> = of.collect();
        let open = [0, 1].map(|axis| parallel::map_each(of.len(), |node| sight.open(node, axis, &owners)));
        let nodes = Self { cells, dx, of, open, islands };
        if !nodes.of.contains(&Node::Fluid) {
            return Err(NodesError::Full);
        }
        sight.all_are_seen(&owners)?;
        nodes.none_is_shut_in(&owners)?;
        Ok(nodes)
    }

    /// How many corners there are along x and y.
    pub fn counts(&self) -> [usize; 2] {
        self.cells.map(|count| count + 1)
    }

    /// Where a corner is, in m.
    pub fn place(&self, node: usize) -> [f64; 2] {
        place(self.cells, self.dx, node)
    }

    /// How many eigenmodes of the fluid there may be, at most, to be found here.
    pub fn most_modes(&self) -> usize {
        let fluid = self.of.iter().filter(|of| **of == Node::Fluid).count();
        (fluid / CORNERS_A_MODE).min(MOST_MODES)
    }

    /// The next corner along an axis.
    pub fn next(&self, node: usize, axis: usize) -> Option<usize> {
        next(self.cells, node, axis)
    }

    /// The corner before it along an axis.
    pub fn previous(&self, node: usize, axis: usize) -> Option<usize> {
        let [_, ny] = self.counts();
        let at = [node / ny, node % ny][axis];
        (at > 0).then(|| node - [ny, 1][axis])
    }

    /// Fluid that no side of the box touches, nor solids that touch one, has a stream function without a beginning.
    fn none_is_shut_in(&self, owners: &[u32]) -> Result<(), NodesError> {
        let mut partition = Partition::new(self.of.len());
        let pairs = || (0..2).flat_map(|axis| self.pairs(axis));
        for (a, b) in pairs().filter(|&(a, b)| self.of[a] == Node::Fluid && self.of[b] == Node::Fluid) {
            partition.join(a, b);
        }
        let (classes, count) = partition.classes();
        let mut touches = vec![false; count];
        for (a, b) in pairs().flat_map(|(a, b)| [(a, b), (b, a)]) {
            touches[classes[a] as usize] |= self.of[a] == Node::Fluid && self.of[b] == Node::Wall;
        }
        for (a, b) in pairs().flat_map(|(a, b)| [(a, b), (b, a)]) {
            if self.of[a] == Node::Fluid && !touches[classes[a] as usize] && owners[b] >= FIRST {
                return Err(NodesError::Chamber((owners[b] - FIRST) as usize));
            }
        }
        Ok(())
    }

    /// All corners with the next along an axis.
    fn pairs(&self, axis: usize) -> impl Iterator<Item = (usize, usize)> {
        (0..self.of.len()).filter_map(move |node| Some((node, self.next(node, axis)?)))
    }
}

/// Who holds a corner: nobody, the sides of the box, or from here on the solids.
const FLUID: u32 = 0;
const SIDES: u32 = 1;
const FIRST: u32 = 2;

fn next(cells: [usize; 2], node: usize, axis: usize) -> Option<usize> {
    let ny = cells[1] + 1;
    let at = [node / ny, node % ny][axis];
    (at < cells[axis]).then(|| node + [ny, 1][axis])
}

fn place(cells: [usize; 2], dx: f64, node: usize) -> [f64; 2] {
    let ny = cells[1] + 1;
    [node / ny, node % ny].map(|k| k as f64 * dx)
}

/// What is where.
struct Sight<'a> {
    cells: [usize; 2],
    dx: f64,
    solids: &'a [Shape<2>],
}

impl Sight<'_> {
    fn count(&self) -> usize {
        (self.cells[0] + 1) * (self.cells[1] + 1)
    }

    fn place(&self, node: usize) -> [f64; 2] {
        place(self.cells, self.dx, node)
    }

    /// The nearest solid and how far from its edge a point is.
    fn nearest(&self, x: [f64; 2]) -> Option<(usize, f64)> {
        let distances = self.solids.iter().map(|solid| solid.signed_distance(x)).enumerate();
        distances.min_by(|a, b| a.1.total_cmp(&b.1))
    }

    fn holder(&self, x: [f64; 2]) -> Option<usize> {
        self.nearest(x).filter(|(_, distance)| *distance <= TOUCHES * self.dx).map(|(solid, _)| solid)
    }

    fn owner(&self, node: usize) -> u32 {
        let ny = self.cells[1] + 1;
        let is_on_side = |axis: usize| {
            let at = [node / ny, node % ny][axis];
            at == 0 || at == self.cells[axis]
        };
        if is_on_side(0) || is_on_side(1) {
            return SIDES;
        }
        self.holder(self.place(node)).map_or(FLUID, |solid| FIRST + solid as u32)
    }

    /// Points on the way from one corner to the next.
    fn between(&self, a: usize, b: usize) -> impl Iterator<Item = [f64; 2]> {
        let (from, to) = (self.place(a), self.place(b));
        (1..LOOKS)
            .map(move |k| [0, 1].map(|axis| from[axis] + (to[axis] - from[axis]) * k as f64 / LOOKS as f64))
    }

    /// Corners that no fluid flows between, and that hang together.
    fn joined(&self, owners: &[u32]) -> Result<Partition, NodesError> {
        let mut joined = Partition::new(owners.len());
        let mut gaps = Vec::new();
        for axis in 0..2 {
            for a in 0..owners.len() {
                let Some(b) = next(self.cells, a, axis) else { continue };
                match [owners[a], owners[b]] {
                    [FLUID, FLUID] => self.none_is_between(a, b, axis, owners)?,
                    [FLUID, _] | [_, FLUID] => {}
                    [SIDES, SIDES] => joined.join(a, b),
                    pair if pair[0] == pair[1] || self.is_closed(a, b) => joined.join(a, b),
                    _ => gaps.push((a, b)),
                }
            }
        }
        for (a, b) in gaps {
            if joined.root(a) != joined.root(b) {
                let solid = |owner: u32| owner.checked_sub(FIRST).map(|solid| solid as usize);
                let (one, other) = (solid(owners[a]), solid(owners[b]));
                return Err(NodesError::Gap(one.or(other).unwrap_or(0), one.and(other)));
            }
        }
        Ok(joined)
    }

    fn is_closed(&self, a: usize, b: usize) -> bool {
        self.between(a, b).all(|x| self.holder(x).is_some())
    }

    /// Looks for solids between two corners in the fluid. What bulges in from a corner beside them is no thin one.
    fn none_is_between(&self, a: usize, b: usize, axis: usize, owners: &[u32]) -> Result<(), NodesError> {
        let distances = [a, b].map(|node| self.nearest(self.place(node)).map_or(f64::INFINITY, |(_, d)| d));
        if distances[0] + distances[1] > self.dx {
            return Ok(());
        }
        // Neither lies on a side of the box.
        let step = if axis == 0 { 1 } else { self.cells[1] + 1 };
        let has_corner = |solid: usize| {
            [a - step, a + step, b - step, b + step].iter().any(|&node| owners[node] == FIRST + solid as u32)
        };
        let thin = self.between(a, b).find_map(|x| self.holder(x)).filter(|&solid| !has_corner(solid));
        thin.map_or(Ok(()), |solid| Err(NodesError::Thin(solid)))
    }

    /// Solids that nothing is known of are too small, unless they lie outside.
    fn all_are_seen(&self, owners: &[u32]) -> Result<(), NodesError> {
        let mut is_seen = vec![false; self.solids.len()];
        for &owner in owners.iter().filter(|owner| **owner >= FIRST) {
            is_seen[(owner - FIRST) as usize] = true;
        }
        let hides = |solid: usize| {
            let bounds = self.solids[solid].bounds();
            let middle = bounds.centre();
            // What others cover is not missed.
            (0..2).all(|axis| (0.0..=self.cells[axis] as f64 * self.dx).contains(&middle[axis]))
                && self.nearest(middle).is_none_or(|(nearest, _)| nearest == solid)
        };
        match (0..self.solids.len()).find(|&solid| !is_seen[solid] && hides(solid)) {
            Some(solid) => Err(NodesError::Thin(solid)),
            None => Ok(()),
        }
    }

    /// The part of the way to the next corner that is in the fluid.
    fn open(&self, a: usize, axis: usize, owners: &[u32]) -> f64 {
        let Some(b) = next(self.cells, a, axis) else { return 0.0 };
        match [owners[a], owners[b]] {
            [FLUID, FLUID] | [FLUID, SIDES] | [SIDES, FLUID] => 1.0,
            [FLUID, _] => self.wall(self.place(a), self.place(b)),
            [_, FLUID] => self.wall(self.place(b), self.place(a)),
            _ => 0.0,
        }
    }

    /// The part of the way from a point in the fluid to one in a solid until a wall.
    fn wall(&self, from: [f64; 2], to: [f64; 2]) -> f64 {
        let (mut lower, mut upper) = (0.0, 1.0);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (lower + upper);
            let x = [0, 1].map(|axis| from[axis] + middle * (to[axis] - from[axis]));
            let is_open = self.nearest(x).is_none_or(|(_, distance)| distance > 0.0);
            *(if is_open { &mut lower } else { &mut upper }) = middle;
        }
        (0.5 * (lower + upper)).max(TOUCHES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disc(centre: [f64; 2], radius: f64) -> Shape<2> {
        Shape::sphere(centre, radius).expect("a disc")
    }

    fn slab(lower: [f64; 2], upper: [f64; 2]) -> Shape<2> {
        Shape::box_between(lower, upper).expect("a box")
    }

    fn nodes(solids: &[Shape<2>]) -> Result<Nodes, NodesError> {
        Nodes::new([40, 20], 0.05, solids)
    }

    #[test]
    fn what_touches_a_side_is_a_wall_and_what_does_not_an_island() {
        let found = nodes(&[
            disc([0.5, 0.5], 0.2),
            disc([0.7, 0.55], 0.2),
            disc([1.5, 0.1], 0.3),
            disc([1.4, 0.7], 0.1),
        ])
        .expect("sound");
        assert_eq!(found.islands, 2);
        let at = |x: [f64; 2]| found.of[(x[0] / 0.05).round() as usize * 21 + (x[1] / 0.05).round() as usize];
        assert_eq!([at([0.5, 0.5]), at([0.8, 0.5])], [Node::Island(0); 2], "they overlap");
        assert_eq!(at([1.4, 0.7]), Node::Island(1));
        assert_eq!([at([1.5, 0.2]), at([0.0, 0.5]), at([2.0, 1.0])], [Node::Wall; 3]);
        assert_eq!(at([1.1, 0.5]), Node::Fluid);
    }

    #[test]
    fn the_open_part_of_a_way_ends_at_the_wall() {
        let found = nodes(&[disc([1.0, 0.5], 0.23)]).expect("sound");
        let mut cut = 0;
        for axis in 0..2 {
            for (a, b) in found.pairs(axis) {
                let place = |node: usize| [node / 21, node % 21].map(|k| k as f64 * 0.05);
                let (fluid, solid) = match [found.of[a], found.of[b]] {
                    [Node::Fluid, Node::Island(_)] => (place(a), place(b)),
                    [Node::Island(_), Node::Fluid] => (place(b), place(a)),
                    _ => continue,
                };
                let at = [0, 1].map(|k| fluid[k] + found.open[axis][a] * (solid[k] - fluid[k]));
                assert!(((at[0] - 1.0).hypot(at[1] - 0.5) - 0.23).abs() < 1e-4);
                cut += 1;
            }
        }
        assert!(cut > 30);
        assert_eq!(found.open[0][22], 1.0, "in the midst of the fluid");
    }

    #[test]
    fn what_cells_are_too_large_for_is_told() {
        let slit = |gap: f64| [slab([0.5, 0.3], [1.005, 0.7]), slab([1.005 + gap, 0.3], [1.5, 0.7])];
        let problem = |solids: &[Shape<2>]| nodes(solids).err();
        assert_eq!(problem(&slit(0.04)), Some(NodesError::Gap(0, Some(1))));
        assert!(nodes(&slit(0.12)).is_ok());
        assert_eq!(nodes(&slit(0.0)).expect("one block").islands, 1);
        assert_eq!(problem(&[slab([0.5, 0.02], [1.0, 0.5])]), Some(NodesError::Gap(0, None)));
        assert_eq!(problem(&[slab([0.51, 0.2], [0.54, 0.8])]), Some(NodesError::Thin(0)));
        assert_eq!(problem(&[disc([0.52, 0.52], 0.01)]), Some(NodesError::Thin(0)));
        assert_eq!(problem(&[slab([-1.0, -1.0], [3.0, 3.0])]), Some(NodesError::Full));
    }

    #[test]
    fn discs_that_touch_are_one_island() {
        assert_eq!(nodes(&[disc([0.8, 0.5], 0.2), disc([1.2, 0.5], 0.2)]).expect("sound").islands, 1);
    }

    #[test]
    fn fluid_in_a_hollow_island_is_refused_and_beside_a_wall_is_not() {
        let hollow = slab([0.5, 0.2], [1.3, 0.8]).difference(slab([0.7, 0.4], [1.1, 0.6]));
        assert_eq!(nodes(&[hollow]).err(), Some(NodesError::Chamber(0)));
        assert_eq!(nodes(&[slab([0.9, -0.1], [1.1, 1.1])]).expect("two rooms").islands, 0);
    }
}

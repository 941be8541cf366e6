//! The stream functions of a domain: their energy, and their products as vorticities.

use std::sync::Arc;

use meniscus_core::grid::{Blocks, Slot, block_len};
use meniscus_core::nodes::{Node, Nodes};
use meniscus_linalg::{ExtraUnknown, Patch, PlaneSolver, SolveParams};

use super::error::DomainError;

/// Two forms on the stream functions that are zero on walls and one number on each island: ∫∇ψ·∇χ by differences along grid lines, to the walls where these cut them, and ∫ψ χ by the
/// trapezoid rule on the same lines. Both are of second order, also for what is not zero on islands: these hold the half of each cut piece that is theirs.
///
/// Lists have the corners in the fluid in places of their own, and the islands at the end.
pub struct Laplacian {
    solver: PlaneSolver,
    /// For each corner in the fluid its place; for each on an island that of the island.
    places: Vec<Option<usize>>,
    /// The second form, which is diagonal, in m².
    masses: Vec<f64>,
    islands: usize,
}

/// What is left of the right-hand side.
const TOLERANCE: f64 = 1e-8;
const MOST_ITERATIONS: usize = 200;

impl Laplacian {
    pub fn new(nodes: &Nodes) -> Result<Self, DomainError> {
        let inner = nodes.cells.map(|count| count.saturating_sub(1));
        let counts = nodes.counts();
        let node = |cell: [usize; 2]| (cell[0] + 1) * counts[1] + cell[1] + 1;
        let fluid: Vec<[usize; 2]> = (0..inner[0])
            .flat_map(|i| (0..inner[1]).map(move |j| [i, j]))
            .filter(|&cell| nodes.of[node(cell)] == Node::Fluid)
            .collect();
        let blocks = Arc::new(Blocks::from_list(inner, fluid.iter().map(|cell| cell.map(|c| c / 8))));
        let slots = blocks.slots();
        let mut places = vec![None; nodes.of.len()];
        for &cell in &fluid {
            places[node(cell)] = blocks.locate(cell.map(|c| c as i64)).map(|slot| slot.flat::<2>());
        }
        for (place, of) in places.iter_mut().zip(&nodes.of) {
            if let Node::Island(island) = *of {
                *place = Some(slots + island);
            }
        }
        let mut masses = vec![0.0; slots + nodes.islands];
        let mut extras = vec![ExtraUnknown::default(); nodes.islands];
        for &cell in &fluid {
            let from = node(cell);
            let place = places[from].expect("in the fluid");
            for way in ways(nodes, from) {
                // A quarter for each of four ways, of which each of its ends has a half.
                let share = 0.25 * way.open * nodes.dx * nodes.dx;
                masses[place] += share;
                if let Node::Island(island) = nodes.of[way.to] {
                    masses[slots + island] += share;
                    extras[island].couplings.push((place, 1.0 / way.open));
                }
            }
        }
        let fill = |block: usize, patch: &mut Patch<2>| {
            for local in 0..block_len::<2>() {
                let slot = Slot { block, local };
                let cell = blocks.cell(slot);
                if !blocks.is_inside(slot) || nodes.of[node(cell)] != Node::Fluid {
                    continue;
                }
                for way in ways(nodes, node(cell)) {
                    match nodes.of[way.to] {
                        Node::Fluid => patch.set_face(way.axis, way.side, local, 1.0),
                        Node::Wall => patch.anchors[local] += 1.0 / way.open,
                        Node::Island(_) => {}
                    }
                }
            }
        };
        let solver = PlaneSolver::new(blocks.clone(), &fill, &extras).map_err(|_| DomainError::Unsolved)?;
        Ok(Self { solver, places, masses, islands: nodes.islands })
    }

    /// How long lists are.
    pub fn len(&self) -> usize {
        self.masses.len()
    }

    /// How many unknowns there are.
    pub fn unknowns(&self) -> usize {
        self.masses.iter().filter(|mass| **mass > 0.0).count()
    }

    /// ∫ψ χ of unit functions, one after another.
    pub fn masses(&self) -> &[f64] {
        &self.masses
    }

    /// The place of an island in lists.
    pub fn island(&self, island: usize) -> usize {
        self.len() - self.islands + island
    }

    /// The first form as a matrix, times a list.
    pub fn apply(&self, x: &[f64], y: &mut [f64]) {
        self.solver.apply(x, y);
    }

    /// Finds the list whose product is another.
    pub fn solve(&mut self, b: &[f64]) -> Result<Vec<f64>, DomainError> {
        let params = SolveParams { tolerance: TOLERANCE, max_iterations: MOST_ITERATIONS };
        let mut x = vec![0.0; b.len()];
        self.solver.solve(b, &mut x, &params).map_err(|_| DomainError::Unsolved)?;
        Ok(x)
    }

    /// The values of a list at all corners.
    pub fn at_nodes(&self, list: &[f64]) -> Vec<f64> {
        self.places.iter().map(|place| place.map_or(0.0, |place| list[place])).collect()
    }

    /// What the differences of the stream function of a velocity along the ways between corners make of the first form with each unit function.
    pub fn differences(&self, nodes: &Nodes, velocity: impl Fn([f64; 2]) -> [f64; 2]) -> Vec<f64> {
        let mut sums = vec![0.0; self.len()];
        for from in (0..nodes.of.len()).filter(|&node| nodes.of[node] == Node::Fluid) {
            let place = self.places[from].expect("in the fluid");
            for way in ways(nodes, from) {
                let forth = 2.0 * way.side as f64 - 1.0;
                let mut middle = nodes.place(from);
                middle[way.axis] += 0.5 * forth * way.open * nodes.dx;
                let [u, v] = velocity(middle);
                // The difference over the open part of the way.
                let value = forth * nodes.dx * if way.axis == 0 { -v } else { u };
                sums[place] -= value;
                if let Node::Island(island) = nodes.of[way.to] {
                    sums[self.len() - self.islands + island] += value;
                }
            }
        }
        sums
    }

    /// The part of the first form that is along x, of two functions at all corners, with a weight for each way by the corner that it begins at.
    pub fn along_x(nodes: &Nodes, a: &[f64], b: &[f64], weight: impl Fn(usize) -> f64) -> f64 {
        let ny = nodes.counts()[1];
        let way = |from: usize| {
            let open = nodes.open[0][from];
            if open == 0.0 {
                return 0.0;
            }
            weight(from) * (a[from + ny] - a[from]) * (b[from + ny] - b[from]) / open
        };
        (0..nodes.of.len() - ny).map(way).sum()
    }
}

/// A way from a corner in the fluid to the next.
struct Way {
    to: usize,
    axis: usize,
    side: usize,
    /// The part of it that is in the fluid.
    open: f64,
}

fn ways(nodes: &Nodes, from: usize) -> impl Iterator<Item = Way> {
    (0..2).flat_map(move |axis| {
        let (before, after) = (nodes.previous(from, axis), nodes.next(from, axis));
        let before = before.map(|to| Way { to, axis, side: 0, open: nodes.open[axis][to] });
        let after = after.map(|to| Way { to, axis, side: 1, open: nodes.open[axis][from] });
        before.into_iter().chain(after)
    })
}

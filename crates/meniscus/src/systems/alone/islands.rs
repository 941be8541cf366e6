//! Between resting solids in the plane.

use std::collections::BTreeMap;
use std::sync::Arc;

use meniscus_core::nodes::{Node, Nodes};
use meniscus_core::shape::Shape;
use meniscus_modal::domain::{Dynamics, Modes};
use meniscus_modal::flow::Decay;
use meniscus_modal::{Alone, Velocities};
use meniscus_scene::FluidSetup;

use super::super::modes::of;
use super::{Faces, Medium, drawn};
use crate::error::StepFailure;
use crate::world::World;

/// The modes between solids.
pub struct Islands {
    modes: Arc<Modes>,
    solids: Vec<Shape<2>>,
    /// The name of a solid of each island.
    names: Vec<String>,
}

impl Islands {
    /// Whether a solid may be as near as a cell.
    fn is_near_solids(&self, x: [f64; 2]) -> bool {
        let nodes = self.modes.nodes();
        let ny = nodes.counts()[1];
        let [i, j] = [0, 1].map(|axis| ((x[axis] / nodes.dx).max(0.0) as usize).min(nodes.cells[axis] - 1));
        let corner = i * ny + j;
        [corner, corner + 1, corner + ny, corner + ny + 1].iter().any(|&node| nodes.of[node] != Node::Fluid)
    }

    fn nearest(&self, x: [f64; 2]) -> Option<(usize, f64)> {
        let distances = self.solids.iter().map(|solid| solid.signed_distance(x)).enumerate();
        distances.min_by(|a, b| a.1.total_cmp(&b.1))
    }
}

impl Medium<2> for Islands {
    type Dynamics = Dynamics;

    fn find(world: &World<2>) -> Result<Self, StepFailure> {
        let (setup, grid) = (&world.setup, &world.setup.grid);
        let solids: Vec<Shape<2>> = setup.solids.iter().map(|solid| solid.shape.clone()).collect();
        let modes = match world.domain.get() {
            Some(modes) => modes.clone(),
            None => {
                let nodes = Nodes::new(grid.cells, grid.dx, &solids)?;
                let modes = Arc::new(Modes::find(&nodes, of(setup).count)?);
                world.domain.get_or_init(|| modes).clone()
            }
        };
        let mut islands = Self { modes, solids, names: Vec::new() };
        let named = |island: usize| {
            let corner = islands.modes.nodes().of.iter().position(|of| *of == Node::Island(island));
            let nearest = corner.and_then(|corner| islands.nearest(islands.modes.nodes().place(corner)));
            nearest.map_or_else(String::new, |(solid, _)| setup.solids[solid].name.clone())
        };
        islands.names = (0..islands.modes.nodes().islands).map(named).collect();
        Ok(islands)
    }

    fn alone(&self) -> Alone<Dynamics> {
        Alone::new(Dynamics::new(&self.modes), Decay::of_domain(&self.modes))
    }

    fn volume(&self) -> (f64, f64) {
        (self.modes.area(), 0.25)
    }

    fn start(&self, fluid: &FluidSetup<2>) -> Result<Vec<f64>, StepFailure> {
        Ok(self.modes.nearest(|x| drawn(fluid, x))?)
    }

    fn enstrophy(&self, flow: &[f64]) -> f64 {
        self.modes.enstrophy(flow)
    }

    fn circulations(&self, flow: &[f64]) -> BTreeMap<String, f64> {
        self.names.iter().cloned().zip(self.modes.circulations(flow)).collect()
    }

    fn velocity(&self, flow: &[f64], x: [f64; 2]) -> [f64; 2] {
        if self.is_fluid(x) { self.modes.velocity(flow, x) } else { [0.0; 2] }
    }

    fn velocities(&self, flow: &[f64]) -> Velocities {
        self.modes.velocities(&self.modes.streams(flow))
    }

    fn faces(&self, flow: &[f64], cells: [usize; 2], dx: f64) -> Faces<2> {
        let streams = self.modes.streams(flow);
        let ny = cells[1] + 1;
        let along_x = (0..=cells[0]).flat_map(|i| (0..cells[1]).map(move |j| i * ny + j));
        let along_y = (0..cells[0]).flat_map(|i| (0..=cells[1]).map(move |j| i * ny + j));
        let of = [
            along_x.map(|node| (streams[node + 1] - streams[node]) / dx).collect(),
            along_y.map(|node| (streams[node] - streams[node + ny]) / dx).collect(),
        ];
        Faces { cells, of }
    }

    fn is_fluid(&self, x: [f64; 2]) -> bool {
        self.nearest(x).is_none_or(|(_, distance)| distance > 0.0)
    }

    fn keep_out(&self, x: &mut [f32; 2]) {
        let at = x.map(f64::from);
        if !self.is_near_solids(at) {
            return;
        }
        let Some((solid, distance)) = self.nearest(at).filter(|(_, distance)| *distance < 0.0) else {
            return;
        };
        let solid = &self.solids[solid];
        // Along the slope of the distance.
        let h = 1e-3 * self.modes.nodes().dx;
        let slope = [0, 1].map(|axis| {
            let (mut before, mut after) = (at, at);
            before[axis] -= h;
            after[axis] += h;
            (solid.signed_distance(after) - solid.signed_distance(before)) / (2.0 * h)
        });
        let square = slope[0] * slope[0] + slope[1] * slope[1];
        if square > 0.0 {
            *x = [0, 1].map(|axis| (at[axis] - distance / square * slope[axis]) as f32);
        }
    }
}

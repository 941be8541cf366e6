//! In a box in space.

use meniscus_modal::space::{Dynamics, Modes};
use meniscus_modal::{Alone, Velocities};
use meniscus_scene::FluidSetup;

use super::super::modes::of;
use super::{Faces, Medium};
use crate::error::StepFailure;
use crate::world::World;

/// The modes of a box.
pub struct Space {
    modes: Modes,
}

impl Medium<3> for Space {
    type Dynamics = Dynamics;

    fn find(world: &World<3>) -> Result<Self, StepFailure> {
        let grid = &world.setup.grid;
        let size = grid.cells.map(|count| count as f64 * grid.dx);
        Ok(Self { modes: Modes::new(size, of(&world.setup).count) })
    }

    fn alone(&self) -> Alone<Dynamics> {
        Alone::new(Dynamics::new(&self.modes), self.modes.decay())
    }

    fn volume(&self) -> (f64, f64) {
        (self.modes.volume(), 0.125)
    }

    fn start(&self, fluid: &FluidSetup<3>) -> Result<Vec<f64>, StepFailure> {
        let mut flow = vec![0.0; self.modes.len()];
        for wave in &fluid.waves {
            let of_wave = self.modes.wave(wave.half_waves, wave.axis, wave.vorticity);
            let of_wave = of_wave.ok_or("a wave is none of the modes")?;
            flow.iter_mut().zip(of_wave).for_each(|(to, c)| *to += c);
        }
        Ok(flow)
    }

    fn enstrophy(&self, flow: &[f64]) -> f64 {
        self.modes.enstrophy(flow)
    }

    fn velocity(&self, flow: &[f64], x: [f64; 3]) -> [f64; 3] {
        self.modes.velocity(flow, x)
    }

    fn velocities(&self, flow: &[f64]) -> Velocities<3> {
        self.modes.velocities(flow)
    }

    fn faces(&self, flow: &[f64], cells: [usize; 3], _: f64) -> Faces<3> {
        Faces { cells, of: [0, 1, 2].map(|axis| self.modes.through_faces(flow, axis, cells)) }
    }

    fn is_fluid(&self, _: [f64; 3]) -> bool {
        true
    }

    fn keep_out(&self, _: &mut [f32; 3]) {}
}

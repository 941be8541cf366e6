//! What the stages of a substep share.

use crate::boundary::Boundary;
use crate::params::Params;
use crate::surroundings::Surroundings;

/// What a substep is given.
#[derive(Clone, Copy)]
pub struct Given<'a, const D: usize> {
    /// The numbers of the simulation.
    pub params: &'a Params<D>,
    /// What surrounds the liquid, with the rigid bodies among the solids: see [`Surroundings::with_bodies`].
    pub surroundings: &'a Surroundings<D>,
    /// How long it is, in s.
    pub dt: f64,
}

impl<'a, const D: usize> Given<'a, D> {
    /// The substep, when its walls have been found.
    pub fn with_walls(self, boundary: &'a Boundary<D>) -> Substep<'a, D> {
        let Self { params, surroundings, dt } = self;
        Substep { params, surroundings, dt, boundary }
    }

    /// How many cells something of unit velocity goes.
    pub fn dt_in_cells(self) -> f32 {
        (self.dt / self.params.grid.dx) as f32
    }
}

/// One substep: what it is [given](Given), and the walls that follow from that. Its stages work with it and leave it as it is.
#[derive(Clone, Copy)]
pub struct Substep<'a, const D: usize> {
    /// The numbers of the simulation.
    pub params: &'a Params<D>,
    /// What surrounds the liquid, with the rigid bodies among the solids.
    pub surroundings: &'a Surroundings<D>,
    /// How long it is, in s.
    pub dt: f64,
    /// The walls, where solids are at the end of their motion unless it is said otherwise, seen from the blocks of the fields.
    pub boundary: &'a Boundary<D>,
}

impl<const D: usize> Substep<'_, D> {
    /// How many cells something of unit velocity goes.
    pub fn dt_in_cells(self) -> f32 {
        (self.dt / self.params.grid.dx) as f32
    }

    /// What gravity adds to each velocity, in m/s.
    pub fn kick(self) -> [f64; D] {
        self.params.gravity.map(|g| g * self.dt)
    }
}

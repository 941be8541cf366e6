//! The energies of a projection, and the work that is done in it.

/// Kinetic energies over the faces that the projection sets, in the norm that it minimises, in J.
///
/// `after = before - change` plus all [`Work`], up to the tolerance of the solve.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct KineticEnergy {
    /// Of the tentative velocities.
    pub before: f64,
    /// Of the projected velocities.
    pub after: f64,
    /// Of the difference of the two.
    pub change: f64,
}

impl KineticEnergy {
    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            before: self.before + other.before,
            after: self.after + other.after,
            change: self.change + other.change,
        }
    }

    pub(super) fn scaled(self, s: f64) -> Self {
        Self { before: s * self.before, after: s * self.after, change: s * self.change }
    }
}

/// The work of what moves in a projection, in J: of the pressure at what it moves to, or of what pushes beside it, along the
/// velocity that it leads to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Work {
    /// Of cells, tiles and bubbles that are made to grow.
    pub corrections: f64,
    /// Of solids that move, and of sources.
    pub solids: f64,
    /// Of surface tension.
    pub tension: f64,
    /// Of the fluid outside of open sides.
    pub outside: f64,
    /// Of bodies that touch each other and solids.
    pub contacts: f64,
}

impl Work {
    pub(super) fn scaled(self, s: f64) -> Self {
        let Self { corrections, solids, tension, outside, contacts } = self;
        let [corrections, solids, tension, outside, contacts] =
            [corrections, solids, tension, outside, contacts].map(|work| s * work);
        Self { corrections, solids, tension, outside, contacts }
    }

    /// All of it.
    pub fn total(&self) -> f64 {
        self.corrections + self.solids + self.tension + self.outside + self.contacts
    }
}

/// The mass of the fluids as their faces have it, and their momentum, by axis, in kg and kg m/s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inertia<const D: usize> {
    /// The mass.
    pub mass: [f64; D],
    /// The momentum.
    pub momentum: [f64; D],
}

impl<const D: usize> Inertia<D> {
    pub(super) const NONE: Self = Self { mass: [0.0; D], momentum: [0.0; D] };

    pub(super) fn plus(mut self, other: Self) -> Self {
        for axis in 0..D {
            self.mass[axis] += other.mass[axis];
            self.momentum[axis] += other.momentum[axis];
        }
        self
    }

    pub(super) fn scaled(self, s: f64) -> Self {
        Self { mass: self.mass.map(|m| s * m), momentum: self.momentum.map(|p| s * p) }
    }

    /// By how much the energy has grown if all velocities have changed by this, in J.
    pub fn gain(&self, change: [f64; D]) -> f64 {
        (0..D).map(|axis| change[axis] * (self.momentum[axis] - 0.5 * change[axis] * self.mass[axis])).sum()
    }
}

/// What a gradient of the pressure did to faces, in terms of a cell full of liquid; energies are doubled.
#[derive(Clone, Copy)]
pub(super) struct Pushed<const D: usize> {
    pub energy: KineticEnergy,
    /// With the velocities before.
    pub inertia: Inertia<D>,
    pub momentum_after: [f64; D],
    /// The work of growth.
    pub growth: f64,
    /// The work of the jumps within the domain, and of those on its sides.
    pub jumps: [f64; 2],
}

impl<const D: usize> Pushed<D> {
    pub(super) const NOTHING: Self = Self {
        energy: KineticEnergy { before: 0.0, after: 0.0, change: 0.0 },
        inertia: Inertia::NONE,
        momentum_after: [0.0; D],
        growth: 0.0,
        jumps: [0.0; 2],
    };

    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            energy: self.energy.plus(other.energy),
            inertia: self.inertia.plus(other.inertia),
            momentum_after: std::array::from_fn(|a| self.momentum_after[a] + other.momentum_after[a]),
            growth: self.growth + other.growth,
            jumps: [self.jumps[0] + other.jumps[0], self.jumps[1] + other.jumps[1]],
        }
    }
}

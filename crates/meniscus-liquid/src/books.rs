//! The books of a substep: what changed the volume of the liquid and the kinetic energy, by cause.
//!
//! Every stage that changes the level set or the velocity measures what it did. A stage that does not would show: the entries would no longer add up to
//! the change. In the projection, what is lost and what every force does are measured each by itself, so that the sum also tells whether the pressure
//! was solved for.

use serde::Serialize;

/// A book: a number for each cause.
macro_rules! book {
    ($(#[$about:meta])* $book:ident { $($(#[$meaning:meta])* $entry:ident,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
        pub struct $book {
            $($(#[$meaning])* pub $entry: f64,)*
        }

        impl $book {
            /// The sum of all entries.
            pub fn change(&self) -> f64 {
                [$(self.$entry),*].iter().sum()
            }
        }
    };
}

book! {
    /// What changed the volume of the liquid in a substep, by cause, in m³ (2D: m²). The sum of all entries is the change.
    VolumeBook {
        /// What sources filled of themselves and pushed out.
        poured,
        /// What sinks took: not positive.
        drained,
        /// What came in through open sides less what went out.
        left,
        /// What was put in since the substep before, by whoever watches, less what solids put there took the place of.
        placed,
        /// What the advection of the level set made beyond what flowed.
        advected,
        /// What holding the level set to the particles made: balls around those that have escaped, less what is far from all of them.
        particles,
        /// What making the level set a distance again made.
        redistanced,
        /// What made films as thick as a layer of particles.
        films,
        /// Specks of air that were filled.
        specks,
        /// The correction by a divergence of the velocity: what was asked for.
        divergence,
        /// The correction by a shift of the level set.
        shifted,
    }
}

impl VolumeBook {
    /// What should have changed the volume.
    pub fn wanted(&self) -> f64 {
        self.poured + self.drained + self.left
    }

    /// What corrections changed.
    pub fn corrected(&self) -> f64 {
        self.divergence + self.shifted
    }
}

book! {
    /// What changed the kinetic energy of fluids and bodies in a substep, by cause, in J (2D: J/m). The sum of all entries is the change, up to
    /// the tolerance of the pressure solve.
    EnergyBook {
        /// Fluids on their way from the last grid to this one, through particles: what advection and transfers lose, and what comes and goes with
        /// sources, sinks, open sides and liquid that is put in. In the first substep the energy that everything begins with.
        transfer,
        /// Bodies from the last substep to this one: what hits and friction take.
        hits,
        /// The work of gravity on fluids and bodies.
        gravity,
        /// The work of forces that are put on bodies.
        pushes,
        /// The work of smoke that is lighter or heavier than the fluid.
        buoyancy,
        /// What viscosity takes.
        viscosity,
        /// What the projection takes: the energy of the change of velocity that forces and pressure make, which they make at once instead of
        /// little by little. Never positive, nothing where all is at rest.
        projection,
        /// The work of solids that move.
        solids,
        /// The work of sources that push.
        sources,
        /// The work of surface tension.
        tension,
        /// The work of the fluid outside of open sides.
        outside,
        /// The work of bodies that touch on each other: what impacts take.
        contacts,
        /// The work of corrections of volumes.
        corrections,
    }
}

/// An entry of the book.
type Entry = fn(&mut VolumeBook) -> &mut f64;

/// The book of volumes as it is written.
#[derive(Clone, Debug)]
pub struct Ledger {
    cell_volume: f64,
    /// What each block holds, as measured last, in cells.
    by_block: Vec<f64>,
    volume: f64,
    book: VolumeBook,
}

impl Ledger {
    /// A new page: what each block holds, in cells of this volume.
    pub fn new(by_block: Vec<f64>, cell_volume: f64) -> Self {
        let volume = by_block.iter().sum::<f64>() * cell_volume;
        Self { cell_volume, by_block, volume, book: VolumeBook::default() }
    }

    /// The volume of the liquid, in m³ (2D: m²).
    pub fn volume(&self) -> f64 {
        self.volume
    }

    /// What each block holds, in cells.
    pub fn by_block(&self) -> &[f64] {
        &self.by_block
    }

    /// Books what has changed since the last measurement.
    pub fn book(&mut self, entry: Entry, by_block: Vec<f64>) {
        let volume = by_block.iter().sum::<f64>() * self.cell_volume;
        *entry(&mut self.book) += volume - self.volume;
        (self.volume, self.by_block) = (volume, by_block);
    }

    /// Books a part of what has been booked as advected by its cause.
    pub fn flowed(&mut self, entry: Entry, volume: f64) {
        *entry(&mut self.book) += volume;
        self.book.advected -= volume;
    }

    /// Books what has changed before the page was begun.
    pub fn carry(&mut self, entry: Entry, volume: f64) {
        *entry(&mut self.book) += volume;
    }

    /// What has been booked so far.
    pub fn page(&self) -> VolumeBook {
        self.book
    }
}

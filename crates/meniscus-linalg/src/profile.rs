//! Where the time of a solve goes.

use std::time::Instant;

/// The kernels of a solve on the finest level, and everything below it as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// q = A p and p · q, f64.
    Product,
    /// r · z and p = z + beta p.
    Direction,
    /// x += alpha p, r -= alpha q, r · r, and r in f32, without what is in the null space.
    Update,
    /// The sweep before the coarse correction, from zero.
    SmoothDown,
    /// The residual, restricted.
    Restrict,
    /// All coarser levels.
    Coarse,
    /// The coarse correction added, and the sweep after it.
    SmoothUp,
}

impl Kernel {
    /// All kernels, in the order of an iteration.
    pub const ALL: [Self; 7] = [
        Self::SmoothDown,
        Self::Restrict,
        Self::Coarse,
        Self::SmoothUp,
        Self::Direction,
        Self::Product,
        Self::Update,
    ];
}

/// Seconds by kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Profile {
    seconds: [f64; 7],
}

impl Profile {
    /// The seconds spent in a kernel.
    pub fn seconds(&self, kernel: Kernel) -> f64 {
        self.seconds[kernel as usize]
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.seconds.iter_mut().zip(&other.seconds).for_each(|(sum, s)| *sum += s);
    }

    pub(crate) fn time<R>(&mut self, kernel: Kernel, f: impl FnOnce() -> R) -> R {
        let start = Instant::now();
        let result = f();
        self.seconds[kernel as usize] += start.elapsed().as_secs_f64();
        result
    }
}

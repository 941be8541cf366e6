//! The two precisions of the solver and the rows of cells that its kernels work on.

use std::ops::{Add, AddAssign, Div, Mul, Sub};

/// f32 or f64: the preconditioner works in the first, the outer iteration in the second.
pub(crate) trait Real:
    Copy
    + Default
    + PartialEq
    + PartialOrd
    + Send
    + Sync
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + AddAssign
    + 'static
{
    const ZERO: Self;
    const ONE: Self;
    const INFINITY: Self;
    fn of(value: f64) -> Self;
    fn f64(self) -> f64;
    fn from_byte(value: u8) -> Self;
    fn narrow(value: f32) -> Self;
}

impl Real for f32 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    const INFINITY: Self = f32::INFINITY;
    #[inline(always)]
    fn of(value: f64) -> Self {
        value as f32
    }
    #[inline(always)]
    fn f64(self) -> f64 {
        f64::from(self)
    }
    #[inline(always)]
    fn from_byte(value: u8) -> Self {
        Self::from(value)
    }
    #[inline(always)]
    fn narrow(value: f32) -> Self {
        value
    }
}

impl Real for f64 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    const INFINITY: Self = f64::INFINITY;
    #[inline(always)]
    fn of(value: f64) -> Self {
        value
    }
    #[inline(always)]
    fn f64(self) -> f64 {
        self
    }
    #[inline(always)]
    fn from_byte(value: u8) -> Self {
        Self::from(value)
    }
    #[inline(always)]
    fn narrow(value: f32) -> Self {
        Self::from(value)
    }
}

/// A row of a block along x: the unit that the kernels vectorise over.
pub(crate) type Row<V> = [V; 8];

/// A row computed cell by cell. (`array::map` and `from_fn` are not certain to be inlined, and a call would
/// leave the vector registers.)
#[inline(always)]
pub(crate) fn row_from<V: Copy + Default>(f: impl Fn(usize) -> V) -> Row<V> {
    let mut row = [V::default(); 8];
    for (i, value) in row.iter_mut().enumerate() {
        *value = f(i);
    }
    row
}

/// Rows in a block.
pub(crate) const fn rows<const D: usize>() -> usize {
    8usize.pow(D as u32 - 1)
}

/// The row that starts at `at`.
#[inline(always)]
pub(crate) fn row_of<V: Copy>(values: &[V], at: usize) -> &Row<V> {
    values[at..at + 8].try_into().expect("a row has eight cells")
}

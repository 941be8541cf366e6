//! Functions that are compiled with the crate that has them, in two and in three dimensions.
//!
//! A function with a const parameter is compiled anew in every crate that calls it, and a step takes a minute to compile. What takes
//! long is therefore pointed to by statics, for which it is compiled in its own crate, and what others call only picks the one of its
//! dimension.

use std::any::Any;

/// Pointers to a function, one for each dimension.
pub type InBoth = [&'static (dyn Any + Sync); 2];

/// The one of the type `F`.
///
/// # Panics
/// If there is none: in one dimension, or four.
pub fn picked<F: Copy + 'static>(both: InBoth) -> F {
    let own = both.into_iter().find_map(|f| (f as &dyn Any).downcast_ref());
    *own.expect("there are two or three dimensions")
}

//! Functions that are compiled with the crate that has them, in two and in three dimensions.
//!
//! A function with a const parameter is compiled anew in every crate that calls it, and a step takes a minute to compile. What takes
//! long is therefore pointed to by statics, for which it is compiled in its own crate, and what others call only picks the one of its
//! dimension: see [`compiled_here!`](crate::compiled_here).

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

/// The function of a dimension, of those for two and three dimensions that are compiled in this crate, with its type:
/// `compiled_here!(advance::<D> as Step<D>)`. Where the crate's own tests are compiled there is nobody else to compile it for, and they have what they
/// use alone.
#[macro_export]
macro_rules! compiled_here {
    ($function:ident::<$d:ident> as $type:ident<$same:ident>) => {
        $crate::compiled_here!(@ $type, $d, $function::<2>, $function::<3>, $function::<$d>)
    };
    ($owner:ident::<$d:ident>::$function:ident as $type:ident<$same:ident>) => {
        $crate::compiled_here!(@ $type, $d, $owner::<2>::$function, $owner::<3>::$function, $owner::<$d>::$function)
    };
    ($owner:ident::$function:ident::<$d:ident> as $type:ident<$same:ident>) => {
        $crate::compiled_here!(@ $type, $d, $owner::$function::<2>, $owner::$function::<3>, $owner::$function::<$d>)
    };
    (@ $type:ident, $d:ident, $plane:expr, $space:expr, $own:expr) => {{
        #[cfg(not(test))]
        let function = {
            static BOTH: $crate::compiled::InBoth = [&($plane as $type<2>), &($space as $type<3>)];
            $crate::compiled::picked::<$type<$d>>(BOTH)
        };
        #[cfg(test)]
        let function = $own as $type<$d>;
        function
    }};
}

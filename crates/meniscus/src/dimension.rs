//! What differs by the dimension of a scene.

use serde::Serialize;

/// One of two that differ in their dimension.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum InDimension<P, S> {
    Plane(P),
    Space(S),
}

impl<P, S> InDimension<P, S> {
    /// 2 or 3.
    pub fn dimension(&self) -> usize {
        match self {
            Self::Plane(_) => 2,
            Self::Space(_) => 3,
        }
    }
}

/// The same call in either dimension.
macro_rules! either {
    ($of:expr, $session:ident => $call:expr) => {
        match $of {
            $crate::dimension::InDimension::Plane($session) => $call,
            $crate::dimension::InDimension::Space($session) => $call,
        }
    };
}
pub(crate) use either;

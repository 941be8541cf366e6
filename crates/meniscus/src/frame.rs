//! A moment of a simulation, live or stored, to be looked at.

use std::borrow::Cow;

use meniscus_scene::Setup;

use crate::simulation::{InDimension, either};

/// A moment of a simulation: what a live one lends, or what a run has stored.
#[derive(Clone, Debug)]
pub struct Frame<'a>(InDimension<Moment<'a, 2>, Moment<'a, 3>>);

/// A moment and its scene.
#[derive(Clone, Debug)]
pub(crate) struct Moment<'a, const D: usize> {
    pub setup: Cow<'a, Setup<D>>,
    pub frame: meniscus_io::Frame<'a, D>,
}

impl<'a> Frame<'a> {
    pub(crate) fn of_plane(setup: &'a Setup<2>, frame: meniscus_io::Frame<'a, 2>) -> Self {
        Self(InDimension::Plane(Moment { setup: Cow::Borrowed(setup), frame }))
    }

    pub(crate) fn of_space(setup: &'a Setup<3>, frame: meniscus_io::Frame<'a, 3>) -> Self {
        Self(InDimension::Space(Moment { setup: Cow::Borrowed(setup), frame }))
    }

    /// Its number.
    pub fn number(&self) -> u32 {
        either!(&self.0, moment => moment.frame.frame)
    }

    /// The simulated time, in s.
    pub fn time(&self) -> f64 {
        either!(&self.0, moment => moment.frame.time)
    }

    /// 2 or 3.
    pub fn dimension(&self) -> usize {
        match self.0 {
            InDimension::Plane(_) => 2,
            InDimension::Space(_) => 3,
        }
    }

    /// The names of what it holds.
    pub fn names(&self) -> Vec<&str> {
        either!(&self.0, moment => moment.frame.channels.keys().map(String::as_str).collect())
    }

    /// All that it holds, typed; none if it is in space.
    pub fn plane(&self) -> Option<&meniscus_io::Frame<'a, 2>> {
        match &self.0 {
            InDimension::Plane(moment) => Some(&moment.frame),
            InDimension::Space(_) => None,
        }
    }

    /// All that it holds, typed; none if it is in the plane.
    pub fn space(&self) -> Option<&meniscus_io::Frame<'a, 3>> {
        match &self.0 {
            InDimension::Plane(_) => None,
            InDimension::Space(moment) => Some(&moment.frame),
        }
    }
}

//! Straight vortex sheets.

use std::f64::consts::PI;

use super::body::Placement;

/// A straight piece of a body's outline, which has the body on its left: a vortex sheet of constant strength.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Panel {
    /// Where it begins, in m.
    pub start: [f64; 2],
    /// Its middle.
    pub middle: [f64; 2],
    /// Its direction, of unit length.
    pub tangent: [f64; 2],
    /// Its length, in m.
    pub length: f64,
}

impl Panel {
    /// From one point to another one.
    pub fn new(start: [f64; 2], end: [f64; 2]) -> Self {
        let along = [end[0] - start[0], end[1] - start[1]];
        let length = along[0].hypot(along[1]);
        Self {
            start,
            middle: [0, 1].map(|axis| 0.5 * (start[axis] + end[axis])),
            tangent: along.map(|component| component / length),
            length,
        }
    }

    /// The direction away from the body, of unit length.
    pub fn normal(&self) -> [f64; 2] {
        [self.tangent[1], -self.tangent[0]]
    }

    /// The same, mirrored in a line `x[axis] = at`. It then runs the other way around what it belongs to.
    pub fn mirrored(&self, axis: usize, at: f64) -> Self {
        let point = |mut x: [f64; 2]| {
            x[axis] = 2.0 * at - x[axis];
            x
        };
        let mut tangent = self.tangent;
        tangent[axis] = -tangent[axis];
        Self { start: point(self.start), middle: point(self.middle), tangent, length: self.length }
    }

    /// The same of a body's own frame, where the body is.
    pub(super) fn placed(&self, placement: &Placement) -> Self {
        let [start, middle] = [self.start, self.middle].map(|x| placement.place(x));
        Self { start, middle, tangent: placement.turn(self.tangent), length: self.length }
    }

    /// How far a point is along the panel, from its start, and how far to its left.
    fn local(&self, x: [f64; 2]) -> [f64; 2] {
        let d = [x[0] - self.start[0], x[1] - self.start[1]];
        let [t0, t1] = self.tangent;
        [d[0] * t0 + d[1] * t1, d[1] * t0 - d[0] * t1]
    }

    /// The stream function at a point of a sheet of unit strength without walls: the integral of -ln r / 2π.
    pub fn stream(&self, x: [f64; 2]) -> f64 {
        let [to_start, aside] = self.local(x);
        let to_end = to_start - self.length;
        let part = |along: f64| {
            let square = along * along + aside * aside;
            if square > 0.0 { 0.5 * along * square.ln() } else { 0.0 }
        };
        let turn = if aside == 0.0 { 0.0 } else { aside * self.angle(to_start, to_end, aside) };
        -(part(to_start) - part(to_end) - self.length + turn) / (2.0 * PI)
    }

    /// The velocity at a point of a sheet of unit strength without walls; on the sheet itself the mean of both sides.
    pub fn velocity(&self, x: [f64; 2]) -> [f64; 2] {
        let [to_start, aside] = self.local(x);
        let to_end = to_start - self.length;
        let squares = [to_start, to_end].map(|along| (along * along + aside * aside).max(f64::MIN_POSITIVE));
        let is_on = aside.abs() <= 1e-12 * self.length;
        let along = if is_on { 0.0 } else { -self.angle(to_start, to_end, aside) / (2.0 * PI) };
        let across = (squares[0] / squares[1]).ln() / (4.0 * PI);
        let [t0, t1] = self.tangent;
        [along * t0 - across * t1, along * t1 + across * t0]
    }

    /// The angle that the panel is seen under.
    fn angle(&self, to_start: f64, to_end: f64, aside: f64) -> f64 {
        (to_start / aside).atan() - (to_end / aside).atan()
    }
}

/// The stream function at a point of a vortex of unit circulation without walls, by the square of their distance.
pub fn point_stream(square: f64) -> f64 {
    -square.ln() / (4.0 * PI)
}

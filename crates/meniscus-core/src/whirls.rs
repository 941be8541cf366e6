//! Whirls in a box, side by side.

use std::f64::consts::PI;

/// A flow in a rectangle with a vorticity of w sin(π k x / Lx) sin(π l y / Ly): k by l whirls, one turning one way and the next the other, with nothing through the sides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Whirls {
    /// The sides of the rectangle, in m.
    pub size: [f64; 2],
    /// How many whirls there are along x and along y: k and l.
    pub half_waves: [usize; 2],
    /// The largest vorticity w, in 1/s; that of the whirl at the origin.
    pub vorticity: f64,
}

impl Whirls {
    /// The velocity at a point, in m/s.
    pub fn velocity(&self, x: [f64; 2]) -> [f64; 2] {
        let [a, b] = [0, 1].map(|axis| PI * self.half_waves[axis] as f64 / self.size[axis]);
        let stream = self.vorticity / (a * a + b * b);
        let ([sin_x, cos_x], [sin_y, cos_y]) =
            ([(a * x[0]).sin(), (a * x[0]).cos()], [(b * x[1]).sin(), (b * x[1]).cos()]);
        [stream * b * sin_x * cos_y, -stream * a * cos_x * sin_y]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vorticity_is_what_was_asked_for_and_nothing_passes_the_sides() {
        let whirls = Whirls { size: [2.0, 1.0], half_waves: [3, 2], vorticity: 5.0 };
        let x = [1.0 / 3.0, 0.25];
        let h = 1e-5;
        let at = |dx: f64, dy: f64| whirls.velocity([x[0] + dx, x[1] + dy]);
        let vorticity = (at(h, 0.0)[1] - at(-h, 0.0)[1] - at(0.0, h)[0] + at(0.0, -h)[0]) / (2.0 * h);
        assert!((vorticity - 5.0).abs() < 1e-6, "{vorticity}");
        for along in [0.1, 0.7] {
            assert!(whirls.velocity([0.0, along])[0].abs() < 1e-12);
            assert!(whirls.velocity([2.0 * along, 1.0])[1].abs() < 1e-12);
        }
    }
}

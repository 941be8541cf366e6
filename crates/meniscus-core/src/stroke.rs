//! Flows that are drawn.

use serde::{Deserialize, Serialize};

/// A line along which the fluid is set in motion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stroke {
    /// Its points, in m.
    pub points: Vec<[f64; 2]>,
    /// Half of how wide it is, in m: the speed is that of a bell curve with this as its deviation.
    pub width: f64,
    /// The speed along its middle, in m/s, before what would flow through walls and itself is taken from it.
    pub speed: f64,
}

impl Stroke {
    /// The velocity that is drawn at a point: along the nearest piece, less the farther away, and eased at both ends.
    pub fn velocity(&self, x: [f64; 2]) -> [f64; 2] {
        let mut nearest: Option<(f64, [f64; 2])> = None;
        for piece in self.points.windows(2) {
            let along = [piece[1][0] - piece[0][0], piece[1][1] - piece[0][1]];
            let length = along[0].hypot(along[1]);
            if length == 0.0 {
                continue;
            }
            let from = [x[0] - piece[0][0], x[1] - piece[0][1]];
            let part = ((from[0] * along[0] + from[1] * along[1]) / (length * length)).clamp(0.0, 1.0);
            let off = [from[0] - part * along[0], from[1] - part * along[1]];
            let square = off[0] * off[0] + off[1] * off[1];
            if nearest.is_none_or(|(least, _)| square < least) {
                nearest = Some((square, along.map(|component| component / length)));
            }
        }
        let Some((square, direction)) = nearest else { return [0.0; 2] };
        let speed = self.speed * (-square / (2.0 * self.width * self.width)).exp();
        direction.map(|component| speed * component)
    }
}

//! Where the domain lies in the picture, and its border.

use super::canvas::Canvas;
use crate::vec3::Vec3;

/// The largest place for a domain that keeps its proportions. y runs up in the domain, down in the picture.
pub(super) struct Frame {
    /// Pixels per cell.
    pub scale: f32,
    /// Of the domain, in pixels.
    pub left: f32,
    pub top: f32,
    pub right: f32,
    pub bottom: f32,
    cells: [usize; 2],
}

/// What is kept free along the edges of a picture, in pixels.
pub(super) fn margin([width, height]: [usize; 2]) -> f32 {
    0.04 * width.min(height) as f32
}

impl Frame {
    /// Leaves room below it for annotations of a height in pixels.
    pub fn new(cells: [usize; 2], picture: [usize; 2], annotations: f32) -> Self {
        let [w, h] = picture.map(|pixels| pixels as f32);
        let margin = margin(picture);
        let below = if annotations > 0.0 { margin.max(0.09 * h).max(annotations) } else { margin };
        let scale = ((w - 2.0 * margin) / cells[0] as f32).min((h - margin - below) / cells[1] as f32);
        let (across, upwards) = (scale * cells[0] as f32, scale * cells[1] as f32);
        let left = 0.5 * (w - across);
        let top = margin + 0.5 * (h - margin - below - upwards);
        Self { scale, left, top, right: left + across, bottom: top + upwards, cells }
    }

    pub fn width(&self) -> f32 {
        self.right - self.left
    }

    /// From pixels to cells.
    pub fn to_cells(&self, [x, y]: [f32; 2]) -> [f32; 2] {
        [(x - self.left) / self.scale, self.cells[1] as f32 - (y - self.top) / self.scale]
    }

    /// From cells to pixels.
    pub fn to_pixels(&self, [x, y]: [f32; 2]) -> [f32; 2] {
        [self.left + self.scale * x, self.top + self.scale * (self.cells[1] as f32 - y)]
    }

    /// The signed distance to the domain's border, in pixels, negative inside.
    pub fn distance(&self, [x, y]: [f32; 2]) -> f32 {
        (self.left - x).max(x - self.right).max(self.top - y).max(y - self.bottom)
    }

    /// Draws the border: closed sides as lines, open ones dashed.
    pub fn draw(&self, canvas: &mut Canvas, open: [[bool; 2]; 2], colour: Vec3, half_line: f32) {
        let Self { left, top, right, bottom, .. } = *self;
        let sides = [
            (open[0][0], [left, top], [left, bottom]),
            (open[0][1], [right, top], [right, bottom]),
            (open[1][0], [left, bottom], [right, bottom]),
            (open[1][1], [left, top], [right, top]),
        ];
        for (open, a, b) in sides {
            if !open {
                canvas.line(a, b, 1.4 * half_line, colour);
                continue;
            }
            let dash = 8.0 * half_line;
            let length = (b[0] - a[0]).hypot(b[1] - a[1]);
            let at = |way: f32| [0, 1].map(|i| a[i] + (b[i] - a[i]) * (way / length).min(1.0));
            for k in 0..(length / (2.0 * dash)).ceil() as usize {
                let from = 2.0 * dash * k as f32;
                canvas.line(at(from), at(from + dash), 0.7 * half_line, colour);
            }
        }
    }
}

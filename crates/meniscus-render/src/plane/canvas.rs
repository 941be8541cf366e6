//! Pixels in linear light.

use crate::vec3::Vec3;

/// A picture in the making.
pub(super) struct Canvas {
    pub width: usize,
    pub height: usize,
    pub pixels: Vec<Vec3>,
}

impl Canvas {
    pub fn new(width: usize, height: usize) -> Self {
        Self { width, height, pixels: vec![Vec3::ZERO; width * height] }
    }

    /// Paints over a pixel where it lies in the picture; `cover` runs from 0 to 1.
    pub fn blend(&mut self, x: i64, y: i64, colour: Vec3, cover: f32) {
        if (0..self.width as i64).contains(&x) && (0..self.height as i64).contains(&y) {
            let pixel = &mut self.pixels[x as usize + self.width * y as usize];
            *pixel = pixel.lerp(colour, cover);
        }
    }

    /// Fills a box given by its corners, in pixels.
    pub fn fill(&mut self, [x0, y0]: [f32; 2], [x1, y1]: [f32; 2], colour: Vec3) {
        for y in y0.floor() as i64..y1.ceil() as i64 {
            for x in x0.floor() as i64..x1.ceil() as i64 {
                let along = |low: f32, high: f32, at: i64| {
                    (high.min(at as f32 + 1.0) - low.max(at as f32)).clamp(0.0, 1.0)
                };
                self.blend(x, y, colour, along(x0, x1, x) * along(y0, y1, y));
            }
        }
    }

    /// Draws a straight line between points in pixels, with round ends.
    pub fn line(&mut self, a: [f32; 2], b: [f32; 2], half_width: f32, colour: Vec3) {
        for_each_near(a, b, half_width, |x, y, cover| self.blend(x, y, colour, cover));
    }
}

/// The part of a pixel that an area covers, from the signed distance of the pixel's centre to the area's
/// edge, in pixels, negative inside.
pub(super) fn coverage(distance: f32) -> f32 {
    (0.5 - distance).clamp(0.0, 1.0)
}

/// Calls `f` with the pixels that a line with round ends covers, and how much of each.
pub(super) fn for_each_near(a: [f32; 2], b: [f32; 2], half_width: f32, mut f: impl FnMut(i64, i64, f32)) {
    let reach = half_width + 1.0;
    let along = [b[0] - a[0], b[1] - a[1]];
    let length_squared = (along[0] * along[0] + along[1] * along[1]).max(1e-12);
    let [x0, y0] = [0, 1].map(|i| (a[i].min(b[i]) - reach).floor() as i64);
    let [x1, y1] = [0, 1].map(|i| (a[i].max(b[i]) + reach).ceil() as i64);
    for y in y0..y1 {
        for x in x0..x1 {
            let offset = [x as f32 + 0.5 - a[0], y as f32 + 0.5 - a[1]];
            let s = ((offset[0] * along[0] + offset[1] * along[1]) / length_squared).clamp(0.0, 1.0);
            let distance = (offset[0] - s * along[0]).hypot(offset[1] - s * along[1]);
            let cover = coverage(distance - half_width);
            if cover > 0.0 {
                f(x, y, cover);
            }
        }
    }
}

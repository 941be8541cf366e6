//! Small pictures of functions on a box, side by side.

use meniscus_core::parallel;

use super::canvas::Canvas;
use super::font::{HEIGHT, draw_text, text_width};
use super::{AIR, INK, LIQUID, PAPER, SOLID_LINE};
use crate::colour::{from_srgb, to_srgb};
use crate::picture::Picture;
use crate::vec3::Vec3;

const BELOW_ZERO: [u8; 3] = LIQUID;
const ABOVE_ZERO: [u8; 3] = [214, 96, 77];
/// Between tiles, and around all of them, as a part of the shorter side of the picture.
const GAP: f32 = 0.012;
const MARGIN: f32 = 0.03;

/// A function on a box.
#[derive(Clone, Debug, PartialEq)]
pub struct Tile {
    /// What is written below it, in small letters and figures.
    pub name: String,
    /// From 0 for one that is not there to 1 or -1 for one that is as strong as any.
    pub strength: f32,
    /// How many points there are along each side of the box, ends included.
    pub points: [usize; 2],
    /// At these its values, from -1 to 1: by x, and in these by y.
    pub values: Vec<f32>,
}

impl Tile {
    /// At a part of the way along each side.
    fn at(&self, part: [f32; 2]) -> f32 {
        let along = [0, 1].map(|axis| part[axis].clamp(0.0, 1.0) * (self.points[axis] - 1) as f32);
        let low = [0, 1].map(|axis| (along[axis] as usize).min(self.points[axis] - 2));
        let [s, t] = [0, 1].map(|axis| along[axis] - low[axis] as f32);
        let value = |i: usize, j: usize| self.values[(low[0] + i) * self.points[1] + low[1] + j];
        let at_x = |i: usize| value(i, 0) + t * (value(i, 1) - value(i, 0));
        at_x(0) + s * (at_x(1) - at_x(0))
    }
}

/// Draws tiles of a box with some sides in rows, with a line of text below all of them.
///
/// # Panics
/// If the picture has no pixels, or a tile fewer than two points along a side.
pub fn render_tiles(tiles: &[Tile], sides: [f64; 2], [width, height]: [usize; 2], text: &str) -> Picture {
    assert!(width > 0 && height > 0, "a picture has pixels");
    let mut canvas = Canvas::new(width, height);
    canvas.pixels.fill(from_srgb(PAPER));
    let ink = from_srgb(INK);
    let dot = (width.min(height) / 250).max(1);
    let line = (dot * HEIGHT) as f32;
    let layout =
        Layout::new(tiles.len(), (sides[0] / sides[1]) as f32, [width as f32, height as f32 - 2.0 * line]);
    for (number, tile) in tiles.iter().enumerate() {
        layout.draw(&mut canvas, number, tile);
    }
    let left = 0.5 * (width as f32 - text_width(text, dot));
    draw_text(&mut canvas, text, [left.max(0.0), height as f32 - 1.8 * line], dot, ink);
    let rgb = canvas.pixels.iter().flat_map(|&linear| to_srgb(linear)).collect();
    Picture { width, height, rgb }
}

/// Where tiles are, in pixels.
struct Layout {
    columns: usize,
    /// Of the first one.
    corner: [f32; 2],
    size: [f32; 2],
    /// From one to the next along both axes.
    step: [f32; 2],
    dot: usize,
}

impl Layout {
    /// As large as tiles of some width over height can be.
    fn new(count: usize, aspect: f32, [width, height]: [f32; 2]) -> Self {
        let shorter = width.min(height);
        let (gap, margin) = (GAP * shorter, MARGIN * shorter);
        let of_columns = |columns: usize| {
            let rows = count.div_ceil(columns).max(1);
            let across = (width - 2.0 * margin + gap) / columns as f32 - gap;
            let dot = (across as usize / 60).max(1);
            let label = 1.6 * (dot * HEIGHT) as f32;
            let down = (height - 2.0 * margin + gap) / rows as f32 - gap - label;
            let size = [across.min(down * aspect), down.min(across / aspect)].map(|side| side.max(1.0));
            let step = [size[0] + gap, size[1] + gap + label];
            let free = width - columns as f32 * step[0] + gap;
            Self { columns, corner: [0.5 * free, margin], size, step, dot }
        };
        let widest = |a: &Self, b: &Self| a.size[0].total_cmp(&b.size[0]);
        (1..=count.max(1)).map(of_columns).max_by(widest).expect("a column")
    }

    /// The upper left corner of a tile.
    fn corner_of(&self, number: usize) -> [f32; 2] {
        let place = [number % self.columns, number / self.columns];
        [0, 1].map(|axis| self.corner[axis] + place[axis] as f32 * self.step[axis])
    }

    fn draw(&self, canvas: &mut Canvas, number: usize, tile: &Tile) {
        let [left, top] = self.corner_of(number).map(f32::round);
        let [right, bottom] = [left + self.size[0].round(), top + self.size[1].round()];
        canvas.fill([left - 1.0, top - 1.0], [right + 1.0, bottom + 1.0], from_srgb(SOLID_LINE));
        let width = canvas.width;
        let [first, end] = [left, right].map(|x| (x.max(0.0) as usize).min(width));
        parallel::for_chunks(&mut canvas.pixels, width, |row, pixels| {
            let y = (row as f32 + 0.5 - top) / (bottom - top);
            if !(0.0..1.0).contains(&y) {
                return;
            }
            for (column, pixel) in pixels[first..end].iter_mut().enumerate() {
                let x = (column as f32 + 0.5) / (right - left);
                *pixel = colour(tile.strength * tile.at([x, 1.0 - y]));
            }
        });
        let text = 0.5 * (left + right - text_width(&tile.name, self.dot));
        let below = bottom + 0.4 * (self.dot * HEIGHT) as f32;
        if text_width(&tile.name, self.dot) <= self.step[0] {
            draw_text(canvas, &tile.name, [text.max(0.0), below], self.dot, from_srgb(INK));
        }
    }
}

/// Of a value from -1 to 1.
fn colour(value: f32) -> Vec3 {
    let full = if value > 0.0 { ABOVE_ZERO } else { BELOW_ZERO };
    from_srgb(AIR).lerp(from_srgb(full), value.abs().min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tile(strength: f32) -> Tile {
        Tile { name: "a".into(), strength, points: [2, 2], values: vec![1.0, 1.0, -1.0, -1.0] }
    }

    #[test]
    fn tiles_show_what_is_above_and_below_zero_and_fade() {
        let picture = render_tiles(&[tile(1.0), tile(0.0)], [2.0, 1.0], [400, 200], "");
        let pixel = |x: usize, y: usize| &picture.rgb[3 * (x + 400 * y)..][..3];
        let layout = Layout::new(2, 2.0, [400.0, 186.0]);
        let at = |number: usize, part: f32| {
            let corner = layout.corner_of(number);
            pixel((corner[0] + part * layout.size[0]) as usize, (corner[1] + 0.5 * layout.size[1]) as usize)
        };
        let (left, right) = (at(0, 0.05), at(0, 0.95));
        assert!(left[0] > left[2] + 50, "red, {left:?}");
        assert!(right[2] > right[0] + 50, "blue, {right:?}");
        assert_eq!(at(1, 0.05), AIR);
    }

    #[test]
    fn any_number_of_tiles_fits() {
        for (count, aspect) in [(0, 1.0), (1, 0.1), (7, 3.0), (100, 1.5), (400, 20.0)] {
            let layout = Layout::new(count, aspect, [960.0, 520.0]);
            for number in 0..count {
                let end = [0, 1].map(|axis| layout.corner_of(number)[axis] + layout.size[axis]);
                assert!(end[0] <= 960.0 && end[1] <= 520.0, "{count} {aspect}: {end:?}");
            }
        }
    }
}

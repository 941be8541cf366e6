//! A small font: five by seven dots, small letters and what numbers need.

use super::canvas::Canvas;
use crate::vec3::Vec3;

/// Dots from the start of a character to the next.
const ADVANCE: usize = 6;

/// Dots from the top of a character to its bottom.
pub(super) const HEIGHT: usize = 7;

/// The rows of a character from the top; the highest of five bits is at the left.
fn glyph(character: char) -> [u8; HEIGHT] {
    match character {
        '0' => [14, 17, 19, 21, 25, 17, 14],
        '1' => [4, 12, 4, 4, 4, 4, 14],
        '2' => [14, 17, 1, 2, 4, 8, 31],
        '3' => [31, 2, 4, 2, 1, 17, 14],
        '4' => [2, 6, 10, 18, 31, 2, 2],
        '5' => [31, 16, 30, 1, 1, 17, 14],
        '6' => [6, 8, 16, 30, 17, 17, 14],
        '7' => [31, 1, 2, 4, 8, 8, 8],
        '8' => [14, 17, 17, 14, 17, 17, 14],
        '9' => [14, 17, 17, 15, 1, 2, 12],
        '.' => [0, 0, 0, 0, 0, 12, 12],
        '-' => [0, 0, 0, 14, 0, 0, 0],
        '=' => [0, 0, 31, 0, 31, 0, 0],
        '/' => [1, 1, 2, 4, 8, 16, 16],
        '_' => [0, 0, 0, 0, 0, 0, 31],
        'a' => [0, 0, 14, 1, 15, 17, 15],
        'b' => [16, 16, 22, 25, 17, 17, 30],
        'c' => [0, 0, 14, 16, 16, 17, 14],
        'd' => [1, 1, 13, 19, 17, 17, 15],
        'e' => [0, 0, 14, 17, 31, 16, 14],
        'f' => [6, 9, 8, 28, 8, 8, 8],
        'g' => [0, 15, 17, 17, 15, 1, 14],
        'h' => [16, 16, 22, 25, 17, 17, 17],
        'i' => [4, 0, 12, 4, 4, 4, 14],
        'j' => [2, 0, 6, 2, 2, 18, 12],
        'k' => [16, 16, 18, 20, 24, 20, 18],
        'l' => [12, 4, 4, 4, 4, 4, 14],
        'm' => [0, 0, 26, 21, 21, 21, 21],
        'n' => [0, 0, 22, 25, 17, 17, 17],
        'o' => [0, 0, 14, 17, 17, 17, 14],
        'p' => [0, 0, 30, 17, 30, 16, 16],
        'q' => [0, 0, 13, 19, 15, 1, 1],
        'r' => [0, 0, 22, 25, 16, 16, 16],
        's' => [0, 0, 15, 16, 14, 1, 30],
        't' => [8, 8, 28, 8, 8, 9, 6],
        'u' => [0, 0, 17, 17, 17, 19, 13],
        'v' => [0, 0, 17, 17, 17, 10, 4],
        'w' => [0, 0, 17, 17, 21, 21, 10],
        'x' => [0, 0, 17, 10, 4, 10, 17],
        'y' => [0, 0, 17, 17, 15, 1, 14],
        'z' => [0, 0, 31, 2, 4, 8, 31],
        _ => [0; HEIGHT],
    }
}

/// The width of a text in pixels, with dots of `dot` pixels.
pub(super) fn text_width(text: &str, dot: usize) -> f32 {
    (dot * (ADVANCE * text.chars().count()).saturating_sub(1)) as f32
}

/// Draws a text with its top left corner at a pixel.
pub(super) fn draw_text(canvas: &mut Canvas, text: &str, [x, y]: [f32; 2], dot: usize, colour: Vec3) {
    let (x, y) = (x.round() as i64, y.round() as i64);
    for (place, character) in text.chars().enumerate() {
        for (j, row) in glyph(character).into_iter().enumerate() {
            for i in (0..5).filter(|i| row >> (4 - i) & 1 == 1) {
                let (left, top) = ((place * ADVANCE + i) * dot, j * dot);
                for k in 0..dot * dot {
                    let (px, py) = (left + k % dot, top + k / dot);
                    canvas.blend(x + px as i64, y + py as i64, colour, 1.0);
                }
            }
        }
    }
}

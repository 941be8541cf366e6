//! What is written below the domain: the time, a scale bar, the legend of the speeds.

use super::canvas::Canvas;
use super::font::{HEIGHT, draw_text, text_width};
use super::frame::Frame;
use super::{LiquidColour, Style2};
use crate::colour::{from_srgb, speed_colour_linear};

const INK: [u8; 3] = [70, 76, 84];

pub(super) fn draw(canvas: &mut Canvas, dx: f64, style: &Style2, frame: &Frame) {
    // As large as the height suggests and the width allows: below this many pixels a dot, the texts would meet.
    const DOTS_ACROSS: f32 = 290.0;
    let room = ((frame.right - frame.left) / DOTS_ACROSS) as usize;
    let dot = ((canvas.height + 125) / 250).min(room).max(1);
    let ink = from_srgb(INK);
    let line = (HEIGHT * dot) as f32;
    let y = (frame.bottom + 1.2 * line).min(canvas.height as f32 - 1.2 * line);
    if let Some(time) = style.time {
        let text = format!("t = {time:.3} s");
        let x = 0.5 * (frame.left + frame.right - text_width(&text, dot));
        draw_text(canvas, &text, [x, y], dot, ink);
    }
    if !style.legend {
        return;
    }
    let (length, text) = scale_bar(0.17 * f64::from(frame.right - frame.left) / f64::from(frame.scale) * dx);
    let end = frame.left + (length / dx) as f32 * frame.scale;
    let (middle, thin) = (y + 0.5 * line, 0.5 * dot as f32);
    canvas.fill([frame.left, middle - thin], [end, middle + thin], ink);
    for x in [frame.left, end - 2.0 * thin] {
        canvas.fill([x, middle - 0.4 * line], [x + 2.0 * thin, middle + 0.4 * line], ink);
    }
    draw_text(canvas, &text, [end + line, y], dot, ink);
    if let LiquidColour::Speed { max_speed } = style.liquid {
        let text = format!("{} m/s", short(max_speed));
        let text_left = frame.right - text_width(&text, dot);
        draw_text(canvas, &text, [text_left, y], dot, ink);
        let width = 0.12 * (frame.right - frame.left);
        let left = (text_left - 0.7 * line - width).round();
        for k in 0..width as usize {
            let x = left + k as f32;
            canvas.fill([x, y.round()], [x + 1.0, y.round() + line], speed_colour_linear(k as f32 / width));
        }
        let zero = left - 0.7 * line - text_width("0", dot);
        draw_text(canvas, "0", [zero, y], dot, ink);
    }
}

/// A round length of 1, 2 or 5 times a power of ten that is at most `longest` metres, and its name.
fn scale_bar(longest: f64) -> (f64, String) {
    let power = 10f64.powf(longest.log10().floor());
    let length = [5.0, 2.0, 1.0].map(|n| n * power).into_iter().find(|&n| n <= longest).unwrap_or(power);
    let (unit, name) = if length >= 1e3 {
        (1e3, "km")
    } else if length >= 1.0 {
        (1.0, "m")
    } else if length >= 0.01 {
        (0.01, "cm")
    } else {
        (1e-3, "mm")
    };
    (length, format!("{} {name}", short(length / unit)))
}

/// A number with three digits at most, without zeros at its end.
fn short(x: f64) -> String {
    if x != 0.0 && !(1e-2..1e4).contains(&x.abs()) {
        return format!("{x:.1e}");
    }
    let text = format!("{x:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scale_bars_are_round_and_fit() {
        for (longest, name) in
            [(0.37, "20 cm"), (1.0, "1 m"), (0.0034, "2 mm"), (7200.0, "5 km"), (0.99, "50 cm")]
        {
            let (length, text) = scale_bar(longest);
            assert_eq!(text, name);
            assert!(length <= longest && length > 0.19 * longest);
        }
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!([2.5, 10.0, 0.13, 0.0].map(short), ["2.5", "10", "0.13", "0"]);
        assert_eq!(short(1.5e-4), "1.5e-4");
    }
}

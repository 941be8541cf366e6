//! What is written below the domain: the time, a scale bar, the legend of the speeds.

use meniscus_core::grid::Grid;

use super::canvas::Canvas;
use super::font::{HEIGHT, draw_text, text_width};
use super::frame::{Frame, margin};
use super::{INK, LiquidColour, Style2};
use crate::colour::{from_srgb, speed_colour_linear};
use crate::vec3::Vec3;

/// Dots across a row that holds everything: fewer would crowd it.
const ONE_ROW: f32 = 290.0;

/// Between what stands side by side, in dots, and beside a bar.
const GAP: f32 = 10.0;
const BESIDE_A_BAR: f32 = 0.7 * HEIGHT as f32;

/// The scale bar and the bar of colours: the least, in dots, and the most of a row that they share.
const LEAST_BAR: f32 = 16.0;
const SCALE_BAR: f32 = 0.17;
const COLOUR_BAR: f32 = 0.12;

/// Of a row's text, the distance from the domain, from row to row, and to the edge of the picture, in lines of text.
const FIRST_ROW: f32 = 1.2;
const NEXT_ROW: f32 = 1.8;
const LAST_ROW: f32 = 1.6;

/// The time takes as much room as this one: what is written must not jump when it has more digits.
const LONG_TIME: &str = "t = 10.000 s";

#[derive(Clone, Copy, Debug, PartialEq)]
enum Item {
    Scale,
    Time,
    Speeds,
}

use Item::{Scale, Speeds, Time};

/// What is written, and how large.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Annotations {
    /// From the top, each from the left.
    rows: Vec<Vec<Item>>,
    /// Pixels of a dot of the font.
    dot: usize,
    /// The width of the domain, in m.
    domain: f64,
    time: String,
    fastest: String,
}

impl Annotations {
    /// Arranges them: in one row below the domain, where it can be as large as the size of the picture suggests, or at
    /// least two thirds of that; a row wider than a narrow domain; or in several rows. In a tiny picture some are left out.
    pub fn new(style: &Style2, grid: &Grid<2>) -> Self {
        let speeds = match style.liquid {
            LiquidColour::Speed { max_speed } if style.legend => Some(format!("{} m/s", short(max_speed))),
            _ => None,
        };
        let time = style.time.map(|time| format!("t = {time:.3} s"));
        let items =
            [style.legend.then_some(Scale), time.as_ref().map(|_| Time), speeds.as_ref().map(|_| Speeds)];
        let of_nothing = Self {
            rows: Vec::new(),
            dot: 1,
            domain: grid.dx * grid.cells[0] as f64,
            time: time.unwrap_or_default(),
            fastest: speeds.unwrap_or_default(),
        };
        of_nothing.arranged(items.into_iter().flatten().collect(), [style.width, style.height], grid.cells)
    }

    fn arranged(&self, mut items: Vec<Item>, picture: [usize; 2], cells: [usize; 2]) -> Self {
        if items.is_empty() {
            return self.clone();
        }
        let fits = |arranged: &Self| arranged.fits(picture);
        let size = |pixels: usize| ((pixels + 125) / 250).max(1);
        let wanted = size(picture[0].min(picture[1]));
        let one_row = self.with(vec![items.clone()], wanted);
        let below_the_domain = Frame::new(cells, picture, one_row.height()).width() / one_row.dots_across();
        let at_least = (2 * wanted).div_ceil(3);
        let one_row = self.with(vec![items.clone()], (below_the_domain as usize).clamp(at_least, wanted));
        if fits(&one_row) {
            return one_row;
        }
        while !items.is_empty() {
            for dot in (1..=size(picture[1])).rev() {
                if let Some(largest) = rows_of(&items).map(|rows| self.with(rows, dot)).find(fits) {
                    return largest;
                }
            }
            // The time is worth most, the scale least.
            items.remove(if items[0] == Scale { 0 } else { items.len() - 1 });
        }
        self.clone()
    }

    fn with(&self, rows: Vec<Vec<Item>>, dot: usize) -> Self {
        Self { rows, dot, ..self.clone() }
    }

    /// Whether there is room for them, and enough is left of the picture.
    fn fits(&self, picture: [usize; 2]) -> bool {
        // Small text is better than none.
        let most = if self.dot == 1 { 1.0 / 3.0 } else { 0.1 };
        let [width, height] = picture.map(|pixels| pixels as f32);
        self.across() <= width - 2.0 * margin(picture) && self.height() <= most * height
    }

    /// What they take below the domain, in pixels.
    pub fn height(&self) -> f32 {
        match self.rows.len() {
            0 => 0.0,
            rows => self.line() * (FIRST_ROW + NEXT_ROW * (rows - 1) as f32 + LAST_ROW),
        }
    }

    /// The least that they take across, in pixels.
    fn across(&self) -> f32 {
        self.dots_across() * self.dot as f32
    }

    fn dots_across(&self) -> f32 {
        let of_row = |row: &Vec<Item>| {
            let all: f32 = row.iter().map(|&item| self.dots(item)).sum();
            let together = all + GAP * (row.len() - 1) as f32;
            if row.len() == 3 { together.max(ONE_ROW) } else { together }
        };
        self.rows.iter().map(of_row).fold(0.0, f32::max)
    }

    /// The least that an item takes across, in dots.
    fn dots(&self, item: Item) -> f32 {
        match item {
            Scale => {
                let (_, name) = scale_bar(f64::from(SCALE_BAR) * self.domain);
                LEAST_BAR + HEIGHT as f32 + text_width(&name, 1)
            }
            Time => text_width(&self.time, 1).max(text_width(LONG_TIME, 1)),
            Speeds => text_width("0", 1) + 2.0 * BESIDE_A_BAR + LEAST_BAR + text_width(&self.fastest, 1),
        }
    }

    fn line(&self) -> f32 {
        (HEIGHT * self.dot) as f32
    }

    pub fn draw(&self, canvas: &mut Canvas, frame: &Frame) {
        let lowest = canvas.height as f32 - self.height() + FIRST_ROW * self.line();
        let top = (frame.bottom + FIRST_ROW * self.line()).min(lowest);
        let wider = 0.5 * (self.across() - frame.width()).max(0.0);
        let [left, right] = [frame.left - wider, frame.right + wider];
        for (index, items) in self.rows.iter().enumerate() {
            let top = top + NEXT_ROW * self.line() * index as f32;
            Row { annotations: self, items, left, right, top, ink: from_srgb(INK) }.draw(canvas, frame);
        }
    }
}

/// The ways to cut a list of what is written into rows.
fn rows_of(items: &[Item]) -> impl Iterator<Item = Vec<Vec<Item>>> {
    let one = vec![items.to_vec()];
    let two = items.split_last().map(|(last, others)| vec![others.to_vec(), vec![*last]]);
    let each = items.iter().map(|&item| vec![item]).collect();
    let has_two = items.len() > 2;
    [Some(one), two.filter(|_| has_two), Some(each)].into_iter().flatten()
}

/// A row of the annotations, in pixels.
struct Row<'a> {
    annotations: &'a Annotations,
    items: &'a [Item],
    left: f32,
    right: f32,
    top: f32,
    ink: Vec3,
}

impl Row<'_> {
    /// The scale is at the left and the speeds are at the right; the time is between them.
    fn draw(&self, canvas: &mut Canvas, frame: &Frame) {
        let [mut from, mut to] = [self.left, self.right];
        let gap = GAP * self.annotations.dot as f32;
        if self.items.contains(&Scale) {
            from = self.draw_scale(canvas, frame) + gap;
        }
        if self.items.contains(&Speeds) {
            to = self.draw_speeds(canvas) - gap;
        }
        if self.items.contains(&Time) {
            self.draw_time(canvas, from, to);
        }
    }

    /// Draws the scale, and gives its right end.
    fn draw_scale(&self, canvas: &mut Canvas, frame: &Frame) -> f32 {
        let (dot, line) = (self.annotations.dot, self.annotations.line());
        let metres = self.annotations.domain / f64::from(frame.width());
        let longest =
            (SCALE_BAR * self.width()).min(LEAST_BAR * dot as f32 + self.spare()).min(frame.width());
        let (length, name) = scale_bar(f64::from(longest) * metres);
        let end = self.left + (length / metres) as f32;
        let (middle, thin) = (self.top + 0.5 * line, 0.5 * dot as f32);
        canvas.fill([self.left, middle - thin], [end, middle + thin], self.ink);
        for x in [self.left, end - 2.0 * thin] {
            canvas.fill([x, middle - 0.4 * line], [x + 2.0 * thin, middle + 0.4 * line], self.ink);
        }
        self.write(canvas, &name, end + line);
        end + line + text_width(&name, dot)
    }

    /// Draws the colours of the speeds, and gives their left end.
    fn draw_speeds(&self, canvas: &mut Canvas) -> f32 {
        let Annotations { dot, fastest, .. } = self.annotations;
        let (line, beside) = (self.annotations.line(), BESIDE_A_BAR * *dot as f32);
        let text_left = self.right - text_width(fastest, *dot);
        self.write(canvas, fastest, text_left);
        let widest = LEAST_BAR * *dot as f32 + self.spare();
        let width = if self.items.len() == 1 { widest } else { widest.min(COLOUR_BAR * self.width()) };
        let left = (text_left - beside - width).round();
        for k in 0..width as usize {
            let x = left + k as f32;
            let colour = speed_colour_linear(k as f32 / width);
            canvas.fill([x, self.top.round()], [x + 1.0, self.top.round() + line], colour);
        }
        let zero = left - beside - text_width("0", *dot);
        self.write(canvas, "0", zero);
        zero
    }

    /// Draws the time between two ends: in the middle of an only row, else flush with the other rows.
    fn draw_time(&self, canvas: &mut Canvas, from: f32, to: f32) {
        let time = &self.annotations.time;
        let width = text_width(time, self.annotations.dot);
        let left = match (self.annotations.rows.len(), self.items.len()) {
            (1, _) => 0.5 * (self.left + self.right - width),
            (_, 1) => from,
            _ => to - width,
        };
        self.write(canvas, time, left.min(to - width).max(from));
    }

    fn write(&self, canvas: &mut Canvas, text: &str, left: f32) {
        draw_text(canvas, text, [left, self.top], self.annotations.dot, self.ink);
    }

    fn width(&self) -> f32 {
        self.right - self.left
    }

    /// What the bars may have beyond their least.
    fn spare(&self) -> f32 {
        let least: f32 = self.items.iter().map(|&item| self.annotations.dots(item)).sum();
        self.width() - (least + GAP * (self.items.len() - 1) as f32) * self.annotations.dot as f32
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

    fn arranged(picture: [usize; 2], cells: [usize; 2], time: f64) -> Annotations {
        let [width, height] = picture;
        let liquid = LiquidColour::Speed { max_speed: 1.59 };
        let style = Style2 { width, height, liquid, time: Some(time), ..Style2::default() };
        Annotations::new(&style, &Grid { origin: [0.0; 2], dx: 0.01, cells })
    }

    /// How many things stand side by side in a row of a picture, and from where to where they reach.
    fn side_by_side(canvas: &Canvas, top: f32, line: f32, gap: usize) -> (usize, usize, usize) {
        let rows = top as usize..(top + line) as usize;
        let is_inked = |x: &usize| rows.clone().any(|y| canvas.pixels[x + canvas.width * y] != Vec3::ZERO);
        let inked: Vec<usize> = (0..canvas.width).filter(is_inked).collect();
        let gaps = inked.windows(2).filter(|pair| pair[1] - pair[0] > gap).count();
        (1 + gaps, inked[0], inked[inked.len() - 1])
    }

    #[test]
    fn nothing_overlaps_or_is_cut_off() {
        let pictures = [[300, 900], [200, 200], [640, 360], [960, 540], [1280, 720], [1920, 1080], [120, 90]];
        let pictures =
            pictures.into_iter().chain([[100, 100], [64, 64], [240, 1200], [1080, 1920], [900, 120]]);
        for picture in pictures {
            for cells in [[30, 90], [64, 64], [96, 48], [20, 400]] {
                for time in [0.083, 12.345] {
                    let annotations = arranged(picture, cells, time);
                    let frame = Frame::new(cells, picture, annotations.height());
                    let mut canvas = Canvas::new(picture[0], picture[1]);
                    annotations.draw(&mut canvas, &frame);
                    let named = format!("{picture:?}, {cells:?}: {annotations:?}");
                    let line = annotations.line();
                    for (index, items) in annotations.rows.iter().enumerate() {
                        let top = (frame.bottom + FIRST_ROW * line + NEXT_ROW * line * index as f32).round();
                        assert!(top + line < picture[1] as f32, "{named}");
                        let gap = (GAP as usize - 1) * annotations.dot;
                        let (things, from, to) = side_by_side(&canvas, top, line, gap);
                        assert_eq!(things, items.len(), "{named}");
                        let margin = margin(picture);
                        assert!(from as f32 >= margin - 1.0, "{named}");
                        assert!((to as f32) <= picture[0] as f32 - margin + 1.0, "{named}");
                    }
                    assert_eq!(annotations.rows, arranged(picture, cells, 0.0).rows, "it must not jump");
                }
            }
        }
    }

    #[test]
    fn narrow_and_small_pictures_are_legible() {
        let of = |picture, cells| {
            let annotations = arranged(picture, cells, 1.0);
            (annotations.rows.concat(), annotations.rows.len(), annotations.dot)
        };
        let all = vec![Scale, Time, Speeds];
        assert_eq!(of([300, 900], [30, 90]), (all.clone(), 2, 2));
        assert_eq!(of([200, 200], [64, 64]), (all.clone(), 2, 1));
        assert_eq!(of([640, 360], [30, 90]), (all.clone(), 1, 1));
        assert_eq!(of([1920, 1080], [30, 90]), (all.clone(), 1, 3));
        assert_eq!(of([1280, 720], [96, 48]), (all, 1, 3));
        assert_eq!(of([100, 100], [64, 64]), (vec![Time, Speeds], 2, 1));
        assert_eq!(of([32, 32], [64, 64]).0, []);
    }

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

//! Pictures of plane liquids: a diagram with exact edges.
//!
//! Every edge is a signed distance in pixels, so its coverage of a pixel needs no sampling.

mod air;
mod annotations;
mod canvas;
mod font;
mod frame;
mod motion;
mod streamlines;
mod surface;
#[cfg(test)]
mod tests;
mod tiles;

use meniscus_core::parallel;
use meniscus_core::shape::Shape;

use crate::colour::{from_srgb, speed_colour_linear, to_srgb};
use crate::picture::Picture;
use crate::smoke::{Density, smoke_colour};
use crate::space::SolidLook;
use crate::vec3::Vec3;
use crate::view::View;
use air::Air;
use annotations::Annotations;
use canvas::{Canvas, coverage};
use frame::Frame;
use motion::Motion;
use surface::Outline;
pub use tiles::{Tile, render_tiles};

/// The colour of a plane liquid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LiquidColour {
    /// One colour.
    Plain,
    /// That of air.
    Clear,
    /// By speed, see [`crate::speed_colour`]. A fixed scale keeps a sequence from flickering.
    Speed {
        /// The speed of the brightest colour, in m/s.
        max_speed: f64,
    },
}

/// How a plane liquid is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Style2 {
    /// Pixels along a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// The liquid's colour.
    pub liquid: LiquidColour,
    /// How the solids look, in their order; of the looks only colours count.
    pub solids: Vec<SolidLook>,
    /// Whether to draw lines along the velocity.
    pub streamlines: bool,
    /// A time stamp, in seconds.
    pub time: Option<f64>,
    /// Whether to draw a scale bar, and the legend of the speeds.
    pub legend: bool,
}

impl Default for Style2 {
    fn default() -> Self {
        Self {
            width: 960,
            height: 540,
            liquid: LiquidColour::Speed { max_speed: 2.0 },
            solids: Vec::new(),
            streamlines: false,
            time: None,
            legend: true,
        }
    }
}

const PAPER: [u8; 3] = [226, 229, 232];
const AIR: [u8; 3] = [246, 247, 248];
const LIQUID: [u8; 3] = [58, 124, 186];
const SURFACE_LINE: [u8; 3] = [16, 36, 66];
const SOLID: [u8; 3] = [176, 171, 164];
const SOLID_LINE: [u8; 3] = [98, 92, 86];
const INK: [u8; 3] = [70, 76, 84];

/// Half of the width of a line, in pixels of a picture 540 rows high.
const HALF_LINE: f32 = 0.8;

/// Draws a plane liquid.
///
/// # Panics
/// If the picture has no pixels.
pub fn render_2d(view: &View<2>, style: &Style2) -> Picture {
    let (width, height) = (style.width, style.height);
    assert!(width > 0 && height > 0, "a picture has pixels");
    let annotations = Annotations::new(style, view.grid);
    let frame = Frame::new(view.grid.cells, [width, height], annotations.height());
    let painter = Painter {
        view,
        frame: &frame,
        outline: Outline::new(view.level_set),
        motion: Motion::new(view),
        air: Air::new(view),
        smoke: view.smoke.iter().map(|markers| Density::new(view.grid.cells, markers)).collect(),
        liquid: style.liquid,
        solids: &style.solids,
        half_line: half_line(height),
    };
    let mut canvas = Canvas::new(width, height);
    parallel::for_chunks(&mut canvas.pixels, width, |row, pixels| {
        for (column, pixel) in pixels.iter_mut().enumerate() {
            *pixel = painter.pixel([column as f32 + 0.5, row as f32 + 0.5]);
        }
    });
    if style.streamlines {
        streamlines::draw(&mut canvas, &painter.outline, &painter.motion, view, &frame);
    }
    frame.draw(&mut canvas, view.open, from_srgb(SOLID_LINE), painter.half_line);
    annotations.draw(&mut canvas, &frame);
    let rgb = canvas.pixels.iter().flat_map(|&linear| to_srgb(linear)).collect();
    Picture { width, height, rgb }
}

/// Half of the width of a line, in pixels; in small pictures lines stay wide enough to be seen.
fn half_line(height: usize) -> f32 {
    (HALF_LINE * height as f32 / 540.0).max(0.6)
}

struct Painter<'a> {
    view: &'a View<'a, 2>,
    frame: &'a Frame,
    outline: Outline,
    motion: Motion,
    air: Option<Air>,
    smoke: Vec<Density<2>>,
    liquid: LiquidColour,
    solids: &'a [SolidLook],
    half_line: f32,
}

impl Painter<'_> {
    fn pixel(&self, at: [f32; 2]) -> Vec3 {
        let paper = from_srgb(PAPER);
        let inside = coverage(self.frame.distance(at));
        if inside == 0.0 {
            return paper;
        }
        let p = self.frame.to_cells(at);
        let mut shown = self.air.as_ref().map_or_else(|| from_srgb(AIR), |air| air.colour(p));
        let distance = self.frame.scale * self.outline.distance(p);
        // Two nested areas: the outer one shows as a line around the inner one.
        shown = shown.lerp(from_srgb(SURFACE_LINE), coverage(distance - self.half_line));
        shown = shown.lerp(self.liquid_colour(p), coverage(distance + self.half_line));
        for (index, smoke) in self.smoke.iter().enumerate() {
            shown = shown.lerp(smoke_colour(index + 1), 1.0 - (-1.5 * smoke.at(p)).exp());
        }
        let solid = self.frame.scale * solid_distance(self.view, p);
        let line = coverage(solid - self.half_line);
        if line > 0.0 {
            shown = shown.lerp(from_srgb(SOLID_LINE), line);
            shown = shown.lerp(self.solid_colour(p), coverage(solid + self.half_line));
        }
        paper.lerp(shown, inside)
    }

    fn solid_colour(&self, p: [f32; 2]) -> Vec3 {
        let point = self.view.grid.point(p.map(f64::from));
        let looks = self.solids.iter().copied().chain(std::iter::repeat(SolidLook::Auto));
        let distances = self.view.solids.iter().map(|s| s.signed_distance(point)).zip(looks);
        match distances.min_by(|a, b| a.0.total_cmp(&b.0)) {
            Some((_, SolidLook::Painted(srgb))) => from_srgb(srgb),
            _ => from_srgb(SOLID),
        }
    }

    fn liquid_colour(&self, p: [f32; 2]) -> Vec3 {
        match self.liquid {
            LiquidColour::Plain => from_srgb(LIQUID),
            LiquidColour::Clear => from_srgb(AIR),
            LiquidColour::Speed { max_speed } => {
                let [u, v] = self.motion.at(p);
                speed_colour_linear((u * u + v * v).sqrt() / max_speed as f32)
            }
        }
    }
}

/// The signed distance to the nearest solid, in cells.
fn solid_distance(view: &View<2>, p: [f32; 2]) -> f32 {
    let point = view.grid.point(p.map(f64::from));
    let nearest = view.solids.iter().map(|s: &Shape<2>| s.signed_distance(point));
    (nearest.fold(f64::INFINITY, f64::min) / view.grid.dx) as f32
}

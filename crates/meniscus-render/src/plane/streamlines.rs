//! Evenly spaced lines along the velocity (Jobard and Lefer 1997).

use std::collections::VecDeque;

use super::canvas::{Canvas, for_each_near};
use super::frame::Frame;
use super::motion::Motion;
use super::solid_distance;
use super::surface::Outline;
use crate::vec3::Vec3;
use crate::view::View;

/// The distance between lines, in pixels of a picture 540 rows high.
const SPACING: f32 = 20.0;

/// A line ends where another is nearer than this part of the spacing.
const CROWDED: f32 = 0.5;

/// Slower than this part of the fastest there is no line.
const STILL: f32 = 0.01;

const STRENGTH: f32 = 0.55;

/// Draws the lines of a whole picture.
pub(super) fn draw(canvas: &mut Canvas, outline: &Outline, motion: &Motion, view: &View<2>, frame: &Frame) {
    let unit = canvas.height as f32 / 540.0;
    let mut lines = Lines::new(outline, motion, view, SPACING * unit / frame.scale);
    let mut cover = vec![0.0f32; canvas.pixels.len()];
    for line in lines.all() {
        // Thin at the start, thicker downstream: the direction can be read.
        for (k, ends) in line.windows(2).enumerate() {
            let downstream = (k + 1) as f32 / line.len() as f32;
            let [a, b] = [ends[0], ends[1]].map(|p| frame.to_pixels(p));
            for_each_near(a, b, unit * (0.2 + 0.7 * downstream), |x, y, part| {
                if (0..canvas.width as i64).contains(&x) && (0..canvas.height as i64).contains(&y) {
                    let at = x as usize + canvas.width * y as usize;
                    cover[at] = cover[at].max(part * (0.35 + 0.65 * downstream));
                }
            });
        }
    }
    for (pixel, cover) in canvas.pixels.iter_mut().zip(cover) {
        *pixel = pixel.lerp(Vec3::ONE, STRENGTH * cover);
    }
}

struct Lines<'a> {
    outline: &'a Outline,
    motion: &'a Motion,
    view: &'a View<'a, 2>,
    /// In cells.
    spacing: f32,
    /// Points of lines by squares of the spacing's size.
    squares: [usize; 2],
    taken: Vec<Vec<[f32; 2]>>,
}

impl<'a> Lines<'a> {
    fn new(outline: &'a Outline, motion: &'a Motion, view: &'a View<'a, 2>, spacing: f32) -> Self {
        let squares = view.grid.cells.map(|n| (n as f32 / spacing) as usize + 1);
        let taken = vec![Vec::new(); squares[0] * squares[1]];
        Self { outline, motion, view, spacing, squares, taken }
    }

    /// All lines: from each, others start to its sides; where none is left, from a lattice.
    fn all(&mut self) -> Vec<Vec<[f32; 2]>> {
        let mut lines: Vec<Vec<[f32; 2]>> = Vec::new();
        if self.motion.fastest <= 0.0 {
            return lines;
        }
        for square in 0..self.taken.len() {
            let middle = [square % self.squares[0], square / self.squares[0]];
            let mut seeds = VecDeque::from([middle.map(|s| (s as f32 + 0.5) * self.spacing)]);
            while let Some(seed) = seeds.pop_front() {
                let Some(line) = self.line(seed) else { continue };
                for pair in line.windows(2).step_by(3) {
                    let d = [pair[1][0] - pair[0][0], pair[1][1] - pair[0][1]];
                    let across = self.spacing / d[0].hypot(d[1]).max(1e-6);
                    seeds.push_back([pair[0][0] - d[1] * across, pair[0][1] + d[0] * across]);
                    seeds.push_back([pair[0][0] + d[1] * across, pair[0][1] - d[0] * across]);
                }
                lines.push(line);
            }
        }
        lines
    }

    /// The line through a seed, if there is room for one that is not too short.
    fn line(&mut self, seed: [f32; 2]) -> Option<Vec<[f32; 2]>> {
        if !self.is_liquid(seed) || self.is_crowded(seed, 0.95) {
            return None;
        }
        let mut line = self.half(seed, -1.0);
        line.reverse();
        line.push(seed);
        line.extend(self.half(seed, 1.0));
        if (line.len() as f32) * self.step() < 1.5 * self.spacing {
            return None;
        }
        for &p in &line {
            let square = self.square(p);
            self.taken[square[0] + self.squares[0] * square[1]].push(p);
        }
        Some(line)
    }

    fn step(&self) -> f32 {
        (0.2 * self.spacing).min(0.5)
    }

    /// Points from a seed on, with the flow or against it.
    fn half(&self, seed: [f32; 2], sign: f32) -> Vec<[f32; 2]> {
        let step = sign * self.step();
        let longest = (30.0 * self.spacing / self.step()) as usize;
        let mut points = Vec::new();
        let mut p = seed;
        while points.len() < longest {
            let Some(half) = self.direction(p).map(|d| [p[0] + 0.5 * step * d[0], p[1] + 0.5 * step * d[1]])
            else {
                break;
            };
            let Some(d) = self.direction(half) else { break };
            p = [p[0] + step * d[0], p[1] + step * d[1]];
            if !self.is_liquid(p) || self.is_crowded(p, CROWDED) || self.closes(&points, p) {
                break;
            }
            points.push(p);
        }
        points
    }

    /// Whether a line has come back to where it was a while ago.
    fn closes(&self, points: &[[f32; 2]], p: [f32; 2]) -> bool {
        let recent = (2.0 * self.spacing / self.step()) as usize;
        let old = &points[..points.len().saturating_sub(recent)];
        old.iter().any(|q| (q[0] - p[0]).hypot(q[1] - p[1]) < CROWDED * self.spacing)
    }

    fn direction(&self, p: [f32; 2]) -> Option<[f32; 2]> {
        let [u, v] = self.motion.at(p);
        let speed = u.hypot(v);
        (speed > STILL * self.motion.fastest).then(|| [u / speed, v / speed])
    }

    fn is_liquid(&self, p: [f32; 2]) -> bool {
        const CLEAR: f32 = 0.3;
        let cells = self.view.grid.cells;
        let inside = (0..2).all(|a| p[a] > CLEAR && p[a] < cells[a] as f32 - CLEAR);
        inside
            && self.outline.distance(p) < -CLEAR
            && (self.view.solids.is_empty() || solid_distance(self.view, p) > CLEAR)
    }

    fn is_crowded(&self, p: [f32; 2], part: f32) -> bool {
        let square = self.square(p);
        let near = |a: usize| square[a].saturating_sub(1)..(square[a] + 2).min(self.squares[a]);
        near(1).any(|j| {
            near(0).any(|i| {
                let points = &self.taken[i + self.squares[0] * j];
                points.iter().any(|q| (q[0] - p[0]).hypot(q[1] - p[1]) < part * self.spacing)
            })
        })
    }

    fn square(&self, p: [f32; 2]) -> [usize; 2] {
        std::array::from_fn(|a| ((p[a] / self.spacing) as usize).min(self.squares[a] - 1))
    }
}

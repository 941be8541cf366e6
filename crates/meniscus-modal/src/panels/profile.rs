//! The outline of a body, and what of its flow depends on the outline alone.

use faer::linalg::solvers::Solve;
use faer::{Col, Mat};

use super::panel::{Panel, point_stream};

/// The outline of a body in its own frame, whose origin is the centre of its area.
#[derive(Clone, Debug)]
pub struct Profile {
    /// Its pieces, counter-clockwise.
    pub panels: Vec<Panel>,
    /// How far it reaches from its centre, in m.
    pub reach: f64,
    /// Its area, in m².
    pub area: f64,
    /// The integral of r² over its area, in m⁴.
    pub polar_moment: f64,
    /// The stream function of each panel, of unit strength and without walls, at the middle of each: a row for each middle.
    pub streams: Mat<f64>,
    /// What that is more than that of a vortex at the middle of the panel; at its own middle all of it.
    pub near_streams: Mat<f64>,
    /// The speed along each panel, counter-clockwise, of the flow of unit vorticity within the outline, in m.
    pub inner_speeds: Vec<f64>,
    /// The integral of r × that flow, in m⁴.
    pub inner_moment: f64,
}

impl Profile {
    /// Of a polygon, counter-clockwise; gives with it where the centre of its area is.
    pub fn of_polygon(points: &[[f64; 2]]) -> (Self, [f64; 2]) {
        let (area, centre) = area_and_centre(points);
        let around = |k: usize| {
            let point = points[k % points.len()];
            [point[0] - centre[0], point[1] - centre[1]]
        };
        let panels: Vec<Panel> = (0..points.len()).map(|k| Panel::new(around(k), around(k + 1))).collect();
        let streams = Mat::from_fn(panels.len(), panels.len(), |i, j| panels[j].stream(panels[i].middle));
        // ∫ r² dA = ¼ ∮ r² r·n ds, and r·n is the same all along a panel.
        let of_panel = |p: &Panel| 0.25 * p.length * dot(p.middle, p.normal()) * mean_square(p);
        let polar_moment = panels.iter().map(of_panel).sum();
        let inner_speeds = inner_speeds(&panels, &streams, area);
        let moment: f64 =
            panels.iter().zip(&inner_speeds).map(|(p, speed)| 0.5 * mean_square(p) * p.length * speed).sum();
        let near_streams = Mat::from_fn(panels.len(), panels.len(), |i, j| {
            let d = [0, 1].map(|axis| panels[i].middle[axis] - panels[j].middle[axis]);
            let of_vortex = if i == j { 0.0 } else { panels[j].length * point_stream(dot(d, d)) };
            streams[(i, j)] - of_vortex
        });
        let profile = Self {
            reach: panels.iter().map(|p| p.start[0].hypot(p.start[1])).fold(0.0, f64::max),
            panels,
            near_streams,
            area,
            polar_moment,
            streams,
            inner_speeds,
            inner_moment: moment - 0.5 * polar_moment,
        };
        (profile, centre)
    }

    /// For a point within the outline the nearest one on it, a little outside.
    pub fn nearest_outside(&self, x: [f64; 2]) -> Option<[f64; 2]> {
        let mut is_inside = false;
        let mut nearest = (f64::INFINITY, x);
        for panel in &self.panels {
            let from = [x[0] - panel.start[0], x[1] - panel.start[1]];
            let end = [0, 1].map(|axis| panel.start[axis] + panel.length * panel.tangent[axis]);
            // A ray to the right passes the panel.
            if (panel.start[1] > x[1]) != (end[1] > x[1]) {
                let at = panel.start[0] + (x[1] - panel.start[1]) * panel.tangent[0] / panel.tangent[1];
                is_inside ^= at > x[0];
            }
            let along = dot(from, panel.tangent).clamp(0.0, panel.length);
            let foot = [0, 1].map(|axis| panel.start[axis] + along * panel.tangent[axis]);
            let square = (x[0] - foot[0]).powi(2) + (x[1] - foot[1]).powi(2);
            if square < nearest.0 {
                const OFF: f64 = 1e-3;
                let normal = panel.normal();
                nearest = (square, [0, 1].map(|axis| foot[axis] + OFF * panel.length * normal[axis]));
            }
        }
        is_inside.then_some(nearest.1)
    }
}

/// The mean of r² along a panel.
pub fn mean_square(panel: &Panel) -> f64 {
    dot(panel.middle, panel.middle) + panel.length * panel.length / 12.0
}

fn dot(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

fn area_and_centre(points: &[[f64; 2]]) -> (f64, [f64; 2]) {
    let (mut twice, mut moment) = (0.0, [0.0; 2]);
    // From the first point, so that places far from the origin cost no digits.
    let from = points[0];
    for (k, a) in points.iter().enumerate() {
        let b = points[(k + 1) % points.len()];
        let (a, b) = ([a[0] - from[0], a[1] - from[1]], [b[0] - from[0], b[1] - from[1]]);
        let cross = a[0] * b[1] - a[1] * b[0];
        twice += cross;
        moment = [0, 1].map(|axis| moment[axis] + cross * (a[axis] + b[axis]));
    }
    (0.5 * twice, [0, 1].map(|axis| from[axis] + moment[axis] / (3.0 * twice)))
}

/// The speed at the outline of the flow of unit vorticity within it. Together with the sheet that holds it in, which has its speed turned around as strength, it makes a flow
/// that is still outside, and so has the same stream function all along the outline.
fn inner_speeds(panels: &[Panel], streams: &Mat<f64>, area: f64) -> Vec<f64> {
    let n = panels.len();
    let matrix = Mat::from_fn(n + 1, n + 1, |i, j| match (i < n, j < n) {
        (true, true) => streams[(i, j)],
        (true, false) => -1.0,
        (false, true) => panels[j].length,
        (false, false) => 0.0,
    });
    let rhs = Col::from_fn(n + 1, |i| match panels.get(i) {
        Some(panel) => -stream_of_area(panels, streams, i, panel.middle),
        None => -area,
    });
    let strengths = matrix.partial_piv_lu().solve(&rhs);
    (0..n).map(|k| -strengths[k]).collect()
}

/// The stream function of unit vorticity within an outline without walls, at the middle of panel `i`: -ln r / 2π is the divergence of
/// -(2 ln r - 1) r / 8π, whose flux through a panel is that of r, the same all along it, times what the panel's own stream function is made of.
fn stream_of_area(panels: &[Panel], streams: &Mat<f64>, i: usize, x: [f64; 2]) -> f64 {
    let of_panel = |(j, panel): (usize, &Panel)| {
        let away = dot([panel.middle[0] - x[0], panel.middle[1] - x[1]], panel.normal());
        away * (0.5 * streams[(i, j)] + panel.length / (8.0 * std::f64::consts::PI))
    };
    panels.iter().enumerate().map(of_panel).sum()
}

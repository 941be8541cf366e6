//! What panels do to each other: the stream function of each at the middle of each.

use faer::Mat;
use meniscus_core::simd::simd;

use super::green::{Images, Place, Places};
use super::panel::{Panel, point_stream};
use crate::flow::dot;

/// Where a panel is closer to a point than so many of its lengths, its stream function is not that of what is at its middle.
const NEAR: f64 = 4.0;

/// What panels do to each other. From afar a panel is a vortex at its middle, and vortices do to each other the same there and back: a half of that is kept.
#[derive(Clone, Debug)]
pub struct Influence<'a> {
    /// The stream functions of vortices of unit circulation at the middles, column by column from the diagonal on; at the vortex itself what its images do.
    vortices: Vec<f64>,
    /// The lengths of the panels.
    lengths: Vec<f64>,
    /// For groups of panels what each does to each of them beside that.
    own: Vec<&'a Mat<f64>>,
    /// What others do beside that, of those that are near: to which, from which, and how much.
    near: Vec<(usize, usize, f64)>,
}

/// Some panels.
pub struct Group<'p, 'a> {
    /// The panels.
    pub panels: &'p [Panel],
    /// What the stream function of each at the middle of each is without walls, more than that of a vortex at its middle; at its own middle all of it. A row for each middle.
    pub own: &'a Mat<f64>,
}

impl Group<'_, '_> {
    /// A point, and how far panels and what is near to them reach from it.
    fn reach(&self) -> ([f64; 2], f64) {
        let centre = self.panels[0].middle;
        let of_panel = |panel: &Panel| distance_squared(panel.middle, centre).sqrt() + NEAR * panel.length;
        (centre, self.panels.iter().map(of_panel).fold(0.0, f64::max))
    }
}

impl<'a> Influence<'a> {
    /// Of groups of panels, in memory that may have been used before.
    pub fn new(images: &Images, groups: &[Group<'_, 'a>], mut vortices: Vec<f64>) -> Self {
        let panels: Vec<&Panel> = groups.iter().flat_map(|group| group.panels).collect();
        let places: Vec<Place> = panels.iter().map(|panel| images.place(panel.middle)).collect();
        let all = Places::of(&places);
        let count = panels.len();
        vortices.resize(count * (count + 1) / 2, 0.0);
        let mut rest = &mut vortices[..];
        for (j, place) in places.iter().enumerate() {
            let (column, after) = rest.split_at_mut(count - j);
            column[0] = images.rest_at_itself(*place);
            column[1..].fill(0.0);
            images.add_streams(&all, j + 1, *place, 1.0, &mut column[1..]);
            rest = after;
        }
        let lengths = panels.iter().map(|panel| panel.length).collect();
        let own = groups.iter().map(|group| group.own).collect();
        Self { vortices, lengths, own, near: near_pairs(images.size(), groups) }
    }

    /// Its memory, to be used again.
    pub fn into_memory(self) -> Vec<f64> {
        self.vortices
    }

    /// The stream function at each middle of panels with these strengths.
    pub fn multiply(&self, strengths: &[f64], streams: &mut [f64]) {
        let circulations: Vec<f64> =
            strengths.iter().zip(&self.lengths).map(|(s, length)| s * length).collect();
        streams.fill(0.0);
        simd(
            #[inline(always)]
            || {
                let mut rest = &self.vortices[..];
                for (j, &circulation) in circulations.iter().enumerate() {
                    let (column, after) = rest.split_at(circulations.len() - j);
                    let (at, others) = streams[j..].split_first_mut().expect("one for each panel");
                    *at += column[0] * circulation + dot(&column[1..], &circulations[j + 1..]);
                    others.iter_mut().zip(&column[1..]).for_each(|(to, entry)| *to += entry * circulation);
                    rest = after;
                }
            },
        );
        let mut first = 0;
        for own in &self.own {
            let range = first..first + own.ncols();
            for (column, strength) in strengths[range.clone()].iter().enumerate() {
                let entries = own.col(column).try_as_col_major().expect("a dense matrix").as_slice();
                streams[range.clone()]
                    .iter_mut()
                    .zip(entries)
                    .for_each(|(to, entry)| *to += entry * strength);
            }
            first = range.end;
        }
        for &(to, from, value) in &self.near {
            streams[to] += value * strengths[from];
        }
    }
}

/// What panels do to those of other groups that are near, and their images in near walls to all, beside what vortices do.
fn near_pairs(size: [f64; 2], groups: &[Group]) -> Vec<(usize, usize, f64)> {
    let reaches: Vec<([f64; 2], f64)> = groups.iter().map(Group::reach).collect();
    let mut near_pairs = Vec::new();
    let mut first = 0;
    for (group, &(centre, reach)) in groups.iter().zip(&reaches) {
        let sources: Vec<(usize, Vec<(Panel, f64)>)> =
            (first..).zip(group.panels).map(|(j, panel)| (j, near_images(size, panel).collect())).collect();
        let mut to_first = 0;
        for (to, &(to_centre, to_reach)) in groups.iter().zip(&reaches) {
            let is_same = to_first == first;
            let apart = distance_squared(centre, to_centre).sqrt();
            for ((j, images), panel) in sources.iter().zip(group.panels) {
                let itself = (!is_same && apart < reach + to_reach).then_some((*panel, 1.0));
                for (source, sign) in itself.iter().chain(images) {
                    for (i, at) in (to_first..).zip(to.panels) {
                        let value = near(source, at.middle, distance_squared(at.middle, source.middle));
                        if value != 0.0 {
                            near_pairs.push((i, *j, sign * value));
                        }
                    }
                }
            }
            to_first += to.panels.len();
        }
        first += group.panels.len();
    }
    near_pairs
}

/// Adds the stream functions at points, which are no middles of panels, of panels with these strengths in a box.
pub fn add_streams_in_box(
    images: &Images,
    panels: &[Panel],
    strengths: &[f64],
    points: &[[f64; 2]],
    streams: &mut [f64],
) {
    let places: Vec<Place> = points.iter().map(|x| images.place(*x)).collect();
    let places = Places::of(&places);
    for (panel, strength) in panels.iter().zip(strengths) {
        let circulation = strength * panel.length;
        images.add_streams(&places, 0, images.place(panel.middle), circulation, streams);
        for (source, sign) in near_images(images.size(), panel).chain([(*panel, 1.0)]) {
            for (x, to) in points.iter().zip(&mut *streams) {
                *to += sign * strength * near(&source, *x, distance_squared(*x, source.middle));
            }
        }
    }
}

/// What the stream function at a point of a panel is more than that of a vortex at its middle: nothing from afar.
fn near(panel: &Panel, x: [f64; 2], square: f64) -> f64 {
    if square >= (NEAR * panel.length).powi(2) {
        return 0.0;
    }
    // At the middle itself both are large, and their sum is about what it should be.
    panel.stream(x) - panel.length * point_stream(square.max(f64::MIN_POSITIVE))
}

/// The images of a panel in walls that are near, with the signs of their strengths.
fn near_images(size: [f64; 2], panel: &Panel) -> impl Iterator<Item = (Panel, f64)> + use<> {
    let walls = [0, 1].map(|axis| {
        let at = if 2.0 * panel.middle[axis] < size[axis] { 0.0 } else { size[axis] };
        ((panel.middle[axis] - at).abs() < NEAR * panel.length).then_some(at)
    });
    let [x, y] = [0, 1].map(|axis| walls[axis].map(|at| (panel.mirrored(axis, at), -1.0)));
    let in_corner = match walls {
        [Some(x), Some(y)] => Some((panel.mirrored(0, x).mirrored(1, y), 1.0)),
        _ => None,
    };
    x.into_iter().chain(y).chain(in_corner)
}

fn distance_squared(a: [f64; 2], b: [f64; 2]) -> f64 {
    (a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2)
}

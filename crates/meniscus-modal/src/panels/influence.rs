//! What panels do to each other: the stream function of each at the middle of each.

use faer::Mat;

use super::green::{Images, Place};
use super::panel::{Panel, point_stream};

/// Where a panel is closer to a point than so many of its lengths, its stream function is not that of what is at its middle.
const NEAR: f64 = 4.0;

/// Panels in a box, with the stream function of each at the middle of each.
#[derive(Clone, Debug)]
pub struct Influence {
    /// A column for each panel.
    matrix: Vec<f64>,
    count: usize,
}

/// Some panels and what they do to each other without walls, a row for each middle.
pub struct Group<'a> {
    /// The panels.
    pub panels: &'a [Panel],
    /// The stream function of each at the middle of each: a row for each middle.
    pub own: &'a Mat<f64>,
}

impl Influence {
    /// Of groups of panels.
    pub fn new(images: &Images, groups: &[Group]) -> Self {
        let panels: Vec<&Panel> = groups.iter().flat_map(|group| group.panels).collect();
        let places: Vec<Place> = panels.iter().map(|panel| images.place(panel.middle)).collect();
        let count = panels.len();
        let mut matrix = vec![0.0; count * count];
        let mut first = 0;
        for group in groups {
            let own = first..first + group.panels.len();
            for j in own.clone() {
                let from = Source::new(images, panels[j], places[j]);
                for (i, to) in matrix[j * count..][..count].iter_mut().enumerate() {
                    let square = distance_squared(panels[i].middle, panels[j].middle);
                    let without_walls = match own.contains(&i) {
                        true => group.own[(i - first, j - first)],
                        false => stream(panels[j], panels[i].middle, square),
                    };
                    *to = without_walls + from.of_walls(images, panels[i].middle, places[i], square);
                }
            }
            first = own.end;
        }
        Self { matrix, count }
    }

    /// The stream function at each middle of panels with these strengths.
    pub fn multiply(&self, strengths: &[f64], streams: &mut [f64]) {
        streams.fill(0.0);
        for (column, strength) in self.matrix.chunks_exact(self.count).zip(strengths) {
            streams.iter_mut().zip(column).for_each(|(to, entry)| *to += entry * strength);
        }
    }
}

/// The stream function at a point of a panel of unit strength in a box.
pub fn stream_in_box(images: &Images, panel: &Panel, x: [f64; 2]) -> f64 {
    let square = distance_squared(x, panel.middle);
    let from = Source::new(images, panel, images.place(panel.middle));
    stream(panel, x, square) + from.of_walls(images, x, images.place(x), square)
}

/// A panel and those of its images that may be near.
struct Source<'a> {
    panel: &'a Panel,
    place: Place,
    /// With the sign of their strengths.
    images: Vec<(Panel, f64)>,
}

impl<'a> Source<'a> {
    fn new(images: &Images, panel: &'a Panel, place: Place) -> Self {
        let size = images.size();
        let walls = [0, 1].map(|axis| {
            let at = if 2.0 * panel.middle[axis] < size[axis] { 0.0 } else { size[axis] };
            ((panel.middle[axis] - at).abs() < NEAR * panel.length).then_some(at)
        });
        let mut images: Vec<(Panel, f64)> = Vec::new();
        for (axis, wall) in walls.into_iter().enumerate() {
            images.extend(wall.map(|at| (panel.mirrored(axis, at), -1.0)));
        }
        if let [Some(x), Some(y)] = walls {
            images.push((panel.mirrored(0, x).mirrored(1, y), 1.0));
        }
        Self { panel, place, images }
    }

    /// The stream function of all images at a point.
    fn of_walls(&self, images: &Images, x: [f64; 2], at: Place, square: f64) -> f64 {
        let from_afar = self.panel.length * images.rest(at, self.place, square);
        let corrections = self.images.iter().map(|(image, sign)| {
            let square = distance_squared(x, image.middle);
            // From afar an image is a vortex at its middle, which is what it counts as already.
            sign * (stream(image, x, square) - image.length * point_stream(square))
        });
        from_afar + corrections.sum::<f64>()
    }
}

/// The stream function at a point of a panel of unit strength without walls: from afar that of a vortex at its middle.
fn stream(panel: &Panel, x: [f64; 2], square: f64) -> f64 {
    if square < (NEAR * panel.length).powi(2) { panel.stream(x) } else { panel.length * point_stream(square) }
}

fn distance_squared(a: [f64; 2], b: [f64; 2]) -> f64 {
    (a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2)
}

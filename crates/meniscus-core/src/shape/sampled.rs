//! Shapes by samples of their distance.

use super::{Bounds, Shape, box_distance};
use crate::grid::{ravel, unravel};
use crate::parallel;
use crate::vector::{add_scaled, unit};

/// Layers of samples around the bounds of a shape: distances near it are those between samples, and beyond those from its bounds. With one layer they are not
/// of second order (`samples_tell_the_distance_to_second_order`).
const MARGIN: f64 = 3.0;

/// Walls thinner than this many spacings are not left to the samples: between two of them no sample need lie inside. `thin_plates_are_not_lost_between_samples` bounds it.
const THIN: f64 = 2.0;

/// The distance to a shape on a lattice, linear in between: for shapes whose distance takes long to find and is asked for often. Where a
/// wall is too thin for the lattice the shape itself is asked; else what is finer is lost.
#[derive(Clone, Debug)]
pub struct SampledShape<const D: usize> {
    shape: Box<Shape<D>>,
    /// By cell of the lattice, numbered as its lowest node: whether a thin wall may pass through it.
    is_thin: Vec<bool>,
    bounds: Bounds<D>,
    lower: [f64; D],
    spacing: f64,
    nodes: [usize; D],
    values: Vec<f32>,
}

/// To compare all that it holds would take long: one is equal to itself alone.
impl<const D: usize> PartialEq for SampledShape<D> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl<const D: usize> Eq for SampledShape<D> {}

impl<const D: usize> SampledShape<D> {
    /// Samples a bounded shape.
    pub(super) fn new(shape: &Shape<D>, spacing: f64) -> Self {
        let bounds = shape.bounds();
        let lower = bounds.lower.map(|x| x - MARGIN * spacing);
        let count = |x: f64| (x / spacing + 2.0 * MARGIN).ceil() as usize + 1;
        let nodes = bounds.extent().map(count);
        let value = |index: usize| {
            let node = unravel(index, nodes);
            let point = std::array::from_fn(|a| lower[a] + spacing * node[a] as f64);
            shape.signed_distance(point) as f32
        };
        let values = parallel::map_each(nodes.iter().product(), value);
        let is_thin = |index: usize| {
            let node = unravel(index, nodes);
            let centre = std::array::from_fn(|a| lower[a] + spacing * (node[a] as f64 + 0.5));
            has_thin_wall(shape, centre, spacing)
        };
        let is_thin = parallel::map_each(nodes.iter().product(), is_thin);
        let is_thin = with_neighbours(&is_thin, nodes);
        Self { shape: Box::new(shape.clone()), is_thin, bounds, lower, spacing, nodes, values }
    }

    /// The distance between the samples, or that from the bounds of the shape where there are none.
    pub(super) fn signed_distance(&self, point: [f64; D]) -> f64 {
        let place: [f64; D] = std::array::from_fn(|a| (point[a] - self.lower[a]) / self.spacing);
        if (0..D).any(|a| !(place[a] >= 0.0 && place[a] < (self.nodes[a] - 1) as f64)) {
            let centre = self.bounds.centre();
            let half = self.bounds.extent().map(|x| 0.5 * x);
            return box_distance(std::array::from_fn::<f64, D, _>(|a| {
                (point[a] - centre[a]).abs() - half[a]
            }));
        }
        let first = place.map(|x| x as usize);
        if self.is_thin[ravel(first, self.nodes)] {
            return self.shape.signed_distance(point);
        }
        let mut sum = 0.0;
        for corner in 0..1 << D {
            let (mut weight, mut index) = (1.0, 0);
            for a in (0..D).rev() {
                let part = place[a] - first[a] as f64;
                let upper = corner >> a & 1;
                weight *= if upper == 1 { part } else { 1.0 - part };
                index = index * self.nodes[a] + first[a] + upper;
            }
            sum += weight * f64::from(self.values[index]);
        }
        sum
    }

    /// The shape that was sampled.
    pub(super) fn shape(&self) -> &Shape<D> {
        &self.shape
    }

    /// The distance between samples, in metres.
    pub(super) fn spacing(&self) -> f64 {
        self.spacing
    }

    pub(super) fn bounds(&self) -> Bounds<D> {
        self.bounds
    }
}

/// Whether a wall thinner than [`THIN`] spacings comes into the cell of a lattice around a point.
fn has_thin_wall<const D: usize>(shape: &Shape<D>, centre: [f64; D], spacing: f64) -> bool {
    let here = shape.signed_distance(centre);
    if here.abs() > 0.5 * (D as f64).sqrt() * spacing {
        return false;
    }
    let step = 0.01 * spacing;
    let slope: [f64; D] = std::array::from_fn(|axis| {
        let ahead = std::array::from_fn(|a| if a == axis { centre[a] + step } else { centre[a] });
        shape.signed_distance(ahead) - here
    });
    let out = unit(slope);
    // From the surface inwards.
    let depths = (1..=8).map(|k| f64::from(k) / 8.0 * THIN * spacing);
    let mut points = depths.map(|depth| add_scaled(centre, -here - depth, out));
    points.any(|point| shape.signed_distance(point) > 0.0)
}

/// These cells of a lattice and all around them: at its rim a wall is thin, but not along the shortest way through it.
fn with_neighbours<const D: usize>(cells: &[bool], dims: [usize; D]) -> Vec<bool> {
    let mut all = cells.to_vec();
    for index in (0..cells.len()).filter(|index| cells[*index]) {
        let cell = unravel(index, dims);
        for offset in (0..3_usize.pow(D as u32)).map(|k| unravel(k, [3; D])) {
            let place: [usize; D] = std::array::from_fn(|a| (cell[a] + offset[a]).saturating_sub(1));
            if (0..D).all(|a| place[a] < dims[a]) {
                all[ravel(place, dims)] = true;
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::{RigidTransform, Rotation};

    /// Between samples half a unit apart a plate of a tenth would be lost; one of nine tenths is a thin wall too, but for its rim.
    #[test]
    fn thin_plates_are_not_lost_between_samples() {
        check_thin_plate([3.0, 0.05, 3.0]);
        check_thin_plate([6.0, 0.45, 6.0]);
    }

    /// A plate with these half extents, at points up to 3 along each axis.
    fn check_thin_plate(half: [f64; 3]) {
        let plate = Shape::<3>::centred_box([0.0; 3], half).unwrap();
        let rotation = Rotation::<3>::from_axis_angle([1.0, 0.3, 0.2], 0.4).unwrap();
        let plate = plate.transformed(RigidTransform { rotation, translation: [0.1, 0.2, 0.3] }).unwrap();
        let sampled = plate.sampled(0.5);
        for k in 0..4000 {
            let point = [0.618, 0.414, 0.732].map(|step| 6.0 * ((f64::from(k) * step) % 1.0) - 3.0);
            let (exact, found) = (plate.signed_distance(point), sampled.signed_distance(point));
            assert_eq!(found < 0.0, exact < 0.0, "{found} {exact}");
            assert!(exact.abs() > 0.2 || found == exact, "{found} {exact}");
        }
    }

    #[test]
    fn samples_tell_the_distance_to_second_order() {
        let ball = Shape::<3>::sphere([0.2, -0.1, 0.4], 0.3).unwrap();
        for (spacing, tolerance) in [(0.02, 4e-4), (0.01, 1e-4)] {
            let sampled = ball.sampled(spacing);
            assert_eq!(sampled.bounds(), ball.bounds());
            for k in 0..500 {
                let point = [0.618, 0.414, 0.732].map(|step| (f64::from(k) * step) % 1.0 - 0.3);
                let exact = ball.signed_distance(point);
                let found = sampled.signed_distance(point);
                if exact.abs() < 3.0 * spacing {
                    assert!((found - exact).abs() < tolerance, "{found} {exact}");
                } else {
                    assert_eq!(found < 0.0, exact < 0.0, "{found} {exact}");
                }
            }
        }
    }
}

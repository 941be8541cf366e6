//! Shapes by samples of their distance.

use rayon::prelude::*;

use super::{Bounds, Shape, box_distance};
use crate::grid::unravel;

/// Layers of samples around the bounds of a shape.
const MARGIN: f64 = 3.0;

/// The distance to a shape on a lattice, linear in between: for shapes whose distance takes long to find and is asked for often. What is
/// finer than the lattice is lost.
#[derive(Clone, Debug)]
pub struct SampledShape<const D: usize> {
    bounds: Bounds<D>,
    lower: [f64; D],
    spacing: f64,
    nodes: [usize; D],
    values: Vec<f32>,
}

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
        let values = (0..nodes.iter().product()).into_par_iter().map(value).collect();
        Self { bounds, lower, spacing, nodes, values }
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

    pub(super) fn bounds(&self) -> Bounds<D> {
        self.bounds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

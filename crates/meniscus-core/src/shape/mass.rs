//! Volume, centre and inertia of shapes.

use super::{Bounds, Shape};
use crate::parallel;
use crate::vector::norm;

/// How often the longest side of the bounds is halved. With 4 masses are off by more than `balls_and_boxes_are_as_in_the_books` allows.
const HALVINGS: u32 = 7;

/// The moments of a shape that is filled with a density of 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MassProperties<const D: usize> {
    /// In m³ (2D: m²).
    pub volume: f64,
    /// The centre of mass.
    pub centre: [f64; D],
    /// The tensor of inertia about the centre, in m⁵ (2D: m⁴, of which only the last entry, that of turns in the plane, counts).
    pub inertia: [[f64; 3]; 3],
}

/// Integrals of 1, x and x x^T.
#[derive(Clone, Copy)]
struct Moments<const D: usize> {
    volume: f64,
    first: [f64; D],
    second: [[f64; D]; D],
}

impl<const D: usize> Moments<D> {
    const ZERO: Self = Self { volume: 0.0, first: [0.0; D], second: [[0.0; D]; D] };

    /// Of a cube, a part of which is filled evenly.
    fn of_cube(centre: [f64; D], half: f64, part: f64) -> Self {
        let volume = part * (2.0 * half).powi(D as i32);
        let own = half * half / 3.0;
        let second = |a: usize, b: usize| volume * (centre[a] * centre[b] + if a == b { own } else { 0.0 });
        Self {
            volume,
            first: centre.map(|x| volume * x),
            second: std::array::from_fn(|a| std::array::from_fn(|b| second(a, b))),
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            volume: self.volume + other.volume,
            first: std::array::from_fn(|a| self.first[a] + other.first[a]),
            second: std::array::from_fn(|a| std::array::from_fn(|b| self.second[a][b] + other.second[a][b])),
        }
    }
}

impl<const D: usize> Shape<D> {
    /// Volume, centre of mass and inertia, by cubes that are halved where the surface passes through, down to 1/128 of the longest
    /// side of the [bounds](Shape::bounds); `None` for a shape that is empty or that has no bounds.
    ///
    /// A ball is off by less than a thousandth in each of them.
    pub fn mass_properties(&self) -> Option<MassProperties<D>> {
        let bounds = self.bounds();
        let half = 0.5 * bounds.extent().into_iter().fold(0.0, f64::max);
        if !bounds.is_finite() {
            return None;
        }
        let centre = bounds.centre();
        let moments = self.moments([0.0; D], centre, half, HALVINGS);
        (moments.volume > 0.0).then(|| properties(moments, centre))
    }

    /// Moments about `origin` of what lies in a cube; `offset` is from `origin` to its centre.
    fn moments(&self, offset: [f64; D], origin: [f64; D], half: f64, halvings: u32) -> Moments<D> {
        let distance = self.signed_distance(std::array::from_fn(|a| origin[a] + offset[a]));
        let reach = half * (D as f64).sqrt();
        if distance >= reach {
            return Moments::ZERO;
        }
        if distance <= -reach {
            return Moments::of_cube(offset, half, 1.0);
        }
        if halvings == 0 {
            // As if the surface passed in parallel to a face.
            return Moments::of_cube(offset, half, (0.5 - 0.5 * distance / half).clamp(0.0, 1.0));
        }
        let child = |k: usize| {
            let offset =
                std::array::from_fn(|a| offset[a] + if k >> a & 1 == 1 { 0.5 * half } else { -0.5 * half });
            self.moments(offset, origin, 0.5 * half, halvings - 1)
        };
        // In parallel only at the top, and summed in order.
        if halvings + 2 > HALVINGS {
            parallel::map(1 << D, child).into_iter().fold(Moments::ZERO, Moments::plus)
        } else {
            (0..1 << D).map(child).fold(Moments::ZERO, Moments::plus)
        }
    }

    /// The distance of the farthest point from the origin, at most; infinite for a shape without bounds.
    pub fn radius(&self) -> f64 {
        let Bounds { lower, upper } = self.bounds();
        norm(std::array::from_fn::<f64, D, _>(|a| lower[a].abs().max(upper[a].abs())))
    }
}

/// From moments about `origin`.
fn properties<const D: usize>(moments: Moments<D>, origin: [f64; D]) -> MassProperties<D> {
    let Moments { volume, first, second } = moments;
    let shift = first.map(|x| x / volume);
    let about_centre = |a: usize, b: usize| second[a][b] - volume * shift[a] * shift[b];
    let mut inertia = [[0.0; 3]; 3];
    let trace: f64 = (0..D).map(|a| about_centre(a, a)).sum();
    if D == 2 {
        inertia[2][2] = trace;
    } else {
        for (a, row) in inertia.iter_mut().enumerate() {
            for (b, entry) in row.iter_mut().enumerate() {
                *entry = if a == b { trace } else { 0.0 } - about_centre(a, b);
            }
        }
    }
    MassProperties { volume, centre: std::array::from_fn(|a| origin[a] + shift[a]), inertia }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::*;
    use crate::shape::{RigidTransform, Rotation, ShapeError};

    fn near(found: f64, expected: f64, tolerance: f64) {
        assert!((found / expected - 1.0).abs() < tolerance, "{found} instead of {expected}");
    }

    #[test]
    fn balls_and_boxes_are_as_in_the_books() -> Result<(), ShapeError> {
        let ball = Shape::<3>::sphere([5.0, -2.0, 100.0], 0.3)?.mass_properties().expect("bounded");
        near(ball.volume, 4.0 / 3.0 * PI * 0.027, 1e-3);
        for axis in 0..3 {
            assert!((ball.centre[axis] - [5.0, -2.0, 100.0][axis]).abs() < 1e-9);
            near(ball.inertia[axis][axis], 0.4 * ball.volume * 0.09, 1e-3);
        }
        let disc = Shape::<2>::sphere([1.0, 1.0], 0.5)?.mass_properties().expect("bounded");
        near(disc.volume, PI * 0.25, 1e-3);
        near(disc.inertia[2][2], 0.5 * disc.volume * 0.25, 1e-3);
        let slab = Shape::<3>::centred_box([0.1, 0.2, 0.3], [0.5, 0.1, 0.2])?;
        let slab = slab.mass_properties().expect("bounded");
        near(slab.volume, 8.0 * 0.01, 1e-2);
        near(slab.inertia[0][0], slab.volume / 3.0 * 0.05, 1e-2);
        near(slab.inertia[1][1], slab.volume / 3.0 * 0.29, 1e-2);
        Ok(())
    }

    #[test]
    fn ellipsoids_have_their_mass() -> Result<(), ShapeError> {
        let [a, b, c] = [0.5, 0.2, 0.35];
        let egg = Shape::<3>::ellipsoid([1.0, 2.0, 3.0], [a, b, c])?.mass_properties().expect("bounded");
        near(egg.volume, 4.0 / 3.0 * PI * a * b * c, 2e-3);
        near(egg.inertia[0][0], 0.2 * egg.volume * (b * b + c * c), 2e-3);
        near(egg.inertia[1][1], 0.2 * egg.volume * (a * a + c * c), 2e-3);
        near(egg.inertia[2][2], 0.2 * egg.volume * (a * a + b * b), 2e-3);
        assert!((0..3).all(|axis| (egg.centre[axis] - [1.0, 2.0, 3.0][axis]).abs() < 1e-9));
        let ellipse = Shape::<2>::ellipsoid([1.0, 2.0], [a, b])?.mass_properties().expect("bounded");
        near(ellipse.volume, PI * a * b, 2e-3);
        near(ellipse.inertia[2][2], 0.25 * ellipse.volume * (a * a + b * b), 2e-3);
        // A disc that is a tenth as thick as it is wide.
        let lens = Shape::<3>::ellipsoid([0.0; 3], [1.0, 0.1, 1.0])?.mass_properties().expect("bounded");
        near(lens.volume, 4.0 / 3.0 * PI * 0.1, 5e-3);
        near(lens.inertia[1][1], 0.4 * lens.volume, 5e-3);
        Ok(())
    }

    /// Steiner: two balls on the x axis, turned with it.
    #[test]
    fn parts_far_from_the_centre_count_by_the_square_of_their_distance() -> Result<(), ShapeError> {
        let ball = |x: f64| Shape::<3>::sphere([x, 0.0, 0.0], 0.1);
        let pair = Shape::union(vec![ball(-0.4)?, ball(0.4)?])?;
        let rotation = Rotation::<3>::from_axis_angle([0.0, 0.0, 1.0], 0.5 * PI)?;
        let turned = pair.transformed(RigidTransform { rotation, translation: [1.0, 2.0, 3.0] })?;
        let found = turned.mass_properties().expect("bounded");
        let volume = 2.0 * 4.0 / 3.0 * PI * 1e-3;
        let (along, across) = (0.4 * 0.01 * volume, (0.4 * 0.01 + 0.16) * volume);
        near(found.volume, volume, 5e-3);
        near(found.inertia[1][1], along, 2e-2);
        near(found.inertia[0][0], across, 5e-3);
        assert!(found.inertia[0][1].abs() < 1e-3 * across);
        Ok(())
    }

    #[test]
    fn what_has_no_bounds_or_no_inside_has_no_mass() -> Result<(), ShapeError> {
        assert!(Shape::<2>::half_space([0.0; 2], [0.0, 1.0])?.mass_properties().is_none());
        let apart = vec![Shape::<2>::sphere([0.0; 2], 0.1)?, Shape::sphere([1.0; 2], 0.1)?];
        assert!(Shape::intersection(apart)?.mass_properties().is_none());
        Ok(())
    }
}

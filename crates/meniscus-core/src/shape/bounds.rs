//! Axis-aligned bounding boxes.

use super::RigidTransform;

/// An axis-aligned box, perhaps with infinite sides, perhaps empty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds<const D: usize> {
    /// The lower corner.
    pub lower: [f64; D],
    /// The upper corner.
    pub upper: [f64; D],
}

impl<const D: usize> Bounds<D> {
    /// No point at all; the neutral element of [`Bounds::union`].
    pub const EMPTY: Self = Self { lower: [f64::INFINITY; D], upper: [f64::NEG_INFINITY; D] };

    /// All of space; the neutral element of [`Bounds::intersection`].
    pub const EVERYTHING: Self = Self { lower: [f64::NEG_INFINITY; D], upper: [f64::INFINITY; D] };

    /// The box around `centre` that reaches `reach[a]` to either side along axis `a`.
    pub fn centred(centre: [f64; D], reach: [f64; D]) -> Self {
        Self {
            lower: std::array::from_fn(|a| centre[a] - reach[a]),
            upper: std::array::from_fn(|a| centre[a] + reach[a]),
        }
    }

    /// The smallest box that holds the points.
    pub fn of_points(points: impl IntoIterator<Item = [f64; D]>) -> Self {
        points
            .into_iter()
            .fold(Self::EMPTY, |bounds, point| bounds.union(Self { lower: point, upper: point }))
    }

    /// Whether the box holds no point.
    pub fn is_empty(&self) -> bool {
        (0..D).any(|a| self.lower[a] > self.upper[a])
    }

    /// Whether no side is infinite; an empty box has infinite ones.
    pub fn is_finite(&self) -> bool {
        self.lower.iter().chain(&self.upper).all(|x| x.is_finite())
    }

    /// Whether the box, its surface included, holds the point.
    pub fn contains(&self, point: [f64; D]) -> bool {
        (0..D).all(|a| (self.lower[a]..=self.upper[a]).contains(&point[a]))
    }

    /// The middle of the box.
    pub fn centre(&self) -> [f64; D] {
        std::array::from_fn(|a| 0.5 * (self.lower[a] + self.upper[a]))
    }

    /// The length of the box along each axis.
    pub fn extent(&self) -> [f64; D] {
        std::array::from_fn(|a| self.upper[a] - self.lower[a])
    }

    /// The box with every side moved outwards by `margin`; an empty one stays empty.
    pub fn expanded(&self, margin: f64) -> Self {
        if self.is_empty() {
            return *self;
        }
        Self { lower: self.lower.map(|x| x - margin), upper: self.upper.map(|x| x + margin) }
    }

    /// The smallest box that holds both.
    pub fn union(&self, other: Self) -> Self {
        Self {
            lower: std::array::from_fn(|a| self.lower[a].min(other.lower[a])),
            upper: std::array::from_fn(|a| self.upper[a].max(other.upper[a])),
        }
    }

    /// What both boxes hold.
    pub fn intersection(&self, other: Self) -> Self {
        let both = Self {
            lower: std::array::from_fn(|a| self.lower[a].max(other.lower[a])),
            upper: std::array::from_fn(|a| self.upper[a].min(other.upper[a])),
        };
        if both.is_empty() { Self::EMPTY } else { both }
    }

    /// The smallest box that holds this one after a rigid motion.
    pub fn transformed(&self, transform: &RigidTransform<D>) -> Self {
        if self.is_empty() {
            return Self::EMPTY;
        }
        let mut moved = Self { lower: transform.translation, upper: transform.translation };
        for (row, entries) in transform.rotation.matrix().iter().enumerate() {
            for (column, &entry) in entries.iter().enumerate() {
                if entry != 0.0 {
                    let ends = [entry * self.lower[column], entry * self.upper[column]];
                    moved.lower[row] += ends[0].min(ends[1]);
                    moved.upper[row] += ends[0].max(ends[1]);
                }
            }
        }
        moved
    }
}

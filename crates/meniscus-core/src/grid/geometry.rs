//! Where the cells of a domain lie in space.

use serde::{Deserialize, Serialize};

use crate::serde_array::array;

/// A box of cubic cells: the domain of a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "UncheckedGrid<D>")]
pub struct Grid<const D: usize> {
    /// The lower corner of cell 0, in metres.
    #[serde(with = "array")]
    pub origin: [f64; D],
    /// The edge of a cell, in metres.
    pub dx: f64,
    /// Cells along each axis.
    #[serde(with = "array")]
    pub cells: [usize; D],
}

#[derive(Deserialize)]
struct UncheckedGrid<const D: usize> {
    #[serde(with = "array")]
    origin: [f64; D],
    dx: f64,
    #[serde(with = "array")]
    cells: [usize; D],
}

impl<const D: usize> TryFrom<UncheckedGrid<D>> for Grid<D> {
    type Error = String;

    fn try_from(UncheckedGrid { origin, dx, cells }: UncheckedGrid<D>) -> Result<Self, String> {
        let is_real = origin.iter().all(|x| x.is_finite()) && dx > 0.0 && dx.is_finite();
        if !is_real {
            return Err(format!("a grid at {origin:?} with cells of {dx} m"));
        }
        super::blocks::check_domain(cells)?;
        Ok(Self { origin, dx, cells })
    }
}

impl<const D: usize> Grid<D> {
    /// The position of a point given in cells.
    #[inline]
    pub fn point(&self, in_cells: [f64; D]) -> [f64; D] {
        std::array::from_fn(|a| self.origin[a] + self.dx * in_cells[a])
    }

    /// The centre of a cell.
    #[inline]
    pub fn cell_centre(&self, cell: [i64; D]) -> [f64; D] {
        self.point(cell.map(|c| c as f64 + 0.5))
    }

    /// The centre of the lower face of a cell along `axis`.
    #[inline]
    pub fn face_centre(&self, axis: usize, cell: [i64; D]) -> [f64; D] {
        let mut point = cell.map(|c| c as f64 + 0.5);
        point[axis] -= 0.5;
        self.point(point)
    }

    /// The lower corner of a cell.
    #[inline]
    pub fn node(&self, cell: [i64; D]) -> [f64; D] {
        self.point(cell.map(|c| c as f64))
    }

    /// A position in units of cells from the origin: the inverse of [`Grid::point`].
    #[inline]
    pub fn to_cells(&self, point: [f64; D]) -> [f64; D] {
        std::array::from_fn(|a| (point[a] - self.origin[a]) / self.dx)
    }
}

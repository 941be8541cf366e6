//! Cut-cell fractions and ghost-fluid fractions from signed distances.
//!
//! The *open* fraction of a face or a cell is the part with positive distance: outside the solid. The
//! distance is taken as linear on the simplices that the centre (the mean of the corners) makes with
//! the edges; in a cell, together with the centres of its faces. So the fractions are
//! - exact, to rounding, for planes;
//! - the same, to rounding, for corners that are mirrored or rotated, saddles included;
//! - complementary: `open(d) + open(-d) = 1` to rounding, so that the fraction inside is the open
//!   fraction of the negated distances.
//!
//! Where every corner lies exactly on the surface the face is a wall: both `open(d)` and `open(-d)`
//! are 0.
//!
//! Corners are listed with the lowest axis fastest: `(0,0) (1,0) (0,1) (1,1)`, and so on. Distances
//! must be finite, unless all have the same sign.

use crate::grid::Grid;

/// Within this many cells of the surface a corner counts as lying on it: far above the rounding of a
/// distance, far below anything that a grid resolves. `faces_in_an_aligned_wall_are_closed` notices 0; 1e-4 would do as well.
const ON_SURFACE: f64 = 1e-9;

/// The open fraction of a face of a `D`-dimensional cell, from its `2^(D-1)` corner distances: the open
/// length of an edge in 2D, the open area of a square in 3D.
///
/// # Panics
/// If the number of corners is not `2^(D-1)`, or `D` is not 2 or 3.
#[inline]
pub fn face_open_fraction<const D: usize>(corners: &[f64]) -> f64 {
    assert!((2..=3).contains(&D) && corners.len() == 1 << (D - 1), "{} corners in {D}D", corners.len());
    open_fraction(corners)
}

/// The open fraction of a `D`-dimensional cell, from its `2^D` corner distances: an area in 2D, a volume
/// in 3D.
///
/// # Panics
/// If the number of corners is not `2^D`, or `D` is not 2 or 3.
#[inline]
pub fn cell_open_fraction<const D: usize>(corners: &[f64]) -> f64 {
    assert!((2..=3).contains(&D) && corners.len() == 1 << D, "{} corners in {D}D", corners.len());
    open_fraction(corners)
}

/// The open fraction of the lower face of `cell` along `axis`, from the signed distance at the nodes of
/// a grid. A node has the index of the cell of which it is the lower corner ([`Grid::node`]).
///
/// A face that lies in the surface up to rounding (every node within 1e-9 cells of it) is a wall and
/// closed, whatever the signs.
///
/// ```
/// use meniscus_core::{fractions::grid_face_open_fraction, grid::Grid, shape::Shape};
///
/// let grid = Grid::<2> { origin: [0.0; 2], dx: 0.5, cells: [2, 2] };
/// let floor = Shape::half_space([0.0, 0.1], [0.0, 1.0])?;
/// let open = grid_face_open_fraction(&grid, 0, [1, 0], |node| floor.signed_distance(grid.node(node)));
/// assert!((open - 0.8).abs() < 1e-15);
/// # Ok::<(), meniscus_core::shape::ShapeError>(())
/// ```
pub fn grid_face_open_fraction<const D: usize>(
    grid: &Grid<D>,
    axis: usize,
    cell: [i64; D],
    node_distance: impl Fn([i64; D]) -> f64,
) -> f64 {
    let mut corners = [0.0; 4];
    let corners = &mut corners[..1 << (D - 1)];
    for (index, distance) in corners.iter_mut().enumerate() {
        let mut bits = index;
        let mut node = cell;
        for other in (0..D).filter(|&other| other != axis) {
            node[other] += (bits & 1) as i64;
            bits >>= 1;
        }
        *distance = node_distance(node);
    }
    let on_surface = corners.iter().all(|d| d.abs() <= ON_SURFACE * grid.dx);
    if on_surface { 0.0 } else { face_open_fraction::<D>(corners) }
}

/// The open fraction of a `D`-dimensional cell of a grid, from the signed distance at its nodes; the
/// counterpart of [`grid_face_open_fraction`].
pub fn grid_cell_open_fraction<const D: usize>(
    cell: [i64; D],
    node_distance: impl Fn([i64; D]) -> f64,
) -> f64 {
    let mut corners = [0.0; 8];
    let corners = &mut corners[..1 << D];
    for (index, distance) in corners.iter_mut().enumerate() {
        *distance = node_distance(std::array::from_fn(|a| cell[a] + (index >> a & 1) as i64));
    }
    cell_open_fraction::<D>(corners)
}

/// The ghost-fluid fraction: how far from the centre of a liquid cell the surface lies on the way to
/// the centre of its air neighbour, from the level set at both (negative in liquid),
/// `theta = phi_liquid / (phi_liquid - phi_air)`.
///
/// At least `minimum`, which bounds the stencil's coefficient `1 / theta`; with `minimum` 0 it is exact.
/// Where the values do not change sign, the surface is put at the nearer end: `theta` is 1 if
/// `phi_air <= 0` (both zero included), else `minimum` if `phi_liquid >= 0`.
#[inline]
pub fn ghost_fluid_fraction(phi_liquid: f64, phi_air: f64, minimum: f64) -> f64 {
    if phi_air <= 0.0 {
        1.0
    } else if phi_liquid >= 0.0 {
        minimum
    } else {
        (phi_liquid / (phi_liquid - phi_air)).max(minimum)
    }
}

fn open_fraction(corners: &[f64]) -> f64 {
    if corners.iter().all(|&d| d <= 0.0) {
        return 0.0;
    }
    if corners.iter().all(|&d| d >= 0.0) {
        return 1.0;
    }
    match *corners {
        [a, b] => positive_part([a, b]),
        [a, b, c, d] => {
            let centre = mean([a, b, c, d]);
            RIM.iter().map(|&[i, j]| positive_part([corners[i], corners[j], centre])).sum::<f64>() / 4.0
        }
        [_, _, _, _, _, _, _, _] => {
            let centre = corners.iter().sum::<f64>() / 8.0;
            CUBE_FACES.iter().map(|face| cone(face.map(|i| corners[i]), centre)).sum::<f64>() / 6.0
        }
        _ => unreachable!("2, 4 or 8 corners"),
    }
}

/// The edges of a square.
const RIM: [[usize; 2]; 4] = [[0, 1], [1, 3], [3, 2], [2, 0]];

/// The corners of the faces of a cube, each in the order of a square.
const CUBE_FACES: [[usize; 4]; 6] =
    [[0, 2, 4, 6], [1, 3, 5, 7], [0, 1, 4, 5], [2, 3, 6, 7], [0, 1, 2, 3], [4, 5, 6, 7]];

/// The mean of the corners of a square.
fn mean([a, b, c, d]: [f64; 4]) -> f64 {
    0.25 * ((a + d) + (b + c))
}

/// The positive part of the pyramid from a square face to the centre of a cube.
fn cone(face: [f64; 4], apex: f64) -> f64 {
    let centre = mean(face);
    RIM.iter().map(|&[i, j]| positive_part([face[i], face[j], centre, apex])).sum::<f64>() / 4.0
}

/// The part of a simplex (a segment, triangle or tetrahedron) where the linear function with these
/// corner values is positive. Half where it is zero throughout.
fn positive_part<const N: usize>(values: [f64; N]) -> f64 {
    let mut sorted = values;
    sorted.sort_unstable_by(f64::total_cmp);
    let (negative, positive) = sorted.split_at(sorted.partition_point(|&v| v < 0.0));
    match (negative, positive) {
        ([], [.., largest]) => {
            if *largest > 0.0 {
                1.0
            } else {
                0.5
            }
        }
        (_, []) => 0.0,
        (_, [lone]) => corner_part(*lone, negative),
        ([lone], _) => 1.0 - corner_part(*lone, positive),
        ([c, d], [a, b]) => {
            // A wedge, cut into three tetrahedra; p, q, r, s are where it cuts the four edges.
            let (p, q, r, s) = (a / (a - c), a / (a - d), b / (b - c), b / (b - d));
            p * q + q * r * (1.0 - p) + r * s * (1.0 - q)
        }
        _ => unreachable!("at most four corners"),
    }
}

/// The part of a simplex on the side of its one corner with the sign of `lone`.
fn corner_part(lone: f64, others: &[f64]) -> f64 {
    others.iter().map(|other| lone / (lone - other)).product()
}

#[cfg(test)]
mod tests;

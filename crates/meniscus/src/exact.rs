//! The volume of shapes as a scene has them, which that of a run begins near.

use meniscus_core::grid::Grid;
use meniscus_core::shape::Shape;

/// The largest edge of a box that is not cut further, in cells: the distance from its centre tells what part of it is inside.
const LEAF: f64 = 0.25;

/// The volume of what lies in any of the shapes, in none of the solids and in the domain, in m³ (2D: m²).
pub(crate) fn exact_volume<const D: usize>(grid: &Grid<D>, shapes: &[Shape<D>], solids: &[Shape<D>]) -> f64 {
    let nearest = |shapes: &[Shape<D>], point: [f64; D]| {
        shapes.iter().map(|shape| shape.signed_distance(point)).fold(f64::INFINITY, f64::min)
    };
    let distance = |point: [f64; D]| nearest(shapes, point).max(-nearest(solids, point));
    let lower = grid.origin;
    let upper = grid.point(grid.cells.map(|n| n as f64));
    volume_inside(&distance, lower, upper, LEAF * grid.dx)
}

/// The volume of what has a negative distance in a box.
fn volume_inside<const D: usize>(
    distance: &impl Fn([f64; D]) -> f64,
    lower: [f64; D],
    upper: [f64; D],
    leaf: f64,
) -> f64 {
    let edges: [f64; D] = std::array::from_fn(|a| upper[a] - lower[a]);
    let centre = std::array::from_fn(|a| lower[a] + 0.5 * edges[a]);
    let volume: f64 = edges.iter().product();
    let to_surface = distance(centre);
    let half_diagonal = 0.5 * edges.iter().map(|edge| edge * edge).sum::<f64>().sqrt();
    if to_surface.abs() >= half_diagonal {
        return if to_surface < 0.0 { volume } else { 0.0 };
    }
    let longest = (0..D).fold(0, |longest, a| if edges[a] > edges[longest] { a } else { longest });
    if edges[longest] <= leaf {
        // Where shapes abut, the distance vanishes inside of what they fill together.
        let corner =
            |k: usize| distance(std::array::from_fn(|a| if k >> a & 1 == 1 { upper[a] } else { lower[a] }));
        let corners = (0..1 << D).map(corner);
        if to_surface <= 0.0 && corners.clone().all(|distance| distance <= 0.0) {
            return volume;
        }
        if to_surface >= 0.0 && corners.clone().all(|distance| distance >= 0.0) {
            return 0.0;
        }
        return volume * (0.5 - to_surface / edges[longest]).clamp(0.0, 1.0);
    }
    let (mut of_lower, mut of_upper) = (upper, lower);
    of_lower[longest] = centre[longest];
    of_upper[longest] = centre[longest];
    volume_inside(distance, lower, of_lower, leaf) + volume_inside(distance, of_upper, upper, leaf)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_have_their_volumes() {
        let grid = Grid { origin: [0.0; 2], dx: 0.05, cells: [20, 20] };
        let disc = Shape::sphere([0.5, 0.5], 0.3).unwrap();
        let half = Shape::half_space([0.0, 0.43], [0.0, 1.0]).unwrap();
        let of = |shapes: &[Shape<2>], solids: &[Shape<2>]| exact_volume(&grid, shapes, solids);
        let exact = std::f64::consts::PI * 0.09;
        assert!((of(std::slice::from_ref(&disc), &[]) / exact - 1.0).abs() < 1e-3);
        assert!((of(std::slice::from_ref(&half), &[]) / 0.43 - 1.0).abs() < 1e-3);
        let both = of(&[disc.clone(), half.clone()], &[]);
        assert!((both - of(&[half], &[disc]) - exact).abs() < 1e-3 * exact);
    }

    #[test]
    fn shapes_that_abut_leave_nothing_between_them() {
        let grid = Grid { origin: [0.0; 2], dx: 0.05, cells: [20, 20] };
        let strip = |k: u32| {
            let [left, right] = [k, k + 1].map(|k| 0.1 + f64::from(k) / 40.0);
            Shape::box_between([left, 0.2], [right, 0.7]).unwrap()
        };
        let strips: Vec<_> = (0..32).map(strip).collect();
        assert!((exact_volume(&grid, &strips, &[]) / (0.8 * 0.5) - 1.0).abs() < 1e-3);
    }
}

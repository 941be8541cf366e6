//! What there is: volumes and cells.

use meniscus_core::grid::{BLOCK_EDGE, Field, HaloTile, Slot, block_len, cell_in_block};
use meniscus_core::interpolate::interpolate;
use meniscus_core::parallel;
use meniscus_core::vector::{dot, norm};

use crate::boundary::Boundary;
use crate::holding::Holding;

/// How liquid fills a block.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Filling {
    Dry,
    /// As far from the surface as that every cell is full.
    Full,
    InPart,
}

/// How liquid fills a block with such a level set.
pub fn filling(levels: &[f32]) -> Filling {
    if levels.iter().all(|&v| v > 1.0) {
        Filling::Dry
    } else if levels.iter().all(|&v| v <= -1.0) {
        Filling::Full
    } else {
        Filling::InPart
    }
}

fn filling_beside<const D: usize>(phi: &Field<f32, D>, boundary: &Boundary<D>, block: usize) -> Filling {
    if boundary.is_solid(block) { Filling::Dry } else { filling(phi.block(block)) }
}

/// The volume of the liquid by block, in cells: that within the zero level set of the multilinear interpolant, less
/// what solids take of its cells.
pub fn liquid_by_block<const D: usize>(phi: &Field<f32, D>, boundary: &Boundary<D>) -> Vec<f64> {
    let blocks = phi.blocks();
    let of_block = |tile: &mut HaloTile<f32, D, 1>, block: usize| match filling_beside(phi, boundary, block) {
        Filling::Dry => 0.0,
        Filling::Full if boundary.is_clear(block) => block_len::<D>() as f64,
        Filling::Full => blocks.cells_inside(block).map(|slot| boundary.open_volume(slot)).sum(),
        Filling::InPart => {
            load_extended(phi, block, boundary, tile);
            blocks.cells_inside(block).map(|slot| liquid_fraction(tile, boundary, slot)).sum()
        }
    };
    parallel::map_with(blocks.len(), || HaloTile::new(0.0), of_block)
}

/// All liquid, without the area of its surface.
pub fn all_liquid<const D: usize>(phi: &Field<f32, D>, boundary: &Boundary<D>) -> Holding<D> {
    let blocks = phi.blocks();
    let of_block = |tile: &mut HaloTile<f32, D, 1>, block: usize| match filling_beside(phi, boundary, block) {
        Filling::Dry => Holding::NOTHING,
        Filling::Full => room_of_block(boundary, block),
        Filling::InPart => {
            load_extended(phi, block, boundary, tile);
            let of_cell = |slot: Slot| {
                let volume = liquid_fraction(tile, boundary, slot);
                let centre = centre_of_liquid(tile, volume, cell_in_block::<D>(slot.local));
                Holding::at(std::array::from_fn(|a| blocks.cell(slot)[a] as f64 + centre[a]), volume)
            };
            sum(blocks.cells_inside(block).map(of_cell))
        }
    };
    let of_blocks = parallel::map_with(blocks.len(), || HaloTile::new(0.0), of_block);
    sum(of_blocks)
}

/// All that solids leave of the domain.
pub fn all_room<const D: usize>(boundary: &Boundary<D>) -> Holding<D> {
    sum(parallel::map(boundary.blocks().len(), |block| room_of_block(boundary, block)))
}

/// What solids leave of a block.
fn room_of_block<const D: usize>(boundary: &Boundary<D>, block: usize) -> Holding<D> {
    let blocks = boundary.blocks();
    if boundary.is_clear(block) {
        let middle = blocks.coord(block).map(|c| (c as f64 + 0.5) * BLOCK_EDGE as f64);
        return Holding::at(middle, block_len::<D>() as f64);
    }
    let of_cell =
        |slot: Slot| Holding::at(blocks.cell(slot).map(|c| c as f64 + 0.5), boundary.open_volume(slot));
    sum(blocks.cells_inside(block).map(of_cell))
}

fn sum<const D: usize>(parts: impl IntoIterator<Item = Holding<D>>) -> Holding<D> {
    parts.into_iter().fold(Holding::NOTHING, |mut sum, part| {
        sum.add(&part);
        sum
    })
}

/// The centre of the liquid of a cell of which it fills such a part, in cells from the cell's lower corner: exact where its surface is
/// across an axis, and a hundredth of a cell off where it leans.
fn centre_of_liquid<const D: usize>(tile: &HaloTile<f32, D, 1>, part: f64, inner: [usize; D]) -> [f64; D] {
    let normal = rises(tile, inner);
    let length = norm(normal);
    let back = if length > 0.0 { 0.5 * (1.0 - part) / length } else { 0.0 };
    normal.map(|n| 0.5 - back * n)
}

/// By how much the level set rises along each axis around a cell, in two cells.
fn rises<const D: usize>(tile: &HaloTile<f32, D, 1>, inner: [usize; D]) -> [f64; D] {
    let centre = HaloTile::<f32, D, 1>::index(inner.map(|c| c + 1));
    std::array::from_fn(|a| {
        let stride = HaloTile::<f32, D, 1>::stride(a);
        f64::from(tile.values()[centre + stride] - tile.values()[centre - stride])
    })
}

/// Loads a block and its halo; cells outside the domain take the value of the nearest one inside, or beyond a side
/// that the liquid leaves the one that [`beyond_side`] gives.
pub fn load_extended<const D: usize>(
    phi: &Field<f32, D>,
    block: usize,
    boundary: &Boundary<D>,
    tile: &mut HaloTile<f32, D, 1>,
) {
    tile.load(phi, block);
    let (coord, cells) = (phi.blocks().coord(block), phi.blocks().cells());
    for axis in 0..D {
        let edge = HaloTile::<f32, D, 1>::EDGE;
        // The tile's cells along the axis are those of the domain from `first` to before `end`.
        let first = usize::from(coord[axis] == 0);
        let end = (cells[axis] + 1 - coord[axis] * BLOCK_EDGE).min(edge);
        let stride = HaloTile::<f32, D, 1>::stride(axis);
        if first == 0 && end == edge {
            continue;
        }
        for index in 0..HaloTile::<f32, D, 1>::LEN {
            let c = index / stride % edge;
            let nearest = c.clamp(first, end.max(first + 1) - 1);
            let at = index + nearest * stride - c * stride;
            let value = tile.values()[at];
            // Beyond the domain, a tile may hold no second cell of it.
            let has_second = c < nearest || nearest > first;
            let leaves =
                c != nearest && has_second && boundary.separating_sides[axis][usize::from(c > nearest)];
            tile.values_mut()[index] = if leaves {
                let second = if c < nearest { at + stride } else { at - stride };
                beyond_side(value, tile.values()[second])
            } else {
                value
            };
        }
    }
}

/// The level set a cell beyond a side of the domain that lets go of the liquid, from those of the first two cells inside. Where liquid has left
/// the side, its surface lies between the first cell and the side, and the level set goes on rising; elsewhere it is
/// constant.
pub fn beyond_side(first: f32, second: f32) -> f32 {
    if first > AT_SIDE { first + (first - second).clamp(0.0, 1.0) } else { first }
}

/// The level set of the cells at a side when the surface is the side itself.
pub const AT_SIDE: f32 = -0.5;

/// The part of a cell that is liquid and open.
pub fn liquid_fraction<const D: usize>(
    tile: &HaloTile<f32, D, 1>,
    boundary: &Boundary<D>,
    slot: Slot,
) -> f64 {
    let inner = cell_in_block::<D>(slot.local);
    let (wet, open) = (wet_fraction(tile, inner), boundary.open_volume(slot));
    let both_cut = wet > 0.0 && wet < 1.0 && open > 0.0 && open < 1.0;
    let Some(walls) = both_cut.then(|| boundary.corner_distances(slot)).flatten() else { return wet * open };
    let fall = rises(tile, inner).map(|rise| -rise);
    overlap(wet, open, cosine(fall, rises_of_corners(&walls)))
}

/// The part of a cell that is liquid, open and in a shape, by the part that is in the shape and the direction into it.
pub fn liquid_fraction_in<const D: usize>(
    tile: &HaloTile<f32, D, 1>,
    boundary: &Boundary<D>,
    slot: Slot,
    inside: f64,
    into_shape: impl FnOnce() -> [f64; D],
) -> f64 {
    let liquid = liquid_fraction(tile, boundary, slot);
    let is_cut = |part: f64| part > 0.0 && part < 1.0;
    if !(is_cut(liquid) && is_cut(inside)) {
        return liquid * inside;
    }
    // It is the surface that cuts the liquid off, or else a wall.
    let inner = cell_in_block::<D>(slot.local);
    let into_liquid = match boundary.corner_distances(slot) {
        Some(walls) if wet_fraction(tile, inner) == 1.0 => rises_of_corners(&walls),
        _ => rises(tile, inner).map(|rise| -rise),
    };
    overlap(liquid, inside, cosine(into_liquid, into_shape()))
}

/// By how much values at the corners of a cell rise along each axis, in sum.
fn rises_of_corners<const D: usize>(values: &[f64; 8]) -> [f64; D] {
    std::array::from_fn(|a| {
        (0..1usize << D).map(|k| if k >> a & 1 == 1 { values[k] } else { -values[k] }).sum()
    })
}

/// The overlap of two parts of a cell behind planes whose normals enclose an angle with this cosine: exact for
/// planes that are parallel (one part in the other, or from opposite sides) or at right angles (independent).
fn overlap(a: f64, b: f64, cosine: f64) -> f64 {
    let parallel = if cosine > 0.0 { a.min(b) } else { (a + b - 1.0).max(0.0) };
    cosine.abs() * parallel + (1.0 - cosine.abs()) * a * b
}

fn cosine<const D: usize>(a: [f64; D], b: [f64; D]) -> f64 {
    let lengths = norm(a) * norm(b);
    if lengths > 0.0 { dot(a, b) / lengths } else { 0.0 }
}

/// The part of a cell where the multilinear interpolant of cell values is negative. The interpolant is linear
/// along each axis between cell centres, so the cell is cut at its centre into 2^D parts, each of which takes it as the
/// plane through its middle.
fn wet_fraction<const D: usize>(tile: &HaloTile<f32, D, 1>, inner: [usize; D]) -> f64 {
    let centre = HaloTile::<f32, D, 1>::index(inner.map(|c| c + 1));
    let own = tile.values()[centre];
    // A distance of one (the half-diagonal of a cell is less) leaves nothing of the other sign.
    if own.abs() >= 1.0 {
        return if own < 0.0 { 1.0 } else { 0.0 };
    }
    let around = values_around(tile, centre);
    let around = &around[..3usize.pow(D as u32)];
    if around.iter().all(|&value| value <= 0.0) {
        return 1.0;
    }
    if around.iter().all(|&value| value >= 0.0) {
        return 0.0;
    }
    let at = half_points::<D>(around);
    let part = |k: usize| {
        let mut corners = [0.0; 8];
        for (j, corner) in corners.iter_mut().enumerate().take(1 << D) {
            let point = (0..D).rev().fold(0, |index, a| index * 3 + (k >> a & 1) + (j >> a & 1));
            *corner = at[point];
        }
        below_plane::<D>(&corners[..1 << D])
    };
    (0..1 << D).map(part).sum::<f64>() / f64::from(1u32 << D)
}

/// A cell and those around it: 3^D values, x fastest.
fn values_around<const D: usize>(tile: &HaloTile<f32, D, 1>, centre: usize) -> [f32; 27] {
    let mut around = [0.0; 27];
    for (index, value) in around.iter_mut().enumerate().take(3usize.pow(D as u32)) {
        let from = (0..D).fold(centre, |from, a| {
            let stride = HaloTile::<f32, D, 1>::stride(a);
            from + index / 3usize.pow(a as u32) % 3 * stride - stride
        });
        *value = tile.values()[from];
    }
    around
}

/// The interpolant at the corners, the middles of edges and faces, and the centre of a cell, from the values around it: 3^D points, x fastest.
fn half_points<const D: usize>(around: &[f32]) -> [f64; 27] {
    let mut at = [0.0; 27];
    for (value, &centre) in at.iter_mut().zip(around) {
        *value = f64::from(centre);
    }
    // Along each axis in turn, half-way between the neighbours and the middle.
    for a in 0..D {
        let stride = 3usize.pow(a as u32);
        for index in (0..3usize.pow(D as u32)).filter(|index| index / stride % 3 == 1) {
            at[index - stride] = 0.5 * (at[index - stride] + at[index]);
            at[index + stride] = 0.5 * (at[index + stride] + at[index]);
        }
    }
    at
}

/// The part of the lower face of a cell along an axis that is wet.
pub fn wet_part<const D: usize>(phi: &Field<f32, D>, axis: usize, cell: [i64; D]) -> f64 {
    wet_part_by_middle(phi, axis, middle_of_face(axis, cell), at_middle(phi, axis, cell))
}

/// The part of a face that is wet, by its centre and the axis that it is normal to.
pub fn wet_part_around<const D: usize>(phi: &Field<f32, D>, axis: usize, centre: [f32; D]) -> f64 {
    wet_part_by_middle(phi, axis, centre, interpolate(phi, centre))
}

/// The part of the lower face of a cell along an axis that is wet, in the mean over a substep in which its level set changes steadily: exact for a plane
/// that crosses it. (The mean of start and end is off by up to half of what passes.)
pub fn wet_part_meanwhile<const D: usize>(
    [before, after]: [&Field<f32, D>; 2],
    axis: usize,
    cell: [i64; D],
) -> f64 {
    let middles = [before, after].map(|phi| at_middle(phi, axis, cell));
    if let Some(wet) = wet_all_over(&middles) {
        return wet;
    }
    let centre = middle_of_face(axis, cell);
    let mut corners = [0.0; 8];
    let (start, end) = corners.split_at_mut(1 << (D - 1));
    start.copy_from_slice(&at_corners(before, axis, centre)[..1 << (D - 1)]);
    end[..1 << (D - 1)].copy_from_slice(&at_corners(after, axis, centre)[..1 << (D - 1)]);
    below_plane::<D>(&corners[..1 << D])
}

/// The part of a face that is wet, by its centre, the axis that it is normal to, and the level set at its centre.
fn wet_part_by_middle<const D: usize>(
    phi: &Field<f32, D>,
    axis: usize,
    centre: [f32; D],
    middle: f32,
) -> f64 {
    if let Some(wet) = wet_all_over(&[middle]) {
        return wet;
    }
    let corners = at_corners(phi, axis, centre);
    if D == 2 { below_plane::<1>(&corners[..2]) } else { below_plane::<2>(&corners) }
}

/// The part of a face that is wet if the surface is too far from its centre to cross it.
fn wet_all_over(middles: &[f32]) -> Option<f64> {
    if middles.iter().all(|&middle| middle <= -1.0) {
        Some(1.0)
    } else if middles.iter().all(|&middle| middle >= 1.0) {
        Some(0.0)
    } else {
        None
    }
}

/// The middle of the lower face of a cell along an axis.
fn middle_of_face<const D: usize>(axis: usize, cell: [i64; D]) -> [f32; D] {
    std::array::from_fn(|a| cell[a] as f32 + if a == axis { 0.0 } else { 0.5 })
}

/// The level set at the middle of the lower face of a cell along an axis.
fn at_middle<const D: usize>(phi: &Field<f32, D>, axis: usize, cell: [i64; D]) -> f32 {
    let below = std::array::from_fn(|a| cell[a] - i64::from(a == axis));
    0.5 * (phi.get(cell) + phi.get(below))
}

/// The level set at the corners of a face.
fn at_corners<const D: usize>(phi: &Field<f32, D>, axis: usize, centre: [f32; D]) -> [f64; 4] {
    let mut corners = [0.0; 4];
    for (k, corner) in corners.iter_mut().enumerate().take(1 << (D - 1)) {
        let mut others = 0..;
        let at = std::array::from_fn(|a| match a == axis {
            true => centre[a],
            false => centre[a] - 0.5 + (k >> others.next().unwrap_or(0) & 1) as f32,
        });
        *corner = f64::from(interpolate(phi, at));
    }
    corners
}

/// The part of a cube below a plane: where the linear function with the mean value and the mean slopes of these
/// corner values is negative.
fn below_plane<const D: usize>(corners: &[f64]) -> f64 {
    if corners.iter().all(|&value| value <= 0.0) {
        return 1.0;
    }
    if corners.iter().all(|&value| value >= 0.0) {
        return 0.0;
    }
    let scale = 1.0 / f64::from(1u32 << D);
    let middle = corners.iter().sum::<f64>() * scale;
    let slope = |a: usize| {
        let signed =
            corners.iter().enumerate().map(|(k, &value)| if k >> a & 1 == 1 { value } else { -value });
        (signed.sum::<f64>() * 2.0 * scale).abs()
    };
    let mut slopes: [f64; D] = std::array::from_fn(slope);
    let steepest = slopes.iter().fold(0.0, |a: f64, &b| a.max(b));
    if steepest == 0.0 {
        return if middle < 0.0 { 1.0 } else { 0.0 };
    }
    // The formula divides by the slopes. The plane keeps its middle.
    for slope in &mut slopes {
        *slope = slope.max(1e-3 * steepest);
    }
    // With all slopes positive the function grows from -height at the lowest corner. What lies below zero is a corner
    // of space cut off by the plane, less what sticks out of the cube (inclusion and exclusion).
    let height = 0.5 * slopes.iter().sum::<f64>() - middle;
    let mut sum = 0.0;
    for subset in 0..1usize << D {
        let taken: f64 = (0..D).filter(|a| subset >> a & 1 == 1).map(|a| slopes[a]).sum();
        let part = (height - taken).max(0.0).powi(D as i32);
        sum += if subset.count_ones() % 2 == 0 { part } else { -part };
    }
    let factorial = [1.0, 2.0, 6.0][D - 1];
    (sum / (factorial * slopes.iter().product::<f64>())).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use meniscus_core::grid::{Blocks, Grid};
    use meniscus_core::shape::Shape;

    use super::*;
    use crate::boundary::BoundaryCache;
    use crate::params::Params;
    use crate::surroundings::{Solid, Surroundings};

    fn volume<const D: usize>(solids: Vec<Solid<D>>, phi: impl Fn([f64; D]) -> f64 + Sync) -> f64 {
        let params = Params::new(Grid { origin: [0.0; D], dx: 1.0, cells: [20; D] });
        let blocks = Arc::new(Blocks::all(params.grid.cells));
        let surroundings = Surroundings { solids, ..Surroundings::default() };
        let boundary = Boundary::new(&params, &surroundings, &blocks, &mut BoundaryCache::default());
        let field = Field::from_fn(blocks, 9.0, |cell| phi(cell.map(|c| c as f64 + 0.5)) as f32);
        liquid_by_block(&field, &boundary).iter().sum()
    }

    #[test]
    fn a_tilted_pool_has_the_volume_below_its_plane() {
        let plane = |x: [f64; 3]| (0.3 * (x[0] - 10.0) + (x[1] - 7.3) + 0.2 * (x[2] - 10.0)) / 1.13f64.sqrt();
        assert!((volume::<3>(vec![], plane) / (20.0 * 20.0 * 7.3) - 1.0).abs() < 1e-6);
    }

    /// A distance that is linear between samples cuts the caps of a curved surface off.
    #[test]
    fn a_ball_has_its_volume() {
        let ball = |x: [f64; 3]| (0..3).map(|a| (x[a] - 10.2).powi(2)).sum::<f64>().sqrt() - 6.0;
        let exact = 4.0 / 3.0 * std::f64::consts::PI * 216.0;
        assert!((volume::<3>(vec![], ball) / exact - 1.0).abs() < 0.02);
    }

    /// A slab from wall to wall takes its submerged part, even if it ends within the cells that the surface is in.
    #[test]
    fn a_solid_takes_its_submerged_part() {
        for top in [7.2, 7.5, 7.9, 12.0] {
            let slab = Shape::box_between([-9.0, 3.1], [29.0, top]).unwrap();
            let pool = volume::<2>(vec![Solid::fixed(slab)], |x| x[1] - 7.6);
            let exact = 20.0 * (7.6 - (f64::min(top, 7.6) - 3.1));
            assert!((pool - exact).abs() < 1e-4, "{top}: {pool} of {exact}");
        }
    }
}

//! Which cells move together: the deep interior of fluids, in affine tiles (Goldade 2020, sections 5 and 6).
//!
//! Cells stay cells in a *band* of a few layers along every surface, every solid and every side of the domain. What is left is cut by boxes
//! whose lowest layer along each axis stays cells too, so that one layer lies between any two. The cells of a box that are connected are an affine tile. Next to a
//! band tiles have whatever shape it leaves them; those too small to be worth it are given back.
//!
//! Boxes are cubes of whole blocks. *Graded* ones are the leaves of an octree, the larger the farther they are from the band.

use std::sync::Arc;

use meniscus_core::components::{BlockCells, Components};
use meniscus_core::grid::{BLOCK_EDGE, Blocks, Field, Mask, Slot, block_len, cell_in_block, sides};
use meniscus_core::parallel;

use crate::boundary::Boundary;
use crate::params::{Params, Reduced, TileSize, Tiling};
use crate::projection::{AffineTiles, NO_TILE};

/// The least width of a tile along each axis, and the least number of its cells, as that of a cube of this edge, in cells.
const LEAST_WIDTH: usize = 3;
const LEAST_EDGE: usize = 4;

/// The tiles of a moment.
pub fn find_tiles<const D: usize>(
    params: &Params<D>,
    tiling: &Tiling,
    level_set: &Field<f32, D>,
    boundary: &Boundary<D>,
) -> AffineTiles {
    let blocks = level_set.blocks();
    let inner = inner_cells(params, tiling, level_set, boundary);
    let walls = walls(tiling.size, blocks, &inner);
    let all_open = [Mask::all(); D];
    let components = Components::find(blocks.cells(), |coord| match blocks.find(coord) {
        Some(block) => BlockCells::in_parts(inner[block].without(&walls[block]), &all_open),
        None => BlockCells::None,
    });
    let numbers = worthy(&components, blocks);
    let mut of_slot = vec![NO_TILE; blocks.slots()];
    parallel::for_chunks(&mut of_slot, block_len::<D>(), |block, of_slot| {
        let coord = blocks.coord(block);
        if let BlockCells::Some(parts) = components.block(coord) {
            for (part, &component) in parts.iter().zip(components.of_parts(coord)) {
                part.fill(numbers[component as usize], of_slot);
            }
        }
    });
    AffineTiles { of_slot, count: numbers.iter().filter(|&&number| number != NO_TILE).count() }
}

/// The cells of the fluids that are to be reduced, beyond all bands.
fn inner_cells<const D: usize>(
    params: &Params<D>,
    tiling: &Tiling,
    level_set: &Field<f32, D>,
    boundary: &Boundary<D>,
) -> Vec<Mask<D>> {
    let blocks = level_set.blocks();
    let has_second = params.second().is_some();
    let liquid: Vec<Mask<D>> =
        parallel::map(blocks.len(), |block| Mask::from_fn(|local| level_set.block(block)[local] < 0.0));
    let at_walls = parallel::map(blocks.len(), |block| cells_at_walls(blocks, boundary, block));
    let at_surface =
        parallel::map(blocks.len(), |block| cells_at_surface(blocks, &liquid, block, params.open_sides));
    let interface = tiling.interface_band.unwrap_or(match tiling.fluids {
        Reduced::Both => 6,
        Reduced::Liquid | Reduced::Second => 3,
    });
    let near_walls = widened(blocks, at_walls, tiling.solid_band);
    let band = if has_second { interface } else { tiling.surface_band };
    let near_surface = widened(blocks, at_surface, band);
    let of_block = |block: usize| {
        let fluid = match (tiling.fluids, has_second) {
            (Reduced::Liquid, _) | (_, false) => liquid[block],
            (Reduced::Second, true) => Mask::all().without(&liquid[block]),
            (Reduced::Both, true) => Mask::all(),
        };
        fluid.and(&cells_inside(blocks, block)).without(&near_walls[block]).without(&near_surface[block])
    };
    parallel::map(blocks.len(), of_block)
}

/// The cells with a face that is not wholly open.
fn cells_at_walls<const D: usize>(blocks: &Blocks<D>, boundary: &Boundary<D>, block: usize) -> Mask<D> {
    let coord = blocks.coord(block);
    let at_side = (0..D).any(|a| coord[a] == 0 || (coord[a] + 1) * BLOCK_EDGE >= blocks.cells()[a]);
    if boundary.is_clear(block) && !at_side {
        return Mask::EMPTY;
    }
    Mask::from_fn(|local| {
        let slot = Slot { block, local };
        (0..D).any(|axis| {
            let upper = blocks.step(slot, axis, 1);
            boundary.open.axes[axis][slot] < 1.0
                || upper.is_none_or(|upper| boundary.open.axes[axis][upper] < 1.0)
        })
    })
}

/// The cells across one of whose faces is the other fluid, air, or an open side.
fn cells_at_surface<const D: usize>(
    blocks: &Blocks<D>,
    liquid: &[Mask<D>],
    block: usize,
    open_sides: [[bool; 2]; D],
) -> Mask<D> {
    let own = liquid[block];
    let mut found = Mask::EMPTY;
    for axis in 0..D {
        let [below, above] = [0, 1].map(|side| blocks.neighbour(block, axis, side));
        // Beyond the blocks is air; beyond the sides of the domain is the same as in front of them, unless they are open.
        let beyond = |side: usize| if open_sides[axis][side] { Mask::EMPTY } else { own };
        let below = own.raised(axis, &below.map_or_else(|| beyond(0), |other| liquid[other]));
        let above = own.lowered(axis, &above.map_or_else(|| beyond(1), |other| liquid[other]));
        let last = cells_before_side(blocks, block, axis);
        let above = above.without(&last).or(&beyond(1).and(&last));
        found = found.or(&own.without(&below)).or(&own.without(&above));
        found = found.or(&below.without(&own)).or(&above.without(&own));
    }
    found.and(&cells_inside(blocks, block))
}

/// The cells of a block that lie in the domain.
fn cells_inside<const D: usize>(blocks: &Blocks<D>, block: usize) -> Mask<D> {
    let is_inside = |local: usize| blocks.is_inside(Slot { block, local });
    if is_inside(block_len::<D>() - 1) { Mask::all() } else { Mask::from_fn(is_inside) }
}

/// The last cells of the domain along an axis. Blocks may go on behind them.
fn cells_before_side<const D: usize>(blocks: &Blocks<D>, block: usize, axis: usize) -> Mask<D> {
    let (first, cells) = (blocks.coord(block)[axis] * BLOCK_EDGE, blocks.cells()[axis]);
    if !(first..first + BLOCK_EDGE).contains(&(cells - 1)) {
        return Mask::EMPTY;
    }
    Mask::from_fn(|local| first + cell_in_block::<D>(local)[axis] + 1 == cells)
}

/// The cells within so many layers, these cells being the first.
fn widened<const D: usize>(blocks: &Blocks<D>, mut cells: Vec<Mask<D>>, layers: usize) -> Vec<Mask<D>> {
    for _ in 1..layers {
        let of_block = |block: usize| {
            let own = cells[block];
            let mask = |other: Option<usize>| other.map_or(Mask::EMPTY, |other| cells[other]);
            (0..D).fold(own, |wider, axis| {
                let [below, above] = [0, 1].map(|side| mask(blocks.neighbour(block, axis, side)));
                wider.or(&own.raised(axis, &below)).or(&own.lowered(axis, &above))
            })
        };
        cells = parallel::map(blocks.len(), of_block);
    }
    cells
}

/// The cells between boxes, by block.
fn walls<const D: usize>(size: TileSize, blocks: &Blocks<D>, inner: &[Mask<D>]) -> Vec<Mask<D>> {
    let begins: Box<dyn Fn(usize) -> [bool; D] + Sync> = match size {
        TileSize::One => return vec![Mask::EMPTY; blocks.len()],
        TileSize::Uniform(edge) => {
            let edge = edge / BLOCK_EDGE;
            Box::new(move |block| blocks.coord(block).map(|c| c % edge == 0))
        }
        TileSize::Graded { least, largest } => {
            let edges = graded_edges(blocks, inner, least / BLOCK_EDGE, largest / BLOCK_EDGE);
            Box::new(move |block| blocks.coord(block).map(|c| c % edges[block] == 0))
        }
    };
    let of_block = |block: usize| {
        let begins = begins(block);
        Mask::from_fn(|local| {
            let cell = cell_in_block::<D>(local);
            (0..D).any(|a| begins[a] && cell[a] == 0)
        })
    };
    parallel::map(blocks.len(), of_block)
}

/// By block, the edge of the box that it is in, in blocks: the largest that is at least a quarter of it away from the nearest block with other cells.
fn graded_edges<const D: usize>(
    blocks: &Blocks<D>,
    inner: &[Mask<D>],
    least: usize,
    largest: usize,
) -> Vec<usize> {
    let depth = depths(blocks, inner, largest);
    let mut edges = vec![least; blocks.len()];
    let mut edge = 2 * least;
    while edge <= largest {
        // The least depth of the blocks of each box, and how many there are.
        let dims = Blocks::<D>::dims_of(blocks.cells()).map(|n| n.div_ceil(edge));
        let box_of = |block: usize| {
            let coord = blocks.coord(block);
            (0..D).rev().fold(0, |index, a| index * dims[a] + coord[a] / edge)
        };
        let mut found = vec![(usize::MAX, 0); dims.iter().product()];
        for (block, &depth) in depth.iter().enumerate() {
            let of_box = &mut found[box_of(block)];
            of_box.0 = of_box.0.min(depth);
            of_box.1 += 1;
        }
        for (block, own) in edges.iter_mut().enumerate() {
            let (least_depth, count) = found[box_of(block)];
            if count == edge.pow(D as u32) && 4 * least_depth >= edge {
                *own = edge;
            }
        }
        edge *= 2;
    }
    edges
}

/// By block, how many blocks away, at most `most`, the nearest is that holds other than inner cells, or is not there; 0 for itself.
fn depths<const D: usize>(blocks: &Blocks<D>, inner: &[Mask<D>], most: usize) -> Vec<usize> {
    let mut depth: Vec<usize> = inner.iter().map(|cells| if cells.is_full() { most } else { 0 }).collect();
    for layer in 1..most {
        let is_next = |block: usize| {
            sides::<D>().map(|(axis, side)| blocks.neighbour(block, axis, side)).any(|other| match other {
                Some(other) => depth[other] < layer,
                None => true,
            })
        };
        let next =
            parallel::gather(blocks.len(), |block| (depth[block] > layer && is_next(block)).then_some(block));
        if next.is_empty() {
            break;
        }
        next.into_iter().for_each(|block| depth[block] = layer);
    }
    depth
}

/// By component, its number as a tile, or [`NO_TILE`] if it is too small to be one.
fn worthy<const D: usize>(components: &Components<D>, blocks: &Arc<Blocks<D>>) -> Vec<u32> {
    let mut extents = vec![([usize::MAX; D], [0; D], 0); components.len()];
    for block in 0..blocks.len() {
        let coord = blocks.coord(block);
        let BlockCells::Some(parts) = components.block(coord) else { continue };
        for (part, &component) in parts.iter().zip(components.of_parts(coord)) {
            let (low, high, count) = &mut extents[component as usize];
            for axis in 0..D {
                let has = |at: &usize| part.layer(axis, *at) != 0;
                let first = coord[axis] * BLOCK_EDGE;
                low[axis] = low[axis].min((0..BLOCK_EDGE).find(has).map_or(usize::MAX, |at| first + at));
                high[axis] = high[axis].max((0..BLOCK_EDGE).rfind(has).map_or(0, |at| first + at + 1));
            }
            *count += part.count();
        }
    }
    let mut next = 0;
    let number = |(low, high, count): &([usize; D], [usize; D], usize)| {
        let is_wide = (0..D).all(|a| high[a] >= low[a] + LEAST_WIDTH);
        if is_wide && *count >= LEAST_EDGE.pow(D as u32) {
            next += 1;
            next - 1
        } else {
            NO_TILE
        }
    };
    extents.iter().map(number).collect()
}

#[cfg(test)]
mod tests {
    use meniscus_core::grid::Grid;
    use meniscus_core::shape::Shape;

    use super::*;
    use crate::boundary::BoundaryCache;
    use crate::params::{AirModel, SecondFluid};
    use crate::surroundings::{Solid, Surroundings};

    /// A pool with a ball of rock in it, or a ball of the second fluid.
    struct Case {
        params: Params<2>,
        surroundings: Surroundings<2>,
        level_set: Field<f32, 2>,
    }

    fn pool(cells: usize, level: f32) -> Case {
        let params = Params::new(Grid { origin: [0.0; 2], dx: 1.0, cells: [cells; 2] });
        let blocks = Arc::new(Blocks::all(params.grid.cells));
        let level_set = Field::from_fn(blocks, 5.0, |cell| (cell[1] as f32 + 0.5 - level).clamp(-5.0, 5.0));
        Case { params, surroundings: Surroundings::default(), level_set }
    }

    impl Case {
        fn tiles(&self, tiling: &Tiling) -> AffineTiles {
            let blocks = self.level_set.blocks();
            let mut cache = BoundaryCache::default();
            let boundary = Boundary::new(&self.params, &self.surroundings, blocks, &mut cache);
            find_tiles(&self.params, tiling, &self.level_set, &boundary)
        }

        fn tile_at(&self, tiles: &AffineTiles, cell: [usize; 2]) -> Option<u32> {
            let slot = self.level_set.blocks().locate(cell.map(|c| c as i64)).unwrap();
            Some(tiles.of_slot[slot.flat::<2>()]).filter(|&tile| tile != NO_TILE)
        }
    }

    #[test]
    fn bands_and_walls_stay_cells() {
        let case = pool(64, 50.0);
        let tiling = Tiling { size: TileSize::Uniform(16), ..Tiling::default() };
        let tiles = case.tiles(&tiling);
        for cell in (0..64).flat_map(|x| (0..64).map(move |y| [x, y])) {
            let is_band = cell.iter().any(|&c| c < 2) || cell[0] >= 62 || cell[1] >= 50 - 9;
            let is_wall = cell.iter().any(|&c: &usize| c.is_multiple_of(16));
            let tile = case.tile_at(&tiles, cell);
            assert_eq!(tile.is_some(), !is_band && !is_wall, "{cell:?}");
        }
        // Four columns of tiles, of which the third is cut off by the band.
        assert_eq!(tiles.count, 4 * 3);
        let one = case.tiles(&Tiling { size: TileSize::One, ..Tiling::default() });
        assert_eq!(one.count, 1);
        assert!(case.tile_at(&one, [32, 32]).is_some());
    }

    /// Blocks beyond the domain, which hold the faces of its upper sides, are no surface.
    #[test]
    fn blocks_beyond_the_sides_are_no_surface() {
        let case = pool(64, 50.0);
        let coords = (0..9).flat_map(|x| (0..9).map(move |y| [x, y]));
        let blocks = Arc::new(Blocks::from_list([64; 2], coords));
        let level = |cell: [usize; 2]| if cell[0] < 64 && cell[1] < 50 { -3.0 } else { 3.0 };
        let case = Case { level_set: Field::from_fn(blocks, 5.0, level), ..case };
        let tiles = case.tiles(&Tiling { size: TileSize::One, ..Tiling::default() });
        let row: Vec<bool> = (0..64).map(|x| case.tile_at(&tiles, [x, 20]).is_some()).collect();
        let expected: Vec<bool> = (0..64).map(|x| (2..62).contains(&x)).collect();
        assert_eq!(row, expected);
    }

    #[test]
    fn solids_keep_their_band_and_part_tiles() {
        let mut case = pool(64, 60.0);
        let rock = Shape::box_between([0.0, 28.2], [64.0, 31.7]).unwrap();
        case.surroundings.solids.push(Solid::fixed(rock));
        let tiles = case.tiles(&Tiling { size: TileSize::One, ..Tiling::default() });
        assert_eq!(tiles.count, 2);
        // Cells 28 to 31 are cut: at each side they are the first layer, and there is a second.
        let column: Vec<bool> = (20..40).map(|y| case.tile_at(&tiles, [32, y]).is_some()).collect();
        let expected: Vec<bool> = (20..40).map(|y| !(27..33).contains(&y)).collect();
        assert_eq!(column, expected);
    }

    #[test]
    fn tiles_lie_in_the_fluids_that_are_wanted() {
        let mut case = pool(96, 48.0);
        case.params.air = AirModel::TwoPhase(SecondFluid { density: 1.0, viscosity: 0.0 });
        let sides = |fluids: Reduced| {
            let tiles = case.tiles(&Tiling { fluids, ..Tiling::default() });
            [10, 86].map(|y| case.tile_at(&tiles, [40, y]).is_some())
        };
        assert_eq!(sides(Reduced::Liquid), [true, false]);
        assert_eq!(sides(Reduced::Second), [false, true]);
        assert_eq!(sides(Reduced::Both), [true, true]);
    }

    #[test]
    fn graded_tiles_grow_with_the_distance_from_the_surface() {
        let case = pool(256, 250.0);
        let size = TileSize::Graded { least: 16, largest: 64 };
        let tiles = case.tiles(&Tiling { size, ..Tiling::default() });
        let width = |cell: [usize; 2]| {
            let tile = case.tile_at(&tiles, cell);
            (0..256).filter(|&x| tile.is_some() && case.tile_at(&tiles, [x, cell[1]]) == tile).count()
        };
        assert_eq!([width([129, 230]), width([129, 200]), width([129, 130])], [15, 31, 63]);
    }
}

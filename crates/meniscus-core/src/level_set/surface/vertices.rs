//! The vertices of a dual surface: one for each patch of surface in a cube between samples.

use super::patches::{PatchTable, Patches, edge_at, edge_ends};
use crate::grid::{BLOCK_EDGE, Blocks, Field, Slot, block_len, for_each_overlap, neighbourhood};
use crate::interpolate::{MAX_CORNERS, corner_offset, value_and_gradient};
use crate::parallel;

/// The samples around a block that its cubes need: curvatures reach one past a cube's corners.
const HALO: usize = 2;
const TILE_EDGE: usize = BLOCK_EDGE + 2 * HALO;

/// No vertex comes nearer to a face of its cube, in cells, so that vertices of different cubes differ. Without it surfaces of noise are not closed (`white_noise_is_closed`
/// and others), with 0.05 a sphere is not round (`a_sphere_has_its_volume_its_normals_and_well_shaped_triangles`).
const MARGIN: f32 = 1e-3;

/// Values are cut off here, in cells: only where they change sign matters. At 1 that would be felt (`a_sphere_has_its_volume_its_normals_and_well_shaped_triangles`).
const FARTHEST: f32 = 16.0;

/// The vertices of all cubes. A cube is known by its *upper* sample: then every cube has a cell of the
/// domain or of the layer past its end, and `Blocks` can store it.
pub(super) struct DualVertices<const D: usize> {
    table: PatchTable<D>,
    blocks: Blocks<D>,
    cubes: Vec<Option<BlockCubes<D>>>,
    /// The number of the first vertex of each block.
    start: Vec<u32>,
}

/// The cubes of a block that the surface passes through.
struct BlockCubes<const D: usize> {
    /// For each cube its configuration and whether its double face is parted.
    shape: Vec<(u8, bool)>,
    /// For each cube its first vertex among those of the block.
    first: Vec<u32>,
    position: Vec<[f32; D]>,
}

/// A lattice edge whose ends differ in sign.
pub(super) struct Crossing<const D: usize> {
    /// The cube in whose lowest corner the edge begins.
    cube: [usize; D],
    /// The direction of the edge.
    pub(super) axis: usize,
    /// Whether the lower end is liquid, so that the level set rises along the axis.
    pub(super) rising: bool,
}

impl<const D: usize> DualVertices<D> {
    pub(super) fn new(phi: &Field<f32, D>) -> Self {
        let table = PatchTable::new();
        // A cube has a liquid corner only if one of its samples lies in an active block; that sample is
        // at most one below the upper one.
        let blocks = Blocks::new(phi.blocks().cells(), |coord| {
            (0..1usize << D).any(|k| {
                phi.blocks().find(std::array::from_fn(|a| coord[a].wrapping_sub(k >> a & 1))).is_some()
            })
        });
        let signs = parallel::map(phi.blocks().len(), |block| Signs::of(phi.block(block)));
        let cubes = parallel::map_with(
            blocks.len(),
            || vec![0.0; TILE_EDGE.pow(D as u32)],
            |tile, block| {
                let coord = blocks.coord(block);
                may_cross(phi, &signs, coord).then(|| {
                    load(phi, &blocks, block, tile);
                    BlockCubes::new(&table, tile, coord, blocks.cells())
                })?
            },
        );
        let mut start = Vec::with_capacity(cubes.len());
        let mut count = 0usize;
        for cubes in &cubes {
            start.push(count as u32);
            count += cubes.as_ref().map_or(0, |c| c.position.len());
        }
        assert!(count < u32::MAX as usize, "vertices have 32-bit numbers");
        Self { table, blocks, cubes, start }
    }

    /// The blocks that the cubes are stored in.
    pub(super) fn blocks(&self) -> &Blocks<D> {
        &self.blocks
    }

    pub(super) fn positions(&self) -> Vec<[f32; D]> {
        self.cubes.iter().flatten().flat_map(|cubes| cubes.position.iter().copied()).collect()
    }

    /// Calls `f` for each crossed lattice edge that begins in the lowest corner of a cube.
    pub(super) fn for_each_crossing(&self, block: usize, local: usize, mut f: impl FnMut(Crossing<D>)) {
        let Some(cubes) = &self.cubes[block] else { return };
        let (configuration, _) = cubes.shape[local];
        let is_liquid = |corner: usize| configuration >> corner & 1 == 1;
        for axis in 0..D {
            if is_liquid(0) != is_liquid(1 << axis) {
                let cube = self.blocks.cell(Slot { block, local });
                f(Crossing { cube, axis, rising: is_liquid(0) });
            }
        }
    }

    /// The vertex of one of the cubes around a crossed edge: bit `k` of `below` chooses the cube that is
    /// lower along the `k`-th axis after that of the edge, cyclically.
    pub(super) fn vertex_beside(&self, crossing: &Crossing<D>, below: usize) -> u32 {
        // From a cube further down, the edge lies on its upper side.
        let (axis, corner) = edge_ends::<D>(crossing.axis << (D - 1) | below);
        let cube = std::array::from_fn(|a| crossing.cube[a] as i64 - (corner >> a & 1) as i64);
        let slot = self.blocks.locate(cube).expect("cubes around an edge with a liquid end are stored");
        let cubes = self.cubes[slot.block].as_ref().expect("the surface passes through the cube");
        let (configuration, parted) = cubes.shape[slot.local];
        let patches = self.table.patches(configuration, parted);
        let patch = patches.crossing(edge_at::<D>(axis, corner)).expect("a crossed edge has a patch");
        self.start[slot.block] + cubes.first[slot.local] + patch as u32
    }
}

/// Which signs the samples of a block have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Signs {
    Air,
    Liquid,
    Both,
}

impl Signs {
    fn of(values: &[f32]) -> Self {
        let liquid = values.iter().filter(|&&value| value < 0.0).count();
        match liquid {
            0 => Self::Air,
            all if all == values.len() => Self::Liquid,
            _ => Self::Both,
        }
    }
}

/// Whether the surface may pass through a block of cubes. Their corners are samples of this block and of those
/// one below.
fn may_cross<const D: usize>(phi: &Field<f32, D>, signs: &[Signs], coord: [usize; D]) -> bool {
    let cells = phi.blocks().cells();
    let sources = (0..1usize << D).map(|k| {
        let source = phi.blocks().find(std::array::from_fn(|a| coord[a].wrapping_sub(k >> a & 1)));
        source.map_or(Signs::Air, |block| signs[block])
    });
    // Samples past the end of the domain are air, whatever is stored.
    let is_at_end = (0..D).any(|a| (coord[a] + 1) * BLOCK_EDGE > cells[a]);
    let end = is_at_end.then_some(Signs::Air);
    let mut first = None;
    sources.chain(end).any(|signs| signs == Signs::Both || *first.get_or_insert(signs) != signs)
}

/// Copies the samples around a block of cubes; what is inactive, outside the domain or no number is air.
fn load<const D: usize>(phi: &Field<f32, D>, blocks: &Blocks<D>, block: usize, tile: &mut [f32]) {
    let air = if phi.background() > 0.0 { phi.background().min(FARTHEST) } else { 1.0 };
    let coord = blocks.coord(block);
    for (offset, _) in neighbourhood(blocks, block) {
        let other = std::array::from_fn(|a| coord[a].wrapping_add_signed(offset[a] as isize));
        let source = phi.blocks().find(other);
        for_each_overlap(HALO, offset, |at, local, len| {
            for k in 0..len {
                let value = source.map_or(air, |source| phi[Slot { block: source, local: local + k }]);
                tile[at + k] = if value.is_nan() { air } else { value.clamp(-FARTHEST, FARTHEST) };
            }
        });
    }
    let cells = blocks.cells();
    let is_inner = (0..D).all(|a| coord[a] > 0 && (coord[a] + 1) * BLOCK_EDGE + HALO <= cells[a]);
    if !is_inner {
        for (index, value) in tile.iter_mut().enumerate() {
            let outside = (0..D).any(|a| {
                let sample = coord[a] * BLOCK_EDGE + index / TILE_EDGE.pow(a as u32) % TILE_EDGE;
                !(HALO..cells[a] + HALO).contains(&sample)
            });
            if outside {
                *value = air;
            }
        }
    }
}

impl<const D: usize> BlockCubes<D> {
    /// None where the surface does not pass through the block.
    fn new(table: &PatchTable<D>, tile: &[f32], coord: [usize; D], cells: [usize; D]) -> Option<Self> {
        let has_liquid = tile.iter().any(|&value| value < 0.0);
        if !has_liquid || tile.iter().all(|&value| value < 0.0) {
            return None;
        }
        let mut cubes = Self {
            shape: vec![(0, false); block_len::<D>()],
            first: vec![0; block_len::<D>()],
            position: Vec::new(),
        };
        let full = u8::MAX >> (MAX_CORNERS - (1 << D));
        for local in 0..block_len::<D>() {
            let inner = crate::grid::cell_in_block::<D>(local);
            let at = inner.iter().rev().fold(0, |index, &c| index * TILE_EDGE + c + HALO - 1);
            let configuration = configuration::<D>(tile, at);
            if configuration == 0 || configuration == full {
                cubes.shape[local].0 = configuration;
                continue;
            }
            let parted = is_parted(table, tile, at, configuration);
            cubes.shape[local] = (configuration, parted);
            cubes.first[local] = cubes.position.len() as u32;
            let lower = std::array::from_fn(|a| (coord[a] * BLOCK_EDGE + inner[a]) as i64 - 1);
            let cube = Cube::new(tile, at, lower, cells);
            let patches = table.patches(configuration, parted);
            cubes.position.extend((0..patches.count).map(|patch| cube.vertex(patches, patch)));
        }
        (!cubes.position.is_empty()).then_some(cubes)
    }
}

/// The signs at the corners of the cube whose lowest corner is the tile's sample `at`.
fn configuration<const D: usize>(tile: &[f32], at: usize) -> u8 {
    (0..1usize << D).fold(0, |bits, corner| {
        bits | u8::from(tile[at + corner_offset::<D>(corner, TILE_EDGE)] < 0.0) << corner
    })
}

/// Whether a patch crosses a face of the cube twice, and one does so on the other side of the face too.
fn is_parted<const D: usize>(table: &PatchTable<D>, tile: &[f32], at: usize, own: u8) -> bool {
    table.double_face(own).is_some_and(|face| {
        let stride = TILE_EDGE.pow(face.axis as u32);
        let beyond = if face.upper { at + stride } else { at - stride };
        let other = table.double_face(configuration::<D>(tile, beyond));
        other.is_some_and(|other| other.axis == face.axis && other.upper != face.upper)
    })
}

/// A cube between samples, with coordinates from 0 to 1 within it.
struct Cube<const D: usize> {
    values: [f32; MAX_CORNERS],
    /// Second differences of the level set along each axis.
    curvature: [f32; D],
    /// The lowest corner, in samples.
    lower: [i64; D],
    /// Along the axes on which the cube straddles the domain's boundary, the coordinate of its samples inside.
    inside: [Option<f32>; D],
}

impl<const D: usize> Cube<D> {
    fn new(tile: &[f32], at: usize, lower: [i64; D], cells: [usize; D]) -> Self {
        let mut values = [0.0; MAX_CORNERS];
        for (corner, value) in values.iter_mut().enumerate().take(1 << D) {
            *value = tile[at + corner_offset::<D>(corner, TILE_EDGE)];
        }
        let inside = std::array::from_fn(|a| match lower[a] {
            -1 => Some(1.0),
            last if last == cells[a] as i64 - 1 => Some(0.0),
            _ => None,
        });
        let curvature = std::array::from_fn(|axis| {
            let known = lower[axis] > 0 && lower[axis] + 2 < cells[axis] as i64;
            if known { curvature::<D>(tile, at, axis) } else { 0.0 }
        });
        Self { values, curvature, lower, inside }
    }

    /// The position of a patch's vertex, in cells.
    fn vertex(&self, patches: &Patches, patch: usize) -> [f32; D] {
        let mut place = self.mean_crossing(patches, patch);
        if patches.count == 1 {
            place = self.relaxed(place);
        }
        std::array::from_fn(|a| match self.inside[a] {
            // The middle between the samples is the boundary itself.
            Some(_) => self.lower[a] as f32 + 1.0,
            None => self.lower[a] as f32 + 0.5 + place[a],
        })
    }

    /// The mean of the points where a patch crosses edges inside the domain; where there are none, the liquid
    /// fills the cube up to the boundary, and it is the mean of the samples inside.
    fn mean_crossing(&self, patches: &Patches, patch: usize) -> [f32; D] {
        let (mut crossings, mut samples) = (Mean::default(), Mean::default());
        for edge in (0..D << (D - 1)).filter(|&edge| patches.crossing(edge) == Some(patch)) {
            let (axis, corner) = edge_ends::<D>(edge);
            let mut point: [f32; D] = std::array::from_fn(|a| (corner >> a & 1) as f32);
            if let Some(inside) = self.inside[axis] {
                point[axis] = inside;
                samples.add(point);
            } else {
                let (v, w) = (self.values[corner], self.values[corner | 1 << axis]);
                point[axis] = (v / (v - w)).clamp(MARGIN, 1.0 - MARGIN);
                crossings.add(point);
            }
        }
        crossings.value().or(samples.value()).expect("a patch crosses edges")
    }

    /// The point moved to the zero of the interpolant by Newton's method along its gradient; the point
    /// itself where this does not come nearer.
    fn relaxed(&self, start: [f32; D]) -> [f32; D] {
        // Newton's method doubles the digits in a step: 1 is enough for the tests, 0 for none (`a_disc_and_a_full_square_have_their_areas`).
        const STEPS: usize = 4;
        let distance = |x| self.value_and_gradient(x).0.abs();
        let mut x = start;
        for _ in 0..STEPS {
            let (value, gradient) = self.value_and_gradient(x);
            let squared: f32 = gradient.iter().map(|g| g * g).sum();
            if squared < 1e-4 {
                break;
            }
            for a in (0..D).filter(|&a| self.inside[a].is_none()) {
                x[a] = (x[a] - value / squared * gradient[a]).clamp(MARGIN, 1.0 - MARGIN);
            }
        }
        if distance(x) <= distance(start) { x } else { start }
    }

    /// The multilinear interpolant less its leading error, `t (1 - t) / 2` times the curvature along each
    /// axis: without that, spheres would shrink. The axes across the boundary are left alone.
    fn value_and_gradient(&self, x: [f32; D]) -> (f32, [f32; D]) {
        let x: [f32; D] = std::array::from_fn(|a| self.inside[a].unwrap_or(x[a]));
        let (mut value, mut gradient) = value_and_gradient(self.values, x);
        for a in 0..D {
            if self.inside[a].is_some() {
                gradient[a] = 0.0;
            } else {
                value -= 0.5 * x[a] * (1.0 - x[a]) * self.curvature[a];
                gradient[a] -= (0.5 - x[a]) * self.curvature[a];
            }
        }
        (value, gradient)
    }
}

/// The mean second difference along an axis over the edges of a cube. Of the two at the ends of an edge the
/// smaller one counts, and none where they differ in sign: a crease is no curvature.
fn curvature<const D: usize>(tile: &[f32], at: usize, axis: usize) -> f32 {
    let stride = TILE_EDGE.pow(axis as u32);
    let second = |i: usize| tile[i - stride] - 2.0 * tile[i] + tile[i + stride];
    let edges = (0..1usize << D).filter(|corner| corner >> axis & 1 == 0);
    let sum: f32 = edges
        .map(|corner| {
            let low = at + corner_offset::<D>(corner, TILE_EDGE);
            let (a, b) = (second(low), second(low + stride));
            if a * b <= 0.0 {
                0.0
            } else if a.abs() < b.abs() {
                a
            } else {
                b
            }
        })
        .sum();
    sum / (1 << (D - 1)) as f32
}

struct Mean<const D: usize> {
    sum: [f32; D],
    count: u32,
}

impl<const D: usize> Default for Mean<D> {
    fn default() -> Self {
        Self { sum: [0.0; D], count: 0 }
    }
}

impl<const D: usize> Mean<D> {
    fn add(&mut self, point: [f32; D]) {
        for a in 0..D {
            self.sum[a] += point[a];
        }
        self.count += 1;
    }

    fn value(&self) -> Option<[f32; D]> {
        (self.count > 0).then(|| self.sum.map(|s| s / self.count as f32))
    }
}

//! What the solids leave open: distances, open fractions and velocities of walls.

use std::collections::HashMap;
use std::sync::Arc;

use meniscus_core::fractions::face_open_fraction;
use meniscus_core::grid::{BLOCK_EDGE, Blocks, FaceField, Slot, block_len, cell_in_block};
use meniscus_core::interpolate::interpolate_faces;
use meniscus_core::shape::RigidTransform;
use rayon::prelude::*;

use crate::params::{Params, Solid, Source, Surroundings};

/// Nodes along the edge of a block, both ends included.
const NODES: usize = BLOCK_EDGE + 1;

/// How far from a block a solid is out of its sight, in cells.
const SIGHT: f64 = 1.0;

/// How a block lies to the solids.
#[derive(Clone, Debug)]
enum Sight {
    /// No solid within [`SIGHT`] of it.
    Open,
    /// Wholly inside a solid, by more than [`SIGHT`].
    Solid,
    /// The signed distance to the solids at its nodes, in cells, x fastest.
    Cut(Arc<[f32]>),
}

/// The solids as the grid sees them at the end of a substep.
#[derive(Clone, Debug)]
pub struct Boundary<const D: usize> {
    blocks: Arc<Blocks<D>>,
    sight: Vec<Sight>,
    /// The open fraction of the faces: 0 on closed sides of the domain, in solids and in sources.
    pub open: FaceField<f32, D>,
    /// The velocity that sources prescribe on their faces, in m/s; not a number on all others.
    inlets: Option<FaceField<f32, D>>,
    /// The volume that flows out of the sources, in m³/s (2D: m²/s).
    pub inflow: f64,
}

/// What is found once for solids that rest.
#[derive(Clone, Debug, Default)]
pub struct BoundaryCache<const D: usize> {
    /// The poses of all solids, and how many cells of the domain lie wholly inside them.
    solid_cells: Option<(Vec<RigidTransform<D>>, usize)>,
    /// Where each solid rests, `None` for those that move.
    resting: Vec<Option<RigidTransform<D>>>,
    sight: HashMap<[usize; D], Sight>,
}

impl<const D: usize> Boundary<D> {
    /// The solids at the end of their motion, and the sources, seen from the blocks.
    pub fn new(
        params: &Params<D>,
        surroundings: &Surroundings<D>,
        blocks: &Arc<Blocks<D>>,
        cache: &mut BoundaryCache<D>,
    ) -> Self {
        let solids = &surroundings.solids;
        let sight = find_sights(params, solids, blocks, cache);
        let mut open = FaceField::new(blocks.clone(), 0.0);
        for axis in 0..D {
            let values = open.axes[axis].values_mut().par_chunks_mut(block_len::<D>());
            values.zip(&sight).enumerate().for_each(|(block, (values, sight))| {
                fill_open(params, blocks.coord(block), axis, sight, values);
            });
        }
        let mut boundary = Self { blocks: blocks.clone(), sight, open, inlets: None, inflow: 0.0 };
        boundary.close_sources(params, &surroundings.sources);
        boundary
    }

    /// Closes the faces of the cells in sources. Liquid leaves a source through the faces that its velocity
    /// points out of, and nothing passes the others.
    fn close_sources(&mut self, params: &Params<D>, sources: &[Source<D>]) {
        if sources.is_empty() {
            return;
        }
        let blocks = self.blocks.clone();
        let mut inlets = FaceField::new(blocks.clone(), f32::NAN);
        let area = params.grid.dx.powi(D as i32 - 1);
        for source in sources {
            for cell in source_cells(params, source) {
                for (axis, side) in (0..D).flat_map(|axis| [(axis, 0), (axis, 1)]) {
                    let (mut face, mut beyond) = (cell, cell);
                    face[axis] += side;
                    beyond[axis] += 2 * side - 1;
                    let Some(slot) = blocks.locate(face) else { continue };
                    let inner = is_source(params, source, beyond);
                    let outwards = source.velocity[axis] * (2 * side - 1) as f64;
                    let open = &mut self.open.axes[axis].values_mut()[slot.flat::<D>()];
                    let speed = match (inner, outwards > 0.0) {
                        (true, _) => source.velocity[axis],
                        (false, true) => source.velocity[axis] * f64::from(*open),
                        (false, false) => 0.0,
                    };
                    if !inner {
                        self.inflow += speed.abs() * area;
                    }
                    *open = 0.0;
                    inlets.axes[axis].values_mut()[slot.flat::<D>()] = speed as f32;
                }
            }
        }
        self.inlets = Some(inlets);
    }

    /// The velocity of what closes a face, along its axis, in m/s.
    pub fn wall_speed(
        &self,
        params: &Params<D>,
        surroundings: &Surroundings<D>,
        dt: f64,
        axis: usize,
        cell: [usize; D],
    ) -> f64 {
        if cell[axis] == 0 || cell[axis] == self.blocks.cells()[axis] {
            // The sides of the domain rest.
            return 0.0;
        }
        let cell = cell.map(|c| c as i64);
        match self.inlets.as_ref().map(|inlets| inlets.get(axis, cell)) {
            Some(speed) if !speed.is_nan() => f64::from(speed),
            _ => wall_velocity(surroundings, params.grid.face_centre(axis, cell), dt)[axis],
        }
    }

    /// Whether something that closes faces moves.
    pub fn has_moving_walls(&self, surroundings: &Surroundings<D>) -> bool {
        self.inlets.is_some() || surroundings.solids.iter().any(Solid::moves)
    }

    /// Whether the block sees a solid.
    pub fn is_cut(&self, block: usize) -> bool {
        matches!(self.sight[block], Sight::Cut(_))
    }

    /// The signed distance to the solids at a point of a block, in cells, as far as it is in sight: else
    /// plus or minus one.
    pub fn distance(&self, block: usize, x: [f32; D]) -> f32 {
        match &self.sight[block] {
            Sight::Open => SIGHT as f32,
            Sight::Solid => -SIGHT as f32,
            Sight::Cut(nodes) => at_nodes(nodes, self.in_block(block, x)).0,
        }
    }

    /// The gradient of the distance at a point of a block: the direction out of the solid.
    pub fn normal(&self, block: usize, x: [f32; D]) -> [f32; D] {
        match &self.sight[block] {
            Sight::Cut(nodes) => {
                let gradient = at_nodes(nodes, self.in_block(block, x)).1;
                let length = gradient.iter().map(|g| g * g).sum::<f32>().sqrt();
                if length > 0.0 { gradient.map(|g| g / length) } else { [0.0; D] }
            }
            _ => [0.0; D],
        }
    }

    /// Whether a block lies wholly inside a solid.
    pub fn is_solid(&self, block: usize) -> bool {
        matches!(self.sight[block], Sight::Solid)
    }

    /// The distances to the solids at the corners of a cell, in cells, if its block sees one.
    pub fn corner_distances(&self, slot: Slot) -> Option<[f64; 8]> {
        let Sight::Cut(nodes) = &self.sight[slot.block] else { return None };
        let inner = cell_in_block::<D>(slot.local);
        let mut corners = [0.0; 8];
        for (k, corner) in corners.iter_mut().enumerate().take(1 << D) {
            *corner = f64::from(nodes[node_index::<D>(std::array::from_fn(|a| inner[a] + (k >> a & 1)))]);
        }
        Some(corners)
    }

    fn in_block(&self, block: usize, x: [f32; D]) -> [f32; D] {
        let corner = self.blocks.coord(block);
        std::array::from_fn(|a| x[a] - (corner[a] * BLOCK_EDGE) as f32)
    }

    /// Gives the faces that no liquid passes the normal velocity of the wall that closes them, so that
    /// what moves with the interpolated velocity slides along walls. `velocity` has been extrapolated into
    /// the solids.
    pub fn constrain(
        &self,
        params: &Params<D>,
        surroundings: &Surroundings<D>,
        dt: f64,
        velocity: &mut FaceField<f32, D>,
    ) {
        let cut: Vec<usize> = (0..self.blocks.len()).filter(|&block| self.is_cut(block)).collect();
        let constrained: Vec<Vec<(usize, usize, f32)>> = cut
            .par_iter()
            .map(|&block| self.constrained_faces(params, surroundings, dt, velocity, block))
            .collect();
        for (&block, faces) in cut.iter().zip(constrained) {
            for (axis, local, value) in faces {
                velocity.axes[axis].values_mut()[Slot { block, local }.flat::<D>()] = value;
            }
        }
        self.close_sides(params, velocity);
        if let Some(inlets) = &self.inlets {
            for (velocity, inlet) in velocity.axes.iter_mut().zip(&inlets.axes) {
                let values = velocity.values_mut().par_iter_mut().zip(inlet.values());
                values.filter(|(_, speed)| !speed.is_nan()).for_each(|(u, &speed)| *u = speed);
            }
        }
    }

    /// (axis, local index, velocity) of the closed faces of a block.
    fn constrained_faces(
        &self,
        params: &Params<D>,
        surroundings: &Surroundings<D>,
        dt: f64,
        velocity: &FaceField<f32, D>,
        block: usize,
    ) -> Vec<(usize, usize, f32)> {
        let mut faces = Vec::new();
        for local in 0..block_len::<D>() {
            let slot = Slot { block, local };
            let cell = self.blocks.cell(slot);
            for axis in 0..D {
                if self.open.axes[axis][slot] > 0.0
                    || cell.iter().zip(self.blocks.cells()).any(|(&c, n)| c >= n)
                {
                    continue;
                }
                let x = std::array::from_fn(|a| cell[a] as f32 + if a == axis { 0.0 } else { 0.5 });
                let normal = self.normal(block, x);
                let flow = interpolate_faces(velocity, x);
                let wall = wall_velocity(surroundings, params.to_metres(x), dt);
                let approach: f32 = (0..D).map(|a| (flow[a] - wall[a] as f32) * normal[a]).sum();
                faces.push((axis, local, velocity.axes[axis][slot] - approach * normal[axis]));
            }
        }
        faces
    }

    /// Stops the velocity normal to the closed sides of the domain.
    fn close_sides(&self, params: &Params<D>, velocity: &mut FaceField<f32, D>) {
        let cells = self.blocks.cells();
        for axis in 0..D {
            let sides = params.open_sides[axis];
            let values = velocity.axes[axis].values_mut().par_chunks_mut(block_len::<D>());
            values.enumerate().for_each(|(block, values)| {
                let first = self.blocks.coord(block)[axis] * BLOCK_EDGE;
                for (side, face) in [0, cells[axis]].into_iter().enumerate() {
                    if sides[side] || !(first..first + BLOCK_EDGE).contains(&face) {
                        continue;
                    }
                    let stride = BLOCK_EDGE.pow(axis as u32);
                    for (local, value) in values.iter_mut().enumerate() {
                        if local / stride % BLOCK_EDGE == face - first {
                            *value = 0.0;
                        }
                    }
                }
            });
        }
    }
}

/// The cells whose centres lie in a source, x fastest.
pub(crate) fn source_cells<const D: usize>(params: &Params<D>, source: &Source<D>) -> Vec<[i64; D]> {
    let bounds = source.shape.bounds();
    let cells = params.grid.cells;
    let (lower, upper) = (params.grid.to_cells(bounds.lower), params.grid.to_cells(bounds.upper));
    let first: [i64; D] = std::array::from_fn(|a| lower[a].floor().clamp(0.0, cells[a] as f64) as i64);
    let end: [i64; D] = std::array::from_fn(|a| upper[a].ceil().clamp(0.0, cells[a] as f64) as i64);
    let counts: [i64; D] = std::array::from_fn(|a| (end[a] - first[a]).max(0));
    let around = (0..counts.iter().product::<i64>()).map(|index| {
        let mut rest = index;
        std::array::from_fn(|a| {
            let c = first[a] + rest % counts[a];
            rest /= counts[a];
            c
        })
    });
    around.filter(|&cell| is_source(params, source, cell)).collect()
}

fn is_source<const D: usize>(params: &Params<D>, source: &Source<D>, cell: [i64; D]) -> bool {
    let inside = (0..D).all(|a| cell[a] >= 0 && cell[a] < params.grid.cells[a] as i64);
    inside && source.shape.signed_distance(params.grid.cell_centre(cell)) < 0.0
}

/// The velocity of the solid that is nearest to a point, in m/s.
pub fn wall_velocity<const D: usize>(surroundings: &Surroundings<D>, point: [f64; D], dt: f64) -> [f64; D] {
    let solids = &surroundings.solids;
    if !solids.iter().any(Solid::moves) {
        return [0.0; D];
    }
    let nearest = solids.iter().map(|s| (s.distance(point), s)).min_by(|a, b| a.0.total_cmp(&b.0));
    nearest.map_or([0.0; D], |(_, solid)| solid.displacement(point).map(|d| d / dt))
}

fn find_sights<const D: usize>(
    params: &Params<D>,
    solids: &[Solid<D>],
    blocks: &Blocks<D>,
    cache: &mut BoundaryCache<D>,
) -> Vec<Sight> {
    let resting: Vec<_> = solids.iter().map(|s| (!s.moves()).then_some(s.to)).collect();
    if cache.resting != resting {
        cache.resting = resting.clone();
        cache.sight.clear();
    }
    let of = |rests: bool| -> Vec<&Solid<D>> {
        solids.iter().zip(&resting).filter(|(_, r)| r.is_some() == rests).map(|(s, _)| s).collect()
    };
    let (fixed, moving) = (of(true), of(false));
    let known = &cache.sight;
    let found: Vec<(Option<Sight>, Sight)> = (0..blocks.len())
        .into_par_iter()
        .map(|block| {
            let coord = blocks.coord(block);
            let (new, of_fixed) = match known.get(&coord) {
                Some(sight) => (None, sight.clone()),
                None => {
                    let sight = see(params, &fixed, coord);
                    (Some(sight.clone()), sight)
                }
            };
            (new, nearest(of_fixed, see(params, &moving, coord)))
        })
        .collect();
    let mut sights = Vec::with_capacity(found.len());
    for (block, (new, sight)) in found.into_iter().enumerate() {
        if let Some(new) = new {
            cache.sight.insert(blocks.coord(block), new);
        }
        sights.push(sight);
    }
    sights
}

/// The number of cells of the domain that lie wholly inside solids.
pub fn solid_cells<const D: usize>(
    params: &Params<D>,
    solids: &[Solid<D>],
    cache: &mut BoundaryCache<D>,
) -> usize {
    let poses: Vec<_> = solids.iter().map(|s| s.to).collect();
    if let Some((known, count)) = &cache.solid_cells
        && *known == poses
    {
        return *count;
    }
    let all: Vec<&Solid<D>> = solids.iter().collect();
    let blocks = Blocks::all(params.grid.cells);
    let of_block = |block: usize| {
        let sight = see(params, &all, blocks.coord(block));
        let is_solid = |local: usize| match &sight {
            Sight::Open => false,
            Sight::Solid => true,
            Sight::Cut(nodes) => {
                let inner = cell_in_block::<D>(local);
                (0..1 << D).all(|k| {
                    nodes[node_index::<D>(std::array::from_fn(|a| inner[a] + (k >> a & 1)))] <= CLOSED
                })
            }
        };
        let inside = |local: usize| {
            let cell = blocks.cell(Slot { block, local });
            (0..D).all(|a| cell[a] < blocks.cells()[a])
        };
        (0..block_len::<D>()).filter(|&local| inside(local) && is_solid(local)).count()
    };
    let count = if solids.is_empty() { 0 } else { (0..blocks.len()).into_par_iter().map(of_block).sum() };
    cache.solid_cells = Some((poses, count));
    count
}

/// What a block sees of some solids. Distances are at least as far as they say (1-Lipschitz), so one look
/// from the centre of the block settles most.
fn see<const D: usize>(params: &Params<D>, solids: &[&Solid<D>], coord: [usize; D]) -> Sight {
    let grid = &params.grid;
    let (centre, half_diagonal) = params.block_ball(coord);
    let radius = half_diagonal + grid.dx * SIGHT;
    let near: Vec<&Solid<D>> = solids.iter().copied().filter(|s| s.distance(centre) <= radius).collect();
    if near.is_empty() {
        return Sight::Open;
    }
    if near.iter().any(|s| s.distance(centre) < -radius) {
        return Sight::Solid;
    }
    let nodes = (0..NODES.pow(D as u32)).map(|index| {
        let node: [i64; D] =
            std::array::from_fn(|a| (coord[a] * BLOCK_EDGE + index / NODES.pow(a as u32) % NODES) as i64);
        let point = grid.node(node);
        (near.iter().map(|s| s.distance(point)).fold(f64::INFINITY, f64::min) / grid.dx) as f32
    });
    Sight::Cut(nodes.collect())
}

fn nearest(a: Sight, b: Sight) -> Sight {
    match (a, b) {
        (Sight::Solid, _) | (_, Sight::Solid) => Sight::Solid,
        (Sight::Open, other) | (other, Sight::Open) => other,
        (Sight::Cut(a), Sight::Cut(b)) => {
            Sight::Cut(a.iter().zip(b.iter()).map(|(&a, &b)| a.min(b)).collect())
        }
    }
}

fn node_index<const D: usize>(node: [usize; D]) -> usize {
    node.iter().rev().fold(0, |index, &c| index * NODES + c)
}

/// A face that is open by less is closed: it is a wall that lies in a grid plane, up to rounding, or a gap
/// through which nothing worth a stencil coefficient flows.
const CLOSED: f32 = 1e-3;

fn fill_open<const D: usize>(
    params: &Params<D>,
    coord: [usize; D],
    axis: usize,
    sight: &Sight,
    values: &mut [f32],
) {
    let cells = params.grid.cells;
    let stride = BLOCK_EDGE.pow(axis as u32);
    match sight {
        Sight::Open => values.fill(1.0),
        Sight::Solid => values.fill(0.0),
        Sight::Cut(nodes) => {
            for (local, value) in values.iter_mut().enumerate() {
                *value = open_fraction(nodes, cell_in_block::<D>(local), axis);
            }
        }
    }
    // Faces on closed sides, and what the last blocks store beyond the domain, are closed.
    let corner = coord.map(|c| c * BLOCK_EDGE);
    for (local, value) in values.iter_mut().enumerate() {
        let inner = local / stride % BLOCK_EDGE;
        let face = corner[axis] + inner;
        let closed_side = face == 0 && !params.open_sides[axis][0]
            || face == cells[axis] && !params.open_sides[axis][1]
            || face > cells[axis];
        if closed_side {
            *value = 0.0;
        }
    }
    for a in (0..D).filter(|&a| a != axis && corner[a] + BLOCK_EDGE > cells[a]) {
        for (local, value) in values.iter_mut().enumerate() {
            if corner[a] + local / BLOCK_EDGE.pow(a as u32) % BLOCK_EDGE >= cells[a] {
                *value = 0.0;
            }
        }
    }
}

fn open_fraction<const D: usize>(nodes: &[f32], cell: [usize; D], axis: usize) -> f32 {
    let mut corners = [0.0; 4];
    let corners = &mut corners[..1 << (D - 1)];
    for (index, corner) in corners.iter_mut().enumerate() {
        let mut bits = index;
        let mut node = cell;
        for other in (0..D).filter(|&other| other != axis) {
            node[other] += bits & 1;
            bits >>= 1;
        }
        *corner = f64::from(nodes[node_index(node)]);
    }
    // A face that lies in the surface of a solid is closed, whatever the signs.
    let in_surface = corners.iter().all(|d| d.abs() < f64::from(CLOSED));
    let open = if in_surface { 0.0 } else { face_open_fraction::<D>(corners) as f32 };
    if open < CLOSED { 0.0 } else { open }
}

/// The multilinear interpolant of the nodes of a block, and its gradient.
fn at_nodes<const D: usize>(nodes: &[f32], x: [f32; D]) -> (f32, [f32; D]) {
    let base: [usize; D] = std::array::from_fn(|a| (x[a].max(0.0) as usize).min(BLOCK_EDGE - 1));
    let fraction: [f32; D] = std::array::from_fn(|a| x[a] - base[a] as f32);
    let (mut value, mut gradient) = (0.0, [0.0; D]);
    for k in 0..1 << D {
        let node = nodes[node_index::<D>(std::array::from_fn(|a| base[a] + (k >> a & 1)))];
        let along = |a: usize| if k >> a & 1 == 1 { fraction[a] } else { 1.0 - fraction[a] };
        value += node * (0..D).map(along).product::<f32>();
        for (axis, slope) in gradient.iter_mut().enumerate() {
            let sign = if k >> axis & 1 == 1 { 1.0 } else { -1.0 };
            *slope += node * sign * (0..D).filter(|&a| a != axis).map(along).product::<f32>();
        }
    }
    (value, gradient)
}

#[cfg(test)]
mod tests {
    use meniscus_core::fractions::grid_face_open_fraction;
    use meniscus_core::grid::Grid;
    use meniscus_core::shape::{Rotation, Shape};

    use super::*;

    fn params<const D: usize>(cells: usize) -> Params<D> {
        Params::new(Grid { origin: [0.0; D], dx: 1.0 / cells as f64, cells: [cells; D] })
    }

    fn boundary<const D: usize>(params: &Params<D>, surroundings: &Surroundings<D>) -> Boundary<D> {
        let blocks = Arc::new(Blocks::all(params.grid.cells));
        Boundary::new(params, surroundings, &blocks, &mut BoundaryCache::default())
    }

    fn tilted_box() -> Shape<3> {
        let rotation = Rotation::from_axis_angle([1.0, 2.0, 3.0], 0.6).unwrap();
        let transform = RigidTransform { rotation, translation: [0.5; 3] };
        Shape::centred_box([0.0; 3], [0.2, 0.15, 0.25]).unwrap().transformed(transform).unwrap()
    }

    /// Looking from the centre of a block first changes nothing.
    #[test]
    fn open_fractions_are_those_of_the_distances() {
        let params = params::<3>(24);
        let shape = tilted_box();
        let solids = vec![Solid::fixed(shape.clone())];
        let boundary = boundary(&params, &Surroundings { solids, ..Surroundings::default() });
        let mut cut = 0;
        for index in 0..24 * 24 * 24 {
            let cell: [i64; 3] = [index % 24, index / 24 % 24, index / 576];
            for axis in (0..3).filter(|&axis| cell[axis] > 0) {
                let distance = |node| shape.signed_distance(params.grid.node(node));
                let expected = grid_face_open_fraction(&params.grid, axis, cell, distance);
                let open = f64::from(boundary.open.get(axis, cell));
                assert!((open - expected).abs() < 1e-3 + 1e-6, "{cell:?} {axis}: {open} {expected}");
                cut += usize::from(open > 0.0 && open < 1.0);
            }
        }
        assert!(cut > 500, "{cut}");
    }

    #[test]
    fn sides_are_closed_unless_open() {
        let mut params = params::<2>(20);
        params.open_sides[1][1] = true;
        let boundary = boundary(&params, &Surroundings::default());
        assert_eq!(boundary.open.get(0, [0, 5]), 0.0);
        assert_eq!(boundary.open.get(0, [20, 5]), 0.0);
        assert_eq!(boundary.open.get(1, [5, 0]), 0.0);
        assert_eq!(boundary.open.get(1, [5, 20]), 1.0);
        assert_eq!(boundary.open.get(1, [5, 10]), 1.0);
    }

    #[test]
    fn a_source_pushes_forwards_and_sucks_nowhere() {
        let params = params::<2>(20);
        let shape = Shape::box_between([0.2, 0.3], [0.5, 0.4]).unwrap();
        let source = Source { shape, velocity: [0.0, 2.0] };
        let surroundings = Surroundings { sources: vec![source], ..Surroundings::default() };
        let boundary = boundary(&params, &surroundings);
        assert!((boundary.inflow - 0.3 * 2.0).abs() < 1e-12);
        let speed = |axis, cell| boundary.wall_speed(&params, &surroundings, 0.01, axis, cell);
        assert_eq!(
            [speed(1, [6, 8]), speed(1, [6, 6]), speed(0, [4, 7]), speed(0, [10, 7])],
            [2.0, 0.0, 0.0, 0.0]
        );
        assert_eq!([boundary.open.get(1, [6, 8]), boundary.open.get(1, [6, 9])], [0.0, 1.0]);
    }

    /// A flow against a wall at 45° slides along it, at the speed of the wall if that moves.
    #[test]
    fn a_flow_into_a_wall_is_turned_along_it() {
        let params = params::<2>(32);
        let shape = Shape::half_space([0.5, 0.5], [-1.0, 1.0]).unwrap();
        for speed in [0.0, 0.3] {
            let to =
                RigidTransform { translation: [-0.01 * speed, 0.01 * speed], ..RigidTransform::IDENTITY };
            let solids = vec![Solid { shape: shape.clone(), from: RigidTransform::IDENTITY, to }];
            let surroundings = Surroundings { solids, ..Surroundings::default() };
            let boundary = boundary(&params, &surroundings);
            let mut velocity = FaceField::new(Arc::new(Blocks::all([32; 2])), 0.0);
            velocity.axes[0].values_mut().fill(1.0);
            boundary.constrain(&params, &surroundings, 0.01, &mut velocity);
            let u = interpolate_faces(&velocity, [18.0, 15.0]);
            let normal = (u[1] - u[0]) / 2f32.sqrt();
            let wall = speed as f32 * 2f32.sqrt();
            assert!((normal - wall).abs() < 0.02, "{u:?} at {speed}");
            assert!((u[0] + u[1] - 1.0).abs() < 0.02, "{u:?}");
        }
    }

    #[test]
    fn solid_cells_are_counted() {
        let params = params::<2>(40);
        let solids = vec![Solid::fixed(Shape::box_between([0.1, 0.1], [0.35, 0.6]).unwrap())];
        let mut cache = BoundaryCache::default();
        assert_eq!(solid_cells(&params, &solids, &mut cache), 10 * 20);
        assert_eq!(solid_cells(&params, &[], &mut cache), 0);
    }
}

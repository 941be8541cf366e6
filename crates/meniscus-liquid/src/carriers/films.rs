//! Where what bodies take of the films under them comes from.
//!
//! If all that a body takes were taken of one layer of cells at the rim, it would leave the more slowly the finer the grid is: all would have to pass one cell. It is taken evenly
//! of all cells within a length of the rim, which is half of the smallest extent of the body: that converges, and is a model of how water enters a gap.

use std::collections::{BTreeMap, BTreeSet};

use meniscus_core::grid::Slot;
use meniscus_core::parallel;

use crate::boundary::{Boundary, PASSABLE};
use crate::params::Params;
use crate::rigid::{FilmFlow, fluxes_of_closed_faces};
use crate::substep::Substep;
use crate::surroundings::Solid;
use meniscus_rigid::{Twist, add, summed};

/// The farthest cells that what leaves a film comes from, in steps from its rim. It bounds the cost of a body on a fine grid, where half of its smallest extent is
/// more: each cell is a column of its term.
const WIDEST: usize = 8;

/// By rigid body, what its motions make flow through its films.
pub fn film_flows<const D: usize>(substep: Substep<D>) -> Vec<Vec<FilmFlow>> {
    let Substep { params, surroundings, boundary, .. } = substep;
    let free: Vec<&Solid<D>> = surroundings.solids.iter().filter(|solid| solid.free.is_some()).collect();
    let of_body = |index: usize| {
        let (centre, faces) = (free[index].to.translation, &boundary.bodies[index].faces);
        let blocked = |cell: Slot| boundary.is_blocked(cell).then(|| cell.flat::<D>());
        let fluxes = fluxes_of_closed_faces(&params.grid, boundary.blocks(), centre, faces, blocked);
        let mut fluxes = summed(fluxes);
        fluxes.retain(|(cell, flux)| is_drained(substep, Slot::from_flat::<D>(*cell), flux));
        fluxes
    };
    let fluxes: Vec<Vec<(usize, Twist)>> = parallel::map(free.len(), of_body);
    let widths = free.iter().map(|solid| width(params, solid));
    let films = Films::new(boundary, fluxes.iter().zip(widths));
    parallel::map(fluxes.len(), |index| films.flows(&fluxes[index]))
}

/// Whether what the motions of a body make flow out of a blocked cell comes from around it: not what leaves the other side of a cell inside the
/// body, and not what a wall that moves gives, as a lift does to what stands on it.
fn is_drained<const D: usize>(substep: Substep<D>, cell: Slot, flux: &Twist) -> bool {
    let blocks = substep.boundary.blocks();
    flux.iter().any(|f| f.abs() > 1e-9 * substep.params.grid.dx)
        && (0..D).all(|axis| {
            // The blocks may not hold the face that it leaves by.
            let Some(above) = blocks.step(cell, axis, 1) else { return false };
            [cell, above].into_iter().all(|face| substep.wall_share(axis, blocks.cell(face)) == 0.0)
        })
}

/// How far from the rim of its films what a body takes of them comes from, in cells.
fn width<const D: usize>(params: &Params<D>, body: &Solid<D>) -> usize {
    let smallest = body.shape.bounds().extent().into_iter().fold(f64::INFINITY, f64::min);
    (0.5 * smallest / params.grid.dx).round().clamp(1.0, WIDEST as f64) as usize
}

/// The films of all bodies. Bodies that share a film take of the same cells: what one takes and the other gives must cancel.
struct Films<'a, const D: usize> {
    boundary: &'a Boundary<D>,
    /// The cells, by flat index, and how far from the rim what is taken of them comes from.
    cells: BTreeMap<usize, usize>,
    /// From the rim on: a cell, those that what it gives is taken of, and in which parts.
    routes: Vec<(usize, Vec<(Slot, f64)>)>,
}

impl<'a, const D: usize> Films<'a, D> {
    /// Of what flows out of cells by the motions of each body, and its width.
    fn new<'b>(
        boundary: &'a Boundary<D>,
        fluxes: impl Iterator<Item = (&'b Vec<(usize, Twist)>, usize)>,
    ) -> Self {
        let mut cells = BTreeMap::new();
        for (flux, width) in fluxes {
            for &(cell, _) in flux {
                let narrowest = cells.entry(cell).or_insert(width);
                *narrowest = width.min(*narrowest);
            }
        }
        let mut this = Self { boundary, cells, routes: Vec::new() };
        this.routes = this.find_routes();
        this
    }

    /// In equal parts to all that are nearer to the rim, and from there evenly to what is around.
    fn find_routes(&self) -> Vec<(usize, Vec<(Slot, f64)>)> {
        let (order, layer) = self.by_distance();
        let mut around: BTreeMap<(usize, usize), Vec<Slot>> = BTreeMap::new();
        let mut routes = Vec::with_capacity(order.len());
        for cell in order {
            let from = Slot::from_flat::<D>(cell);
            let is_nearer = |to: &Slot| match layer[&cell] {
                0 => !self.boundary.is_blocked(*to),
                own => layer.get(&to.flat::<D>()) == Some(&(own - 1)),
            };
            let nearer: Vec<Slot> = self.neighbours(from).filter(is_nearer).collect();
            let part = 1.0 / nearer.len() as f64;
            let mut parts: Vec<(Slot, f64)> = Vec::new();
            for to in nearer {
                if layer[&cell] > 0 {
                    parts.push((to, part));
                    continue;
                }
                let width = self.cells[&cell];
                let around = around.entry((to.flat::<D>(), width)).or_insert_with(|| self.around(to, width));
                parts.extend(around.iter().map(|&to| (to, part / around.len() as f64)));
            }
            routes.push((cell, parts));
        }
        routes
    }

    /// What is taken of the cells around, and through the cells between, of what flows out of the films of a body.
    /// What has no rim is lost: a body that fits its hole is held by suction.
    fn flows(&self, flux: &[(usize, Twist)]) -> Vec<FilmFlow> {
        let mut left: BTreeMap<usize, Twist> = flux.iter().copied().collect();
        let mut flows = Vec::new();
        for (cell, parts) in self.routes.iter().rev() {
            let Some(flux) = left.remove(cell) else { continue };
            for &(to, part) in parts {
                let flux = flux.map(|flux| part * flux);
                if self.cells.contains_key(&to.flat::<D>()) {
                    add(left.entry(to.flat::<D>()).or_default(), &flux);
                }
                flows.push(FilmFlow { from: Slot::from_flat::<D>(*cell), to, flux });
            }
        }
        flows
    }

    /// The cells that open faces lead to from a cell in fewer than `width` steps, and itself.
    fn around(&self, cell: Slot, width: usize) -> Vec<Slot> {
        let mut seen = BTreeSet::from([cell.flat::<D>()]);
        let (mut all, mut last) = (vec![cell], vec![cell]);
        for _ in 1..width {
            let mut next = Vec::new();
            for &cell in &last {
                for (axis, side) in (0..2 * D).map(|k| (k / 2, k % 2)) {
                    let Some(other) = self.boundary.blocks().step(cell, axis, side) else { continue };
                    let face = if side == 0 { cell } else { other };
                    let is_open = self.boundary.open.axes[axis][face] > PASSABLE
                        && self.boundary.blocks().is_inside(other);
                    if is_open && seen.insert(other.flat::<D>()) {
                        next.push(other);
                    }
                }
            }
            all.extend(&next);
            last = next;
        }
        all
    }

    /// The cells from the rim on, and the layer that each is in: those of layer 0 have a neighbour with an open face.
    fn by_distance(&self) -> (Vec<usize>, BTreeMap<usize, usize>) {
        let neighbours = |cell: usize| self.neighbours(Slot::from_flat::<D>(cell));
        let at_rim = |cell: &usize| neighbours(*cell).any(|other| !self.boundary.is_blocked(other));
        let mut order: Vec<usize> = self.cells.keys().copied().filter(at_rim).collect();
        let mut layer: BTreeMap<usize, usize> = order.iter().map(|&cell| (cell, 0)).collect();
        let mut next = 0;
        while let Some(&cell) = order.get(next) {
            next += 1;
            let further = layer[&cell] + 1;
            for other in neighbours(cell).map(Slot::flat::<D>) {
                if self.cells.contains_key(&other) && !layer.contains_key(&other) {
                    layer.insert(other, further);
                    order.push(other);
                }
            }
        }
        (order, layer)
    }

    /// The cells across the faces of a cell that bodies close, along the wall: away from it is the body itself.
    fn neighbours(&self, cell: Slot) -> impl Iterator<Item = Slot> {
        let boundary = self.boundary;
        (0..2 * D).filter_map(move |k| {
            let (axis, side) = (k / 2, k % 2);
            let other = boundary.blocks().step(cell, axis, side)?;
            let face = if side == 0 { cell } else { other };
            let is_along = !boundary.is_wall(cell, axis, 1 - side) || boundary.touches_wall(other);
            (is_along && boundary.closed_by_bodies(axis, face) > 0.0).then_some(other)
        })
    }
}

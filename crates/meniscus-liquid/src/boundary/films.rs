//! The films between bodies and what they lie on, and the seams between bodies that touch.
//!
//! A cell that a body and a wall leave next to nothing of is a film. A flow through it would have to be many times faster than the body, and
//! none could be carried on to the next substep: its faces are closed, and what the motion of the body takes of it is taken of the rim. So it is in the seam between two
//! bodies, where the gap is less than half a cell: without a node there they would hold each other by suction, with a node of its own they would be glued, and so each feels
//! the pressure of the rim there. Where films and seams are the only way to what lies behind them, they stay open: see [`ways`](super::ways).
//!
//! If all that a body takes were taken of one layer of cells at the rim, it would leave the more slowly the finer the grid is: all would have to pass one cell. It is taken evenly
//! of all cells within a length of the rim, which is half of the smallest extent of the body: that converges, and is a model of how water enters a gap.

use std::collections::{BTreeMap, BTreeSet};

use meniscus_core::grid::Slot;
use meniscus_core::parallel;

use super::seams::PASSABLE;
use super::sight::Seen;
use super::{Boundary, CLOSED, NARROW};
use crate::params::{Params, Solid, Surroundings};
use crate::projection::{ClosedFace, FilmFlow};
use crate::rigid::{Twist, add, motions_at, summed};

/// The farthest cells that what leaves a film comes from, in steps from its rim: more would cost more than they are worth.
const WIDEST: usize = 8;

impl<const D: usize> Boundary<D> {
    /// Closes the faces of films and seams.
    pub(super) fn close_films(&mut self, seen: &[Seen]) {
        let has_room = |cell: Slot| room(&seen[cell.block], cell.local) > f64::from(CLOSED);
        let shut = self.passed_by_none(&self.narrow_cells(seen), has_room);
        let is_shut =
            |face: &ClosedFace| face.sides(&self.blocks).any(|cell| shut.contains(&cell.flat::<D>()));
        let films: Vec<Vec<bool>> =
            self.bodies.iter().map(|body| body.faces.iter().map(is_shut).collect()).collect();
        for (body, is_shut) in self.bodies.iter_mut().zip(films) {
            for (face, _) in body.faces.iter_mut().zip(is_shut).filter(|(_, is_shut)| *is_shut) {
                let at = face.upper.flat::<D>();
                let rest = std::mem::take(&mut self.open.axes[face.axis].values_mut()[at]);
                let by_bodies = self.by_bodies.as_mut().expect("there are bodies");
                by_bodies.axes[face.axis].values_mut()[at] += rest;
                face.part += f64::from(rest);
                body.unseen.push(ClosedFace { part: -f64::from(rest), ..*face });
            }
        }
    }

    /// The cells of films and seams, by flat index.
    fn narrow_cells(&self, seen: &[Seen]) -> BTreeSet<usize> {
        let is_narrow = |cell: Slot| {
            let Seen { bodies, .. } = &seen[cell.block];
            room(&seen[cell.block], cell.local) < f64::from(NARROW)
                && 1.0 - bodies.open_volume(cell.local) > f64::from(CLOSED)
        };
        let is_film =
            |cell: &Slot| self.blocks.is_inside(*cell) && is_narrow(*cell) && self.touches_wall(*cell);
        let faces = self.bodies.iter().flat_map(|body| &body.faces);
        let films = faces.flat_map(|face| face.sides(&self.blocks)).filter(is_film).map(Slot::flat::<D>);
        films.chain(self.narrow_between_bodies()).collect()
    }

    /// Finds where what the motions of each body take of its films comes from.
    pub(super) fn find_film_flows(&mut self, params: &Params<D>, surroundings: &Surroundings<D>) {
        let free: Vec<&Solid<D>> = surroundings.solids.iter().filter(|solid| solid.free.is_some()).collect();
        let of_body = |index: usize| {
            let (at, faces) = (free[index].to.translation, &self.bodies[index].faces);
            let mut flux = self.flux_of_blocked(params, at, faces);
            flux.retain(|(cell, flux)| {
                self.is_drained(params, surroundings, Slot::from_flat::<D>(*cell), flux)
            });
            flux
        };
        let fluxes: Vec<Vec<(usize, Twist)>> = parallel::map(free.len(), of_body);
        let films =
            Films::new(self, fluxes.iter().zip(&free).map(|(flux, solid)| (flux, width(params, solid))));
        let flows: Vec<Vec<FilmFlow>> = parallel::map(fluxes.len(), |index| films.flows(&fluxes[index]));
        self.bodies.iter_mut().zip(flows).for_each(|(body, films)| body.films = films);
    }

    /// What the motions of a body make flow out of the cells without an open face, by their flat indices, in order.
    fn flux_of_blocked(
        &self,
        params: &Params<D>,
        centre: [f64; D],
        faces: &[ClosedFace],
    ) -> Vec<(usize, Twist)> {
        let mut fluxes = Vec::new();
        for &ClosedFace { axis, upper, part } in faces {
            let motions = motions_at(&params.grid, centre, axis, self.blocks.cell(upper).map(|c| c as i64));
            let lower = self.blocks.step(upper, axis, 0);
            for (cell, outwards) in [(lower, part), (Some(upper), -part)] {
                if let Some(cell) = cell.filter(|&cell| self.is_blocked(cell)) {
                    fluxes.push((cell.flat::<D>(), motions.map(|m| outwards * m)));
                }
            }
        }
        summed(fluxes)
    }

    /// Whether what the motions of a body make flow out of a blocked cell comes from around it: not what leaves the other side of a cell inside the
    /// body, and not what a wall that moves gives, as a lift does to what stands on it.
    fn is_drained(
        &self,
        params: &Params<D>,
        surroundings: &Surroundings<D>,
        cell: Slot,
        flux: &Twist,
    ) -> bool {
        flux.iter().any(|f| f.abs() > 1e-9 * params.grid.dx)
            && (0..D).all(|axis| {
                // The blocks may not hold the face that it leaves by.
                let Some(above) = self.blocks.step(cell, axis, 1) else { return false };
                [cell, above].into_iter().all(|face| {
                    self.wall_share(params, surroundings, 1.0, axis, self.blocks.cell(face)) == 0.0
                })
            })
    }

    /// Whether all faces of a cell of the domain are closed.
    fn is_blocked(&self, cell: Slot) -> bool {
        self.has_faces(cell, |open| open == 0.0)
    }

    /// Whether something else than bodies and sources closes a part of a face of a cell.
    fn is_wall(&self, cell: Slot, axis: usize, side: usize) -> bool {
        let face = if side == 0 { Some(cell) } else { self.blocks.step(cell, axis, 1) };
        face.is_some_and(|face| {
            self.inlet_speed(axis, self.blocks.cell(face)).is_none()
                && self.open.axes[axis][face] + self.closed_by_bodies(axis, face) < 1.0 - CLOSED
        })
    }

    /// The cells that open faces lead to from a cell in fewer than `width` steps, and itself.
    fn around(&self, cell: Slot, width: usize) -> Vec<Slot> {
        let mut seen = BTreeSet::from([cell.flat::<D>()]);
        let (mut all, mut last) = (vec![cell], vec![cell]);
        for _ in 1..width {
            let mut next = Vec::new();
            for &cell in &last {
                for (axis, side) in (0..2 * D).map(|k| (k / 2, k % 2)) {
                    let Some(other) = self.blocks.step(cell, axis, side) else { continue };
                    let face = if side == 0 { cell } else { other };
                    let is_open = self.open.axes[axis][face] > PASSABLE && self.blocks.is_inside(other);
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

    fn touches_wall(&self, cell: Slot) -> bool {
        (0..2 * D).any(|k| self.is_wall(cell, k / 2, k % 2))
    }
}

/// What walls and bodies leave open of a cell. Of the two together distances at nodes would miss a gap that is less than a cell wide.
fn room(seen: &Seen, local: usize) -> f64 {
    seen.walls.open_volume(local) + seen.bodies.open_volume(local) - 1.0
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
                let around =
                    around.entry((to.flat::<D>(), width)).or_insert_with(|| self.boundary.around(to, width));
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
            let other = boundary.blocks.step(cell, axis, side)?;
            let face = if side == 0 { cell } else { other };
            let is_along = !boundary.is_wall(cell, axis, 1 - side) || boundary.touches_wall(other);
            (is_along && boundary.closed_by_bodies(axis, face) > 0.0).then_some(other)
        })
    }
}

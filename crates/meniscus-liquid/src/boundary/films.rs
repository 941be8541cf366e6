//! The films between bodies and what they lie on.
//!
//! A cell that a body and a wall leave next to nothing of is a film. A flow through it would have to be many times faster than the body, and
//! none could be carried on to the next substep: its faces are closed, and what the motion of the body takes of it is taken of the rim.

use std::collections::BTreeMap;

use meniscus_core::grid::Slot;
use rayon::prelude::*;

use super::sight::Seen;
use super::{Boundary, CLOSED, NARROW};
use crate::params::{Params, Solid, Surroundings};
use crate::projection::{ClosedFace, FilmFlow};
use crate::rigid::{Twist, add, motions_at, summed};

impl<const D: usize> Boundary<D> {
    /// Closes the faces of films.
    pub(super) fn close_films(&mut self, seen: &[Seen]) {
        let blocks = self.blocks.clone();
        let is_narrow = |cell: Slot| {
            // Of the two together distances at nodes would miss a gap that is less than a cell wide.
            let Seen { walls, bodies, .. } = &seen[cell.block];
            let [of_walls, of_bodies] = [walls, bodies].map(|sight| 1.0 - sight.open_volume(cell.local));
            of_walls + of_bodies > 1.0 - f64::from(NARROW) && of_bodies > f64::from(CLOSED)
        };
        let is_film = |cell: Slot| blocks.is_inside(cell) && is_narrow(cell) && self.touches_wall(cell);
        let sides = |face: &ClosedFace| [blocks.step(face.upper, face.axis, 0), Some(face.upper)];
        let is_of_film = |face: &ClosedFace| sides(face).into_iter().flatten().any(is_film);
        let films: Vec<Vec<bool>> =
            self.bodies.iter().map(|body| body.faces.iter().map(is_of_film).collect()).collect();
        for (body, is_of_film) in self.bodies.iter_mut().zip(films) {
            for (face, _) in body.faces.iter_mut().zip(is_of_film).filter(|(_, of_film)| *of_film) {
                let at = face.upper.flat::<D>();
                let rest = std::mem::take(&mut self.open.axes[face.axis].values_mut()[at]);
                let by_bodies = self.by_bodies.as_mut().expect("there are bodies");
                by_bodies.axes[face.axis].values_mut()[at] += rest;
                face.part += f64::from(rest);
                body.unseen.push(ClosedFace { part: -f64::from(rest), ..*face });
            }
        }
    }

    /// Finds where what the motions of each body take of its films comes from.
    pub(super) fn find_film_flows(&mut self, params: &Params<D>, surroundings: &Surroundings<D>) {
        let free: Vec<&Solid<D>> = surroundings.solids.iter().filter(|solid| solid.free.is_some()).collect();
        let of_body = |(solid, faces): (&&Solid<D>, &Vec<ClosedFace>)| {
            let mut flux = self.flux_of_blocked(params, solid.to.translation, faces);
            flux.retain(|(cell, flux)| {
                self.is_drained(params, surroundings, Slot::from_flat::<D>(*cell), flux)
            });
            flux
        };
        let faces: Vec<&Vec<ClosedFace>> = self.bodies.iter().map(|body| &body.faces).collect();
        let fluxes: Vec<Vec<(usize, Twist)>> = free.par_iter().zip(faces).map(of_body).collect();
        // What one body takes of the film between two, the other gives: it stays between them.
        let mut cells: Vec<usize> = fluxes.iter().flatten().map(|&(cell, _)| cell).collect();
        cells.sort_unstable();
        let is_own = |cell: usize| cells.get(cells.partition_point(|&c| c < cell) + 1) != Some(&cell);
        let flows = |flux: Vec<(usize, Twist)>| {
            let flux = flux.into_iter().filter(|&(cell, _)| is_own(cell)).collect();
            Films { boundary: self, flux }.flows()
        };
        let flows: Vec<Vec<FilmFlow>> = fluxes.into_par_iter().map(flows).collect();
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
        let is_closed =
            |axis: usize, face: Option<Slot>| face.is_none_or(|face| self.open.axes[axis][face] == 0.0);
        let blocks = &self.blocks;
        blocks.is_inside(cell)
            && (0..D).all(|axis| is_closed(axis, Some(cell)) && is_closed(axis, blocks.step(cell, axis, 1)))
    }

    /// Whether something else than bodies and sources closes a part of a face of a cell.
    fn is_wall(&self, cell: Slot, axis: usize, side: usize) -> bool {
        let face = if side == 0 { Some(cell) } else { self.blocks.step(cell, axis, 1) };
        face.is_some_and(|face| {
            self.inlet_speed(axis, self.blocks.cell(face)).is_none()
                && self.open.axes[axis][face] + self.closed_by_bodies(axis, face) < 1.0 - CLOSED
        })
    }

    fn touches_wall(&self, cell: Slot) -> bool {
        (0..2 * D).any(|k| self.is_wall(cell, k / 2, k % 2))
    }
}

/// The films of a body.
struct Films<'a, const D: usize> {
    boundary: &'a Boundary<D>,
    /// What flows out of each cell, by its flat index.
    flux: BTreeMap<usize, Twist>,
}

impl<const D: usize> Films<'_, D> {
    /// What is taken of the cells around instead, and through the cells between: in equal parts from all that are nearer to the rim.
    /// What has no rim is lost: a body that fits its hole is held by suction.
    fn flows(mut self) -> Vec<FilmFlow> {
        let (order, layer) = self.by_distance();
        let mut flows = Vec::new();
        for &cell in order.iter().rev() {
            let from = Slot::from_flat::<D>(cell);
            let is_nearer = |to: &Slot| match layer[&cell] {
                0 => !self.boundary.is_blocked(*to),
                own => layer.get(&to.flat::<D>()) == Some(&(own - 1)),
            };
            let nearer: Vec<Slot> = self.neighbours(from).filter(is_nearer).collect();
            let flux = self.flux[&cell].map(|flux| flux / nearer.len() as f64);
            for to in nearer {
                if let Some(passed_on) = self.flux.get_mut(&to.flat::<D>()) {
                    add(passed_on, &flux);
                }
                flows.push(FilmFlow { from, to, flux });
            }
        }
        flows
    }

    /// The cells from the rim on, and the layer that each is in: those of layer 0 have a neighbour with an open face.
    fn by_distance(&self) -> (Vec<usize>, BTreeMap<usize, usize>) {
        let neighbours = |cell: usize| self.neighbours(Slot::from_flat::<D>(cell));
        let at_rim = |cell: &usize| neighbours(*cell).any(|other| !self.boundary.is_blocked(other));
        let mut order: Vec<usize> = self.flux.keys().copied().filter(at_rim).collect();
        let mut layer: BTreeMap<usize, usize> = order.iter().map(|&cell| (cell, 0)).collect();
        let mut next = 0;
        while let Some(&cell) = order.get(next) {
            next += 1;
            let further = layer[&cell] + 1;
            for other in neighbours(cell).map(Slot::flat::<D>) {
                if self.flux.contains_key(&other) && !layer.contains_key(&other) {
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

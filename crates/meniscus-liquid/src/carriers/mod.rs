//! The rigid bodies as the projection wants them: after gravity has acted on them, and where they touch.

mod films;

use meniscus_core::grid::{Field, Slot};
use meniscus_core::vector::norm;

use meniscus_rigid::{RigidBody, RigidState};

use crate::boundary::BodyView;
use crate::params::Params;
use crate::projection::Touching;
use crate::rigid::mass_of;
use crate::rigid::{FilmFlow, RigidCarrier};
use crate::substep::Substep;
use films::film_flows;
use meniscus_rigid::{Twist, add, motions_at};

/// The rigid bodies after gravity, and whatever else pushes them, has acted on them.
pub fn carriers<const D: usize>(
    substep: Substep<D>,
    level_set: &Field<f32, D>,
    states: &[RigidState<D>],
) -> Vec<RigidCarrier<D>> {
    let Substep { params, surroundings, boundary, dt } = substep;
    let bodies = states.iter().zip(&surroundings.bodies).zip(&boundary.bodies).zip(film_flows(substep));
    let carrier = |(((state, body), view), films): (((&RigidState<D>, &RigidBody<D>), &BodyView), _)| {
        let mut velocity = state.velocity;
        velocity.iter_mut().zip(params.gravity).for_each(|(v, g)| *v += g * dt);
        let mut carrier = RigidCarrier {
            centre: state.pose.translation,
            mass: mass_of(body, &state.pose, &view.unit_mass, density_around(params, level_set, view)),
            velocity,
            faces: view.faces.clone(),
            films,
        };
        if body.push != Twist::default() {
            carrier.push(&body.push.map(|push| push * dt));
        }
        carrier
    };
    let mut carriers: Vec<RigidCarrier<D>> = bodies.map(carrier).collect();
    for (carrier, view) in carriers.iter_mut().zip(&boundary.bodies) {
        let impulse = impulse_at_walls(substep, level_set, view, carrier.centre, &carrier.films);
        carrier.push(&impulse);
    }
    carriers
}

/// The density of what is at the surface of a body, in the mean.
fn density_around<const D: usize>(params: &Params<D>, level_set: &Field<f32, D>, view: &BodyView) -> f64 {
    let blocks = level_set.blocks();
    let at_surface = view.faces.iter().chain(&view.unseen).filter(|face| face.part.fract() != 0.0);
    let sides = at_surface.flat_map(|face| face.sides(blocks));
    let inside = sides.filter(|slot| blocks.is_inside(*slot));
    let (count, sum) = inside
        .fold((0usize, 0.0), |(count, sum), slot| (count + 1, sum + params.density_at(level_set[slot])));
    sum / count.max(1) as f64
}

/// The impulse of the liquid at walls that a body feels beside that of the projection's pressures. These are known in the middle of cells; from
/// there to the bottom of a body that lies on the floor the pressure rises further, by the weight of what the body displaces there; and in a film it
/// rises with the depth below the rim that its pressure is that of. With both gravity moves a neutral body as it moves the liquid, at walls too.
fn impulse_at_walls<const D: usize>(
    Substep { params, dt, .. }: Substep<D>,
    level_set: &Field<f32, D>,
    view: &BodyView,
    centre: [f64; D],
    films: &[FilmFlow],
) -> Twist {
    let blocks = level_set.blocks();
    let weight =
        |axis: usize, level: f32| params.density_at(level) * params.cell_volume() * params.gravity[axis] * dt;
    let mut impulse = Twist::default();
    for face in &view.unseen {
        let levels = face.sides(blocks).filter(|slot| blocks.is_inside(*slot)).map(|slot| level_set[slot]);
        let push = -face.part * weight(face.axis, levels.sum());
        let cell = blocks.cell(face.upper).map(|c| c as i64);
        add(&mut impulse, &motions_at(&params.grid, centre, face.axis, cell).map(|m| push * m));
    }
    let is_wet = |slot: Slot| level_set[slot] < 0.0;
    for film in films.iter().filter(|film| is_wet(film.from) == is_wet(film.to)) {
        let (from, to) = (blocks.cell(film.from), blocks.cell(film.to));
        let level = level_set[film.from];
        let rise: f64 = (0..D).map(|a| weight(a, level) * (from[a] as f64 - to[a] as f64)).sum();
        add(&mut impulse, &film.flux.map(|flux| rise * flux));
    }
    impulse
}

/// Where the bodies touch each other and what is around; `None` if nothing is known of that.
pub fn touching<const D: usize>(
    Substep { params, surroundings, dt, .. }: Substep<D>,
    states: &[RigidState<D>],
) -> Option<Touching<D>> {
    let contact = surroundings.contact.as_ref()?;
    Some(Touching {
        touches: contact.touches(states, dt),
        near: TOUCHING * params.grid.dx,
        // What lies on something meets it with what gravity made in one step.
        rest: 2.0 * norm(params.gravity) * dt,
        last: states.iter().map(|body| body.velocity).collect(),
    })
}

/// How near things are that touch, in cells. More, and things press that are not in contact yet; less, and what lies on something touches it in some substeps only.
const TOUCHING: f64 = 2e-3;

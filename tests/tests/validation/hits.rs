//! Who accounts for the velocities of bodies that collide in a tank full of water: gravity and water up to 3 g, all beyond that a hit.

use meniscus::Scene;
use meniscus_core::shape::Shape;
use meniscus_core::vector::{add_scaled, dot, norm, sub};
use meniscus_tests::Simulation;

const GRAVITY: f64 = 9.81;
const WATER: f64 = 1000.0;

/// Where two shapes are nearest to each other: how far they are apart, and the direction from the second to the first. By projections onto the one and
/// the other, beginning at the centre of the first.
fn nearest(first: &Shape<3>, second: &Shape<3>, start: [f64; 3]) -> (f64, [f64; 3]) {
    let onto = |shape: &Shape<3>, point: [f64; 3]| {
        let slope = outwards(shape, point);
        add_scaled(point, -shape.signed_distance(point) / dot(slope, slope).max(1e-12), slope)
    };
    let (mut on_first, mut on_second) = (start, start);
    for _ in 0..200 {
        on_second = onto(second, on_first);
        on_first = onto(first, on_second);
    }
    // Where they touch the way between them tells nothing.
    let apart = sub(on_first, on_second);
    let direction = if norm(apart) > 1e-6 { apart } else { outwards(second, on_second) };
    (norm(apart), direction.map(|c| c / norm(direction).max(1e-12)))
}

fn outwards(shape: &Shape<3>, point: [f64; 3]) -> [f64; 3] {
    let step = 1e-6;
    std::array::from_fn(|axis| {
        let [mut lower, mut upper] = [point; 2];
        lower[axis] -= step;
        upper[axis] += step;
        (shape.signed_distance(upper) - shape.signed_distance(lower)) / (2.0 * step)
    })
}

/// A body before and after a substep.
struct Moved {
    shape: Shape<3>,
    centre: [f64; 3],
    /// Half of the mass of the water that it displaces moves with it.
    inertia: f64,
    before: [f64; 3],
    change: [f64; 3],
}

/// A hit: which body was hit, by which other one if it was no wall, and what is left of the change of its velocity.
fn account(bodies: &[Moved], hit: usize, walls: &[Shape<3>], cell: f64, dt: f64) -> ([f64; 3], Vec<usize>) {
    let body = &bodies[hit];
    let (mut left, mut by) = (body.change, Vec::new());
    let others = bodies.iter().enumerate().filter(|(k, _)| *k != hit);
    let others = others.map(|(k, other)| (Some(k), &other.shape, other.before));
    let walls = walls.iter().map(|wall| (None, wall, [0.0; 3]));
    for (other, shape, velocity) in others.chain(walls) {
        let (gap, normal) = nearest(&body.shape, shape, body.centre);
        // The water between what is about to hit is pressed out within the last cells.
        let reach = norm(sub(body.before, velocity)) * dt + 1.5 * cell;
        let pushed = dot(left, normal);
        if gap <= reach && pushed > 0.0 {
            // Friction, and water that a slanting body sets in motion.
            let across = add_scaled(left, -pushed, normal);
            let taken = (0.5 * pushed / norm(across).max(1e-12)).min(1.0);
            left = across.map(|c| (1.0 - taken) * c);
            by.extend(other);
        }
    }
    (left, by)
}

/// All of `many-densities`.
#[test]
#[ignore = "takes long: ./check --long"]
fn long_only_hits_change_velocities_by_more_than_3_g() {
    let scene = Scene::open("many-densities", &[]).expect("a scene");
    let mut simulation = Simulation::<3>::new(&scene);
    let densities = [100.0, 500.0, 1000.0, 800.0, 2000.0, 4000.0, 10000.0];
    let size = [0.6, 0.9, 0.6];
    let walls: Vec<Shape<3>> = (0..6)
        .map(|k| {
            let (axis, sign) = (k / 2, [1.0, -1.0][k % 2]);
            let point = std::array::from_fn(|a| if a == axis && sign < 0.0 { size[a] } else { 0.0 });
            let normal = std::array::from_fn(|a| if a == axis { sign } else { 0.0 });
            Shape::half_space(point, normal).unwrap()
        })
        .collect();
    let cell = simulation.grid().dx;
    let mut hits = 0;
    while simulation.time() < 2.5 - 1e-9 {
        let shapes = simulation.solids();
        let states = simulation.state().bodies.clone();
        let dt = simulation.advance_substep().expect("a step").dt;
        let moved = shapes.into_iter().zip(&states).zip(&simulation.state().bodies).zip(densities);
        let bodies: Vec<Moved> = moved
            .map(|(((shape, before), after), density)| {
                let volume = shape.mass_properties().expect("a body").volume;
                Moved {
                    shape,
                    centre: before.pose.translation,
                    inertia: (density + 0.5 * WATER) * volume,
                    before: before.centre_velocity(),
                    change: sub(after.centre_velocity(), before.centre_velocity()),
                }
            })
            .collect();
        let most = 3.0 * GRAVITY * dt;
        for (k, body) in bodies.iter().enumerate().filter(|(_, body)| norm(body.change) > most) {
            let (left, by) = account(&bodies, k, &walls, cell, dt);
            let what = format!("body {k} at {:.3} s by {by:?}: {:.3?}", simulation.time(), body.change);
            assert!(norm(left) <= most, "{what}, of which nothing accounts for {left:.3?}");
            hits += 1;
            // What hits one body, and nothing else, gives it what it loses.
            if let [other] = by[..]
                && account(&bodies, other, &walls, cell, dt).1 == [k]
            {
                let other = &bodies[other];
                let sum: [f64; 3] =
                    std::array::from_fn(|a| body.inertia * body.change[a] + other.inertia * other.change[a]);
                let given = (body.inertia * norm(body.change)).max(other.inertia * norm(other.change));
                let slack = most * (body.inertia + other.inertia);
                assert!(norm(sum) <= 0.5 * given + slack, "{what}: {sum:.2?} of {given:.2} kg m/s are lost");
            }
        }
    }
    assert!(hits >= 5, "{hits} hits");
}

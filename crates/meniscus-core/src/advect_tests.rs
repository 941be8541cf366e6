//! Orders of convergence, a slotted disc after one turn, and bits.

use std::f32::consts::TAU;
use std::sync::Arc;

use super::*;
use crate::grid::Blocks;
use crate::particles::{Particles, SortWorkspace, seed};

/// Face velocities of an analytic field over a whole square domain of `n` cells, by position in cells.
fn faces(n: usize, u: impl Fn([f32; 2]) -> [f32; 2] + Sync) -> FaceField<f32, 2> {
    FaceField::from_fn(Arc::new(Blocks::all([n; 2])), 0.0, |axis, cell| {
        let mut x = cell.map(|c| c as f32 + 0.5);
        x[axis] -= 0.5;
        u(x)[axis]
    })
}

/// One turn around the middle in unit time.
fn rotation(n: usize) -> impl Fn([f32; 2]) -> [f32; 2] + Sync {
    let middle = 0.5 * n as f32;
    move |x| [-TAU * (x[1] - middle), TAU * (x[0] - middle)]
}

/// A steady vortex in the whole domain: each circle-like stream line turns at its own speed.
fn vortex(n: usize) -> impl Fn([f32; 2]) -> [f32; 2] + Sync {
    let k = std::f32::consts::PI / n as f32;
    let speed = n as f32;
    move |x| [-speed * (k * x[0]).sin() * (k * x[1]).cos(), speed * (k * x[0]).cos() * (k * x[1]).sin()]
}

/// Moves points for unit time in `steps` steps.
fn carry(points: &[[f32; 2]], velocity: &FaceField<f32, 2>, steps: usize) -> Vec<[f32; 2]> {
    let mut particles = Particles::at(points.to_vec());
    // The velocity remembers who was who through the sorts.
    for (k, v) in particles.velocity.iter_mut().enumerate() {
        v[0] = k as f32;
    }
    let mut workspace = SortWorkspace::default();
    for _ in 0..steps {
        let ranges = particles.sort_by_block(velocity.blocks(), &mut workspace);
        assert_eq!(ranges.sorted(), points.len());
        advect_particles(&mut particles.position, &ranges, velocity, 1.0 / steps as f32);
    }
    let mut result = points.to_vec();
    for (x, v) in particles.position.iter().zip(&particles.velocity) {
        result[v[0] as usize] = *x;
    }
    result
}

fn distance(x: [f32; 2], y: [f32; 2]) -> f32 {
    (x[0] - y[0]).hypot(x[1] - y[1])
}

fn largest_distance(x: &[[f32; 2]], y: &[[f32; 2]]) -> f32 {
    x.iter().zip(y).map(|(&x, &y)| distance(x, y)).fold(0.0, f32::max)
}

fn ring(n: usize) -> Vec<[f32; 2]> {
    let point = |k: usize| {
        let (sin, cos) = (k as f32).sin_cos();
        let radius = (0.1 + 0.02 * (k % 10) as f32) * n as f32;
        [0.5 * n as f32 + radius * cos, 0.5 * n as f32 + radius * sin]
    };
    (0..100).map(point).collect()
}

/// A linear field is interpolated exactly, so only the error in time is left.
#[test]
fn particles_in_a_rotation_converge_to_third_order_in_time() {
    let velocity = faces(64, rotation(64));
    let points = ring(64);
    let errors = [16, 32, 64].map(|steps| largest_distance(&carry(&points, &velocity, steps), &points));
    assert!((errors[0] / errors[1]).log2() > 2.8 && (errors[1] / errors[2]).log2() > 2.8, "{errors:?}");
    assert!(errors[2] < 0.01, "{errors:?}");
}

/// Against the analytic field integrated in f64 with tiny steps: errors in domain lengths, at a fixed
/// ratio of step and cell.
#[test]
fn particles_in_a_vortex_converge_to_second_order_in_space() {
    let error = |n: usize| {
        let points = ring(n);
        let k = std::f64::consts::PI / n as f64;
        let u = |x: [f64; 2]| {
            [-(k * x[0]).sin() * (k * x[1]).cos(), (k * x[0]).cos() * (k * x[1]).sin()].map(|u| u * n as f64)
        };
        let exact: Vec<[f32; 2]> = points
            .iter()
            .map(|&p| {
                let (mut x, dt) = (p.map(f64::from), 1e-3);
                for _ in 0..1000 {
                    let k1 = u(x);
                    let k2 = u(std::array::from_fn(|a| x[a] + 0.5 * dt * k1[a]));
                    let k3 = u(std::array::from_fn(|a| x[a] + 0.5 * dt * k2[a]));
                    let k4 = u(std::array::from_fn(|a| x[a] + dt * k3[a]));
                    x = std::array::from_fn(|a| x[a] + dt / 6.0 * (k1[a] + 2.0 * (k2[a] + k3[a]) + k4[a]));
                }
                x.map(|x| x as f32)
            })
            .collect();
        largest_distance(&carry(&points, &faces(n, vortex(n)), n), &exact) / n as f32
    };
    let errors = [16, 32, 64].map(error);
    assert!((errors[0] / errors[1]).log2() > 1.8 && (errors[1] / errors[2]).log2() > 1.8, "{errors:?}");
}

/// Zalesak's slotted disc, carried by particles through one turn with steps of about a cell.
#[test]
fn a_slotted_disc_returns_to_where_it_started() {
    let n = 100;
    let disc = |x: [f32; 2]| {
        let slot = (x[0] - 50.0).abs() < 2.5 && x[1] < 85.0;
        if distance(x, [50.0, 75.0]) < 15.0 && !slot { -1.0 } else { 1.0 }
    };
    let velocity = faces(n, rotation(n));
    let points = seed(velocity.blocks(), 1, disc);
    let returned = carry(&points, &velocity, 256);
    let error = largest_distance(&returned, &points);
    assert!(error < 1e-3, "largest distance from the start, in cells: {error}");
    let changed = returned.iter().filter(|&&x| disc(x) > 0.0).count();
    assert!(changed * 1000 < points.len(), "{changed} of {} particles left the shape", points.len());
}

/// The dense copy of a block and the field itself give the same bits, also for steps of many cells.
#[test]
fn long_steps_leave_the_tile_and_change_no_bit() {
    let velocity = faces(40, vortex(40));
    let points = seed(velocity.blocks(), 2, |_| -1.0);
    let mut particles = Particles::at(points);
    let ranges = particles.sort_by_block(velocity.blocks(), &mut SortWorkspace::default());
    for dt in [0.01, 0.2, 1.0] {
        let mut moved = particles.position.clone();
        advect_particles(&mut moved, &ranges, &velocity, dt);
        for (&x, &y) in particles.position.iter().zip(&moved) {
            let ahead =
                |s: f32, k: [f32; 2]| interpolate_faces(&velocity, [x[0] + s * k[0], x[1] + s * k[1]]);
            let k1 = interpolate_faces(&velocity, x);
            let k2 = ahead(0.5 * dt, k1);
            let k3 = ahead(0.75 * dt, k2);
            let mean = |a: usize| (2.0 * k1[a] + 3.0 * k2[a] + 4.0 * k3[a]) / 9.0;
            let expected = [x[0] + dt * mean(0), x[1] + dt * mean(1)];
            assert_eq!(y.map(f32::to_bits), expected.map(f32::to_bits));
        }
    }
}

fn blob(n: usize, middle: [f32; 2]) -> impl Fn([usize; 2]) -> f32 + Sync {
    move |c| (-distance(c.map(|c| c as f32 + 0.5), middle).powi(2) / (0.12 * n as f32).powi(2)).exp()
}

/// One turn of a smooth blob: first order at a fixed ratio of step and cell. A single step: second.
#[test]
fn a_cell_field_converges() {
    let error = |n: usize, steps: usize, turn: f32| {
        let velocity = faces(n, rotation(n));
        let middle =
            |angle: f32| [n as f32 * (0.5 + 0.2 * angle.cos()), n as f32 * (0.5 + 0.2 * angle.sin())];
        let blocks = velocity.blocks();
        let mut field = Field::from_fn(blocks.clone(), 0.0, blob(n, middle(0.0)));
        for _ in 0..steps {
            field = advect_field(&field, &velocity, turn / steps as f32);
        }
        let exact = Field::from_fn(blocks.clone(), 0.0, blob(n, middle(TAU * turn)));
        let pairs = field.values().iter().zip(exact.values());
        pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
    };
    let turn = [64, 128].map(|n| error(n, n / 2, 1.0));
    assert!((turn[0] / turn[1]).log2() > 0.7, "{turn:?}");
    let step = [64, 128].map(|n| error(n, 1, 0.03));
    assert!((step[0] / step[1]).log2() > 1.8, "{step:?}");
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let velocity = faces(40, vortex(40));
            let points = carry(&seed(velocity.blocks(), 3, |x| x[0] - 20.0), &velocity, 7);
            let field = Field::from_fn(velocity.blocks().clone(), 0.0, blob(40, [15.0, 20.0]));
            let field = advect_field(&field, &velocity, 0.3);
            let bits = |v: &[f32]| v.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
            (bits(points.as_flattened()), bits(field.values()))
        })
    };
    assert!(run(1) == run(2) && run(1) == run(3));
}

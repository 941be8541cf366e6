//! Times the stages that move the liquid, on 80^3 cells with 8 particles each, and a redistancing:
//! `cargo run --release -p meniscus-core --example transport_timing [THREADS]`.
#![allow(clippy::print_stdout)]

use std::sync::Arc;
use std::time::Instant;

use meniscus_core::advect::advect_particles;
use meniscus_core::extrapolate::extrapolate;
use meniscus_core::grid::{Blocks, FaceField, Field};
use meniscus_core::level_set::{particle_distance, redistance};
use meniscus_core::particles::{Particles, SortWorkspace, blocks_near, seed};
use meniscus_core::transfer::{Scheme, TransferWorkspace, grid_to_particles, particles_to_grid};

const REPEAT: usize = 7;

/// The fastest of a few runs, in seconds.
fn best(mut stage: impl FnMut()) -> f64 {
    let time = |_| {
        let start = Instant::now();
        stage();
        start.elapsed().as_secs_f64()
    };
    (0..REPEAT).map(time).fold(f64::INFINITY, f64::min)
}

fn transfers() {
    let cells = [96; 3];
    let inside = |x: [f32; 3]| if x.iter().all(|&c| (8.0..88.0).contains(&c)) { -1.0 } else { 1.0 };
    let all = Arc::new(Blocks::all(cells));
    let mut particles = Particles::at(seed(&all, 1, inside));
    for (v, x) in particles.velocity.iter_mut().zip(&particles.position) {
        *v = [x[1], -x[0], 0.1 * x[2]];
    }
    let n = particles.len() as f64;
    let report =
        |name: &str, s: f64| println!("{name:<34}{:>9.2} ms{:>9.1} ns/particle", 1e3 * s, 1e9 * s / n);

    report("blocks_near", best(|| drop(blocks_near(cells, &particles.position, 2.0))));
    let blocks = Arc::new(blocks_near(cells, &particles.position, 2.0));
    let mut workspace = SortWorkspace::default();
    // A step's worth of motion since the latest sort.
    particles.sort_by_block(&blocks, &mut workspace);
    particles.affine = Some(vec![[[0.1; 3]; 3]; particles.len()]);
    let mut moved = particles.clone();
    for (k, x) in moved.position.iter_mut().enumerate() {
        let shift = (k % 17) as f32 / 17.0 - 0.5;
        *x = x.map(|c| (c + shift).clamp(8.0, 87.99));
    }
    let mut copies: Vec<_> = (0..REPEAT).map(|_| moved.clone()).collect();
    report(
        "sort_by_block, with affine",
        best(|| {
            copies.pop().unwrap().sort_by_block(&blocks, &mut workspace);
        }),
    );

    let ranges = particles.sort_by_block(&blocks, &mut workspace);
    let (mut velocity, mut weight) = (FaceField::new(blocks.clone(), 0.0), FaceField::new(blocks, 0.0));
    let mut workspace = TransferWorkspace::default();
    report(
        "to grid, APIC",
        best(|| {
            particles_to_grid(&particles, &ranges, &mut velocity, &mut weight, &mut workspace);
        }),
    );
    report(
        "to particles, APIC",
        best(|| {
            grid_to_particles(&velocity, Scheme::Apic, &mut particles, &ranges);
        }),
    );
    particles.affine = None;
    report(
        "to grid, FLIP",
        best(|| {
            particles_to_grid(&particles, &ranges, &mut velocity, &mut weight, &mut workspace);
        }),
    );
    report("particle_distance", best(|| drop(particle_distance(&particles.position, &ranges, |_| true))));
    let mut valid = FaceField {
        axes: std::array::from_fn(|a| {
            let weight = &weight.axes[a];
            Field::from_fn(weight.blocks().clone(), false, |c| weight.get(c.map(|c| c as i64)) > 0.0)
        }),
    };
    let mut extended = velocity.clone();
    let start = Instant::now();
    extrapolate(&mut extended, &mut valid, 4);
    report("extrapolate, 4 layers", start.elapsed().as_secs_f64());
    let mut position = particles.position.clone();
    report(
        "advect, a third of a cell",
        best(|| {
            position.copy_from_slice(&particles.position);
            advect_particles(&mut position, &ranges, &extended, 0.004);
        }),
    );
    let flip = Scheme::Flip { before: &velocity, blend: 0.95 };
    report("to particles, FLIP", best(|| grid_to_particles(&velocity, flip, &mut particles, &ranges)));
}

/// A ball in 256^3 cells, with a band that holds about four million cells.
fn level_sets() {
    let (n, band) = (256, 12.0);
    let ball = |x: [f32; 3]| {
        let r = x.iter().map(|c| (c - 0.5 * n as f32).powi(2)).sum::<f32>().sqrt() - 0.45 * n as f32;
        1.5 * r
    };
    let blocks =
        Arc::new(Blocks::new([n; 3], |c| ball(c.map(|c| 8.0 * c as f32 + 4.0)).abs() < 1.5 * (band + 7.0)));
    let phi = Field::from_fn(blocks.clone(), band, |c| ball(c.map(|c| c as f32 + 0.5)));
    let cells = phi.values().iter().filter(|v| v.abs() < 1.5 * band).count();
    let mut copies = vec![phi; REPEAT];
    let mut info = None;
    let s = best(|| info = copies.pop().map(|mut phi| redistance(&mut phi, band)));
    println!(
        "{:<34}{:>9.2} ms{:>9.1} ns/cell   {:.2} M cells in the band, {} blocks, {info:?}",
        "redistance",
        1e3 * s,
        1e9 * s / cells as f64,
        1e-6 * cells as f64,
        blocks.len()
    );
}

fn main() {
    let threads = std::env::args().nth(1).map_or(1, |t| t.parse().expect("a number of threads"));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a thread pool");
    println!("{threads} threads");
    pool.install(transfers);
    pool.install(level_sets);
}

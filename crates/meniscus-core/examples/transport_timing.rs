//! Times the stages that move the liquid, on 80^3 cells with 8 particles each:
//! `cargo run --release -p meniscus-core --example transport_timing [THREADS]`.
#![allow(clippy::print_stdout)]

use std::sync::Arc;
use std::time::Instant;

use meniscus_core::grid::FaceField;
use meniscus_core::particles::{Particles, SortWorkspace, blocks_near, seed};
use meniscus_core::transfer::{Scheme, TransferWorkspace, grid_to_particles, particles_to_grid};

const REPEAT: usize = 15;

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
    let all = Arc::new(meniscus_core::grid::Blocks::all(cells));
    let mut particles = Particles::at(seed(&all, 1, inside));
    for (v, x) in particles.velocity.iter_mut().zip(&particles.position) {
        *v = [x[1], -x[0], 0.1 * x[2]];
    }
    let n = particles.len() as f64;
    let report = |name: &str, s: f64| println!("{name:<34}{:>9.2} ms{:>9.1} ns/particle", 1e3 * s, 1e9 * s / n);

    report("blocks_near", best(|| drop(blocks_near(cells, &particles.position, 1.0))));
    let blocks = Arc::new(blocks_near(cells, &particles.position, 1.0));
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
    report("sort_by_block, with affine", best(|| {
        copies.pop().unwrap().sort_by_block(&blocks, &mut workspace);
    }));

    let ranges = particles.sort_by_block(&blocks, &mut workspace);
    let (mut velocity, mut weight) = (FaceField::new(blocks.clone(), 0.0), FaceField::new(blocks, 0.0));
    let mut workspace = TransferWorkspace::default();
    report("to grid, APIC", best(|| {
        particles_to_grid(&particles, &ranges, &mut velocity, &mut weight, &mut workspace);
    }));
    report("to particles, APIC", best(|| {
        grid_to_particles(&velocity, Scheme::Apic, &mut particles, &ranges);
    }));
    particles.affine = None;
    report("to grid, FLIP", best(|| {
        particles_to_grid(&particles, &ranges, &mut velocity, &mut weight, &mut workspace);
    }));
    let flip = Scheme::Flip { before: &velocity, blend: 0.95 };
    report("to particles, FLIP", best(|| grid_to_particles(&velocity, flip, &mut particles, &ranges)));
}

fn main() {
    let threads = std::env::args().nth(1).map_or(1, |t| t.parse().expect("a number of threads"));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a thread pool");
    println!("{threads} threads");
    pool.install(transfers);
}

//! Memory follows the liquid: a pool of 64³ cells in a room of 1024³. The one test of this file, so that
//! the peak memory of the process is its own.

#![allow(clippy::print_stdout, reason = "the figures are for whoever runs the test by hand")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use meniscus_cli::bench::machine::peak_mb;
use meniscus_core::grid::{Labels, Slot, block_len};
use meniscus_linalg::{Operator, Patch, SolveParams, Solver};

const AIR: u8 = 0;
const LIQUID: u8 = 1;
const SOLID: u8 = 2;

/// Fills a pool of 64³ cells in the corner of a room and solves for its pressure.
fn solve_pool(room: usize) -> (usize, Duration) {
    let start = Instant::now();
    let mut labels = Labels::<3>::uniform([room; 3], AIR);
    labels.fill([0; 3], [64; 3], |_| LIQUID);
    let blocks = Arc::new(labels.blocks_with(|label| label == LIQUID));
    let fill = |block: usize, patch: &mut Patch<3>| {
        for local in 0..block_len::<3>() {
            let cell = blocks.cell(Slot { block, local }).map(|c| c as i64);
            for axis in 0..3 {
                for side in 0..2 {
                    let mut other = cell;
                    other[axis] += 2 * side as i64 - 1;
                    match labels.get(other, SOLID) {
                        LIQUID => patch.set_face(axis, side, local, 1.0),
                        AIR => patch.anchors[local] += 1.0,
                        _ => {}
                    }
                }
            }
        }
    };
    let operator = Operator::assemble(blocks.clone(), fill, &[], &[]).expect("a valid operator");
    let unknowns = operator.unknowns();
    let b: Vec<f64> = (0..operator.len()).map(|i| (i as f64 * 0.7).sin()).collect();
    let mut x = vec![0.0; b.len()];
    Solver::new(operator).solve(&b, &mut x, &SolveParams::default()).expect("converges");
    (unknowns, start.elapsed())
}

#[test]
fn a_pool_in_a_room_of_a_thousand_million_cells_costs_what_the_pool_costs() {
    let best = |room: usize| (0..3).map(|_| solve_pool(room)).min_by_key(|r| r.1).expect("three runs");
    let (unknowns, in_room) = best(1024);
    assert_eq!(unknowns, 64 * 64 * 64);
    let peak = peak_mb().expect("the system tells");
    // 1.2 GB is what one byte a cell would allow.
    assert!(peak < 250.0, "{peak} MB");

    let (_, alone) = best(72);
    let labels = vec![1u8; 1 << 30];
    let start = Instant::now();
    let sum = labels.chunks(1 << 16).map(|c| c.iter().map(|&l| u64::from(l)).sum::<u64>()).sum::<u64>();
    let pass = start.elapsed();
    assert_eq!(sum, 1 << 30);
    println!(
        "peak {peak:.0} MB, in the room {in_room:?}, alone {alone:?}, one pass over the labels {pass:?}"
    );
    // Both are timed in the same run; the machine may be busy, so half as much again is let pass.
    assert!(in_room < (alone + pass).mul_f64(1.5), "{in_room:?} against {alone:?} + {pass:?}");
}

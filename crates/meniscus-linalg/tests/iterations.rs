//! Iterations to a relative residual of 1e-5: the multigrid keeps them flat, whatever the operator is
//! made of.

#![allow(clippy::print_stdout, reason = "the figures are for whoever runs the test by hand")]

mod common;

use common::*;
use meniscus_linalg::Operator;

fn check<const D: usize>(name: &str, limit: usize, operator: Operator<D>, rhs: &[f64]) {
    let unknowns = operator.unknowns();
    let (_, info) = solve(operator, rhs);
    println!("{name}: {unknowns} unknowns, {} iterations (at most {limit})", info.iterations);
    assert!(
        info.iterations <= limit,
        "{name}: {} iterations, at most {limit}: {:?}",
        info.iterations,
        info.history
    );
}

fn check_bodies<const D: usize>(n: usize) {
    for density in [1e-6, 0.01, 0.1, 1.0, 100.0] {
        let problem = bodies::<D>(n, 3, density, true);
        assert!(problem.outer.len() >= 9);
        check(&format!("bodies {D}D {n} density {density}"), 15, problem.operator(), &problem.rhs());
    }
}

#[test]
fn rigid_bodies_of_any_density_2d() {
    check_bodies::<2>(96);
}

#[test]
fn rigid_bodies_of_any_density_3d() {
    check_bodies::<3>(48);
}

fn check_tiles<const D: usize>(n: usize) {
    for tile in [16, 32, 64] {
        let problem = tiles::<D>(n, tile);
        check(&format!("tiles {D}D {n} of {tile}"), 15, problem.operator(), &problem.rhs());
        let problem = affine_tiles::<D>(n, tile);
        check(&format!("affine tiles {D}D {n} of {tile}"), 15, problem.operator(), &problem.rhs());
    }
}

#[test]
fn affine_tiles_of_any_size_2d() {
    check_tiles::<2>(128);
}

#[test]
fn affine_tiles_of_any_size_3d() {
    check_tiles::<3>(64);
}

fn check_jumps<const D: usize>(n: usize) {
    let problem = tank::<D>(n);
    for layer in [false, true] {
        for inner in [1e-3, 1e3] {
            let operator = problem.operator_weighted(jump_weight(n, inner, layer));
            let shape = if layer { "layer" } else { "ball" };
            check(&format!("jump {D}D {n} {shape} {inner}"), 14, operator, &problem.rhs());
        }
    }
}

#[test]
fn density_jumps_2d() {
    check_jumps::<2>(128);
}

#[test]
fn density_jumps_3d() {
    check_jumps::<3>(64);
}

fn check_inclusions<const D: usize>(n: usize) {
    let problem = tank::<D>(n);
    for inner in [1e-3, 1e-2, 0.1, 10.0, 1e2, 1e3] {
        let operator = problem.operator_weighted(inclusion_weight(inner));
        check(&format!("inclusions {D}D {n} {inner}"), 15, operator, &problem.rhs());
    }
}

#[test]
fn many_small_inclusions_2d() {
    check_inclusions::<2>(128);
}

#[test]
fn many_small_inclusions_3d() {
    check_inclusions::<3>(64);
}

#[test]
fn a_serpentine_channel_2d() {
    let problem = serpentine::<2>(128, 5);
    check("serpentine 2D 128", 22, problem.operator(), &problem.rhs());
}

#[test]
fn a_serpentine_channel_3d() {
    let problem = serpentine::<3>(48, 5);
    check("serpentine 3D 48", 22, problem.operator(), &problem.rhs());
}

#[test]
fn hundreds_of_extra_unknowns() {
    let problem = cavities::<3>(64, 250);
    check("250 cavities 3D 64", 14, problem.operator(), &problem.rhs());
}

#[test]
fn five_hundred_extra_unknowns_at_128() {
    let problem = cavities::<3>(128, 500);
    check("500 cavities 3D 128", 14, problem.operator(), &problem.rhs());
}

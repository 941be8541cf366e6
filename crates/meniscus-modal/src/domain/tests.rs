use std::f64::consts::PI;

use meniscus_core::nodes::Nodes;
use meniscus_core::shape::Shape;

use super::eigen::lowest;
use super::laplacian::Laplacian;

fn disc(centre: [f64; 2], radius: f64) -> Shape<2> {
    Shape::sphere(centre, radius).expect("a disc")
}

fn slab(lower: [f64; 2], upper: [f64; 2]) -> Shape<2> {
    Shape::box_between(lower, upper).expect("a box")
}

/// The lowest eigenvalues between solids in a box.
fn eigenvalues(size: [f64; 2], cells: usize, solids: &[Shape<2>], count: usize) -> Vec<f64> {
    let dx = size[0] / cells as f64;
    let nodes = Nodes::new([cells, (size[1] / dx).round() as usize], dx, solids).expect("sound");
    let mut laplacian = Laplacian::new(&nodes).expect("an operator");
    lowest(&mut laplacian, count).expect("found").values
}

/// All but a disc of radius 1 in a box.
fn around_a_disc() -> Shape<2> {
    disc([1.07, 1.1], 1.0).complement()
}

#[test]
fn the_eigenvalues_of_a_disc_are_known_and_of_second_order() {
    let exact = [5.783186, 14.681971, 14.681971, 26.374616, 26.374616, 30.471262];
    let off = [32, 64, 128].map(|cells| {
        let found = eigenvalues([2.2, 2.2], cells, &[around_a_disc()], 6);
        (0..6).map(|k| found[k] / exact[k] - 1.0).collect::<Vec<f64>>()
    });
    println!("{off:?}");
    for k in 0..6 {
        assert!(off[2][k].abs() < 1e-3 && off[2][k].abs() < 0.35 * off[1][k].abs().max(1e-4), "{k}: {off:?}");
    }
}

#[test]
fn the_eigenvalues_of_an_l_are_known() {
    let off = [32, 64, 128].map(|cells| {
        let found = eigenvalues([2.0, 2.0], cells, &[slab([1.0, 1.0], [3.0, 3.0])], 3);
        [found[0] / 9.639724 - 1.0, found[2] / (2.0 * PI * PI) - 1.0]
    });
    println!("{off:?}");
    // Of second order where the flow is smooth, and less at a corner that juts into it.
    assert!(off[2][0].abs() < 0.6 * off[1][0].abs() && off[2][0].abs() < 1e-2, "{off:?}");
    assert!(off[2][1].abs() < 0.27 * off[1][1].abs(), "{off:?}");
}

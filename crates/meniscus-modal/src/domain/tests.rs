use std::f64::consts::PI;

use meniscus_core::nodes::{Node, Nodes};
use meniscus_core::shape::Shape;

use super::circulation::potential_flow;
use super::eigen::lowest;
use super::laplacian::Laplacian;
use super::{DomainError, Dynamics, Modes};
use crate::flow::{self, Advection, Basis, Decay, Integrator, Stages};

fn disc(centre: [f64; 2], radius: f64) -> Shape<2> {
    Shape::sphere(centre, radius).expect("a disc")
}

fn slab(lower: [f64; 2], upper: [f64; 2]) -> Shape<2> {
    Shape::box_between(lower, upper).expect("a box")
}

/// What lies between solids in a box.
fn between(size: [f64; 2], cells: usize, solids: &[Shape<2>]) -> Nodes {
    let dx = size[0] / cells as f64;
    Nodes::new([cells, (size[1] / dx).round() as usize], dx, solids).expect("sound")
}

/// The lowest eigenvalues between solids in a box.
fn eigenvalues(size: [f64; 2], cells: usize, solids: &[Shape<2>], count: usize) -> Vec<f64> {
    let mut laplacian = Laplacian::new(&between(size, cells, solids)).expect("an operator");
    lowest(&mut laplacian, count).expect("found").values
}

/// Two islands and a wall that reaches in.
fn islands(cells: usize, count: usize) -> Modes {
    let solids = [disc([0.6, 0.45], 0.2), slab([1.2, 0.3], [1.43, 0.77]), slab([0.93, -1.0], [1.02, 0.25])];
    Modes::find(&between([2.0, 1.0], cells, &solids), count).expect("found")
}

/// Numbers of no meaning, the same each time.
fn noise(count: usize) -> Vec<f64> {
    (0..count).map(|k| ((k * k * 7 + 3 * k + 1) as f64).sin()).collect()
}

fn largest(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().fold(0.0, |most, value| most.max(value.abs()))
}

/// A flow with a speed of about one, and circulation.
fn some_flow(modes: &Modes) -> Vec<f64> {
    let count = modes.eigenvalues().len();
    let weights = noise(count);
    let vorticity: Vec<f64> =
        weights.iter().zip(modes.eigenvalues()).map(|(x, l)| 1e4 * x / (l + 150.0)).collect();
    let circulations: Vec<f64> = [0.4, -0.7].iter().copied().take(modes.nodes().islands).collect();
    let mut flow = modes.flow(&vorticity, &circulations);
    let energy = Dynamics::new(modes).energy(&flow);
    flow.iter_mut().for_each(|c| *c *= 2.0 / energy.sqrt());
    flow
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
    // Of second order where the flow is smooth, and less at a corner that juts into it.
    assert!(off[2][0].abs() < 0.6 * off[1][0].abs() && off[2][0].abs() < 1e-2, "{off:?}");
    assert!(off[2][1].abs() < 0.27 * off[1][1].abs(), "{off:?}");
}

#[test]
fn about_a_disc_in_a_disc_goes_the_flow_with_a_logarithm_for_its_stream_function() {
    let off = [32, 64].map(|cells| {
        let nodes = between([2.2, 2.2], cells, &[around_a_disc(), disc([1.07, 1.1], 0.3)]);
        assert_eq!(nodes.islands, 1);
        let mut laplacian = Laplacian::new(&nodes).expect("an operator");
        let list = potential_flow(&mut laplacian, 0).expect("solved");
        let stream = laplacian.at_nodes(&list);
        largest((0..stream.len()).filter(|&node| nodes.of[node] != Node::Wall).map(|node| {
            let [x, y] = nodes.place(node);
            let r = (x - 1.07).hypot(y - 1.1).max(0.3);
            stream[node] + r.ln() / (2.0 * PI)
        }))
    });
    assert!(off[1] < 2e-4 && off[1] < 0.4 * off[0], "{off:?}");
}

/// The least λ of -ψ'' - ψ'/r = λψ with no slope at one end and no value at the other.
fn radial_eigenvalue(from: f64, to: f64) -> f64 {
    let end = |value: f64| {
        let (steps, mut psi, mut slope) = (4000, 1.0, 0.0);
        let h = (to - from) / f64::from(steps);
        let rate = |r: f64, [psi, slope]: [f64; 2]| [slope, -value * psi - slope / r];
        for k in 0..steps {
            let r = from + f64::from(k) * h;
            let [a, b] = rate(r, [psi, slope]);
            let [c, d] = rate(r + 0.5 * h, [psi + 0.5 * h * a, slope + 0.5 * h * b]);
            (psi, slope) = (psi + h * c, slope + h * d);
        }
        psi
    };
    let (mut lower, mut upper) = (1.0, 12.0);
    assert!(end(lower) > 0.0 && end(upper) < 0.0);
    for _ in 0..60 {
        let middle = 0.5 * (lower + upper);
        *(if end(middle) > 0.0 { &mut lower } else { &mut upper }) = middle;
    }
    lower
}

#[test]
fn a_mode_that_does_not_vanish_on_an_island_is_of_second_order_too() {
    let exact = radial_eigenvalue(0.3, 1.0);
    let off = [32, 64, 128].map(|cells| {
        let found = eigenvalues([2.2, 2.2], cells, &[around_a_disc(), disc([1.07, 1.1], 0.3)], 1);
        found[0] / exact - 1.0
    });
    assert!(off[2].abs() < 1e-3 && off[2].abs() < 0.35 * off[1].abs().max(2e-4), "{exact} {off:?}");
}

#[test]
fn in_a_box_the_modes_are_sines_and_do_to_each_other_what_these_do() {
    let off = [32, 64].map(|cells| {
        let modes = Modes::find(&between([2.0, 1.25], cells, &[]), 12).expect("found");
        let basis = Basis::new([2.0, 1.25], 12);
        assert!((modes.area() / 2.5 - 1.0).abs() < 1e-12);
        let flow = noise(12);
        let (mut found, mut exact) = (vec![0.0; 12], vec![0.0; 12]);
        Dynamics::new(&modes).rate(&flow, &mut found);
        flow::Dynamics::new(&basis).rate(&flow, &mut exact);
        let of_rate = largest(found.iter().zip(&exact).map(|(a, b)| a - b)) / largest(exact);
        let sines = &basis.sines;
        let of_values = largest((0..12).map(|k| {
            let eigenvalue = sines.eigenvalue(sines.place(basis.eigenmodes[k]));
            modes.eigenvalues()[k] / eigenvalue - 1.0
        }));
        let streams = modes.streams(&flow);
        let exact = flow::streams_at_nodes(
            sines,
            &flow::Dynamics::new(&basis).vorticity_of(&flow),
            modes.nodes().cells,
        );
        let of_streams = largest(streams.iter().zip(&exact).map(|(a, b)| a - b)) / largest(exact);
        [of_rate, of_values, of_streams]
    });
    for k in 0..3 {
        assert!(off[1][k] < 0.03 && off[1][k] < 0.28 * off[0][k], "{k}: {off:?}");
    }
}

#[test]
fn all_modes_are_orthogonal_in_energy_and_have_the_circulations_that_are_told() {
    let modes = islands(64, 30);
    let nodes = modes.nodes();
    let laplacian = Laplacian::new(nodes).expect("an operator");
    let streams: Vec<Vec<f64>> = (0..modes.len())
        .map(|k| modes.streams(&(0..modes.len()).map(|j| f64::from(u8::from(j == k))).collect::<Vec<_>>()))
        .collect();
    let ny = nodes.counts()[1];
    let product = |a: &[f64], b: &[f64]| {
        let mut sum = 0.0;
        for (axis, step) in [ny, 1].into_iter().enumerate() {
            for node in (0..a.len()).filter(|&node| nodes.open[axis][node] > 0.0) {
                sum += (a[node + step] - a[node]) * (b[node + step] - b[node]) / nodes.open[axis][node];
            }
        }
        sum
    };
    let squares = Dynamics::new(&modes).squares().to_vec();
    for i in 0..modes.len() {
        for j in 0..=i {
            let expected = if i == j { 0.25 * modes.area() * squares[i] } else { 0.0 };
            let scale = 0.25 * modes.area() * (squares[i] * squares[j]).sqrt();
            assert!((product(&streams[i], &streams[j]) - expected).abs() < 1e-8 * scale, "{i} {j}");
        }
    }
    // What differs along the ways to an island goes round it and what turns beside it.
    let flow = modes.flow(&vec![0.0; 30], &[0.4, -0.7]);
    let list: Vec<f64> = modes.streams(&flow);
    for (island, expected) in [0.4, -0.7].into_iter().enumerate() {
        let mut around = 0.0;
        for (axis, step) in [ny, 1].into_iter().enumerate() {
            for node in (0..list.len()).filter(|&node| nodes.open[axis][node] > 0.0) {
                let difference = (list[node] - list[node + step]) / nodes.open[axis][node];
                let is = |node: usize| f64::from(u8::from(nodes.of[node] == Node::Island(island)));
                around += difference * (is(node) - is(node + step));
            }
        }
        assert!((around - expected).abs() < 1e-8, "{island}: {around}");
        assert!((modes.circulations(&flow)[island] - expected).abs() < 1e-12);
    }
    assert_eq!(laplacian.len() - laplacian.island(0), 2);
}

#[test]
fn energy_enstrophy_and_circulations_are_kept() {
    let modes = islands(48, 24);
    for (integrator, gate) in [(Integrator::Conserving, 1e-12), (Integrator::Midpoint, 1e-11)] {
        let (mut dynamics, mut stages) = (Dynamics::new(&modes), Stages::default());
        let mut flow = some_flow(&modes);
        let (before, start) = ([dynamics.energy(&flow), modes.enstrophy(&flow)], flow.clone());
        let circulations = modes.circulations(&flow);
        let mut put_back = [0.0_f64; 2];
        for _ in 0..10_000 {
            let advanced = stages.advance(&mut dynamics, integrator, &mut flow, 0.005).expect("slow");
            assert!(advanced.is_solved && advanced.substeps <= 2, "{advanced:?}");
            (0..2).for_each(|k| put_back[k] += advanced.put_back[k].abs());
        }
        let after = [dynamics.energy(&flow), modes.enstrophy(&flow)];
        for k in 0..2 {
            assert!((after[k] / before[k] - 1.0).abs() < gate, "{integrator:?} {k}: {before:?} {after:?}");
            assert!(put_back[k] < 0.02 * before[k], "{integrator:?}: {put_back:?} of {before:?}");
        }
        assert_eq!(modes.circulations(&flow), circulations, "Kelvin's theorem");
        assert!(largest(flow.iter().zip(&start).map(|(a, b)| a - b)) > 0.1 * largest(start), "it moves");
    }
}

#[test]
fn a_flow_without_vorticity_stays_as_it_is() {
    let modes = islands(48, 24);
    let mut flow = modes.flow(&[0.0; 24], &[0.5, 0.2]);
    let start = flow.clone();
    let mut dynamics = Dynamics::new(&modes);
    assert!(modes.enstrophy(&flow) < 1e-24);
    Stages::default().advance(&mut dynamics, Integrator::Conserving, &mut flow, 0.1).expect("slow");
    Decay::of_domain(&modes).apply(&mut flow, 0.01);
    assert!(largest(flow.iter().zip(&start).map(|(a, b)| a - b)) < 1e-10 * largest(start));
}

#[test]
fn viscosity_takes_twice_the_enstrophy_from_the_energy() {
    let modes = islands(48, 24);
    let (dynamics, decay) = (Dynamics::new(&modes), Decay::of_domain(&modes));
    let start = some_flow(&modes);
    let (mut flow, diffusion) = (start.clone(), 1e-8);
    decay.apply(&mut flow, diffusion);
    let rate = (dynamics.energy(&flow) - dynamics.energy(&start)) / diffusion;
    let expected = -16.0 / modes.area() * modes.enstrophy(&start);
    assert!((rate / expected - 1.0).abs() < 1e-4, "{rate} {expected}");
    for _ in 0..20 {
        let before = dynamics.energy(&flow);
        decay.apply(&mut flow, 1e-3);
        assert!(dynamics.energy(&flow) < before);
    }
}

#[test]
fn rooms_that_are_apart_have_modes_of_their_own() {
    let wall = slab([0.97, -1.0], [1.03, 2.0]);
    let modes = Modes::find(&between([2.0, 1.0], 64, &[wall]), 8).expect("found");
    assert!((modes.eigenvalues()[1] / modes.eigenvalues()[0] - 1.0).abs() < 1e-9, "they are alike");
    for k in 0..8 {
        let flow: Vec<f64> = (0..8).map(|j| f64::from(u8::from(j == k))).collect();
        let half = modes.nodes().counts()[1] * 32;
        let streams = modes.streams(&flow);
        let [left, right] = [largest(streams[..half].to_vec()), largest(streams[half..].to_vec())];
        assert!(left.min(right) < 1e-6 * left.max(right), "{k}: {left:e} {right:e}");
    }
}

#[test]
fn the_nearest_flow_to_whirls_has_their_circulation_about_an_island() {
    let [a, b] = [PI / 2.0, PI];
    let velocity = |x: [f64; 2]| {
        let [u, v] = [(a * x[0]).sin() * (b * x[1]).cos() * b, -(a * x[0]).cos() * (b * x[1]).sin() * a];
        // A gradient is taken from it.
        [u / (a * a + b * b) + 2.0 * x[0], v / (a * a + b * b) - 3.0 * x[1]]
    };
    let alone = Modes::find(&between([2.0, 1.0], 64, &[]), 10).expect("found");
    let flow = alone.nearest(velocity).expect("found");
    assert!((flow[0] - 1.0).abs() < 2e-3 && largest(flow[1..].to_vec()) < 1e-6, "{flow:?}");
    // The integral of the vorticity over the disc.
    let expected: f64 = (0..400 * 400)
        .map(|k| [k / 400, k % 400].map(|c| 0.4 * (f64::from(c) + 0.5) / 400.0 - 0.2))
        .filter(|x| x[0].hypot(x[1]) < 0.2)
        .map(|x| (a * (0.6 + x[0])).sin() * (b * (0.45 + x[1])).sin() * 1e-6)
        .sum();
    let off = [48, 96].map(|cells| {
        let modes = Modes::find(&between([2.0, 1.0], cells, &[disc([0.6, 0.45], 0.2)]), 30).expect("found");
        let flow = modes.nearest(velocity).expect("found");
        modes.circulations(&flow)[0] / expected - 1.0
    });
    assert!(off[0].abs() < 0.03 && off[1].abs() < 0.01, "{expected} {off:?}");
}

#[test]
fn velocities_are_those_of_the_stream_function_up_to_walls() {
    let nodes = between([2.2, 2.2], 64, &[around_a_disc(), disc([1.07, 1.1], 0.3)]);
    let modes = Modes::find(&nodes, 20).expect("found");
    let flow = modes.flow(&[0.0; 20], &[2.0 * PI]);
    for (angle, r) in [(0.1, 0.31), (1.0, 0.33), (2.2, 0.4), (3.9, 0.6), (5.0, 0.9), (0.7, 0.98)] {
        let (sin, cos) = f64::sin_cos(angle);
        let [u, v] = modes.velocity(&flow, [1.07 + r * cos, 1.1 + r * sin]);
        let off = [u + sin / r, v - cos / r];
        assert!(off[0].hypot(off[1]) < 0.04 / r, "{r}: {off:?}");
    }
}

#[test]
fn a_grid_shows_only_so_many_modes() {
    let nodes = between([2.0, 1.0], 16, &[]);
    assert_eq!(Modes::find(&nodes, 7).err(), Some(DomainError::TooMany { count: 7, most: 6 }));
    assert!(Modes::find(&nodes, 6).is_ok());
}

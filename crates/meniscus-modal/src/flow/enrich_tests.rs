use super::tests::{SQUARE, energy, error_against, largest, noise, start};
use meniscus_core::stroke::Stroke;

use super::{
    Advection, Basis, Decay, Dynamics, Integrator, Sines, Stages, drawn, streams_at_nodes, vorticity_of_faces,
};

/// All eigenmodes with up to eight half waves along each side.
fn eight() -> Basis {
    super::tests::full(8)
}

/// A flow by fine sines, from the start of the reference runs, at some times.
fn reference_flows(times: &[usize]) -> (Sines, Vec<Vec<f64>>) {
    let basis = super::tests::full(64);
    let mut dynamics = Dynamics::new(&basis);
    let mut flow = start(&basis.sines);
    let (mut flows, mut stages) = (Vec::new(), Stages::default());
    for step in 0..=*times.last().expect("some times") {
        if times.contains(&step) {
            flows.push(flow.clone());
        }
        stages.advance(&mut dynamics, Integrator::Rk4, &mut flow, 0.01).unwrap();
    }
    (basis.sines, flows)
}

/// The part of a flow that lies in the span of the modes.
fn projected(basis: &Basis, vorticity: &[f64]) -> Vec<f64> {
    let dynamics = Dynamics::new(basis);
    let coefficients = dynamics.coefficients_of(vorticity);
    dynamics.vorticity_of(&coefficients).to_vec()
}

#[test]
fn modes_that_are_learnt_hold_the_flows_that_they_are_learnt_from() {
    let times: Vec<usize> = (0..=20).map(|k| 5 * k).collect();
    let (sines, flows) = reference_flows(&times);
    let mut basis = eight();
    assert_eq!(basis.fine_sines(), sines);
    let shares = basis.learn_modes("learnt", &flows, usize::MAX);
    let sums = [1, 2, 5, 10].map(|count| shares[..count].iter().sum::<f64>());
    for (found, expected) in sums.into_iter().zip([0.855_69, 0.965_34, 0.999_794, 0.999_999_96]) {
        assert!((found - expected).abs() < 2e-5, "{sums:?}");
    }
    let worst = flows.iter().map(|flow| error_against((&sines, flow), &sines, &projected(&basis, flow)));
    let worst = worst.fold(0.0, f64::max);
    assert!(worst < 1e-6 && (12..=21).contains(&shares.len()), "{worst:e} with {}", shares.len());
}

#[test]
fn modes_are_orthogonal_and_do_no_work_together() {
    let (_, flows) = reference_flows(&[0, 20, 40, 60]);
    let mut basis = eight();
    basis.learn_modes("learnt", &flows, 4);
    assert!(basis.enrichment.len() >= 3);
    for (i, a) in basis.enrichment.iter().enumerate() {
        for (j, b) in basis.enrichment.iter().enumerate() {
            let terms = a.vorticity.iter().zip(&b.vorticity).zip(basis.sines.eigenvalues());
            let product: f64 = terms.map(|((a, b), l)| a * b / l).sum();
            assert!((product - f64::from(u8::from(i == j))).abs() < 1e-12, "{i} {j}: {product:e}");
        }
        for &mode in &basis.eigenmodes {
            assert_eq!(a.vorticity[basis.sines.place(mode)], 0.0);
        }
    }
    let mut dynamics = Dynamics::new(&basis);
    let flow = noise(basis.len());
    let mut rate = vec![0.0; flow.len()];
    dynamics.rate(&flow, &mut rate);
    let work: f64 = (0..flow.len()).map(|k| dynamics.squares()[k] * flow[k] * rate[k]).sum();
    let scale: f64 = (0..flow.len()).map(|k| dynamics.squares()[k] * (flow[k] * rate[k]).abs()).sum();
    assert!(work.abs() < 1e-11 * scale, "{work:e} of {scale:e}");
}

#[test]
fn modes_of_fewer_sines_are_what_these_hold_of_them() {
    let mut basis = eight();
    for (name, points) in [("along", [[0.2, 0.5], [0.8, 0.5]]), ("across", [[0.4, 0.2], [0.6, 0.7]])] {
        let stroke = Stroke { points: points.to_vec(), width: 0.05, speed: 1.0 };
        assert!(basis.add_mode(name, &drawn(&stroke, &basis.fine_sines())));
    }
    let whole = basis.clone();
    basis.trim(64);
    assert_eq!(basis.sines, whole.sines);
    basis.trim(32);
    assert_eq!(basis.sines.counts, [32, 32]);
    // Of the first one that is all; the second one is orthogonal to it again.
    let kept = whole.sines.moved(&whole.enrichment[0].vorticity, &basis.sines);
    let size = kept.iter().zip(basis.sines.eigenvalues()).map(|(w, l)| w * w / l).sum::<f64>().sqrt();
    assert!((0.9..1.0).contains(&size), "{size}");
    for (found, kept) in basis.enrichment[0].vorticity.iter().zip(&kept) {
        assert!((found - kept / size).abs() < 1e-12, "{found} {kept}");
    }
    let products = |a: usize, b: usize| -> f64 {
        let [a, b] = [a, b].map(|mode| &basis.enrichment[mode].vorticity);
        a.iter().zip(b).zip(basis.sines.eigenvalues()).map(|((a, b), l)| a * b / l).sum()
    };
    assert!((products(0, 0) - 1.0).abs() < 1e-12 && products(0, 1).abs() < 1e-12);
}

#[test]
fn learnt_modes_follow_the_flow_that_they_were_learnt_from() {
    let times: Vec<usize> = (0..=20).map(|k| 5 * k).collect();
    let (sines, flows) = reference_flows(&times);
    // The errors at t = .25, .5 and 1.
    for (count, expected) in
        [(0, [1.06e-2, 3.7e-2, 0.103]), (5, [8.3e-4, 8.7e-4, 9.9e-4]), (10, [9.1e-6, 1.1e-5, 1.3e-5])]
    {
        let mut basis = eight();
        basis.learn_modes("learnt", &flows, count);
        let mut dynamics = Dynamics::new(&basis);
        let mut flow = vec![0.0; basis.len()];
        for (to, &mode) in flow.iter_mut().zip(&basis.eigenmodes) {
            *to = flows[0][sines.place(mode)];
        }
        let before = dynamics.energy(&flow);
        let mut stages = Stages::default();
        for (steps, reference, expected) in
            [(25, 5, expected[0]), (25, 10, expected[1]), (50, 20, expected[2])]
        {
            for _ in 0..steps {
                stages.advance(&mut dynamics, Integrator::Rk4, &mut flow, 0.01).unwrap();
            }
            let error =
                error_against((&sines, &flows[reference]), &basis.sines, &dynamics.vorticity_of(&flow));
            assert!(error < 1.5 * expected, "{count} modes: {error:e} for {expected:e}");
        }
        assert!((dynamics.energy(&flow) / before - 1.0).abs() < 1e-8);
    }
}

/// The field of a jet, in the box of side π.
fn jet(s: f64) -> impl Fn([f64; 2]) -> [f64; 2] {
    move |[x, y]| {
        let across = (-(y - 1.5).powi(2) / (2.0 * s * s)).exp();
        [across / (1.0 + (-(x - 0.8) / s).exp()) / (1.0 + ((x - 2.3) / s).exp()), 0.0]
    }
}

#[test]
fn eigenmodes_hold_little_of_a_thin_jet_and_one_drawn_mode_all_of_it() {
    // The part of its energy in the lowest 63, 100 and 400 modes; ties are cut in any way.
    let shares = [(0.16, [0.954, 0.993, 1.0]), (0.08, [0.655, 0.801, 0.992]), (0.04, [0.343, 0.459, 0.804])];
    let sines = Sines { size: SQUARE, counts: [64; 2] };
    for (s, expected) in shares {
        let mut vorticity = vec![0.0; sines.len()];
        super::transform::Transform::new(&sines).project(jet(s), &mut vorticity);
        let whole = energy(&sines, &vorticity);
        for (count, expected) in [63, 100, 400].into_iter().zip(expected) {
            let basis = Basis::new(SQUARE, count);
            let mut held = vec![0.0; sines.len()];
            for &mode in &basis.eigenmodes {
                held[sines.place(mode)] = vorticity[sines.place(mode)];
            }
            let share = energy(&sines, &held) / whole;
            assert!((share - expected).abs() < 4e-3, "{s} {count}: {share}");
        }
        let mut basis = Basis::new(SQUARE, 63);
        assert!(basis.add_mode("jet", &vorticity));
        assert!(error_against((&sines, &vorticity), &sines, &projected(&basis, &vorticity)) < 1e-12);
    }
}

#[test]
fn what_is_there_already_adds_no_mode() {
    let mut basis = eight();
    let sines = basis.fine_sines();
    let within = start(&sines);
    assert!(!basis.add_mode("within", &within) && basis.enrichment.is_empty());
    assert_eq!(basis.sines.counts, [8; 2]);
    let stroke = Stroke { points: vec![[0.6, 1.5], [2.5, 1.5]], width: 0.1, speed: 1.0 };
    let jet = drawn(&stroke, &sines);
    assert!(basis.add_mode("jet", &jet));
    assert!(!basis.add_mode("again", &jet) && basis.enrichment.len() == 1);
    basis.remove_mode(0);
    assert_eq!(basis, eight());
}

#[test]
fn a_gradient_that_is_drawn_makes_no_flow_and_a_mode_makes_itself() {
    let sines = Sines { size: SQUARE, counts: [64; 2] };
    let mut transform = super::transform::Transform::new(&sines);
    let mut vorticity = vec![0.0; sines.len()];
    let gradient = |[x, y]: [f64; 2]| {
        [-2.0 * (2.0 * x).sin() * (3.0 * y).cos(), -3.0 * (2.0 * x).cos() * (3.0 * y).sin()]
    };
    transform.project(gradient, &mut vorticity);
    assert!(largest(vorticity.iter().copied()) < 1e-12);
    let mode = |[x, y]: [f64; 2]| {
        [3.0 * (2.0 * x).sin() * (3.0 * y).cos() / 13.0, -2.0 * (2.0 * x).cos() * (3.0 * y).sin() / 13.0]
    };
    transform.project(mode, &mut vorticity);
    vorticity[sines.place([2, 3])] -= 1.0;
    assert!(largest(vorticity) < 1e-12);
}

#[test]
fn the_order_of_strokes_changes_no_flow() {
    let sines = eight().fine_sines();
    let strokes = [[0.6, 1.5, 2.5, 1.5], [1.0, 0.4, 1.2, 2.6], [2.0, 2.0, 2.6, 0.8]]
        .map(|[a, b, c, d]| drawn(&Stroke { points: vec![[a, b], [c, d]], width: 0.08, speed: 1.0 }, &sines));
    let in_order = |order: [usize; 3]| {
        let mut basis = eight();
        for stroke in order {
            assert!(basis.add_mode("stroke", &strokes[stroke]));
        }
        basis
    };
    let (one, other) = (in_order([0, 1, 2]), in_order([2, 0, 1]));
    for mode in &one.enrichment {
        let off = error_against((&sines, &mode.vorticity), &sines, &projected(&other, &mode.vorticity));
        assert!(off < 1e-10, "{off:e}");
    }
}

#[test]
fn modes_decay_as_viscosity_says() {
    let (_, flows) = reference_flows(&[30, 60]);
    let mut basis = eight();
    basis.learn_modes("learnt", &flows, 2);
    let dynamics = Dynamics::new(&basis);
    let flow: Vec<f64> = noise(basis.len());
    let (before, enstrophy) = (dynamics.energy(&flow), dynamics.enstrophy(&flow));
    let (nu, dt) = (0.01, 1e-4);
    let mut after = flow.clone();
    Decay::new(&basis).apply(&mut after, nu * dt);
    // dE/dt = -2 ν Z, with E the sum of w² / λ and Z that of w².
    let rate = (dynamics.energy(&after) - before) / dt;
    assert!((rate / (-2.0 * nu * enstrophy) - 1.0).abs() < 1e-3, "{rate} {enstrophy}");
    // Two steps are one of twice the length.
    let mut twice = flow.clone();
    for _ in 0..2 {
        Decay::new(&basis).apply(&mut twice, 0.03);
    }
    let mut once = flow;
    Decay::new(&basis).apply(&mut once, 0.06);
    assert!(largest(once.iter().zip(&twice).map(|(a, b)| a - b)) < 1e-13);
    let place = basis.sines.place([2, 3]);
    let eigenmode = basis.eigenmodes.iter().position(|&mode| mode == [2, 3]).expect("a mode");
    assert!(
        (once[eigenmode] - noise(basis.len())[eigenmode] * (-0.06 * basis.sines.eigenvalue(place)).exp())
            .abs()
            < 1e-15
    );
}

#[test]
fn velocities_on_faces_tell_the_flow_that_they_are_of() {
    let sines = Sines { size: [2.0, 1.0], counts: [20, 10] };
    let vorticity = noise(sines.len());
    let cells = [32, 16];
    let streams = streams_at_nodes(&sines, &vorticity, cells);
    let at = |i: usize, j: usize| streams[i * (cells[1] + 1) + j];
    let face = |axis: usize, [i, j]: [usize; 2]| match axis {
        0 => (at(i, j + 1) - at(i, j)) * cells[1] as f64 / sines.size[1],
        _ => (at(i, j) - at(i + 1, j)) * cells[0] as f64 / sines.size[0],
    };
    let told = vorticity_of_faces(&sines, cells, face);
    assert!(largest(told.iter().zip(&vorticity).map(|(a, b)| a - b)) < 1e-12);
    // Of a gradient there is nothing to tell.
    let potential = |i: usize, j: usize| ((3 * i + 5 * j) as f64).sin();
    let told = vorticity_of_faces(&sines, cells, |axis, [i, j]| match axis {
        0 => 16.0 * (potential(i, j) - potential(i.wrapping_sub(1), j)),
        _ => 16.0 * (potential(i, j) - potential(i, j.wrapping_sub(1))),
    });
    assert!(largest(told) < 1e-12);
}

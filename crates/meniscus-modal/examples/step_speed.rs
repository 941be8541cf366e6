//! How long steps take, on one core: medians of a thousand. `cargo run --release -p meniscus-modal --example step_speed`

#![expect(clippy::print_stdout, reason = "it tells what it measured")]

use std::collections::BTreeMap;
use std::f64::consts::TAU;
use std::time::Instant;

use meniscus_core::stroke::Stroke;
use meniscus_modal::flow::{Basis, Integrator, drawn};
use meniscus_modal::panels::{Body, Pose, Profile};
use meniscus_modal::{
    BodyState, Course, Feedback, Forces, Params, State, Tracers, Unhindered, Workspace, begin, step,
};

fn disc(panels: usize, radius: f64) -> Profile {
    let corner = |k: usize| {
        let angle = TAU * k as f64 / panels as f64;
        [radius * angle.cos(), radius * angle.sin()]
    };
    Profile::of_polygon(&(0..panels).map(corner).collect::<Vec<_>>()).0
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Bodies in rows that hang in a slow flow.
fn time(modes: usize, bodies: usize, panels: impl Fn(usize) -> usize) {
    let size = [1.6, 0.9];
    let mut state = State::new(Basis::new(size, modes));
    for (k, w) in state.flow.iter_mut().enumerate().take(10) {
        *w = (k as f64 * 1.7 + 0.3).sin();
    }
    let params = Params {
        density: 1000.0,
        viscosity: 1e-6,
        gravity: [0.0; 2],
        integrator: Integrator::Conserving,
        feedback: Feedback::Shed(0.2),
        forces: Forces::Potential,
    };
    let made: Vec<Body> = (0..bodies).map(|k| Body::of_density(disc(panels(k), 0.05), 0.8)).collect();
    let place = |k: usize| [0.2 + 0.3 * (k % 5) as f64, 0.2 + 0.25 * (k / 5) as f64];
    let pose = |k: usize| Pose { centre: place(k), angle: 0.1 * k as f64 };
    let start: Vec<BodyState> = (0..bodies).map(|k| BodyState { pose: pose(k), motion: [0.0; 3] }).collect();
    state.bodies = start.clone();
    let mut workspace = Workspace::default();
    begin(&mut state, &made, &mut workspace).expect("a flow");
    let courses = vec![Course::Free([0.0; 3]); bodies];
    let (mut times, mut stages) = (Vec::new(), BTreeMap::<&str, Vec<f64>>::new());
    let mut iterations = Vec::new();
    for _ in 0..1000 {
        let started = Instant::now();
        let info = step(&mut state, &params, &made, &courses, &mut Unhindered, 1.0 / 240.0, &mut workspace);
        times.push(started.elapsed().as_secs_f64());
        let info = info.expect("a step");
        iterations.push(info.iterations as f64);
        for (stage, seconds) in info.stages {
            stages.entry(stage).or_default().push(seconds);
        }
        // They do not meet.
        for (body, start) in state.bodies.iter_mut().zip(&start) {
            body.pose.centre =
                [0, 1].map(|a| start.pose.centre[a] + 0.9 * (body.pose.centre[a] - start.pose.centre[a]));
        }
    }
    let total: usize = made.iter().map(Body::panels).sum();
    let stages: Vec<String> =
        stages.into_iter().map(|(name, s)| format!("{name} {:.3}", 1e3 * median(s))).collect();
    println!(
        "{modes} modes, {bodies} bodies, {total} panels: {:.3} ms, {} iterations ({})",
        1e3 * median(times),
        median(iterations),
        stages.join(", ")
    );
}

/// Tracers all over a flow without bodies.
fn time_tracers(count: usize) {
    let mut state = State::new(Basis::new([1.6, 0.9], 100));
    state.flow[3] = 1.0;
    let place = |k: usize| [1.6 * ((k as f32 * 0.618_034) % 1.0), 0.9 * ((k as f32 * 0.754_877_7) % 1.0)];
    state.tracers = vec![Tracers { position: (0..count).map(place).collect() }];
    let params = Params {
        density: 1000.0,
        viscosity: 0.0,
        gravity: [0.0; 2],
        integrator: Integrator::Conserving,
        feedback: Feedback::None,
        forces: Forces::Potential,
    };
    let mut workspace = Workspace::default();
    let times = (0..200).map(|_| {
        let started = Instant::now();
        step(&mut state, &params, &[], &[], &mut Unhindered, 1.0 / 240.0, &mut workspace).expect("a step");
        started.elapsed().as_secs_f64()
    });
    println!("{count} tracers: {:.3} ms", 1e3 * median(times.collect()));
}

fn main() {
    time_tracers(100_000);
    time_tracers(1);
    time(73, 15, |k| if k % 5 == 0 { 9 } else { 10 });
    time(400, 10, |_| 40);
    time(400, 0, |_| 0);
    let basis = Basis::new([1.6, 0.9], 100);
    let stroke = Stroke { points: vec![[0.3, 0.4], [0.8, 0.5], [1.2, 0.4]], width: 0.04, speed: 1.0 };
    let times = (0..20).map(|_| {
        let (mut basis, started) = (basis.clone(), Instant::now());
        basis.add_mode("drawn", &drawn(&stroke, &basis.fine_sines()));
        started.elapsed().as_secs_f64()
    });
    println!("a stroke becomes a mode: {:.2} ms", 1e3 * median(times.collect()));
}

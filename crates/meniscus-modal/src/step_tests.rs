//! Bodies on their way.

use std::f64::consts::PI;

use crate::flow::{Advection, Basis, Dynamics, Integrator, samples};
use crate::panels::tests::{at, disc, ellipse};
use crate::panels::{Body, Drive, Images, Immersed, Pose, Profile, Solution};
use crate::*;

fn params() -> Params {
    Params {
        density: 1.0,
        viscosity: 0.0,
        gravity: [0.0; 2],
        integrator: Integrator::Rk4,
        feedback: Feedback::None,
        forces: Forces::Potential,
    }
}

/// All modes with no more half waves than so many along each axis.
fn square_basis(size: [f64; 2], most: usize) -> Basis {
    let mut basis = Basis::new(size, 1);
    basis.eigenmodes = (1..=most).flat_map(|k| (1..=most).map(move |l| [k, l])).collect();
    basis.sines.counts = [most; 2];
    basis
}

/// The flow that validation begins with, in modes up to `most`: w = sin(1 + 3 k + 5 l + k l) up to four half waves.
fn start_flow(basis: &Basis) -> Vec<f64> {
    let mode = |&[k, l]: &[usize; 2]| {
        let (a, b) = (k as f64, l as f64);
        if k.max(l) <= 4 { (1.0 + 3.0 * a + 5.0 * b + a * b).sin() } else { 0.0 }
    };
    let flow: Vec<f64> = basis.eigenmodes.iter().map(mode).collect();
    let energy = PI * PI / 8.0 * Dynamics::new(basis).energy(&flow);
    flow.iter().map(|w| w * (PI * PI / 2.0 / energy).sqrt()).collect()
}

struct Run {
    state: State,
    params: Params,
    bodies: Vec<Body>,
    workspace: Workspace,
    iterations: usize,
}

impl Run {
    fn new(basis: Basis, params: Params, bodies: Vec<(Body, BodyState)>) -> Self {
        let mut state = State::new(basis);
        let (bodies, states): (Vec<Body>, Vec<BodyState>) = bodies.into_iter().unzip();
        state.bodies = states;
        Self { state, params, bodies, workspace: Workspace::default(), iterations: 0 }
    }

    fn advance(&mut self, courses: &[Course], dt: f64) -> StepInfo {
        let Self { state, params, bodies, workspace, .. } = self;
        let info = step(state, params, bodies, courses, &mut Unhindered, dt, workspace).unwrap();
        self.iterations += info.iterations;
        info
    }

    /// The sheets of the beginning.
    fn begin(&mut self) {
        begin(&mut self.state, &self.bodies, &mut self.workspace).unwrap();
    }

    fn kinetic_energy(&self) -> f64 {
        let Self { state, params, bodies, .. } = self;
        Observer::new(&state.basis).energies(state, params, bodies).kinetic
    }

    /// ½ (V P + Ω L), which is the energy of bodies and fluid where there are no modes.
    fn work_of_momenta(&self) -> f64 {
        let poses: Vec<Pose> = self.state.bodies.iter().map(|body| body.pose).collect();
        let images = Images::new(self.state.basis.sines.size);
        let immersed = Immersed::new(&images, &self.bodies, &poses);
        let of_body = |k: usize| {
            let momentum = immersed.momentum(&self.state.sheets, k);
            let motion = self.state.bodies[k].motion;
            0.5 * (0..3).map(|d| momentum[d] * motion[d]).sum::<f64>()
        };
        (0..self.bodies.len()).map(of_body).sum()
    }
}

fn resting(pose: Pose) -> BodyState {
    BodyState { pose, motion: [0.0; 3] }
}

const FREE: Course = Course::Free([0.0; 3]);

#[test]
fn what_falls_gains_the_energy_that_it_gives() {
    // Ratio 2, D/L = .25: the speeds of VALIDATION 6.2.
    for (y, expected) in [(0.4, 0.25326), (0.3, 0.35678), (0.2, 0.42945)] {
        let body = Body::of_density(disc(64, 0.125), 2.0);
        let gravity = Params { gravity: [0.0, -1.0], ..params() };
        let mut run = Run::new(Basis::new([1.0; 2], 1), gravity, vec![(body, resting(at([0.5; 2])))]);
        let mass = run.bodies[0].mass[0] - run.bodies[0].profile.area;
        run.begin();
        let mut last = run.state.bodies[0];
        while run.state.bodies[0].pose.centre[1] > y {
            last = run.state.bodies[0];
            run.advance(&[FREE], 0.01);
        }
        let now = run.state.bodies[0];
        let (before, after) = (last.pose.centre[1], now.pose.centre[1]);
        let part = (before - y) / (before - after);
        // The square of the speed grows evenly with the depth.
        let square = last.motion[1].powi(2) * (1.0 - part) + now.motion[1].powi(2) * part;
        assert!((square.sqrt() / expected - 1.0).abs() < 1.5e-3, "{y}: {} {expected}", square.sqrt());
        let given = mass * (0.5 - after);
        assert!((run.kinetic_energy() / given - 1.0).abs() < 2e-4, "{} {given}", run.kinetic_energy());
    }
}

#[test]
fn bodies_and_fluid_keep_their_energy() {
    let shapes = [disc(64, 0.1), ellipse(64, [0.12, 0.06]), disc(64, 0.06)];
    let poses = [at([0.25, 0.4]), Pose { centre: [0.7, 0.35], angle: 0.7 }, at([0.45, 0.75])];
    let motions = [[0.2, -0.1, 0.0], [0.05, 0.1, 1.0], [-0.05, 0.1, 0.3]];
    for ratio in [0.3, 2.0] {
        let bodies = (0..3).map(|k| {
            let state = BodyState { pose: poses[k], motion: motions[k] };
            (Body::of_density(shapes[k].clone(), ratio), state)
        });
        let mut run = Run::new(Basis::new([1.0; 2], 1), params(), bodies.collect());
        run.begin();
        let start = run.kinetic_energy();
        assert!((run.work_of_momenta() / start - 1.0).abs() < 1e-12, "{start} {}", run.work_of_momenta());
        let mut worst: f64 = 0.0;
        for _ in 0..1000 {
            run.advance(&[FREE; 3], 0.001);
            worst = worst.max((run.kinetic_energy() / start - 1.0).abs());
        }
        assert!(worst < 1e-4, "{ratio}: {worst:e}, {:?}", run.state.bodies);
        assert!(run.iterations < 15 * 2 * 1000, "{} iterations", run.iterations);
    }
}

#[test]
fn a_neutral_disc_goes_with_the_flow() {
    let basis = square_basis([PI; 2], 8);
    let flow = start_flow(&basis);
    let from = [1.2, 1.9];
    let velocity = |flow: &[f64], x: [f64; 2]| {
        let vorticity = Dynamics::new(&basis).vorticity_of(flow);
        samples(&basis.sines, &vorticity, &[x])[0].velocity
    };
    let mut last = f64::NAN;
    for (radius, expected) in [(0.2, 0.054), (0.1, 0.016), (0.05, 0.0040)] {
        let [u, v] = velocity(&flow, from);
        let state = BodyState { pose: at(from), motion: [u, v, 0.0] };
        let body = Body::of_density(disc(24, radius), 1.0);
        let mut run = Run::new(basis.clone(), params(), vec![(body, state)]);
        run.state.flow = flow.clone();
        run.begin();
        for _ in 0..50 {
            run.advance(&[FREE], 0.01);
        }
        let [x, y] = run.state.bodies[0].pose.centre;
        let off = (x - 1.3393).hypot(y - 1.8207);
        assert!(
            off < 1.5 * expected && (last.is_nan() || last / off >= 3.25),
            "{radius}: {off}, order {}",
            (last / off).log2()
        );
        last = off;
    }
}

#[test]
fn a_resting_disc_is_projected_into_the_modes() {
    // VALIDATION 7: the normal velocity on a disc after rounds of panels and projections.
    let (centre, radius) = ([1.4, 1.7], 0.4);
    for (most, panels, misfits, energies) in [
        (8, 48, [0.1972, 0.0773, 0.0395, 0.0250], [4.44337, 4.41382, 4.40722]),
        (16, 48, [0.1044, 0.0339, 0.0192, 0.0119], [4.48675, 4.47956, 4.47876]),
        (32, 96, [0.0535, 0.0148, 0.0100, 0.0060], [4.50931, 4.50759, 4.50750]),
    ] {
        let basis = square_basis([PI; 2], most);
        let dynamics = Dynamics::new(&basis);
        let mut flow = start_flow(&basis);
        let (bodies, poses) = ([Body::of_density(disc(panels, radius), 1.0)], [at(centre)]);
        let images = Images::new(basis.sines.size);
        let mut immersed = Immersed::new(&images, &bodies, &poses);
        let influence = immersed.influence();
        let mut found = (Vec::new(), vec![PI * PI / 8.0 * dynamics.energy(&flow)]);
        for round in 1..=8 {
            let vorticity = dynamics.vorticity_of(&flow);
            immersed.set_flow(samples(&basis.sines, &vorticity, &immersed.middles()));
            let mut solution = Solution::default();
            immersed.solve(&influence, &[Drive::Given([0.0; 3])], &[0.0], &mut solution, 1e-12);
            let of_sheets =
                dynamics.coefficients_of(&immersed.vorticity_of_sheets(&solution.strengths, &basis.sines));
            flow.iter_mut().zip(of_sheets).for_each(|(to, part)| *to += part);
            let energy = PI * PI / 8.0 * dynamics.energy(&flow);
            assert!(energy <= found.1[round - 1], "energy grows in round {round}");
            found.1.push(energy);
            let vorticity = dynamics.vorticity_of(&flow);
            let squares = (0..400).map(|k| {
                let (sin, cos) = ((f64::from(k) + 0.5) * PI / 200.0).sin_cos();
                let at = [centre[0] + radius * cos, centre[1] + radius * sin];
                let [u, v] = samples(&basis.sines, &vorticity, &[at])[0].velocity;
                (u * cos + v * sin).powi(2) / 400.0
            });
            if [1, 2, 4, 8].contains(&round) {
                found.0.push(squares.sum::<f64>().sqrt());
            }
        }
        for (found, expected) in found.0.iter().zip(misfits) {
            assert!((found / expected - 1.0).abs() < 0.02, "{most}: {found} {expected}");
        }
        for (round, expected) in [1, 2, 8].into_iter().zip(energies) {
            assert!((found.1[round] / expected - 1.0).abs() < 1e-4, "{most}: {} {expected}", found.1[round]);
        }
    }
}

/// The drag coefficient of a disc that is towed through the middle of a box, with 20 by 20 modes.
fn drag(feedback: Feedback, dt: f64) -> f64 {
    let (radius, speed) = (0.2, 0.5);
    let pose = |time: f64| at([0.7 + speed * time, 0.5 * PI]);
    let motion = [speed, 0.0, 0.0];
    let body = Body::of_density(disc(40, radius), 1.0);
    let params = Params { feedback, ..params() };
    let mut run =
        Run::new(square_basis([PI; 2], 20), params, vec![(body, BodyState { pose: pose(0.0), motion })]);
    run.begin();
    let mut forces = Vec::new();
    while run.state.bodies[0].pose.centre[0] < 2.1 {
        let end = BodyState { pose: pose(run.state.time + dt), motion };
        let info = run.advance(&[Course::Given(end)], dt);
        if end.pose.centre[0] > 1.3 {
            forces.push(info.forces[0][0]);
        }
    }
    -forces.iter().sum::<f64>() / forces.len() as f64 / (speed * speed * radius)
}

#[test]
fn shedding_at_a_rate_does_not_depend_on_how_long_steps_are() {
    let [coarse, fine] = [0.02, 0.01].map(|dt| drag(Feedback::Shed(0.2), dt));
    assert!((coarse / fine - 1.0).abs() < 0.03, "{coarse} {fine}");
    assert!((0.3..1.0).contains(&fine), "{fine}");
    let none = drag(Feedback::None, 0.02);
    assert!(none.abs() < 0.01, "{none}");
    // The paper's feedback does.
    let [coarse, fine] = [0.02, 0.01].map(|dt| drag(Feedback::Paper, dt));
    assert!((coarse / fine - 1.0).abs() > 0.2, "{coarse} {fine}");
}

#[test]
fn what_is_stirred_moves_bodies_as_the_fluid_in_their_place() {
    let basis = square_basis([PI; 2], 2);
    let flow = Dynamics::new(&basis).coefficients_of(&[0.3, 0.7, -0.2, 0.4]);
    let centre = [1.1, 1.9];
    let [u, v] = samples(&basis.sines, &[0.3, 0.7, -0.2, 0.4], &[centre])[0].velocity;
    // A disc with the mass s of the fluid in its place, and as much that it takes along, gets 2 / (s + 1) of its speed, but for the walls and the bend of the flow.
    for ratio in [0.01, 1.0, 10.0] {
        let profile = disc(32, 0.02);
        let body = BodyState { pose: at(centre), motion: [0.0; 3] };
        let mut run = Run::new(basis.clone(), params(), vec![(Body::of_density(profile, ratio), body)]);
        run.begin();
        stir(&mut run.state, &run.bodies, 1, &flow, &mut run.workspace).unwrap();
        let part = 2.0 / (ratio + 1.0);
        let [got_u, got_v, _] = run.state.bodies[0].motion;
        let off = (got_u - part * u).hypot(got_v - part * v) / u.hypot(v);
        assert!(off < 5e-3, "{ratio}: {off}");
        // What is not free stays.
        stir(&mut run.state, &run.bodies, 0, &flow, &mut run.workspace).unwrap();
        assert_eq!(run.state.bodies[0].motion, [got_u, got_v, run.state.bodies[0].motion[2]]);
    }
}

/// A symmetric section of a wing, of chord 1 and so thick, with the edge at the left and the nose at the right; gives with it where the edge is.
fn section(thickness: f64, sides: usize) -> (Profile, [f64; 2]) {
    let half = |x: f64| {
        5.0 * thickness * (0.2969 * x.sqrt() + x * (-0.1260 + x * (-0.3516 + x * (0.2843 - x * 0.1036))))
    };
    let along = |k: usize| 0.5 + 0.5 * (PI * k as f64 / sides as f64).cos();
    // From the edge along the lower side to the nose, and back along the upper one.
    let lower = (0..sides).map(|k| [1.0 - along(k), -half(along(k))]);
    let upper = (0..sides).map(|k| [1.0 - along(sides - k), half(along(sides - k))]);
    let points: Vec<[f64; 2]> = lower.chain(upper).collect();
    let (profile, centre) = Profile::of_polygon(&points);
    (profile, [-centre[0], -centre[1]])
}

/// The lift of a section that is set in motion at once, over ½ ρ U² c, after each step; and by how much circulation is off.
fn lift(size: f64, incidence: f64, thickness: f64, sides: usize, dt: f64, steps: usize) -> (Vec<f64>, f64) {
    let (profile, edge) = section(thickness, sides);
    let body = Body::new(profile, [0.0, 0.0]).with_edges(&[edge]);
    let pose = |time: f64| Pose { centre: [0.3 * size + time, 0.5 * size], angle: incidence };
    let state = |time: f64| BodyState { pose: pose(time), motion: [1.0, 0.0, 0.0] };
    let mut run = Run::new(Basis::new([size; 2], 1), params(), vec![(body, state(0.0))]);
    run.begin();
    let (mut lifts, mut off) = (Vec::new(), 0.0f64);
    for step in 1..=steps {
        let info = run.advance(&[Course::Given(state(step as f64 * dt))], dt);
        lifts.push(2.0 * info.forces[0][1]);
        let wake = &run.state.wake;
        let circulation = wake.circulation(0) + wake.blobs.iter().map(|blob| blob.circulation).sum::<f64>();
        off = off.max(circulation.abs());
    }
    (lifts, off)
}

#[test]
fn lift_grows_as_wagner_says() {
    let (alpha, dt) = (5f64.to_radians(), 0.05);
    let (lifts, off) = lift(24.0, alpha, 0.03, 40, dt, 120);
    assert!(off < 1e-12, "Kelvin: {off}");
    // The step that begins with a flow around the edge tells nothing.
    for (k, lift) in lifts.iter().enumerate().skip(1) {
        let half_chords = 2.0 * dt * (k as f64 + 0.5);
        let wagner = 1.0 - 0.165 * (-0.0455 * half_chords).exp() - 0.335 * (-0.3 * half_chords).exp();
        let part = lift / (2.0 * PI * alpha.sin());
        assert!((part / wagner - 1.0).abs() < 0.05, "{half_chords}: {part} {wagner}");
    }
    assert!((lifts[1] / (2.0 * PI * alpha.sin()) - 0.5).abs() < 0.03);
}

/// Of bodies and fluid, far from walls: m V + Σ Γ (y, -x), with what the fluid in a body's place would have taken off.
fn impulse(run: &Run) -> [f64; 2] {
    let poses: Vec<Pose> = run.state.bodies.iter().map(|body| body.pose).collect();
    let images = Images::new(run.state.basis.sines.size);
    let immersed = Immersed::new(&images, &run.bodies, &poses);
    let middle = run.state.basis.sines.size.map(|side| 0.5 * side);
    let mut sum = [0.0; 2];
    let mut add = |x: [f64; 2], circulation: f64| {
        sum[0] += circulation * (x[1] - middle[1]);
        sum[1] -= circulation * (x[0] - middle[0]);
    };
    for (panel, strength) in immersed.panels().iter().zip(&run.state.sheets.strengths) {
        add(panel.middle, strength * panel.length);
    }
    run.state.wake.blobs.iter().for_each(|blob| add(blob.at, blob.circulation));
    for (body, now) in run.bodies.iter().zip(&run.state.bodies) {
        let heavier = body.mass[0] - body.profile.area;
        (0..2).for_each(|axis| sum[axis] += heavier * now.motion[axis]);
    }
    sum
}

#[test]
fn a_wing_that_is_thrown_gives_its_momentum_to_its_wake() {
    let (profile, edge) = section(0.12, 30);
    let body = Body::of_density(profile, 3.0).with_edges(&[edge]);
    let start = BodyState { pose: Pose { centre: [18.0, 20.0], angle: 0.15 }, motion: [1.0, 0.0, 0.0] };
    let off = [0.04, 0.02].map(|dt| {
        let mut run = Run::new(Basis::new([40.0; 2], 1), params(), vec![(body.clone(), start)]);
        run.begin();
        run.advance(&[Course::Free([0.0; 3])], dt);
        let (before, v) = (impulse(&run), run.state.bodies[0].motion[1]);
        let mut most = [0.0f64; 2];
        for _ in 0..(2.0 / dt) as usize {
            run.advance(&[Course::Free([0.0; 3])], dt);
            let now = impulse(&run);
            most = [0, 1].map(|axis| most[axis].max((now[axis] - before[axis]).abs()));
        }
        let gained = body.mass[0] * (run.state.bodies[0].motion[1] - v).abs();
        most[0].max(most[1]) / gained
    });
    assert!(off.iter().all(|off| *off < 0.01), "{off:?}");
}

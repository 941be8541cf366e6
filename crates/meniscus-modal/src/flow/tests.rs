use std::f64::consts::PI;

use super::tensor::{products, tensor};
use super::transform::Transform;
use super::{Advection, Basis, Dynamics, Integrator, Sines, Stages};

pub(super) const SQUARE: [f64; 2] = [PI, PI];

/// Numbers of no meaning, the same each time.
pub(super) fn noise(count: usize) -> Vec<f64> {
    (0..count).map(|k| ((k * k * 7 + 3 * k + 1) as f64).sin()).collect()
}

/// The start of the reference runs: waves up to four along each side, with a mean speed of one.
pub(super) fn start(sines: &Sines) -> Vec<f64> {
    let mut vorticity = vec![0.0; sines.len()];
    for k in 1..=4 {
        for l in 1..=4 {
            let (a, b) = (k as f64, l as f64);
            vorticity[sines.place([k, l])] = (1.0 + 3.0 * a + 5.0 * b + a * b).sin();
        }
    }
    let factor = (PI * PI / 2.0 / energy(sines, &vorticity)).sqrt();
    vorticity.iter_mut().for_each(|w| *w *= factor);
    vorticity
}

pub(super) fn energy(sines: &Sines, vorticity: &[f64]) -> f64 {
    let terms = vorticity.iter().zip(sines.eigenvalues()).map(|(w, l)| w * w / l);
    sines.area() / 8.0 * terms.sum::<f64>()
}

fn enstrophy(sines: &Sines, vorticity: &[f64]) -> f64 {
    sines.area() / 8.0 * vorticity.iter().map(|w| w * w).sum::<f64>()
}

/// All eigenmodes with up to `most` half waves along each side of the square.
pub(super) fn full(most: usize) -> Basis {
    full_of(SQUARE, [most; 2])
}

fn full_of(size: [f64; 2], counts: [usize; 2]) -> Basis {
    let sines = Sines { size, counts };
    let eigenmodes = (0..sines.len()).map(|place| sines.half_waves(place)).collect();
    Basis { sines, eigenmodes, enrichment: Vec::new() }
}

/// The relative error of a velocity, of flows with different numbers of sines.
pub(super) fn error_against(reference: (&Sines, &[f64]), sines: &Sines, vorticity: &[f64]) -> f64 {
    let mut off = reference.1.to_vec();
    for (place, w) in vorticity.iter().enumerate() {
        off[reference.0.place(sines.half_waves(place))] -= w;
    }
    (energy(reference.0, &off) / energy(reference.0, reference.1)).sqrt()
}

pub(super) fn largest(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().fold(0.0, |most, value| most.max(value.abs()))
}

#[test]
fn products_of_two_modes_are_those_of_the_closed_form() {
    let of = |i, j, wanted: &[([usize; 2], f64)]| {
        let found = products(SQUARE, i, j);
        assert_eq!(found.len(), wanted.len(), "{found:?}");
        for (mode, value) in wanted {
            assert!((found[mode] - value).abs() < 1e-14, "{i:?} {j:?} {mode:?}: {}", found[mode]);
        }
    };
    of([1, 3], [2, 1], &[([3, 4], -0.125), ([3, 2], 0.175), ([1, 4], 0.175), ([1, 2], -0.125)]);
    of([2, 1], [1, 3], &[([3, 4], 0.25), ([3, 2], -0.35), ([1, 4], -0.35), ([1, 2], 0.25)]);
    of([1, 1], [3, 1], &[([4, 2], -0.25), ([2, 2], 0.5)]);
    of([3, 1], [1, 1], &[([4, 2], 0.05), ([2, 2], -0.1)]);
    for (most, count) in [(8, 3380), (10, 8854), (12, 19178)] {
        assert_eq!(tensor(SQUARE, most).len(), count);
    }
}

/// The largest difference between the rate by transforms and by the tensor, over the largest rate.
fn off_from_tensor(size: [f64; 2], most: usize, mut transform: Transform) -> f64 {
    let sines = Sines { size, counts: [most; 2] };
    let vorticity = noise(sines.len());
    let mut by_tensor = vec![0.0; sines.len()];
    for ((to, i, j), value) in tensor(size, most) {
        by_tensor[sines.place(to)] += value * vorticity[sines.place(i)] * vorticity[sines.place(j)];
    }
    let mut rate = vec![0.0; sines.len()];
    transform.set_velocity(&vorticity);
    transform.self_advection(&mut rate);
    largest(rate.iter().zip(&by_tensor).map(|(a, b)| a - b)) / largest(by_tensor)
}

#[test]
fn the_transforms_are_the_tensor_in_boxes_of_any_sides() {
    for (size, most) in [(SQUARE, 8), (SQUARE, 12), (SQUARE, 13), ([2.0, 1.0], 9), ([0.3, 4.1], 8)] {
        let off = off_from_tensor(size, most, Transform::new(&Sines { size, counts: [most; 2] }));
        assert!(off < 1e-13, "{size:?} {most}: {off:e}");
    }
}

#[test]
fn fewer_points_would_not_do() {
    let sines = Sines { size: SQUARE, counts: [8; 2] };
    assert!(off_from_tensor(SQUARE, 8, Transform::with_points(&sines, [9; 2])) > 1e-3);
}

#[test]
fn advection_does_no_work_and_keeps_the_enstrophy_for_any_set_of_modes() {
    for basis in [full(9), full_of([2.0, 1.0], [12, 5]), Basis::new([1.0, 1.7], 37), Basis::new(SQUARE, 1)] {
        let mut dynamics = Dynamics::new(&basis);
        let flow = noise(basis.len());
        let mut rate = vec![0.0; flow.len()];
        dynamics.rate(&flow, &mut rate);
        let size = |list: &[f64]| list.iter().map(|x| x * x).sum::<f64>().sqrt();
        let work: f64 = (0..flow.len()).map(|k| dynamics.squares()[k] * flow[k] * rate[k]).sum();
        let growth: f64 = flow.iter().zip(&rate).map(|(w, r)| w * r).sum();
        let scale = size(&flow) * size(&rate).max(1e-3);
        assert!(work.abs() < 1e-12 * scale && growth.abs() < 1e-12 * scale, "{work:e} {growth:e}");
    }
}

#[test]
fn one_velocity_that_carries_its_own_vorticity_is_self_advection() {
    let basis = Basis::new([1.0, 1.7], 37);
    let mut dynamics = Dynamics::new(&basis);
    let flow = noise(basis.len());
    let (mut at_once, mut in_two) = (vec![0.0; flow.len()], vec![0.0; flow.len()]);
    dynamics.rate(&flow, &mut at_once);
    dynamics.rate_of(&flow, &mut in_two);
    assert!(largest(at_once.iter().zip(&in_two).map(|(a, b)| a - b)) < 1e-12 * largest(at_once));
}

#[test]
fn a_box_that_is_scaled_has_the_same_flow() {
    let advanced = |scale: f64| {
        let basis = full_of([2.0 * scale, scale], [8, 5]);
        // Vorticity goes with 1 / s², as velocity with 1 / s, if stream functions are the same.
        let mut flow: Vec<f64> = noise(40).iter().map(|w| w / (scale * scale)).collect();
        let mut dynamics = Dynamics::new(&basis);
        for _ in 0..20 {
            Stages::default()
                .advance(&mut dynamics, Integrator::Rk4, &mut flow, 0.02 * scale * scale)
                .unwrap();
        }
        flow.iter().map(|w| w * scale * scale).collect::<Vec<f64>>()
    };
    let (one, other) = (advanced(1.0), advanced(3.7));
    assert!(largest(one.iter().zip(&other).map(|(a, b)| a - b)) < 1e-10 * largest(one));
}

#[test]
fn the_start_of_the_reference_runs_is_what_it_should_be() {
    let sines = Sines { size: SQUARE, counts: [8; 2] };
    let flow = start(&sines);
    for (mode, value) in [([1, 1], -1.322_818_783_2), ([1, 2], -0.700_053_559_3), ([4, 4], -2.319_104_715_5)]
    {
        assert!((flow[sines.place(mode)] - value).abs() < 1e-9);
    }
    assert!((enstrophy(&sines, &flow) - 45.836_316_48).abs() < 1e-7);
}

/// Runs from the start of the reference runs.
struct Run {
    basis: Basis,
    dynamics: Dynamics,
    stages: Stages,
    flow: Vec<f64>,
    put_back: [f64; 2],
}

impl Run {
    fn new(most: usize) -> Self {
        let basis = full(most);
        let flow = start(&basis.sines);
        Self { dynamics: Dynamics::new(&basis), basis, stages: Stages::default(), flow, put_back: [0.0; 2] }
    }

    /// Takes steps.
    fn advance(&mut self, integrator: Integrator, dt: f64, steps: usize) {
        for _ in 0..steps {
            let advanced = self.stages.advance(&mut self.dynamics, integrator, &mut self.flow, dt).unwrap();
            assert!(advanced.is_solved && advanced.substeps <= 2, "{advanced:?}");
            for (sum, part) in self.put_back.iter_mut().zip(advanced.put_back) {
                *sum += part.abs();
            }
        }
    }

    /// Energy and enstrophy.
    fn invariants(&self) -> [f64; 2] {
        [energy(&self.basis.sines, &self.flow), enstrophy(&self.basis.sines, &self.flow)]
    }

    fn error_against(&self, reference: &Self) -> f64 {
        error_against((&reference.basis.sines, &reference.flow), &self.basis.sines, &self.flow)
    }
}

/// What a long run changes of energy and enstrophy, relative.
fn changes(integrator: Integrator, dt: f64, steps: usize) -> ([f64; 2], Run) {
    let mut run = Run::new(8);
    let before = run.invariants();
    run.advance(integrator, dt, steps);
    let after = run.invariants();
    ([after[0] / before[0] - 1.0, after[1] / before[1] - 1.0], run)
}

#[test]
fn the_midpoint_rule_keeps_energy_and_enstrophy_by_itself() {
    let ([energy, enstrophy], _) = changes(Integrator::Midpoint, 0.02, 100_000);
    assert!(energy.abs() < 1e-11 && enstrophy.abs() < 1e-10, "{energy:e} {enstrophy:e}");
}

#[test]
fn the_conserving_scheme_keeps_both_and_puts_little_back() {
    let ([energy, enstrophy], run) = changes(Integrator::Conserving, 0.02, 100_000);
    assert!(energy.abs() < 1e-12 && enstrophy.abs() < 1e-12, "{energy:e} {enstrophy:e}");
    let [energy, enstrophy] = put_back_of(&run);
    // Twice what a prototype put back: the sum of the sizes of what each step did.
    assert!(energy < 2.0 * 1.4e-4 && enstrophy < 2.0 * 1.6e-3, "{energy:e} {enstrophy:e}");
}

/// What was put back of energy and enstrophy, relative.
fn put_back_of(run: &Run) -> [f64; 2] {
    let start = Run::new(8).invariants();
    [0, 1].map(|k| PI * PI / 8.0 * run.put_back[k] / start[k])
}

#[test]
fn steps_that_are_too_long_for_it_show_in_what_is_put_back() {
    let (_, run) = changes(Integrator::Conserving, 0.05, 20_000);
    let [energy, enstrophy] = put_back_of(&run);
    // A prototype put .033 and .38 back in 100,000 steps: no more than twice that.
    assert!((0.05..0.152).contains(&enstrophy) && energy < 0.0132, "{energy:e} {enstrophy:e}");
}

#[test]
fn the_exponential_of_the_paper_heaps_energy_into_small_waves() {
    let ([energy, enstrophy], _) = changes(Integrator::Paper, 0.02, 10_000);
    assert!(energy.abs() < 1e-11 && enstrophy > 10.0, "{energy:e} {enstrophy}");
}

#[test]
fn integrators_have_their_order_and_their_error() {
    let after = |integrator, dt: f64| {
        let mut run = Run::new(8);
        run.advance(integrator, dt, (2.0 / dt).round() as usize);
        run
    };
    let reference = after(Integrator::Rk4, 5e-4);
    // The error at t = 2 of steps of .02, and the order.
    let gates = [
        (Integrator::Rk4, 2.6e-6, 4.0),
        (Integrator::Conserving, 2.6e-6, 4.0),
        (Integrator::Midpoint, 1.6e-3, 2.0),
        (Integrator::Paper, 0.15, 1.0),
    ];
    for (integrator, expected, order) in gates {
        let [error, finer] = [0.02, 0.01].map(|dt| after(integrator, dt).error_against(&reference));
        let found = (error / finer).log2();
        assert!((found - order).abs() < 0.25, "{integrator:?}: {error:e} {finer:e}, order {found}");
        // The start of the prototype was another one.
        assert!(error < 2.0 * expected, "{integrator:?}: {error:e}");
    }
}

#[test]
fn the_midpoint_rule_goes_back_the_way_it_came() {
    let mut run = Run::new(8);
    let turn = |flow: &mut [f64]| flow.iter_mut().for_each(|w| *w = -*w);
    run.advance(Integrator::Midpoint, 0.02, 50);
    turn(&mut run.flow);
    run.advance(Integrator::Midpoint, 0.02, 50);
    turn(&mut run.flow);
    assert!(run.error_against(&Run::new(8)) < 1e-11);
}

#[test]
fn a_mode_alone_does_not_move_and_a_still_fluid_stays_still() {
    let basis = full(6);
    let mut dynamics = Dynamics::new(&basis);
    for integrator in [Integrator::Conserving, Integrator::Midpoint, Integrator::Rk4, Integrator::Paper] {
        let mut flow = vec![0.0; basis.len()];
        Stages::default().advance(&mut dynamics, integrator, &mut flow, 0.1).unwrap();
        assert!(flow.iter().all(|&w| w == 0.0));
        flow[basis.sines.place([2, 3])] = 1.5;
        let before = flow.clone();
        Stages::default().advance(&mut dynamics, integrator, &mut flow, 0.1).unwrap();
        assert!(largest(flow.iter().zip(&before).map(|(a, b)| a - b)) < 1e-13, "{integrator:?}");
    }
}

#[test]
fn fast_flows_take_their_steps_in_parts() {
    let basis = full(20);
    let mut dynamics = Dynamics::new(&basis);
    for integrator in [Integrator::Conserving, Integrator::Midpoint, Integrator::Rk4] {
        let mut flow: Vec<f64> = start(&basis.sines).iter().map(|w| 20.0 * w).collect();
        let before = dynamics.energy(&flow);
        let advanced = Stages::default().advance(&mut dynamics, integrator, &mut flow, 1.0 / 60.0).unwrap();
        assert!(advanced.substeps > 3 && advanced.is_solved, "{integrator:?}: {advanced:?}");
        assert!((dynamics.energy(&flow) / before - 1.0).abs() < 1e-2, "{integrator:?}");
    }
}

#[test]
fn a_run_of_many_modes_is_the_published_one() {
    let mut run = Run::new(64);
    let published = [
        (
            25,
            [-1.360_694_16, -0.881_759_09, 2.255_189_36, 1.161_839_80, -0.110_678_73],
            [1.2258e-2, 9.685e-5],
        ),
        (
            25,
            [-1.400_400_61, -1.031_176_78, 2.079_494_46, 1.070_748_63, -0.128_117_95],
            [3.6415e-2, 8.567e-4],
        ),
        (50, [-1.468_890_02, -1.294_088_29, 1.687_457_42, 0.637_100_73, 0.440_368_80], [8.1075e-2, 2.890e-3]),
    ];
    let mut truncated = [8, 12, 20].map(|most| (Run::new(most), most));
    let errors = [[1.06e-2, 3.7e-2, 0.103], [8.8e-4, 1.0e-2, 4.8e-2], [4.7e-5, 1.2e-3, 1.4e-2]];
    for (time, (steps, values, shares)) in published.into_iter().enumerate() {
        run.advance(Integrator::Rk4, 0.01, steps);
        let sines = &run.basis.sines;
        for (mode, value) in [[1, 1], [1, 2], [2, 1], [3, 3], [5, 4]].into_iter().zip(values) {
            let found = run.flow[sines.place(mode)];
            assert!((found - value).abs() < 1e-6, "{time} {mode:?}: {found}");
        }
        for (most, share) in [4, 8].into_iter().zip(shares) {
            let mut beyond = run.flow.clone();
            for (place, w) in beyond.iter_mut().enumerate() {
                if sines.half_waves(place).iter().all(|&k| k <= most) {
                    *w = 0.0;
                }
            }
            let found = energy(sines, &beyond) / energy(sines, &run.flow);
            assert!((found / share - 1.0).abs() < 1e-3, "{time} {most}: {found:e}");
        }
        for ((few, most), errors) in truncated.iter_mut().zip(&errors) {
            few.advance(Integrator::Rk4, 0.01, steps);
            let error = few.error_against(&run);
            assert!((error / errors[time] - 1.0).abs() < 0.05, "{most} {time}: {error:e}");
        }
    }
}

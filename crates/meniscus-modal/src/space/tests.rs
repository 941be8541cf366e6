use std::f64::consts::PI;

use super::{Dynamics, Mode, Modes};
use crate::flow::{self, Advection, Basis, Integrator, Stages};

const CUBE: [f64; 3] = [PI; 3];

/// Numbers of no meaning, the same each time.
fn noise(count: usize) -> Vec<f64> {
    (0..count).map(|k| ((k * k * 7 + 3 * k + 1) as f64).sin()).collect()
}

fn largest(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().fold(0.0, |most, value| most.max(value.abs()))
}

#[test]
fn there_are_two_modes_for_each_wave_and_one_if_a_number_is_zero() {
    let modes = Modes::new(CUBE, 200);
    let of = |half_waves: [usize; 3]| modes.modes.iter().filter(|mode| mode.half_waves == half_waves).count();
    assert_eq!([of([1, 1, 0]), of([0, 2, 1]), of([1, 1, 1]), of([2, 1, 3]), of([1, 0, 0])], [1, 1, 2, 2, 0]);
    let values = modes.eigenvalues();
    assert!(values.windows(2).all(|two| two[0] <= two[1]) && values[0] == 2.0);
    for mode in &modes.modes {
        let along: f64 = (0..3).map(|axis| mode.half_waves[axis] as f64 * mode.direction[axis]).sum();
        assert!(along.abs() < 1e-14, "{mode:?}");
    }
}

#[test]
fn the_energy_of_a_mode_is_that_of_the_closed_form_and_modes_are_orthogonal() {
    let modes = Modes::new(CUBE, 60);
    let (points, squares) = (16, modes.squares());
    let at = |k: usize| (k as f64 + 0.5) * PI / points as f64;
    let places: Vec<[f64; 3]> = (0..points * points * points)
        .map(|k| [at(k / points / points), at(k / points % points), at(k % points)])
        .collect();
    let unit = |k: usize| (0..60).map(|j| f64::from(u8::from(j == k))).collect::<Vec<f64>>();
    let field = |k: usize| -> Vec<[f64; 3]> {
        let flow = unit(k);
        places.iter().map(|x| modes.velocity(&flow, *x)).collect()
    };
    let some: Vec<(usize, Vec<[f64; 3]>)> = [0, 1, 2, 3, 4, 5, 17, 40, 59].map(|k| (k, field(k))).into();
    for (i, a) in &some {
        for (j, b) in &some {
            let mean: f64 =
                a.iter().zip(b).map(|(a, b)| (0..3).map(|k| a[k] * b[k]).sum::<f64>()).sum::<f64>()
                    / places.len() as f64;
            let expected = if i == j { squares[*i] / 8.0 } else { 0.0 };
            assert!((mean - expected).abs() < 1e-13, "{i} {j}: {mean} {expected}");
        }
        let mode = modes.modes[*i];
        let part = if mode.half_waves.contains(&0) { 4.0 } else { 8.0 };
        let length: f64 = mode.direction.iter().map(|a| a * a).sum();
        assert!((squares[*i] / 8.0 - length / part).abs() < 1e-15);
    }
}

#[test]
fn what_the_flow_does_to_itself_does_no_work() {
    for (size, count) in [(CUBE, 120), ([2.0, 1.0, 0.7], 77)] {
        let mut dynamics = Dynamics::new(&Modes::new(size, count));
        let flow = noise(count);
        let mut rate = vec![0.0; count];
        dynamics.rate(&flow, &mut rate);
        let terms = || (0..count).map(|k| dynamics.squares()[k] * flow[k] * rate[k]);
        assert!(terms().sum::<f64>().abs() < 1e-13 * terms().map(f64::abs).sum::<f64>());
        assert!(largest(rate.clone()) > 1e-3, "it does something");
    }
}

#[test]
fn the_rate_is_that_of_the_rotational_form() {
    // By differences of the velocity at many points.
    let modes = Modes::new([2.0, 1.0, 0.7], 30);
    let flow = noise(30);
    let mut rate = vec![0.0; 30];
    Dynamics::new(&modes).rate(&flow, &mut rate);
    let (points, h) = (12, 1e-4);
    let mut sums = vec![0.0; 30];
    for k in 0..points * points * points {
        let at = [k / points / points, k / points % points, k % points];
        let x: [f64; 3] =
            std::array::from_fn(|a| (f64::from(at[a]) + 0.5) * modes.size[a] / f64::from(points));
        let slope = |axis: usize, of: usize| {
            let moved = |way: f64| {
                let mut y = x;
                y[axis] += way;
                modes.velocity(&flow, y)[of]
            };
            (moved(h) - moved(-h)) / (2.0 * h)
        };
        let vorticity = [slope(1, 2) - slope(2, 1), slope(2, 0) - slope(0, 2), slope(0, 1) - slope(1, 0)];
        let force = meniscus_core::vector::cross(modes.velocity(&flow, x), vorticity);
        for (mode, sum) in sums.iter_mut().enumerate() {
            let unit: Vec<f64> = (0..30).map(|j| f64::from(u8::from(j == mode))).collect();
            *sum += meniscus_core::vector::dot(force, modes.velocity(&unit, x));
        }
    }
    for ((sum, square), rate) in sums.iter().zip(modes.squares()).zip(&rate) {
        let expected = sum / f64::from(points * points * points) / (square / 8.0);
        assert!((rate - expected).abs() < 1e-5 * largest(sums.clone()).max(1.0), "{rate} {expected}");
    }
}

#[test]
fn the_energy_is_kept_for_long() {
    let modes = Modes::new(CUBE, 60);
    for (integrator, gate) in [(Integrator::Conserving, 1e-12), (Integrator::Midpoint, 1e-11)] {
        let (mut dynamics, mut stages) = (Dynamics::new(&modes), Stages::default());
        let mut flow = noise(60);
        let scale = dynamics.energy(&flow).sqrt();
        flow.iter_mut().for_each(|c| *c *= 1.5 / scale);
        let (before, mut put_back) = (dynamics.energy(&flow), 0.0);
        for _ in 0..10_000 {
            let advanced = stages.advance(&mut dynamics, integrator, &mut flow, 0.02).expect("slow");
            assert!(advanced.is_solved && advanced.substeps == 1, "{advanced:?}");
            put_back += advanced.put_back[0].abs();
        }
        assert!((dynamics.energy(&flow) / before - 1.0).abs() < gate, "{integrator:?}");
        assert!(put_back < 0.02 * before, "{put_back}");
    }
}

#[test]
fn a_flow_in_planes_is_that_of_the_plane() {
    let basis = Basis::new([2.0, 1.0], 14);
    let mut modes = Modes::new([2.0, 1.0, 0.5], 200);
    modes.modes.retain(|Mode { half_waves: [k, l, m], .. }| *m > 0 || basis.eigenmodes.contains(&[*k, *l]));
    let count = modes.len();
    let place = |k: &[usize; 2]| {
        modes.modes.iter().position(|mode| mode.half_waves == [k[0], k[1], 0]).expect("among the lowest")
    };
    let mut plane = noise(14);
    let mut space = vec![0.0; count];
    for (k, c) in basis.eigenmodes.iter().zip(&plane) {
        space[place(k)] = *c;
    }
    assert!(count > 40);
    let (mut in_plane, mut in_space) = (flow::Dynamics::new(&basis), Dynamics::new(&modes));
    for _ in 0..50 {
        let advance = |stages: &mut Stages, dynamics: &mut flow::Dynamics, flow: &mut [f64]| {
            stages.advance(dynamics, Integrator::Rk4, flow, 0.01).expect("slow")
        };
        advance(&mut Stages::default(), &mut in_plane, &mut plane);
        Stages::default().advance(&mut in_space, Integrator::Rk4, &mut space, 0.01).expect("slow");
    }
    for (k, c) in basis.eigenmodes.iter().zip(&plane) {
        assert!((space[place(k)] - c).abs() < 1e-13 * largest(plane.clone()), "{k:?}");
    }
    let others = (0..count).filter(|&k| modes.modes[k].half_waves[2] > 0).map(|k| space[k]);
    assert!(largest(others) < 1e-14 * largest(plane));
}

#[test]
fn a_wave_turns_about_its_axis() {
    let modes = Modes::new([2.0, 1.0, 0.7], 80);
    let flow = modes.wave([1, 1, 0], [0.0, 0.0, 1.0], 3.0).expect("among the lowest");
    assert_eq!(flow.iter().filter(|c| **c != 0.0).count(), 1);
    assert!(
        (modes.velocity(&flow, [1.0, 0.2, 0.3])[0] - 3.0 * PI / (1.25 * PI * PI) * (0.2 * PI).cos()).abs()
            < 1e-12
    );
    let flow = modes.wave([1, 1, 1], [1.0, 2.0, 0.0], 3.0).expect("among the lowest");
    let amplitude: f64 = modes.modes.iter().zip(&flow).map(|(_, c)| c * c).sum();
    assert!((amplitude - 9.0).abs() < 1e-12, "{amplitude}");
    assert!(modes.wave([1, 1, 0], [1.0, 0.0, 0.0], 3.0).is_none(), "nothing turns");
    assert!(modes.wave([9, 9, 9], [1.0, 0.0, 0.0], 3.0).is_none(), "no such mode");
}

#[test]
fn nothing_flows_into_cells_nor_through_sides() {
    let modes = Modes::new([2.0, 1.0, 0.7], 50);
    let flow = noise(50);
    let cells = [8, 5, 4];
    let faces: [Vec<f64>; 3] = std::array::from_fn(|axis| modes.through_faces(&flow, axis, cells));
    let at = |axis: usize, [i, j, k]: [usize; 3]| {
        let mut counts = cells;
        counts[axis] += 1;
        faces[axis][(i * counts[1] + j) * counts[2] + k]
    };
    let edges: [f64; 3] = std::array::from_fn(|axis| modes.size[axis] / cells[axis] as f64);
    for i in 0..8 {
        for j in 0..5 {
            for k in 0..4 {
                let sum: f64 = (0..3)
                    .map(|axis| {
                        let mut next = [i, j, k];
                        next[axis] += 1;
                        (at(axis, next) - at(axis, [i, j, k])) / edges[axis]
                    })
                    .sum();
                assert!(sum.abs() < 1e-11, "{sum}");
                assert!(at(0, [0, j, k]).abs() < 1e-12 && at(1, [i, 5, k]).abs() < 1e-12);
            }
        }
    }
}

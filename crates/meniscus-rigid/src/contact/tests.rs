//! Piles of discs in a liquid that is known in full: what resists their motions is a matrix.

use super::*;
use crate::motion::Twist;

const RADIUS: f64 = 0.08;
/// Degrees of freedom of a disc.
const DOFS: usize = 3;

/// Numbers between -1 and 1 that follow from a seed.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as f64 / f64::from(1u32 << 30) - 1.0
    }
}

/// A pile between two walls.
struct Pile {
    bodies: Vec<Inertial<2>>,
    touches: Vec<Touch<2>>,
    /// What resists the motions of the discs, row by row, and the velocities that the liquid would give them.
    added: Vec<Vec<f64>>,
    flow: Vec<f64>,
}

impl Pile {
    /// Discs of a tenth to ten times the density of the liquid that have fallen on each other, with random velocities.
    fn new(count: usize, friction: f64, seed: u64) -> Self {
        let mut noise = Noise(seed.wrapping_mul(7919) + 17);
        let width = 2.04 * RADIUS * (count as f64).sqrt();
        let mut centres: Vec<[f64; 2]> = Vec::new();
        for _ in 0..count {
            let places = (0..40).map(|_| {
                let x = RADIUS + (0.5 + 0.5 * noise.next()) * (width - 2.0 * RADIUS);
                let above = centres.iter().map(|c| ((x - c[0]).abs(), c[1])).filter(|c| c.0 < 2.0 * RADIUS);
                [x, above.map(|(d, y)| y + (4.0 * RADIUS * RADIUS - d * d).sqrt()).fold(RADIUS, f64::max)]
            });
            let lowest = places.min_by(|a, b| a[1].total_cmp(&b[1])).expect("40 places");
            centres.push(lowest);
        }
        let area = std::f64::consts::PI * RADIUS * RADIUS;
        let body = |&centre: &[f64; 2]| {
            let mass_of_disc = area * 10f64.powf(noise.next());
            let mut mass = [[0.0; 6]; 6];
            (mass[0][0], mass[1][1]) = (mass_of_disc, mass_of_disc);
            mass[2][2] = 0.5 * mass_of_disc * RADIUS * RADIUS;
            let velocity = [0.3 * noise.next(), 0.3 * noise.next() - 0.1, 2.0 * noise.next(), 0.0, 0.0, 0.0];
            Inertial { centre, mass, velocity }
        };
        let bodies: Vec<Inertial<2>> = centres.iter().map(body).collect();
        let mut added = vec![vec![0.0; DOFS * count]; DOFS * count];
        for (i, row) in added.iter_mut().enumerate() {
            row[i] = if i % DOFS == 2 { 1e-4 * area * RADIUS * RADIUS } else { 1.3 * area };
        }
        for _ in 0..3 * count {
            let mut pick = || (0.5 + 0.5 * noise.next()).min(0.999) * count as f64;
            let [a, b] = [pick() as usize, pick() as usize].map(|body| DOFS * body);
            let motion = [a, a + 1, b, b + 1].map(|dof| (dof, noise.next()));
            for (i, x) in motion {
                motion.iter().for_each(|&(j, y)| added[i][j] += 0.5 * area * x * y);
            }
        }
        let flow = (0..DOFS * count).map(|i| if i % DOFS == 2 { 0.0 } else { 0.3 * noise.next() }).collect();
        Self { touches: touches(&centres, width, friction), bodies, added, flow }
    }

    /// What pressures push where the bodies move by `pressing`, with an error of this size.
    fn push(&self, pressing: &Pressing, noise: &mut Noise, error: f64) -> Vec<Twist> {
        let n = self.flow.len();
        let mut compliance = vec![vec![0.0; n]; n];
        for group in &pressing.compliance {
            for (&i, row) in group.dofs.iter().zip(group.matrix.chunks_exact(group.dofs.len())) {
                group.dofs.iter().zip(row).for_each(|(&j, &w)| compliance[i][j] = w);
            }
        }
        // V = V_h + W H (flow - V).
        let mut matrix = vec![vec![0.0; n]; n];
        let mut velocity: Vec<f64> = (0..n).map(|i| pressing.velocity[i / DOFS][i % DOFS]).collect();
        for i in 0..n {
            for j in 0..n {
                let value: f64 = (0..n).map(|k| compliance[i][k] * self.added[k][j]).sum();
                matrix[i][j] = value + f64::from(u8::from(i == j));
                velocity[i] += value * self.flow[j];
            }
        }
        solve(&mut matrix, &mut velocity);
        let mut push = vec![[0.0; 6]; self.bodies.len()];
        for i in 0..n {
            let exact: f64 = (0..n).map(|j| self.added[i][j] * (self.flow[j] - velocity[j])).sum();
            push[i / DOFS][i % DOFS] = exact * (1.0 + error * noise.next());
        }
        push
    }

    /// The kinetic energy of the discs and of the liquid.
    fn energy(&self, velocity: &[Twist], flow: &[f64]) -> f64 {
        let of_body =
            |(body, v): (&Inertial<2>, &Twist)| (0..DOFS).map(|i| body.mass[i][i] * v[i] * v[i]).sum::<f64>();
        let of_liquid = |i: usize| flow[i] * self.added[i].iter().zip(flow).map(|(h, f)| h * f).sum::<f64>();
        let bodies: f64 = self.bodies.iter().zip(velocity).map(of_body).sum();
        0.5 * (bodies + (0..flow.len()).map(of_liquid).sum::<f64>())
    }
}

fn touches(centres: &[[f64; 2]], width: f64, friction: f64) -> Vec<Touch<2>> {
    let mut touches = Vec::new();
    let mut add = |body: usize, other: Option<usize>, normal: [f64; 2], gap: f64| {
        let point = std::array::from_fn(|a| centres[body][a] - normal[a] * (RADIUS + 0.5 * gap));
        if gap < 0.006 {
            touches.push(Touch { body, other, point, normal, gap, velocity: [0.0; 2], friction });
        }
    };
    for (body, centre) in centres.iter().enumerate() {
        for (other, beside) in centres[..body].iter().enumerate() {
            let way = [centre[0] - beside[0], centre[1] - beside[1]];
            let length = way[0].hypot(way[1]);
            add(body, Some(other), way.map(|w| w / length), length - 2.0 * RADIUS);
        }
        add(body, None, [0.0, 1.0], centre[1] - RADIUS);
        add(body, None, [1.0, 0.0], centre[0] - RADIUS);
        add(body, None, [-1.0, 0.0], width - centre[0] - RADIUS);
    }
    touches
}

/// Gauss's elimination, with pivots.
fn solve(a: &mut [Vec<f64>], b: &mut [f64]) {
    let n = b.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).expect("a row");
        a.swap(k, pivot);
        b.swap(k, pivot);
        let (above, below) = a.split_at_mut(k + 1);
        for (i, row) in below.iter_mut().enumerate() {
            let factor = row[k] / above[k][k];
            row.iter_mut().zip(&above[k]).skip(k).for_each(|(x, y)| *x -= factor * y);
            b[k + 1 + i] -= factor * b[k];
        }
    }
    for k in (0..n).rev() {
        b[k] = (b[k] - (k + 1..n).map(|j| a[k][j] * b[j]).sum::<f64>()) / a[k][k];
    }
}

/// However little is known of what resists, all is found: nothing moves into another, and energy does not grow.
#[test]
fn what_presses_in_a_pile_is_found() {
    let mut most = 0;
    for (seed, count) in [3, 6, 12, 20].into_iter().flat_map(|count| (0..12).map(move |seed| (seed, count))) {
        for friction in [0.0, 0.3, 1.0] {
            for known in [1.0, 0.05, 0.001] {
                let pile = Pile::new(count, friction, seed);
                let mut noise = Noise(seed);
                let inverse = |body: &Inertial<2>| {
                    let mut inverse = vec![0.0; DOFS * DOFS];
                    (0..DOFS).for_each(|i| inverse[i * (DOFS + 1)] = 1.0 / body.mass[i][i]);
                    (inverse, body.velocity)
                };
                let free: Vec<(Vec<f64>, Twist)> = pile.bodies.iter().map(inverse).collect();
                let last: Vec<Twist> = pile.bodies.iter().map(|body| body.velocity).collect();
                let dt = 0.01;
                let mut bodies = Bodies {
                    islands: islands(&pile.bodies, &pile.touches, 1e-3, dt, 1.0),
                    free: &free,
                    last: &last,
                    added: pile.added.iter().flatten().map(|h| known * h).collect(),
                    rest: 0.0,
                };
                let nothing = vec![[0.0; 6]; count];
                let settled = bodies.settle(&nothing, |pressing| {
                    let error = if pressing.is_loose { 1e-2 } else { 1e-6 };
                    Ok::<_, ()>(pile.push(pressing, &mut noise, error))
                });
                let settled = settled.expect("no error");
                let what = format!("{count} discs, friction {friction}, {known} known, seed {seed}");
                assert!(settled.is_settled, "{what}");
                most = most.max(settled.rounds);
                for touch in &pile.touches {
                    let along = |body: usize| {
                        let (v, c) = (settled.velocity[body], pile.bodies[body].centre);
                        let arm = [touch.point[0] - c[0], touch.point[1] - c[1]];
                        touch.normal[0] * (v[0] - v[2] * arm[1]) + touch.normal[1] * (v[1] + v[2] * arm[0])
                    };
                    let apart = along(touch.body) - touch.other.map_or(0.0, along);
                    assert!(apart > -touch.gap.max(0.0) / dt - 1e-3, "{what}: {apart} m/s at {touch:?}");
                }
                let after: Vec<f64> = settled.velocity.iter().flat_map(|v| v[..DOFS].to_vec()).collect();
                let [before, after] =
                    [pile.energy(&last, &pile.flow), pile.energy(&settled.velocity, &after)];
                assert!(after <= before, "{what}: {after} of {before} J");
            }
        }
    }
    assert!(most <= 14, "{most} rounds");
}

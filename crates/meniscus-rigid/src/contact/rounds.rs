//! The rounds that find which contacts press.

use meniscus_linalg::Compliance;

use super::dense::{dot, multiply};
use super::island::{Friction, Island};
use super::quadratic::Place;
use crate::motion::Twist;

/// Rounds in which all is asked for, and at most.
const STRICT_ROUNDS: usize = 20;
const ROUNDS: usize = 30;
/// Rounds in which the bounds of friction follow what presses.
const FRICTION_ROUNDS: usize = 5;
/// Rounds whose pressures need not be exact.
const LOOSE_ROUNDS: usize = 2;
/// Velocities at contacts that differ by less than this part of the largest before contact are the same: ten times the tolerance of solves. Less costs rounds.
const SAME: f64 = 1e-4;
/// Impulses of contacts that slide that differ by less than this part of the largest impulse are the same. Less costs rounds for friction that nobody sees.
const SAME_IMPULSE: f64 = 0.001;

/// What a round has to solve: the bodies move by `velocity` + `compliance` times what pressures push.
pub struct Pressing {
    /// The matrix of all bodies.
    pub compliance: Vec<Compliance>,
    /// Their velocities without pressure.
    pub velocity: Vec<Twist>,
    /// Whether this is a guess that another one will follow.
    pub is_loose: bool,
}

/// How the rounds ended.
pub struct Settled {
    /// The velocities of all bodies.
    pub velocity: Vec<Twist>,
    /// The velocities that bodies keep until they hit what they do not touch yet, of those that will be slowed down there.
    pub until_hit: Vec<Option<Twist>>,
    /// How many rounds there were.
    pub rounds: usize,
    /// Whether the last round changed nothing.
    pub is_settled: bool,
}

/// All bodies, some of which touch.
pub struct Bodies<'a> {
    /// Those that touch.
    pub islands: Vec<Island>,
    /// The inverse masses of all bodies, and their velocities before pressure and contact.
    pub free: &'a [(Vec<f64>, Twist)],
    /// Their velocities at the end of the last step.
    pub last: &'a [Twist],
    /// What resists their motions beside their masses, in all degrees of freedom, row by row.
    pub added: Vec<f64>,
    /// What meets more slowly, in m/s, does not hit.
    pub rest: f64,
}

impl Bodies<'_> {
    /// Finds which contacts press. `push` is what pressures push the bodies with at first, as a guess, and `solve` tells it for a round.
    pub fn settle<E>(
        &mut self,
        push: &[Twist],
        mut solve: impl FnMut(&Pressing) -> Result<Vec<Twist>, E>,
    ) -> Result<Settled, E> {
        for k in 0..self.islands.len() {
            self.guess(k, push, self.last, Friction::Follows);
        }
        let mut is_loose = false;
        let mut before: Option<(Vec<f64>, Vec<f64>)> = None;
        for round in 1..=ROUNDS {
            let pressing = self.pressing(is_loose);
            let push = solve(&pressing)?;
            let velocity = self.pushed(&pressing, &push);
            let now = (self.flat(&velocity), self.flat(&push));
            if let Some((velocity, push)) = before.replace(now.clone()) {
                self.learn(&difference(&now.0, &velocity), &difference(&push, &now.1));
            }
            let friction = if round <= FRICTION_ROUNDS {
                Friction::Follows
            } else if round <= STRICT_ROUNDS {
                Friction::Stays
            } else {
                Friction::Gone
            };
            let mut is_same = true;
            for k in 0..self.islands.len() {
                is_same &= self.guess(k, &push, &velocity, friction);
            }
            if is_same && !is_loose || round == ROUNDS {
                let until_hit = self.until_hit(&push, &velocity);
                let is_settled = is_same && !is_loose && round <= STRICT_ROUNDS;
                return Ok(Settled { velocity, until_hit, rounds: round, is_settled });
            }
            is_loose = !is_same && round < LOOSE_ROUNDS;
        }
        unreachable!("the last round returns")
    }

    /// Makes the next guess of an island; whether it is the same as before.
    fn guess(&mut self, island: usize, push: &[Twist], velocity: &[Twist], friction: Friction) -> bool {
        let added = self.added_to(&self.islands[island]);
        let island = &mut self.islands[island];
        let (push, velocity) = (island.part(push), island.part(velocity));
        let (places, impulses) = (island.places.clone(), island.impulses.clone());
        let next = island.guess(&push, &velocity, &added, friction);
        let change: Vec<f64> = next.iter().zip(&velocity).map(|(a, b)| a - b).collect();
        let most = impulses.iter().chain(&island.impulses).fold(0.0f64, |most, x| most.max(x.abs()));
        let slides_alike = (0..places.len()).all(|k| {
            island.places[k] == Place::Between
                || (island.impulses[k] - impulses[k]).abs() <= SAME_IMPULSE * most
        });
        (island.places == places && slides_alike) || island.fastest(&change) <= SAME * island.fastest_before()
    }

    fn count(&self) -> usize {
        self.free.first().map_or(0, |(inverse, _)| inverse.len().isqrt())
    }

    fn pressing(&self, is_loose: bool) -> Pressing {
        let count = self.count();
        let mut velocity: Vec<Twist> = self.free.iter().map(|(_, velocity)| *velocity).collect();
        let mut is_alone = vec![true; self.free.len()];
        let mut compliance = Vec::new();
        for island in &self.islands {
            let eliminated = island.eliminated();
            island.write(&eliminated.velocity, &mut velocity);
            compliance.push(eliminated.compliance);
            island.bodies.iter().for_each(|&body| is_alone[body] = false);
        }
        for (body, (inverse, _)) in self.free.iter().enumerate().filter(|(body, _)| is_alone[*body]) {
            let dofs = (body * count..(body + 1) * count).collect();
            compliance.push(Compliance { dofs, matrix: inverse.clone() });
        }
        Pressing { compliance, velocity, is_loose }
    }

    /// The velocities of all bodies after pressures have pushed them.
    fn pushed(&self, pressing: &Pressing, push: &[Twist]) -> Vec<Twist> {
        let count = self.count();
        let mut velocity = pressing.velocity.clone();
        for Compliance { dofs, matrix } in &pressing.compliance {
            for (&dof, row) in dofs.iter().zip(matrix.chunks_exact(dofs.len())) {
                let value: f64 =
                    dofs.iter().zip(row).map(|(&other, w)| w * push[other / count][other % count]).sum();
                velocity[dof / count][dof % count] += value;
            }
        }
        velocity
    }

    /// Learns what resists from two rounds: between them `velocity` changed and pressures resisted by `push`. The inverse of what is known is changed by the least that
    /// agrees with that (Broyden, Fletcher, Goldfarb, Shanno), and so stays symmetric and positive.
    fn learn(&mut self, velocity: &[f64], push: &[f64]) {
        let n = velocity.len();
        let known = multiply(&self.added, velocity);
        let (told, by_now) = (dot(push, velocity), dot(&known, velocity));
        if told <= 0.0 || by_now <= 0.0 {
            return;
        }
        for i in 0..n {
            for j in 0..n {
                self.added[i * n + j] += push[i] * push[j] / told - known[i] * known[j] / by_now;
            }
        }
    }

    /// Vectors of all bodies in all degrees of freedom.
    fn flat(&self, twists: &[Twist]) -> Vec<f64> {
        twists.iter().flat_map(|twist| &twist[..self.count()]).copied().collect()
    }

    /// What resists the motions of an island beside its masses.
    fn added_to(&self, island: &Island) -> Vec<f64> {
        let all = self.free.len() * self.count();
        let dofs = island.dofs();
        let places = dofs.iter().flat_map(|&i| dofs.iter().map(move |&j| i * all + j));
        places.map(|at| self.added[at]).collect()
    }

    /// The velocities until bodies hit what they do not touch yet. Their masses do not tell these: the liquid that moves with a light body is most of what is stopped.
    fn until_hit(&self, push: &[Twist], velocity: &[Twist]) -> Vec<Option<Twist>> {
        let mut all = velocity.to_vec();
        let mut until = vec![None; velocity.len()];
        for island in &self.islands {
            let (push, velocity) = (island.part(push), island.part(velocity));
            let Some(found) = island.until_hit(&push, &velocity, &self.added_to(island), self.rest) else {
                continue;
            };
            island.write(&found, &mut all);
            island.bodies.iter().for_each(|&body| until[body] = Some(all[body]));
        }
        until
    }
}

fn difference(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

//! Hits between bodies in fluid: what stops a body stops the fluid that comes with it.
//!
//! An impulse J at the points where bodies meet changes their velocities there by W J, where W is what impulses do to all of them through the fluid. Normal impulses push until bodies part
//! with the restitution as a part of the speed at which they met; friction takes the velocity along away, as far as its coefficient times the normal impulse can. The energy then changes by
//! ½ J (u + u'), with the velocities u before and u' after: by nothing at contacts that bounce fully and stick. Where it would grow all the same, as it can where an impulse along one
//! contact makes another one slip, there is less friction.

use faer::Mat;

use crate::course::Hit;
use crate::panels::Motion;

/// Sweeps over all hits, at most.
const SWEEPS: usize = 2000;
/// Until no velocity changes by more than this part of the fastest that met.
const PRECISION: f64 = 1e-12;
/// Halvings of what friction may do, where it would make energy.
const HALVINGS: u32 = 8;

/// What bodies that met are about to do.
pub struct Impact<'a> {
    /// Their numbers.
    pub members: &'a [usize],
    /// What an impulse on each does to the velocities of all, in groups of three.
    pub mobility: &'a Mat<f64>,
    /// Their velocities without the hits.
    pub without: &'a [Motion],
    /// How these change in a second.
    pub acceleration: &'a [Motion],
    /// The time of the step, in s.
    pub dt: f64,
    /// What meets more slowly does not bounce, in m/s.
    pub rest: f64,
}

/// A direction of a hit: what impulses along it are, and what velocities.
struct Row {
    /// For each body that it is about its part of the velocity.
    parts: Vec<(usize, Motion)>,
    /// By what an impulse along it changes velocities of all.
    answer: Vec<f64>,
    /// The velocity along it without hits.
    without: f64,
}

impl Row {
    fn velocity(&self, motions: &[f64]) -> f64 {
        self.parts.iter().flat_map(|(k, part)| part.iter().zip(&motions[3 * k..])).map(|(a, b)| a * b).sum()
    }
}

impl Impact<'_> {
    /// The impulses of the hits, by body.
    pub fn impulses(&self, hits: &[Hit]) -> Vec<(usize, Motion)> {
        let rows: Vec<[Row; 2]> = hits.iter().map(|hit| self.rows(hit)).collect();
        let goals: Vec<f64> =
            hits.iter().zip(&rows).map(|(hit, [normal, _])| self.goal(hit, normal)).collect();
        let mut solved = Vec::new();
        for halvings in 0..=HALVINGS {
            let friction = if halvings == HALVINGS { 0.0 } else { 0.5f64.powi(halvings as i32) };
            solved = self.solve(hits, &rows, &goals, friction);
            if self.energy(&rows, &solved) <= 0.0 {
                break;
            }
        }
        let mut impulses = vec![[0.0; 3]; self.members.len()];
        for (row, size) in rows.iter().flatten().zip(&solved) {
            for (k, part) in &row.parts {
                impulses[*k].iter_mut().zip(part).for_each(|(to, part)| *to += size * part);
            }
        }
        self.members.iter().copied().zip(impulses).collect()
    }

    /// The normal of a hit, and along it.
    fn rows(&self, hit: &Hit) -> [Row; 2] {
        let [nx, ny] = hit.normal;
        [[nx, ny], [-ny, nx]].map(|[x, y]| {
            let part = |body: usize, [p, q]: [f64; 2], sign: f64| {
                let place = self.members.binary_search(&body).expect("a body that was hit");
                (place, [sign * x, sign * y, sign * (p * y - q * x)])
            };
            let other = hit.other.map(|other| part(other, hit.arms[1], -1.0));
            let parts: Vec<(usize, Motion)> =
                [part(hit.body, hit.arms[0], 1.0)].into_iter().chain(other).collect();
            let answer = (0..self.mobility.nrows()).map(|i| {
                let of_part = |(k, part): &(usize, Motion)| -> f64 {
                    (0..3).map(|d| self.mobility[(i, 3 * k + d)] * part[d]).sum()
                };
                parts.iter().map(of_part).sum()
            });
            let answer = answer.collect();
            let own: f64 = parts.iter().map(|(k, part)| dot(*part, self.without[*k])).sum();
            let of_other = if hit.other.is_none() { x * hit.velocity[0] + y * hit.velocity[1] } else { 0.0 };
            Row { parts, answer, without: own - of_other }
        })
    }

    /// The velocity at which the two are to part at least. What happened to them since they met happened in the other direction too.
    fn goal(&self, hit: &Hit, normal: &Row) -> f64 {
        let since: f64 = normal.parts.iter().map(|(k, part)| dot(*part, self.acceleration[*k])).sum();
        let since = since * hit.left * self.dt;
        let met = since - normal.without;
        if met > self.rest { (hit.restitution * met + since).max(0.0) } else { 0.0 }
    }

    /// The impulses along all rows, with a part of the friction.
    fn solve(&self, hits: &[Hit], rows: &[[Row; 2]], goals: &[f64], friction: f64) -> Vec<f64> {
        let mut solved = vec![0.0; 2 * hits.len()];
        let mut change = vec![0.0; self.mobility.nrows()];
        let fastest = rows.iter().flatten().map(|row| row.without.abs()).fold(0.0, f64::max);
        for _ in 0..SWEEPS {
            let mut largest: f64 = 0.0;
            for (((hit, rows), goal), solved) in hits.iter().zip(rows).zip(goals).zip(solved.chunks_mut(2)) {
                for (which, row) in rows.iter().enumerate() {
                    let softness = row.velocity(&row.answer);
                    let goal = if which == 0 { *goal } else { 0.0 };
                    let wanted = solved[which] + (goal - row.without - row.velocity(&change)) / softness;
                    let most = friction * hit.friction * solved[0];
                    let allowed = if which == 0 { wanted.max(0.0) } else { wanted.clamp(-most, most) };
                    let more = allowed - solved[which];
                    solved[which] = allowed;
                    change.iter_mut().zip(&row.answer).for_each(|(to, answer)| *to += more * answer);
                    largest = largest.max((more * softness).abs());
                }
            }
            if largest <= PRECISION * fastest {
                break;
            }
        }
        solved
    }

    /// What these impulses change of the energy, as those see it whom bodies hit; less what is rounding.
    fn energy(&self, rows: &[[Row; 2]], solved: &[f64]) -> f64 {
        let mut change = vec![0.0; self.mobility.nrows()];
        for (row, size) in rows.iter().flatten().zip(solved) {
            change.iter_mut().zip(&row.answer).for_each(|(to, answer)| *to += size * answer);
        }
        let of_row = |(row, size): (&Row, &f64)| size * (row.without + 0.5 * row.velocity(&change));
        let work = |(row, size): (&Row, &f64)| (size * row.without).abs();
        let all = || rows.iter().flatten().zip(solved);
        all().map(of_row).sum::<f64>() - 1e-9 * all().map(work).sum::<f64>()
    }
}

fn dot(a: Motion, b: Motion) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

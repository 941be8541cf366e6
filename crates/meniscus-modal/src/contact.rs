//! Bodies that touch: contact as a part of the solve for what moves them.
//!
//! What an impulse at one body does to the velocities of all of them, through the fluid, is found by a solve for each direction of each body that touches. That matrix takes the
//! place of the masses, and so bodies that touch feel the fluid together.

use faer::Mat;
use faer::linalg::solvers::{DenseSolveCore, Solve};
use meniscus_rigid::{Bodies, Inertial, Pressing, SIZE, Settled, Touch, Twist, islands};

use crate::course::{Course, Hit, Touching};
use crate::error::StepError;
use crate::find::{ROUGH, find};
use crate::impact::Impact;
use crate::panels::{Drive, Immersed, Influence, Motion, Solution};
use crate::params::Forces;
use crate::state::BodyState;

/// How contacts went.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contacts {
    /// Points where bodies touch, or may do so soon.
    pub touches: usize,
    /// Those that press.
    pub pressing: usize,
    /// Whether those that press were found.
    pub is_settled: bool,
}

impl Default for Contacts {
    fn default() -> Self {
        Self { touches: 0, pressing: 0, is_settled: true }
    }
}

/// Impulses at each body.
pub struct Impulses {
    /// By what contacts change the momenta of bodies, by their numbers.
    pub of_body: Vec<(usize, Motion)>,
    /// How that went.
    pub contacts: Contacts,
}

/// Finds what contacts change of the momenta of bodies, which have velocities without that; `last` are those of the step before.
pub fn press(
    immersed: &Immersed,
    influence: &Influence,
    courses: &[Course],
    bodies: &[BodyState],
    last: &[Motion],
    touching: &Touching,
    dt: f64,
) -> Result<Impulses, StepError> {
    let touching_bodies = touching.touches.iter().flat_map(|touch| [Some(touch.body), touch.other]);
    let mut members: Vec<usize> = touching_bodies.flatten().collect();
    members.sort_unstable();
    members.dedup();
    let inertia = inertia(immersed, influence, courses, &members)?;
    let place = |body: usize| members.binary_search(&body).expect("a body that touches");
    let touches: Vec<Touch<2>> = touching
        .touches
        .iter()
        .map(|touch| {
            // What has just come, and has not yet been struck, comes in the next step: its velocity is not to be lost.
            let is_new = approach(touch, bodies) > touching.rest && touch.gap <= touching.near;
            let gap = if is_new { 2.0 * touching.near } else { touch.gap };
            Touch { body: place(touch.body), other: touch.other.map(place), gap, ..*touch }
        })
        .collect();
    let masses: Vec<Motion> = members.iter().map(|&body| immersed.bodies()[body].masses()).collect();
    let free: Vec<(Vec<f64>, Twist)> = members
        .iter()
        .zip(&masses)
        .map(|(&body, mass)| {
            (diagonal(mass.map(|m| 1.0 / m)).into_iter().flatten().collect(), twist(bodies[body].motion))
        })
        .collect();
    let inertials: Vec<Inertial<2>> = members
        .iter()
        .zip(&masses)
        .map(|(&body, mass)| {
            let mut matrix = [[0.0; SIZE]; SIZE];
            (0..3).for_each(|k| matrix[k][k] = mass[k]);
            Inertial { centre: bodies[body].pose.centre, mass: matrix, velocity: twist(bodies[body].motion) }
        })
        .collect();
    let n = 3 * members.len();
    // What resists beside the bodies' own masses: the fluid.
    let fluid = Mat::from_fn(n, n, |i, j| inertia[(i, j)] - if i == j { masses[i / 3][i % 3] } else { 0.0 });
    let added = (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).map(|at| fluid[at]).collect();
    let last: Vec<Twist> = members.iter().map(|&body| twist(last[body])).collect();
    let without: Vec<f64> = members.iter().flat_map(|&body| bodies[body].motion).collect();
    let mut all = Bodies {
        islands: islands(&inertials, &touches, touching.near, dt, 1.0),
        free: &free,
        last: &last,
        added,
        rest: touching.rest,
    };
    let still = vec![[0.0; SIZE]; members.len()];
    let settled = all.settle(&still, |pressing| Ok::<_, StepError>(push(pressing, &fluid, &without)))?;
    let Settled { velocity, until_hit, is_settled, .. } = settled;
    // What will hit keeps its velocity until then.
    let wanted = |i: usize| until_hit[i / 3].unwrap_or(velocity[i / 3])[i % 3];
    let change: Vec<f64> = (0..n).map(|i| wanted(i) - without[i]).collect();
    let pressing = all.islands.iter().map(|island| island.pressing()).sum();
    let contacts = Contacts { touches: touches.len(), pressing, is_settled };
    Ok(Impulses { of_body: impulses(&inertia, &members, &change), contacts })
}

/// What changes the momenta of bodies that hit something: those of the hits at which things met fast, and of what else presses on these bodies. They have velocities without that, after a step in
/// which these changed.
pub fn strike(
    immersed: &Immersed,
    influence: &Influence,
    courses: &[Course],
    hits: &[Hit],
    (without, acceleration): (&[Motion], &[Motion]),
    (dt, rest, forces): (f64, f64, Forces),
) -> Result<Vec<(usize, Motion)>, StepError> {
    let members = bodies_of_hits(hits, rest);
    let hits: Vec<Hit> =
        hits.iter().copied().filter(|hit| members.binary_search(&hit.body).is_ok()).collect();
    let mobility = match forces {
        Forces::Potential => mobility(immersed, influence, courses, &members)?,
        // Nothing is known of what bodies take along.
        Forces::Paper => {
            let mass = |i: usize| immersed.bodies()[members[i / 3]].masses()[i % 3];
            let n = 3 * members.len();
            Mat::from_fn(n, n, |i, j| if i == j { 1.0 / mass(i) } else { 0.0 })
        }
    };
    let [without, acceleration] =
        [without, acceleration].map(|all| members.iter().map(|&body| all[body]).collect::<Vec<Motion>>());
    let (without, acceleration) = (&without[..], &acceleration[..]);
    let impact = Impact { members: &members, mobility: &mobility, without, acceleration, dt, rest };
    Ok(impact.impulses(&hits))
}

/// The bodies that met something fast, and those that press on them.
fn bodies_of_hits(hits: &[Hit], rest: f64) -> Vec<usize> {
    let both = |hit: &Hit| [Some(hit.body), hit.other].into_iter().flatten();
    let mut members: Vec<usize> = hits.iter().filter(|hit| hit.speed > rest).flat_map(both).collect();
    loop {
        members.sort_unstable();
        members.dedup();
        let is_member = |body: usize| members.binary_search(&body).is_ok();
        let tied = hits.iter().flat_map(|hit| both(hit).filter(|_| both(hit).any(is_member)));
        let more: Vec<usize> = tied.filter(|body| !is_member(*body)).collect();
        if more.is_empty() {
            return members;
        }
        members.extend(more);
    }
}

/// The impulses that change velocities, by body.
fn impulses(inertia: &Mat<f64>, members: &[usize], change: &[f64]) -> Vec<(usize, Motion)> {
    let impulses = inertia * &Mat::from_fn(change.len(), 1, |i, _| change[i]);
    let of_body = |(k, &body): (usize, &usize)| (body, [0, 1, 2].map(|d| impulses[(3 * k + d, 0)]));
    members.iter().enumerate().map(of_body).collect()
}

/// How fast two come nearer to each other where they touch.
fn approach(touch: &Touch<2>, bodies: &[BodyState]) -> f64 {
    let along = |body: usize| {
        let BodyState { pose, motion: [u, v, spin] } = bodies[body];
        let [x, y] = [0, 1].map(|axis| touch.point[axis] - pose.centre[axis]);
        touch.normal[0] * (u - spin * y) + touch.normal[1] * (v + spin * x)
    };
    let [nx, ny] = touch.normal;
    let of_other = touch.other.map_or_else(|| nx * touch.velocity[0] + ny * touch.velocity[1], along);
    of_other - along(touch.body)
}

/// What the fluid pushes bodies with that move by a compliance and a velocity, against what they do without contacts.
fn push(pressing: &Pressing, fluid: &Mat<f64>, without: &[f64]) -> Vec<Twist> {
    let n = without.len();
    let mut compliance = Mat::<f64>::zeros(n, n);
    for part in &pressing.compliance {
        for (row, &i) in part.dofs.iter().enumerate() {
            for (column, &j) in part.dofs.iter().enumerate() {
                compliance[(i, j)] = part.matrix[row * part.dofs.len() + column];
            }
        }
    }
    // V = v + C p and p = -F (V - V₀).
    let start = Mat::from_fn(n, 1, |i, _| pressing.velocity[i / 3][i % 3] - without[i]);
    let system = Mat::<f64>::identity(n, n) + &compliance * fluid;
    let change = system.partial_piv_lu().solve(&start);
    let push = fluid * &change;
    (0..n / 3).map(|k| twist([0, 1, 2].map(|d| -push[(3 * k + d, 0)]))).collect()
}

/// The masses of bodies that touch, with the fluid.
fn inertia(
    immersed: &Immersed,
    influence: &Influence,
    courses: &[Course],
    members: &[usize],
) -> Result<Mat<f64>, StepError> {
    Ok(mobility(immersed, influence, courses, members)?.partial_piv_lu().inverse())
}

/// What impulses change of the velocities of bodies, for all of them.
fn mobility(
    immersed: &Immersed,
    influence: &Influence,
    courses: &[Course],
    members: &[usize],
) -> Result<Mat<f64>, StepError> {
    let n = 3 * members.len();
    let still = immersed.in_still_fluid();
    let without = vec![0.0; courses.len()];
    let mut mobility = Mat::zeros(n, n);
    for column in 0..n {
        let drive = |(body, course): (usize, &Course)| match course {
            Course::Given(_) => Drive::Given([0.0; 3]),
            Course::Free(_) => {
                let is_pushed = body == members[column / 3];
                Drive::Free([0, 1, 2].map(|d| if is_pushed && d == column % 3 { 1.0 } else { 0.0 }))
            }
        };
        let drives: Vec<Drive> = courses.iter().enumerate().map(drive).collect();
        let mut response = Solution::default();
        find(ROUGH, &still, influence, &drives, &without, &mut response)?;
        for (row, &member) in members.iter().enumerate() {
            for d in 0..3 {
                mobility[(3 * row + d, column)] = response.motions[member][d];
            }
        }
    }
    Ok(Mat::from_fn(n, n, |i, j| 0.5 * (mobility[(i, j)] + mobility[(j, i)])))
}

fn diagonal(entries: Motion) -> [Motion; 3] {
    [0, 1, 2].map(|i| [0, 1, 2].map(|j| if i == j { entries[i] } else { 0.0 }))
}

fn twist(motion: Motion) -> Twist {
    let mut twist = [0.0; SIZE];
    twist[..3].copy_from_slice(&motion);
    twist
}

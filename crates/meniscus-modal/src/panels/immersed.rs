//! The sheets that hold a flow off bodies, and the velocities that these have in it, as one system of equations.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::body::{Body, Drive, Motion, Pose, impulse_of, stream_of};
use super::green::Images;
use super::influence::{Group, Influence, add_streams_in_box};
use super::panel::Panel;
use super::solve::{Solved, solve};
use crate::flow::Sample;

/// Bodies in a flow.
///
/// The unknowns of a body are the strengths γ of its panels, the stream function C on its outline and, if the fluid moves it, its velocity (U, V, Ω). Its equations are, with
/// all seen from its own frame,
///
/// - at the middle of each panel ψ of all sheets - C - (U y - V x - ½ Ω r²) = -ψ of the flow without bodies: nothing passes between two middles;
/// - Σ γ l = the circulation around it;
/// - its momenta (see [`Body`]) are what they are.
///
/// Gerszewski 2015, eq. 11 to 17, cancels the normal velocity at the middles instead, which is singular for outlines that are symmetric.
pub struct Immersed<'a> {
    images: &'a Images,
    bodies: &'a [Body],
    poses: &'a [Pose],
    /// The panels where they are, those of one body after those of another.
    panels: Vec<Panel>,
    /// The flow without bodies at their middles.
    flow: Vec<Sample>,
    /// Its mean vorticity in each body.
    vorticity: Vec<f64>,
}

/// What solves the equations.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Solution {
    /// The strengths of all panels, in m/s.
    pub strengths: Vec<f64>,
    /// The velocities of all bodies, whether given or found.
    pub motions: Vec<Motion>,
    /// The stream function on each outline.
    constants: Vec<f64>,
}

impl<'a> Immersed<'a> {
    /// Bodies in a box.
    pub fn new(images: &'a Images, bodies: &'a [Body], poses: &'a [Pose]) -> Self {
        let placed = |(body, pose): (&'a Body, &'a Pose)| {
            let placement = pose.placement();
            body.profile.panels.iter().map(move |panel| panel.placed(&placement))
        };
        let panels: Vec<Panel> = bodies.iter().zip(poses).flat_map(placed).collect();
        let flow = vec![Sample::default(); panels.len()];
        Self { images, bodies, poses, panels, flow, vorticity: vec![0.0; bodies.len()] }
    }

    /// What their panels do to each other.
    pub fn influence(&self) -> Influence<'a> {
        self.influence_in(Vec::new())
    }

    /// The same, in memory that may have been used before.
    pub fn influence_in(&self, memory: Vec<f64>) -> Influence<'a> {
        let group = |(body, range): (&'a Body, Range<usize>)| Group {
            panels: &self.panels[range],
            own: &body.profile.near_streams,
        };
        let groups: Vec<Group> = self.bodies.iter().zip(self.ranges()).map(group).collect();
        Influence::new(self.images, &groups, memory)
    }

    /// Puts them into a flow, whose samples are those at the middles of their panels.
    pub fn set_flow(&mut self, samples: Vec<Sample>) {
        assert_eq!(samples.len(), self.panels.len(), "a sample for each panel");
        self.flow = samples;
        for (body, range) in ranges(self.bodies).enumerate() {
            let along = |(panel, sample): (&Panel, &Sample)| {
                panel.length * (panel.tangent[0] * sample.velocity[0] + panel.tangent[1] * sample.velocity[1])
            };
            let circulation: f64 = self.panels[range.clone()].iter().zip(&self.flow[range]).map(along).sum();
            self.vorticity[body] = circulation / self.bodies[body].profile.area;
        }
    }

    /// Adds to the stream function of the flow without bodies what adds it at points. That has no vorticity in bodies.
    pub fn add_streams(&mut self, add: impl Fn(&[[f64; 2]], &mut [f64])) {
        let mut streams: Vec<f64> = self.flow.iter().map(|sample| sample.stream).collect();
        add(&self.middles(), &mut streams);
        self.flow.iter_mut().zip(streams).for_each(|(sample, stream)| sample.stream = stream);
    }

    /// The middles of the panels.
    pub fn middles(&self) -> Vec<[f64; 2]> {
        self.panels.iter().map(|panel| panel.middle).collect()
    }

    /// The same bodies in fluid at rest.
    pub fn in_still_fluid(&self) -> Self {
        Self::new(self.images, self.bodies, self.poses)
    }

    /// The panels where they are, those of one body after those of another.
    pub fn panels(&self) -> &[Panel] {
        &self.panels
    }

    /// The bodies.
    pub fn bodies(&self) -> &'a [Body] {
        self.bodies
    }

    /// Where they are.
    pub fn poses(&self) -> &'a [Pose] {
        self.poses
    }

    /// The panels of each body among all.
    pub fn ranges(&self) -> impl Iterator<Item = Range<usize>> + use<'a> {
        ranges(self.bodies)
    }

    /// The stream function of all sheets at a point.
    pub fn stream(&self, solution: &Solution, x: [f64; 2]) -> f64 {
        let mut streams = [0.0];
        add_streams_in_box(self.images, &self.panels, &solution.strengths, &[x], &mut streams);
        streams[0]
    }

    /// The mean vorticity of the flow without bodies in each body, in 1/s.
    pub fn vorticity(&self) -> &[f64] {
        &self.vorticity
    }

    /// Finds strengths and velocities of bodies with these circulations around them, from what the solution is on; to a part of what the flow without bodies and the momenta ask for.
    pub fn solve(
        &self,
        influence: &Influence,
        drives: &[Drive],
        circulations: &[f64],
        solution: &mut Solution,
        tolerance: f64,
    ) -> Solved {
        let unknowns = Unknowns::new(self.bodies, drives);
        solution.fit(self.bodies);
        let rhs = self.right_hand_side(&unknowns, drives, circulations);
        let mut x = unknowns.pack(solution, self.poses);
        let solved = solve(
            |x, product| self.multiply(influence, &unknowns, x, product),
            |x, product| self.precondition(drives, &unknowns, x, product),
            &rhs,
            &mut x,
            tolerance,
        );
        unknowns.unpack(&x, solution, self.poses, drives);
        solved
    }

    fn right_hand_side(&self, unknowns: &Unknowns, drives: &[Drive], circulations: &[f64]) -> Vec<f64> {
        let mut rhs = vec![0.0; unknowns.len];
        for (b, (body, range)) in self.bodies.iter().zip(self.ranges()).enumerate() {
            let (profile, pose) = (&body.profile, &self.poses[b]);
            let rows = &mut rhs[unknowns.blocks[b].range.clone()];
            for (row, sample) in rows.iter_mut().zip(&self.flow[range]) {
                *row = -sample.stream;
            }
            let n = profile.panels.len();
            rows[n] = circulations[b];
            match drives[b] {
                Drive::Given(motion) => {
                    let motion = pose.turn_motion_back(motion);
                    for (row, panel) in rows.iter_mut().zip(&profile.panels) {
                        *row += dot(motion, stream_of(panel.middle));
                    }
                }
                Drive::Free(momentum) => rows[n + 1..].copy_from_slice(&pose.turn_motion_back(momentum)),
            }
        }
        rhs
    }

    fn multiply(&self, influence: &Influence, unknowns: &Unknowns, x: &[f64], product: &mut [f64]) {
        let mut streams = vec![0.0; self.panels.len()];
        let strengths = unknowns.strengths(x);
        influence.multiply(&strengths, &mut streams);
        for (b, (body, range)) in self.bodies.iter().zip(self.ranges()).enumerate() {
            let panels = &body.profile.panels;
            let n = panels.len();
            let own = unknowns.blocks[b].range.clone();
            let (x, rows) = (&x[own.clone()], &mut product[own]);
            rows[n] = panels.iter().zip(x).map(|(panel, strength)| panel.length * strength).sum();
            for (row, stream) in rows.iter_mut().zip(&streams[range]) {
                *row = stream - x[n];
            }
            if let &[u, v, spin] = &x[n + 1..] {
                let motion = [u, v, spin];
                for (row, panel) in rows.iter_mut().zip(panels) {
                    *row -= dot(motion, stream_of(panel.middle));
                }
                let inertia = body.inertia();
                rows[n + 1..].copy_from_slice(&[0, 1, 2].map(|k| inertia[k] * motion[k]));
                for (panel, strength) in panels.iter().zip(x) {
                    let impulse = impulse_of(panel);
                    rows[n + 1..].iter_mut().zip(impulse).for_each(|(row, arm)| *row += arm * strength);
                }
            }
        }
    }

    fn precondition(&self, drives: &[Drive], unknowns: &Unknowns, x: &[f64], product: &mut [f64]) {
        product.fill(0.0);
        for (b, (body, &drive)) in self.bodies.iter().zip(drives).enumerate() {
            let range = unknowns.blocks[b].range.clone();
            let inverse = body.inverse(drive);
            for (column, value) in x[range.clone()].iter().enumerate() {
                let of_column = inverse.col(column).try_as_col_major().expect("a dense matrix").as_slice();
                product[range.clone()].iter_mut().zip(of_column).for_each(|(to, entry)| *to += entry * value);
            }
        }
    }

    /// What the sheets of a body change of the integral of the square of the velocity over the fluid, in m⁴/s²: with ∫ u² = ∫ ψ ω over the whole box, less what is in the body, which
    /// moves with it and turns as the flow within does.
    pub fn square_of_sheets(&self, solution: &Solution, body: usize) -> f64 {
        let (pose, profile) = (&self.poses[body], &self.bodies[body].profile);
        let [u, v, spin] = pose.turn_motion_back(solution.motions[body]);
        let range = self.ranges().nth(body).expect("a body");
        let constant = solution.constants[body];
        let of_panel = |((panel, sample), strength): ((&Panel, &Sample), &f64)| {
            strength * (dot([u, v, spin], impulse_of(panel)) + panel.length * (sample.stream + constant))
        };
        let panels = profile.panels.iter().zip(&self.flow[range.clone()]);
        let whole: f64 = panels.zip(&solution.strengths[range]).map(of_panel).sum();
        let turning = self.vorticity[body] - 2.0 * spin;
        let rigid = profile.area * (u * u + v * v) + profile.polar_moment * spin * spin;
        whole - rigid - profile.inner_moment * turning * (2.0 * spin + 0.5 * turning)
    }

    /// The momenta of a body: see [`Body`].
    pub fn momentum(&self, solution: &Solution, body: usize) -> Motion {
        let (pose, of_body) = (&self.poses[body], &self.bodies[body]);
        let motion = pose.turn_motion_back(solution.motions[body]);
        let inertia = of_body.inertia();
        let mut momentum = [0, 1, 2].map(|k| inertia[k] * motion[k]);
        let range = self.ranges().nth(body).expect("a body");
        for (panel, strength) in of_body.profile.panels.iter().zip(&solution.strengths[range]) {
            let impulse = impulse_of(panel);
            momentum.iter_mut().zip(impulse).for_each(|(to, arm)| *to += arm * strength);
        }
        pose.turn_motion(momentum)
    }
}

impl Solution {
    /// Adds so many times what solves the equations of the same bodies in another flow.
    pub(crate) fn add(&mut self, factor: f64, other: &Self) {
        let add =
            |to: &mut [f64], from: &[f64]| to.iter_mut().zip(from).for_each(|(to, x)| *to += factor * x);
        add(&mut self.strengths, &other.strengths);
        add(&mut self.constants, &other.constants);
        for (to, from) in self.motions.iter_mut().zip(&other.motions) {
            add(to, from);
        }
    }

    /// Makes room for what it has not seen yet.
    fn fit(&mut self, bodies: &[Body]) {
        self.strengths.resize(bodies.iter().map(Body::panels).sum(), 0.0);
        self.motions.resize(bodies.len(), [0.0; 3]);
        self.constants.resize(bodies.len(), 0.0);
    }
}

/// Where the unknowns of each body are.
struct Unknowns {
    blocks: Vec<Block>,
    len: usize,
}

/// The unknowns of a body: strengths, the constant and, if the fluid moves it, velocities in its own frame.
struct Block {
    /// Among all unknowns.
    range: Range<usize>,
    /// The strengths among all strengths.
    strengths: Range<usize>,
}

impl Block {
    fn is_free(&self) -> bool {
        self.range.len() > self.strengths.len() + 1
    }
}

impl Unknowns {
    fn new(bodies: &[Body], drives: &[Drive]) -> Self {
        let mut len = 0;
        let block = |(strengths, drive): (Range<usize>, &Drive)| {
            let first = len;
            len += strengths.len() + 1 + if matches!(drive, Drive::Free(_)) { 3 } else { 0 };
            Block { range: first..len, strengths }
        };
        let blocks = ranges(bodies).zip(drives).map(block).collect();
        Self { blocks, len }
    }

    fn strengths(&self, x: &[f64]) -> Vec<f64> {
        self.blocks
            .iter()
            .flat_map(|block| &x[block.range.clone()][..block.strengths.len()])
            .copied()
            .collect()
    }

    fn pack(&self, solution: &Solution, poses: &[Pose]) -> Vec<f64> {
        let mut x = Vec::with_capacity(self.len);
        for (b, block) in self.blocks.iter().enumerate() {
            x.extend_from_slice(&solution.strengths[block.strengths.clone()]);
            x.push(solution.constants[b]);
            if block.is_free() {
                x.extend(poses[b].turn_motion_back(solution.motions[b]));
            }
        }
        x
    }

    fn unpack(&self, x: &[f64], solution: &mut Solution, poses: &[Pose], drives: &[Drive]) {
        for (b, block) in self.blocks.iter().enumerate() {
            let (strengths, rest) = x[block.range.clone()].split_at(block.strengths.len());
            solution.strengths[block.strengths.clone()].copy_from_slice(strengths);
            solution.constants[b] = rest[0];
            solution.motions[b] = match drives[b] {
                Drive::Given(motion) => motion,
                Drive::Free(_) => poses[b].turn_motion([rest[1], rest[2], rest[3]]),
            };
        }
    }
}

fn ranges(bodies: &[Body]) -> impl Iterator<Item = Range<usize>> + use<'_> {
    let mut first = 0;
    bodies.iter().map(move |body| {
        let range = first..first + body.panels();
        first = range.end;
        range
    })
}

fn dot(a: Motion, b: Motion) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

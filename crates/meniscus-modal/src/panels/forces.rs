//! What the fluid does to bodies.

use super::body::Motion;
use super::immersed::{Immersed, Solution};

/// A body alone in still fluid without end.
struct Alone {
    /// In its own frame.
    motion: Motion,
    circulation: f64,
    strengths: Vec<f64>,
}

impl Immersed<'_> {
    /// The rate at which the momenta of a body change (see [`Body`](super::Body)), over the density of the fluid:
    ///
    /// - d P / dt = ∮ ½ q² n ds + Ω ∮ r q ds + (m - A) g
    /// - d L / dt = ∮ ½ q² (r × n) ds,
    ///
    /// with the speed q along the outline, seen from the body, just outside. It is by how much the sheet has it jump, γ, and what the flow within has there, which
    /// turns with the mean vorticity of the flow without bodies less what the body itself turns. The pressure's other parts are in the momenta.
    ///
    /// At sharp corners q² has no end, and its integral is not found by panels. So it is taken from the speed q' of the body alone in still fluid without end, moving (U', V', Ω') with
    /// the circulation Γ, which has the same corners, and for which the integrals are known (Kirchhoff, Kutta and Joukowski):
    ///
    /// - ∮ ½ q'² n ds = -Ω' ∮ r q' ds - Γ (V', -U')
    /// - ∮ ½ q'² (r × n) ds = -(U', V') × Σ (y, -x) γ' l.
    pub fn force(&self, solution: &Solution, body: usize, gravity: [f64; 2]) -> Motion {
        let of_body = &self.bodies()[body];
        let spin = solution.motions[body][2];
        let Alone { motion: [u, v, own_spin], circulation, strengths } = self.alone(solution, body);
        let mut rate = [-circulation * v, circulation * u, 0.0];
        for (k, speed) in self.outer_speeds(solution, body).enumerate() {
            let panel = &of_body.profile.panels[k];
            let ([x, y], [nx, ny]) = (panel.middle, panel.normal());
            let alone = strengths[k] - 2.0 * own_spin * of_body.profile.inner_speeds[k];
            let pressure = 0.5 * (speed - alone) * (speed + alone) * panel.length;
            let turning = (spin * speed - own_spin * alone) * panel.length;
            rate[0] += pressure * nx + turning * x;
            rate[1] += pressure * ny + turning * y;
            let of_impulse = (u * x + v * y) * strengths[k] * panel.length;
            rate[2] += pressure * (x * ny - y * nx) + of_impulse;
        }
        self.with_buoyancy(rate, body, gravity)
    }

    /// A body alone in still fluid, which turns in it as it does here, with the same circulation, and moves such that the flow along it is the nearest to the one here.
    fn alone(&self, solution: &Solution, body: usize) -> Alone {
        let of_body = &self.bodies()[body];
        let panels = &of_body.profile.panels;
        let here = &solution.strengths[self.ranges().nth(body).expect("a body")];
        let circulation = panels.iter().zip(here).map(|(panel, strength)| panel.length * strength).sum();
        let spin = solution.motions[body][2] - 0.5 * self.vorticity()[body];
        let [along_x, along_y, turning, round] = &of_body.alone;
        let mut strengths: Vec<f64> =
            turning.iter().zip(round).map(|(turning, round)| spin * turning + circulation * round).collect();
        let product = |a: &[f64], b: &[f64]| -> f64 {
            panels.iter().zip(a.iter().zip(b)).map(|(panel, (a, b))| panel.length * a * b).sum()
        };
        let rest: Vec<f64> = here.iter().zip(&strengths).map(|(here, alone)| here - alone).collect();
        let [xx, xy, yy] =
            [(along_x, along_x), (along_x, along_y), (along_y, along_y)].map(|(a, b)| product(a, b));
        let [x, y] = [along_x, along_y].map(|along| product(along, &rest));
        let determinant = xx * yy - xy * xy;
        let (u, v) = ((yy * x - xy * y) / determinant, (xx * y - xy * x) / determinant);
        for (k, strength) in strengths.iter_mut().enumerate() {
            *strength += u * along_x[k] + v * along_y[k];
        }
        Alone { motion: [u, v, spin], circulation, strengths }
    }

    /// The speed along each panel of a body, counter-clockwise and seen from it, of the fluid just outside.
    pub fn outer_speeds<'b>(&'b self, solution: &'b Solution, body: usize) -> impl Iterator<Item = f64> + 'b {
        let range = self.ranges().nth(body).expect("a body");
        let turning = self.vorticity()[body] - 2.0 * solution.motions[body][2];
        let inner = &self.bodies()[body].profile.inner_speeds;
        solution.strengths[range].iter().zip(inner).map(move |(strength, inner)| strength + turning * inner)
    }

    /// The force and the torque of the dynamic pressure alone, and buoyancy, over the density of the fluid: ∮ ½ u² n ds (Gerszewski 2015, eq. 20 and 21).
    pub fn dynamic_pressure(&self, solution: &Solution, body: usize, gravity: [f64; 2]) -> Motion {
        let (pose, of_body) = (&self.poses()[body], &self.bodies()[body]);
        let [u, v, spin] = pose.turn_motion_back(solution.motions[body]);
        let mut force = [0.0; 3];
        for (panel, speed) in of_body.profile.panels.iter().zip(self.outer_speeds(solution, body)) {
            let ([x, y], [nx, ny], [tx, ty]) = (panel.middle, panel.normal(), panel.tangent);
            let velocity = [u - spin * y + speed * tx, v + spin * x + speed * ty];
            let pressure = 0.5 * (velocity[0].powi(2) + velocity[1].powi(2)) * panel.length;
            force[0] += pressure * nx;
            force[1] += pressure * ny;
            force[2] += pressure * (x * ny - y * nx);
        }
        self.with_buoyancy(force, body, gravity)
    }

    /// What is said of a body in its own frame, and its weight less that of the fluid in its place.
    fn with_buoyancy(&self, force: Motion, body: usize, gravity: [f64; 2]) -> Motion {
        let of_body = &self.bodies()[body];
        let heavier = of_body.mass[0] - of_body.profile.area;
        let [x, y, torque] = self.poses()[body].turn_motion(force);
        [x + heavier * gravity[0], y + heavier * gravity[1], torque]
    }
}

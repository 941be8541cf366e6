//! What the fluid does to bodies.

use super::body::Motion;
use super::immersed::{Immersed, Solution};

impl Immersed<'_> {
    /// The rate at which the momenta of a body change (see [`Body`](super::Body)), over the density of the fluid:
    ///
    /// - d P / dt = ∮ ½ q² n ds + Ω ∮ r q ds + (m - A) g
    /// - d L / dt = ∮ ½ q² (r × n) ds,
    ///
    /// with the speed q along the outline, seen from the body, just outside. It is by how much the sheet has it jump, γ, and what the flow within has there, which
    /// turns with the mean vorticity of the flow without bodies less what the body itself turns. The pressure's other parts are in the momenta.
    pub fn force(&self, solution: &Solution, body: usize, gravity: [f64; 2]) -> Motion {
        let of_body = &self.bodies()[body];
        let spin = solution.motions[body][2];
        let mut rate = [0.0; 3];
        for (k, speed) in self.outer_speeds(solution, body).enumerate() {
            let panel = &of_body.profile.panels[k];
            let ([x, y], [nx, ny]) = (panel.middle, panel.normal());
            let pressure = 0.5 * speed * speed * panel.length;
            let turning = spin * speed * panel.length;
            rate[0] += pressure * nx + turning * x;
            rate[1] += pressure * ny + turning * y;
            rate[2] += pressure * (x * ny - y * nx);
        }
        self.with_buoyancy(rate, body, gravity)
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

//! What a body is to the fluid.

use faer::linalg::solvers::DenseSolveCore;
use faer::{Col, Mat};
use serde::{Deserialize, Serialize};

use super::panel::Panel;
use super::profile::{Profile, mean_square};

/// Where a body is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pose {
    /// The centre of its area, in m.
    pub centre: [f64; 2],
    /// By how much it is turned, counter-clockwise.
    pub angle: f64,
}

/// The velocity of the centre, in m/s, and the rate of turning, in radians a second; or what is proportional to them.
pub type Motion = [f64; 3];

/// What moves a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Drive {
    /// It has this velocity, whatever the fluid does.
    Given(Motion),
    /// The fluid: it has this momentum and angular momentum, over the density of the fluid and for a metre of depth, in m³/s and m⁴/s.
    Free(Motion),
}

/// A body, as the fluid sees it. All that is said of its mass is over the density of the fluid and for a metre of depth.
///
/// In its own frame its momentum and its angular momentum are
///
/// - P = (m - A) (U, V) + Σ (y, -x) γ l
/// - L = (I - M + 2 S) Ω - Σ ½ r² γ l,
///
/// with its area A, M the integral of r² over it, S that of r × the flow of unit vorticity within it, γ the strengths of its panels and l their lengths. They hold what the fluid
/// around gives of inertia: what changes them is in [`Immersed::force`](super::Immersed::force). What the flow without bodies has of angular momentum there is not in L: when its
/// vorticity changes, other vorticity has come there and brought that along, without a torque on the body.
#[derive(Clone, Debug)]
pub struct Body {
    /// Its outline.
    pub profile: Profile,
    /// Its edges that the flow leaves smoothly, as the panels that begin there.
    pub edges: Vec<usize>,
    /// Its mass, in m², and its moment of inertia, in m⁴.
    pub mass: [f64; 2],
    /// The inverse of its own equations without walls, with its velocity given, and with its momentum given: see [`Immersed`](super::Immersed).
    inverses: [Mat<f64>; 2],
    /// The strengths of its panels when it is alone in fluid without end: if it moves along x, along y, or turns, and if there is a circulation around it.
    pub(super) alone: [Vec<f64>; 4],
}

impl Body {
    /// With a mass and a moment of inertia over the density of the fluid, in m² and m⁴.
    pub fn new(profile: Profile, mass: [f64; 2]) -> Self {
        let n = profile.panels.len();
        let inertia = inertia(&profile, mass);
        let inverse = |is_free: bool| {
            let size = n + 1 + if is_free { 3 } else { 0 };
            let own = Mat::from_fn(size, size, |row, column| match (row, column) {
                _ if row < n && column < n => profile.streams[(row, column)],
                _ if row < n && column == n => -1.0,
                _ if row < n => -stream_of(profile.panels[row].middle)[column - n - 1],
                _ if row == n && column < n => profile.panels[column].length,
                _ if row > n && column < n => impulse_of(&profile.panels[column])[row - n - 1],
                _ if row > n && row == column => inertia[row - n - 1],
                _ => 0.0,
            });
            own.partial_piv_lu().inverse()
        };
        let inverses = [inverse(false), inverse(true)];
        let alone = std::array::from_fn(|motion| {
            let rhs = Col::from_fn(n + 1, |row| match profile.panels.get(row) {
                Some(panel) => stream_of(panel.middle).get(motion).copied().unwrap_or(0.0),
                None => f64::from(u8::from(motion == 3)),
            });
            let solution = &inverses[0] * &rhs;
            (0..n).map(|panel| solution[panel]).collect()
        });
        Self { inverses, alone, profile, mass, edges: Vec::new() }
    }

    /// The same with edges, at the ends of panels that are nearest to some points of its own frame, that the flow leaves smoothly.
    #[must_use]
    pub fn with_edges(mut self, points: &[[f64; 2]]) -> Self {
        let panels = &self.profile.panels;
        let off = |panel: &Panel, x: &[f64; 2]| (panel.start[0] - x[0]).hypot(panel.start[1] - x[1]);
        let nearest = |x: &[f64; 2]| {
            (0..panels.len())
                .min_by(|&i, &j| off(&panels[i], x).total_cmp(&off(&panels[j], x)))
                .expect("panels")
        };
        self.edges = points.iter().map(nearest).collect();
        self
    }

    /// Of so many times the density of the fluid throughout.
    pub fn of_density(profile: Profile, ratio: f64) -> Self {
        let mass = [ratio * profile.area, ratio * profile.polar_moment];
        Self::new(profile, mass)
    }

    /// How many panels it has.
    pub fn panels(&self) -> usize {
        self.profile.panels.len()
    }

    /// What its velocities weigh in its momenta where there is no fluid.
    pub fn masses(&self) -> Motion {
        let [mass, moment] = self.mass;
        [mass, mass, moment]
    }

    /// The factors of its velocities in its momenta.
    pub(super) fn inertia(&self) -> Motion {
        inertia(&self.profile, self.mass)
    }

    /// The inverse of its own equations without walls.
    pub(super) fn inverse(&self, drive: Drive) -> &Mat<f64> {
        &self.inverses[usize::from(matches!(drive, Drive::Free(_)))]
    }
}

fn inertia(profile: &Profile, [mass, moment]: [f64; 2]) -> Motion {
    let of_centre = mass - profile.area;
    [of_centre, of_centre, moment - profile.polar_moment + 2.0 * profile.inner_moment]
}

/// The stream functions of unit motions, at a point seen from the centre.
pub(super) fn stream_of([x, y]: [f64; 2]) -> Motion {
    [y, -x, -0.5 * (x * x + y * y)]
}

/// The momenta of a panel of unit strength.
pub(super) fn impulse_of(panel: &Panel) -> Motion {
    let [x, y] = panel.middle;
    [y, -x, -0.5 * mean_square(panel)].map(|arm| arm * panel.length)
}

/// A pose with the sine and the cosine of its angle.
pub(super) struct Placement {
    centre: [f64; 2],
    sin: f64,
    cos: f64,
}

impl Placement {
    pub fn turn(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        [self.cos * x - self.sin * y, self.sin * x + self.cos * y]
    }

    pub fn place(&self, x: [f64; 2]) -> [f64; 2] {
        let turned = self.turn(x);
        [0, 1].map(|axis| self.centre[axis] + turned[axis])
    }
}

impl Pose {
    /// For many points.
    pub(super) fn placement(&self) -> Placement {
        let (sin, cos) = self.angle.sin_cos();
        Placement { centre: self.centre, sin, cos }
    }

    /// A direction of the body's own frame.
    pub fn turn(&self, x: [f64; 2]) -> [f64; 2] {
        self.placement().turn(x)
    }

    /// A direction, in the body's own frame.
    pub fn turn_back(&self, x: [f64; 2]) -> [f64; 2] {
        Self { angle: -self.angle, ..*self }.turn(x)
    }

    /// A point of the body's own frame.
    pub fn place(&self, x: [f64; 2]) -> [f64; 2] {
        self.placement().place(x)
    }

    /// A point, in the body's own frame.
    pub fn place_back(&self, x: [f64; 2]) -> [f64; 2] {
        self.turn_back([0, 1].map(|axis| x[axis] - self.centre[axis]))
    }

    /// The pose after some time at a velocity.
    pub fn moved(&self, motion: Motion, dt: f64) -> Self {
        let centre = [0, 1].map(|axis| self.centre[axis] + dt * motion[axis]);
        Self { centre, angle: self.angle + dt * motion[2] }
    }

    /// A motion or what is proportional to one, of the body's own frame.
    pub fn turn_motion(&self, [u, v, spin]: Motion) -> Motion {
        let [u, v] = self.turn([u, v]);
        [u, v, spin]
    }

    /// A motion or what is proportional to one, in the body's own frame.
    pub fn turn_motion_back(&self, [u, v, spin]: Motion) -> Motion {
        let [u, v] = self.turn_back([u, v]);
        [u, v, spin]
    }
}

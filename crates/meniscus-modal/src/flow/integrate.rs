//! Steps in time of a flow that carries itself.

use serde::{Deserialize, Serialize};

use super::advection::Advection;

/// How a flow is advanced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Integrator {
    /// The Runge-Kutta method of fourth order, after which energy and enstrophy are made what they were.
    #[default]
    Conserving,
    /// The implicit midpoint rule, which keeps both by itself.
    Midpoint,
    /// The Runge-Kutta method of fourth order alone.
    Rk4,
    /// The exponential of what the vorticity of the beginning makes of a velocity (Gerszewski 2015, eq. 9): it keeps the energy, and is of first order.
    Paper,
}

/// What a step did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Advanced {
    /// Parts that it was divided into.
    pub substeps: usize,
    /// Rates that were found.
    pub rates: usize,
    /// What was put back of the sum of w² / λ over sines, and of that of w².
    pub put_back: [f64; 2],
    /// Whether the equations of every part were solved.
    pub is_solved: bool,
}

/// Part of the limit of stability, 2.8 waves, that a step of the Runge-Kutta method may use.
const EXPLICIT_WAVES: f64 = 2.2;
/// The fixed-point iteration of the midpoint rule converges up to 2.
const IMPLICIT_WAVES: f64 = 1.0;
/// Iterations of the midpoint rule, and terms of the exponential; a step that stays within the limits takes a third of them.
const MOST_ITERATIONS: usize = 60;
/// What is left of a step's change when an iteration ends, as a part of the flow.
const TOLERANCE: f64 = 1e-14;

/// A flow that asks for more parts than these does so for ever.
const MOST_PARTS: f64 = 10_000.0;

/// What steps work in.
#[derive(Clone, Debug, Default)]
pub struct Stages {
    rates: [Vec<f64>; 4],
    point: Vec<f64>,
}

impl Stages {
    /// Advances a flow by a time, in as many parts as stability asks for.
    pub fn advance(
        &mut self,
        dynamics: &mut impl Advection,
        integrator: Integrator,
        flow: &mut [f64],
        dt: f64,
    ) -> Result<Advanced, TooFast> {
        self.fit(flow.len());
        let mut advanced = Advanced { is_solved: true, ..Advanced::default() };
        let mut left = dt;
        while left > 0.0 {
            dynamics.set_velocity(flow);
            let waves = if integrator == Integrator::Midpoint { IMPLICIT_WAVES } else { EXPLICIT_WAVES };
            // Parts of the same length, as long as the speed stays the same.
            let parts = parts(left, dynamics.frequency(), waves)?;
            let part = left / parts;
            advanced.substeps += 1;
            match integrator {
                Integrator::Conserving => self.conserving(dynamics, flow, part, &mut advanced),
                Integrator::Midpoint => self.midpoint(dynamics, flow, part, &mut advanced),
                Integrator::Rk4 => self.runge_kutta(dynamics, flow, part, &mut advanced),
                Integrator::Paper => self.frozen(dynamics, flow, part, &mut advanced),
            }
            left = if parts == 1.0 { 0.0 } else { left - part };
        }
        Ok(advanced)
    }

    /// Lets another flow carry this one, by the Runge-Kutta method of fourth order.
    pub fn carry(
        &mut self,
        dynamics: &mut impl Advection,
        by: &[f64],
        flow: &mut [f64],
        dt: f64,
    ) -> Result<(), TooFast> {
        self.fit(flow.len());
        dynamics.set_velocity(by);
        let parts = parts(dt, dynamics.frequency(), EXPLICIT_WAVES)?;
        for _ in 0..parts as usize {
            self.four_stages(flow, dt / parts, |point, rate| dynamics.rate_of(point, rate));
        }
        Ok(())
    }

    fn fit(&mut self, modes: usize) {
        for list in self.rates.iter_mut().chain([&mut self.point]) {
            list.clear();
            list.resize(modes, 0.0);
        }
    }

    fn runge_kutta(
        &mut self,
        dynamics: &mut impl Advection,
        flow: &mut [f64],
        dt: f64,
        advanced: &mut Advanced,
    ) {
        self.four_stages(flow, dt, |point, rate| dynamics.rate(point, rate));
        advanced.rates += 4;
    }

    fn four_stages(&mut self, flow: &mut [f64], dt: f64, mut rate_at: impl FnMut(&[f64], &mut [f64])) {
        let [first, second, third, fourth] = &mut self.rates;
        let along = |point: &mut [f64], flow: &[f64], rate: &[f64], dt: f64| {
            for ((point, from), rate) in point.iter_mut().zip(flow).zip(rate) {
                *point = from + dt * rate;
            }
        };
        rate_at(flow, first);
        along(&mut self.point, flow, first, 0.5 * dt);
        rate_at(&self.point, second);
        along(&mut self.point, flow, second, 0.5 * dt);
        rate_at(&self.point, third);
        along(&mut self.point, flow, third, dt);
        rate_at(&self.point, fourth);
        for (k, to) in flow.iter_mut().enumerate() {
            *to += dt / 6.0 * (first[k] + 2.0 * (second[k] + third[k]) + fourth[k]);
        }
    }

    fn conserving(
        &mut self,
        dynamics: &mut impl Advection,
        flow: &mut [f64],
        dt: f64,
        advanced: &mut Advanced,
    ) {
        let before = moments(dynamics, flow);
        self.runge_kutta(dynamics, flow, dt, advanced);
        let after = moments(dynamics, flow);
        let put_back = restore(dynamics, flow, before);
        advanced.put_back[0] += before[0] - after[0];
        if put_back == Kept::Both {
            advanced.put_back[1] += before[1] - after[1];
        }
    }

    fn midpoint(
        &mut self,
        dynamics: &mut impl Advection,
        flow: &mut [f64],
        dt: f64,
        advanced: &mut Advanced,
    ) {
        let [change, rate, ..] = &mut self.rates;
        let scale = flow.iter().map(|w| w * w).sum::<f64>().sqrt();
        let mut is_solved = false;
        dynamics.rate(flow, change);
        for _ in 0..MOST_ITERATIONS {
            for ((point, from), change) in self.point.iter_mut().zip(&*flow).zip(&*change) {
                *point = from + 0.5 * dt * change;
            }
            dynamics.rate(&self.point, rate);
            advanced.rates += 1;
            let off: f64 = rate.iter().zip(&*change).map(|(a, b)| (a - b) * (a - b)).sum();
            std::mem::swap(change, rate);
            is_solved = dt * off.sqrt() <= TOLERANCE * scale;
            if is_solved {
                break;
            }
        }
        advanced.is_solved &= is_solved;
        for (to, change) in flow.iter_mut().zip(&*change) {
            *to += dt * change;
        }
    }

    fn frozen(&mut self, dynamics: &mut impl Advection, flow: &mut [f64], dt: f64, advanced: &mut Advanced) {
        let [start, rate, ..] = &mut self.rates;
        let term = &mut self.point;
        start.copy_from_slice(flow);
        term.copy_from_slice(flow);
        let scale = flow.iter().map(|w| w * w).sum::<f64>().sqrt();
        let mut is_solved = false;
        for order in 1..=MOST_ITERATIONS {
            dynamics.set_velocity(term);
            dynamics.rate_of(start, rate);
            advanced.rates += 1;
            for ((to, term), rate) in flow.iter_mut().zip(&mut *term).zip(&*rate) {
                *term = dt / order as f64 * rate;
                *to += *term;
            }
            is_solved = term.iter().map(|t| t * t).sum::<f64>().sqrt() <= TOLERANCE * scale;
            if is_solved {
                break;
            }
        }
        advanced.is_solved &= is_solved;
    }
}

/// A flow is too fast for steps of any use, or no flow any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooFast;

/// The parts that stability asks for in a time.
fn parts(time: f64, frequency: f64, waves: f64) -> Result<f64, TooFast> {
    let parts = (time * frequency / waves - 1e-9).ceil().max(1.0);
    if parts <= MOST_PARTS && frequency.is_finite() { Ok(parts) } else { Err(TooFast) }
}

/// What a flow is given back of what it should keep.
#[derive(PartialEq)]
enum Kept {
    Energy,
    Both,
}

/// The sums of w² / λ and, where it is kept, of the squares of what of w turns.
fn moments(dynamics: &impl Advection, flow: &[f64]) -> [f64; 2] {
    let mut enstrophy = 0.0;
    if let Some(eigenvalues) = dynamics.eigenvalues() {
        let irrotational = dynamics.irrotational(flow);
        for (k, w) in flow[..eigenvalues.len()].iter().enumerate() {
            let turns = w - part(&irrotational, k);
            enstrophy += turns * turns;
        }
    }
    [dynamics.energy(flow), enstrophy]
}

/// An entry of a list, or nothing where the list is empty.
fn part(list: &[f64], k: usize) -> f64 {
    list.get(k).copied().unwrap_or(0.0)
}

/// Adds α w + β λ (w - s) to each coefficient of an eigenmode, where s does not turn: the least change, in energy, that gives a flow the energy and the enstrophy that it should have; where enrichment changes
/// the enstrophy, or all modes have one λ, multiplies by 1 + α for the energy. Circulations stay.
fn restore(dynamics: &impl Advection, flow: &mut [f64], wanted: [f64; 2]) -> Kept {
    // The change is small, so that Newton's method ends after the second step; the third takes what rounding left.
    const NEWTON_STEPS: usize = 3;
    let of_circulations = |flow: &[f64], changing: usize| -> f64 {
        dynamics.squares()[changing..].iter().zip(&flow[changing..]).map(|(square, c)| square * c * c).sum()
    };
    let mut changing = flow.len();
    if let Some(eigenvalues) = dynamics.eigenvalues() {
        changing = eigenvalues.len();
        let irrotational = dynamics.irrotational(flow);
        let of_circulations = of_circulations(flow, changing);
        for step in 0..NEWTON_STEPS {
            let (mut sums, mut enstrophy) = ([0.0; 3], 0.0);
            // As `moments` sums them, so that rounding is the same.
            for (k, ((w, eigenvalue), of_energy)) in
                flow.iter().zip(eigenvalues).zip(dynamics.squares()).enumerate()
            {
                let turns = w - part(&irrotational, k);
                sums[0] += of_energy * w * w;
                sums[1] += w * turns;
                sums[2] += eigenvalue * turns * turns;
                enstrophy += turns * turns;
            }
            let determinant = sums[0] * sums[2] - sums[1] * sums[1];
            if determinant <= ONE_SHELL * sums[0] * sums[2] {
                break;
            }
            let off = [0.5 * (wanted[0] - of_circulations - sums[0]), 0.5 * (wanted[1] - enstrophy)];
            let alpha = (off[0] * sums[2] - off[1] * sums[1]) / determinant;
            let beta = (off[1] * sums[0] - off[0] * sums[1]) / determinant;
            for (k, (w, eigenvalue)) in flow.iter_mut().zip(eigenvalues).enumerate() {
                // Not w (1 + ...), which rounds the sum first, and up and down in different steps.
                *w += *w * (alpha + beta * eigenvalue) - beta * eigenvalue * part(&irrotational, k);
            }
            if step == NEWTON_STEPS - 1 {
                return Kept::Both;
            }
        }
    }
    let of_circulations = of_circulations(flow, changing);
    let energy = dynamics.energy(flow) - of_circulations;
    if energy > 0.0 {
        let factor = ((wanted[0] - of_circulations) / energy).max(0.0).sqrt();
        flow[..changing].iter_mut().for_each(|w| *w *= factor);
    }
    Kept::Energy
}

/// Where the energy is spread over eigenvalues by less than this, squared and relative, energy and enstrophy are the same but for a factor.
const ONE_SHELL: f64 = 1e-12;

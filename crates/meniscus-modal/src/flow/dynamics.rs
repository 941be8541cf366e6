//! How a flow changes by itself, in the coefficients of its modes.

use super::advection::Advection;
use super::basis::Basis;
use super::transform::Transform;

/// What finds how the modes of a basis carry each other, and what it works in.
///
/// With enrichment the flow is expanded into sines, carried there, exactly, and what has come of it is restricted to the modes again: the part of the rate that lies in
/// their span. That does no work either, but the enstrophy is kept by eigenmodes alone.
#[derive(Clone, Debug)]
pub struct Dynamics {
    /// The places of the eigenmodes among the sines.
    places: Vec<usize>,
    /// The vorticity of each other mode by sines, and that over λ.
    enrichment: Vec<[Vec<f64>; 2]>,
    transform: Transform,
    /// By sines.
    vorticity: Vec<f64>,
    rate: Vec<f64>,
    /// For each mode the sum of w² / λ of a flow with a coefficient of one.
    squares: Vec<f64>,
    /// λ of each eigenmode.
    eigenvalues: Vec<f64>,
    /// The greatest wave number that modes are made of, in 1/m.
    wave_number: f64,
}

impl Dynamics {
    /// For the modes of a basis.
    pub fn new(basis: &Basis) -> Self {
        let sines = &basis.sines;
        let places: Vec<usize> = basis.eigenmodes.iter().map(|&mode| sines.place(mode)).collect();
        let eigenvalues: Vec<f64> = places.iter().map(|&place| sines.eigenvalue(place)).collect();
        let over_eigenvalue = |vorticity: &[f64]| -> Vec<f64> {
            vorticity.iter().enumerate().map(|(place, w)| w / sines.eigenvalue(place)).collect()
        };
        let enrichment =
            basis.enrichment.iter().map(|mode| [mode.vorticity.clone(), over_eigenvalue(&mode.vorticity)]);
        // Of a sum of sines: the root of the mean of λ, weighted by energy.
        let of_enrichment = |mode: &super::basis::EnrichedMode| mode.vorticity.iter().map(|w| w * w).sum();
        let largest =
            eigenvalues.iter().copied().chain(basis.enrichment.iter().map(of_enrichment)).fold(0.0, f64::max);
        let squares =
            eigenvalues.iter().map(|l| 1.0 / l).chain(basis.enrichment.iter().map(|_| 1.0)).collect();
        Self {
            enrichment: enrichment.collect(),
            transform: Transform::new(sines),
            vorticity: vec![0.0; sines.len()],
            rate: vec![0.0; sines.len()],
            wave_number: f64::sqrt(largest),
            squares,
            places,
            eigenvalues,
        }
    }

    /// The sum of w² over sines: 8 / A of the enstrophy.
    pub fn enstrophy(&self, coefficients: &[f64]) -> f64 {
        self.vorticity_of(coefficients).iter().map(|w| w * w).sum()
    }

    /// The vorticity of a flow by sines.
    pub fn vorticity_of(&self, coefficients: &[f64]) -> Vec<f64> {
        let mut vorticity = vec![0.0; self.vorticity.len()];
        self.expand_into(coefficients, &mut vorticity);
        vorticity
    }

    /// The flow that is nearest in energy to one with a vorticity by sines.
    pub fn coefficients_of(&self, vorticity: &[f64]) -> Vec<f64> {
        let mut coefficients = vec![0.0; self.squares.len()];
        self.restrict(vorticity, &mut coefficients);
        coefficients
    }

    /// Finds the vorticity of a flow by sines.
    fn expand(&mut self, coefficients: &[f64]) {
        let mut vorticity = std::mem::take(&mut self.vorticity);
        self.expand_into(coefficients, &mut vorticity);
        self.vorticity = vorticity;
    }

    fn expand_into(&self, coefficients: &[f64], vorticity: &mut [f64]) {
        let (eigenmodes, enrichment) = coefficients.split_at(self.places.len());
        vorticity.fill(0.0);
        for ([mode, _], amplitude) in self.enrichment.iter().zip(enrichment) {
            for (to, value) in vorticity.iter_mut().zip(mode) {
                *to += amplitude * value;
            }
        }
        for (&place, coefficient) in self.places.iter().zip(eigenmodes) {
            vorticity[place] = *coefficient;
        }
    }

    /// Finds the part of a vorticity by sines that lies in the span of the modes.
    fn restrict(&self, vorticity: &[f64], coefficients: &mut [f64]) {
        let (eigenmodes, enrichment) = coefficients.split_at_mut(self.places.len());
        for (&place, to) in self.places.iter().zip(eigenmodes) {
            *to = vorticity[place];
        }
        for ([_, over_eigenvalue], to) in self.enrichment.iter().zip(enrichment) {
            *to = vorticity.iter().zip(over_eigenvalue).map(|(a, b)| a * b).sum();
        }
    }
}

impl Advection for Dynamics {
    fn rate(&mut self, coefficients: &[f64], rate: &mut [f64]) {
        self.set_velocity(coefficients);
        self.transform.self_advection(&mut self.rate);
        self.restrict(&self.rate, rate);
    }

    fn set_velocity(&mut self, coefficients: &[f64]) {
        self.expand(coefficients);
        self.transform.set_velocity(&self.vorticity);
    }

    fn rate_of(&mut self, coefficients: &[f64], rate: &mut [f64]) {
        self.expand(coefficients);
        self.transform.advection(&self.vorticity, &mut self.rate);
        self.restrict(&self.rate, rate);
    }

    fn frequency(&self) -> f64 {
        self.transform.max_speed() * self.wave_number
    }

    fn squares(&self) -> &[f64] {
        &self.squares
    }

    fn eigenvalues(&self) -> Option<&[f64]> {
        self.enrichment.is_empty().then_some(&self.eigenvalues)
    }
}

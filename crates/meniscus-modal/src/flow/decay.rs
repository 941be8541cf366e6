//! What viscosity takes from a flow.

use faer::{Mat, Side};

use super::basis::Basis;

/// How the modes of a basis decay: exactly, each eigenmode by itself and the others together, whose decay lies within their span but for what leaves it.
#[derive(Clone, Debug)]
pub struct Decay {
    /// λ of each eigenmode.
    eigenvalues: Vec<f64>,
    /// The roots of the energies of the other modes.
    scales: Vec<f64>,
    /// The combinations of them that decay by themselves, one a column, and how fast.
    vectors: Mat<f64>,
    values: Vec<f64>,
}

impl Decay {
    /// Of the modes of a basis.
    pub fn new(basis: &Basis) -> Self {
        let sines = &basis.sines;
        let modes = &basis.enrichment;
        // ⟨m, -Δ n⟩ in energy is the sum of w² over sines.
        let product = |i: usize, j: usize| -> f64 {
            modes[i].vorticity.iter().zip(&modes[j].vorticity).map(|(a, b)| a * b).sum()
        };
        let eigenvalues = basis.eigenmodes.iter().map(|&mode| sines.eigenvalue(sines.place(mode))).collect();
        if modes.is_empty() {
            return Self::apart(eigenvalues);
        }
        let rates = Mat::from_fn(modes.len(), modes.len(), product);
        Self { eigenvalues, ..Self::together(rates, vec![1.0; modes.len()]) }
    }

    /// Of modes that each decay by themselves.
    pub(crate) fn apart(eigenvalues: Vec<f64>) -> Self {
        Self { eigenvalues, scales: Vec::new(), vectors: Mat::new(), values: Vec::new() }
    }

    /// Of modes that decay together: a symmetric matrix says how, of coefficients over the roots of their energies.
    pub(crate) fn together(rates: Mat<f64>, scales: Vec<f64>) -> Self {
        let eigen =
            rates.self_adjoint_eigen(Side::Lower).expect("a symmetric matrix of numbers has eigenvalues");
        let values = eigen.S().column_vector().iter().copied().collect();
        Self { eigenvalues: Vec::new(), scales, vectors: eigen.U().to_owned(), values }
    }

    /// Lets a flow decay; `diffusion` is the kinematic viscosity times the time, in m².
    pub fn apply(&self, flow: &mut [f64], diffusion: f64) {
        let (eigenmodes, others) = flow.split_at_mut(self.eigenvalues.len());
        for (w, eigenvalue) in eigenmodes.iter_mut().zip(&self.eigenvalues) {
            *w *= (-diffusion * eigenvalue).exp();
        }
        let before: Vec<f64> = others.iter().zip(&self.scales).map(|(c, scale)| c / scale).collect();
        others.fill(0.0);
        for (column, rate) in self.values.iter().enumerate() {
            let part: f64 = before.iter().enumerate().map(|(row, c)| c * self.vectors[(row, column)]).sum();
            for (row, to) in others.iter_mut().enumerate() {
                *to += (-diffusion * rate).exp() * part * self.vectors[(row, column)];
            }
        }
        others.iter_mut().zip(&self.scales).for_each(|(c, scale)| *c *= scale);
    }
}

//! What viscosity takes from a flow between islands.

use faer::Mat;

use super::modes::Modes;
use crate::flow::Decay;

impl Decay {
    /// Of the modes of a domain, whose fluid slips along walls and islands: the energy decays by the square of the vorticity, 2ν of the enstrophy, and what has no vorticity stays. Where there are
    /// islands, vorticity that they take up changes the circulation about them, so that modes decay together.
    pub fn of_domain(modes: &Modes) -> Self {
        let eigenvalues = modes.eigenvalues().to_vec();
        if modes.nodes().islands == 0 {
            return Self::apart(eigenvalues);
        }
        let count = eigenvalues.len();
        let roots: Vec<f64> = eigenvalues.iter().map(|l| l.sqrt()).collect();
        // The vorticity of a mode of unit energy, by eigenmodes: this and its transpose make ∫ω².
        let vorticity = Mat::from_fn(count, modes.len(), |row, column| match column.checked_sub(count) {
            None if row == column => roots[row],
            None => 0.0,
            Some(circulation) => -modes.turning()[circulation][row],
        });
        let scales = roots.into_iter().chain((count..modes.len()).map(|_| 1.0)).collect();
        Self::together(vorticity.transpose() * &vorticity, scales)
    }
}

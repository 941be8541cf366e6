//! What steps in time need to know of modes.

/// How the modes of a flow carry each other: in a box of the plane by sines, between islands by a tensor, and in a box in space by sines again.
pub trait Advection {
    /// The rate at which a flow carries its own vorticity.
    fn rate(&mut self, flow: &[f64], rate: &mut [f64]);

    /// Holds the velocity of a flow, which is to carry others.
    fn set_velocity(&mut self, flow: &[f64]);

    /// The rate at which the velocity that is held carries the vorticity of a flow.
    fn rate_of(&mut self, flow: &[f64], rate: &mut [f64]);

    /// Cells of waves that the velocity that is held passes in a second: a step of explicit integration may not be longer than a few over this.
    fn frequency(&self) -> f64;

    /// For each mode what the square of its coefficient adds to the sum of w² / λ, to which the energy is proportional.
    fn squares(&self) -> &[f64];

    /// λ of the eigenmodes, which come first, if the sum of squares of what of their coefficients turns, the enstrophy, is kept, and other modes stay as they are.
    fn eigenvalues(&self) -> Option<&[f64]>;

    /// The part of the coefficients of eigenmodes that does not turn, if there may be one.
    fn irrotational(&self, _flow: &[f64]) -> Vec<f64> {
        Vec::new()
    }

    /// The sum of w² / λ.
    fn energy(&self, flow: &[f64]) -> f64 {
        self.squares().iter().zip(flow).map(|(square, c)| square * c * c).sum()
    }
}

//! What sheets are to the modes.

use super::immersed::Immersed;
use super::panel::Panel;
use crate::flow::{Sines, sums_of_sines};

impl Immersed<'_> {
    /// The vorticity of sheets with these strengths in sines, which knows of the walls: 4 / A times the integral of each sine along the panels, by two points of each.
    pub fn vorticity_of_sheets(&self, strengths: &[f64], sines: &Sines) -> Vec<f64> {
        let gauss = 0.5 / 3f64.sqrt();
        let of_panel = |(panel, strength): (&Panel, &f64)| {
            let weight = 2.0 / sines.area() * strength * panel.length;
            [-gauss, gauss].map(|along| {
                let at = [0, 1].map(|axis| panel.middle[axis] + along * panel.length * panel.tangent[axis]);
                (at, weight)
            })
        };
        let points: Vec<([f64; 2], f64)> = self.panels().iter().zip(strengths).flat_map(of_panel).collect();
        sums_of_sines(sines, &points)
    }
}

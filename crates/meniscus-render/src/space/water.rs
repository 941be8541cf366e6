//! What water does to the light that runs through it.

use super::scene::Medium;
use crate::vec3::Vec3;

/// How much light of any colour is lost by scattering rather than absorption, as an optical depth, over the
/// length that gives the water its colour.
const SCATTERED: f32 = 0.25;

/// The light in the water, from all sides, that is scattered.
const LIGHT_WITHIN: f32 = 0.6;

/// Absorption by Beer and Lambert, and a little light that the water scatters towards the eye.
pub(super) struct Water {
    /// Per cell.
    absorption: Vec3,
    /// What is seen in endless water.
    glow: Vec3,
}

impl Water {
    /// Water that lets the part `colour` of white light through over `length` cells.
    pub fn new(colour: [f32; 3], length: f32) -> Self {
        let colour = Vec3::from_array(colour).map(|c| c.clamp(1e-3, 1.0));
        let lost = colour.map(|c| -c.ln());
        let glow = lost.map(|lost| LIGHT_WITHIN * SCATTERED / lost.max(SCATTERED));
        Self { absorption: lost / length, glow }
    }

    /// The part of the light that passes `t` cells of a medium.
    pub fn transmittance(&self, medium: Medium, t: f32) -> Vec3 {
        match medium {
            Medium::Water => self.absorption.map(|a| (-a * t).exp()),
            Medium::Air | Medium::Glass => Vec3::ONE,
        }
    }

    /// What is seen through `t` cells of a medium with `light` behind it.
    pub fn veil(&self, medium: Medium, t: f32, light: Vec3) -> Vec3 {
        if medium != Medium::Water {
            return light;
        }
        let through = self.transmittance(medium, t);
        light * through + self.glow * (Vec3::ONE - through)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vec3::vec3;

    #[test]
    fn water_takes_the_colour_it_is_given() {
        let water = Water::new([0.2, 0.6, 0.7], 64.0);
        let through = water.transmittance(Medium::Water, 64.0);
        assert!((through - vec3(0.2, 0.6, 0.7)).length() < 1e-5);
        assert_eq!(water.transmittance(Medium::Air, 64.0), Vec3::ONE);
        assert_eq!(water.veil(Medium::Water, 0.0, Vec3::ONE), Vec3::ONE);
        let clear = Water::new([1.0; 3], 64.0);
        assert_eq!(clear.veil(Medium::Water, 64.0, Vec3::ONE), Vec3::ONE);
    }
}

//! What water does to the light that runs through it.

use super::scene::Medium;
use crate::vec3::{Vec3, vec3};

/// Absorption by Beer and Lambert, and a little light that the water scatters towards the eye.
pub(super) struct Water {
    /// Per cell.
    absorption: Vec3,
    glow: Vec3,
}

impl Water {
    /// Water that lets the part `colour` of white light through over `length` cells.
    pub fn new(colour: [f32; 3], length: f32) -> Self {
        let colour = Vec3::from_array(colour).map(|c| c.clamp(1e-3, 1.0));
        Self { absorption: colour.map(|c| -c.ln() / length), glow: colour * colour * vec3(0.5, 0.62, 0.62) }
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

    /// The colour of endless water.
    pub fn deep(&self) -> Vec3 {
        self.glow
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn water_takes_the_colour_it_is_given() {
        let water = Water::new([0.2, 0.6, 0.7], 64.0);
        let through = water.transmittance(Medium::Water, 64.0);
        assert!((through - vec3(0.2, 0.6, 0.7)).length() < 1e-5);
        assert_eq!(water.transmittance(Medium::Air, 64.0), Vec3::ONE);
        assert_eq!(water.veil(Medium::Water, 0.0, Vec3::ONE), Vec3::ONE);
    }
}

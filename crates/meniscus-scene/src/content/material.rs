//! What a liquid is made of, by name.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A preset of `density`, `viscosity` and `surface_tension`; keys that are given beside it override it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Material {
    /// Water at 20 °C: 998.2 kg/m3, 0.001002 Pa s, 0.0728 N/m (CRC Handbook of Chemistry and Physics).
    Water,
    /// Honey at room temperature: 1420 kg/m3, 10 Pa s, 0.055 N/m. Round values: at 25 °C honeys reach from about 2 Pa s (20 %
    /// water) to 40 Pa s (14 % water), at 0.05 to 0.06 N/m.
    Honey,
    /// Olive oil at 20 °C: 911 kg/m3, 0.084 Pa s (CRC Handbook of Chemistry and Physics), 0.032 N/m (Young and Freedman,
    /// University Physics).
    Oil,
    /// Glycerine at 20 °C: 1261 kg/m3, 1.41 Pa s (Segur and Oberstar, Ind. Eng. Chem. 43, 1951), 0.0631 N/m (Young and
    /// Freedman, University Physics).
    Glycerine,
}

impl Material {
    /// Its density in kg/m3, viscosity in Pa s and surface tension in N/m; where the values come from stands at the
    /// variants.
    pub fn properties(self) -> [f64; 3] {
        match self {
            Self::Water => [998.2, 0.001_002, 0.0728],
            Self::Honey => [1420.0, 10.0, 0.055],
            Self::Oil => [911.0, 0.084, 0.032],
            Self::Glycerine => [1261.0, 1.41, 0.0631],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_values_are_the_documented_ones() {
        let words = crate::schema()["$defs"]["Material"]["oneOf"].clone();
        for (material, rule) in [Material::Water, Material::Honey, Material::Oil, Material::Glycerine]
            .iter()
            .zip(words.as_array().unwrap())
        {
            assert_eq!(rule["const"], serde_json::to_value(material).unwrap());
            let text = rule["description"].as_str().unwrap();
            let [density, viscosity, tension] = material.properties();
            for value in [format!("{density} kg/m3"), format!("{viscosity} Pa s"), format!("{tension} N/m")] {
                assert!(text.contains(&format!(" {value}")), "{value} in {text}");
            }
        }
    }
}

//! How the deep interior of fluids moves together, as it is written.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the deep interior of fluids moves together. Cells along surfaces and solids stay cells; what lies deeper is cut into boxes that each move with a velocity that is
/// affine: a translation, a rotation and a stretching. The pressure then has far fewer unknowns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Regions {
    /// What the interior is cut into.
    pub model: RegionModel,
    /// The edge of a tile in cells, a multiple of 8; with `model = "graded"` that of the smallest.
    #[schemars(range(min = 8, max = 256))]
    pub tile: u32,
    /// The edge of the largest tile in cells, `tile` times a power of 2. Only with `model = "graded"`.
    #[schemars(range(min = 8, max = 1024))]
    pub largest: u32,
    /// Which fluids are cut.
    pub fluids: RegionFluids,
    /// Layers along a free surface that stay cells. Fewer let the tiles be seen on it.
    #[schemars(range(min = 1, max = 64))]
    pub surface_band: u32,
    /// Layers on each side of the surface between two fluids that stay cells; 6 if both are cut and 3 if only one is, if left out.
    #[schemars(range(min = 1, max = 64))]
    pub interface_band: Option<u32>,
    /// Layers along solids and the sides of the domain that stay cells. A body that moves with the liquid wants more, six or eight, for the flow around it.
    #[schemars(range(min = 1, max = 64))]
    pub solid_band: u32,
}

impl Default for Regions {
    fn default() -> Self {
        Self {
            model: RegionModel::None,
            tile: 16,
            largest: 64,
            fluids: RegionFluids::Both,
            surface_band: 9,
            interface_band: None,
            solid_band: 2,
        }
    }
}

/// What the interior of fluids is cut into.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RegionModel {
    /// Every cell moves on its own.
    #[default]
    None,
    /// What is connected is one region: enough for small drops.
    Single,
    /// Tiles of one size, with a layer of cells between them.
    Tiles,
    /// Tiles that are larger the farther they are from surfaces and solids.
    Graded,
}

/// Which fluids are cut into regions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RegionFluids {
    /// Only the liquid, of the first kind if there are two.
    Liquid,
    /// Only air that is simulated, or the liquids of the second kind.
    Air,
    /// All that are simulated.
    #[default]
    Both,
}

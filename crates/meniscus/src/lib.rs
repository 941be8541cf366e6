//! Liquids with a front door: scene to simulation to frames.

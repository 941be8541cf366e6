//! The domain, and refusing absurd ones before anything is allocated.

use meniscus_core::grid::Grid;
use meniscus_core::shape::Bounds;

use crate::content::{Content, Method};
use crate::document::Node;
use crate::problem::Problems;

const MOST_CELLS_ALONG_AN_AXIS: f64 = 4096.0;
const MOST_CELLS: f64 = (1_u64 << 30) as f64;
const SIDES: std::ops::RangeInclusive<f64> = 1e-6..=1e6;
/// With fewer cells along the longest side there is no flow to see.
const FEWEST_CELLS: f64 = 8.0;
/// A side of a reduced fluid, which has no cells, that becomes longer or shorter by more than this part is not what was meant.
const MOST_ROUNDING: f64 = 0.1;
/// A side this near to a whole number of cells, in cells, is one.
const WHOLE: f64 = 1e-6;

/// The cells of a domain in two or three dimensions.
pub(super) struct Domain {
    dx: f64,
    cells: Vec<usize>,
}

impl Domain {
    pub fn new(content: &Content, root: &Node, problems: &mut Problems) -> Option<Self> {
        let node = root.at("domain");
        let size = &content.domain.size;
        if !(2..=3).contains(&size.len()) {
            let message = format!("`domain.size` must have 2 or 3 entries, not {}", size.len());
            let help = "give the sides in metres: [width, height] for a 2D scene, [width, height, depth] for a 3D one";
            problems.error(&node.at("size").place, message, format!("{} entries", size.len()), help);
            return None;
        }
        for (axis, side) in size.iter().enumerate().filter(|(_, side)| !SIDES.contains(side)) {
            let (message, help) = if *side > 0.0 {
                let (least, most) = (SIDES.start(), SIDES.end());
                (
                    format!("a side of the domain is {side:e} m long"),
                    format!("give sides of {least:e} to {most:e} metres"),
                )
            } else {
                ("a side of the domain must be longer than zero".into(), "give its length in metres".into())
            };
            problems.error(&node.at("size").entry(axis).place, message, "this side", help);
        }
        if size.iter().any(|side| !SIDES.contains(side)) {
            return None;
        }
        let longest = size.iter().copied().fold(0.0, f64::max);
        let along = content.domain.cells as f64;
        // In floating point, so that nothing overflows before it is refused.
        let cells: Vec<f64> = size.iter().map(|side| (side / longest * along).round().max(1.0)).collect();
        if along > MOST_CELLS_ALONG_AN_AXIS || cells.iter().product::<f64>() > MOST_CELLS {
            refuse_absurd(size, &cells, &node.at("cells").place, problems);
            return None;
        }
        if along < FEWEST_CELLS && content.method == Method::Grid {
            problems.warning(
                &node.at("cells").place,
                "so few cells cannot show how a liquid moves",
                "cells along the longest side",
                "begin with 64, and double it until the result no longer changes",
            );
        }
        let dx = longest / along;
        for (axis, (side, cells)) in size.iter().zip(&cells).enumerate() {
            if (side / dx - cells).abs() > WHOLE {
                let (name, made) = (["x", "y", "z"][axis], cells * dx);
                if content.method == Method::Modes && (made / side - 1.0).abs() > MOST_ROUNDING {
                    problems.error(
                        &node.at("cells").place,
                        format!("with so few cells the domain is not {side} m along {name} but {made:.6} m"),
                        format!("{cells} cells of {dx:.6} m"),
                        format!("give {} cells at least", (longest / side).ceil()),
                    );
                    return None;
                }
                problems.warning(
                    &node.at("size").entry(axis).place,
                    format!(
                        "the domain is not a whole number of cells along {name}: {side} m becomes {made:.6} m"
                    ),
                    format!("{cells} cells of {dx:.6} m"),
                    format!("for no rounding, give {made:.6}, or another number of cells"),
                );
            }
        }
        Some(Self { dx, cells: cells.into_iter().map(|c| c as usize).collect() })
    }

    pub fn dimension(&self) -> usize {
        self.cells.len()
    }

    pub fn grid<const D: usize>(&self) -> Grid<D> {
        Grid { origin: [0.0; D], dx: self.dx, cells: std::array::from_fn(|a| self.cells[a]) }
    }
}

/// The box that the cells fill.
pub(super) fn bounds<const D: usize>(grid: &Grid<D>) -> Bounds<D> {
    Bounds { lower: grid.origin, upper: grid.point(grid.cells.map(|c| c as f64)) }
}

fn refuse_absurd(size: &[f64], cells: &[f64], place: &crate::problem::Place, problems: &mut Problems) {
    let count: f64 = cells.iter().product();
    // About eight (2D: four) particles with their affine velocities, and the fields of the grid.
    let bytes_per_cell = if size.len() == 3 { 600.0 } else { 200.0 };
    let volume_in_longest_cubes = count / cells.iter().copied().fold(1.0, f64::max).powi(size.len() as i32);
    let fits = (MOST_CELLS / volume_in_longest_cubes).powf(1.0 / size.len() as f64);
    let most = fits.min(MOST_CELLS_ALONG_AN_AXIS).floor();
    let sides: Vec<String> = cells.iter().map(|c| amount(*c)).collect();
    problems.error(
        place,
        format!("`domain.cells` makes {} = {} cells", sides.join(" x "), amount(count)),
        format!("filled with liquid they would take about {}", memory(bytes_per_cell * count)),
        format!(
            "set domain.cells to at most {most} for this size; begin with 64 and double it until the result no longer \
             changes (doubling costs {} times the memory)",
            1 << size.len()
        ),
    );
}

fn amount(count: f64) -> String {
    if count < 1e7 { format!("{count}") } else { format!("{count:.1e}") }
}

fn memory(bytes: f64) -> String {
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let mut scaled = bytes;
    let mut unit = 0;
    while scaled >= 1024.0 && unit + 1 < units.len() {
        scaled /= 1024.0;
        unit += 1;
    }
    if scaled < 1e4 {
        format!("{scaled:.0} {}", units[unit])
    } else {
        format!("{scaled:.0e} {}", units[unit])
    }
}

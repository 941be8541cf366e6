//! A picture of a scene in space with its front cut off, to show which cells move together.
//! `cargo run --release -p meniscus --example cut_away SCENE FRAMES PICTURE.png [PATH=VALUE]...`

use std::error::Error;

use meniscus::{Scene, Simulation};
use meniscus_core::grid::{Field, Slot};
use meniscus_core::shape::Shape;
use meniscus_liquid::projection::{AffineTiles, NO_TILE};
use meniscus_render::{Camera, SolidLook, Style3, View, encode_png, render_3d};

/// How far the regions stand out of the cut, in cells.
const RELIEF: f64 = 0.1;

const COLOURS: [[u8; 3]; 6] =
    [[226, 138, 100], [240, 196, 110], [150, 190, 120], [186, 150, 205], [228, 160, 180], [205, 170, 130]];

/// Cells of a region in the plane of the cut: from the lower to the upper corner, in x and y.
struct Plate {
    region: u32,
    lower: [usize; 2],
    upper: [usize; 2],
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [scene, frames, picture, overrides @ ..] = arguments.as_slice() else {
        return Err("give a scene, a number of frames, and a file for the picture".into());
    };
    let scene = Scene::open(scene, overrides)?;
    let mut simulation = Simulation::new(&scene)?;
    for _ in 0..frames.parse()? {
        simulation.advance_frame()?;
    }
    let regions = simulation.regions().ok_or("the scene has no [regions]")?;
    let frame = simulation.frame();
    let frame = frame.space().ok_or("the scene is in the plane")?;
    let cut = frame.grid.cells[2] / 2 + 4;
    let liquid = frame.liquid().ok_or("there is no liquid")?;
    let level_set = without_front(liquid.level_set, cut);
    let plates = plates(&regions, liquid.level_set, cut - 1);
    let to_metres = |cell: [f64; 3]| std::array::from_fn(|a| frame.grid.origin[a] + cell[a] * frame.grid.dx);
    let solid = |plate: &Plate| {
        let corner = |at: [usize; 2], z: f64| to_metres([at[0] as f64, at[1] as f64, z]);
        Shape::box_between(corner(plate.lower, cut as f64 - 1.0), corner(plate.upper, cut as f64 + RELIEF))
    };
    let solids: Vec<Shape<3>> = plates.iter().map(solid).collect::<Result<_, _>>()?;
    let colour = |plate: &Plate| SolidLook::Painted(COLOURS[plate.region as usize % COLOURS.len()]);
    let style = Style3 {
        width: 1200,
        height: 720,
        camera: Some(Camera {
            from: to_metres([0.62, 0.75, 2.6].map(|c| c * frame.grid.cells[0] as f64)),
            to: to_metres([0.5, 0.24, 0.5].map(|c| c * frame.grid.cells[0] as f64)),
            fov_degrees: 28.0,
        }),
        solids: plates.iter().map(colour).collect(),
        ..Style3::default()
    };
    let view = View {
        grid: &frame.grid,
        level_set: &level_set,
        velocity: liquid.velocity,
        solids: &solids,
        air: None,
        smoke: &[],
        open: [[false; 2]; 3],
    };
    std::fs::write(picture, encode_png(&render_3d(&view, &style)))?;
    Ok(())
}

/// The liquid behind the plane at `cut` cells along z.
fn without_front(level_set: &Field<f32, 3>, cut: usize) -> Field<f32, 3> {
    let mut behind = level_set.clone();
    let blocks = level_set.blocks().clone();
    for (i, value) in behind.values_mut().iter_mut().enumerate() {
        let z = blocks.cell(Slot::from_flat::<3>(i))[2];
        *value = value.max(z as f32 + 0.5 - cut as f32);
    }
    behind
}

/// The cells of regions in a layer, in rectangles.
fn plates(regions: &AffineTiles, level_set: &Field<f32, 3>, z: usize) -> Vec<Plate> {
    let cells = level_set.blocks().cells();
    let region_at = |x: usize, y: usize| {
        let slot = level_set.blocks().locate([x, y, z].map(|c| c as i64))?;
        Some(regions.of_slot[slot.flat::<3>()]).filter(|&region| region != NO_TILE)
    };
    let mut plates: Vec<Plate> = Vec::new();
    for y in 0..cells[1] {
        let mut x = 0;
        while x < cells[0] {
            let Some(region) = region_at(x, y) else {
                x += 1;
                continue;
            };
            let end = (x..cells[0]).find(|&x| region_at(x, y) != Some(region)).unwrap_or(cells[0]);
            let continues = |p: &&mut Plate| p.region == region && (p.lower[0], p.upper) == (x, [end, y]);
            match plates.iter_mut().find(continues) {
                Some(plate) => plate.upper[1] = y + 1,
                None => plates.push(Plate { region, lower: [x, y], upper: [end, y + 1] }),
            }
            x = end;
        }
    }
    plates
}

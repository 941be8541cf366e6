//! Renders made-up liquids into a folder, to look at: `cargo run --release --example look -- FOLDER [NAME]`.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use meniscus_core::grid::{Blocks, FaceField, Field, Grid};
use meniscus_core::level_set::redistance;
use meniscus_core::shape::Shape;
use meniscus_render::{GifWriter, LiquidColour, Style2, Style3, View, render_2d, render_3d, write_png};

/// A level set in space, in cells, at a point in cells.
type Distance = fn([f32; 3]) -> f32;

/// A made-up liquid.
struct Sample {
    name: &'static str,
    cells: [usize; 3],
    liquid: Distance,
    solids: Vec<Shape<3>>,
    /// Seen through particles, as a simulation gives it.
    bumpy: bool,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().unwrap_or_else(|| "look".into());
    let only = arguments.next();
    std::fs::create_dir_all(&folder)?;
    for sample in samples()?.iter().filter(|s| only.as_ref().is_none_or(|only| s.name == only)) {
        draw(Path::new(&folder), sample)?;
    }
    if only.as_ref().is_none_or(|only| only == "plane") {
        draw_plane(Path::new(&folder))?;
    }
    Ok(())
}

#[allow(clippy::print_stdout)]
fn draw(folder: &Path, sample: &Sample) -> Result<(), Box<dyn std::error::Error>> {
    let grid = Grid { origin: [0.0; 3], dx: 1.0 / 64.0, cells: sample.cells };
    let level_set = if sample.bumpy { particle_surface(sample) } else { smooth_surface(sample) };
    let velocity = FaceField::new(level_set.blocks().clone(), 0.0);
    let view = View {
        grid: &grid,
        level_set: &level_set,
        velocity: &velocity,
        solids: &sample.solids,
        air: None,
        smoke: &[],
        open: [[false; 2]; 3],
    };
    let start = Instant::now();
    let picture = render_3d(&view, &Style3::default());
    println!("{}: {:.2} s", sample.name, start.elapsed().as_secs_f64());
    write_png(folder.join(format!("{}.png", sample.name)), &picture)?;
    Ok(())
}

/// A sloshing plane liquid around a disc: one picture with everything, and a moving one.
#[allow(clippy::print_stdout)]
fn draw_plane(folder: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let grid = Grid { origin: [0.0; 2], dx: 2.0 / 128.0, cells: [128, 64] };
    let solids = [Shape::sphere([1.3, 0.35], 0.16)?];
    let draw = |time: f64, style: &Style2| {
        let blocks = Arc::new(Blocks::all(grid.cells));
        let phase = (5.0 * time as f32).cos();
        let level_set = Field::from_fn(blocks.clone(), 3.0, |c| {
            let [x, y] = c.map(|c| c as f32 + 0.5);
            let drop = ((x - 84.0).powi(2) + (y - 52.0 + 30.0 * time as f32).powi(2)).sqrt() - 4.0;
            let pool = 0.85 * (y - 30.0 - phase * 12.0 * (std::f32::consts::PI * x / 128.0).cos());
            pool.min(drop).clamp(-3.0, 3.0)
        });
        let velocity = FaceField::from_fn(blocks, 0.0, |axis, c| {
            let x = c[0] as f32 + if axis == 0 { 0.0 } else { 0.5 } - 64.0;
            let y = c[1] as f32 + if axis == 1 { 0.0 } else { 0.5 } - 16.0;
            if axis == 0 { 0.05 * y - 0.01 * x } else { 0.01 * y - 0.03 * x }
        });
        let open = [[false; 2], [false, true]];
        let view = View {
            grid: &grid,
            level_set: &level_set,
            velocity: &velocity,
            solids: &solids,
            air: None,
            smoke: &[],
            open,
        };
        render_2d(&view, style)
    };
    let liquid = LiquidColour::Speed { max_speed: 2.5 };
    let start = Instant::now();
    let style = Style2 { liquid, streamlines: true, time: Some(0.125), ..Style2::default() };
    let picture = draw(0.125, &style);
    println!("plane: {:.2} s", start.elapsed().as_secs_f64());
    write_png(folder.join("plane.png"), &picture)?;
    let small = Style2 { width: 480, height: 270, liquid, ..Style2::default() };
    let file = std::io::BufWriter::new(std::fs::File::create(folder.join("plane.gif"))?);
    let mut movie = GifWriter::new(file, [480, 270], 25.0)?;
    for k in 0..30 {
        let time = 0.04 * f64::from(k);
        movie.add(&draw(time, &Style2 { time: Some(time), ..small.clone() }))?;
    }
    movie.finish()?;
    Ok(())
}

fn smooth_surface(sample: &Sample) -> Field<f32, 3> {
    Field::from_fn(Arc::new(Blocks::all(sample.cells)), 3.0, |cell| {
        (sample.liquid)(cell.map(|c| c as f32 + 0.5)).clamp(-3.0, 3.0)
    })
}

/// The union of balls around particles, one in each half-cell of the liquid, at a place by hash.
fn particle_surface(sample: &Sample) -> Field<f32, 3> {
    const RADIUS: f32 = 0.87;
    let particle = |cell: [i64; 3], k: i64| -> [f32; 3] {
        std::array::from_fn(|a| {
            let seed =
                (cell[0] * 73_856_093) ^ (cell[1] * 19_349_663) ^ (cell[2] * 83_492_791) ^ (8 * a as i64 + k);
            let random = (seed.wrapping_mul(0x5851_F42D_4C95_7F2D) >> 40 & 1023) as f32 / 1024.0;
            cell[a] as f32 + 0.5 * ((k >> a & 1) as f32 + random)
        })
    };
    let blocks = Arc::new(Blocks::all(sample.cells));
    // Bit `k`: whether the particle of half-cell `k` is there. The surface of the balls lies outside them.
    let present = Field::from_fn(blocks.clone(), 0u8, |cell| {
        let there = |k: &i64| (sample.liquid)(particle(cell.map(|c| c as i64), *k)) < -0.5;
        (0..8).filter(there).fold(0, |bits, k| bits | 1 << k)
    });
    let mut level_set = Field::from_fn(blocks, 3.0, |cell| {
        let centre = cell.map(|c| c as f32 + 0.5);
        let mut nearest = 4.0f32;
        for offset in 0..125 {
            let offset = [offset % 5, offset / 5 % 5, offset / 25];
            let near = std::array::from_fn(|a| cell[a] as i64 + offset[a] - 2);
            let bits = present.get(near);
            for x in (0..8).filter(|k| bits >> k & 1 == 1).map(|k| particle(near, k)) {
                nearest = nearest.min((0..3).map(|a| (x[a] - centre[a]).powi(2)).sum());
            }
        }
        nearest.sqrt() - RADIUS
    });
    redistance(&mut level_set, 3.0);
    level_set
}

fn samples() -> Result<Vec<Sample>, Box<dyn std::error::Error>> {
    let pillar = Shape::cylinder([1.25, -0.1, 0.5], [1.25, 0.7, 0.5], 0.11)?;
    let bowl = Shape::sphere([0.5, 0.55, 0.5], 0.47)?.shell(0.06)?;
    let bowl = bowl.difference(Shape::half_space([0.0, 0.62, 0.0], [0.0, -1.0, 0.0])?);
    let cube = Shape::centred_box([0.5, 0.12, 0.5], [0.12, 0.12, 0.12])?;
    let sample = |name, cells, liquid, solids, bumpy| Sample { name, cells, liquid, solids, bumpy };
    Ok(vec![
        sample("dam-break", [128, 64, 64], dam_break, vec![pillar.clone()], false),
        sample("dam-break-particles", [128, 64, 64], dam_break, vec![pillar], true),
        sample("pool", [64, 64, 64], pool, vec![cube], false),
        sample("ball", [64, 64, 64], ball, vec![], false),
        sample("bowl", [64, 64, 64], in_bowl, vec![bowl], false),
        sample("drops", [64, 64, 64], drops, vec![], true),
    ])
}

fn sphere([x, y, z]: [f32; 3], centre: [f32; 3], radius: f32) -> f32 {
    ((x - centre[0]).powi(2) + (y - centre[1]).powi(2) + (z - centre[2]).powi(2)).sqrt() - radius
}

/// A union with rounded valleys.
fn smooth_min(a: f32, b: f32, k: f32) -> f32 {
    let h = (k - (a - b).abs()).max(0.0) / k;
    a.min(b) - 0.25 * h * h * k
}

/// A wave that has run over a pool, a column still falling, a splash crown and its drops.
fn dam_break(p: [f32; 3]) -> f32 {
    let [x, y, z] = p;
    let ripples = (0.19 * x + 0.7 * (0.13 * z).sin()).sin() + 0.5 * (0.41 * z - 0.23 * x).sin();
    let swell = 10.0 + 1.1 * ripples + 12.0 * (-((x - 96.0) / 13.0).powi(2)).exp();
    let pool = 0.85 * (y - swell);
    let column = {
        let edge = 24.0 + 3.0 * (0.15 * z).sin() + 0.006 * (50.0 - y).powi(2);
        0.9 * (x - edge).max(y - 50.0 - 1.5 * (0.2 * x + 0.1 * z).sin())
    };
    let mut liquid = smooth_min(pool, column, 10.0);
    let (cx, cz) = (56.0, 34.0);
    let angle = (z - cz).atan2(x - cx);
    let radius = ((x - cx).powi(2) + (z - cz).powi(2)).sqrt();
    let height = y - 11.0;
    let lean = 9.0 + 0.25 * height.max(0.0) + 0.5 * (7.0 * angle).sin();
    let top = 9.0 + 3.0 * (9.0 * angle).sin();
    let crown = ((radius - lean).abs() - 1.2 + 0.03 * height.max(0.0)).max(height - top);
    liquid = smooth_min(liquid, 0.9 * crown, 3.0);
    for k in 0..34 {
        let a = k as f32 * 2.4;
        let out = 9.0 + 0.5 * (k as f32 * 1.7) % 11.0;
        let rise = 23.0 + (k as f32 * 5.3) % 18.0;
        let size = 0.8 + 1.6 * ((k * 7) % 10) as f32 / 10.0;
        liquid = smooth_min(liquid, sphere(p, [cx + out * a.cos(), rise, cz + out * a.sin()], size), 1.0);
    }
    liquid
}

fn pool([x, y, z]: [f32; 3]) -> f32 {
    y - 30.0 - 0.35 * (0.35 * x + 0.2 * z).sin() - 0.25 * (0.31 * z - 0.14 * x).sin()
}

fn ball(p: [f32; 3]) -> f32 {
    sphere(p, [32.0, 34.0, 32.0], 20.0)
}

fn in_bowl(p: [f32; 3]) -> f32 {
    (p[1] - 28.0 - 0.8 * (0.3 * p[0]).sin()).max(sphere(p, [32.0, 35.2, 32.0], 29.5))
}

fn drops(p: [f32; 3]) -> f32 {
    let mut liquid = 0.9 * (p[1] - 6.0 - 0.8 * (0.3 * p[0] + 0.2 * p[2]).sin());
    for k in 0..60 {
        let k = k as f32;
        let centre = [4.0 + (k * 13.7) % 56.0, 10.0 + (k * 7.9) % 50.0, 4.0 + (k * 23.3) % 56.0];
        liquid = liquid.min(sphere(p, centre, 0.6 + (k * 0.37) % 3.0));
    }
    liquid
}

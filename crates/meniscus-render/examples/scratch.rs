//! x
use meniscus_core::grid::*;
use meniscus_core::shape::*;
use meniscus_render::*;
use std::sync::Arc;
fn main() {
    let t = std::time::Instant::now();
    let go = |name: &str,
              n: usize,
              solids: &[Shape<3>],
              style: &Style3,
              f: &(dyn Fn([f32; 3]) -> f32 + Sync)| {
        let grid = Grid { origin: [0.0; 3], dx: 1.0 / n as f64, cells: [n; 3] };
        let blocks = Arc::new(Blocks::all(grid.cells));
        let level_set = Field::from_fn(blocks.clone(), 3.0, |c| {
            (f(c.map(|c| (c as f32 + 0.5) / n as f32)) * n as f32).clamp(-3.0, 3.0)
        });
        let velocity = FaceField::new(blocks, 0.0);
        let view =
            View { grid: &grid, level_set: &level_set, velocity: &velocity, solids, open: [[false; 2]; 3] };
        let t = std::time::Instant::now();
        let p = render_3d(&view, style);
        println!("{name} {:.2}", t.elapsed().as_secs_f64());
        write_png(format!("/tmp/look/{name}.png"), &p).unwrap();
    };
    let _ = t;
    let hull = Shape::capsule([0.5, 0.3, 0.5], [0.5, 0.7, 0.5], 0.25).unwrap().complement();

    let waves = |[x, y, z]: [f32; 3]| {
        0.9 * (y
            - 0.35
            - 0.03 * (12.0 * x + 3.0 * z).sin()
            - 0.02 * (17.0 * z - 5.0 * x).sin()
            - 0.004 * (80.0 * x + 50.0 * z).sin()
            - 0.004 * (70.0 * z - 40.0 * x).sin())
    };

    let inside = Camera { from: [0.2, 0.15, 0.9], to: [0.6, 0.3, 0.3], fov_degrees: 70.0 };

    let wall = Shape::box_between([0.45, -0.1, -0.1], [0.55, 0.7, 1.1])
        .unwrap()
        .difference(Shape::cylinder([0.3, 0.2, 0.5], [0.7, 0.2, 0.5], 0.12).unwrap());
    go(
        "wall",
        64,
        &[wall, Shape::half_space([0.0, 0.05, 0.0], [0.0, 1.0, 0.0]).unwrap()],
        &Style3 {
            width: 800,
            height: 500,
            camera: Some(Camera { from: [1.6, 1.0, 2.3], to: [0.58, 0.1, 0.85], fov_degrees: 8.0 }),
            ..Style3::default()
        },
        &|[x, y, z]| {
            if x < 0.5 {
                (y - 0.6f32).max(x - 0.5)
            } else {
                0.9 * (y - 0.15 - 0.01 * (30.0 * x + 10.0 * z).sin())
            }
        },
    );
}

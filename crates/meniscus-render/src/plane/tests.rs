use std::sync::Arc;

use meniscus_core::grid::{Blocks, FaceField, Field, Grid};

use super::*;
use crate::colour::bubble_colour;
use crate::view::NO_AIR;

const GRID: Grid<2> = Grid { origin: [2.0, -1.0], dx: 0.1, cells: [20, 15] };

fn style() -> Style2 {
    Style2 { width: 230, height: 190, liquid: LiquidColour::Plain, legend: false, ..Style2::default() }
}

fn draw(level_set: impl Fn([f32; 2]) -> f32 + Sync, solids: &[Shape<2>], style: &Style2) -> Picture {
    let blocks = Arc::new(Blocks::all(GRID.cells));
    let level_set =
        Field::from_fn(blocks.clone(), 3.0, |c| level_set(c.map(|c| c as f32 + 0.5)).clamp(-3.0, 3.0));
    let velocity = FaceField::from_fn(blocks, 0.0, |axis, c| if axis == 0 { c[1] as f32 } else { 0.5 });
    let open = [[false; 2], [false, true]];
    render_2d(
        &View {
            grid: &GRID,
            level_set: &level_set,
            velocity: &velocity,
            solids,
            air: None,
            smoke: &[],
            open,
        },
        style,
    )
}

fn frame() -> Frame {
    Frame::new(GRID.cells, [style().width, style().height], 0.0)
}

fn column(picture: &Picture, x: usize) -> Vec<Vec3> {
    (0..picture.height).map(|y| from_srgb(picture.pixel(x, y))).collect()
}

#[test]
fn the_surface_line_lies_on_the_zero_of_the_level_set() {
    for height in [4.0, 6.27, 8.5] {
        let pixels = column(&draw(|[_, y]| y - height, &[], &style()), 115);
        // The line's own darkness, against air above and liquid below.
        let expected = frame().to_pixels([10.0, height])[1];
        let (mut weight, mut moment) = (0.0, 0.0);
        for (y, pixel) in pixels.iter().enumerate().filter(|(y, _)| (*y as f32 - expected).abs() < 4.0) {
            let dark = (from_srgb(LIQUID).y - pixel.y).max(0.0);
            weight += dark;
            moment += dark * (y as f32 + 0.5);
        }
        assert!(weight > 0.0);
        assert!((moment / weight - expected).abs() < 0.35, "{} for {expected}", moment / weight);
    }
}

#[test]
fn the_surface_moves_by_parts_of_a_pixel() {
    let scale = frame().scale;
    let (air, liquid) = (from_srgb(AIR).x, from_srgb(LIQUID).x);
    let total =
        |height: f32| column(&draw(|[_, y]| y - height, &[], &style()), 115).iter().map(|p| p.x).sum::<f32>();
    let low = total(5.0);
    for rise in [0.01, 0.02, 0.05, 0.13] {
        let moved = (low - total(5.0 + rise)) / (air - liquid);
        assert!((moved - rise * scale).abs() < 0.05, "{moved} for {}", rise * scale);
    }
}

#[test]
fn a_disc_has_the_right_area() {
    let radius = 4.3;
    let picture = draw(|[x, y]| (x - 10.2).hypot(y - 7.1) - radius, &[], &style());
    let air = from_srgb(AIR).x;
    let frame = frame();
    let mut covered = 0.0;
    for y in 0..picture.height {
        for x in 0..picture.width {
            let at = [x as f32 + 0.5, y as f32 + 0.5];
            if frame.distance(at) < -2.0 {
                covered += f64::from(coverage_of(from_srgb(picture.pixel(x, y)).x, air));
            }
        }
    }
    let outer = radius * frame.scale + half_line(style().height);
    let expected = f64::from(std::f32::consts::PI * outer * outer);
    assert!((covered / expected - 1.0).abs() < 0.01, "{covered} for {expected}");
}

/// Whether a pixel is no longer air, from its red light: nothing else in the picture is as bright.
fn coverage_of(red: f32, air: f32) -> f32 {
    ((air - red) / (air - from_srgb(LIQUID).x)).clamp(0.0, 1.0)
}

#[test]
fn solids_hide_the_liquid_and_nothing_is_drawn_outside() {
    let solid = [Shape::box_between([2.5, -1.0], [3.0, 0.5]).unwrap()];
    let picture = draw(|[_, y]| y - 9.0, &solid, &style());
    let frame = frame();
    let at = |cell: [f32; 2]| {
        let [x, y] = frame.to_pixels(cell);
        picture.pixel(x as usize, y as usize)
    };
    assert_eq!(at([7.5, 4.0]), SOLID);
    assert_eq!(at([15.0, 4.0]), LIQUID);
    assert_eq!(at([15.0, 12.0]), AIR);
    assert_eq!(picture.pixel(0, 0), PAPER);
    assert_eq!(picture.pixel(229, 189), PAPER);
}

#[test]
fn fast_liquid_is_lighter_up_to_the_surface() {
    let style = Style2 { liquid: LiquidColour::Speed { max_speed: 15.0 }, ..style() };
    let picture = draw(|[_, y]| y - 9.0, &[], &style);
    let frame = frame();
    let light: Vec<u32> = (1..=8)
        .map(|y| {
            let [x, y] = frame.to_pixels([10.0, y as f32 + 0.5]);
            picture.pixel(x as usize, y as usize).map(u32::from).iter().sum()
        })
        .collect();
    assert!(light.windows(2).all(|pair| pair[1] > pair[0]), "{light:?}");
}

#[test]
fn streamlines_stay_in_the_liquid() {
    let plain = style();
    let lined = Style2 { streamlines: true, ..style() };
    let level_set = |[_, y]: [f32; 2]| y - 9.0;
    let (plain, lined) = (draw(level_set, &[], &plain), draw(level_set, &[], &lined));
    let frame = frame();
    let mut drawn = 0;
    for y in 0..plain.height {
        for x in 0..plain.width {
            if plain.pixel(x, y) != lined.pixel(x, y) {
                drawn += 1;
                let [_, height] = frame.to_cells([x as f32 + 0.5, y as f32 + 0.5]);
                assert!((0.0..9.0).contains(&height));
            }
        }
    }
    assert!(drawn > 500, "{drawn} pixels of streamlines");
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    let style = Style2 { streamlines: true, legend: true, time: Some(1.25), ..Style2::default() };
    let style = Style2 { width: 200, height: 150, ..style };
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| draw(|[x, y]| y - 7.0 - (0.5 * x).sin(), &[], &style))
    };
    assert_eq!(run(1), run(3));
}

#[test]
fn odd_input_gives_a_picture() {
    let style = Style2 { width: 3, height: 2, streamlines: true, time: Some(f64::NAN), ..Style2::default() };
    assert_eq!(draw(|_| f32::NAN, &[], &style).rgb.len(), 18);
    let still = Style2 { liquid: LiquidColour::Speed { max_speed: 0.0 }, ..self::style() };
    draw(|[_, y]| y - 5.0, &[], &still);
}

/// Water up to y = 12 with two discs of air that move with `time`, and a closed chamber to the right whose air is known
/// in its lower block only.
fn two_bubbles(time: f32) -> Picture {
    const WIDE: Grid<2> = Grid { cells: [40, 15], ..GRID };
    let blocks = Arc::new(Blocks::new(WIDE.cells, |c| c[0] < 4 && c != [3, 1]));
    let discs = |[x, y]: [f32; 2]| [5.0, 12.0].map(|centre: f32| (x - centre).hypot(y - 5.0 - time) - 2.4);
    let chamber = Shape::box_between([4.4, -1.0], [4.5, 0.5]).unwrap();
    let air = |[x, y]: [f32; 2]| {
        let [first, second] = discs([x, y]);
        let above = if x < 24.5 { 12.0 - y } else { 3.0 - y };
        [(1, first), (2, second), (if x < 24.5 { 0 } else { 7 }, above)]
    };
    let centre = |c: [usize; 2]| c.map(|c| c as f32 + 0.5);
    let level_set = Field::from_fn(blocks.clone(), 3.0, |c| {
        air(centre(c)).iter().map(|a| -a.1).fold(-3.0, f32::max).min(3.0)
    });
    let bubbles = Field::from_fn(blocks.clone(), NO_AIR, |c| {
        let in_wall = (24..25).contains(&c[0]);
        air(centre(c)).iter().find(|a| a.1 <= 0.0 && !in_wall).map_or(NO_AIR, |a| a.0)
    });
    let velocity = FaceField::new(blocks, 0.0);
    let (solids, open) = (&[chamber], [[false; 2]; 2]);
    let air = Some(&bubbles);
    let view =
        View { grid: &WIDE, level_set: &level_set, velocity: &velocity, solids, air, smoke: &[], open };
    render_2d(&view, &Style2 { width: 430, height: 190, ..style() })
}

#[test]
fn bubbles_have_colours_of_their_own_that_they_keep() {
    let frame = Frame::new([40, 15], [430, 190], 0.0);
    for time in [0.0, 1.3] {
        let picture = two_bubbles(time);
        let at = |cell: [f32; 2]| {
            let [x, y] = frame.to_pixels(cell);
            picture.pixel(x as usize, y as usize)
        };
        assert_eq!(at([5.0, 5.0 + time]), bubble_colour(1));
        assert_eq!(at([12.0, 5.0 + time]), bubble_colour(2));
        // Up to the line, and no farther.
        assert_eq!(at([12.0 + 2.2, 5.0 + time]), bubble_colour(2));
        assert_eq!(at([8.5, 5.0 + time]), LIQUID);
        assert_eq!(at([10.0, 14.0]), AIR);
        // The chamber's air fills the block that knows nothing, and the wall keeps it from the open air.
        assert_eq!(at([35.0, 6.0]), bubble_colour(7));
        assert_eq!(at([28.0, 13.5]), bubble_colour(7));
    }
}

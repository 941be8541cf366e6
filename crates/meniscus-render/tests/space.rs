//! Pictures of liquids in space hold what must be in them.

use std::sync::Arc;

use meniscus_core::grid::{Blocks, FaceField, Field, Grid};
use meniscus_core::shape::Shape;
use meniscus_render::{Camera, Picture, SolidLook, Style3, View, render_3d};

const GRID: Grid<3> = Grid { origin: [-0.5, 0.25, 1.0], dx: 1.0 / 24.0, cells: [24; 3] };

/// Looks along -z at the middle of the domain, 4 m before its front.
const CAMERA: Camera = Camera { from: [0.0, 0.75, 6.0], to: [0.0, 0.75, 1.0], fov_degrees: 20.0 };

fn style() -> Style3 {
    Style3 { width: 120, height: 100, samples: 1, camera: Some(CAMERA), tank: false, ..Style3::default() }
}

fn draw(level_set: impl Fn([f32; 3]) -> f32 + Sync, solids: &[Shape<3>], style: &Style3) -> Picture {
    let blocks = Arc::new(Blocks::all(GRID.cells));
    let level_set = Field::from_fn(blocks, 3.0, |c| {
        let value = level_set(c.map(|c| c as f32 + 0.5));
        if value.is_nan() { value } else { value.clamp(-3.0, 3.0) }
    });
    draw_field(&level_set, solids, style)
}

fn draw_field(level_set: &Field<f32, 3>, solids: &[Shape<3>], style: &Style3) -> Picture {
    let velocity = FaceField::new(level_set.blocks().clone(), 0.0);
    let open = [[false; 2]; 3];
    render_3d(
        &View { grid: &GRID, level_set, velocity: &velocity, solids, air: None, smoke: &[], open },
        style,
    )
}

fn ball([x, y, z]: [f32; 3]) -> f32 {
    ((x - 12.0).powi(2) + (y - 12.0).powi(2) + (z - 12.0).powi(2)).sqrt() - 7.0
}

fn difference(a: [u8; 3], b: [u8; 3]) -> u32 {
    (0..3).map(|c| u32::from(a[c].abs_diff(b[c]))).sum()
}

/// Rows from the middle to a height `y` above the camera, `distance` before it.
fn rows(y: f64, distance: f64) -> f64 {
    0.5 * 100.0 * y / (distance * 10f64.to_radians().tan())
}

#[test]
fn a_pool_ends_at_the_right_row_of_the_front_wall() {
    let empty = draw(|_| 3.0, &[], &style());
    for level in [15.0f32, 17.5, 20.0] {
        let picture = draw(|[_, y, _]| y - level, &[], &style());
        // The front wall is 4 m away; the camera is below the surface and looks up at its edge. Above the
        // middle there is no floor, whose light water changes.
        let expected = 50.0 - rows(f64::from(level) / 24.0 + 0.25 - 0.75, 4.0);
        let edge = (0..50).find(|&row| picture.pixel(60, row) != empty.pixel(60, row)).unwrap();
        assert!((edge as f64 - expected).abs() <= 1.0, "row {edge} for {expected}");
    }
}

#[test]
fn a_ball_has_the_right_silhouette() {
    let (with, without) = (draw(ball, &[], &style()), draw(|_| 3.0, &[], &style()));
    // Just above the middle a ray without water sees the backdrop, with no light of the floor in it.
    let hit: Vec<usize> = (0..120).filter(|&x| with.pixel(x, 49) != without.pixel(x, 49)).collect();
    let sine = 7.0 / 24.0 / 4.5f64;
    let radius = rows((sine / (1.0 - sine * sine).sqrt()) * 4.5, 4.5);
    let width = (hit[hit.len() - 1] - hit[0] + 1) as f64;
    assert!((width - 2.0 * radius).abs() <= 2.0, "{width} for {}", 2.0 * radius);
    assert!((0.5 * (hit[0] + hit[hit.len() - 1] + 1) as f64 - 60.0).abs() <= 1.0);
}

#[test]
fn a_ball_of_water_turns_the_world_upside_down() {
    let style = Style3 { water_colour: [1.0; 3], ..style() };
    let picture = draw(ball, &[], &style);
    let warmth = |y: usize| {
        let [red, _, blue] = picture.pixel(60, y).map(i32::from);
        red - blue
    };
    // The grey floor is below, the blue backdrop above; through the ball it is the other way round.
    let radius = rows(7.0 / 24.0, 4.5) as usize;
    assert!(warmth(95) > warmth(3) + 15);
    assert!(warmth(52 - radius) > warmth(50 + radius / 2) + 8);
}

#[test]
fn without_liquid_there_is_only_the_studio() {
    let inactive = Field::new(Arc::new(Blocks::new(GRID.cells, |_| false)), 3.0);
    let empty = draw_field(&inactive, &[], &style());
    assert_eq!(empty, draw(|_| 3.0, &[], &style()));
    let above = Camera { to: [0.0, 8.0, 1.0], ..CAMERA };
    let sky = draw_field(&inactive, &[], &Style3 { camera: Some(above), ..style() });
    for row in 0..sky.height {
        assert_eq!(sky.pixel(0, row), sky.pixel(sky.width - 1, row));
    }
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    let solid = [Shape::sphere([0.2, 0.5, 1.5], 0.2).unwrap()];
    let style = Style3 { samples: 2, tank: true, ..style() };
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| draw(|p| ball(p).min(p[1] - 4.0 - p[0].sin()), &solid, &style))
    };
    assert_eq!(run(1), run(3));
}

#[test]
fn cameras_anywhere_give_a_picture() {
    let liquid = |p: [f32; 3]| ball(p).min(p[1] - 8.0);
    let inside = Camera { from: [0.0, 0.75, 1.5], to: [0.4, 0.5, 1.2], fov_degrees: 70.0 };
    let below = Camera { from: [0.0, -1.0, 1.5], to: [0.0, 1.0, 1.5], fov_degrees: 40.0 };
    let nowhere = Camera { from: [0.0, 0.75, 1.5], to: [0.0, 0.75, 1.5], fov_degrees: 400.0 };
    let on_the_wall = Camera { from: [-0.5, 0.25, 1.0], to: [0.5, 0.25, 1.0], fov_degrees: 40.0 };
    for camera in [inside, below, nowhere, on_the_wall] {
        let picture = draw(liquid, &[], &Style3 { camera: Some(camera), tank: true, ..style() });
        assert_eq!(picture.rgb.len(), 3 * 120 * 100);
    }
    let picture = draw(liquid, &[], &Style3 { camera: Some(inside), ..style() });
    let first = picture.pixel(0, 0);
    assert!(picture.rgb.chunks(3).any(|p| difference([p[0], p[1], p[2]], first) > 30));
}

#[test]
fn a_level_set_without_numbers_is_air() {
    assert_eq!(draw(|_| f32::NAN, &[], &style()), draw(|_| 3.0, &[], &style()));
}

#[test]
fn solids_are_seen_and_containers_seen_through() {
    let grey = Style3 { water_colour: [1.0; 3], ..style() };
    let ball = Shape::sphere([0.0, 0.75, 1.5], 0.3).unwrap();
    let bare = draw(|_| 3.0, &[], &grey);
    let with_ball = draw(|_| 3.0, std::slice::from_ref(&ball), &grey);
    assert!(difference(with_ball.pixel(60, 50), bare.pixel(60, 50)) > 40);
    // All of the domain but a ball: a container, through which an opaque ball inside can be seen.
    let hull = Shape::sphere([0.0, 0.75, 1.5], 0.45).unwrap().complement();
    let small = Shape::sphere([0.0, 0.75, 1.5], 0.3).unwrap();
    let solids = [hull, small];
    let seen = draw(|_| 3.0, &solids, &grey);
    let hidden = draw(|_| 3.0, &solids, &Style3 { solids: vec![SolidLook::Opaque], ..grey.clone() });
    assert!(difference(seen.pixel(60, 50), with_ball.pixel(60, 50)) < 60);
    assert_eq!(hidden.pixel(58, 50), hidden.pixel(62, 50));
    // A ball of glass lets more light through than one that is not.
    let glass = Style3 { solids: vec![SolidLook::Glass], ..grey.clone() };
    let clear = draw(|_| 3.0, std::slice::from_ref(&ball), &glass);
    assert!(difference(clear.pixel(60, 50), with_ball.pixel(60, 50)) > 40);
}

#[test]
fn water_darkens_and_colours_what_is_behind_it() {
    let clear = draw(|[_, y, _]| y - 20.0, &[], &Style3 { water_colour: [1.0; 3], ..style() });
    let blue = draw(|[_, y, _]| y - 20.0, &[], &Style3 { water_colour: [0.05, 0.3, 0.8], ..style() });
    let [clear, blue] = [clear, blue].map(|p| p.pixel(60, 80).map(i32::from));
    assert!(blue[0] < clear[0] - 20);
    assert!(blue[2] - blue[0] > clear[2] - clear[0] + 20);
}

#[test]
fn light_that_a_thin_sheet_leads_along_keeps_the_colour_of_water() {
    let picture = draw(|[x, _, _]| 23.3 - x, &[], &Style3 { camera: None, ..style() });
    let pixels = (0..picture.height).flat_map(|y| (0..picture.width).map(move |x| (x, y)));
    for (x, y) in pixels {
        let [_, green, blue] = picture.pixel(x, y).map(f64::from);
        assert!(green > 0.65 * blue, "{:?} at {x}, {y}", picture.pixel(x, y));
    }
}

#[test]
fn a_film_of_water_darkens_what_it_wets() {
    let block = [Shape::box_between([-0.5, 0.25, 1.0], [0.5, 0.75, 2.0]).unwrap()];
    let above = Camera { from: [0.0, 3.0, 4.0], to: [0.0, 0.75, 1.5], ..CAMERA };
    let top = |height: f32| {
        let style = Style3 { camera: Some(above), ..style() };
        draw(|[_, y, _]| y - height, &block, &style).pixel(60, 50).map(i32::from)
    };
    let (dry, wet) = (top(4.0), top(12.4));
    assert!((0..3).all(|c| wet[c] < dry[c] - 4) && wet[2] < dry[2] - 15, "{wet:?} for {dry:?}");
}

#[test]
fn a_bubble_shows_as_a_bright_body_in_the_water() {
    let still = draw(|[_, y, _]| y - 20.0, &[], &style());
    let bubbly = draw(|p| (p[1] - 20.0).max(-ball(p) - 2.0), &[], &style());
    let light =
        |picture: &Picture, x: usize, y: usize| -> u32 { picture.pixel(x, y).map(u32::from).iter().sum() };
    let (mut changed, mut brighter, mut dark) = (0, 0, 0);
    for y in 0..100 {
        for x in 0..120 {
            if difference(still.pixel(x, y), bubbly.pixel(x, y)) > 30 {
                changed += 1;
                brighter += i32::from(light(&bubbly, x, y) > light(&still, x, y) + 60);
                dark += i32::from(light(&bubbly, x, y) < 60);
            }
        }
    }
    // Five cells in radius, half a metre behind the front wall; most of it mirrors the bright walls of the studio.
    let radius = rows(5.0 / 24.0, 4.5);
    let area = std::f64::consts::PI * radius * radius;
    assert!(f64::from(changed) > 0.6 * area && f64::from(changed) < 1.4 * area, "{changed} for {area}");
    assert!(2 * brighter > changed, "{brighter} of {changed} are brighter");
    assert_eq!(dark, 0, "rays were given up");
}

//! Pictures of liquids in space, by tracing rays.
//!
//! Lengths are in cells from the domain's lower corner, as f32. A picture is made in three steps: the scene
//! is prepared ([`scene`]), the key light is cast onto the floor ([`caustics`]), and rays are followed from
//! the eye ([`shade`]). Nothing is random: neither noise nor flicker.

mod camera;
mod caustics;
mod haze;
mod light;
mod ray;
mod scene;
mod shade;
mod solids;
mod surface;
mod tank;
mod water;

use meniscus_core::parallel;

pub use camera::Camera;

use crate::colour::to_srgb;
use crate::picture::Picture;
use crate::vec3::Vec3;
use crate::view::View;
use camera::Lens;
use caustics::FloorLight;
use haze::Haze;
use light::tone_map;
use scene::Scene;
use shade::Shader;
use tank::Tank;
use water::Water;

/// How a solid looks in space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SolidLook {
    /// As glass if it spans nearly all of the domain, for then it is a container; opaque otherwise.
    #[default]
    Auto,
    /// Its colour hides what is behind it.
    Opaque,
    /// The same in a colour of its own, in sRGB.
    Painted([u8; 3]),
    /// Clear.
    Glass,
}

/// How a liquid in space is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Style3 {
    /// Pixels along a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Rays for each pixel.
    pub samples: usize,
    /// Where from; [`Camera::framing`] if not given.
    pub camera: Option<Camera>,
    /// The part of red, green and blue light that passes water as long as the domain's longest side.
    pub water_colour: [f32; 3],
    /// How the solids look, in their order; [`SolidLook::Auto`] beyond its end.
    pub solids: Vec<SolidLook>,
    /// The colour of opaque solids that have none of their own, in linear light.
    pub solid_colour: [f32; 3],
    /// Whether to draw the domain's edges.
    pub tank: bool,
}

impl Default for Style3 {
    fn default() -> Self {
        Self {
            width: 960,
            height: 540,
            samples: 4,
            camera: None,
            water_colour: [0.06, 0.36, 0.55],
            solids: Vec::new(),
            solid_colour: [0.78, 0.42, 0.26],
            tank: true,
        }
    }
}

/// Draws a liquid in space.
///
/// # Panics
/// If the picture has no pixels.
pub fn render_3d(view: &View<3>, style: &Style3) -> Picture {
    let (width, height) = (style.width, style.height);
    assert!(width > 0 && height > 0, "a picture has pixels");
    let aspect = width as f64 / height as f64;
    let camera = style.camera.unwrap_or_else(|| Camera::framing(view.grid, aspect));
    let lens = Lens::new(&camera, view.grid, width, height);
    let scene = Scene::new(view, style);
    let water = Water::new(style.water_colour, scene.size());
    let floor_light = FloorLight::new(&scene, &water, width.max(height));
    let haze = Haze::new(view.grid.cells, view.smoke);
    let shader = Shader {
        scene: &scene,
        haze: haze.as_ref(),
        water: &water,
        floor_light: &floor_light,
        pixel_angle: lens.pixel_angle(),
    };
    let tank = style.tank.then(|| Tank::new(&lens, scene.upper, height));

    let medium = scene.medium(lens.origin);
    let offsets = sample_offsets(style.samples.max(1));
    let mut rgb = vec![0; 3 * width * height];
    parallel::for_chunks(&mut rgb, 3 * width, |row, pixels| {
        for (column, pixel) in pixels.chunks_exact_mut(3).enumerate() {
            let mut sum = Vec3::ZERO;
            for [dx, dy] in &offsets {
                let (x, y) = (column as f32 + dx, row as f32 + dy);
                let ray = lens.ray(x, y);
                let (light, distance) = shader.eye(&ray, medium);
                let depth = distance * ray.direction.dot(lens.forward);
                // Tones are mapped before they are averaged, or a glint would have ragged edges.
                let shown = tone_map(light);
                sum += tank.as_ref().map_or(shown, |tank| tank.over(x, y, depth, shown));
            }
            pixel.copy_from_slice(&to_srgb(sum / offsets.len() as f32));
        }
    });
    Picture { width, height, rgb }
}

/// Places within a pixel, the same for every pixel: points of the R2 sequence, evenly spread for any number.
fn sample_offsets(samples: usize) -> Vec<[f32; 2]> {
    const STEP: [f64; 2] = [0.754_877_666_246_692_7, 0.569_840_290_998_053_2];
    (0..samples).map(|k| STEP.map(|step| ((0.5 + step * k as f64) % 1.0) as f32)).collect()
}

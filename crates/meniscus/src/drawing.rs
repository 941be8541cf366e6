//! One picture of a frame.

use std::sync::Arc;
use std::time::Instant;

use meniscus_core::grid::{Blocks, Field};
use meniscus_core::shape::Shape;
use meniscus_io::{Frame, FrameLiquid};
use meniscus_render::{
    Camera, LiquidColour, Picture, SolidLook, Style2, Style3, Tile, View, render_2d, render_3d, render_tiles,
};
use meniscus_scene::{BodySetup, RenderSettings, Setup, Show};

use crate::poses::{posed_solids, poses_in};
use crate::systems::{Portrait, portraits};

/// How long a picture takes, in s, from one with a sixty-fourth of its pixels; where that is soon done, from the fastest of some: whatever else the
/// machine does only makes them slower.
pub(crate) fn seconds_per_picture<const D: usize>(
    frame: &Frame<D>,
    setup: &Setup<D>,
    settings: &RenderSettings,
    draw: Draw<D>,
) -> f64 {
    const SMALLER: u32 = 8;
    const TIMES: usize = 3;
    const SOON: f64 = 0.1;
    let pixels = |settings: &RenderSettings| f64::from(settings.width) * f64::from(settings.height);
    let mut small = *settings;
    small.width = (settings.width / SMALLER).max(16);
    small.height = (settings.height / SMALLER).max(16);
    let seconds = || {
        let started = Instant::now();
        draw(frame, setup, &small, 1.0);
        started.elapsed().as_secs_f64()
    };
    let mut fastest = seconds();
    for _ in 1..TIMES {
        if fastest < SOON {
            fastest = fastest.min(seconds());
        }
    }
    fastest * pixels(settings) / pixels(&small)
}

/// How the scene wants its pictures, or of another size.
pub(crate) fn settings_of<const D: usize>(setup: &Setup<D>, size: Option<[u32; 2]>) -> RenderSettings {
    let mut settings = setup.render;
    if let Some([width, height]) = size {
        (settings.width, settings.height) = (width, height);
    }
    settings
}

/// The liquid of a frame that is known to have one.
pub(crate) fn liquid_of<'a, const D: usize>(frame: &'a Frame<D>) -> FrameLiquid<'a, D> {
    frame.liquid().expect("a frame of a liquid on a grid")
}

/// Draws a frame; the last argument is the speed at the end of the scale of the colours.
pub(crate) type Draw<const D: usize> = fn(&Frame<D>, &Setup<D>, &RenderSettings, f64) -> Picture;

pub(crate) fn draw_2d(
    frame: &Frame<2>,
    setup: &Setup<2>,
    settings: &RenderSettings,
    fastest: f64,
) -> Picture {
    if settings.show == Show::Modes {
        return draw_modes(frame, setup, settings);
    }
    let solids = posed_solids(setup, poses_in(frame));
    let smoke = frame.smokes();
    let style = Style2 {
        width: settings.width as usize,
        height: settings.height as usize,
        liquid: match settings.show {
            Show::Speed => LiquidColour::Speed { max_speed: fastest },
            Show::Liquid if setup.fluid.is_some() => LiquidColour::Clear,
            Show::Liquid | Show::Modes => LiquidColour::Plain,
        },
        solids: looks(setup),
        streamlines: settings.streamlines,
        time: Some(frame.time),
        ..Style2::default()
    };
    render_2d(&view(frame, setup, &solids, &smoke), &style)
}

/// Draws the modes of a flow side by side: the strongest of the moment in full colours.
fn draw_modes(frame: &Frame<2>, setup: &Setup<2>, settings: &RenderSettings) -> Picture {
    let portraits = portraits(frame, setup);
    let strongest = portraits.iter().map(|mode| mode.speed.abs()).fold(0.0, f64::max);
    let tile = |Portrait { name, speed, points, values }: Portrait| {
        // Weak ones are seen too.
        let part = (speed.abs() / strongest.max(f64::MIN_POSITIVE)).sqrt();
        Tile { name: name.to_lowercase(), strength: (part * speed.signum()) as f32, points, values }
    };
    let tiles: Vec<Tile> = portraits.into_iter().map(tile).collect();
    let size = [settings.width as usize, settings.height as usize];
    let text = format!("t = {:.3} s   strongest {strongest:.3} m/s", frame.time);
    let sides = [0, 1].map(|axis| frame.grid.dx * frame.grid.cells[axis] as f64);
    render_tiles(&tiles, sides, size, &text)
}

pub(crate) fn draw_3d(
    frame: &Frame<3>,
    setup: &Setup<3>,
    settings: &RenderSettings,
    _fastest: f64,
) -> Picture {
    let solids = posed_solids(setup, poses_in(frame));
    let smoke = frame.smokes();
    let camera = settings.camera.map(|c| Camera { from: c.from, to: c.to, fov_degrees: c.fov_degrees });
    let style = Style3 {
        width: settings.width as usize,
        height: settings.height as usize,
        camera,
        solids: looks(setup),
        ..Style3::default()
    };
    let mut view = view(frame, setup, &solids, &smoke);
    // A fluid that fills the domain has no surface to be seen.
    let nothing = Field::new(Arc::new(Blocks::new(frame.grid.cells, |_| false)), BAND);
    if setup.fluid.is_some() {
        view.level_set = &nothing;
    }
    render_3d(&view, &style)
}

/// The distance of what is far from liquid, in cells.
const BAND: f32 = 3.0;

/// Frames and pictures mean the same by it.
const _: () = assert!(meniscus_io::NO_AIR == meniscus_render::NO_AIR);

/// The colours of bodies, one after the other.
const PALETTE: [[u8; 3]; 8] = [
    [214, 96, 77],
    [244, 185, 66],
    [92, 158, 96],
    [128, 107, 178],
    [226, 138, 176],
    [166, 118, 74],
    [70, 160, 165],
    [236, 236, 228],
];

/// How the solids and, after them, the bodies look.
fn looks<const D: usize>(setup: &Setup<D>) -> Vec<SolidLook> {
    let body = |(index, body): (usize, &BodySetup<D>)| match body.glass {
        true => SolidLook::Glass,
        false => SolidLook::Painted(PALETTE[index % PALETTE.len()]),
    };
    let solids = setup.solids.iter().map(|solid| look(solid.glass));
    solids.chain(setup.bodies.iter().enumerate().map(body)).collect()
}

fn look(glass: Option<bool>) -> SolidLook {
    match glass {
        None => SolidLook::Auto,
        Some(false) => SolidLook::Opaque,
        Some(true) => SolidLook::Glass,
    }
}

fn view<'a, const D: usize>(
    frame: &'a Frame<D>,
    setup: &Setup<D>,
    solids: &'a [Shape<D>],
    smoke: &'a [&'a [[f32; D]]],
) -> View<'a, D> {
    // What another liquid fills is no bubble.
    let has_air = !setup.liquids.iter().any(|liquid| liquid.is_second);
    let FrameLiquid { grid, level_set, velocity, bubble } = liquid_of(frame);
    View { grid, level_set, velocity, solids, air: bubble.filter(|_| has_air), smoke, open: setup.open }
}

/// The largest component of the velocities of a liquid, in m/s; 1 if it rests.
pub(crate) fn fastest_of<const D: usize>(liquid: &FrameLiquid<D>) -> f64 {
    let of_cell = |(k, &phi): (usize, &f32)| match phi < 0.0 {
        true => liquid.velocity.axes.iter().map(|axis| axis.values()[k].abs()).fold(0.0, f32::max),
        false => 0.0,
    };
    let fastest = liquid.level_set.values().iter().enumerate().map(of_cell).fold(0.0, f32::max);
    if fastest > 0.0 { f64::from(fastest) } else { 1.0 }
}

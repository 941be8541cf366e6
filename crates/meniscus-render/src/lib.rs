//! Pictures of a liquid without a GPU or a display.
//!
//! [`render_2d`] draws a plane liquid as a diagram: coloured by speed, with a crisp surface line, each bubble in a colour
//! of its own.
//! [`render_3d`] traces rays through water: reflection, refraction, absorption, caustics on a tiled floor.
//! Pictures are written by [`write_png`], or as a moving picture by [`GifWriter`].
//!
//! The same view and style give the same bytes for any number of threads.
//!
//! ```
//! use std::sync::Arc;
//! use meniscus_core::grid::{Blocks, FaceField, Field, Grid};
//! use meniscus_render::{Style3, View, render_3d};
//!
//! let grid = Grid { origin: [0.0; 3], dx: 0.125, cells: [8; 3] };
//! let blocks = Arc::new(Blocks::all(grid.cells));
//! let level_set = Field::from_fn(blocks.clone(), 3.0, |cell| cell[1] as f32 + 0.5 - 4.0);
//! let velocity = FaceField::new(blocks, 0.0);
//! let (solids, air, smoke, open) = (&[], None, &[], [[false; 2]; 3]);
//! let view = View { grid: &grid, level_set: &level_set, velocity: &velocity, solids, air, smoke, open };
//! let picture = render_3d(&view, &Style3 { width: 64, height: 36, ..Style3::default() });
//! assert_eq!(picture.rgb.len(), 64 * 36 * 3);
//! ```

mod colour;
mod gif;
mod picture;
mod plane;
mod smoke;
mod space;
mod spline;
mod vec3;
mod view;

pub use colour::{bubble_colour, speed_colour};
pub use gif::GifWriter;
pub use picture::{Picture, PictureError, encode_png, write_png};
pub use plane::{LiquidColour, Style2, Tile, render_2d, render_tiles};
pub use space::{Camera, SolidLook, Style3, render_3d};
pub use view::{NO_AIR, View};

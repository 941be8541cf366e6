//! Pictures and their PNG form.

use std::path::{Path, PathBuf};

/// A picture in sRGB, row after row from the top left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Pixels along a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Three bytes a pixel: red, green, blue.
    pub rgb: Vec<u8>,
}

impl Picture {
    /// The colour of a pixel, counted from the top left.
    ///
    /// # Panics
    /// If there is no such pixel.
    pub fn pixel(&self, x: usize, y: usize) -> [u8; 3] {
        assert!(x < self.width && y < self.height, "no pixel ({x}, {y}) in {} x {}", self.width, self.height);
        let at = 3 * (y * self.width + x);
        [self.rgb[at], self.rgb[at + 1], self.rgb[at + 2]]
    }
}

/// Why a picture could not be written.
#[derive(Debug, thiserror::Error)]
pub enum PictureError {
    /// The picture's file could not be written.
    #[error("cannot write the picture {path}: {source}; check that its folder exists and may be written to")]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A moving picture could not be written.
    #[error("cannot write the moving picture: {0}; check the space left where it goes")]
    Gif(#[from] ::gif::EncodingError),
    /// A picture too large for the format.
    #[error("a GIF has at most 65535 pixels a side, not {width} x {height}; choose a smaller picture")]
    TooLarge {
        /// Pixels along a row.
        width: usize,
        /// Rows.
        height: usize,
    },
    /// A moving picture whose size changes.
    #[error("this picture has {found:?} pixels, the first one {expected:?}; a moving picture has one size")]
    SizeChanged {
        /// Width and height of the first picture.
        expected: [usize; 2],
        /// Width and height of this one.
        found: [usize; 2],
    },
}

/// The bytes of a PNG file.
///
/// # Panics
/// If a side is zero or the colours do not fill the picture.
pub fn encode_png(picture: &Picture) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, picture.width as u32, picture.height as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
    // Writing to memory cannot fail; what is left are pictures that contradict themselves.
    encoder
        .write_header()
        .and_then(|mut writer| writer.write_image_data(&picture.rgb))
        .expect("a picture has pixels, and three bytes for each");
    bytes
}

/// Writes a PNG file. It appears whole or not at all: it is written beside its place, then renamed.
pub fn write_png(path: impl AsRef<Path>, picture: &Picture) -> Result<(), PictureError> {
    let path = path.as_ref();
    let aside = path.with_extension("png.part");
    std::fs::write(&aside, encode_png(picture))
        .and_then(|()| std::fs::rename(&aside, path))
        .map_err(|source| PictureError::Write { path: path.to_path_buf(), source })
}

//! Moving pictures.

use std::io::Write;

use gif::{DisposalMethod, Encoder, Frame, Repeat};

use crate::picture::{Picture, PictureError};

mod palette;

use palette::Palette;

/// A pixel is drawn again where a channel has moved by more than this since it was last drawn.
const TOLERANCE: u8 = 2;

/// How far an ordered pattern moves a channel up or down before it is rounded to the palette.
const DITHER: f32 = 5.0;

/// Writes pictures one after another as a GIF that repeats for ever.
///
/// Every picture has a palette of its own, and stores only the pixels that changed.
///
/// ```
/// use meniscus_render::{GifWriter, Picture};
///
/// let mut movie = GifWriter::new(Vec::new(), [2, 1], 25.0)?;
/// movie.add(&Picture { width: 2, height: 1, rgb: vec![10, 20, 30, 200, 210, 220] })?;
/// let bytes = movie.finish()?;
/// assert!(bytes.starts_with(b"GIF89a"));
/// # Ok::<(), meniscus_render::PictureError>(())
/// ```
pub struct GifWriter<W: Write> {
    encoder: Encoder<W>,
    size: [usize; 2],
    fps: f64,
    frames: u64,
    /// The colours of the pictures as of when each pixel was last drawn.
    drawn: Vec<u8>,
}

impl<W: Write> GifWriter<W> {
    /// Begins a moving picture of `size` (width and height), `fps` pictures a second. The format counts
    /// hundredths of a second, and viewers slow down below two of them: 50 a second is the most.
    pub fn new(out: W, size: [usize; 2], fps: f64) -> Result<Self, PictureError> {
        let [width, height] = size;
        let too_large = PictureError::TooLarge { width, height };
        let (Ok(w), Ok(h)) = (u16::try_from(width), u16::try_from(height)) else { return Err(too_large) };
        let mut encoder = Encoder::new(out, w, h, &[])?;
        encoder.set_repeat(Repeat::Infinite)?;
        let fps = if fps.is_finite() { fps.clamp(0.1, 50.0) } else { 25.0 };
        Ok(Self { encoder, size, fps, frames: 0, drawn: Vec::new() })
    }

    /// Adds a picture.
    pub fn add(&mut self, picture: &Picture) -> Result<(), PictureError> {
        let found = [picture.width, picture.height];
        if found != self.size {
            return Err(PictureError::SizeChanged { expected: self.size, found });
        }
        let changed = self.changed(picture);
        let [left, top, right, bottom] = bounding_box(&changed, picture.width);
        let mut pixels = Vec::with_capacity((right - left) * (bottom - top));
        let inside = (top..bottom).flat_map(|y| (left..right).map(move |x| (x, y)));
        let palette = Palette::new(
            inside.clone().filter(|&(x, y)| changed[y * picture.width + x]).map(|(x, y)| picture.pixel(x, y)),
        );
        let mut nearest = palette.nearest();
        for (x, y) in inside {
            pixels.push(if changed[y * picture.width + x] {
                nearest.index(dithered(picture.pixel(x, y), x, y))
            } else {
                palette.transparent()
            });
        }
        let frame = Frame {
            delay: self.delay(),
            dispose: DisposalMethod::Keep,
            transparent: Some(palette.transparent()),
            left: left as u16,
            top: top as u16,
            width: (right - left) as u16,
            height: (bottom - top) as u16,
            palette: Some(palette.bytes()),
            buffer: pixels.into(),
            ..Frame::default()
        };
        self.encoder.write_frame(&frame)?;
        self.remember(picture, &changed);
        self.frames += 1;
        Ok(())
    }

    /// Ends the moving picture and gives back what it was written to.
    pub fn finish(self) -> Result<W, PictureError> {
        Ok(self.encoder.into_inner()?)
    }

    /// Hundredths of a second until the next picture; their sum follows the time.
    fn delay(&self) -> u16 {
        let until = |frames: u64| (frames as f64 * 100.0 / self.fps).round();
        (until(self.frames + 1) - until(self.frames)) as u16
    }

    fn changed(&self, picture: &Picture) -> Vec<bool> {
        if self.drawn.is_empty() {
            return vec![true; picture.width * picture.height];
        }
        let pairs = picture.rgb.chunks_exact(3).zip(self.drawn.chunks_exact(3));
        pairs.map(|(new, old)| (0..3).any(|c| new[c].abs_diff(old[c]) > TOLERANCE)).collect()
    }

    fn remember(&mut self, picture: &Picture, changed: &[bool]) {
        if self.drawn.is_empty() {
            self.drawn.clone_from(&picture.rgb);
        }
        for (k, _) in changed.iter().enumerate().filter(|(_, changed)| **changed) {
            self.drawn[3 * k..3 * k + 3].copy_from_slice(&picture.rgb[3 * k..3 * k + 3]);
        }
    }
}

/// The smallest box of pixels that holds all that changed: left, top, right, bottom; a single pixel where
/// nothing did.
fn bounding_box(changed: &[bool], width: usize) -> [usize; 4] {
    let mut bounds = [usize::MAX, usize::MAX, 0, 0];
    for (k, _) in changed.iter().enumerate().filter(|(_, changed)| **changed) {
        let (x, y) = (k % width, k / width);
        bounds = [bounds[0].min(x), bounds[1].min(y), bounds[2].max(x + 1), bounds[3].max(y + 1)];
    }
    if bounds[2] == 0 { [0, 0, 1, 1] } else { bounds }
}

/// A colour moved by Bayer's pattern of 4 x 4, so that gradients do not band.
fn dithered(colour: [u8; 3], x: usize, y: usize) -> [u8; 3] {
    const BAYER: [[u8; 4]; 4] = [[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]];
    let shift = DITHER * ((f32::from(BAYER[y % 4][x % 4]) + 0.5) / 8.0 - 1.0);
    colour.map(|c| (f32::from(c) + shift + 0.5).clamp(0.0, 255.0) as u8)
}

//! Pictures of a run.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::num::NonZeroU32;
use std::path::PathBuf;

use meniscus_io::{WriteError, write_atomically};
use meniscus_render::{GifWriter, PictureError, encode_png};
use meniscus_scene::Setup;

use crate::dimension::InDimension;
use crate::drawing::{Draw, draw_2d, draw_3d, seconds_per_picture, settings_of};
use crate::runs::{Folder, FolderError, Run, frame_of};

/// Which pictures to make.
#[derive(Clone, Copy, Debug, Default)]
pub struct PictureOptions {
    /// The one frame to draw; all of them, and an animation, if none is given.
    pub frame: Option<u32>,
    /// N, to draw only every Nth frame, from the first.
    pub every: Option<NonZeroU32>,
    /// Another size than the scene's, in pixels.
    pub size: Option<[u32; 2]>,
}

/// Why pictures cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PicturesError {
    /// The folder cannot be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// A picture cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The animation cannot be made.
    #[error(transparent)]
    Picture(#[from] PictureError),
    /// The run has no such frame.
    #[error("the run has no frame {frame}; it has {first} to {last}")]
    NoSuchFrame {
        /// The frame.
        frame: u32,
        /// The first there is.
        first: u32,
        /// The last there is.
        last: u32,
    },
}

/// The pictures that were made.
#[derive(Clone, Debug, PartialEq)]
pub struct Pictures {
    /// One a frame.
    pub stills: Vec<PathBuf>,
    /// Frames that were to be drawn and are not there although later ones are.
    pub missing: Vec<u32>,
    /// All of them as an animation, if more than one frame was asked for.
    pub gif: Option<PathBuf>,
    /// Pictures a second of the animation.
    pub fps: f64,
    /// How fast time passes in it: 1 where a second of the scene takes a second, less in slow motion.
    pub speed: f64,
}

/// Draws the frames of a run into its folder `pictures`; `progress` hears how many of how many are done.
///
/// # Errors
/// If there are no frames, or a file cannot be read or written.
pub fn draw(
    run: &Run,
    options: &PictureOptions,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Pictures, PicturesError> {
    match &run.setup {
        InDimension::Plane(setup) => draw_in(run, setup, options, progress, draw_2d),
        InDimension::Space(setup) => draw_in(run, setup, options, progress, draw_3d),
    }
}

/// How long [`draw`] will take, in s, roughly: from a small picture of the frame in the middle.
///
/// # Errors
/// If there are no frames, or one cannot be read.
pub fn drawing_seconds(run: &Run, options: &PictureOptions) -> Result<f64, PicturesError> {
    match &run.setup {
        InDimension::Plane(setup) => drawing_seconds_in(run, setup, options, draw_2d),
        InDimension::Space(setup) => drawing_seconds_in(run, setup, options, draw_3d),
    }
}

fn drawing_seconds_in<const D: usize>(
    run: &Run,
    setup: &Setup<D>,
    options: &PictureOptions,
    draw: Draw<D>,
) -> Result<f64, PicturesError> {
    let (frames, _) = frames_to_draw(run, options)?;
    let frame = frame_of(run.folder(), setup, frames[frames.len() / 2])?;
    Ok(frames.len() as f64 * seconds_per_picture(&frame, setup, &settings_of(setup, options.size), draw))
}

/// The frames to draw, of which there is one at least, and those that should be among them and are not there.
fn frames_to_draw(run: &Run, options: &PictureOptions) -> Result<(Vec<u32>, Vec<u32>), PicturesError> {
    let (folder, first) = (run.folder(), run.manifest().first_frame());
    let there = chosen_frames(folder, options.frame)?;
    if options.frame.is_some() {
        return Ok((there, Vec::new()));
    }
    // Counted from one that is there, so that there is one to draw.
    let (first, step) = options.every.map_or((first, 1), |every| (there[0], every.get() as usize));
    let wanted = (first..=there[there.len() - 1]).step_by(step);
    Ok(wanted.partition(|frame| there.binary_search(frame).is_ok()))
}

fn draw_in<const D: usize>(
    run: &Run,
    setup: &Setup<D>,
    options: &PictureOptions,
    progress: &mut dyn FnMut(usize, usize),
    draw: Draw<D>,
) -> Result<Pictures, PicturesError> {
    let folder = run.folder();
    let (frames, missing) = frames_to_draw(run, options)?;
    let settings = settings_of(setup, options.size);
    let fastest = fast_speed(folder);
    let frames_a_second = setup.time.fps / options.every.map_or(1.0, |every| f64::from(every.get()));
    let fps = playback(frames_a_second);
    let mut gif = match options.frame {
        Some(_) => None,
        None => Some(GifWriter::new(Vec::new(), [settings.width as usize, settings.height as usize], fps)?),
    };
    let directory = folder.root().join("pictures");
    fs::create_dir_all(&directory).map_err(|source| FolderError::Io { path: directory, source })?;
    let mut stills = Vec::new();
    for (done, &frame) in frames.iter().enumerate() {
        progress(done, frames.len());
        let picture = draw(&frame_of(folder, setup, frame)?, setup, &settings, fastest);
        let path = folder.made_of("pictures", frame, "png");
        write_atomically(&path, &encode_png(&picture))?;
        if let Some(gif) = &mut gif {
            gif.add(&picture)?;
        }
        stills.push(path);
    }
    progress(frames.len(), frames.len());
    let gif = match gif {
        Some(gif) => {
            let path = folder.made_of_all("pictures", "gif");
            write_atomically(&path, &gif.finish()?)?;
            Some(path)
        }
        None => None,
    };
    Ok(Pictures { stills, missing, gif, fps, speed: fps / frames_a_second })
}

/// Pictures a second of an animation: as many as the scene has frames a second, or, where that is more than
/// viewers can show, few enough to see what happens.
fn playback(fps: f64) -> f64 {
    if fps <= 50.0 { fps } else { 25.0 }
}

pub(crate) fn chosen_frames(folder: &Folder, one: Option<u32>) -> Result<Vec<u32>, PicturesError> {
    let frames = folder.frames()?;
    match one {
        None => Ok(frames),
        Some(frame) if frames.contains(&frame) => Ok(vec![frame]),
        Some(frame) => {
            let (first, last) = (frames[0], frames[frames.len() - 1]);
            Err(PicturesError::NoSuchFrame { frame, first, last })
        }
    }
}

/// The speed at the end of the scale of the colours, the same for all pictures: 99 in 100 frames have nothing
/// faster. A drop that is shot away for a moment would leave one colour to all else.
fn fast_speed(folder: &Folder) -> f64 {
    let Ok(file) = fs::File::open(folder.stats()) else { return 1.0 };
    let lines = BufReader::new(file).lines().map_while(Result::ok);
    let of_line = |line: String| {
        let line = serde_json::from_str::<serde_json::Value>(&line).ok()?;
        Some((line.get("frame")?.as_u64()?, line.get("max_speed")?.as_f64()?))
    };
    // Of each frame the last counts, its end, which is what is drawn.
    let of_frames: BTreeMap<u64, f64> = lines.filter_map(of_line).collect();
    fast_of(of_frames.into_values().collect())
}

/// The least speed that 99 in 100 do not exceed; 1 if all are zero.
fn fast_of(mut speeds: Vec<f64>) -> f64 {
    speeds.sort_unstable_by(f64::total_cmp);
    let slower = (speeds.len() * 99).div_ceil(100);
    let fast = speeds[..slower].last().copied().unwrap_or(0.0);
    // Where nothing moves but in a few frames, these count.
    let fast = if fast > 0.0 { fast } else { speeds.last().copied().unwrap_or(0.0) };
    if fast > 0.0 { fast } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_shot_of_a_hundred_does_not_set_the_scale() {
        let calm = |frames: u32| (1..=frames).map(|k| f64::from(k) / f64::from(frames)).collect::<Vec<_>>();
        assert_eq!(fast_of([calm(99), vec![20.0]].concat()), 1.0);
        assert_eq!(fast_of([calm(198), vec![20.0, 30.0]].concat()), 1.0);
        assert_eq!(fast_of(calm(10)), 1.0);
        assert_eq!(fast_of([vec![0.0; 300], vec![2.0]].concat()), 2.0);
        assert_eq!((fast_of(vec![0.0; 5]), fast_of(Vec::new())), (1.0, 1.0));
    }
}

//! `meniscus render`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use meniscus::{PictureOptions, Pictures, Run, draw, drawing_seconds};

use super::interrupt::Interrupt;
use super::{about, progress_bar, quoted};
use crate::cli::{RenderArgs, print_line, use_threads};
use crate::failure::Failure;

/// Draws the frames of a run.
pub fn render(args: &RenderArgs) -> Result<(), Failure> {
    use_threads(args.threads)?;
    let options = PictureOptions { frame: args.frame, every: args.every, size: args.size.map(|s| s.0) };
    draw_folder(&args.folder, &options, &Interrupt::listen()?)
}

/// Drawing that takes longer than this, in s, is told of first.
const LONG: f64 = 600.0;

/// Draws the frames in a folder and says where the pictures are.
pub fn draw_folder(folder: &Path, options: &PictureOptions, interrupt: &Interrupt) -> Result<(), Failure> {
    let bar = progress_bar("drawing");
    interrupt.now_drawing(&bar);
    let run = Run::open(folder)?;
    if options.frame.is_none() {
        let seconds = drawing_seconds(&run, options)?;
        if seconds > LONG {
            let fewer = format!(
                "meniscus render {} --frame N draws one of them, --every N some",
                quoted(&folder.to_string_lossy())
            );
            print_line(&format!("drawing all pictures will take {}; {fewer}", about(seconds)));
        }
    }
    let drawn = draw(&run, options, &mut |done, all| {
        bar.set_length(all as u64);
        bar.set_position(done as u64);
    });
    bar.finish_and_clear();
    let pictures = drawn?;
    if let (1, Some(still)) = (pictures.stills.len(), pictures.stills.first()) {
        print_line(&format!("picture: {}", still.display()));
    } else if let Some(last) = pictures.stills.last() {
        print_line(&format!("{} pictures, the last is {}", pictures.stills.len(), last.display()));
    }
    let Some(gif) = &pictures.gif else { return Ok(()) };
    print_line(&format!("animation: {}", gif.display()));
    if !pictures.missing.is_empty() {
        let missing: Vec<String> = pictures.missing.iter().map(u32::to_string).collect();
        print_line(&format!(
            "missing, and left out of it: {} {}; run again with --resume",
            if missing.len() == 1 { "frame" } else { "frames" },
            missing.join(", ")
        ));
        // ffmpeg would end the movie there.
        print_line("no MP4 without them");
    } else if options.every.is_some() {
        print_line("no MP4: it takes all frames");
    } else if let Some(path) = movie(&pictures, gif) {
        print_line(&format!("movie: {}", path.display()));
    } else {
        print_line("no MP4: ffmpeg is not installed, or it failed");
    }
    if pictures.speed < 1.0 {
        print_line(&format!("slow motion: time passes {:.0} times slower", 1.0 / pictures.speed));
    }
    Ok(())
}

/// An MP4 beside the animation, where ffmpeg is installed.
fn movie(pictures: &Pictures, gif: &Path) -> Option<PathBuf> {
    let path = gif.with_extension("mp4");
    let stem = gif.with_extension("");
    let first = pictures.stills.first()?.to_str()?.strip_suffix(".png")?.rsplit('.').next()?;
    let status = Command::new("ffmpeg")
        .args([
            "-y",
            "-loglevel",
            "error",
            "-framerate",
            &pictures.fps.to_string(),
            "-start_number",
            first,
            "-i",
        ])
        .arg(format!("{}.%04d.png", stem.display()))
        // Even sizes and this pixel format play everywhere.
        .args(["-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt", "yuv420p"])
        .arg(&path)
        .stdin(Stdio::null())
        .status()
        .ok()?;
    status.success().then_some(path)
}

//! `meniscus export`.

use meniscus::{Content, ExportOptions, Format, Run};

use super::progress_bar;
use crate::cli::{ExportArgs, ExportFormat, print_line};
use crate::failure::Failure;

/// Writes what a run made, for other programs.
pub fn export(args: &ExportArgs) -> Result<(), Failure> {
    let format = match args.format {
        ExportFormat::Ply => Format::Ply,
        ExportFormat::Obj => Format::Obj,
        ExportFormat::Csv => Format::Csv,
    };
    let content = match args {
        ExportArgs { particles: true, .. } => Content::Particles,
        ExportArgs { smoke: true, .. } => Content::Smoke,
        ExportArgs { poses: true, .. } => Content::Poses,
        _ => Content::Liquid,
    };
    let options = ExportOptions { format, content, frame: args.frame };
    let bar = progress_bar("exporting");
    let written = meniscus::export(&Run::open(&args.folder)?, &options, &mut |done, all| {
        bar.set_length(all as u64);
        bar.set_position(done as u64);
    });
    bar.finish_and_clear();
    let files = written?;
    match &files[..] {
        [] => {}
        [file] => print_line(&format!("file: {}", file.display())),
        [.., last] => print_line(&format!("{} files, the last is {}", files.len(), last.display())),
    }
    Ok(())
}

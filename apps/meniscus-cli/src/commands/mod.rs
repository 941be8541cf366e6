//! One module a command.

pub mod check;
pub mod export;
mod interrupt;
pub mod play;
pub mod render;
pub mod run;
pub mod scenes;

use indicatif::{ProgressBar, ProgressStyle};
use meniscus::Scene;

use crate::cli::SceneArgs;
use crate::failure::Failure;

/// Opens a scene and tells its warnings and hints.
fn open_scene(args: &SceneArgs) -> Result<Scene, Failure> {
    let scene = Scene::open(&args.scene, &args.changes.overrides())?;
    tell_remarks(&scene);
    Ok(scene)
}

/// Tells the warnings and hints of a scene.
fn tell_remarks(scene: &Scene) {
    for remark in scene.warnings().iter().chain(scene.hints()) {
        let report = miette::Report::new(remark.clone());
        let _ = std::io::Write::write_fmt(&mut std::io::stderr(), format_args!("{report:?}"));
    }
}

/// A number of things, in words.
fn count(n: usize, thing: &str) -> String {
    if n == 1 { format!("1 {thing}") } else { format!("{n} {thing}s") }
}

/// An estimated time, in words, and no more exact than estimates are: two of the same thing mostly read the same.
fn about(seconds: f64) -> String {
    let (unit, name) = match seconds {
        s if s < 7.0 => return "a few seconds".into(),
        s if s < 55.0 => (1.0, "second"),
        s if s < 55.0 * 60.0 => (60.0, "minute"),
        s if s < 22.0 * 3600.0 => (3600.0, "hour"),
        _ => (86400.0, "day"),
    };
    format!("about {}", count(round_number(seconds / unit) as usize, name))
}

/// The nearest of 1, 2, 3, 5, 10, 20 and so on, by ratio.
fn round_number(x: f64) -> f64 {
    let power = 10_f64.powf(x.log10().floor());
    let off = |n: &f64| (n / x).ln().abs();
    let near = [1.0, 2.0, 3.0, 5.0, 10.0].map(|digit| digit * power);
    near.into_iter().min_by(|a, b| off(a).total_cmp(&off(b))).unwrap_or(x)
}

/// A word of a command line, in quotes where a shell would not take it as it is.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./=,:+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.into()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// A bar that fills as files are done; nothing is shown when the output is not a terminal.
fn progress_bar(what: &'static str) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg} {pos}/{len} {wide_bar} {elapsed} (ETA {eta})")
        .expect("a valid template");
    ProgressBar::new(0).with_style(style).with_message(what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimated_times_are_round_words() {
        for (seconds, words) in [
            (0.0, "a few seconds"),
            (12.0, "about 10 seconds"),
            (43.0, "about 50 seconds"),
            (58.0, "about 1 minute"),
            (160.0, "about 3 minutes"),
            (1080.0, "about 20 minutes"),
            (3500.0, "about 1 hour"),
            (70e3, "about 20 hours"),
            (9e4, "about 1 day"),
            (6e6, "about 50 days"),
        ] {
            assert_eq!(about(seconds), words, "{seconds}");
        }
        // Off by a twentieth, as the same estimate is.
        assert_eq!(about(190.0), about(200.0));
    }
}

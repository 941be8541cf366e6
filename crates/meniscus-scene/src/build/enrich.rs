//! Modes that are drawn, learnt or kept, and strokes.

use std::fs;
use std::path::{Path, PathBuf};

use meniscus_core::stroke::Stroke;

use super::Builder;
use crate::content::{self, Content, Enrich, Method};
use crate::document::Node;
use crate::setup::{EnrichSetup, EnrichSource};

/// Points of a stroke.
const LONGEST_STROKE: usize = 10_000;
/// Modes that are learnt from a run, if nothing is said of them.
const LEARNT: u64 = 4;
/// By how much the proportion of two boxes may differ that are the same.
const SAME_BOX: f64 = 1e-6;
/// Half waves of a mode that was kept, along either axis: more than any drawn mode has in a box a hundred times as long as wide.
const FINEST: f64 = 4096.0;

impl<const D: usize> Builder<'_, D> {
    /// The modes beside the eigenmodes.
    pub(super) fn enrich(
        &mut self,
        entries: &[Enrich],
        size: &[f64],
        list: &Node,
    ) -> Option<Vec<EnrichSetup>> {
        let mut all: Vec<EnrichSetup> = Vec::new();
        for (index, enrich) in entries.iter().enumerate() {
            let node = list.entry(index);
            let source = self.source_of_modes(enrich, size, node)?;
            let most = match source {
                EnrichSource::Stroke(_) => 0,
                EnrichSource::Run { most, .. } => most,
                EnrichSource::Waves(_) => 1,
            };
            if enrich.amplitudes.len() > most {
                let (message, help) = match source {
                    EnrichSource::Stroke(_) => {
                        ("a stroke has no amplitudes", "give `speed` in the stroke instead")
                    }
                    _ => ("there are more amplitudes than modes", "give one for each at most"),
                };
                let place = &node.at("amplitudes").place;
                self.problems.error(place, message, "too many", help);
                return None;
            }
            if enrich.name.as_ref().is_some_and(|name| all.iter().any(|known| known.name == *name)) {
                let help = "give each mode its own name";
                let place = &node.at("name").place;
                self.problems.error(place, "two modes have the same name", "the same name again", help);
                return None;
            }
            let name = enrich.name.clone().unwrap_or_else(|| format!("drawn-{}", index + 1));
            all.push(EnrichSetup { name, source, amplitudes: enrich.amplitudes.clone() });
        }
        Some(all)
    }

    fn source_of_modes(&mut self, enrich: &Enrich, size: &[f64], node: &Node) -> Option<EnrichSource> {
        if let Some(key) = node.key("modes").filter(|_| enrich.modes.is_some() && enrich.run.is_none()) {
            let help = "remove it, or give the folder of a run to learn from";
            self.problems.error(&key.place, "`modes` has no meaning without `run`", "of what run?", help);
            return None;
        }
        match (&enrich.stroke, &enrich.run, &enrich.waves[..]) {
            (Some(stroke), None, []) => Some(EnrichSource::Stroke(self.stroke(node.at("stroke"), stroke)?)),
            (None, Some(run), []) => {
                let folder = self.run_to_learn_from(node.at("run"), run, size)?;
                let most = enrich.modes.unwrap_or(LEARNT) as usize;
                Some(EnrichSource::Run { folder, most })
            }
            (None, None, [_, ..]) => self.waves_of_mode(&enrich.waves, node.at("waves")),
            _ => {
                let message = "a mode is made of one thing";
                let help = "give one of `stroke`, `run` and `waves`";
                self.problems.error(&node.place, message, "none or several of them", help);
                None
            }
        }
    }

    /// A line that lies in the domain.
    pub(super) fn stroke(&mut self, node: &Node, stroke: &content::Stroke) -> Option<Stroke> {
        let node = node.at("points");
        let extent = self.domain.extent();
        let mut points = Vec::new();
        for (k, point) in stroke.points.iter().enumerate() {
            let point = self.entries::<2>(node.entry(k), point)?;
            if (0..2).any(|axis| !(0.0..=extent[axis]).contains(&point[axis])) {
                let help = format!("the domain reaches from the origin to {extent:?}");
                let message = "the stroke leaves the domain";
                self.problems.error(&node.entry(k).place, message, "outside", help);
                return None;
            }
            points.push(point);
        }
        let length: f64 = points.windows(2).map(|p| (p[1][0] - p[0][0]).hypot(p[1][1] - p[0][1])).sum();
        if length <= 0.0 || points.len() > LONGEST_STROKE {
            let message = "a stroke is a line with two points at least";
            let help = format!("give two or more different points, at most {LONGEST_STROKE}");
            self.problems.error(&node.place, message, format!("{} points", points.len()), help);
            return None;
        }
        Some(Stroke { points, width: stroke.width, speed: stroke.speed })
    }

    fn waves_of_mode(&mut self, waves: &[Vec<f64>], list: &Node) -> Option<EnrichSource> {
        let mut found = Vec::new();
        for (index, wave) in waves.iter().enumerate() {
            let [k, l, vorticity] = self.entries::<3>(list.entry(index), wave)?;
            let is_count = |k: f64| k.fract() == 0.0 && (1.0..=FINEST).contains(&k);
            if !(is_count(k) && is_count(l) && vorticity.is_finite()) {
                let help = "give [half waves along x, half waves along y, vorticity], such as [3, 2, 0.5]";
                let place = &list.entry(index).place;
                self.problems.error(place, "this is no wave of the box", "no such wave", help);
                return None;
            }
            found.push(([k as usize, l as usize], vorticity));
        }
        Some(EnrichSource::Waves(found))
    }

    /// The folder of a run whose flows can become modes.
    fn run_to_learn_from(&mut self, node: &Node, run: &str, size: &[f64]) -> Option<PathBuf> {
        let folder = self.meshes.folder().join(run);
        match fits(&folder, size) {
            Ok(()) => Some(folder),
            Err(why) => {
                let message = format!("no modes can be learnt from `{run}`: {why}");
                let help = "give the folder of a run in 2D of a fluid that fills a box with sides in the same proportion, by method = \"grid\" with [fluid] or \"modes\"; it is relative to the folder of the scene";
                self.problems.error(&node.place, message, "not such a run", help);
                None
            }
        }
    }
}

/// Whether the run in a folder is of a fluid that fills a box with sides in this proportion.
fn fits(folder: &Path, own_size: &[f64]) -> Result<(), String> {
    #[derive(serde::Deserialize)]
    struct Manifest {
        scene_text: String,
    }
    let text = fs::read_to_string(folder.join("manifest.json")).map_err(|_| "there is no run in it")?;
    let manifest: Manifest =
        serde_json::from_str(&text).map_err(|error| format!("its manifest is broken: {error}"))?;
    let scene: Content =
        toml::from_str(&manifest.scene_text).map_err(|error| format!("its scene is broken: {error}"))?;
    let size = &scene.domain.size;
    if size.len() != 2 || own_size.len() != 2 {
        return Err("it is in 3D".into());
    }
    if scene.method == Method::Grid && scene.fluid.is_none() {
        return Err("its liquid does not fill the box".into());
    }
    let proportion = (size[0] / size[1]) / (own_size[0] / own_size[1]);
    if (proportion - 1.0).abs() > SAME_BOX {
        return Err(format!("its box has sides of {} by {} m", size[0], size[1]));
    }
    Ok(())
}

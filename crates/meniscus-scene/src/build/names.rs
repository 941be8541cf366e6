//! Names of the parts of a scene.

use std::collections::HashMap;

use super::Builder;
use crate::content::Content;
use crate::document::Node;
use crate::setup::Setup;

/// The name of a part that has none: `solid-1` for the first solid.
fn default_name(kind: &str, index: usize) -> String {
    format!("{kind}-{}", index + 1)
}

fn plural(kind: &str) -> String {
    kind.strip_suffix('y').map_or_else(|| format!("{kind}s"), |stem| format!("{stem}ies"))
}

/// Gives the parts without a name theirs.
pub(super) fn fill_in<const D: usize>(setup: &mut Setup<D>) {
    let solids = setup.solids.iter_mut().map(|s| &mut s.name).enumerate().map(|n| ("solid", n));
    let sources = setup.sources.iter_mut().map(|s| &mut s.name).enumerate().map(|n| ("source", n));
    let sinks = setup.sinks.iter_mut().map(|s| &mut s.name).enumerate().map(|n| ("sink", n));
    let bodies = setup.bodies.iter_mut().map(|b| &mut b.name).enumerate().map(|n| ("body", n));
    for (kind, (index, name)) in solids.chain(sources).chain(sinks).chain(bodies) {
        if name.is_empty() {
            *name = default_name(kind, index);
        }
    }
}

impl<const D: usize> Builder<'_, D> {
    /// Reports names that are empty or that two parts of one kind share.
    pub(super) fn unique_names(&mut self, content: &Content, root: &Node) {
        let solids = content.solid.iter().map(|s| s.name.as_deref()).collect();
        let sources = content.source.iter().map(|s| s.name.as_deref()).collect();
        let sinks = content.sink.iter().map(|s| s.name.as_deref()).collect();
        let bodies = content.body.iter().map(|b| b.name.as_deref()).collect();
        let probes = content.probe.iter().map(|p| Some(p.name())).collect();
        let kinds =
            [("solid", solids), ("source", sources), ("sink", sinks), ("body", bodies), ("probe", probes)];
        for (kind, names) in kinds {
            self.unique_names_of(kind, names, root.at(kind));
        }
    }

    fn unique_names_of(&mut self, kind: &str, names: Vec<Option<&str>>, list: &Node) {
        let mut seen: HashMap<String, usize> = HashMap::new();
        for (index, name) in names.into_iter().enumerate() {
            let node = list.entry(index).at("name");
            if name.is_some_and(|name| name.trim().is_empty()) {
                let help = "give a short name, such as \"jet\"";
                self.problems.error(&node.place, format!("the name of a {kind} is empty"), "empty", help);
                continue;
            }
            let name = name.map_or_else(|| default_name(kind, index), str::to_owned);
            match seen.get(&name) {
                Some(&first) => {
                    let message = format!("two {} have the name \"{name}\"", plural(kind));
                    let help = format!("give each {kind} its own name; results are listed by name");
                    self.problems.error(&node.place, message, "the same name again", help);
                    self.problems.also_at(&list.entry(first).at("name").place, "first used here");
                }
                None => {
                    seen.insert(name, index);
                }
            }
        }
    }
}

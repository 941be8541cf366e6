//! What makes a scene the same as another one, for the simulation.

use std::fs;
use std::hash::Hasher;
use std::path::Path;

use meniscus_scene::Scene;
use serde_json::Value;

/// All that bears on the simulation: not how many frames there are, nor what is written and drawn.
fn relevant_content(scene: &Scene) -> Value {
    let mut content = scene.content().clone();
    content.time.frames = 0;
    content.output = Default::default();
    content.render = Default::default();
    content.description = None;
    serde_json::to_value(&content).expect("a scene is plain data")
}

/// The first thing that bears on the simulation by which two scenes differ.
pub(crate) fn first_difference(before: &Scene, after: &Scene) -> Option<String> {
    difference("", &relevant_content(before), &relevant_content(after))
}

fn difference(path: &str, before: &Value, after: &Value) -> Option<String> {
    let join = |key: &str| if path.is_empty() { key.into() } else { format!("{path}.{key}") };
    match (before, after) {
        (Value::Object(a), Value::Object(b)) => {
            let keys = a.keys().chain(b.keys().filter(|key| !a.contains_key(*key)));
            let of = |map: &serde_json::Map<String, Value>, key| map.get(key).cloned().unwrap_or_default();
            keys.into_iter().find_map(|key| difference(&join(key), &of(a, key), &of(b, key)))
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() && is_list_of_tables(a) => {
            let entries = a.iter().zip(b).enumerate();
            entries.into_iter().find_map(|(k, (a, b))| difference(&format!("{path}[{k}]"), a, b))
        }
        (Value::Array(a), Value::Array(b)) if a.len() != b.len() && is_list_of_tables(a) => {
            Some(format!("`{path}` had {} entries, it has {}", a.len(), b.len()))
        }
        _ => (before != after).then(|| format!("`{path}` was {before}, it is {after}")),
    }
}

/// Whether a list is one of tables, and not a vector.
fn is_list_of_tables(list: &[Value]) -> bool {
    list.first().is_none_or(Value::is_object)
}

/// A hash of the scene's name and of all that bears on the simulation, mesh files included.
pub(crate) fn hash_of(scene: &Scene) -> String {
    let value = serde_json::to_value((scene.name(), relevant_content(scene))).expect("a scene is plain data");
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    hash.write(value.to_string().as_bytes());
    hash_meshes(&value, scene.folder(), &mut hash);
    format!("{:016x}", hash.finish())
}

/// Adds the mesh files that a part of a scene names. The scene has been read with them; one that is gone since
/// is as good as changed.
fn hash_meshes(part: &Value, folder: &Path, hash: &mut Fnv) {
    if let Some(file) = part.pointer("/mesh/file").and_then(Value::as_str) {
        hash.write(&fs::read(folder.join(file)).unwrap_or_default());
    }
    match part {
        Value::Object(map) => map.values().for_each(|part| hash_meshes(part, folder, hash)),
        Value::Array(list) => list.iter().for_each(|part| hash_meshes(part, folder, hash)),
        _ => {}
    }
}

/// FNV-1a: it need not resist an attacker, only tell scenes apart, and be the same in every version of Rust.
struct Fnv(u64);

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

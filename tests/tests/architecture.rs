//! What ARCHITECTURE.md promises.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace").to_path_buf()
}

/// All Rust files below a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
    assert!(!found.is_empty(), "no sources below {}", folder.display());
    found
}

fn crates() -> Vec<String> {
    let folders = fs::read_dir(root().join("crates")).expect("crates");
    folders.map(|entry| entry.expect("an entry").file_name().into_string().expect("a name")).collect()
}

#[test]
fn every_path_in_the_documents_exists() {
    for document in ["ARCHITECTURE.md", "README.md", "docs/performance.md"] {
        let text = fs::read_to_string(root().join(document)).expect("the document");
        let quoted = text.split('`').skip(1).step_by(2);
        let paths =
            quoted.filter(|q| ["crates/", "apps/", "tests/", "docs/"].iter().any(|p| q.starts_with(p)));
        let mut count = 0;
        for path in paths {
            assert!(root().join(path).exists(), "{document} names {path}, which does not exist");
            count += 1;
        }
        assert!(count > 0 || document == "README.md", "{document} names no path");
    }
}

#[test]
fn the_map_names_every_crate() {
    let map = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("the map");
    for name in crates() {
        assert!(map.contains(&format!("`crates/{name}`")), "{name} is not in the map");
    }
}

#[test]
fn solvers_do_no_io_and_print_nothing() {
    for name in [
        "meniscus-core",
        "meniscus-linalg",
        "meniscus-contact",
        "meniscus-rigid",
        "meniscus-liquid",
        "meniscus-modal",
        "meniscus-tet",
    ] {
        for path in sources(&root().join("crates").join(name).join("src")) {
            let text = fs::read_to_string(&path).expect("a source");
            for word in ["std::fs", "std::io", "println!", "eprintln!", "print!(", "dbg!"] {
                assert!(!text.contains(word), "{} uses {word}", path.display());
            }
        }
    }
}

#[test]
fn the_solver_knows_nothing_of_fluids() {
    for path in sources(&root().join("crates/meniscus-linalg/src")) {
        let text = fs::read_to_string(&path).expect("a source").to_lowercase();
        for word in ["fluid", "liquid", "bubble", "pressure", "velocity", "density"] {
            assert!(!text.contains(word), "{} speaks of {word}", path.display());
        }
    }
}

#[test]
fn crates_depend_only_downwards() {
    let allowed: [(&str, &[&str]); 11] = [
        ("meniscus-core", &[]),
        ("meniscus-linalg", &["meniscus-core"]),
        ("meniscus-contact", &["meniscus-core"]),
        ("meniscus-rigid", &["meniscus-core", "meniscus-linalg"]),
        ("meniscus-liquid", &["meniscus-core", "meniscus-linalg", "meniscus-rigid"]),
        ("meniscus-modal", &["meniscus-core", "meniscus-linalg", "meniscus-rigid"]),
        ("meniscus-tet", &["meniscus-core", "meniscus-linalg"]),
        ("meniscus-io", &["meniscus-core"]),
        ("meniscus-scene", &["meniscus-core", "meniscus-io"]),
        ("meniscus-render", &["meniscus-core"]),
        (
            "meniscus",
            &[
                "meniscus-contact",
                "meniscus-core",
                "meniscus-io",
                "meniscus-linalg",
                "meniscus-liquid",
                "meniscus-modal",
                "meniscus-render",
                "meniscus-rigid",
                "meniscus-scene",
            ],
        ),
    ];
    for name in crates() {
        let (_, below) =
            allowed.iter().find(|(n, _)| *n == name).unwrap_or_else(|| panic!("{name} has no rule"));
        let manifest =
            fs::read_to_string(root().join("crates").join(&name).join("Cargo.toml")).expect("a manifest");
        for line in manifest.lines().filter(|line| line.starts_with("meniscus-")) {
            let dependency = line.split(['.', ' ', '=']).next().expect("a name");
            assert!(below.contains(&dependency), "{name} depends on {dependency}");
        }
    }
}

/// The modules of a crate that each of them names, by the names of files and folders in its `src`.
fn ties(sources_of: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let mut ties: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for path in sources(sources_of) {
        let inner = path.strip_prefix(sources_of).expect("a source of the crate");
        let module = inner.iter().next().expect("a name").to_string_lossy();
        let module = module.trim_end_matches(".rs").to_owned();
        let is_test = inner.iter().any(|part| part.to_string_lossy().contains("tests"));
        if is_test || module == "lib" {
            continue;
        }
        let text = fs::read_to_string(&path).expect("a source");
        let text = text.split("#[cfg(test)]").next().expect("a part");
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        let named = code
            .flat_map(|line| line.split("crate::").skip(1))
            .map(|rest| rest.chars().take_while(|c| c.is_ascii_lowercase() || *c == '_').collect::<String>());
        let named = named.filter(|name| !name.is_empty() && *name != module);
        ties.entry(module.clone()).or_default().extend(named);
    }
    ties
}

#[test]
fn modules_know_only_what_lies_below_them() {
    for name in [
        "meniscus",
        "meniscus-core",
        "meniscus-io",
        "meniscus-liquid",
        "meniscus-modal",
        "meniscus-render",
        "meniscus-scene",
    ] {
        let mut left = ties(&root().join("crates").join(name).join("src"));
        assert!(left.len() > 5, "{name} has {} modules", left.len());
        loop {
            let all: BTreeSet<String> = left.keys().cloned().collect();
            let count = left.len();
            left.retain(|_, named| named.iter().any(|name| all.contains(name)));
            if left.len() == count {
                break;
            }
        }
        assert!(
            left.is_empty(),
            "{name}: these modules, or those that they name, go round in circles: {left:?}"
        );
    }
}

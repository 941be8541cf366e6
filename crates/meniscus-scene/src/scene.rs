//! Scenes: read, overridden, checked.

use std::any::Any;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::build::{self, AnySetup};
use crate::content::{Content, Method};
use crate::document::{self, Node};
use crate::problem::{Problems, Remarks, SceneError, SceneHint, SceneWarning};
use crate::setup::Setup;
use crate::suggest::{list, nearest};
use crate::{gallery, schema, structure};

/// A valid scene in two or three dimensions.
#[derive(Clone, Debug)]
pub struct Scene {
    name: String,
    folder: PathBuf,
    text: String,
    content: Content,
    setup: AnySetup,
    remarks: Remarks,
}

impl Scene {
    /// Opens a file, if there is one or the name ends in `.toml`, or else a scene of the gallery. A folder does not hide
    /// the scene it is named after: runs are often written to such a folder.
    ///
    /// Each override is `path=value`, where the path is as in `domain.cells` or `solid[0].name` and the value
    /// is TOML, or a word.
    pub fn open(path_or_name: &str, overrides: &[String]) -> Result<Self, SceneError> {
        let path = Path::new(path_or_name);
        let is_file = path.extension().is_some_and(|e| e == "toml") || path.is_file();
        if is_file || path.exists() && gallery::text(path_or_name).is_none() {
            Self::load(path, overrides)
        } else {
            Self::gallery(path_or_name, overrides)
        }
    }

    /// Reads a file.
    pub fn load(path: &Path, overrides: &[String]) -> Result<Self, SceneError> {
        let read = |source| SceneError::Read { path: path.into(), source };
        let text = std::fs::read_to_string(path).map_err(read)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        Self::parse(&path.display().to_string(), &text, folder, overrides)
    }

    /// A scene of the gallery.
    pub fn gallery(name: &str, overrides: &[String]) -> Result<Self, SceneError> {
        match gallery::text(name) {
            Some(text) => Self::parse(&format!("{name}.toml"), text, Path::new(""), overrides),
            None => Err(unknown_name(name)),
        }
    }

    /// Reads a scene from its text. `name` is what messages call the file; mesh files are looked for in `folder`.
    pub fn parse(name: &str, text: &str, folder: &Path, overrides: &[String]) -> Result<Self, SceneError> {
        let mut problems = Problems::new(name, text, overrides);
        let built = Self::build(text, folder, overrides, &mut problems);
        let Some((text, content, setup)) = built else { return Err(problems.into_error()) };
        let remarks = problems.finish()?;
        let stem = Path::new(name).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { name: stem, folder: folder.into(), text, content, setup, remarks })
    }

    /// A scene from a value, such as a map or a [`Content`]: what [`content`](Self::content) gives, written by a program. Messages show it as the
    /// text that it makes, and name keys by their paths. `name` is what messages call it; mesh files are looked for in `folder`.
    ///
    /// # Errors
    /// If the value has no such text, or what it says is no scene.
    pub fn from_value(name: &str, value: &impl Serialize, folder: &Path) -> Result<Self, SceneError> {
        match toml::to_string_pretty(value) {
            Ok(text) => Self::parse(name, &text, folder, &[]),
            Err(error) => Err(SceneError::Unwritable { name: name.into(), problem: error.to_string() }),
        }
    }

    /// The effective text, the content and the setup, or errors among the problems.
    fn build(
        text: &str,
        folder: &Path,
        overrides: &[String],
        problems: &mut Problems,
    ) -> Option<(String, Content, AnySetup)> {
        let (mut root, text) = document::read(text, overrides, problems)?;
        let whole = structure::check(&mut root, schema::built(), problems);
        let content = if whole { read_content(&root, problems) } else { None }?;
        let setup = build::build(&content, &root, folder, problems)?;
        Some((text, content, setup))
    }

    /// The scene with changes, such as `domain.cells=48`.
    ///
    /// # Errors
    /// If that is no scene any more.
    pub fn changed(&self, overrides: &[String]) -> Result<Self, SceneError> {
        Self::parse(&format!("{}.toml", self.name), &self.text, &self.folder, overrides)
    }

    /// The name of the file without its extension, or the name in the gallery.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The folder that mesh files are relative to; empty for the gallery.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// 2 or 3.
    pub fn dimension(&self) -> usize {
        match self.setup {
            AnySetup::Two(_) => 2,
            AnySetup::Three(_) => 3,
        }
    }

    /// How it is simulated.
    pub fn method(&self) -> Method {
        self.content.method
    }

    /// The text of the scene with the overrides written into it. Read again it makes the same scene.
    pub fn source_text(&self) -> &str {
        &self.text
    }

    /// The content of the file, with the overrides.
    pub fn content(&self) -> &Content {
        &self.content
    }

    /// What works but is probably not meant.
    pub fn warnings(&self) -> &[SceneWarning] {
        &self.remarks.warnings
    }

    /// What works and is often meant, such as liquid that reaches into walls.
    pub fn hints(&self) -> &[SceneHint] {
        &self.remarks.hints
    }

    /// Everything typed and in its place.
    ///
    /// # Panics
    /// If `D` is not the dimension of the scene.
    pub fn setup<const D: usize>(&self) -> Setup<D> {
        let setup: &dyn Any = match &self.setup {
            AnySetup::Two(setup) => &**setup,
            AnySetup::Three(setup) => &**setup,
        };
        let setup: &Setup<D> =
            setup.downcast_ref().unwrap_or_else(|| panic!("a {}D scene has no {D}D setup", self.dimension()));
        setup.clone()
    }
}

/// The content of a document that the schema has found sound.
fn read_content(root: &Node, problems: &mut Problems) -> Option<Content> {
    let read = Content::deserialize(root.to_toml());
    read.map_err(|error| {
        let help = "compare with a scene of the gallery";
        problems.error(
            &root.place,
            format!("the scene cannot be read: {}", error.message()),
            "in this file",
            help,
        );
    })
    .ok()
}

fn unknown_name(name: &str) -> SceneError {
    let names: Vec<&str> = gallery::names().collect();
    let help = match nearest(name, names.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("give the path of a .toml file, or one of {}", list(&names, "`", "or")),
    };
    SceneError::UnknownName { name: name.into(), help }
}

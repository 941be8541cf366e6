//! Errors and warnings that point into the text of a scene.

use std::fmt;
use std::io::ErrorKind;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use miette::{Diagnostic, LabeledSpan, NamedSource, Severity, SourceCode};

/// Why a scene cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SceneError {
    /// The file cannot be read.
    #[error("cannot read the scene file {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The name is neither a file nor a scene of the gallery.
    #[error("there is no scene `{name}`")]
    UnknownName {
        /// The name that was asked for.
        name: String,
        /// What could be meant.
        help: String,
    },
    /// A value that cannot be written as a scene.
    #[error("the scene {name} cannot be written as text: {problem}")]
    Unwritable {
        /// What messages call it.
        name: String,
        /// Why.
        problem: String,
    },
    /// The text is not a valid scene.
    #[error("{}", summary(name, problems))]
    Invalid {
        /// The name of the file.
        name: String,
        /// All that is wrong, in the order of the text.
        problems: Vec<SceneProblem>,
    },
}

fn summary(name: &str, problems: &[SceneProblem]) -> String {
    match problems {
        [only] => only.message.clone(),
        _ => format!("{name} has {} errors", problems.len()),
    }
}

impl SceneError {
    /// The problem, where it is the only one and so stands for the whole error.
    fn only_problem(&self) -> Option<&SceneProblem> {
        match self {
            Self::Invalid { problems, .. } => match problems.as_slice() {
                [only] => Some(only),
                _ => None,
            },
            _ => None,
        }
    }

    /// What is wrong with the text, in its order; empty if it could not be read.
    pub fn problems(&self) -> &[SceneProblem] {
        match self {
            Self::Invalid { problems, .. } => problems,
            _ => &[],
        }
    }
}

impl Diagnostic for SceneError {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        match self {
            Self::Read { source, .. } => Some(Box::new(match source.kind() {
                ErrorKind::InvalidData => {
                    "this is not a text file; scenes are written in TOML, as those of the gallery are"
                }
                ErrorKind::IsADirectory => {
                    "this is a folder; give the scene file in it, or to go on with a run --resume -o FOLDER"
                }
                _ => "check the path, or give the name of a scene of the gallery",
            })),
            Self::UnknownName { help, .. } => Some(Box::new(help)),
            Self::Unwritable { .. } => Some(Box::new("give a map with the keys of a scene file")),
            Self::Invalid { .. } => self.only_problem()?.help(),
        }
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.only_problem()?.source_code()
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        self.only_problem()?.labels()
    }

    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        match self.problems() {
            [] | [_] => None,
            problems => Some(Box::new(problems.iter().map(|p| p as &dyn Diagnostic))),
        }
    }
}

/// Something in a scene that works but is probably not meant; made like an error, with a milder severity.
pub type SceneWarning = SceneProblem;

/// Something in a scene that works and is often meant. It is told without the text of the scene, in a line or two, so
/// that it does not drown the warnings: its message names the places.
pub type SceneHint = SceneProblem;

/// One thing that is wrong with a scene: what, where, and how to mend it.
#[derive(Clone, Debug)]
pub struct SceneProblem {
    /// What is wrong.
    pub message: String,
    /// The fix.
    pub help: String,
    severity: Severity,
    source: Arc<NamedSource<String>>,
    labels: Vec<LabeledSpan>,
}

impl SceneProblem {
    /// The name of the text that the problem is in: the file, or an override such as `--set domain.cells=-3`.
    pub fn source_name(&self) -> &str {
        self.source.name()
    }

    /// The bytes of the text that the problem is about.
    pub fn span(&self) -> Range<usize> {
        self.labels.first().map_or(0..0, |label| label.offset()..label.offset() + label.len())
    }

    /// The line that the problem is in, from 1.
    pub fn line(&self) -> usize {
        line_of(&self.source, self.span().start)
    }

    fn is_hint(&self) -> bool {
        self.severity == Severity::Advice
    }
}

/// The line that a byte of a text is in, from 1.
fn line_of(source: &NamedSource<String>, byte: usize) -> usize {
    let text = source.inner().as_bytes();
    1 + text[..byte.min(text.len())].iter().filter(|&&byte| byte == b'\n').count()
}

impl fmt::Display for SceneProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for SceneProblem {}

impl Diagnostic for SceneProblem {
    fn severity(&self) -> Option<Severity> {
        Some(self.severity)
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(&self.help))
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        if self.is_hint() { None } else { Some(&*self.source) }
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        if self.is_hint() { None } else { Some(Box::new(self.labels.iter().cloned())) }
    }
}

/// A place in the file or in one of the overrides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// 0 is the file, the others are the overrides in their order.
    pub source: usize,
    /// Bytes of that text.
    pub span: Range<usize>,
}

/// Collects what is wrong with one scene.
pub(crate) struct Problems {
    name: String,
    sources: Vec<Arc<NamedSource<String>>>,
    errors: Vec<(Place, SceneProblem)>,
    warnings: Vec<(Place, SceneProblem)>,
    hints: Vec<(Place, SceneProblem)>,
}

/// What is to be said of a scene that is valid.
#[derive(Clone, Debug)]
pub(crate) struct Remarks {
    pub warnings: Vec<SceneWarning>,
    pub hints: Vec<SceneHint>,
}

impl Problems {
    pub fn new(name: &str, text: &str, overrides: &[String]) -> Self {
        let file = NamedSource::new(name, text.to_owned());
        let overrides = overrides.iter().map(|o| NamedSource::new(format!("the change {o}"), o.clone()));
        let sources = std::iter::once(file).chain(overrides).map(Arc::new).collect();
        Self { name: name.into(), sources, errors: Vec::new(), warnings: Vec::new(), hints: Vec::new() }
    }

    pub fn has_errors(&self) -> bool {
        !self.errors.is_empty()
    }

    pub fn error(
        &mut self,
        place: &Place,
        message: impl Into<String>,
        label: impl Into<String>,
        help: impl Into<String>,
    ) {
        let problem = self.problem(Severity::Error, place, message.into(), label.into(), help.into());
        self.errors.push((place.clone(), problem));
    }

    pub fn warning(
        &mut self,
        place: &Place,
        message: impl Into<String>,
        label: impl Into<String>,
        help: impl Into<String>,
    ) {
        let problem = self.problem(Severity::Warning, place, message.into(), label.into(), help.into());
        self.warnings.push((place.clone(), problem));
    }

    /// Tells of something that is often meant, first at this place; the message names all places.
    pub fn hint(&mut self, place: &Place, message: impl Into<String>, help: impl Into<String>) {
        let problem = self.problem(Severity::Advice, place, message.into(), String::new(), help.into());
        self.hints.push((place.clone(), problem));
    }

    /// The line of a place in the file, from 1; none for one in an override.
    pub fn line(&self, place: &Place) -> Option<usize> {
        (place.source == 0).then(|| line_of(&self.sources[0], place.span.start))
    }

    /// Adds a second place to the latest error, if both are in the same text.
    pub fn also_at(&mut self, place: &Place, text: &str) {
        if let Some((first, problem)) = self.errors.last_mut()
            && first.source == place.source
        {
            problem.labels.push(label(&self.sources[place.source], place, text.into()));
        }
    }

    /// The warnings and hints, if there is no error.
    pub fn finish(self) -> Result<Remarks, SceneError> {
        if self.errors.is_empty() {
            Ok(Remarks { warnings: in_order(self.warnings), hints: in_order(self.hints) })
        } else {
            Err(self.into_error())
        }
    }

    /// The errors.
    pub fn into_error(self) -> SceneError {
        SceneError::Invalid { name: self.name, problems: in_order(self.errors) }
    }

    fn problem(
        &self,
        severity: Severity,
        place: &Place,
        message: String,
        text: String,
        help: String,
    ) -> SceneProblem {
        let source = self.sources[place.source].clone();
        let labels = vec![label(&source, place, text)];
        SceneProblem { message, help, severity, source, labels }
    }
}

/// In the order of the text, each thing once.
fn in_order(mut problems: Vec<(Place, SceneProblem)>) -> Vec<SceneProblem> {
    problems.sort_by_key(|(place, _)| (place.source, place.span.start, place.span.end));
    problems.dedup_by(|(place, problem), (other, kept)| place == other && problem.message == kept.message);
    problems.into_iter().map(|(_, problem)| problem).collect()
}

/// A label at a place of a text.
fn label(source: &NamedSource<String>, place: &Place, text: String) -> LabeledSpan {
    let end = source.inner().len();
    let last = source.inner().char_indices().last().map_or(0, |(at, _)| at);
    // At the very end there would be nothing to underline.
    let start = if place.span.start >= end { last } else { place.span.start };
    LabeledSpan::new(Some(text), start, place.span.end.clamp(start, end) - start)
}

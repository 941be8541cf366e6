//! Why a file cannot be read, and where.

use std::fmt;
use std::path::PathBuf;

/// Why a mesh file cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadMeshError {
    /// The file cannot be opened or read.
    #[error("cannot read the mesh file {}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The name does not end in a known extension.
    #[error("{}: a mesh file must end in .obj, .ply or .stl; convert it to one of these formats", path.display())]
    UnknownExtension {
        /// The file.
        path: PathBuf,
    },
    /// The content is not what the format asks for.
    #[error("{}, {error}", path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// Where and why.
        error: ParseError,
    },
}

/// Where in a file its content breaks the rules of its format, and how.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{location}: {problem}")]
pub struct ParseError {
    /// Where.
    pub location: Location,
    /// What is wrong, and the fix where there is one.
    pub problem: String,
}

/// A place in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// A line of text, from 1.
    Line(usize),
    /// An offset in bytes from the start of the file.
    Byte(usize),
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Byte(byte) => write!(f, "byte {byte}"),
        }
    }
}

impl ParseError {
    pub(crate) fn at_line(line: usize, problem: impl Into<String>) -> Self {
        Self { location: Location::Line(line), problem: problem.into() }
    }

    pub(crate) fn at_byte(byte: usize, problem: impl Into<String>) -> Self {
        Self { location: Location::Byte(byte), problem: problem.into() }
    }
}

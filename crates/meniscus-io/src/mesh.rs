//! What the mesh formats share.

use std::path::Path;

use meniscus_core::shape::TriangleMesh;

use crate::{Location, ParseError, ReadMeshError, obj, ply, stl};

/// Reads a triangle mesh from an OBJ, PLY or STL file, by the extension of its name in upper or lower case.
///
/// Polygons become fans of triangles about their first corner. The mesh is as the file has it: not yet
/// welded, and not checked to be closed (`meniscus_core::shape::ClosedMesh` does both).
pub fn read_mesh(path: impl AsRef<Path>) -> Result<TriangleMesh, ReadMeshError> {
    let path = path.as_ref();
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    let parse: fn(&[u8]) -> Result<TriangleMesh, ParseError> = match extension.as_str() {
        "obj" => obj::parse,
        "ply" => ply::parse,
        "stl" => stl::parse,
        _ => return Err(ReadMeshError::UnknownExtension { path: path.into() }),
    };
    let bytes = std::fs::read(path).map_err(|source| ReadMeshError::Io { path: path.into(), source })?;
    parse(&bytes).map_err(|error| ReadMeshError::Parse { path: path.into(), error })
}

/// A mesh in the making, which remembers where its largest vertex index was seen: faces may come before
/// the vertices they use.
#[derive(Default)]
pub(crate) struct MeshBuilder {
    mesh: TriangleMesh,
    largest: Option<(u32, Location)>,
}

impl MeshBuilder {
    pub(crate) fn vertex_count(&self) -> usize {
        self.mesh.vertices.len()
    }

    /// Adds a vertex, or says why not.
    pub(crate) fn add_vertex(&mut self, position: [f64; 3], location: Location) -> Result<(), ParseError> {
        if self.vertex_count() >= u32::MAX as usize {
            return Err(ParseError {
                location,
                problem: "more vertices than 32-bit indices can name".into(),
            });
        }
        self.mesh.vertices.push(position);
        Ok(())
    }

    /// Adds a polygon as a fan of triangles, or says why not.
    pub(crate) fn add_polygon(&mut self, corners: &[u32], location: Location) -> Result<(), ParseError> {
        if corners.len() < 3 {
            let problem = format!("a face needs at least three corners, this one has {}", corners.len());
            return Err(ParseError { location, problem });
        }
        self.mesh.triangles.extend(corners[1..].windows(2).map(|edge| [corners[0], edge[0], edge[1]]));
        let largest = corners.iter().copied().max().map(|index| (index, location));
        if self.largest.is_none_or(|(index, _)| largest.is_some_and(|(new, _)| new > index)) {
            self.largest = largest;
        }
        Ok(())
    }

    /// The mesh, if it has triangles and all their corners exist. Vertices are numbered from
    /// `first_index` in the message; `end` is where the file ends.
    pub(crate) fn finish(self, first_index: u64, end: Location) -> Result<TriangleMesh, ParseError> {
        let count = self.vertex_count() as u64;
        match self.largest {
            None => Err(ParseError { location: end, problem: "the file has no faces".into() }),
            Some((index, location)) if u64::from(index) >= count => {
                let index = u64::from(index) + first_index;
                let problem = format!("a face uses vertex {index}, but the file has only {count} vertices");
                Err(ParseError { location, problem })
            }
            Some(_) => Ok(self.mesh),
        }
    }
}

/// A finite number in text.
pub(crate) fn number(word: &str, line: usize) -> Result<f64, ParseError> {
    match word.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(_) => Err(ParseError::at_line(line, format!("'{word}' is not a finite number"))),
        Err(_) => Err(ParseError::at_line(line, format!("expected a number, found '{}'", shorten(word)))),
    }
}

/// Three finite numbers in text; `what` names them. Words after the third are left alone.
pub(crate) fn position<'a>(
    mut words: impl Iterator<Item = &'a str>,
    what: &str,
    line: usize,
) -> Result<[f64; 3], ParseError> {
    let mut position = [0.0; 3];
    for (coordinate, axis) in position.iter_mut().zip(["x", "y", "z"]) {
        let word = words
            .next()
            .ok_or_else(|| ParseError::at_line(line, format!("{what} lacks its {axis} coordinate")))?;
        *coordinate = number(word, line)?;
    }
    Ok(position)
}

/// The start of a word, for a message.
pub(crate) fn shorten(word: &str) -> String {
    const LONGEST: usize = 40;
    if word.chars().count() <= LONGEST {
        word.to_owned()
    } else {
        word.chars().take(LONGEST).chain("...".chars()).collect()
    }
}

//! Wavefront OBJ: `v` and `f` lines.
//!
//! Face corners may be `v`, `v/vt`, `v//vn` or `v/vt/vn`, with indices from 1 or, negative, back from the
//! latest vertex. Long lines may be continued with a backslash. Texture coordinates, normals, groups,
//! materials, lines, points and free-form surfaces are skipped.

use std::borrow::Cow;

use meniscus_core::shape::TriangleMesh;

use crate::mesh::{MeshBuilder, position, shorten};
use crate::{Location, ParseError};

/// The mesh of a whole OBJ file.
pub fn parse(bytes: &[u8]) -> Result<TriangleMesh, ParseError> {
    // Names in other encodings than UTF-8 are common, and skipped.
    let text = String::from_utf8_lossy(bytes);
    let mut builder = MeshBuilder::default();
    let mut corners = Vec::new();
    let mut lines = text.lines().zip(1..);
    let mut end = 1;
    while let Some((first, line)) = lines.next() {
        end = line;
        let mut statement = Cow::Borrowed(first);
        while let Some(len) = statement.trim_end().strip_suffix('\\').map(str::len) {
            let (next, number) = lines.next().unwrap_or(("", end));
            end = number;
            let joined = statement.to_mut();
            joined.truncate(len);
            joined.push(' ');
            joined.push_str(next);
        }
        let content = statement.split('#').next().unwrap_or_default();
        let mut words = content.split_whitespace();
        match words.next() {
            Some("v") => builder.add_vertex(position(words, "the vertex", line)?, Location::Line(line))?,
            Some("f") => {
                corners.clear();
                for word in words {
                    corners.push(vertex_index(word, builder.vertex_count(), line)?);
                }
                builder.add_polygon(&corners, Location::Line(line))?;
            }
            _ => {}
        }
    }
    builder.finish(1, Location::Line(end))
}

/// The vertex of a face corner, from 0, after `count` vertices.
fn vertex_index(corner: &str, count: usize, line: usize) -> Result<u32, ParseError> {
    let word = corner.split('/').next().unwrap_or_default();
    let problem = match word.parse::<i64>() {
        Ok(0) => "vertex index 0: indices count from 1, or back from -1".to_owned(),
        Ok(index) => {
            let from_zero = if index > 0 { index - 1 } else { count as i64 + index };
            match u32::try_from(from_zero) {
                Ok(index) => return Ok(index),
                Err(_) if index < 0 => {
                    format!("vertex index {index} reaches back beyond the {count} vertices so far")
                }
                Err(_) => format!("vertex index {index} is too large"),
            }
        }
        Err(_) => format!("expected a vertex index, found '{}'", shorten(word)),
    };
    Err(ParseError::at_line(line, problem))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TETRAHEDRON: [[u32; 3]; 4] = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];

    #[test]
    fn all_forms_of_indices_mean_the_same() {
        let vertices =
            "# a comment\no name\nv 0 0 0\nv 1 0 0 1.0\nv 0 1 0 0.5 0.5 0.5\r\nvn 0 0 1\nvt 0 0\nv 0 0 1e0\n";
        for faces in [
            "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n",
            "f 1/1 3/1 2/1\nf 1//1 2//1 4//1\nf 1/1/1 4/1/1 3/1/1 # and so on\nusemtl x\nf\t2 3 4",
            "f -4 -2 -3\nf -4 -3 -1\nf -4 -1 -2\nf -3 -2 -1\n",
            "f 1 \\\n3 2\nf 1 2 \\ \n \\\n4\nf 1 4 3\nf 2 3 4\n",
        ] {
            let mesh = parse(format!("{vertices}{faces}").as_bytes()).unwrap();
            assert_eq!(mesh.vertices, [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
            assert_eq!(mesh.triangles, TETRAHEDRON, "{faces}");
        }
    }

    #[test]
    fn polygons_become_fans_and_faces_may_come_first() {
        let mesh = parse(b"f 1 2 3 4 5\nv 0 0 0\nv 1 0 0\nv 2 1 0\nv 1 2 0\nv 0 2 0\n").unwrap();
        assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3], [0, 3, 4]]);
    }

    #[test]
    fn errors_name_the_line_and_the_reason() {
        let v3 = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";
        for (tail, expected) in [
            ("v 1 2\n", "line 4: the vertex lacks its z coordinate"),
            ("v 1 2 x\n", "line 4: expected a number, found 'x'"),
            ("v 1 2 nan\n", "line 4: 'nan' is not a finite number"),
            ("f 1 2\n", "line 4: a face needs at least three corners, this one has 2"),
            ("f 1 2 0\n", "line 4: vertex index 0: indices count from 1, or back from -1"),
            ("f 1 2 -4\n", "line 4: vertex index -4 reaches back beyond the 3 vertices so far"),
            ("\nf 1 2 4\n", "line 5: a face uses vertex 4, but the file has only 3 vertices"),
            ("f 1 2 99999999999\n", "line 4: vertex index 99999999999 is too large"),
            ("f 1 2 /3\n", "line 4: expected a vertex index, found ''"),
            ("", "line 3: the file has no faces"),
        ] {
            let error = parse(format!("{v3}{tail}").as_bytes()).unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
    }
}

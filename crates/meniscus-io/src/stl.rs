//! STL, binary and text. Vertices are not shared: three for each triangle.
//!
//! A file is binary if its size is what its triangle count asks for, else text if it starts with `solid`.
//! The normals in the file are ignored; the order of the corners tells the outside.

use meniscus_core::shape::TriangleMesh;

use crate::mesh::{MeshBuilder, position, shorten};
use crate::{Location, ParseError};

const HEADER_LEN: usize = 84;
/// A normal, three corners and two spare bytes.
const TRIANGLE_LEN: usize = 50;
const NORMAL_LEN: usize = 12;

/// The mesh of a whole STL file.
pub fn parse(bytes: &[u8]) -> Result<TriangleMesh, ParseError> {
    let count = bytes
        .get(80..HEADER_LEN)
        .map(|count| u64::from(u32::from_le_bytes([count[0], count[1], count[2], count[3]])));
    let wanted = count.map(|count| HEADER_LEN as u64 + TRIANGLE_LEN as u64 * count);
    if wanted == Some(bytes.len() as u64) {
        return parse_binary(bytes);
    }
    let text = bytes.trim_ascii_start();
    let starts_with_solid = text.get(..5).is_some_and(|word| word.eq_ignore_ascii_case(b"solid"));
    if starts_with_solid && !bytes.contains(&0) {
        return parse_text(bytes);
    }
    let len = bytes.len();
    let problem = match (count, wanted) {
        (Some(count), Some(wanted)) => format!(
            "the header counts {count} triangles, so a binary STL file would have {wanted} bytes, but this one has \
             {len}: it is cut short, or not an STL file"
        ),
        _ => "neither 'solid', which starts a text STL file, nor the 84 bytes of a binary header".into(),
    };
    Err(ParseError::at_byte(len.min(80), problem))
}

/// A binary file of the right length.
fn parse_binary(bytes: &[u8]) -> Result<TriangleMesh, ParseError> {
    let mut builder = MeshBuilder::default();
    for (index, record) in bytes[HEADER_LEN..].chunks_exact(TRIANGLE_LEN).enumerate() {
        let start = HEADER_LEN + index * TRIANGLE_LEN;
        let mut corners = [[0.0; 3]; 3];
        for (coordinate, value) in
            corners.as_flattened_mut().iter_mut().zip(record[NORMAL_LEN..].chunks_exact(4))
        {
            *coordinate = f64::from(f32::from_le_bytes([value[0], value[1], value[2], value[3]]));
        }
        if let Some(bad) = corners.as_flattened().iter().find(|x| !x.is_finite()) {
            let problem = format!("triangle {index} has the coordinate {bad}, which is not a finite number");
            return Err(ParseError::at_byte(start + NORMAL_LEN, problem));
        }
        add_facet(&mut builder, &corners, Location::Byte(start))?;
    }
    builder.finish(0, Location::Byte(bytes.len()))
}

fn parse_text(bytes: &[u8]) -> Result<TriangleMesh, ParseError> {
    let text = String::from_utf8_lossy(bytes);
    let mut builder = MeshBuilder::default();
    let mut corners = Vec::new();
    let mut in_solid = false;
    let mut end = 1;
    for (content, line) in text.lines().zip(1..) {
        end = line;
        let mut words = content.split_whitespace();
        let Some(keyword) = words.next() else { continue };
        match keyword.to_ascii_lowercase().as_str() {
            "facet" | "endsolid" if !corners.is_empty() => {
                return Err(ParseError::at_line(line, "the facet before has no 'endfacet'"));
            }
            "solid" => in_solid = true,
            "endsolid" => in_solid = false,
            "vertex" => corners.push(position(words, "the vertex", line)?),
            "endfacet" => {
                add_facet(&mut builder, &corners, Location::Line(line))?;
                corners.clear();
            }
            "facet" | "outer" | "endloop" => {}
            _ => {
                let found = shorten(keyword);
                return Err(ParseError::at_line(
                    line,
                    format!("'{found}' is not a keyword of a text STL file"),
                ));
            }
        }
    }
    if in_solid {
        return Err(ParseError::at_line(end, "the file ends without 'endsolid': it is cut short"));
    }
    builder.finish(0, Location::Line(end))
}

fn add_facet(builder: &mut MeshBuilder, corners: &[[f64; 3]], location: Location) -> Result<(), ParseError> {
    let first = builder.vertex_count();
    for &corner in corners {
        builder.add_vertex(corner, location)?;
    }
    let indices: Vec<u32> = (first..builder.vertex_count()).map(|v| v as u32).collect();
    builder.add_polygon(&indices, location)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "solid a name\n facet normal 0 0 1\n  outer loop\n   vertex 0 0 0\n   vertex 1 0 0\n   VERTEX 0 1e0 0\n  \
                        endloop\n endfacet\nendsolid a name\n";

    fn binary(header: &[u8], triangles: &[[f32; 9]]) -> Vec<u8> {
        let mut bytes = header.to_vec();
        bytes.resize(80, b' ');
        bytes.extend((triangles.len() as u32).to_le_bytes());
        for triangle in triangles {
            bytes.extend([0; 12]);
            bytes.extend(triangle.iter().flat_map(|x| x.to_le_bytes()));
            bytes.extend([0; 2]);
        }
        bytes
    }

    #[test]
    fn text_and_binary_agree() {
        let text = parse(TEXT.as_bytes()).unwrap();
        let corners = [[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0]];
        // Some programs start the header of a binary file with the word of a text file.
        for header in [b"binary".as_slice(), b"solid", b"\0"] {
            assert_eq!(parse(&binary(header, &corners)).unwrap(), text);
        }
        assert_eq!(text.triangles, [[0, 1, 2]]);
        assert_eq!(text.vertices[2], [0.0, 1.0, 0.0]);
    }

    #[test]
    fn errors_name_the_place_and_the_reason() {
        let cut_short = &TEXT[..TEXT.find("endsolid").unwrap()];
        let unfinished = TEXT.replace(" endfacet\n", "");
        let two = TEXT.replace("   vertex 1 0 0\n", "");
        let word = TEXT.replace("outer", "inner");
        for (text, expected) in [
            (cut_short, "line 8: the file ends without 'endsolid': it is cut short"),
            (&unfinished, "line 8: the facet before has no 'endfacet'"),
            (&two, "line 7: a face needs at least three corners, this one has 2"),
            (&word, "line 3: 'inner' is not a keyword of a text STL file"),
            (&TEXT.replace("1e0", "one"), "line 6: expected a number, found 'one'"),
            ("solid empty\nendsolid", "line 2: the file has no faces"),
            (
                "hello",
                "byte 5: neither 'solid', which starts a text STL file, nor the 84 bytes of a binary header",
            ),
        ] {
            assert_eq!(parse(text.as_bytes()).unwrap_err().to_string(), expected);
        }
        let mut lying = binary(b"", &[[0.0; 9]]);
        lying[80..84].copy_from_slice(&u32::MAX.to_le_bytes());
        let message = parse(&lying).unwrap_err().to_string();
        assert!(message.starts_with("byte 80: the header counts 4294967295 triangles"), "{message}");
        let bad = binary(b"", &[[0.0; 9], [f32::INFINITY; 9]]);
        let message = parse(&bad).unwrap_err().to_string();
        assert!(message.starts_with("byte 146: triangle 1 has the coordinate inf"), "{message}");
    }
}

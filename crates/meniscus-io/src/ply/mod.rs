//! PLY: text, and binary of either byte order.
//!
//! The positions are the properties `x`, `y`, `z` of the element `vertex`, of any type; the faces the list
//! `vertex_indices` (or `vertex_index`) of the element `face`. All other elements and properties are
//! skipped, whatever their order.

mod body;
mod header;

use meniscus_core::shape::TriangleMesh;

use crate::mesh::MeshBuilder;
use crate::{Location, ParseError};
use body::Body;
use header::{Element, Header, Property};

/// The mesh of a whole PLY file.
pub fn parse(bytes: &[u8]) -> Result<TriangleMesh, ParseError> {
    let header = Header::parse(bytes)?;
    let mut body = Body::new(bytes, &header);
    let mut builder = MeshBuilder::default();
    for element in &header.elements {
        match element.name.as_str() {
            "vertex" => read_vertices(element, &mut body, &mut builder)?,
            "face" => read_faces(element, &mut body, &mut builder)?,
            _ => {
                for row in 0..element.count {
                    read_row(element, row, &mut body, |_, _| {})?;
                }
            }
        }
    }
    builder.finish(0, body.location())
}

fn read_vertices(element: &Element, body: &mut Body, builder: &mut MeshBuilder) -> Result<(), ParseError> {
    let mut axes = [0; 3];
    for (axis, name) in axes.iter_mut().zip(["x", "y", "z"]) {
        *axis = element.find(|p| p.name == name && p.count.is_none(), &format!("scalar property {name}"))?;
    }
    for row in 0..element.count {
        let mut position = [0.0; 3];
        let location = read_row(element, row, body, |property, value| {
            if let Some(axis) = axes.iter().position(|&p| p == property) {
                position[axis] = value;
            }
        })?;
        if position.iter().any(|x| !x.is_finite()) {
            let problem = format!("vertex {row} is at {position:?}: its coordinates must be finite numbers");
            return Err(ParseError { location, problem });
        }
        builder.add_vertex(position, location)?;
    }
    Ok(())
}

fn read_faces(element: &Element, body: &mut Body, builder: &mut MeshBuilder) -> Result<(), ParseError> {
    let is_corners =
        |p: &Property| matches!(p.name.as_str(), "vertex_indices" | "vertex_index") && p.count.is_some();
    let list = element.find(is_corners, "list property vertex_indices")?;
    let mut corners = Vec::new();
    for row in 0..element.count {
        corners.clear();
        let mut invalid = None;
        let location = read_row(element, row, body, |property, value| {
            if property == list {
                // A cast of what is not an index differs from it.
                corners.push(value as u32);
                if f64::from(value as u32) != value {
                    invalid = Some(value);
                }
            }
        })?;
        if let Some(value) = invalid {
            let problem =
                format!("face {row} has the vertex index {value}: indices are whole and count from 0");
            return Err(ParseError { location, problem });
        }
        builder.add_polygon(&corners, location)?;
    }
    Ok(())
}

/// Reads one row of an element, hands over each value with the number of its property, and says where the
/// row starts.
fn read_row(
    element: &Element,
    row: u64,
    body: &mut Body,
    mut value: impl FnMut(usize, f64),
) -> Result<Location, ParseError> {
    body.start_row(element, row)?;
    let start = body.location();
    for (index, property) in element.properties.iter().enumerate() {
        let location = body.location();
        let count = match property.count {
            None => 1.0,
            Some(scalar) => body.value(scalar)?,
        };
        if count < 0.0 || count.fract() != 0.0 || !count.is_finite() {
            let problem =
                format!("{} {row}: the list {} has the length {count}", element.name, property.name);
            return Err(ParseError { location, problem });
        }
        // Every value takes bytes of the file, so a false length meets its end soon.
        for _ in 0..count as u64 {
            value(index, body.value(property.scalar)?);
        }
    }
    body.end_row()?;
    Ok(start)
}

#[cfg(test)]
mod tests;

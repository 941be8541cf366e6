//! Wavefront OBJ files.

use std::fmt::Write;
use std::path::Path;

use super::{Elements, SurfaceExport, WALL};
use crate::container::write_atomically;
use crate::{OPEN_AIR, WriteError};

/// Writes a surface with normals, as `f v//vn`, or an outline as `l` lines without them; where bubbles are known, in a
/// group for each. The format has no place for velocities: write PLY to keep them.
pub fn write_surface_obj(path: impl AsRef<Path>, surface: &SurfaceExport) -> Result<(), WriteError> {
    write_atomically(path, text(surface).as_bytes())
}

fn text(surface: &SurfaceExport) -> String {
    let mut text = String::from("# Meniscus, metres\n");
    let mut line = |line: std::fmt::Arguments| text.write_fmt(line).expect("a string grows");
    for [x, y, z] in &surface.position {
        line(format_args!("v {x} {y} {z}\n"));
    }
    // Indices count from 1.
    match &surface.elements {
        Elements::Triangles(triangles) => {
            for [x, y, z] in &surface.normal {
                line(format_args!("vn {x} {y} {z}\n"));
            }
            for (group, members) in groups(surface.bubble.as_deref(), triangles) {
                group.iter().for_each(|name| line(format_args!("g {name}\n")));
                for [a, b, c] in members.iter().map(|t| t.map(|v| u64::from(v) + 1)) {
                    line(format_args!("f {a}//{a} {b}//{b} {c}//{c}\n"));
                }
            }
        }
        Elements::Edges(edges) => {
            for (group, members) in groups(surface.bubble.as_deref(), edges) {
                group.iter().for_each(|name| line(format_args!("g {name}\n")));
                for [a, b] in members.iter().map(|e| e.map(|v| u64::from(v) + 1)) {
                    line(format_args!("l {a} {b}\n"));
                }
            }
        }
    }
    text
}

/// The elements by the bubble that they border, with the names of the groups; all of them without a name where no
/// bubbles are known. An element between a wall and air borders the air.
fn groups<const N: usize>(
    bubble: Option<&[i32]>,
    elements: &[[u32; N]],
) -> Vec<(Option<String>, Vec<[u32; N]>)> {
    let Some(bubble) = bubble else { return vec![(None, elements.to_vec())] };
    let of = |element: &[u32; N]| element.iter().map(|&v| bubble[v as usize]).max().unwrap_or(WALL);
    let mut sorted: Vec<(i32, [u32; N])> = elements.iter().map(|element| (of(element), *element)).collect();
    // Stable: within a group the elements keep their order.
    sorted.sort_by_key(|&(id, _)| id);
    let group = |group: &[(i32, [u32; N])]| {
        (Some(name(group[0].0)), group.iter().map(|&(_, element)| element).collect())
    };
    sorted.chunk_by(|a, b| a.0 == b.0).map(group).collect()
}

fn name(bubble: i32) -> String {
    if bubble == WALL {
        "wall".into()
    } else if bubble == OPEN_AIR as i32 {
        "open_air".into()
    } else {
        format!("bubble_{bubble}")
    }
}

//! Wavefront OBJ files.

use std::fmt::Write;
use std::path::Path;

use super::{Elements, SurfaceExport};
use crate::WriteError;
use crate::container::write_atomically;

/// Writes a surface with normals, as `f v//vn`, or an outline as `l` lines without them. The format has no
/// place for velocities: write PLY to keep them.
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
            for [a, b, c] in triangles.iter().map(|t| t.map(|v| u64::from(v) + 1)) {
                line(format_args!("f {a}//{a} {b}//{b} {c}//{c}\n"));
            }
        }
        Elements::Edges(edges) => {
            for [a, b] in edges.iter().map(|e| e.map(|v| u64::from(v) + 1)) {
                line(format_args!("l {a} {b}\n"));
            }
        }
    }
    text
}

//! Binary PLY files, little-endian.

use std::path::Path;

use meniscus_core::grid::Grid;

use super::surface::{in_space, metres};
use super::{Elements, SurfaceExport};
use crate::container::write_atomically;
use crate::{Points, WriteError};

/// Writes a surface with normals and velocities, the vertex properties `nx` to `nz` and `vx` to `vz`, and where
/// bubbles are known with the integer `bubble`.
/// Triangles are the list `vertex_indices` of the element `face`; edges are `vertex1` and `vertex2` of `edge`.
pub fn write_surface_ply(path: impl AsRef<Path>, surface: &SurfaceExport) -> Result<(), WriteError> {
    let SurfaceExport { position, normal, velocity, bubble, elements } = surface;
    let element = match elements {
        Elements::Triangles(triangles) => {
            format!("element face {}\nproperty list uchar uint vertex_indices\n", triangles.len())
        }
        Elements::Edges(edges) => {
            format!("element edge {}\nproperty uint vertex1\nproperty uint vertex2\n", edges.len())
        }
    };
    let identity = if bubble.is_some() { "property int bubble\n" } else { "" };
    let more = format!("{identity}{element}");
    let mut bytes = header(position.len(), &["x", "y", "z", "nx", "ny", "nz", "vx", "vy", "vz"], &more);
    for (k, ((x, n), v)) in position.iter().zip(normal).zip(velocity).enumerate() {
        bytes.extend_from_slice(bytemuck::bytes_of(&[*x, *n, *v]));
        if let Some(bubble) = bubble {
            bytes.extend_from_slice(&bubble[k].to_le_bytes());
        }
    }
    match elements {
        Elements::Triangles(triangles) => {
            for corners in triangles {
                bytes.push(3);
                bytes.extend_from_slice(bytemuck::bytes_of(corners));
            }
        }
        Elements::Edges(edges) => bytes.extend_from_slice(bytemuck::cast_slice(edges)),
    }
    write_atomically(path, &bytes)
}

/// Writes particles as vertices with velocities, in metres and metres a second; 0 where they have none.
pub fn write_particles_ply<const D: usize>(
    path: impl AsRef<Path>,
    grid: &Grid<D>,
    particles: &Points<D>,
) -> Result<(), WriteError> {
    let mut bytes = header(particles.position.len(), &["x", "y", "z", "vx", "vy", "vz"], "");
    let velocity = particles.velocity();
    for (k, &x) in particles.position.iter().enumerate() {
        let v = velocity.map_or([0.0; D], |velocity| velocity[k]);
        bytes.extend_from_slice(bytemuck::bytes_of(&[metres(grid, x), in_space(v)]));
    }
    write_atomically(path, &bytes)
}

/// Writes the markers of smokes as vertices, in metres, with the number of the smoke that each is of, from 0.
pub fn write_markers_ply<const D: usize>(
    path: impl AsRef<Path>,
    grid: &Grid<D>,
    smokes: &[&[[f32; D]]],
) -> Result<(), WriteError> {
    let count = smokes.iter().map(|markers| markers.len()).sum();
    let mut bytes = header(count, &["x", "y", "z"], "property int smoke\n");
    for (number, markers) in smokes.iter().enumerate() {
        for &x in *markers {
            bytes.extend_from_slice(bytemuck::bytes_of(&metres(grid, x)));
            bytes.extend_from_slice(&(number as i32).to_le_bytes());
        }
    }
    write_atomically(path, &bytes)
}

/// The head of a file; `more` follows the properties of the vertices.
fn header(vertices: usize, properties: &[&str], more: &str) -> Vec<u8> {
    let properties: String = properties.iter().map(|name| format!("property float {name}\n")).collect();
    format!(
        "ply\nformat binary_little_endian 1.0\ncomment Meniscus, metres and seconds\nelement vertex {vertices}\n\
         {properties}{more}end_header\n"
    )
    .into_bytes()
}

//! Exports of a whole frame, read back.

use std::fs;
use std::sync::Arc;

use meniscus_core::grid::{Blocks, FaceField, Field, Grid};
use meniscus_core::shape::{ClosedMesh, RigidTransform, Shape};
use meniscus_io::export::{
    Elements, frame_contour, frame_surface, write_particles_ply, write_surface_obj, write_surface_ply,
};
use meniscus_io::{Frame, FrameParticles, read_frame, read_mesh, write_frame};

/// Still water of the given height, in metres, in a tank of a metre; a velocity that grows with x.
fn tank<const D: usize>(height: f32) -> Frame<D> {
    let (cells, dx) = ([20; D], 0.05);
    let blocks = Arc::new(Blocks::all(cells));
    let grid = Grid { origin: [0.25; D], dx, cells };
    Frame {
        frame: 1,
        time: 0.04,
        grid,
        level_set: Field::from_fn(blocks.clone(), 3.0, |c| {
            (c[1] as f32 + 0.5 - height / dx as f32).clamp(-3.0, 3.0)
        }),
        velocity: FaceField::from_fn(blocks, 0.0, |axis, c| if axis == 0 { 0.1 * c[0] as f32 } else { 0.5 }),
        particles: Some(FrameParticles {
            position: vec![[1.5; D], [7.25; D], [19.0; D]],
            velocity: vec![[1.0; D], [2.0; D], [-3.0; D]],
        }),
        solids: vec![RigidTransform { translation: [0.75; D], ..RigidTransform::IDENTITY }],
    }
}

#[test]
fn a_surface_is_read_back_closed_and_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let frame = tank::<3>(0.62);
    let surface = frame_surface(&frame, &[]);
    let Elements::Triangles(triangles) = &surface.elements else { panic!("a surface has triangles") };
    for (position, velocity) in surface.position.iter().zip(&surface.velocity) {
        let expected = 0.1 * (position[0] - 0.25) / 0.05;
        assert!((velocity[0] - expected).abs() < 1e-4 && (velocity[1] - 0.5).abs() < 1e-6);
    }
    let ply = folder.path().join("a.ply");
    write_surface_ply(&ply, &surface).unwrap();
    let mesh = read_mesh(&ply).unwrap();
    assert_eq!(&mesh.triangles, triangles);
    assert!(mesh.vertices.iter().zip(&surface.position).all(|(v, x)| *v == x.map(f64::from)));
    let closed = ClosedMesh::new(mesh).unwrap();
    assert!((closed.volume() - 0.62).abs() < 1e-5, "{}", closed.volume());
    assert_eq!(closed.bounds().lower, [0.25; 3]);

    let obj = folder.path().join("a.obj");
    write_surface_obj(&obj, &surface).unwrap();
    let mesh = read_mesh(&obj).unwrap();
    assert_eq!(&mesh.triangles, triangles);
    assert!(mesh.vertices.iter().zip(&surface.position).all(|(v, x)| v.map(|v| v as f32) == *x));
    assert!((ClosedMesh::new(mesh).unwrap().volume() - 0.62).abs() < 1e-5);
}

#[test]
fn solids_are_cut_out_where_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.frame");
    write_frame(&path, &tank::<3>(0.8)).unwrap();
    let frame = read_frame::<3>(&path).unwrap();
    let ball = Shape::sphere([0.0; 3], 0.2).unwrap().transformed(frame.solids[0]).unwrap();
    let surface = frame_surface(&frame, &[ball]);
    write_surface_ply(folder.path().join("a.ply"), &surface).unwrap();
    let closed = ClosedMesh::new(read_mesh(folder.path().join("a.ply")).unwrap()).unwrap();
    // A cavity of 4 cells in radius: the chords of its surface take a little of it away.
    let cavity = 4.0 / 3.0 * std::f64::consts::PI * 0.2f64.powi(3);
    assert!((0.8 - closed.volume() - cavity).abs() < 0.04 * cavity, "{} {cavity}", 0.8 - closed.volume());
    assert!(!closed.contains([0.75, 0.75, 0.75]) && closed.contains([0.75, 0.4, 0.75]));
}

#[test]
fn an_outline_is_edges() {
    let folder = tempfile::tempdir().unwrap();
    let outline = frame_contour(&tank::<2>(0.62), &[]);
    let Elements::Edges(edges) = &outline.elements else { panic!("an outline has edges") };
    let area: f64 = edges
        .iter()
        .map(|e| e.map(|v| outline.position[v as usize].map(f64::from)))
        .map(|[p, q]| 0.5 * (p[0] * q[1] - p[1] * q[0]))
        .sum();
    assert!((area - 0.62).abs() < 1e-5, "{area}");
    for (x, n) in outline.position.iter().zip(&outline.normal) {
        let from_centre = [x[0] - 0.75, x[1] - 0.56];
        assert!(x[2] == 0.0 && from_centre[0] * n[0] + from_centre[1] * n[1] > 0.0);
    }
    let count = outline.position.len();
    let ply = folder.path().join("a.ply");
    write_surface_ply(&ply, &outline).unwrap();
    let bytes = fs::read(&ply).unwrap();
    let end = bytes.windows(11).position(|w| w == b"end_header\n").unwrap() + 11;
    let header = String::from_utf8(bytes[..end].to_vec()).unwrap();
    assert!(header.contains(&format!("element vertex {count}\n")) && header.contains("element edge"));
    assert_eq!(bytes.len() - end, count * 36 + edges.len() * 8);

    let obj = folder.path().join("a.obj");
    write_surface_obj(&obj, &outline).unwrap();
    let text = fs::read_to_string(obj).unwrap();
    assert_eq!(text.lines().filter(|line| line.starts_with("l ")).count(), edges.len());
}

#[test]
fn particles_are_vertices() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.ply");
    let frame = tank::<2>(0.5);
    write_particles_ply(&path, &frame.grid, frame.particles.as_ref().unwrap()).unwrap();
    let bytes = fs::read(&path).unwrap();
    let floats: Vec<f32> = bytes[bytes.len() - 3 * 24..]
        .chunks_exact(4)
        .map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]))
        .collect();
    assert_eq!(floats[..6], [0.325, 0.325, 0.0, 1.0, 1.0, 0.0]);
    assert_eq!(floats[12..], [1.2, 1.2, 0.0, -3.0, -3.0, 0.0]);
}

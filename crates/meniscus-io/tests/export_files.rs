//! Exports of a whole frame, read back.

use std::borrow::Cow;
use std::fs;
use std::sync::Arc;

use meniscus_core::grid::{Blocks, FaceField, Field, Grid};
use meniscus_core::shape::{ClosedMesh, RigidTransform, Shape};
use meniscus_io::export::{
    Elements, Table, frame_contour, frame_surface, write_particles_ply, write_surface_obj, write_surface_ply,
};
use meniscus_io::{Channel, Frame, FrameBubble, NO_AIR, Points, names, read_frame, read_mesh, write_frame};

/// Still water of the given height, in metres, in a tank of a metre; a velocity that grows with x.
fn tank<const D: usize>(height: f32) -> Frame<'static, D> {
    let (cells, dx) = ([20; D], 0.05);
    let blocks = Arc::new(Blocks::all(cells));
    let grid = Grid { origin: [0.25; D], dx, cells };
    let level_set =
        Field::from_fn(blocks.clone(), 3.0, |c| (c[1] as f32 + 0.5 - height / dx as f32).clamp(-3.0, 3.0));
    let velocity = FaceField::from_fn(blocks, 0.0, |axis, c| if axis == 0 { 0.1 * c[0] as f32 } else { 0.5 });
    let particles = Points::moving(vec![[1.5; D], [7.25; D], [19.0; D]], vec![[1.0; D], [2.0; D], [-3.0; D]]);
    let solids = vec![RigidTransform { translation: [0.75; D], ..RigidTransform::IDENTITY }];
    Frame::new(1, 0.04, grid)
        .with(names::LEVEL_SET, Channel::Distance(Cow::Owned(level_set)))
        .with(names::VELOCITY, Channel::Faces(Cow::Owned(velocity)))
        .with(names::PARTICLES, Channel::Points(particles))
        .with(names::SOLIDS, Channel::Poses(Cow::Owned(solids)))
}

/// The same with two bubbles in the water, 7 and 12, a cell and a half apart, in cells.
fn bubbly<const D: usize>() -> Frame<'static, D> {
    let frame = tank::<D>(0.9);
    let ball = |c: [usize; D], x: f32, radius: f32| {
        let squared = |a: usize, centre: f32| (c[a] as f32 + 0.5 - centre).powi(2);
        let rest: f32 = (1..D).map(|a| squared(a, 9.0)).sum();
        (squared(0, x) + rest).sqrt() - radius
    };
    let blocks = frame.liquid().unwrap().level_set.blocks().clone();
    let air = |c| [(7, ball(c, 5.0, 3.25)), (12, ball(c, 13.5, 3.75)), (0, 18.0 - (c[1] as f32 + 0.5))];
    let level_set =
        Field::from_fn(blocks.clone(), 3.0, |c| air(c).iter().map(|a| -a.1).fold(-3.0, f32::max).min(3.0));
    let bubble_of =
        Field::from_fn(blocks, NO_AIR, |c| air(c).iter().find(|a| a.1 <= 0.0).map_or(NO_AIR, |a| a.0));
    let bubble = |id: u32, volume: f64| FrameBubble {
        id,
        volume,
        rest_volume: 0.1,
        pressure: 3.5,
        centroid: std::array::from_fn(|a| 0.25 * (a + 1) as f64),
        velocity: std::array::from_fn(|a| -(a as f64)),
        area: 0.5,
        age: 0.125,
    };
    frame
        .with(names::LEVEL_SET, Channel::Distance(Cow::Owned(level_set)))
        .with(names::BUBBLE, Channel::Labels(Cow::Owned(bubble_of)))
        .with(names::BUBBLES, Channel::Bubbles(Cow::Owned(vec![bubble(7, 1.0 / 3.0), bubble(12, 1e-20)])))
}

/// What a vertex at a place must border; none within a cell of where the surface meets a wall, for it may be either.
fn expected_bubble(x: [f32; 3], dimension: usize) -> Option<i32> {
    let cells = x.map(|x| (x - 0.25) / 0.05);
    let distance = |centre: f32| {
        let squared: f32 = (1..dimension).map(|a| (cells[a] - 9.0).powi(2)).sum();
        ((cells[0] - centre).powi(2) + squared).sqrt()
    };
    if cells[1] > 17.6 {
        Some(0)
    } else if cells[1] > 17.0 {
        None
    } else if (distance(5.0) - 3.25).abs() < 0.5 {
        Some(7)
    } else if (distance(13.5) - 3.75).abs() < 0.5 {
        Some(12)
    } else {
        Some(-1)
    }
}

/// The vertices of a binary PLY file with the nine floats of a surface and `bubble`.
fn ply_bubbles(bytes: &[u8], count: usize) -> Vec<([f32; 3], i32)> {
    let end = bytes.windows(11).position(|w| w == b"end_header\n").unwrap() + 11;
    let header = String::from_utf8(bytes[..end].to_vec()).unwrap();
    assert!(header.contains("property float vz\nproperty int bubble\nelement"), "{header}");
    let word = |at: usize| [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
    let vertex = |k: usize| {
        let at = end + 40 * k;
        ([0, 4, 8].map(|o| f32::from_le_bytes(word(at + o))), i32::from_le_bytes(word(at + 36)))
    };
    (0..count).map(vertex).collect()
}

#[test]
fn vertices_know_the_bubble_that_they_border() {
    let folder = tempfile::tempdir().unwrap();
    let [ply, obj] = ["a.ply", "a.obj"].map(|name| folder.path().join(name));
    for dimension in [2, 3] {
        let surface = if dimension == 2 {
            frame_contour(&bubbly::<2>().liquid().unwrap(), &[])
        } else {
            frame_surface(&bubbly::<3>().liquid().unwrap(), &[])
        };
        write_surface_ply(&ply, &surface).unwrap();
        let vertices = ply_bubbles(&fs::read(&ply).unwrap(), surface.position.len());
        for (x, bubble) in &vertices {
            let expected = expected_bubble(*x, dimension);
            assert!(
                expected.is_none_or(|expected| *bubble == expected),
                "{bubble} for {expected:?} at {x:?}"
            );
        }
        for id in [-1, 0, 7, 12] {
            assert!(vertices.iter().filter(|(_, bubble)| *bubble == id).count() > 8, "{id}");
        }
        write_surface_obj(&obj, &surface).unwrap();
        let text = fs::read_to_string(&obj).unwrap();
        let groups: Vec<&str> = text.lines().filter(|line| line.starts_with("g ")).collect();
        assert_eq!(groups, ["g wall", "g open_air", "g bubble_7", "g bubble_12"]);
        let members = |name: &str| {
            let after = text.split_once(&format!("g {name}\n")).unwrap().1;
            after.lines().take_while(|line| !line.starts_with("g ")).count()
        };
        let count = match &surface.elements {
            Elements::Triangles(triangles) => triangles.len(),
            Elements::Edges(edges) => edges.len(),
        };
        assert_eq!(["wall", "open_air", "bubble_7", "bubble_12"].map(members).iter().sum::<usize>(), count);
    }
    // The bubbles are cavities of the mesh, which is still read back closed.
    let closed = ClosedMesh::new(read_mesh(&obj).unwrap()).unwrap();
    assert!(!closed.contains([0.5, 0.7, 0.7]) && closed.contains([0.5, 0.4, 0.7]));
}

#[test]
fn a_table_has_the_bubbles_of_all_frames() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv");
    let mut table = Table::of_bubbles::<3>();
    table.add_bubbles(&bubbly::<3>());
    let empty = bubbly::<3>().with(names::BUBBLES, Channel::Bubbles(Cow::Owned(Vec::new())));
    table.add_bubbles(&empty);
    table.write(&path).unwrap();
    let expected = "frame,time,id,volume,rest_volume,pressure,x,y,z,vx,vy,vz,area,age\n\
                    1,0.04,7,0.3333333333333333,0.1,3.5,0.25,0.5,0.75,-0,-1,-2,0.5,0.125\n\
                    1,0.04,12,0.00000000000000000001,0.1,3.5,0.25,0.5,0.75,-0,-1,-2,0.5,0.125\n";
    assert_eq!(fs::read_to_string(&path).unwrap(), expected);
    let mut table = Table::of_bubbles::<2>();
    table.add_bubbles(&bubbly::<2>());
    table.write(&path).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.starts_with("frame,time,id,volume,rest_volume,pressure,x,y,vx,vy,area,age\n1,0.04,7,"));
    assert!(text.lines().all(|line| line.split(',').count() == 12));
}

#[test]
fn a_surface_is_read_back_closed_and_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let frame = tank::<3>(0.62);
    let surface = frame_surface(&frame.liquid().unwrap(), &[]);
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
    let ball =
        Shape::sphere([0.0; 3], 0.2).unwrap().transformed(frame.poses(names::SOLIDS).unwrap()[0]).unwrap();
    let surface = frame_surface(&frame.liquid().unwrap(), &[ball]);
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
    let outline = frame_contour(&tank::<2>(0.62).liquid().unwrap(), &[]);
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
    write_particles_ply(&path, &frame.grid, frame.points(names::PARTICLES).unwrap()).unwrap();
    let bytes = fs::read(&path).unwrap();
    let floats: Vec<f32> = bytes[bytes.len() - 3 * 24..]
        .chunks_exact(4)
        .map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]))
        .collect();
    assert_eq!(floats[..6], [0.325, 0.325, 0.0, 1.0, 1.0, 0.0]);
    assert_eq!(floats[12..], [1.2, 1.2, 0.0, -3.0, -3.0, 0.0]);
}

use super::*;
use crate::complex::NoValues;
use crate::complex::test_meshes::kuhn;
use crate::complex::{Sheet, Stratum};
use crate::quality::volume;

fn label_volumes(complex: &Complex) -> Vec<f64> {
    let mut volumes = vec![0.0; 4];
    for tet in complex.tets() {
        volumes[usize::from(complex.label(tet))] += volume(complex.points(tet));
    }
    volumes
}

/// Vertices of each stratum, lowest first.
fn census(complex: &Complex) -> [usize; 4] {
    let mut census = [0; 4];
    for vertex in complex.vertices() {
        census[complex.strata(vertex).vertex() as usize] += 1;
    }
    census
}

fn three_layers() -> (Complex, Container) {
    let complex = kuhn([4, 4, 4], |x| if x[0] > 2.0 { 2 } else { u8::from(x[1] > 2.0) });
    (complex, Container::box_between([0.0; 3], [4.0; 3]))
}

/// Random operations of all kinds on a mesh with a triple line and contact lines.
#[test]
fn a_thousand_random_operations_keep_volumes_and_strata() {
    let (mut complex, container) = three_layers();
    let volumes = label_volumes(&complex);
    let points = census(&complex)[Stratum::Point as usize];
    let mut noise = 12_345_u64;
    let mut random = |n: usize| {
        noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (noise >> 33) as usize % n
    };
    let mut velocities: Vec<[f64; 3]> = complex.positions().to_vec();
    let mut editor = Editor::new(&mut complex, &container, &mut velocities);
    for round in 0..1000 {
        let tets: Vec<u32> = editor.complex.tets().collect();
        let tet = tets[random(tets.len())];
        let corners = editor.complex.corners(tet);
        let (i, j) = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)][random(6)];
        let (a, b) = (corners[i], corners[j]);
        match random(6) {
            0 => editor.smooth(a, 1.0, Stratum::Line),
            1 => editor.remove_edge(tet, a, b, Stratum::Line),
            2 => editor.remove_face(tet, i),
            3 => editor.collapse_short(tet, a, b, 0.05, f64::INFINITY),
            4 => editor.split(tet, a, b, 0.05).is_some(),
            _ => editor.insert(tet),
        };
        if round % 50 == 0 {
            editor.complex.check().unwrap();
        }
    }
    let books = editor.books;
    let enough = books.smoothed > 20 && books.edges_removed > 5 && books.collapsed > 20 && books.split > 20;
    assert!(enough, "{books:?}");
    complex.check().unwrap();
    assert_eq!(complex.euler_characteristic(), 1);
    for (now, then) in label_volumes(&complex).iter().zip(&volumes) {
        assert!((now - then).abs() < 1e-9, "{now} {then}");
    }
    assert_eq!(census(&complex)[Stratum::Point as usize], points);
    // A linear field is carried exactly.
    for vertex in complex.vertices() {
        let x = complex.position(vertex);
        assert!(distance(x, velocities[vertex as usize]) < 1e-9, "{x:?} {:?}", velocities[vertex as usize]);
    }
}

#[test]
fn a_film_is_not_collapsed_through() {
    // One layer of tets between two others: no operation may join the layers on both sides of it.
    let mut complex = kuhn([3, 3, 3], |x| u8::from(x[2] > 1.0 && x[2] < 2.0));
    let container = Container::box_between([0.0; 3], [3.0; 3]);
    let before = label_volumes(&complex);
    let mut nothing = NoValues;
    let mut editor = Editor::new(&mut complex, &container, &mut nothing);
    for tet in 0..editor.complex.tet_slots() as u32 {
        for (i, j) in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)] {
            if editor.complex.has_tet(tet) {
                let corners = editor.complex.corners(tet);
                editor.collapse_short(tet, corners[i], corners[j], 0.0, f64::INFINITY);
            }
        }
    }
    complex.check().unwrap();
    for (now, then) in label_volumes(&complex).iter().zip(&before) {
        assert!((now - then).abs() < 1e-9);
    }
    let across = complex.tets().any(|t| {
        let z = complex.points(t).map(|p| p[2]);
        complex.label(t) == 0 && z.contains(&1.0) && z.contains(&2.0)
    });
    assert!(!across);
}

/// The faces of interfaces by their vertices, sorted.
fn interface(complex: &Complex) -> Vec<[u32; 3]> {
    let mut faces: Vec<[u32; 3]> = complex
        .vertices()
        .flat_map(|v| complex.strata(v).faces.into_iter().map(move |(others, sheet)| (v, others, sheet)))
        .filter(|(_, _, sheet)| matches!(sheet, Sheet::Interface(..)))
        .map(|(v, [p, q], _)| {
            let mut face = [v, p, q];
            face.sort_unstable();
            face
        })
        .collect();
    faces.sort_unstable();
    faces.dedup();
    faces
}

#[test]
fn operations_inside_of_fluids_leave_interfaces_as_they_are() {
    let (mut complex, container) = three_layers();
    for vertex in complex.vertices().collect::<Vec<_>>() {
        if complex.strata(vertex).vertex() == Stratum::Inside {
            let shift = f64::from(vertex % 7) / 7.0 - 0.5;
            complex.set_position(vertex, complex.position(vertex).map(|c| c + 0.5 * shift));
        }
    }
    complex.check().unwrap();
    let (faces, positions, volumes) =
        (interface(&complex), complex.positions().to_vec(), label_volumes(&complex));
    let mut nothing = NoValues;
    let mut editor = Editor::new(&mut complex, &container, &mut nothing);
    for tet in 0..editor.complex.tet_slots() as u32 {
        for (i, j) in EDGES {
            if editor.complex.has_tet(tet) {
                let corners = editor.complex.corners(tet);
                editor.smooth(corners[i], 1.0, Stratum::Inside);
                editor.remove_edge(tet, corners[i], corners[j], Stratum::Inside);
            }
        }
        for corner in 0..4 {
            if editor.complex.has_tet(tet) {
                editor.remove_face(tet, corner);
            }
        }
    }
    assert!(editor.books.smoothed > 5 && editor.books.volume_moved == 0.0, "{:?}", editor.books);
    complex.check().unwrap();
    assert_eq!(interface(&complex), faces);
    for &vertex in faces.iter().flatten() {
        assert_eq!(complex.position(vertex), positions[vertex as usize]);
    }
    for (now, then) in label_volumes(&complex).iter().zip(&volumes) {
        assert!((now - then).abs() < 1e-13 * 64.0);
    }
}

//! Whole files: what is written is read, and no damage to a file makes a reader panic.

use meniscus_core::shape::{ClosedMesh, TriangleMesh};
use meniscus_io::{ReadMeshError, obj, ply, read_mesh, stl};
use proptest::prelude::*;

fn tetrahedron() -> TriangleMesh {
    TriangleMesh {
        vertices: vec![[0.0; 3], [1.0, 0.0, 0.0], [0.25, 1.5, 0.0], [0.0, 0.125, 1.0]],
        triangles: vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
    }
}

fn write_obj(mesh: &TriangleMesh) -> Vec<u8> {
    let mut text = String::from("# mesh\n");
    for [x, y, z] in &mesh.vertices {
        text += &format!("v {x} {y} {z}\n");
    }
    for t in &mesh.triangles {
        let [a, b, c] = t.map(|v| v + 1);
        text += &format!("f {a}//1 {b}//1 {c}//1\n");
    }
    text.into_bytes()
}

#[derive(Clone, Copy, Debug)]
enum Ply {
    Text,
    Little,
    Big,
}

fn write_ply(mesh: &TriangleMesh, format: Ply) -> Vec<u8> {
    let name = match format {
        Ply::Text => "ascii",
        Ply::Little => "binary_little_endian",
        Ply::Big => "binary_big_endian",
    };
    let (vertices, triangles) = (mesh.vertices.len(), mesh.triangles.len());
    let mut bytes = format!(
        "ply\nformat {name} 1.0\nelement vertex {vertices}\nproperty double x\nproperty double y\nproperty double z\n\
         element face {triangles}\nproperty list uchar uint vertex_indices\nend_header\n"
    )
    .into_bytes();
    for vertex in &mesh.vertices {
        match format {
            Ply::Text => bytes.extend(vertex.map(|x| format!("{x} ")).concat().bytes().chain([b'\n'])),
            Ply::Little => bytes.extend(vertex.iter().flat_map(|x| x.to_le_bytes())),
            Ply::Big => bytes.extend(vertex.iter().flat_map(|x| x.to_be_bytes())),
        }
    }
    for t in &mesh.triangles {
        match format {
            Ply::Text => bytes.extend(format!("3 {} {} {}\n", t[0], t[1], t[2]).bytes()),
            Ply::Little => bytes.extend([3].into_iter().chain(t.iter().flat_map(|v| v.to_le_bytes()))),
            Ply::Big => bytes.extend([3].into_iter().chain(t.iter().flat_map(|v| v.to_be_bytes()))),
        }
    }
    bytes
}

fn corners(mesh: &TriangleMesh) -> Vec<[[f64; 3]; 3]> {
    mesh.triangles.iter().map(|t| t.map(|v| mesh.vertices[v as usize])).collect()
}

fn write_stl_text(mesh: &TriangleMesh) -> Vec<u8> {
    let mut text = String::from("solid mesh\n");
    for t in corners(mesh) {
        text += "facet normal 0 0 0\nouter loop\n";
        for [x, y, z] in t {
            text += &format!("vertex {x} {y} {z}\n");
        }
        text += "endloop\nendfacet\n";
    }
    (text + "endsolid mesh\n").into_bytes()
}

fn write_stl_binary(mesh: &TriangleMesh) -> Vec<u8> {
    let mut bytes = vec![0; 80];
    bytes.extend((mesh.triangles.len() as u32).to_le_bytes());
    for t in corners(mesh) {
        bytes.extend([0; 12]);
        bytes.extend(t.as_flattened().iter().flat_map(|&x| (x as f32).to_le_bytes()));
        bytes.extend([0; 2]);
    }
    bytes
}

/// Any list of triangles over any vertices; positions that `f32` can hold, for STL.
fn any_mesh() -> impl Strategy<Value = TriangleMesh> {
    prop::collection::vec(prop::array::uniform3(-1e6_f32..1e6), 3..20).prop_flat_map(|vertices| {
        let count = vertices.len() as u32;
        prop::collection::vec(prop::array::uniform3(0..count), 1..30).prop_map(move |triangles| {
            TriangleMesh { vertices: vertices.iter().map(|v| v.map(f64::from)).collect(), triangles }
        })
    })
}

#[derive(Clone, Debug)]
enum Damage {
    Replace(prop::sample::Index, u8),
    Insert(prop::sample::Index, Vec<u8>),
    Remove(prop::sample::Index, usize),
    Repeat(prop::sample::Index, usize),
    Truncate(prop::sample::Index),
}

fn damage() -> impl Strategy<Value = Damage> {
    let at = any::<prop::sample::Index>;
    // Bytes that mean something to one of the formats are more likely.
    let byte =
        || prop_oneof![any::<u8>(), prop::sample::select(b"0123456789-+.e/\\#\n\r vfxyz\0\xff".to_vec())];
    prop_oneof![
        (at(), byte()).prop_map(|(i, b)| Damage::Replace(i, b)),
        (at(), prop::collection::vec(byte(), 1..12)).prop_map(|(i, b)| Damage::Insert(i, b)),
        (at(), 1..40_usize).prop_map(|(i, n)| Damage::Remove(i, n)),
        (at(), 1..200_usize).prop_map(|(i, n)| Damage::Repeat(i, n)),
        at().prop_map(Damage::Truncate),
    ]
}

fn apply(damage: &Damage, bytes: &mut Vec<u8>) {
    let len = bytes.len();
    if len == 0 {
        return;
    }
    match damage {
        Damage::Replace(i, byte) => bytes[i.index(len)] = *byte,
        Damage::Insert(i, new) => drop(bytes.splice(i.index(len)..i.index(len), new.iter().copied())),
        Damage::Remove(i, n) => drop(bytes.drain(i.index(len)..(i.index(len) + n).min(len))),
        Damage::Repeat(i, n) => {
            let part = bytes[i.index(len)..(i.index(len) + n).min(len)].to_vec();
            bytes.splice(i.index(len)..i.index(len), part);
        }
        Damage::Truncate(i) => bytes.truncate(i.index(len)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn what_is_written_is_read(mesh in any_mesh()) {
        prop_assert_eq!(obj::parse(&write_obj(&mesh)).unwrap(), mesh.clone());
        for format in [Ply::Text, Ply::Little, Ply::Big] {
            prop_assert_eq!(ply::parse(&write_ply(&mesh, format)).unwrap(), mesh.clone());
        }
        for bytes in [write_stl_text(&mesh), write_stl_binary(&mesh)] {
            prop_assert_eq!(corners(&stl::parse(&bytes).unwrap()), corners(&mesh));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    /// Each case damages a file of every format; all six go to all three readers.
    #[test]
    fn damaged_files_give_a_mesh_or_an_error(damages in prop::collection::vec(damage(), 1..6)) {
        let mesh = tetrahedron();
        let files = [
            write_obj(&mesh),
            write_ply(&mesh, Ply::Text),
            write_ply(&mesh, Ply::Little),
            write_ply(&mesh, Ply::Big),
            write_stl_text(&mesh),
            write_stl_binary(&mesh),
        ];
        for mut bytes in files {
            damages.iter().for_each(|d| apply(d, &mut bytes));
            for parse in [obj::parse, ply::parse, stl::parse] {
                if let Ok(mesh) = parse(&bytes) {
                    let exists = |v: &u32| (*v as usize) < mesh.vertices.len();
                    prop_assert!(mesh.triangles.iter().flatten().all(exists));
                    prop_assert!(mesh.vertices.iter().flatten().all(|x| x.is_finite()));
                    prop_assert!(mesh.triangles.len() <= bytes.len());
                }
            }
        }
    }

    #[test]
    fn noise_gives_an_error(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        for parse in [obj::parse, ply::parse, stl::parse] {
            prop_assert!(parse(&bytes).is_err());
        }
    }
}

#[test]
fn files_are_read_by_extension_and_closed_after_welding() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = tetrahedron();
    for (name, bytes) in [
        ("a.obj", write_obj(&mesh)),
        ("b.PLY", write_ply(&mesh, Ply::Big)),
        ("c.stl", write_stl_text(&mesh)),
        ("d.Stl", write_stl_binary(&mesh)),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let closed = ClosedMesh::new(read_mesh(&path).unwrap()).unwrap();
        assert_eq!(closed.mesh().vertices.len(), 4);
        assert!((closed.volume() - 0.25).abs() < 1e-15, "{name}");
    }
}

#[test]
fn errors_name_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let missing = read_mesh(folder.path().join("none.obj")).unwrap_err();
    assert!(matches!(missing, ReadMeshError::Io { .. }) && missing.to_string().contains("none.obj"));
    let unknown = read_mesh("teapot.fbx").unwrap_err().to_string();
    assert_eq!(
        unknown,
        "teapot.fbx: a mesh file must end in .obj, .ply or .stl; convert it to one of these formats"
    );
    let path = folder.path().join("bad.obj");
    std::fs::write(&path, "v 0 0\n").unwrap();
    let bad = read_mesh(&path).unwrap_err().to_string();
    assert!(bad.ends_with("bad.obj, line 1: the vertex lacks its z coordinate"), "{bad}");
}

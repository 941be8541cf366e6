use proptest::prelude::*;

use super::triangle::{self, Triangle};
use super::*;

/// A box of twelve triangles, outwards.
fn box_mesh(lower: [f64; 3], upper: [f64; 3]) -> TriangleMesh {
    let vertices = (0..8).map(|i| std::array::from_fn(|a| if i >> a & 1 == 1 { upper[a] } else { lower[a] }));
    let quads = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    TriangleMesh {
        vertices: vertices.collect(),
        triangles: quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect(),
    }
}

/// A torus about the z axis whose tube has the radius `tube(u, v)`.
fn torus(rings: u32, sides: u32, tube: impl Fn(f64, f64) -> f64) -> TriangleMesh {
    let mut mesh = TriangleMesh::default();
    for i in 0..rings {
        for j in 0..sides {
            let [u, v] =
                [(i, rings), (j, sides)].map(|(k, n)| std::f64::consts::TAU * f64::from(k) / f64::from(n));
            let (r, z) = (1.0 + tube(u, v) * v.cos(), tube(u, v) * v.sin());
            mesh.vertices.push([r * u.cos(), r * u.sin(), z]);
            let at = |i: u32, j: u32| (i % rings) * sides + j % sides;
            let (a, b, c, d) = (at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1));
            mesh.triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    mesh
}

fn join(parts: &[TriangleMesh]) -> TriangleMesh {
    let mut sum = TriangleMesh::default();
    for part in parts {
        let first = sum.vertices.len() as u32;
        sum.vertices.extend(&part.vertices);
        sum.triangles.extend(part.triangles.iter().map(|t| t.map(|v| v + first)));
    }
    sum
}

fn reversed(mut mesh: TriangleMesh) -> TriangleMesh {
    mesh.triangles.iter_mut().for_each(|t| t.swap(0, 1));
    mesh
}

fn corners(mesh: &TriangleMesh) -> impl Iterator<Item = Triangle> {
    mesh.triangles.iter().map(|t| t.map(|v| mesh.vertices[v as usize]))
}

fn point(reach: f64) -> impl Strategy<Value = [f64; 3]> {
    prop::array::uniform3(-reach..reach)
}

/// The definition: the least distance to any triangle, negative where the sum of solid angles says so.
fn brute_force(mesh: &ClosedMesh, p: [f64; 3]) -> f64 {
    let distance =
        corners(mesh.mesh()).map(|t| triangle::distance_squared(p, &t)).fold(f64::INFINITY, f64::min).sqrt();
    let turns = mesh.exact_winding_number(p);
    assert!((turns - turns.round()).abs() < 1e-9, "{turns}");
    if turns.round() == 0.0 { distance } else { -distance }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn the_tree_agrees_with_brute_force(
        seed in prop::array::uniform4(-1.0..1.0_f64),
        rings in 3_u32..40,
        sides in 3_u32..20,
        flatness in 0.01..1.0,
        points in prop::collection::vec(point(1.6), 100),
    ) {
        let tube = |u: f64, v: f64| {
            0.4 + 0.1 * (seed[0] * (2.0 * u).cos() + seed[1] * (3.0 * v + u).sin() + seed[2] * (7.0 * u + v).cos())
        };
        let mut mesh = torus(rings, sides, tube);
        mesh.vertices.iter_mut().for_each(|v| v[2] *= flatness);
        let mesh = ClosedMesh::new(mesh).unwrap();
        for mut p in points {
            p[2] *= flatness;
            prop_assert!((mesh.signed_distance(p) - brute_force(&mesh, p)).abs() < 1e-15);
        }
    }

    #[test]
    fn distance_to_a_triangle_is_the_least_over_its_points(t in prop::array::uniform3(point(1.0)), p in point(2.0)) {
        let distance = triangle::distance_squared(p, &t).sqrt();
        let n = 60;
        let mut sampled = f64::INFINITY;
        for i in 0..=n {
            for j in 0..=n - i {
                let (u, v) = (f64::from(i) / f64::from(n), f64::from(j) / f64::from(n));
                let q: [f64; 3] = std::array::from_fn(|a| t[0][a] + u * (t[1][a] - t[0][a]) + v * (t[2][a] - t[0][a]));
                sampled = sampled.min(norm(sub(p, q)));
            }
        }
        prop_assert!(distance <= sampled + 1e-14 && sampled - distance < 0.06, "{} {}", distance, sampled);
    }

    #[test]
    fn no_mesh_makes_it_panic(
        vertices in prop::collection::vec(prop::array::uniform3(-1_i8..2), 0..8),
        triangles in prop::collection::vec(prop::array::uniform3(0_u32..8), 0..14),
    ) {
        let vertices = vertices.into_iter().map(|v| v.map(f64::from)).collect();
        let _ = ClosedMesh::new(TriangleMesh { vertices, triangles }).map(|m| m.signed_distance([0.1, 0.2, 0.3]));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_box_of_triangles_is_a_box(p in point(2.0)) {
        let (lower, upper) = ([-0.9, -0.4, 0.1], [0.7, 1.1, 0.8]);
        let mesh = Shape::mesh(ClosedMesh::new(box_mesh(lower, upper)).unwrap());
        let shape = Shape::box_between(lower, upper).unwrap();
        prop_assert!((mesh.signed_distance(p) - shape.signed_distance(p)).abs() < 1e-14);
    }

    /// Near a sharp edge the nearest triangle's own normal gives the wrong sign on one side of it.
    #[test]
    fn the_sign_is_right_around_a_sharp_edge(along in 0.01..0.99, angle in 0.0..std::f64::consts::TAU, log_r in -6.0..0.0) {
        let slope = 1e-3;
        let vertices = [[0.0, 0.0], [1.0, -slope], [1.0, slope]];
        let vertices = [0.0, 1.0].iter().flat_map(|&z| vertices.map(|[x, y]| [x, y, z])).collect();
        let triangles = vec![
            [0, 2, 1], [3, 4, 5], [0, 1, 4], [0, 4, 3], [1, 2, 5], [1, 5, 4], [2, 0, 3], [2, 3, 5],
        ];
        let wedge = ClosedMesh::new(TriangleMesh { vertices, triangles }).unwrap();
        let r = 10_f64.powf(log_r);
        let (sin, cos) = angle.sin_cos();
        // Half of the points within the wedge's own scale of its axis.
        for p in [[r * cos, r * sin, along], [r, r * slope * 2.0 * sin, along]] {
            let inside = p[0] < 1.0 && p[1].abs() < slope * p[0];
            prop_assert_eq!(wedge.signed_distance(p) < 0.0, inside);
        }
    }

    #[test]
    fn nested_and_overlapping_parts_make_the_expected_solid(p in point(1.5)) {
        let outer = box_mesh([-1.0; 3], [1.0; 3]);
        let inner = box_mesh([-0.5; 3], [0.6; 3]);
        let in_outer = p.iter().all(|x| x.abs() < 1.0);
        let in_inner = p.iter().all(|x| (-0.5..0.6).contains(x));
        let solid = ClosedMesh::new(join(&[outer.clone(), inner.clone()])).unwrap();
        prop_assert_eq!(solid.contains(p), in_outer);
        let hollow = ClosedMesh::new(join(&[outer.clone(), reversed(inner)])).unwrap();
        prop_assert_eq!(hollow.contains(p), in_outer && !in_inner);
        prop_assert!((hollow.volume() - (8.0 - 1.1_f64.powi(3))).abs() < 1e-13);
        let shifted = box_mesh([0.2, 0.3, -2.0], [1.4, 0.9, 2.0]);
        let in_shifted = (0.2..1.4).contains(&p[0]) && (0.3..0.9).contains(&p[1]);
        let overlapping = ClosedMesh::new(join(&[outer, shifted])).unwrap();
        prop_assert_eq!(overlapping.contains(p), in_outer || in_shifted);
    }
}

#[test]
fn a_fine_torus_is_a_torus() {
    let mesh = ClosedMesh::new(torus(300, 120, |_, _| 0.35)).unwrap();
    let mut worst = 0.0_f64;
    for i in 0..4000 {
        // An additive sequence covers the box evenly.
        let p = [0.754_877, 0.569_840, 0.430_159].map(|s| 3.0 * (f64::from(i) * s).fract() - 1.5);
        let ring = p[0].hypot(p[1]) - 1.0;
        let exact = ring.hypot(p[2]) - 0.35;
        worst = worst.max((mesh.signed_distance(p) - exact).abs());
    }
    // The sagitta of its chords: 1.35 (1 - cos(pi/300)) + 0.35 (1 - cos(pi/120)).
    assert!(worst < 2e-4, "{worst}");
    let volume = 2.0 * std::f64::consts::PI.powi(2) * 0.35_f64.powi(2);
    assert!((mesh.volume() / volume - 1.0).abs() < 1e-3);
    assert!(norm(mesh.centroid()) < 1e-14);
}

#[test]
fn volume_and_centroid_hold_far_from_the_origin() {
    let mesh = ClosedMesh::new(box_mesh([1000.0, 0.0, 0.0], [1000.5, 2.0, 3.0])).unwrap();
    assert!((mesh.volume() - 3.0).abs() < 1e-14);
    assert!(norm(sub(mesh.centroid(), [1000.25, 1.0, 1.5])) < 1e-12);
}

#[test]
fn a_tetrahedron_has_the_known_volume_and_centroid() {
    let vertices = vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let triangles = vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
    let mesh = ClosedMesh::new(TriangleMesh { vertices, triangles }).unwrap();
    assert!((mesh.volume() - 1.0 / 6.0).abs() < 1e-15);
    assert!(norm(sub(mesh.centroid(), [0.25; 3])) < 1e-15);
}

#[test]
fn an_inward_mesh_is_turned_over() {
    let mesh = ClosedMesh::new(reversed(box_mesh([0.0; 3], [1.0; 3]))).unwrap();
    assert_eq!(mesh.signed_distance([0.5, 0.5, 0.4]), -0.4);
    assert!((mesh.volume() - 1.0).abs() < 1e-15);
    assert!(
        corners(mesh.mesh())
            .all(|t| { dot(triangle::area_normal(&t), sub(triangle::centroid(&t), [0.5; 3])) > 0.0 })
    );
}

#[test]
fn triangles_without_shared_vertices_are_welded() {
    let mesh = box_mesh([-1.0, -0.0, 0.0], [1.0, 1.0, 1.0]);
    let mut soup = TriangleMesh::default();
    for (i, t) in corners(&mesh).enumerate() {
        // Zeros of either sign are one position.
        soup.vertices.extend(t.map(|v| v.map(|x| if x == 0.0 && i % 2 == 0 { -x } else { x })));
        soup.triangles.push([3 * i as u32, 3 * i as u32 + 1, 3 * i as u32 + 2]);
    }
    let closed = ClosedMesh::new(soup).unwrap();
    assert_eq!(closed.mesh().vertices.len(), 8);
    assert!((closed.volume() - 2.0).abs() < 1e-15);
}

#[test]
fn collapsed_and_flat_triangles_do_no_harm() {
    let mut mesh = box_mesh([0.0; 3], [1.0; 3]);
    mesh.triangles.push([3, 3, 5]);
    // A vertex on an edge of the box, with a triangle of no area to reach it.
    let [a, b, c] = mesh.triangles[0];
    let middle = {
        let (p, q) = (mesh.vertices[a as usize], mesh.vertices[b as usize]);
        std::array::from_fn(|i| 0.5 * (p[i] + q[i]))
    };
    mesh.vertices.push(middle);
    let m = mesh.vertices.len() as u32 - 1;
    mesh.triangles[0] = [a, m, c];
    mesh.triangles.extend([[m, b, c], [a, b, m]]);
    let closed = ClosedMesh::new(mesh).unwrap();
    assert_eq!(closed.mesh().triangles.len(), 14);
    let shape = Shape::box_between([0.0; 3], [1.0; 3]).unwrap();
    for p in [[0.5, 0.5, 0.3], [0.01, 0.02, 0.5], [-0.1, 0.5, 0.2], [-0.1, -0.1, 0.5], [-0.2, 0.2, -0.1]] {
        assert!((closed.signed_distance(p) - shape.signed_distance(p)).abs() < 1e-15, "{p:?}");
    }
}

#[test]
fn meshes_that_bound_no_solid_are_refused_with_the_reason() {
    let cube = box_mesh([0.0; 3], [1.0; 3]);
    let edited = |edit: &dyn Fn(&mut TriangleMesh)| {
        let mut mesh = cube.clone();
        edit(&mut mesh);
        ClosedMesh::new(mesh).unwrap_err()
    };
    assert_eq!(ClosedMesh::new(TriangleMesh::default()).unwrap_err(), MeshError::Empty);
    let open = edited(&|m| m.triangles.truncate(11));
    assert!(matches!(open, MeshError::OpenEdges { count: 3, .. }), "{open}");
    let doubled = edited(&|m| m.triangles.push(m.triangles[0]));
    assert!(matches!(doubled, MeshError::NonManifoldEdges { count: 3, .. }), "{doubled}");
    let turned = edited(&|m| m.triangles[5].swap(0, 1));
    let MeshError::InconsistentOrientation { count: 3, triangles, .. } = turned else { panic!("{turned}") };
    assert!(triangles.contains(&5), "{turned}");
    let missing = edited(&|m| m.triangles[2][1] = 8);
    assert_eq!(missing, MeshError::NoSuchVertex { triangle: 2, vertex: 8, vertices: 8 });
    let broken = edited(&|m| m.vertices[3][1] = f64::NAN);
    assert!(matches!(broken, MeshError::NotFinite { vertex: 3, .. }));
    let flat = edited(&|m| m.vertices.iter_mut().for_each(|v| v[2] = 0.25 * v[0] + 0.1));
    assert!(matches!(flat, MeshError::NoVolume { .. } | MeshError::NonManifoldEdges { .. }), "{flat}");
    let sheet = TriangleMesh {
        vertices: vec![[0.0; 3], [1.0, 0.2, 0.0], [0.3, 1.0, 0.7]],
        triangles: vec![[0, 1, 2], [0, 2, 1]],
    };
    assert!(matches!(ClosedMesh::new(sheet).unwrap_err(), MeshError::NoVolume { .. }));
    let message = open.to_string();
    assert!(
        message.contains("3 of its edges belong to only one triangle") && message.contains("near ["),
        "{message}"
    );
}

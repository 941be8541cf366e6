//! Shapes that are hollow, cut, or meshes.

use meniscus_contact::{BodySpec, ContactError, Contacts, Domain, Owner};
use meniscus_core::shape::{Bounds, ClosedMesh, RigidTransform, Rotation, Shape, TriangleMesh};
use meniscus_core::vector::{norm, sub};

use crate::scene::{Body, GRAVITY, Scene, Solid, ball, block, closed_domain};

/// A domain without walls.
fn open_domain<const D: usize>(cells: f64) -> Domain<D> {
    Domain { closed: [[false; 2]; D], ..closed_domain(1.0, cells) }
}

fn up<const D: usize>(y: f64) -> [f64; D] {
    let mut vector = [0.0; D];
    vector[1] = y;
    vector
}

#[test]
fn bodies_stay_in_vessels() {
    stay::<2>();
    stay::<3>();
}

/// Thrown about in what the complement of a shape, and walls around one, leave free.
fn stay<const D: usize>() {
    let at_centre =
        RigidTransform { rotation: Rotation::<D>::identity().turned([0.2, 0.1, 0.4]), translation: [0.5; D] };
    let insides = [
        Shape::centred_box([0.0; D], [0.3; D]).unwrap(),
        Shape::sphere([0.0; D], 0.35).unwrap(),
        Shape::ellipsoid([0.0; D], std::array::from_fn(|a| [0.35, 0.3, 0.4][a])).unwrap(),
        Shape::capsule(up(-0.1), up(0.1), 0.3).unwrap(),
        Shape::cylinder(up(-0.3), up(0.3), 0.3).unwrap(),
    ];
    for inside in insides {
        let inside = inside.transformed(at_centre).unwrap();
        for vessel in [inside.clone().complement(), inside.clone().shell(0.04).unwrap()] {
            let velocity = std::array::from_fn(|a| [3.0, -2.0, 1.0][a]);
            let offset = |x: f64| std::array::from_fn(|a| 0.5 + if a == 0 { x } else { 0.0 });
            let bodies = [
                ball(0.05, offset(-0.12)).velocity(velocity).restitution(0.7),
                block([0.04; D], offset(0.0)).velocity(velocity.map(|v| -v)).restitution(0.5),
                ball(0.03, offset(0.12)).velocity(velocity.map(|v| 2.0 * v)).restitution(0.9),
            ];
            let mut scene = Scene::new(&open_domain(25.0), &bodies, &[Solid::new(vessel.clone())]);
            for _ in 0..150 {
                scene.fall(1, 0.01);
                for (index, body) in scene.bodies.iter().enumerate() {
                    let depth = inside.signed_distance(body.pose.translation);
                    assert!(depth < -0.02, "{D}D body {index} at {:?} in {vessel:?}", body.pose.translation);
                }
            }
        }
    }
}

/// An ellipsoid of density 1000.
fn egg<const D: usize>(radii: [f64; D], centre: [f64; D]) -> Body<D> {
    let (volume, factor) = match D {
        2 => (std::f64::consts::PI, 0.25),
        _ => (4.0 / 3.0 * std::f64::consts::PI, 0.2),
    };
    let mass = 1000.0 * volume * radii.iter().product::<f64>();
    let square = |a: usize| if a < D { radii[a].powi(2) } else { 0.0 };
    let moment = |a: usize| factor * mass * (square((a + 1) % 3) + square((a + 2) % 3));
    let inertia = std::array::from_fn(|i| std::array::from_fn(|j| if i == j { moment(i) } else { 0.0 }));
    Body::new(Shape::ellipsoid([0.0; D], radii).unwrap(), mass, inertia, centre)
}

#[test]
fn an_egg_touches_the_floor_however_it_lies() {
    lie::<2>();
    lie::<3>();
}

/// It rocks: its middle is as high as it reaches down from it.
fn lie<const D: usize>() {
    let radii: [f64; D] = std::array::from_fn(|a| [0.12, 0.06, 0.09][a]);
    let body = egg(radii, std::array::from_fn(|a| [0.5, 0.2, 0.5][a])).turned([0.2, 0.1, 0.7]);
    let mut scene = Scene::new(&closed_domain(1.0, 50.0), &[body], &[]);
    let mut tilts = [1.0_f64, 0.0];
    for step in 0..1000 {
        scene.fall(0, 0.005);
        if step > 200 {
            let down = scene.bodies[0].pose.rotation.matrix()[1];
            let reach = norm(std::array::from_fn::<f64, D, _>(|a| radii[a] * down[a]));
            let height = scene.position(0)[1];
            assert!((height - reach).abs() < 1e-3, "{D}D, step {step}: {height} {reach}");
            tilts = [tilts[0].min(down[1].abs()), tilts[1].max(down[1].abs())];
        }
    }
    assert!(tilts[0] < 0.98 && tilts[1] > 0.99, "{D}D {tilts:?}");
}

/// Where the radius of curvature below is R, an ellipse that rolls by a small angle has the frequency
/// w² = m g (R - b) / (I + m b²).
#[test]
fn an_ellipse_rocks_as_it_should() {
    let [a, b] = [0.12, 0.06];
    let body = egg([a, b], [0.5, b]);
    let frequency = (GRAVITY * (a * a / b - b) / (0.25 * (a * a + b * b) + b * b)).sqrt();
    let mut scene = Scene::new(&closed_domain(1.0, 50.0), &[body.spin([0.0, 0.0, 0.12 * frequency])], &[]);
    let (dt, mut passages) = (1e-3, Vec::new());
    let angle = |scene: &Scene<2>| scene.bodies[0].pose.rotation.matrix()[1][0].asin();
    for step in 1..=1000 {
        let before = angle(&scene);
        scene.fall(0, dt);
        let after = angle(&scene);
        if before > 0.0 && after <= 0.0 || before < 0.0 && after >= 0.0 {
            passages.push((f64::from(step) - after / (after - before)) * dt);
        }
    }
    let half_period = passages[0];
    assert!((half_period * frequency / std::f64::consts::PI - 1.0).abs() < 0.05, "{passages:?} {frequency}");
}

/// A cup of some density by a shape, with the mass of its walls at half of the radius and height.
fn cup<const D: usize>(shape: Shape<D>, mass: f64, centre: [f64; D]) -> Body<D> {
    Body { shape, mass, ..block([0.12; D], centre) }
}

fn assert_ball_lies_in<const D: usize>(cup: Body<D>, tolerance: f64) {
    let mut start = cup.start.pose.translation;
    start[1] += 0.3;
    start[0] += 0.02;
    let mut scene = Scene::new(&closed_domain(1.0, 50.0), &[cup, ball(0.04, start)], &[]);
    for _ in 0..400 {
        scene.fall(0, 0.005);
    }
    let offset = sub(scene.position(1), scene.position(0));
    // On the bottom, which is 0.02 thick, of a cup that is 0.24 high and stands on the floor.
    assert!((offset[1] - (-0.12 + 0.02 + 0.04)).abs() < tolerance, "{D}D {offset:?}");
    assert!((0..D).all(|a| a == 1 || offset[a].abs() < 0.06 + tolerance), "{D}D {offset:?}");
    assert!(norm(scene.bodies[1].velocity) < 50.0 * tolerance, "{:?}", scene.bodies[1]);
    let tilt = 1.0 - scene.bodies[0].pose.rotation.matrix()[1][1];
    assert!(tilt < 1e-3 && (scene.position(0)[1] - 0.12).abs() < 2e-3, "{D}D {tilt} {:?}", scene.bodies[0]);
}

#[test]
fn a_ball_falls_into_a_cup_and_lies_there() {
    in_cup::<2>();
    in_cup::<3>();
}

fn in_cup<const D: usize>() {
    let mut centre = [0.5; D];
    centre[1] = 0.12;
    let (mut lower, mut upper) = ([-0.1; D], [0.1; D]);
    (lower[1], upper[1]) = (-0.1, 0.2);
    let square = Shape::centred_box([0.0; D], [0.12; D])
        .unwrap()
        .difference(Shape::box_between(lower, upper).unwrap());
    assert_ball_lies_in(cup(square, 5.0, centre), 1e-3);
    let round = Shape::cylinder(up(-0.12), up(0.12), 0.12)
        .unwrap()
        .difference(Shape::cylinder(up(-0.1), up(0.2), 0.1).unwrap());
    assert_ball_lies_in(cup(round, 5.0, centre), 1e-3);
}

#[test]
fn a_ball_in_a_floating_bottle_moves_with_it() {
    in_bottle::<2>();
    in_bottle::<3>();
}

/// Both fly, the bottle tumbling; the ball never gets out, and all momentum is kept.
fn in_bottle<const D: usize>() {
    let outer = Shape::capsule(up(-0.1), up(0.1), 0.12).unwrap();
    let inner = Shape::capsule(up(-0.1), up(0.1), 0.1).unwrap();
    let velocity = std::array::from_fn(|a| [0.3, 0.1, 0.05][a]);
    let bottle = cup(outer.difference(inner.clone()), 3.0, [0.5; D]).velocity(velocity).spin([0.0, 0.0, 3.0]);
    let bodies = [bottle, ball(0.03, [0.5; D]).velocity(velocity.map(|v| -2.0 * v)).restitution(0.8)];
    let masses = [bodies[0].mass, bodies[1].mass];
    let mut scene = Scene::new(&open_domain(50.0), &bodies, &[]);
    let momentum = |scene: &Scene<D>| -> [f64; D] {
        std::array::from_fn(|a| (0..2).map(|i| masses[i] * scene.bodies[i].velocity[a]).sum())
    };
    let before = momentum(&scene);
    for _ in 0..300 {
        scene.drift(&[], 0.01);
        let within = scene.bodies[0].pose.apply_inverse(scene.position(1));
        assert!(inner.signed_distance(within) < -0.025, "{D}D {within:?}");
    }
    assert!(norm(sub(momentum(&scene), before)) < 1e-9 * norm(before));
}

/// An icosahedron, each triangle of which is cut into four so often, with its corners on the unit sphere.
fn icosphere(times: usize) -> TriangleMesh {
    let t = 0.5 * (1.0 + 5.0_f64.sqrt());
    let unit = |v: [f64; 3]| v.map(|x| x / norm(v));
    let mut vertices: Vec<[f64; 3]> = Vec::new();
    for (a, b) in [(-1.0, t), (1.0, t), (-1.0, -t), (1.0, -t)] {
        vertices.extend([[a, b, 0.0], [0.0, a, b], [b, 0.0, a]].map(unit));
    }
    // Triangles of neighbours, which are about 1.05 apart, outwards.
    let near = |i: usize, j: usize| norm(sub(vertices[i], vertices[j])) < 1.2;
    let mut triangles = Vec::new();
    for i in 0..12 {
        for j in i + 1..12 {
            for k in j + 1..12 {
                if near(i, j) && near(j, k) && near(k, i) {
                    let [a, b, c] = [i, j, k].map(|v| vertices[v]);
                    let (e, f) = (sub(b, a), sub(c, a));
                    let out: f64 = (0..3)
                        .map(|x| a[x] * (e[(x + 1) % 3] * f[(x + 2) % 3] - e[(x + 2) % 3] * f[(x + 1) % 3]))
                        .sum();
                    triangles.push(if out > 0.0 { [i, j, k] } else { [i, k, j] }.map(|v| v as u32));
                }
            }
        }
    }
    for _ in 0..times {
        let mut finer = Vec::new();
        for [a, b, c] in triangles {
            let mut middle = |i: u32, j: u32| {
                let (p, q) = (vertices[i as usize], vertices[j as usize]);
                vertices.push(unit(std::array::from_fn(|x| p[x] + q[x])));
                vertices.len() as u32 - 1
            };
            let [ab, bc, ca] = [middle(a, b), middle(b, c), middle(c, a)];
            finer.extend([[a, ab, ca], [b, bc, ab], [c, ca, bc], [ab, bc, ca]]);
        }
        triangles = finer;
    }
    // Middles were made once for each of the two triangles; equal sums make equal points.
    TriangleMesh { vertices, triangles }.welded()
}

fn scaled(mesh: TriangleMesh, factor: f64) -> TriangleMesh {
    TriangleMesh { vertices: mesh.vertices.iter().map(|v| v.map(|x| factor * x)).collect(), ..mesh }
}

#[test]
fn a_mesh_of_a_sphere_rolls_like_one() {
    let (radius, angle) = (0.05, 0.3_f64);
    let shape = Shape::mesh(ClosedMesh::new(scaled(icosphere(4), radius)).unwrap());
    let (sin, cos) = angle.sin_cos();
    let slope = Solid::new(Shape::half_space([0.5; 3], [sin, cos, 0.0]).unwrap());
    let centre = [0.5 + radius * sin, 0.5 + radius * cos, 0.5];
    let body = Body { shape, ..ball(radius, centre).friction(0.8) };
    let mut scene = Scene::new(&open_domain(50.0), &[body], &[slope]);
    for _ in 0..100 {
        scene.fall(1, 0.002);
    }
    // It tips over an edge every four degrees, d, and loses 5/14 d² of its speed: about 1.5 % on this way. As much
    // again is lost since an edge touches down at the end of a step, not within.
    let expected = 5.0 / 7.0 * GRAVITY * sin * 0.2;
    assert!((scene.speed(0) - expected).abs() < 0.04 * expected, "{} {expected}", scene.speed(0));
    let rim = -scene.bodies[0].spin[2] * radius;
    assert!((rim - scene.speed(0)).abs() < 0.02 * expected, "{rim} {expected}");
}

/// A square cup as a mesh: the outer box, and the inner one with its walls inwards, joined at the rim.
fn mesh_cup() -> ClosedMesh {
    let corner = |half: f64, y: f64| [[-half, y, -half], [half, y, -half], [half, y, half], [-half, y, half]];
    let vertices = [corner(0.12, -0.12), corner(0.12, 0.12), corner(0.1, 0.12), corner(0.1, -0.1)].concat();
    let mut triangles: Vec<[u32; 3]> = vec![[0, 1, 2], [0, 2, 3], [12, 14, 13], [12, 15, 14]];
    for ring in 0..3 {
        for side in 0..4 {
            let (a, b) = (4 * ring + side, 4 * ring + (side + 1) % 4);
            triangles.extend([[a, a + 4, b + 4], [a, b + 4, b]]);
        }
    }
    ClosedMesh::new(TriangleMesh { vertices, triangles }).unwrap()
}

#[test]
fn a_mesh_of_a_cup_is_hollow() {
    let mesh = mesh_cup();
    let expected = 0.24_f64.powi(3) - 0.2_f64.powi(2) * 0.22;
    assert!((mesh.volume() - expected).abs() < 1e-12);
    // Hulls of its parts round the inner edges off, by a voxel of a 48th of its size.
    assert_ball_lies_in(cup(Shape::mesh(mesh), 5.0, [0.5, 0.12, 0.5]), 5e-3);
}

#[test]
fn a_ball_stays_in_a_hollow_mesh() {
    let [outer, inner] = [0.12, 0.1].map(|radius| scaled(icosphere(2), radius));
    let first = outer.vertices.len() as u32;
    let inwards = inner.triangles.iter().map(|[a, b, c]| [a + first, c + first, b + first]);
    let vertices = [outer.vertices, inner.vertices].concat();
    let triangles = outer.triangles.into_iter().chain(inwards).collect();
    let shell = Shape::mesh(ClosedMesh::new(TriangleMesh { vertices, triangles }).unwrap());
    let bodies = [cup(shell, 3.0, [0.5; 3]), ball(0.03, [0.5; 3]).velocity([1.0, 0.5, 0.2]).restitution(0.9)];
    let run = || {
        let mut scene = Scene::new(&open_domain(50.0), &bodies, &[]);
        let mut farthest = 0.0_f64;
        for _ in 0..100 {
            scene.drift(&[], 0.01);
            farthest = farthest.max(norm(sub(scene.position(1), scene.position(0))));
        }
        // It reaches the wall, to within the thickness of the hulls' chords.
        assert!((0.058..0.071).contains(&farthest), "{farthest}");
        scene.bodies
    };
    assert_eq!(run(), run(), "the same bits, from a mesh cut anew");
}

#[test]
fn a_solid_mesh_holds_what_falls_into_it() {
    let pose = RigidTransform { rotation: Rotation::identity(), translation: [0.5, 0.12, 0.5] };
    let mesh = Shape::mesh(mesh_cup()).transformed(pose).unwrap();
    // A hole in one wall makes it a shape that can only be sampled.
    let hole = Shape::cylinder([0.5, 0.17, 0.5], [0.9, 0.17, 0.5], 0.02).unwrap();
    for shape in [mesh.clone(), mesh.difference(hole)] {
        let body = ball(0.04, [0.52, 0.4, 0.5]);
        let mut scene = Scene::new(&open_domain(50.0), &[body], &[Solid::new(shape)]);
        for _ in 0..400 {
            scene.fall(1, 0.005);
        }
        assert!((scene.position(0)[1] - 0.06).abs() < 4e-3, "{:?}", scene.bodies[0]);
        assert!(scene.speed(0) < 0.05, "{:?}", scene.bodies[0]);
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let domain = closed_domain::<3>(1.0, 50.0);
    let good = ball::<3>(0.1, [0.5; 3]);
    let refused = |shape: &Shape<3>, mass: f64, inertia: [[f64; 3]; 3], friction: f64, restitution: f64| {
        let spec = BodySpec { shape, mass, inertia, friction, restitution };
        Contacts::new(&[spec], &[], &domain).err().expect("an error")
    };
    let owner = Owner::Body(0);
    let walls = good.shape.clone().complement();
    assert_eq!(refused(&walls, 1.0, good.inertia, 0.0, 0.0), ContactError::Unbounded { owner });
    assert_eq!(refused(&good.shape, 1.0, [[0.0; 3]; 3], 0.0, 0.0), ContactError::BadInertia { owner });
    let empty = Shape::intersection(vec![
        Shape::sphere([0.0; 3], 0.1).unwrap(),
        Shape::sphere([1.0, 0.0, 0.0], 0.1).unwrap(),
    ]);
    assert!(matches!(
        refused(&empty.unwrap(), 1.0, good.inertia, 0.0, 0.0),
        ContactError::NothingToTouch { .. } | ContactError::Unbounded { .. }
    ));
    for (mass, friction, restitution) in
        [(0.0, 0.0, 0.0), (1.0, -1.0, 0.0), (1.0, 0.0, 1.5), (f64::NAN, 0.0, 0.0)]
    {
        let error = refused(&good.shape, mass, good.inertia, friction, restitution);
        assert!(error.to_string().starts_with("body 0: its "), "{error}");
    }
    let flat = Domain { bounds: Bounds { lower: [0.0; 3], upper: [1.0, 1.0, 0.0] }, ..domain };
    assert_eq!(Contacts::new(&[], &[], &flat).err(), Some(ContactError::BadDomain));
}

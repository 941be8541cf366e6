use proptest::{prelude::*, strategy::ValueTree};

use super::*;

fn coordinate() -> impl Strategy<Value = f64> {
    -2.0..2.0
}

fn point<const D: usize>() -> impl Strategy<Value = [f64; D]> {
    prop::array::uniform::<_, D>(coordinate())
}

/// Each primitive in general position, and rigid motions and complements of them: exact distances.
fn exact_shape<const D: usize>(rotation: Rotation<D>) -> impl Strategy<Value = Shape<D>> {
    (0..8, point::<D>(), point::<D>(), prop::array::uniform::<_, D>(0.2..1.0)).prop_filter_map(
        "degenerate",
        move |(kind, a, b, sizes)| {
            let shape = match kind {
                0 => Shape::centred_box(a, sizes),
                1 => Shape::sphere(a, sizes[0]),
                2 => Shape::cylinder(a, b, sizes[0]),
                3 => Shape::capsule(a, b, sizes[0]),
                4 => Shape::half_space(a, b),
                5 => Shape::centred_box(a, sizes).map(Shape::complement),
                6 => Shape::ellipsoid(a, sizes),
                _ => Shape::cylinder(a, b, sizes[0])
                    .and_then(|s| s.transformed(RigidTransform { rotation, translation: b })),
            };
            shape.ok()
        },
    )
}

/// Exactness without a second formula: a 1-Lipschitz function that is zero on the surface and that
/// vanishes after a walk of its own length down its gradient is the distance. Away from the medial
/// axis, where the gradient has a kink; returns whether the point was far enough from it.
fn walks_to_the_surface<const D: usize>(shape: &Shape<D>, p: [f64; D]) -> bool {
    let h = 1e-5;
    let gradient: [f64; D] = std::array::from_fn(|a| {
        let mut step = [0.0; D];
        step[a] = h;
        (shape.signed_distance(add_scaled(p, 1.0, step)) - shape.signed_distance(sub(p, step))) / (2.0 * h)
    });
    let d = shape.signed_distance(p);
    let foot = add_scaled(p, -d, gradient);
    (norm(gradient) - 1.0).abs() < 1e-4 && shape.signed_distance(foot).abs() < 1e-3
}

fn check_exactness<const D: usize>(rotation: Rotation<D>) {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut exact, total) = (0, 3000);
    let strategy = (exact_shape::<D>(rotation), point::<D>(), point::<D>());
    for _ in 0..total {
        let (shape, p, q) = strategy.new_tree(&mut runner).unwrap().current();
        let difference = (shape.signed_distance(p) - shape.signed_distance(q)).abs();
        assert!(difference <= norm(sub(p, q)) * (1.0 + 1e-12), "{shape:?} {p:?} {q:?}");
        exact += usize::from(walks_to_the_surface(&shape, p));
    }
    // What is missing lies within a finite-difference step of a kink.
    assert!(exact as f64 > 0.998 * f64::from(total), "{exact} of {total}");
}

#[test]
fn primitives_are_exact_distances() {
    check_exactness::<2>(Rotation::<2>::from_angle(0.7).unwrap());
    check_exactness::<3>(Rotation::<3>::from_axis_angle([1.0, -2.0, 0.5], 2.1).unwrap());
}

#[test]
fn distances_at_known_points() {
    let cases: [(Shape<3>, [f64; 3], f64); 9] = [
        (Shape::box_between([0.0; 3], [2.0, 4.0, 6.0]).unwrap(), [3.0, 5.0, 7.0], 3_f64.sqrt()),
        (Shape::box_between([0.0; 3], [2.0, 4.0, 6.0]).unwrap(), [1.5, 2.0, 3.0], -0.5),
        (Shape::sphere([1.0, 0.0, 0.0], 0.5).unwrap(), [1.0, 0.0, 0.0], -0.5),
        (Shape::cylinder([0.0; 3], [0.0, 0.0, 2.0], 1.0).unwrap(), [4.0, 0.0, 6.0], 5.0),
        (Shape::cylinder([0.0; 3], [0.0, 0.0, 2.0], 1.0).unwrap(), [0.5, 0.0, 1.7], -0.3),
        (Shape::capsule([0.0; 3], [0.0, 2.0, 0.0], 0.5).unwrap(), [0.0, 3.0, 0.0], 0.5),
        (Shape::capsule([1.0; 3], [1.0; 3], 0.5).unwrap(), [1.0, 1.0, 3.0], 1.5),
        (Shape::half_space([0.0, 1.0, 0.0], [0.0, 5.0, 0.0]).unwrap(), [9.0, -1.0, 2.0], -2.0),
        (Shape::sphere([0.0; 3], 1.0).unwrap().shell(0.2).unwrap(), [0.0, 0.8, 0.0], 0.1),
    ];
    for (shape, p, expected) in cases {
        assert!((shape.signed_distance(p) - expected).abs() < 1e-14, "{shape:?} {p:?}");
    }
}

#[test]
fn in_the_plane_a_cylinder_is_a_rectangle_and_a_capsule_a_stadium() {
    let rectangle = Shape::<2>::cylinder([0.0, 0.0], [2.0, 0.0], 0.5).unwrap();
    let same = Shape::<2>::box_between([0.0, -0.5], [2.0, 0.5]).unwrap();
    let stadium = Shape::<2>::capsule([0.0, 0.0], [2.0, 0.0], 0.5).unwrap();
    for p in [[1.0, 0.1], [2.5, 1.0], [-1.0, -0.2], [0.1, -0.45], [3.0, 0.0]] {
        assert!((rectangle.signed_distance(p) - same.signed_distance(p)).abs() < 1e-15);
    }
    assert!((stadium.signed_distance([2.3, 0.4])).abs() < 1e-15);
}

#[test]
fn rotations_turn_counter_clockwise_and_agree() {
    let quarter = std::f64::consts::FRAC_PI_2;
    let turned = Rotation::<2>::from_angle(quarter).unwrap().apply([1.0, 0.0]);
    assert!(norm(sub(turned, [0.0, 1.0])) < 1e-15);
    let turned = Rotation::<3>::from_axis_angle([0.0, 0.0, 3.0], quarter).unwrap().apply([1.0, 0.0, 0.0]);
    assert!(norm(sub(turned, [0.0, 1.0, 0.0])) < 1e-15);
    let half = Rotation::<3>::from_quaternion([0.0, 2.0, 0.0, 0.0]).unwrap().apply([1.0, 2.0, 3.0]);
    assert!(norm(sub(half, [-1.0, 2.0, -3.0])) < 1e-15);
}

proptest! {
    #[test]
    fn combinations_have_the_sign_of_their_set(p in point::<3>(), q in point::<3>(), r in 0.3..1.5) {
        let a = Shape::sphere([0.5, 0.0, 0.0], 1.0).unwrap();
        let b = Shape::centred_box(q, [r, 0.5, 0.7]).unwrap();
        let (in_a, in_b) = (a.signed_distance(p) < 0.0, b.signed_distance(p) < 0.0);
        let union = Shape::union(vec![a.clone(), b.clone()]).unwrap();
        let both = Shape::intersection(vec![a.clone(), b.clone()]).unwrap();
        prop_assert_eq!(union.signed_distance(p) < 0.0, in_a || in_b);
        prop_assert_eq!(both.signed_distance(p) < 0.0, in_a && in_b);
        prop_assert_eq!(a.difference(b).signed_distance(p) < 0.0, in_a && !in_b);
    }

    #[test]
    fn rigid_motions_keep_distances(p in point::<3>(), axis in point::<3>(), angle in -7.0..7.0, t in point::<3>()) {
        prop_assume!(norm(axis) > 1e-3);
        let rotation = Rotation::<3>::from_axis_angle(axis, angle).unwrap();
        let transform = RigidTransform { rotation, translation: t };
        let shape = Shape::cylinder([0.1, 0.2, 0.3], [1.0, -0.5, 0.4], 0.6).unwrap();
        let moved = shape.clone().transformed(transform).unwrap();
        prop_assert!((moved.signed_distance(transform.apply(p)) - shape.signed_distance(p)).abs() < 1e-14);
        prop_assert!(norm(sub(transform.apply_inverse(transform.apply(p)), p)) < 1e-14);
    }

    #[test]
    fn bounds_enclose_every_kind_of_shape(
        shape in exact_shape::<2>(Rotation::<2>::from_angle(0.7).unwrap()),
        other in exact_shape::<2>(Rotation::<2>::from_angle(0.7).unwrap()),
        p in point::<2>(),
        kind in 0..4,
        thickness in 0.1..1.0,
    ) {
        let rotation = Rotation::<2>::from_angle(thickness * 9.0).unwrap();
        let combined = match kind {
            0 => shape,
            1 => Shape::union(vec![shape, other]).unwrap(),
            2 => shape.difference(other),
            _ => Shape::intersection(vec![shape, other]).unwrap(),
        };
        let moved = combined.transformed(RigidTransform { rotation, translation: p }).unwrap();
        for shape in [moved.clone(), moved.shell(thickness).unwrap()] {
            let bounds = shape.bounds().expanded(1e-12);
            for i in 0..60 {
                for j in 0..60 {
                    let q = [f64::from(i) / 8.0 - 3.7, f64::from(j) / 8.0 - 3.7];
                    prop_assert!(shape.signed_distance(q) > 0.0 || bounds.contains(q), "{:?} {:?}", shape, q);
                }
            }
        }
    }
}

#[test]
fn bounds_of_primitives_are_tight() {
    let tilted = Shape::<2>::cylinder([0.0, 0.0], [3.0, 4.0], 1.0).unwrap().bounds();
    assert!(norm(sub(tilted.lower, [-0.8, -0.6])) < 1e-14 && norm(sub(tilted.upper, [3.8, 4.6])) < 1e-14);
    let floor = Shape::<3>::half_space([0.0, 2.0, 0.0], [0.0, 1.0, 0.0]).unwrap().bounds();
    assert_eq!((floor.lower[1], floor.upper[1]), (f64::NEG_INFINITY, 2.0));
    assert_eq!(floor.upper[0], f64::INFINITY);
    let pool = Shape::intersection(vec![
        Shape::<2>::box_between([0.0, 0.0], [4.0, 4.0]).unwrap(),
        Shape::half_space([0.0, 1.5], [0.0, 1.0]).unwrap(),
    ]);
    assert_eq!(pool.unwrap().bounds(), Bounds { lower: [0.0, 0.0], upper: [4.0, 1.5] });
    let apart = vec![Shape::<2>::sphere([0.0; 2], 1.0).unwrap(), Shape::sphere([5.0; 2], 1.0).unwrap()];
    assert!(Shape::intersection(apart).unwrap().bounds().is_empty());
}

#[test]
fn what_is_not_a_solid_is_refused_with_the_reason() {
    let nan = f64::NAN;
    let refused: [(Result<Shape<3>, ShapeError>, &str); 10] = [
        (Shape::sphere([0.0; 3], -1.0), "sphere: the radius is -1; give a finite number greater than zero"),
        (Shape::sphere([0.0; 3], nan), "the radius is NaN"),
        (Shape::sphere([0.0, nan, 0.0], 1.0), "the centre holds NaN"),
        (Shape::ellipsoid([0.0; 3], [1.0, 0.0, 1.0]), "ellipsoid: a radius is 0; give a finite number"),
        (Shape::box_between([0.0; 3], [1.0, 0.0, 1.0]), "along axis 1"),
        (Shape::cylinder([1.0; 3], [1.0; 3], 1.0), "no direction"),
        (Shape::half_space([0.0; 3], [0.0; 3]), "half-space: the normal has no direction"),
        (Shape::union(vec![]), "union of no shapes"),
        (Shape::sphere([0.0; 3], 1.0).unwrap().shell(0.0), "shell: the thickness is 0"),
        (Shape::capsule([f64::INFINITY; 3], [0.0; 3], 1.0), "an end point holds inf"),
    ];
    for (result, text) in refused {
        let message = result.unwrap_err().to_string();
        assert!(message.contains(text), "{message}");
    }
    assert!(Rotation::<3>::from_quaternion([0.0; 4]).is_err());
    assert!(Rotation::<2>::from_angle(nan).is_err());
}

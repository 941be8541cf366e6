use super::test_meshes::kuhn;
use super::*;

fn total_volume(complex: &Complex) -> f64 {
    complex.tets().map(|t| volume(complex.points(t))).sum()
}

/// The vertex nearest to a point.
fn vertex_at(complex: &Complex, point: [f64; 3]) -> u32 {
    let distance = |v: u32| {
        let x = complex.position(v);
        (0..3).map(|i| (x[i] - point[i]).powi(2)).sum::<f64>()
    };
    complex.vertices().min_by(|&a, &b| distance(a).total_cmp(&distance(b))).expect("a vertex")
}

#[test]
fn a_box_of_tets_is_a_ball() {
    let complex = kuhn([3, 2, 4], |_| 0);
    complex.check().unwrap();
    assert_eq!(complex.tet_count(), 144);
    assert_eq!(complex.euler_characteristic(), 1);
    assert!((total_volume(&complex) - 24.0).abs() < 1e-12);
}

#[test]
fn every_ring_is_in_positive_order_and_complete() {
    let complex = kuhn([2, 2, 2], |_| 0);
    for tet in complex.tets() {
        let corners = complex.corners(tet);
        for (a, b) in corners.iter().flat_map(|&a| corners.map(|b| (a, b))).filter(|(a, b)| a != b) {
            let ring = complex.ring(tet, a, b);
            let mut star = Vec::new();
            complex.star(a, &mut star);
            let around = star.iter().filter(|&&t| complex.corners(t).contains(&b)).count();
            assert_eq!(ring.tets.len(), around);
            assert_eq!(ring.rim.len(), around + usize::from(ring.walls.is_some()));
            for (i, &t) in ring.tets.iter().enumerate() {
                let next = ring.rim[(i + 1) % ring.rim.len()];
                assert_eq!(complex.opposite_edge(t, a, b), (ring.rim[i], next));
            }
        }
    }
}

#[test]
fn strata_of_a_box_and_of_two_layers_in_it() {
    let complex = kuhn([2, 2, 2], |x| u8::from(x[2] > 1.0));
    let stratum = |point| complex.strata(vertex_at(&complex, point)).vertex();
    assert_eq!(stratum([0.0, 0.0, 0.0]), Stratum::Point, "a corner");
    assert_eq!(stratum([1.0, 0.0, 0.0]), Stratum::Line, "an edge of the box");
    assert_eq!(stratum([1.0, 1.0, 0.0]), Stratum::Surface, "a wall");
    assert_eq!(stratum([1.0, 1.0, 1.0]), Stratum::Surface, "the interface");
    assert_eq!(stratum([1.0, 0.0, 1.0]), Stratum::Line, "a contact line");
    assert_eq!(stratum([0.0, 0.0, 1.0]), Stratum::Point, "the end of contact lines");
    let one = kuhn([2, 2, 2], |_| 0);
    assert_eq!(one.strata(vertex_at(&one, [1.0; 3])).vertex(), Stratum::Inside);
}

#[test]
fn three_labels_meet_along_a_line() {
    let complex = kuhn([2, 2, 3], |x| if x[0] > 1.0 { 2 } else { u8::from(x[1] > 1.0) });
    let middle = vertex_at(&complex, [1.0, 1.0, 1.0]);
    let strata = complex.strata(middle);
    assert_eq!(strata.vertex(), Stratum::Line);
    let along = vertex_at(&complex, [1.0, 1.0, 2.0]);
    assert_eq!(strata.edge(along), Stratum::Line);
    assert_eq!(strata.edge(vertex_at(&complex, [1.0, 2.0, 1.0])), Stratum::Surface);
}

#[test]
fn balls_that_touch_in_a_vertex_meet_in_a_point() {
    // Two cubes of label one that share no more than the middle vertex.
    let low = |x: [f64; 3]| x.iter().all(|&c| c > 1.0 && c < 2.0);
    let high = |x: [f64; 3]| x.iter().all(|&c| c > 2.0 && c < 3.0);
    let complex = kuhn([4, 4, 4], |x| u8::from(low(x) || high(x)));
    assert_eq!(complex.strata(vertex_at(&complex, [2.0; 3])).vertex(), Stratum::Point);
}

/// A tet's inner neighbour and the cavity that replaces both by three tets around a new edge.
fn flip(complex: &Complex) -> Option<([u32; 2], [CavityTet; 3])> {
    complex.tets().find_map(|tet| {
        (0..4).find_map(|corner| {
            let Across::Tet(other) = complex.across(tet, corner) else { return None };
            let [a, b, c] = complex.face(tet, corner);
            let apex = complex.corners(tet)[corner];
            let below = complex.corners(other).into_iter().find(|v| ![a, b, c].contains(v))?;
            let new = [(a, b), (b, c), (c, a)].map(|(p, q)| ([apex, p, q, below], complex.label(tet)));
            let positive =
                new.iter().all(|(t, _)| crate::predicates::is_positive(t.map(|v| complex.position(v))));
            positive.then_some(([tet, other], new))
        })
    })
}

#[test]
fn a_flip_and_its_reverse() {
    let mut complex = kuhn([2, 2, 2], |_| 3);
    // Corners of the cubes are moved so that some faces can be flipped.
    for vertex in complex.vertices().collect::<Vec<_>>() {
        let x = complex.position(vertex);
        if x == [1.0; 3] {
            complex.set_position(vertex, [1.2, 0.9, 1.1]);
        }
    }
    complex.check().unwrap();
    let (old, new) = flip(&complex).expect("a face to flip");
    let tets = complex.replace_cavity(Cavity { old: &old, new: &new, ..Cavity::default() }).unwrap();
    assert_eq!(tets.len(), 3);
    complex.check().unwrap();
    assert_eq!(complex.tet_count(), 49);
    let apex = new[0].0[0];
    let below = new[0].0[3];
    let ring = complex.ring(tets[0], apex, below);
    let [a, b, c] = [ring.rim[0], ring.rim[1], ring.rim[2]];
    let back = [([apex, a, b, c], 3), ([below, a, c, b], 3)];
    complex.replace_cavity(Cavity { old: &ring.tets, new: &back, ..Cavity::default() }).unwrap();
    complex.check().unwrap();
    assert_eq!(complex.tet_count(), 48);
    assert!((total_volume(&complex) - 8.0).abs() < 1e-12);
}

#[test]
fn what_does_not_fit_is_refused_and_changes_nothing() {
    let mut complex = kuhn([2, 2, 2], |_| 0);
    let before = complex.clone();
    let tet = 0;
    let corners = complex.corners(tet);
    let middle = complex.next_vertex();
    let centre = std::array::from_fn(|i| corners.iter().map(|&v| complex.position(v)[i]).sum::<f64>() / 4.0);
    let cone = |corner: usize| {
        let [a, b, c] = complex.face(tet, corner);
        ([middle, a, b, c], 0)
    };
    let new = [0, 1, 2, 3].map(cone);
    let whole = Cavity { old: &[tet], new: &new, walls: &[], vertex: Some(centre) };
    let outside = Some([9.0; 3]);
    let refusals = [
        Cavity { old: &[tet, tet], ..whole },
        Cavity { old: &[1000], ..whole },
        Cavity { new: &new[..3], ..whole },
        Cavity { vertex: outside, ..whole },
        Cavity { old: &[tet, 1], ..whole },
    ];
    for refused in refusals {
        assert!(complex.replace_cavity(refused).is_err());
        assert_eq!(complex, before);
    }
    complex.replace_cavity(whole).unwrap();
    complex.check().unwrap();
    assert_eq!((complex.tet_count(), complex.vertex_count()), (51, 28));
    assert_eq!(complex.euler_characteristic(), 1);
}

#[test]
fn the_order_does_not_depend_on_history() {
    let mut complex = kuhn([2, 2, 2], |x| u8::from(x[0] > 1.0));
    complex.compact();
    let before = complex.clone();
    let tet = 5;
    let middle = complex.next_vertex();
    let points = complex.points(tet);
    let centre = std::array::from_fn(|i| points.iter().map(|x| x[i]).sum::<f64>() / 4.0);
    let new: Vec<CavityTet> = (0..4)
        .map(|k| {
            let [a, b, c] = complex.face(tet, k);
            ([middle, a, b, c], complex.label(tet))
        })
        .collect();
    let whole = (complex.corners(tet), complex.label(tet));
    let cut = Cavity { old: &[tet], new: &new, walls: &[], vertex: Some(centre) };
    let parts = complex.replace_cavity(cut).unwrap();
    complex.replace_cavity(Cavity { old: &parts, new: &[whole], walls: &[], vertex: None }).unwrap();
    assert_ne!(complex, before, "free slots are left behind");
    complex.check().unwrap();
    let order = complex.compact();
    assert_eq!(order, (0..27).collect::<Vec<_>>());
    assert_eq!(complex, before);
}

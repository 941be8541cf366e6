//! Polygons in the plane.

use std::collections::HashMap;

use super::error::PolygonError;
use super::{Bounds, TriangleMesh};

/// No polygon has more corners.
const MOST_CORNERS: usize = 4096;
/// How flat a mesh is that has an outline, as a part of its size.
const FLAT: f64 = 1e-6;

/// The inside of a closed line of straight edges that does not cross itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Polygon {
    /// Counter-clockwise.
    corners: Vec<[f64; 2]>,
}

impl Polygon {
    /// From its corners, in either sense; the last one may be the first one again.
    ///
    /// # Errors
    /// If they enclose nothing, or two edges meet elsewhere than at a common corner.
    pub fn new(mut corners: Vec<[f64; 2]>) -> Result<Self, PolygonError> {
        if let Some(corner) = corners.iter().position(|x| x.iter().any(|c| !c.is_finite())) {
            return Err(PolygonError::NotFinite { corner, position: corners[corner] });
        }
        corners.dedup();
        if corners.len() > 1 && corners.first() == corners.last() {
            corners.pop();
        }
        match corners.len() {
            count @ 0..3 => return Err(PolygonError::TooFew { count }),
            count if count > MOST_CORNERS => return Err(PolygonError::TooMany { count, most: MOST_CORNERS }),
            _ => {}
        }
        let mut polygon = Self { corners };
        let area = polygon.signed_area();
        if area == 0.0 {
            return Err(PolygonError::Empty);
        }
        if let Some(edges) = polygon.crossing() {
            return Err(PolygonError::Crossing { edges });
        }
        if area < 0.0 {
            polygon.corners.reverse();
        }
        Ok(polygon)
    }

    /// The outline of a mesh that is flat, in a plane of constant z.
    ///
    /// # Errors
    /// If it is not flat, has no single outline, or that is no polygon.
    pub fn of_flat_mesh(mesh: &TriangleMesh) -> Result<Self, PolygonError> {
        let heights = mesh.vertices.iter().map(|x| x[2]);
        let (least, most) =
            heights.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, m), z| (f64::min(l, z), f64::max(m, z)));
        let size = mesh.vertices.iter().flatten().fold(0.0, |most: f64, x| most.max(x.abs()));
        let is_flat = most - least <= FLAT * size;
        if !is_flat {
            return Err(PolygonError::NotFlat { height: most - least });
        }
        // An edge that two triangles have in common runs both ways, and is no part of the outline.
        let mut edges = HashMap::new();
        for &[a, b, c] in &mesh.triangles {
            for (from, to) in [(a, b), (b, c), (c, a)] {
                if edges.remove(&(to, from)).is_none() {
                    edges.insert((from, to), ());
                }
            }
        }
        let count = edges.len();
        let next: HashMap<u32, u32> = edges.into_keys().collect();
        let Some(&first) = next.keys().min() else { return Err(PolygonError::Empty) };
        let mut corners = Vec::new();
        let mut at = first;
        loop {
            let [x, y, _] = mesh.vertices[at as usize];
            corners.push([x, y]);
            at = *next.get(&at).ok_or(PolygonError::SeveralOutlines)?;
            if at == first {
                break;
            }
            if corners.len() > count {
                return Err(PolygonError::SeveralOutlines);
            }
        }
        if corners.len() == count { Self::new(corners) } else { Err(PolygonError::SeveralOutlines) }
    }

    /// The corners, counter-clockwise.
    pub fn corners(&self) -> &[[f64; 2]] {
        &self.corners
    }

    /// Its edges, with the inside on their left.
    pub fn edges(&self) -> impl Iterator<Item = [[f64; 2]; 2]> {
        let count = self.corners.len();
        (0..count).map(move |k| [self.corners[k], self.corners[(k + 1) % count]])
    }

    /// The box around it.
    pub fn bounds(&self) -> Bounds<2> {
        Bounds::of_points(self.corners.iter().copied())
    }

    /// The signed distance, negative inside.
    pub fn signed_distance(&self, x: [f64; 2]) -> f64 {
        let (mut square, mut is_inside) = (f64::INFINITY, false);
        for [a, b] in self.edges() {
            let (edge, offset) = (sub(b, a), sub(x, a));
            let along = (dot(offset, edge) / dot(edge, edge)).clamp(0.0, 1.0);
            let off = [offset[0] - along * edge[0], offset[1] - along * edge[1]];
            square = square.min(dot(off, off));
            // The edges that a line to the right crosses.
            if (a[1] > x[1]) != (b[1] > x[1]) && (cross(edge, offset) < 0.0) == (edge[1] < 0.0) {
                is_inside = !is_inside;
            }
        }
        if is_inside { -square.sqrt() } else { square.sqrt() }
    }

    /// Whether it has no corner that points in.
    pub fn is_convex(&self) -> bool {
        let count = self.corners.len();
        (0..count).all(|k| self.turn(k, (k + 1) % count, (k + 2) % count) >= 0.0)
    }

    /// Convex polygons that it is cut into: itself, or triangles.
    pub fn convex_parts(&self) -> Vec<Vec<[f64; 2]>> {
        if self.is_convex() {
            return vec![self.corners.clone()];
        }
        let mut left: Vec<usize> = (0..self.corners.len()).collect();
        let mut triangles = Vec::new();
        while left.len() > 3 {
            let count = left.len();
            let around = |k: usize| [left[(k + count - 1) % count], left[k], left[(k + 1) % count]];
            // A simple polygon has an ear; of rounding, the corner that turns the most is taken for one.
            let ear = (0..count).find(|&k| self.is_ear(around(k), &left)).unwrap_or_else(|| {
                let turn = |k: usize| {
                    let [a, b, c] = around(k);
                    self.turn(a, b, c)
                };
                (0..count).max_by(|&i, &j| turn(i).total_cmp(&turn(j))).expect("corners are left")
            });
            triangles.push(around(ear));
            left.remove(ear);
        }
        triangles.push([left[0], left[1], left[2]]);
        let flat = |&[a, b, c]: &[usize; 3]| self.turn(a, b, c) > 0.0;
        let corners = |triangle: [usize; 3]| triangle.map(|k| self.corners[k]).to_vec();
        triangles.into_iter().filter(flat).map(corners).collect()
    }

    /// Whether a triangle of three corners in a row lies inside, with no other corner in it.
    fn is_ear(&self, [a, b, c]: [usize; 3], left: &[usize]) -> bool {
        let holds =
            |&k: &usize| [(a, b), (b, c), (c, a)].iter().all(|&(from, to)| self.turn(from, to, k) >= 0.0);
        self.turn(a, b, c) > 0.0 && !left.iter().filter(|k| ![a, b, c].contains(k)).any(holds)
    }

    /// Twice the area of the triangle of three corners, positive if they turn to the left.
    fn turn(&self, a: usize, b: usize, c: usize) -> f64 {
        cross(sub(self.corners[b], self.corners[a]), sub(self.corners[c], self.corners[a]))
    }

    fn signed_area(&self) -> f64 {
        // About the first corner, so that rounding does not depend on where the polygon is.
        let first = self.corners[0];
        0.5 * self.edges().map(|[a, b]| cross(sub(a, first), sub(b, first))).sum::<f64>()
    }

    /// Two edges that meet but for those at a common corner.
    fn crossing(&self) -> Option<[usize; 2]> {
        let edges: Vec<[[f64; 2]; 2]> = self.edges().collect();
        let count = edges.len();
        for first in 0..count {
            for second in first + 1..count {
                let is_next = second == first + 1;
                let is_before = first == 0 && second == count - 1;
                let meet = if is_next || is_before {
                    let [a, b] = if is_next { [first, second] } else { [second, first] };
                    fold_back(edges[a], edges[b])
                } else {
                    cross_each_other(edges[first], edges[second])
                };
                if meet {
                    return Some([first, second]);
                }
            }
        }
        None
    }
}

/// Whether an edge goes back along the one before it.
fn fold_back([a, b]: [[f64; 2]; 2], [_, c]: [[f64; 2]; 2]) -> bool {
    let (before, after) = (sub(b, a), sub(c, b));
    cross(before, after) == 0.0 && dot(before, after) < 0.0
}

/// Whether two edges have a point in common.
fn cross_each_other([a, b]: [[f64; 2]; 2], [c, d]: [[f64; 2]; 2]) -> bool {
    let side = |from: [f64; 2], to: [f64; 2], x: [f64; 2]| cross(sub(to, from), sub(x, from));
    let (of_c, of_d) = (side(a, b, c), side(a, b, d));
    let (of_a, of_b) = (side(c, d, a), side(c, d, b));
    let lies_on = |from: [f64; 2], to: [f64; 2], x: [f64; 2]| dot(sub(x, from), sub(x, to)) <= 0.0;
    (of_c * of_d < 0.0 && of_a * of_b < 0.0)
        || (of_c == 0.0 && lies_on(a, b, c))
        || (of_d == 0.0 && lies_on(a, b, d))
        || (of_a == 0.0 && lies_on(c, d, a))
        || (of_b == 0.0 && lies_on(c, d, b))
}

fn sub(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [a[0] - b[0], a[1] - b[1]]
}

fn dot(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

fn cross(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[1] - a[1] * b[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A star with five points, which is not convex.
    fn star() -> Polygon {
        let corner = |k: usize| {
            let (radius, angle) =
                (if k.is_multiple_of(2) { 1.0 } else { 0.4 }, std::f64::consts::PI * k as f64 / 5.0);
            [radius * angle.cos(), radius * angle.sin()]
        };
        Polygon::new((0..10).map(corner).collect()).unwrap()
    }

    #[test]
    fn distances_are_those_to_the_nearest_edge() {
        let square = Polygon::new(vec![[0.0, 0.0], [0.0, 2.0], [2.0, 2.0], [2.0, 0.0], [0.0, 0.0]]).unwrap();
        assert_eq!(square.corners().len(), 4);
        assert!(square.is_convex());
        for (x, expected) in [([1.0, 0.5], -0.5), ([3.0, 1.0], 1.0), ([5.0, 6.0], 5.0), ([-1.0, 2.0], 1.0)] {
            assert!((square.signed_distance(x) - expected).abs() < 1e-15, "{x:?}");
        }
        let star = star();
        assert!(!star.is_convex());
        assert!(star.signed_distance([0.9, 0.0]) < 0.0 && star.signed_distance([-0.9, 0.0]) > 0.0);
        assert!(star.signed_distance([-0.39, 0.0]) < 0.0);
    }

    #[test]
    fn parts_are_convex_and_have_the_area_of_the_whole() {
        let star = star();
        let parts = star.convex_parts();
        let polygons: Vec<Polygon> = parts.into_iter().map(|part| Polygon::new(part).unwrap()).collect();
        assert!(polygons.iter().all(Polygon::is_convex));
        let area: f64 = polygons.iter().map(Polygon::signed_area).sum();
        assert!((area - star.signed_area()).abs() < 1e-14);
        for k in 0..2000 {
            let x = [f64::from((k * 37) % 200) / 90.0 - 1.1, f64::from((k * 73) % 2000) / 900.0 - 1.1];
            let within = star.signed_distance(x);
            let nearest = polygons.iter().map(|part| part.signed_distance(x)).fold(f64::INFINITY, f64::min);
            assert!(
                within.abs() < 1e-9 || (within < 0.0) == (nearest < 0.0) || nearest.abs() < 1e-9,
                "{x:?}"
            );
        }
    }

    #[test]
    fn what_is_no_polygon_is_refused() {
        let error = |corners: &[[f64; 2]]| Polygon::new(corners.to_vec()).unwrap_err();
        assert_eq!(error(&[[0.0, 0.0], [1.0, 0.0], [1.0, 0.0]]), PolygonError::TooFew { count: 2 });
        assert_eq!(error(&[[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]]), PolygonError::Empty);
        let bow = [[0.0, 0.0], [1.0, 1.0], [1.5, 0.0], [0.0, 0.7]];
        assert_eq!(error(&bow), PolygonError::Crossing { edges: [0, 2] });
        let spike = [[0.0, 0.0], [2.0, 0.0], [1.0, 0.0], [1.0, 1.0]];
        assert_eq!(error(&spike), PolygonError::Crossing { edges: [0, 1] });
        assert!(matches!(
            error(&[[0.0, 0.0], [1.0, f64::NAN], [1.0, 0.0]]),
            PolygonError::NotFinite { corner: 1, .. }
        ));
    }

    #[test]
    fn a_flat_mesh_has_an_outline() {
        let vertices =
            vec![[0.0, 0.0, 0.5], [1.0, 0.0, 0.5], [1.0, 1.0, 0.5], [0.0, 1.0, 0.5], [0.3, 0.4, 0.5]];
        let triangles = vec![[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]];
        let mesh = TriangleMesh { vertices: vertices.clone(), triangles: triangles.clone() };
        let polygon = Polygon::of_flat_mesh(&mesh).unwrap();
        assert_eq!(polygon.corners(), [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]);
        let mut bent = mesh.clone();
        bent.vertices[4][2] = 0.6;
        assert!(matches!(Polygon::of_flat_mesh(&bent), Err(PolygonError::NotFlat { .. })));
        // Two triangles that touch in a corner.
        let two = TriangleMesh { vertices, triangles: vec![[0, 1, 4], [2, 3, 4]] };
        assert_eq!(Polygon::of_flat_mesh(&two), Err(PolygonError::SeveralOutlines));
    }
}

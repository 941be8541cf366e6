//! Outlines of shapes in the plane, as polygons.
//!
//! The edge of a shape consists of parts of the edges of what it is made of: segments and arcs that are known exactly. So corners are where two of them meet, and nothing is
//! sampled on a grid.

use std::f64::consts::{PI, TAU};

use thiserror::Error;

use super::{Kind, Polygon, RigidTransform, Shape};

/// Why a shape has no [`outline`].
#[derive(Clone, Debug, Error, PartialEq)]
pub enum OutlineError {
    /// It has no edge, or an edge without an end.
    #[error("its outline is not closed")]
    Open,
    /// It has several edges.
    #[error("it has {count} outlines; a body has one: without holes, and in one piece")]
    Several {
        /// How many.
        count: usize,
    },
    /// Sides are too long.
    #[error("its outline is {length:.4} m long, too short for panels of {side} m")]
    TooShort {
        /// The length of the outline, in m.
        length: f64,
        /// The length of sides, in m.
        side: f64,
        /// The longest that sides may be, in m.
        most: f64,
    },
    /// There are more than anyone could wait for.
    #[error("its outline of {length:.4} m would have {sides} panels of {side} m, more than {MOST}")]
    TooMany {
        /// The length of the outline, in m.
        length: f64,
        /// The length of sides, in m.
        side: f64,
        /// How many sides there would be.
        sides: usize,
    },
}

/// No outline has fewer sides.
const LEAST: usize = 8;
/// Nor more.
const MOST: usize = 2000;
/// Points that an edge is looked at, at least, to find which parts of it belong to the outline.
const LOOKS: usize = 256;
/// Points beside an edge, and ends that meet, are as far off as this part of the size of the shape.
const BESIDE: f64 = 1e-6;
/// An edge that turns by less than this, in radians, has no corner there.
const SMOOTH: f64 = 0.1;

/// The corners of a polygon, counter-clockwise, that stands for the outline of a shape in one piece, with sides about as long as asked for. Towards corners of the shape, where flows are
/// singular, sides become shorter, and the polygon has the area of the shape.
pub fn outline(shape: &Shape<2>, side: f64) -> Result<Vec<[f64; 2]>, OutlineError> {
    let reach = reach(shape).ok_or(OutlineError::Open)?;
    let mut edges = Vec::new();
    collect(shape, &RigidTransform::IDENTITY, Side { is_inside: true, level: 0.0 }, reach, &mut edges);
    let parts: Vec<Part> =
        (0..edges.len()).flat_map(|k| parts_of(shape, &edges, k, BESIDE * reach)).collect();
    let loops = chained(parts, 1e2 * BESIDE * reach)?;
    let [parts] = &loops[..] else {
        return Err(OutlineError::Several { count: loops.len() });
    };
    let length: f64 = parts.iter().map(|part| part.length(&edges)).sum();
    if length < LEAST as f64 * side {
        return Err(OutlineError::TooShort { length, side, most: length / LEAST as f64 });
    }
    let sides = (length / side) as usize;
    if sides > MOST {
        return Err(OutlineError::TooMany { length, side, sides });
    }
    Ok(divided(parts, &edges, side))
}

/// How far a shape reaches, if it ends at all.
fn reach(shape: &Shape<2>) -> Option<f64> {
    let bounds = shape.bounds();
    let is_bounded = bounds.is_finite() && !bounds.is_empty();
    is_bounded.then(|| bounds.lower.iter().chain(&bounds.upper).fold(0.0, |most: f64, x| most.max(x.abs())))
}

/// The points with a signed distance of at most the level, or those with more.
#[derive(Clone, Copy)]
struct Side {
    is_inside: bool,
    level: f64,
}

/// An edge of what a shape is made of.
struct Edge<'a> {
    curve: Curve<'a>,
    /// Takes the curve to its place.
    transform: RigidTransform<2>,
    /// Whether the shape is on its right.
    is_reversed: bool,
    /// What it is an edge of.
    of: &'a Shape<2>,
    level: f64,
}

/// A curve that has what it is an edge of on its left.
#[derive(Clone, Copy)]
enum Curve<'a> {
    Segment([f64; 2], [f64; 2]),
    /// Edges of a polygon that meet without a corner: from one of its corners on, so many.
    Chain {
        corners: &'a [[f64; 2]],
        first: usize,
        count: usize,
    },
    /// An arc of an ellipse from one angle to another one, and beyond it by some distance.
    Arc {
        centre: [f64; 2],
        radii: [f64; 2],
        angles: [f64; 2],
        beyond: f64,
    },
}

impl Curve<'_> {
    /// A point, and the direction out of what it is an edge of; `along` goes from 0 to 1.
    fn at(&self, along: f64) -> ([f64; 2], [f64; 2]) {
        match *self {
            Self::Segment(a, b) => {
                let d = [b[0] - a[0], b[1] - a[1]];
                ([0, 1].map(|axis| a[axis] + along * d[axis]), unit([d[1], -d[0]]))
            }
            Self::Chain { corners, first, count } => {
                let places = places_of_corners(corners, first, count);
                let edge = places[1..count].partition_point(|place| *place < along);
                let [a, b] = [0, 1].map(|end| corners[(first + edge + end) % corners.len()]);
                let part = (along - places[edge]) / (places[edge + 1] - places[edge]);
                Self::Segment(a, b).at(part)
            }
            Self::Arc { centre, radii: [a, b], angles: [from, to], beyond } => {
                let (sin, cos) = (from + along * (to - from)).sin_cos();
                let normal = unit([b * cos, a * sin]);
                ([centre[0] + a * cos + beyond * normal[0], centre[1] + b * sin + beyond * normal[1]], normal)
            }
        }
    }
}

/// Where along a chain its corners are.
fn places_of_corners(corners: &[[f64; 2]], first: usize, count: usize) -> Vec<f64> {
    let mut places = vec![0.0];
    for k in first..first + count {
        let length = distance(corners[k % corners.len()], corners[(k + 1) % corners.len()]);
        places.push(places[places.len() - 1] + length);
    }
    let whole = places[count];
    places.iter().map(|place| place / whole).collect()
}

impl Edge<'_> {
    /// A point, and the direction out of the shape; `along` goes from 0 to 1 with the shape on the left.
    fn at(&self, along: f64) -> ([f64; 2], [f64; 2]) {
        let (point, normal) = self.curve.at(if self.is_reversed { 1.0 - along } else { along });
        let normal = self.transform.rotation.apply(normal);
        (self.transform.apply(point), if self.is_reversed { normal.map(|x| -x) } else { normal })
    }

    /// The signed distance to what it is an edge of, from the side of the shape.
    fn distance(&self, point: [f64; 2]) -> f64 {
        let distance = self.of.signed_distance(self.transform.apply_inverse(point)) - self.level;
        if self.is_reversed { -distance } else { distance }
    }
}

/// The edges of what a shape is made of.
fn collect<'a>(
    shape: &'a Shape<2>,
    transform: &RigidTransform<2>,
    side: Side,
    reach: f64,
    edges: &mut Vec<Edge<'a>>,
) {
    let Side { is_inside, level } = side;
    match shape.kind() {
        Kind::Union(shapes) | Kind::Intersection(shapes) => {
            shapes.iter().for_each(|shape| collect(shape, transform, side, reach, edges));
        }
        Kind::Complement(shape) => {
            collect(shape, transform, Side { is_inside: !is_inside, level: -level }, reach, edges);
        }
        Kind::Transformed { transform: own, shape } => {
            collect(shape, &transform.after(own), side, reach, edges);
        }
        Kind::Shell { shape, half_thickness } => {
            let by = half_thickness + level;
            collect(shape, transform, Side { is_inside, level: by }, reach, edges);
            collect(shape, transform, Side { is_inside: !is_inside, level: -by }, reach, edges);
        }
        _ => edges.extend(curves(shape, level, reach).into_iter().map(|curve| Edge {
            curve,
            transform: *transform,
            is_reversed: !is_inside,
            of: shape,
            level,
        })),
    }
}

/// The edge of the points that are at most at a distance from a primitive.
fn curves(shape: &Shape<2>, level: f64, reach: f64) -> Vec<Curve<'_>> {
    if let Kind::Polygon(polygon) = shape.kind() {
        return edges_of_polygon(polygon, level);
    }
    match *shape.kind() {
        Kind::Sphere { centre, radius } => rounded(&[centre], radius + level),
        Kind::Ellipsoid { centre, radii } => {
            vec![Curve::Arc { centre, radii, angles: [0.0, TAU], beyond: level }]
        }
        Kind::Capsule { start, end, radius } if start == end => rounded(&[start], radius + level),
        Kind::Capsule { start, end, radius } => rounded(&[start, end], radius + level),
        Kind::Box { centre, half_extents } => rectangle(centre, [1.0, 0.0], half_extents, level),
        Kind::Cylinder { centre, axis, half_length, radius } => {
            rectangle(centre, axis, [half_length, radius], level)
        }
        Kind::HalfSpace { point, normal } => {
            let along = [-normal[1], normal[0]];
            let end = |far: f64| [0, 1].map(|a| point[a] + level * normal[a] + far * reach * along[a]);
            vec![Curve::Segment(end(-4.0), end(4.0))]
        }
        // Meshes are in space, and samples are of meshes.
        _ => Vec::new(),
    }
}

/// The edge of the points that are at most at a distance from a polygon. Where it has edges that others cut off, they are no part of the outline, as with all shapes.
fn edges_of_polygon(polygon: &Polygon, level: f64) -> Vec<Curve<'_>> {
    let corners = polygon.corners();
    let count = corners.len();
    let along = |k: usize| {
        let (a, b) = (corners[k % count], corners[(k + 1) % count]);
        unit([b[0] - a[0], b[1] - a[1]])
    };
    // By how much the edge after a corner turns to the left of that before it.
    let turn = |k: usize| {
        let (before, after) = (along(k + count - 1), along(k));
        let (sin, cos) =
            (before[0] * after[1] - before[1] * after[0], before[0] * after[0] + before[1] * after[1]);
        sin.atan2(cos)
    };
    if level == 0.0 {
        let sharp: Vec<usize> = (0..count).filter(|&k| turn(k).abs() > SMOOTH).collect();
        let Some(&last) = sharp.last() else { return vec![Curve::Chain { corners, first: 0, count }] };
        let before = std::iter::once(last).chain(sharp.iter().copied());
        let chain = |(first, next): (usize, usize)| Curve::Chain {
            corners,
            first,
            count: if next > first { next - first } else { next + count - first },
        };
        return before.zip(sharp.iter().copied()).map(chain).collect();
    }
    let mut curves = Vec::new();
    for k in 0..count {
        let [tx, ty] = along(k);
        let beside = |x: [f64; 2]| [x[0] + level * ty, x[1] - level * tx];
        curves.push(Curve::Segment(beside(corners[k]), beside(corners[(k + 1) % count])));
        // Round about the corner, on the side where the edges leave room.
        if turn(k) * level > 0.0 {
            let [bx, by] = along(k + count - 1);
            let from = (-bx).atan2(by);
            let angles = [from, from + turn(k)];
            let (radii, beyond) = ([level.abs(); 2], level - level.abs());
            curves.push(Curve::Arc { centre: corners[k], radii, angles, beyond });
        }
    }
    curves
}

/// The edge of an oriented rectangle, rounded outside of it.
fn rectangle(centre: [f64; 2], axis: [f64; 2], half: [f64; 2], level: f64) -> Vec<Curve<'static>> {
    let half = if level < 0.0 { half.map(|x| x + level) } else { half };
    if half.iter().any(|&x| x <= 0.0) {
        return Vec::new();
    }
    let corner = |[i, j]: [f64; 2]| {
        let (along, across) = (i * half[0], j * half[1]);
        [centre[0] + along * axis[0] - across * axis[1], centre[1] + along * axis[1] + across * axis[0]]
    };
    let corners = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]].map(corner);
    rounded(&corners, level.max(0.0))
}

/// The edge of what is within a radius of a convex polygon, counter-clockwise; or of a segment or a point.
fn rounded(corners: &[[f64; 2]], radius: f64) -> Vec<Curve<'static>> {
    if radius < 0.0 {
        return Vec::new();
    }
    if let &[centre] = corners {
        return vec![Curve::Arc { centre, radii: [radius; 2], angles: [0.0, TAU], beyond: 0.0 }];
    }
    let n = corners.len();
    let outward = |k: usize| {
        let (a, b) = (corners[k % n], corners[(k + 1) % n]);
        unit([b[1] - a[1], a[0] - b[0]])
    };
    let mut curves = Vec::new();
    for k in 0..n {
        let normal = outward(k);
        let beside = |x: [f64; 2]| [x[0] + radius * normal[0], x[1] + radius * normal[1]];
        curves.push(Curve::Segment(beside(corners[k]), beside(corners[(k + 1) % n])));
        if radius > 0.0 {
            let next = outward(k + 1);
            let from = normal[1].atan2(normal[0]);
            let turn = (next[1].atan2(next[0]) - from).rem_euclid(TAU);
            let (centre, radii) = (corners[(k + 1) % n], [radius; 2]);
            curves.push(Curve::Arc { centre, radii, angles: [from, from + turn], beyond: 0.0 });
        }
    }
    curves
}

/// A part of an edge that belongs to the outline.
#[derive(Clone, Copy)]
struct Part {
    edge: usize,
    from: f64,
    to: f64,
    start: [f64; 2],
    end: [f64; 2],
}

impl Part {
    fn at(&self, edges: &[Edge], along: f64) -> ([f64; 2], [f64; 2]) {
        edges[self.edge].at(self.from + along * (self.to - self.from))
    }

    fn length(&self, edges: &[Edge]) -> f64 {
        let points: Vec<[f64; 2]> = (0..=LOOKS).map(|k| self.at(edges, k as f64 / LOOKS as f64).0).collect();
        points.windows(2).map(|pair| distance(pair[0], pair[1])).sum()
    }
}

/// The parts of an edge with the shape on one side of them alone. Of edges that lie on each other the first counts.
fn parts_of(shape: &Shape<2>, edges: &[Edge], number: usize, beside: f64) -> Vec<Part> {
    let edge = &edges[number];
    let belongs = |along: f64| {
        let (point, normal) = edge.at(along);
        let [within, without] =
            [-beside, beside].map(|off| [point[0] + off * normal[0], point[1] + off * normal[1]]);
        let is_same =
            |other: &Edge| other.distance(within) < -0.5 * beside && other.distance(without) > 0.5 * beside;
        // Parts of the edge of one primitive do not lie on each other.
        let is_known = edges[..number].iter().any(|other| !std::ptr::eq(other.of, edge.of) && is_same(other));
        shape.signed_distance(within) < 0.0 && shape.signed_distance(without) > 0.0 && !is_known
    };
    let looks: Vec<bool> = (0..LOOKS).map(|k| belongs((k as f64 + 0.5) / LOOKS as f64)).collect();
    let mut parts = Vec::new();
    let mut from = looks[0].then_some(0.0);
    for k in 1..LOOKS {
        if looks[k] != looks[k - 1] {
            let at = change(&belongs, (k as f64 - 0.5) / LOOKS as f64, (k as f64 + 0.5) / LOOKS as f64);
            match from.take() {
                Some(from) => parts.push((from, at)),
                None => from = Some(at),
            }
        }
    }
    parts.extend(from.map(|from| (from, 1.0)));
    let part = |(from, to)| Part { edge: number, from, to, start: edge.at(from).0, end: edge.at(to).0 };
    parts.into_iter().map(part).collect()
}

/// Where something changes between two places.
fn change(is: &impl Fn(f64) -> bool, mut from: f64, mut to: f64) -> f64 {
    let at_start = is(from);
    for _ in 0..48 {
        let middle = 0.5 * (from + to);
        if is(middle) == at_start { from = middle } else { to = middle }
    }
    0.5 * (from + to)
}

/// Closed loops of parts whose ends meet.
fn chained(mut parts: Vec<Part>, near: f64) -> Result<Vec<Vec<Part>>, OutlineError> {
    let mut loops = Vec::new();
    while let Some(first) = parts.pop() {
        let mut chain = vec![first];
        loop {
            let end = chain[chain.len() - 1].end;
            let next = (0..parts.len())
                .min_by(|&a, &b| distance(parts[a].start, end).total_cmp(&distance(parts[b].start, end)));
            let to_first = distance(first.start, end);
            match next.filter(|&k| distance(parts[k].start, end) < to_first.min(near)) {
                Some(next) => chain.push(parts.swap_remove(next)),
                None if to_first < near => break,
                None => return Err(OutlineError::Open),
            }
        }
        loops.push(chain);
    }
    if loops.is_empty() { Err(OutlineError::Open) } else { Ok(loops) }
}

/// The corners along an outline.
fn divided(outline: &[Part], edges: &[Edge], side: f64) -> Vec<[f64; 2]> {
    let count = outline.len();
    let is_corner = |k: usize| {
        let (before, after) =
            (outline[(k + count - 1) % count].at(edges, 1.0).1, outline[k].at(edges, 0.0).1);
        (before[0] * after[1] - before[1] * after[0]).abs() > SMOOTH
            || before[0] * after[0] + before[1] * after[1] < 0.0
    };
    let corners: Vec<bool> = (0..count).map(is_corner).collect();
    let mut points = Vec::new();
    let mut normals = Vec::new();
    for (k, part) in outline.iter().enumerate() {
        let least = if count == 1 { LEAST } else { 2 };
        let sides = ((part.length(edges) / side).ceil() as usize).max(least);
        for j in 0..sides {
            let along = spaced(j as f64 / sides as f64, corners[k], corners[(k + 1) % count]);
            let (point, normal) = part.at(edges, along);
            points.push(point);
            // Corners stay, and so do straight edges.
            let is_curved = !matches!(edges[part.edge].curve, Curve::Segment(..));
            normals.push(if is_curved && !(j == 0 && corners[k]) { normal } else { [0.0; 2] });
        }
    }
    grow(&mut points, &normals, area(outline, edges));
    points
}

/// Where a side begins: close to corners they are shorter.
fn spaced(part: f64, at_start: bool, at_end: bool) -> f64 {
    match (at_start, at_end) {
        (false, false) => part,
        (true, true) => 0.5 - 0.5 * (PI * part).cos(),
        (true, false) => 1.0 - (0.5 * PI * part).cos(),
        (false, true) => (0.5 * PI * part).sin(),
    }
}

/// Moves points along normals until they enclose an area.
fn grow(points: &mut [[f64; 2]], normals: &[[f64; 2]], wanted: f64) {
    // The area is quadratic in the way: Newton's method ends at once.
    for _ in 0..4 {
        let way: f64 = (0..points.len())
            .map(|k| {
                let (before, after) =
                    (points[(k + points.len() - 1) % points.len()], points[(k + 1) % points.len()]);
                0.5 * (normals[k][0] * (after[1] - before[1]) - normals[k][1] * (after[0] - before[0]))
            })
            .sum();
        if way <= 0.0 {
            return;
        }
        let by = (wanted - polygon_area(points)) / way;
        for (point, normal) in points.iter_mut().zip(normals) {
            *point = [point[0] + by * normal[0], point[1] + by * normal[1]];
        }
    }
}

fn area(outline: &[Part], edges: &[Edge]) -> f64 {
    const FINE: usize = 4096;
    let fine = |part: &Part| -> Vec<[f64; 2]> {
        let between = |count: usize| (0..count).map(|k| k as f64 / count as f64).collect();
        let mut places: Vec<f64> = match edges[part.edge].curve {
            Curve::Segment(..) => between(1),
            Curve::Arc { .. } => between(FINE),
            Curve::Chain { corners, first, count } => places_of_corners(corners, first, count)
                .into_iter()
                .map(|along| if edges[part.edge].is_reversed { 1.0 - along } else { along })
                .map(|along| (along - part.from) / (part.to - part.from))
                .filter(|along| *along > 0.0 && *along < 1.0)
                .chain([0.0])
                .collect(),
        };
        places.sort_by(f64::total_cmp);
        places.into_iter().map(|along| part.at(edges, along).0).collect()
    };
    polygon_area(&outline.iter().flat_map(fine).collect::<Vec<_>>())
}

fn polygon_area(points: &[[f64; 2]]) -> f64 {
    let twice = |k: usize| {
        let (a, b) = (points[k], points[(k + 1) % points.len()]);
        a[0] * b[1] - a[1] * b[0]
    };
    0.5 * (0..points.len()).map(twice).sum::<f64>()
}

fn distance(a: [f64; 2], b: [f64; 2]) -> f64 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}

fn unit(x: [f64; 2]) -> [f64; 2] {
    let length = x[0].hypot(x[1]);
    x.map(|component| component / length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Rotation;

    fn boxed(lower: [f64; 2], upper: [f64; 2]) -> Shape<2> {
        Shape::box_between(lower, upper).unwrap()
    }

    fn area_of(shape: &Shape<2>, side: f64) -> f64 {
        polygon_area(&outline(shape, side).unwrap())
    }

    #[test]
    fn outlines_enclose_the_area_of_their_shapes() {
        let disc = Shape::sphere([0.3, -0.2], 0.5).unwrap();
        assert!((area_of(&disc, 0.2) - PI * 0.25).abs() < 1e-6);
        let ellipse = Shape::ellipsoid([0.0; 2], [1.0, 0.05]).unwrap();
        assert!((area_of(&ellipse, 0.1) - PI * 0.05).abs() < 1e-6);
        let capsule = Shape::capsule([0.0; 2], [1.0, 1.0], 0.2).unwrap();
        assert!((area_of(&capsule, 0.1) - (PI * 0.04 + 0.4 * 2f64.sqrt())).abs() < 1e-6);
        let turned = RigidTransform { rotation: Rotation::from_angle(0.4).unwrap(), translation: [2.0, 1.0] };
        let tile = boxed([-1.0, -0.5], [1.0, 0.5]).transformed(turned).unwrap();
        assert!((area_of(&tile, 0.1) - 2.0).abs() < 1e-9);
    }

    #[test]
    fn polygons_keep_their_corners_and_smooth_ones_get_as_many_sides_as_asked_for() {
        let l = vec![[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [1.0, 1.0], [1.0, 2.0], [0.0, 2.0]];
        let l = Shape::polygon(Polygon::new(l).unwrap());
        let points = outline(&l, 0.1).unwrap();
        assert!((polygon_area(&points) - 3.0).abs() < 1e-12);
        for corner in [[0.0, 0.0], [1.0, 1.0], [2.0, 1.0]] {
            assert!(points.iter().any(|x| distance(*x, corner) < 1e-9), "{corner:?}");
        }
        let around = |k: usize| [(TAU * k as f64 / 200.0).cos(), (TAU * k as f64 / 200.0).sin()];
        let round = Shape::polygon(Polygon::new((0..200).map(around).collect()).unwrap());
        let points = outline(&round, 0.2).unwrap();
        assert_eq!(points.len(), 32);
        assert!((polygon_area(&points) - 100.0 * (TAU / 200.0).sin()).abs() < 1e-9);
        // A layer of .2 around the L: along its edges, a quarter of a disc at each of five corners, a square less at the sixth, and the same within.
        let shell = l.clone().shell(0.2).unwrap();
        assert!(matches!(outline(&shell, 0.1), Err(OutlineError::Several { count: 2 })));
        let grown = Shape::union(vec![l, shell]).unwrap();
        let expected = 3.0 + 0.1 * 8.0 + 5.0 * PI * 0.01 / 4.0 - 0.01;
        assert!((area_of(&grown, 0.1) - expected).abs() < 1e-6, "{} {expected}", area_of(&grown, 0.1));
    }

    #[test]
    fn booleans_and_shells_have_exact_corners() {
        let l = Shape::union(vec![boxed([0.0; 2], [2.0, 1.0]), boxed([0.0; 2], [1.0, 2.0])]).unwrap();
        assert!((area_of(&l, 0.1) - 3.0).abs() < 1e-6, "{}", area_of(&l, 0.1));
        let bitten = boxed([0.0; 2], [2.0, 1.0]).difference(Shape::sphere([1.0, 1.0], 0.5).unwrap());
        assert!((area_of(&bitten, 0.1) - (2.0 - PI / 8.0)).abs() < 1e-6);
        let open_ring = Shape::sphere([0.0; 2], 1.0)
            .unwrap()
            .shell(0.2)
            .unwrap()
            .difference(boxed([0.0, -0.1], [3.0, 0.1]));
        // The mouth is a strip of .2 between two arcs, longer by r (1 - sqrt(1 - .01 / r²)) within and without.
        let chord = |r: f64| r * r * (0.1f64 / r).asin() + 0.1 * (r * r - 0.01).sqrt();
        let expected = PI * (1.21 - 0.81) - (chord(1.1) - chord(0.9));
        assert!(
            (area_of(&open_ring, 0.1) - expected).abs() < 1e-5,
            "{} {expected}",
            area_of(&open_ring, 0.1)
        );
    }

    #[test]
    fn what_has_no_outline_of_its_own_is_refused() {
        let ring = Shape::sphere([0.0; 2], 1.0).unwrap().shell(0.2).unwrap();
        assert_eq!(outline(&ring, 0.1), Err(OutlineError::Several { count: 2 }));
        let plane = Shape::half_space([0.0; 2], [0.0, 1.0]).unwrap();
        assert_eq!(outline(&plane, 0.1), Err(OutlineError::Open));
        let speck = Shape::sphere([0.0; 2], 0.01).unwrap();
        assert!(matches!(outline(&speck, 0.1), Err(OutlineError::TooShort { .. })));
        assert!(matches!(outline(&speck, 1e-5), Err(OutlineError::TooMany { .. })));
    }
}

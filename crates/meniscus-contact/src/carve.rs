//! Convex pieces of unions, intersections, complements and shells.
//!
//! A shape is the set of points with a signed distance of at most zero. Such sets, for any level, follow the booleans:
//! that of a union is the union of those of its parts, and so on. Convex primitives are cut out of what is there by
//! the planes that touch them; their complement is cut into one piece for each plane, where that plane is the one that
//! a point violates most. What is round becomes a polytope that contains it.

use meniscus_core::shape::{Kind, RigidTransform, Shape};
use meniscus_core::vector::{add_scaled, dot, norm, sub};

use crate::pieces::padded;
use crate::polytope::{Plane, Polytope, across, unit};

/// A shape of more pieces is not worth it.
const MOST_PIECES: usize = 4000;
/// How far corners of a polytope may lie outside of what is round, in cells.
const ROUNDNESS: f64 = 0.1;
/// Pieces thinner than this are rounding, in cells.
const THINNEST: f64 = 1e-4;

/// The convex pieces of what a shape shares with a region. Nothing where there is a mesh in it, or too many pieces.
pub fn carve<const D: usize>(
    shape: &Shape<D>,
    placement: &RigidTransform<D>,
    region: Polytope,
    dx: f64,
) -> Option<Vec<Polytope>> {
    let mut pieces = Carver { dx }.part(shape, placement, Side { inside: true, level: 0.0 }, vec![region])?;
    pieces.retain(|piece| piece.thickness() > THINNEST * dx);
    Some(pieces)
}

/// The points with a signed distance of at most the level, or those with more.
#[derive(Clone, Copy)]
struct Side {
    inside: bool,
    level: f64,
}

struct Carver {
    dx: f64,
}

impl Carver {
    /// What the pieces share with one side of a shape.
    fn part<const D: usize>(
        &self,
        shape: &Shape<D>,
        placement: &RigidTransform<D>,
        side: Side,
        pieces: Vec<Polytope>,
    ) -> Option<Vec<Polytope>> {
        let Side { inside, level } = side;
        let found = match shape.kind() {
            Kind::Mesh(_) | Kind::Sampled(_) => None,
            // What is taken off each part of it is more than what is taken off the whole.
            Kind::Polygon(_) if level < 0.0 => None,
            Kind::Polygon(polygon) => {
                let parts = polygon.convex_parts();
                let mut bodies = parts.iter().filter_map(|part| polygon_part(part, placement, level));
                Some(match inside {
                    true => bodies.flat_map(|body| body.inside(&pieces)).collect(),
                    false => bodies.try_fold(pieces, |pieces, body| Some(body.outside(&pieces)))?,
                })
            }
            Kind::Complement(shape) => {
                self.part(shape, placement, Side { inside: !inside, level: -level }, pieces)
            }
            Kind::Transformed { transform, shape } => {
                self.part(shape, &placement.after(transform), side, pieces)
            }
            Kind::Union(shapes) if inside => self.any(shapes, placement, side, &pieces),
            Kind::Intersection(shapes) if !inside => self.any(shapes, placement, side, &pieces),
            Kind::Union(shapes) | Kind::Intersection(shapes) => {
                shapes.iter().try_fold(pieces, |pieces, shape| self.part(shape, placement, side, pieces))
            }
            Kind::Shell { shape, half_thickness } => {
                let reach = half_thickness + level;
                let (outer, inner) = (Side { inside, level: reach }, Side { inside: !inside, level: -reach });
                if reach < 0.0 {
                    Some(if inside { Vec::new() } else { pieces })
                } else if inside {
                    let within = self.part(shape, placement, outer, pieces)?;
                    self.part(shape, placement, inner, within)
                } else {
                    let mut beyond = self.part(shape, placement, outer, pieces.clone())?;
                    beyond.extend(self.part(shape, placement, inner, pieces)?);
                    Some(beyond)
                }
            }
            _ => Some(match self.primitive(shape, placement, level) {
                Some(body) if inside => body.inside(&pieces),
                Some(body) => body.outside(&pieces),
                None if inside => Vec::new(),
                None => pieces,
            }),
        };
        found.filter(|pieces| pieces.len() <= MOST_PIECES)
    }

    /// What the pieces share with any of the shapes.
    fn any<const D: usize>(
        &self,
        shapes: &[Shape<D>],
        placement: &RigidTransform<D>,
        side: Side,
        pieces: &[Polytope],
    ) -> Option<Vec<Polytope>> {
        let mut found = Vec::new();
        for shape in shapes {
            found.extend(self.part(shape, placement, side, pieces.to_vec())?);
        }
        Some(found)
    }

    /// A primitive, grown by `level`; nothing where nothing is left of it.
    fn primitive<const D: usize>(
        &self,
        shape: &Shape<D>,
        placement: &RigidTransform<D>,
        level: f64,
    ) -> Option<Convex> {
        let point = |x: [f64; D]| padded(placement.apply(x));
        let vector = |x: [f64; D]| padded(placement.rotation.apply(x));
        match shape.kind() {
            Kind::Box { centre, half_extents } => {
                let axis = |a: usize| vector(std::array::from_fn(|b| if a == b { 1.0 } else { 0.0 }));
                let axes = (0..D).map(|a| (axis(a), half_extents[a] + level));
                Convex::around(point(*centre), both_ways(axes))
            }
            Kind::Sphere { centre, radius } => {
                let directions = self.directions::<D>(radius + level, [0.0, 1.0, 0.0]);
                Convex::around(point(*centre), directions.into_iter().map(|n| (n, radius + level)))
            }
            Kind::Ellipsoid { centre, radii } => {
                // Planes that touch a ball touch it still when it is stretched.
                let directions = self.directions::<D>(longest(radii) + level, [0.0, 1.0, 0.0]);
                let reach = |direction: [f64; 3]| {
                    let normal: [f64; D] = std::array::from_fn(|a| direction[a] / radii[a]);
                    let length = norm(normal);
                    (vector(normal.map(|x| x / length)), 1.0 / length + level)
                };
                Convex::around(point(*centre), directions.into_iter().map(reach))
            }
            Kind::Capsule { start, end, radius } => {
                let along = sub(point(*end), point(*start)).map(|x| 0.5 * x);
                let axis = if norm(along) > 0.0 { unit(along) } else { [0.0, 1.0, 0.0] };
                let directions = self.directions::<D>(radius + level, axis);
                let reach = |n| (n, dot(n, along).abs() + radius + level);
                Convex::around(add_scaled(point(*start), 1.0, along), directions.into_iter().map(reach))
            }
            Kind::Cylinder { centre, axis, half_length, radius } => {
                let axis = vector(*axis);
                let ends = both_ways([(axis, half_length + level)]);
                let side = self.ring::<D>(radius + level, axis).into_iter().map(|n| (n, radius + level));
                Convex::around(point(*centre), ends.chain(side))
            }
            Kind::HalfSpace { point: foot, normal } => {
                let normal = vector(*normal);
                let plane = Plane { normal, offset: dot(normal, point(*foot)) + level };
                Some(Convex { centre: point(*foot), planes: vec![plane] })
            }
            _ => None,
        }
    }

    fn directions<const D: usize>(&self, radius: f64, axis: [f64; 3]) -> Vec<[f64; 3]> {
        all_around::<D>(self.division::<D>(radius), axis)
    }

    /// Directions at right angles to an axis.
    fn ring<const D: usize>(&self, radius: f64, axis: [f64; 3]) -> Vec<[f64; 3]> {
        if D == 2 {
            let side = perpendicular(axis);
            return vec![side, side.map(|x| -x)];
        }
        let [u, v] = across(axis);
        let count = 8 * self.division::<2>(radius);
        let angle = |k: i64| std::f64::consts::TAU * k as f64 / count as f64;
        (0..count).map(|k| add_scaled(u.map(|x| angle(k).cos() * x), angle(k).sin(), v)).collect()
    }

    fn division<const D: usize>(&self, radius: f64) -> i64 {
        let half_angle = (2.0 * ROUNDNESS * self.dx / radius.max(self.dx)).sqrt();
        let most = if D == 2 { 12 } else { 4 };
        ((std::f64::consts::FRAC_PI_8 / half_angle).ceil() as i64).clamp(2, most)
    }
}

/// A convex part of a polygon, grown by `level`.
fn polygon_part<const D: usize>(
    part: &[[f64; 2]],
    placement: &RigidTransform<D>,
    level: f64,
) -> Option<Convex> {
    let corners: Vec<[f64; 3]> =
        part.iter().map(|x| padded(placement.apply(std::array::from_fn(|a| x[a.min(1)])))).collect();
    let share = 1.0 / corners.len() as f64;
    let centre = corners.iter().fold([0.0; 3], |sum, x| add_scaled(sum, share, *x));
    let edges = corners.iter().zip(corners.iter().cycle().skip(1));
    Convex::around(
        centre,
        edges.map(|(a, b)| {
            let normal = unit(perpendicular(sub(*a, *b)));
            (normal, dot(normal, sub(*a, centre)) + level)
        }),
    )
}

/// Directions all around, `8 n` in a plane that holds the axis: the points of a cube's grid, seen from its middle.
fn all_around<const D: usize>(n: i64, axis: [f64; 3]) -> Vec<[f64; 3]> {
    let [u, v] = if D == 2 { [perpendicular(axis), [0.0; 3]] } else { across(axis) };
    let warped = |i: i64| (std::f64::consts::FRAC_PI_4 * i as f64 / n as f64).tan();
    let depth = if D == 2 { 0 } else { n };
    let mut directions = Vec::new();
    for i in -n..=n {
        for j in -n..=n {
            for k in -depth..=depth {
                if i.abs().max(j.abs()).max(k.abs()) == n {
                    let across = add_scaled(u.map(|x| warped(j) * x), warped(k), v);
                    directions.push(unit(add_scaled(across, warped(i), axis)));
                }
            }
        }
    }
    directions
}

/// Points of the surface of an ellipsoid whose hull rolls: those of a ball, stretched. Faces lie half a hundredth of its longest radius
/// inside in 3D, and a twentieth of that in 2D.
pub fn points_of_ellipsoid<const D: usize>(centre: [f64; D], radii: [f64; D]) -> Vec<[f64; D]> {
    let n = if D == 2 { 24 } else { 8 };
    let stretched = |direction: [f64; 3]| std::array::from_fn(|a| centre[a] + radii[a] * direction[a]);
    all_around::<D>(n, [0.0, 1.0, 0.0]).into_iter().map(stretched).collect()
}

fn longest<const D: usize>(lengths: &[f64; D]) -> f64 {
    lengths.iter().fold(0.0, |longest, length| length.max(longest))
}

fn perpendicular([x, y, _]: [f64; 3]) -> [f64; 3] {
    [-y, x, 0.0]
}

fn both_ways(axes: impl IntoIterator<Item = ([f64; 3], f64)>) -> impl Iterator<Item = ([f64; 3], f64)> {
    axes.into_iter().flat_map(|(axis, reach)| [(axis, reach), (axis.map(|x| -x), reach)])
}

/// What lies behind all of the planes, and a point of it.
struct Convex {
    centre: [f64; 3],
    planes: Vec<Plane>,
}

impl Convex {
    /// By directions and how far the centre is from the planes along them.
    fn around(centre: [f64; 3], reaches: impl Iterator<Item = ([f64; 3], f64)>) -> Option<Self> {
        let mut planes = Vec::new();
        for (normal, reach) in reaches {
            if reach <= 0.0 {
                return None;
            }
            planes.push(Plane { normal, offset: dot(normal, centre) + reach });
        }
        Some(Self { centre, planes })
    }

    fn inside(&self, pieces: &[Polytope]) -> Vec<Polytope> {
        pieces.iter().filter_map(|piece| piece.clipped_by(self.planes.iter().copied())).collect()
    }

    /// One piece for each plane, of what violates it the most, measured by how far the centre is from it.
    fn outside(&self, pieces: &[Polytope]) -> Vec<Polytope> {
        let reach = |plane: &Plane| plane.offset - dot(plane.normal, self.centre);
        let mut found = Vec::new();
        for piece in pieces {
            for (index, plane) in self.planes.iter().enumerate() {
                let Some(beyond) = piece.clipped(&plane.flipped()) else { continue };
                let violated = plane.normal.map(|x| x / reach(plane));
                let others = self.planes.iter().enumerate().filter(|(other, _)| *other != index);
                let borders = others.map(|(_, other)| {
                    let normal = sub(other.normal.map(|x| x / reach(other)), violated);
                    Plane { normal, offset: dot(normal, self.centre) }
                });
                found.extend(beyond.clipped_by(borders));
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use meniscus_core::shape::{Bounds, Polygon, Rotation};

    use super::*;

    fn contains(piece: &Polytope, point: [f64; 3]) -> bool {
        piece.faces().all(|face| {
            let normal = face[1..].windows(2).fold([0.0; 3], |sum, pair| {
                let (a, b) = (sub(pair[0], face[0]), sub(pair[1], face[0]));
                add_scaled(sum, 1.0, crate::polytope::cross(a, b))
            });
            dot(normal, sub(point, face[0])) <= 1e-9
        })
    }

    /// The pieces hold the points with a negative distance and no others, but for `blur` cells about the surface.
    fn assert_cut<const D: usize>(shape: &Shape<D>, most: usize, blur: f64) {
        let dx = 0.04;
        let mut corners = [[-1.0; 3], [1.0; 3]];
        if D == 2 {
            (corners[0][2], corners[1][2]) = (-0.5, 0.5);
        }
        let region = Polytope::cuboid(corners[0], corners[1]);
        let pieces = carve(shape, &RigidTransform::IDENTITY, region, dx).expect("pieces");
        assert!(!pieces.is_empty() && pieces.len() <= most, "{} pieces", pieces.len());
        let mut checked = [0, 0];
        let mut seed = 7_u64;
        for _ in 0..4000 {
            let point: [f64; D] = std::array::from_fn(|_| {
                seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                ((seed >> 11) as f64 / (1_u64 << 52) as f64 - 1.0) * 0.999
            });
            let distance = shape.signed_distance(point);
            if distance.abs() > blur * dx {
                let held = pieces.iter().any(|piece| contains(piece, padded(point)));
                assert_eq!(held, distance < 0.0, "at {point:?}, {distance} from {shape:?}");
                checked[usize::from(held)] += 1;
            }
        }
        assert!(checked.iter().all(|count| *count > 10), "{checked:?}");
    }

    fn turned<const D: usize>(shape: Shape<D>) -> Shape<D> {
        let rotation = Rotation::identity().turned([0.3, -0.5, 0.7]);
        let translation = std::array::from_fn(|a| [0.1, -0.05, 0.07][a]);
        shape.transformed(RigidTransform { rotation, translation }).unwrap()
    }

    fn cut_everything<const D: usize>(round: usize) {
        let cube = |half: f64| Shape::<D>::centred_box([0.0; D], [half; D]).unwrap();
        let ball = |radius: f64| Shape::<D>::sphere([0.0; D], radius).unwrap();
        let top = |y: f64| {
            let mut end = [0.0; D];
            end[1] = y;
            end
        };
        let egg = Shape::ellipsoid([0.05; D], std::array::from_fn(|a| [0.7, 0.4, 0.55][a])).unwrap();
        let capsule = |radius| Shape::capsule(top(-0.3), top(0.3), radius).unwrap();
        let cylinder = |low, radius| Shape::cylinder(top(low), top(0.5), radius).unwrap();
        let (walls, sharp, smooth) = (2 * D, 1e-4, 0.2);
        if D == 2 {
            let corners = vec![[-0.8, -0.7], [0.7, -0.6], [0.1, 0.0], [0.6, 0.8], [-0.6, 0.7]];
            let polygon = Shape::<2>::polygon(Polygon::new(corners).unwrap());
            let polygon: &dyn std::any::Any = &polygon;
            let polygon: &Shape<D> = polygon.downcast_ref().unwrap();
            assert_cut(&turned(polygon.clone().difference(ball(0.3))), 60, 0.6);
            assert_cut(&turned(polygon.clone()).complement(), 12, sharp);
        }
        assert_cut(&turned(cube(0.6).difference(cube(0.5))), walls, sharp);
        assert_cut(&turned(cube(0.6)).complement(), walls, sharp);
        assert_cut(&turned(cube(0.6).shell(0.1).unwrap()), walls, 0.6);
        assert_cut(&turned(ball(0.6).shell(0.1).unwrap()), round, smooth);
        assert_cut(&ball(0.8).complement(), round, smooth);
        assert_cut(&turned(egg.clone().shell(0.1).unwrap()), round, smooth);
        assert_cut(&turned(egg).complement(), round, smooth);
        assert_cut(&turned(capsule(0.5).difference(capsule(0.4))), round, smooth);
        assert_cut(&turned(cylinder(-0.5, 0.5).difference(cylinder(-0.4, 0.4))), 100, smooth);
        assert_cut(&cube(0.9).difference(turned(cube(0.4))).difference(cylinder(-0.9, 0.2)), 200, smooth);
        assert_cut(
            &Shape::intersection(vec![
                turned(cube(0.6)),
                ball(0.7),
                Shape::half_space(top(0.1), top(1.0)).unwrap(),
            ])
            .unwrap(),
            1,
            smooth,
        );
        assert_cut(
            &Shape::union(vec![turned(cube(0.4)), capsule(0.3)]).unwrap().complement(),
            20 * round,
            smooth,
        );
        assert_cut(&Shape::union(vec![turned(cube(0.4)), cube(0.4)]).unwrap().shell(0.1).unwrap(), 200, 0.8);
    }

    #[test]
    fn pieces_make_up_the_shape() {
        cut_everything::<2>(100);
        cut_everything::<3>(400);
    }

    #[test]
    fn nothing_is_left_of_what_is_thinner_than_its_shell_is_wide() {
        let plate = Shape::<2>::centred_box([0.0; 2], [0.5, 0.04]).unwrap().shell(0.1).unwrap();
        let Bounds { lower, upper } = plate.bounds();
        assert_eq!((lower[1], upper[1]), (-0.09, 0.09));
        assert_cut(&plate, 1, 1.0);
    }
}

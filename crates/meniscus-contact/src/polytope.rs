//! Convex polyhedra, cut by planes.

use meniscus_core::vector::{add_scaled, dot, norm, sub};

/// What lies behind a plane: `normal · x <= offset`, with a normal of any length but zero.
#[derive(Clone, Copy, Debug)]
pub struct Plane {
    pub normal: [f64; 3],
    pub offset: f64,
}

impl Plane {
    /// What lies before the plane.
    pub fn flipped(&self) -> Self {
        Self { normal: self.normal.map(|x| -x), offset: -self.offset }
    }

    fn height(&self, point: [f64; 3]) -> f64 {
        dot(self.normal, point) - self.offset
    }
}

/// A convex polyhedron by its faces, each of which runs counter-clockwise seen from outside.
#[derive(Clone, Debug)]
pub struct Polytope {
    faces: Vec<Vec<[f64; 3]>>,
    /// Points that are as near to each other as this are one.
    tolerance: f64,
}

impl Polytope {
    /// The box between two corners.
    pub fn cuboid(lower: [f64; 3], upper: [f64; 3]) -> Self {
        let corner = |index: usize| -> [f64; 3] {
            std::array::from_fn(|a| if index >> a & 1 == 0 { lower[a] } else { upper[a] })
        };
        let indices = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
        let faces = indices.iter().map(|face| face.map(corner).to_vec()).collect();
        Self { faces, tolerance: 1e-11 * norm(sub(upper, lower)) }
    }

    /// The part behind a plane, if there is any.
    pub fn clipped(&self, plane: &Plane) -> Option<Self> {
        let tolerance = self.tolerance * norm(plane.normal);
        let heights = || self.points().map(|x| plane.height(x));
        if heights().all(|height| height <= tolerance) {
            return Some(self.clone());
        }
        if heights().all(|height| height >= -tolerance) {
            return None;
        }
        let (mut faces, mut rim) = (Vec::new(), Vec::new());
        for face in &self.faces {
            let kept = clip_face(face, plane, tolerance, &mut rim);
            if kept.len() >= 3 {
                faces.push(kept);
            }
        }
        let cap = ordered(rim, plane.normal, self.tolerance);
        if cap.len() >= 3 {
            faces.push(cap);
        }
        Some(Self { faces, tolerance: self.tolerance })
    }

    /// The part behind all of the planes.
    pub fn clipped_by(&self, planes: impl IntoIterator<Item = Plane>) -> Option<Self> {
        planes.into_iter().try_fold(self.clone(), |part, plane| part.clipped(&plane))
    }

    /// Three times the volume over the surface: the radius of a ball, about half of the thickness of a plate.
    pub fn thickness(&self) -> f64 {
        let (mut volume, mut area) = (0.0, 0.0);
        let middle = self.faces[0][0];
        for face in &self.faces {
            for pair in face[1..].windows(2) {
                let normal = cross(sub(pair[0], face[0]), sub(pair[1], face[0]));
                volume += dot(normal, sub(face[0], middle)) / 6.0;
                area += 0.5 * norm(normal);
            }
        }
        3.0 * volume / area
    }

    /// All corners, each once.
    pub fn corners(&self) -> Vec<[f64; 3]> {
        let mut corners: Vec<[f64; 3]> = Vec::new();
        for point in self.points() {
            if corners.iter().all(|known| norm(sub(*known, point)) > 10.0 * self.tolerance) {
                corners.push(point);
            }
        }
        corners
    }

    #[cfg(test)]
    pub fn faces(&self) -> impl Iterator<Item = &Vec<[f64; 3]>> {
        self.faces.iter()
    }

    fn points(&self) -> impl Iterator<Item = [f64; 3]> {
        self.faces.iter().flatten().copied()
    }
}

/// What a plane leaves of a face; what lies in the plane is added to the rim.
fn clip_face(face: &[[f64; 3]], plane: &Plane, tolerance: f64, rim: &mut Vec<[f64; 3]>) -> Vec<[f64; 3]> {
    let mut kept = Vec::new();
    for (index, &from) in face.iter().enumerate() {
        let to = face[(index + 1) % face.len()];
        let (here, next) = (plane.height(from), plane.height(to));
        if here <= tolerance {
            kept.push(from);
        }
        if here.abs() <= tolerance {
            rim.push(from);
        } else if next.abs() > tolerance && (here > 0.0) != (next > 0.0) {
            let crossing = add_scaled(from, here / (here - next), sub(to, from));
            kept.push(crossing);
            rim.push(crossing);
        }
    }
    kept
}

/// The corners of a convex polygon in their order, counter-clockwise about the normal.
fn ordered(points: Vec<[f64; 3]>, normal: [f64; 3], tolerance: f64) -> Vec<[f64; 3]> {
    let mut corners: Vec<[f64; 3]> = Vec::new();
    for point in points {
        if corners.iter().all(|known| norm(sub(*known, point)) > 10.0 * tolerance) {
            corners.push(point);
        }
    }
    if corners.len() < 3 {
        return Vec::new();
    }
    let centre =
        corners.iter().fold([0.0; 3], |sum, corner| add_scaled(sum, 1.0 / corners.len() as f64, *corner));
    let [u, v] = across(normal);
    let angle = |point: &[f64; 3]| {
        let offset = sub(*point, centre);
        dot(offset, v).atan2(dot(offset, u))
    };
    corners.sort_by(|a, b| angle(a).total_cmp(&angle(b)));
    corners
}

/// Two unit vectors that make a right-handed frame with a normal.
pub fn across(normal: [f64; 3]) -> [[f64; 3]; 2] {
    let smallest = (1..3).fold(0, |s, a| if normal[a].abs() < normal[s].abs() { a } else { s });
    let mut axis = [0.0; 3];
    axis[smallest] = 1.0;
    let u = unit(cross(axis, normal));
    [u, unit(cross(normal, u))]
}

pub fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3])
}

pub fn unit(vector: [f64; 3]) -> [f64; 3] {
    let length = norm(vector);
    vector.map(|x| x / length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cube_without_a_corner() {
        let cube = Polytope::cuboid([0.0; 3], [1.0; 3]);
        assert!((cube.thickness() - 0.5).abs() < 1e-15);
        let plane = Plane { normal: [1.0; 3], offset: 2.5 };
        let cut = cube.clipped(&plane).unwrap();
        assert_eq!(cut.corners().len(), 10);
        // A corner with edges of one half is missing: 1/48 of the volume, three triangles of 1/8 for one of √3/8.
        let expected = 3.0 * (1.0 - 1.0 / 48.0) / (6.0 - 3.0 / 8.0 + 3.0_f64.sqrt() / 8.0);
        assert!((cut.thickness() - expected).abs() < 1e-14, "{} {expected}", cut.thickness());
        assert_eq!(cube.clipped(&plane.flipped()).unwrap().corners().len(), 4);
    }

    #[test]
    fn planes_through_corners_and_edges_cut_cleanly() {
        let cube = Polytope::cuboid([-1.0; 3], [1.0; 3]);
        let half = cube.clipped(&Plane { normal: [1.0, 1.0, 0.0], offset: 0.0 }).unwrap();
        assert_eq!(half.corners().len(), 6);
        assert!(cube.clipped(&Plane { normal: [1.0, 1.0, 0.0], offset: -2.0 }).is_none());
        let same = cube.clipped(&Plane { normal: [1.0, 1.0, 1.0], offset: 3.0 }).unwrap();
        assert_eq!(same.corners().len(), 8);
    }
}

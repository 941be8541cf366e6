//! Tets that share an apex: what smoothing, collapses and insertions choose a place for.

use meniscus_core::vector::{add_scaled, cross, dot, norm, sub};

use super::{Editor, GAIN, VOLUME_TOLERANCE, faces_alike};
use crate::complex::{CavityTet, StarStrata};
use crate::container::{distance, push_orthonormal, without};
use crate::predicates::is_positive;
use crate::quality::{quality, quality_gradient, volume};

/// A face of the base: the apex and then its vertices are in positive order.
#[derive(Clone, Copy, Debug)]
struct BaseFace {
    vertices: [u32; 3],
    label: u8,
    now: [[f64; 3]; 3],
    /// Where the vertices will be at the end of the motion.
    end: Option<[[f64; 3]; 3]>,
}

impl BaseFace {
    /// The quality of the tet with the apex at `x`, or if it is worse that at the end of the motion.
    fn measure(&self, x: [f64; 3], way: [f64; 3]) -> f64 {
        let now = quality(with_apex(x, self.now));
        self.end.map_or(now, |base| now.min(quality(with_apex(add_scaled(x, 1.0, way), base))))
    }
}

/// The faces that an apex is joined to, and how the apex is judged.
#[derive(Clone, Debug)]
pub(super) struct Cone {
    base: Vec<BaseFace>,
    /// How far the apex will move.
    way: [f64; 3],
    /// Faces of interfaces and walls at the apex: where its corner was, and the two others.
    sheets: Vec<[[f64; 3]; 3]>,
}

/// The places that keep the volume of every label, and the apex on its walls: orthonormal directions that are
/// fixed, and a point.
#[derive(Clone, Debug)]
pub(super) struct Leeway {
    fixed: Vec<[f64; 3]>,
    origin: [f64; 3],
}

impl Leeway {
    /// The nearest place that is allowed.
    pub fn project(&self, x: [f64; 3]) -> [f64; 3] {
        add_scaled(self.origin, 1.0, self.tangent(sub(x, self.origin)))
    }

    /// A direction without its forbidden part.
    pub fn tangent(&self, direction: [f64; 3]) -> [f64; 3] {
        without(direction, &self.fixed)
    }

    /// In how many directions the apex may move.
    pub fn dimension(&self) -> usize {
        3 - self.fixed.len()
    }
}

impl Cone {
    /// A cone over faces with labels.
    pub fn new(editor: &Editor<'_>, base: &[([u32; 3], u8)], way: [f64; 3]) -> Self {
        let face = |&(vertices, label): &([u32; 3], u8)| BaseFace {
            vertices,
            label,
            now: vertices.map(|v| editor.complex.position(v)),
            end: (!editor.ahead.is_empty()).then(|| vertices.map(|v| editor.end_of(v))),
        };
        Self { base: base.iter().map(face).collect(), way, sheets: Vec::new() }
    }

    /// The star of a vertex as a cone.
    pub fn of_star(editor: &Editor<'_>, vertex: u32, star: &[u32]) -> Self {
        let base: Vec<_> =
            star.iter().map(|&t| (editor.complex.link_face(t, vertex), editor.complex.label(t))).collect();
        Self::new(editor, &base, editor.way(vertex))
    }

    /// Holds the apex to the sheets of a vertex that it stands for, but for those with some other vertex.
    pub fn hold_sheets(
        &mut self,
        editor: &Editor<'_>,
        vertex: u32,
        strata: &StarStrata,
        without: Option<u32>,
    ) {
        for &(others, _) in &strata.faces {
            if others.iter().all(|&v| Some(v) != without) {
                let [p, q] = others.map(|v| editor.complex.position(v));
                self.sheets.push([editor.complex.position(vertex), p, q]);
            }
        }
    }

    /// The tets, as a proposal.
    pub fn tets(&self, apex: u32) -> Vec<CavityTet> {
        let tet = |f: &BaseFace| ([apex, f.vertices[0], f.vertices[1], f.vertices[2]], f.label);
        self.base.iter().map(tet).collect()
    }

    /// The mean distance of the base from a point.
    pub fn radius(&self, x: [f64; 3]) -> f64 {
        let sum: f64 = self.base.iter().flat_map(|f| f.now).map(|p| distance(p, x)).sum();
        sum / (3 * self.base.len()) as f64
    }

    /// The longest edge that an apex at `x` would have.
    pub fn reach(&self, x: [f64; 3]) -> f64 {
        self.base.iter().flat_map(|f| f.now).map(|p| distance(p, x)).fold(0.0, f64::max)
    }

    /// The mean of the base's vertices, each as often as it has faces.
    pub fn centre(&self) -> [f64; 3] {
        let count = (3 * self.base.len()) as f64;
        let sum = self.base.iter().flat_map(|f| f.now).fold([0.0; 3], |s, p| add_scaled(s, 1.0, p));
        sum.map(|c| c / count)
    }

    /// The worst quality of the tets with the apex at `x`, now and at the end of the motion.
    pub fn worst(&self, x: [f64; 3]) -> f64 {
        self.base.iter().map(|f| f.measure(x, self.way)).fold(f64::INFINITY, f64::min)
    }

    /// Whether all tets with the apex at `x` are at least this good.
    pub fn reaches(&self, x: [f64; 3], least: f64) -> bool {
        self.base.iter().all(|f| f.measure(x, self.way) >= least)
    }

    /// The face whose tet with the apex at `x` is worst, of those that `among` is true for.
    pub fn worst_face(&self, x: [f64; 3], among: impl Fn(usize) -> bool) -> Option<usize> {
        let measure = |&i: &usize| self.base[i].measure(x, self.way);
        (0..self.base.len()).filter(|&i| among(i)).min_by(|i, j| measure(i).total_cmp(&measure(j)))
    }

    /// Whether all tets with the apex at `x` are exactly positive.
    pub fn is_positive(&self, x: [f64; 3]) -> bool {
        self.base.iter().all(|f| is_positive(with_apex(x, f.now)))
    }

    /// The volume of each label with the apex at `x`.
    pub fn volumes(&self, x: [f64; 3]) -> Vec<(u8, f64)> {
        let mut volumes: Vec<(u8, f64)> = Vec::with_capacity(2);
        for face in &self.base {
            let part = volume(with_apex(x, face.now));
            match volumes.iter_mut().find(|v| v.0 == face.label) {
                Some(v) => v.1 += part,
                None => volumes.push((face.label, part)),
            }
        }
        volumes
    }

    /// What of the surroundings of `x` keeps these volumes and the walls. Volumes are linear in the place of
    /// the apex, so this is a point, a line, a plane or everything: what is left of a vertex's freedom in its
    /// stratum.
    pub fn leeway(&self, editor: &Editor<'_>, x: [f64; 3], walls: &[u8], volumes: &[(u8, f64)]) -> Leeway {
        let mut fixed = editor.container.normals(walls, x);
        let mut origin = x;
        if volumes.len() > 1 {
            for (label, missing) in missing_volumes(&self.volumes(x), volumes) {
                let (gradient, scale) = self.volume_gradient(label);
                let rest = missing - dot(gradient, sub(origin, x));
                if let Some(length) = push_orthonormal(&mut fixed, gradient, scale) {
                    origin = add_scaled(origin, rest / length, fixed[fixed.len() - 1]);
                }
            }
        }
        Leeway { fixed, origin }
    }

    /// The gradient of a label's volume in the place of the apex, and the sum of the absolute values of what
    /// it adds up.
    fn volume_gradient(&self, label: u8) -> ([f64; 3], f64) {
        let mut gradient = [0.0; 3];
        let mut scale = 0.0;
        for face in self.base.iter().filter(|f| f.label == label) {
            let [a, b, c] = face.now;
            let area = cross(sub(b, a), sub(c, a));
            gradient = add_scaled(gradient, -1.0 / 6.0, area);
            scale += norm(area) / 6.0;
        }
        (gradient, scale)
    }

    /// Whether no face of a sheet turns by more than the angle of this cosine with the apex at `x`.
    pub fn keeps_sheets(&self, x: [f64; 3], max_turn: f64) -> bool {
        self.sheets.iter().all(|&[corner, p, q]| faces_alike([corner, p, q], [x, p, q], max_turn))
    }

    /// By how much the volumes with the apex at `x` differ from these (the sum of absolute values), if by no
    /// more than is allowed.
    pub fn volume_moved(&self, x: [f64; 3], volumes: &[(u8, f64)]) -> Option<f64> {
        if volumes.len() == 1 && self.sheets.is_empty() {
            return Some(0.0);
        }
        let tolerance = VOLUME_TOLERANCE * self.radius(x).powi(3);
        let missing = missing_volumes(&self.volumes(x), volumes);
        let fits = missing.iter().all(|m| m.1.abs() <= tolerance);
        fits.then(|| missing.iter().map(|m| m.1.abs()).sum())
    }

    /// Climbs from `start` to where the worst tet is better (Freitag and others: the worst tets' gradients
    /// point along it), within the leeway, until it has the quality `enough`.
    pub fn climb(&self, start: [f64; 3], leeway: &Leeway, enough: f64) -> [f64; 3] {
        let mut x = start;
        let mut best = self.worst(x);
        let mut step = 0.25 * self.radius(x);
        for _ in 0..CLIMB_STEPS {
            if best >= enough {
                break;
            }
            let direction = self.ascent(x, best, leeway);
            let length = norm(direction);
            if length == 0.0 {
                break;
            }
            let mut risen = false;
            for _ in 0..CLIMB_HALVINGS {
                let candidate = leeway.project(add_scaled(x, step / length, direction));
                if self.reaches(candidate, best + GAIN) {
                    (x, best, risen) = (candidate, self.worst(candidate), true);
                    break;
                }
                step *= 0.5;
            }
            if !risen {
                break;
            }
        }
        x
    }

    /// The direction in which all of the worst tets become better at once: the point nearest to the origin in
    /// the hull of their gradients.
    fn ascent(&self, x: [f64; 3], worst: f64, leeway: &Leeway) -> [f64; 3] {
        let end = add_scaled(x, 1.0, self.way);
        let now = self.base.iter().map(|f| with_apex(x, f.now));
        let then = self.base.iter().filter_map(|f| f.end.map(|base| with_apex(end, base)));
        let gradients: Vec<[f64; 3]> = now
            .chain(then)
            .map(quality_gradient)
            .filter(|&(q, _)| q < worst + ACTIVE)
            .map(|(_, gradient)| leeway.tangent(gradient))
            .collect();
        nearest_to_origin(&gradients)
    }
}

/// Steps of a climb, and how often a step is halved before it is given up.
const CLIMB_STEPS: usize = 6;
const CLIMB_HALVINGS: usize = 4;

/// Tets this near to the worst one take part in where to climb.
const ACTIVE: f64 = 0.03;

fn with_apex(x: [f64; 3], [a, b, c]: [[f64; 3]; 3]) -> [[f64; 3]; 4] {
    [x, a, b, c]
}

fn missing_volumes(now: &[(u8, f64)], wanted: &[(u8, f64)]) -> Vec<(u8, f64)> {
    let of = |label: u8| now.iter().find(|v| v.0 == label).map_or(0.0, |v| v.1);
    wanted.iter().map(|&(label, volume)| (label, volume - of(label))).collect()
}

/// The point nearest to the origin in the convex hull of vectors, by steps towards the most opposed one
/// (Gilbert 1966).
fn nearest_to_origin(vectors: &[[f64; 3]]) -> [f64; 3] {
    let Some(&first) = vectors.first() else { return [0.0; 3] };
    let mut point = first;
    for _ in 0..12 {
        let opposed = vectors.iter().min_by(|a, b| dot(point, **a).total_cmp(&dot(point, **b)));
        let towards = sub(*opposed.expect("at least one"), point);
        let slope = -dot(point, towards);
        let length = dot(towards, towards);
        if slope <= 1e-9 * dot(point, point) || length == 0.0 {
            break;
        }
        point = add_scaled(point, (slope / length).min(1.0), towards);
    }
    point
}

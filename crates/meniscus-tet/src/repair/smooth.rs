//! Smoothing: a vertex is put elsewhere in its star, within its stratum.

use meniscus_core::vector::add_scaled;

use super::cone::{Cone, Leeway};
use super::{Editor, MAX_TURN};
use crate::complex::{StarStrata, Stratum};
use crate::quality::volume;

/// How much better the worst tet must become for a vertex to be moved: smaller gains only feed each other for
/// many rounds.
const WORTHWHILE: f64 = 1e-3;

impl Editor<'_> {
    /// Puts a vertex where the worst tet of its star is better: to the mean of its neighbours (smart
    /// Laplacian), and where that does not reach `target` on to where the worst tets are best. On interfaces
    /// and walls, and along lines, it slides so that no label's volume changes. Vertices of strata below
    /// `lowest` are left alone.
    pub fn smooth(&mut self, vertex: u32, target: f64, lowest: Stratum) -> bool {
        let mut star = Vec::new();
        self.complex.star(vertex, &mut star);
        let strata = self.complex.star_strata(vertex, &star);
        if strata.vertex() < lowest || strata.vertex() == Stratum::Point {
            return false;
        }
        let mut cone = Cone::of_star(self, vertex, &star);
        cone.hold_sheets(self, vertex, &strata, None);
        let old = self.complex.position(vertex);
        let walls = strata.walls();
        let volumes = cone.volumes(old);
        let leeway = cone.leeway(self, old, &walls, &volumes);
        if leeway.dimension() == 0 {
            return false;
        }
        let before = cone.worst(old);
        let x = self.better_place(&cone, &leeway, vertex, &strata, target);
        let x = self.container.project(&walls, x);
        if !cone.reaches(x, before + WORTHWHILE) || !cone.is_positive(x) || !cone.keeps_sheets(x, MAX_TURN) {
            return false;
        }
        let Some(moved) = cone.volume_moved(x, &volumes) else { return false };
        let sources = self.sources_at(x, &star);
        self.follow(vertex, &sources);
        self.complex.set_position(vertex, x);
        for &tet in &star {
            self.touched.extend(self.complex.corners(tet));
        }
        self.books.smoothed += 1;
        self.books.volume_moved += moved;
        true
    }

    fn better_place(
        &self,
        cone: &Cone,
        leeway: &Leeway,
        vertex: u32,
        strata: &StarStrata,
        target: f64,
    ) -> [f64; 3] {
        let old = self.complex.position(vertex);
        let mean = leeway.project(self.mean_of_neighbours(cone, strata));
        let start = if cone.reaches(mean, cone.worst(old)) { mean } else { old };
        cone.climb(start, leeway, target)
    }

    /// The mean of the neighbours in the same stratum.
    fn mean_of_neighbours(&self, cone: &Cone, strata: &StarStrata) -> [f64; 3] {
        let neighbours: Vec<u32> = match strata.vertex() {
            Stratum::Inside => return cone.centre(),
            Stratum::Surface => strata.faces.iter().flat_map(|f| f.0).collect(),
            Stratum::Line | Stratum::Point => strata.line_neighbours().collect(),
        };
        let sum = neighbours.iter().fold([0.0; 3], |s, &v| add_scaled(s, 1.0, self.complex.position(v)));
        sum.map(|c| c / neighbours.len() as f64)
    }

    /// The barycentric coordinates of a point in that of the tets that it lies deepest in; points just
    /// outside of all are moved to their surface.
    pub(super) fn sources_at(&self, x: [f64; 3], tets: &[u32]) -> Vec<(u32, f64)> {
        let weights = |tet: u32| -> [f64; 4] {
            let points = self.complex.points(tet);
            let whole = volume(points);
            std::array::from_fn(|corner| {
                let mut part = points;
                part[corner] = x;
                volume(part) / whole
            })
        };
        let depth = |tet: u32| weights(tet).into_iter().fold(f64::INFINITY, f64::min);
        let tet = tets.iter().copied().max_by(|&a, &b| depth(a).total_cmp(&depth(b))).expect("a tet");
        let weights = weights(tet).map(|w| w.max(0.0));
        let sum: f64 = weights.iter().sum();
        self.complex.corners(tet).into_iter().zip(weights).map(|(v, w)| (v, w / sum)).collect()
    }
}

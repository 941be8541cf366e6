//! The order of vertices and tets: near ones in space near in memory, and the same whatever the history of
//! their slots.

use super::{Across, Complex, FIRST_WALL, NONE};

/// Bits of each coordinate in the key that vertices are sorted by.
const BITS: u32 = 21;

impl Complex {
    /// Orders vertices along a space-filling curve, and tets by their vertices, without free slots. The
    /// result depends on positions, labels, walls and who is joined to whom only. Returns which vertex each
    /// new one was.
    pub fn compact(&mut self) -> Vec<u32> {
        let old_of_new = self.vertices_along_curve();
        let mut new_of_old = vec![NONE; self.positions.len()];
        for (new, &old) in old_of_new.iter().enumerate() {
            new_of_old[old as usize] = new as u32;
        }
        let mut tets: Vec<([u32; 4], u32)> = self
            .tets()
            .map(|tet| (canonical(self.corners(tet).map(|v| new_of_old[v as usize])), tet))
            .collect();
        tets.sort_unstable();
        self.reorder(&old_of_new, &tets);
        old_of_new
    }

    fn vertices_along_curve(&self) -> Vec<u32> {
        let mut lower = [f64::INFINITY; 3];
        let mut upper = [f64::NEG_INFINITY; 3];
        for vertex in self.vertices() {
            let x = self.position(vertex);
            lower = std::array::from_fn(|i| lower[i].min(x[i]));
            upper = std::array::from_fn(|i| upper[i].max(x[i]));
        }
        let extent = (0..3).map(|i| upper[i] - lower[i]).fold(f64::MIN_POSITIVE, f64::max);
        let scale = f64::from(1_u32 << BITS) * 0.999 / extent;
        let key = |x: [f64; 3]| interleaved(std::array::from_fn(|i| ((x[i] - lower[i]) * scale) as u64));
        let mut vertices: Vec<u32> = self.vertices().collect();
        vertices.sort_by(|&a, &b| {
            let (x, y) = (self.position(a), self.position(b));
            let by_position = || (0..3).map(|i| x[i].total_cmp(&y[i])).find(|o| o.is_ne());
            key(x).cmp(&key(y)).then_with(|| by_position().unwrap_or(a.cmp(&b)))
        });
        vertices
    }

    fn reorder(&mut self, old_of_new: &[u32], tets: &[([u32; 4], u32)]) {
        let mut new_tet = vec![NONE; self.tets.len()];
        for (new, &(_, old)) in tets.iter().enumerate() {
            new_tet[old as usize] = new as u32;
        }
        let neighbours = tets.iter().map(|&(corners, old)| {
            corners.map(|vertex| {
                let corner = self.corner_of(old, old_of_new[vertex as usize]).expect("a vertex of the tet");
                match self.across(old, corner) {
                    Across::Tet(other) => new_tet[other as usize],
                    Across::Wall(id) => FIRST_WALL + u32::from(id),
                }
            })
        });
        let neighbours: Vec<[u32; 4]> = neighbours.collect();
        let labels = tets.iter().map(|&(_, old)| self.label(old)).collect();
        let positions = old_of_new.iter().map(|&v| self.position(v)).collect();
        let mut incident = vec![NONE; old_of_new.len()];
        for (tet, (corners, _)) in tets.iter().enumerate().rev() {
            for &vertex in corners {
                incident[vertex as usize] = tet as u32;
            }
        }
        let tets = tets.iter().map(|t| t.0).collect();
        *self = Self {
            tets,
            neighbours,
            labels,
            positions,
            incident,
            free_tets: Vec::new(),
            free_vertices: Vec::new(),
        };
    }
}

/// The even permutation of a tet's vertices with the two smallest first.
fn canonical(corners: [u32; 4]) -> [u32; 4] {
    let mut sorted = corners;
    sorted.sort_unstable();
    let place = |v: u32| corners.iter().position(|&c| c == v).expect("a corner");
    let order = sorted.map(place);
    let inversions = (0..4).flat_map(|i| (0..i).map(move |j| (j, i))).filter(|&(j, i)| order[j] > order[i]);
    if inversions.count() % 2 == 1 {
        sorted.swap(2, 3);
    }
    sorted
}

/// The bits of three numbers in turn (Morton order).
fn interleaved(coordinates: [u64; 3]) -> u64 {
    let bit = |axis: usize, level: u32| (coordinates[axis] >> level & 1) << (3 * level + axis as u32);
    (0..BITS).flat_map(|level| (0..3).map(move |axis| (axis, level))).map(|(a, l)| bit(a, l)).sum()
}

//! The first tets of a box: a body-centred cubic lattice, graded by an octree.
//!
//! Between two cells of one size stand the four tets around the line of their centres (Labelle and Shewchuk
//! 2007), the best that fill space in one shape; they are halved where an edge of the cells has a vertex in
//! its middle. Where cells differ in size, both centres are joined to the squares of the smaller side, cut by
//! the diagonals through the middle of the larger one; at the box's sides, to the four triangles around the
//! middle of the face.

use std::collections::{BTreeSet, HashMap};

use crate::complex::{BuildError, Complex};
use crate::predicates::is_positive;

/// A cell of the octree: how often it was halved, and its place among cells of that size.
type Cell = (u32, [i32; 3]);

/// Halvings beyond which a wanted size is not met.
const MAX_LEVEL: u32 = 12;

/// A lattice in a box with walls 0 to 5: low and high along x, y and z, and label zero. Cells begin with
/// sides of about `coarsest` and are halved while these are longer than what is wanted at their centres.
pub fn graded_lattice(
    lower: [f64; 3],
    upper: [f64; 3],
    coarsest: f64,
    wanted: impl Fn([f64; 3]) -> f64,
) -> Result<Complex, BuildError> {
    let count = std::array::from_fn(|i| ((upper[i] - lower[i]) / coarsest).round().max(1.0) as i32);
    let frame = Frame { lower, upper, count };
    let mut octree = Octree { count, leaves: BTreeSet::new() };
    octree.refine(|cell| frame.side(cell.0) > wanted(frame.point(centre(cell))));
    octree.balance();
    let mut tets = Tets {
        octree: &octree,
        frame: &frame,
        vertices: HashMap::new(),
        positions: Vec::new(),
        tets: Vec::new(),
    };
    for &leaf in &octree.leaves {
        tets.fill(leaf);
    }
    let Tets { positions, tets, .. } = tets;
    let points = positions.clone();
    let on =
        |axis: usize, value: f64, face: [u32; 3]| face.iter().all(|&v| points[v as usize][axis] == value);
    Complex::new(positions, &tets, |face| {
        let is_on = |side: usize| {
            on(side / 2, if side.is_multiple_of(2) { lower[side / 2] } else { upper[side / 2] }, face)
        };
        (0..6).find(|&side| is_on(side)).unwrap_or(0) as u8
    })
}

/// Where lattice coordinates lie: units of half of the smallest cell there can be.
struct Frame {
    lower: [f64; 3],
    upper: [f64; 3],
    count: [i32; 3],
}

impl Frame {
    fn point(&self, at: [i32; 3]) -> [f64; 3] {
        std::array::from_fn(|i| {
            let share = f64::from(at[i]) / f64::from(self.count[i] * width(0));
            if share == 1.0 { self.upper[i] } else { self.lower[i] + share * (self.upper[i] - self.lower[i]) }
        })
    }

    /// The longest side of a cell.
    fn side(&self, level: u32) -> f64 {
        let side = |i: usize| (self.upper[i] - self.lower[i]) / f64::from(self.count[i]);
        side(0).max(side(1)).max(side(2)) / f64::from(1_i32 << level)
    }
}

fn width(level: u32) -> i32 {
    2 << (MAX_LEVEL - level)
}

fn low_corner((level, place): Cell) -> [i32; 3] {
    place.map(|p| p * width(level))
}

fn centre(cell: Cell) -> [i32; 3] {
    low_corner(cell).map(|c| c + width(cell.0) / 2)
}

struct Octree {
    count: [i32; 3],
    leaves: BTreeSet<Cell>,
}

impl Octree {
    fn refine(&mut self, is_large: impl Fn(Cell) -> bool) {
        let [x, y, z] = self.count;
        let roots = (0..x).flat_map(|i| (0..y).flat_map(move |j| (0..z).map(move |k| (0, [i, j, k]))));
        let mut open: Vec<Cell> = roots.collect();
        while let Some(cell) = open.pop() {
            if cell.0 < MAX_LEVEL && is_large(cell) {
                open.extend(children(cell));
            } else {
                self.leaves.insert(cell);
            }
        }
    }

    /// Halves cells until those that share a face or an edge differ by one level at most.
    fn balance(&mut self) {
        let mut open: Vec<Cell> = self.leaves.iter().copied().collect();
        while let Some(cell) = open.pop() {
            for offset in face_and_edge_offsets() {
                let beside = (cell.0, std::array::from_fn(|i| cell.1[i] + offset[i]));
                if let Some(cover) = self.cover(beside)
                    && cover.0 + 1 < cell.0
                {
                    self.leaves.remove(&cover);
                    self.leaves.extend(children(cover));
                    open.extend(children(cover));
                    open.push(cell);
                }
            }
        }
    }

    fn contains(&self, (level, place): Cell) -> bool {
        (0..3).all(|i| place[i] >= 0 && place[i] < self.count[i] << level)
    }

    /// The leaf that a cell of the box is or lies in; nothing if it was halved.
    fn cover(&self, (level, place): Cell) -> Option<Cell> {
        let ancestor = |l: u32| (l, place.map(|p| p >> (level - l)));
        self.contains((level, place))
            .then(|| (0..=level).rev().map(ancestor).find(|c| self.leaves.contains(c)))?
    }

    fn is_halved(&self, cell: Cell) -> bool {
        self.contains(cell) && self.cover(cell).is_none()
    }
}

fn children((level, place): Cell) -> impl Iterator<Item = Cell> {
    (0..8).map(move |c| (level + 1, std::array::from_fn(|i| 2 * place[i] + (c >> i & 1))))
}

/// To the cells that share a face or an edge.
fn face_and_edge_offsets() -> impl Iterator<Item = [i32; 3]> {
    (0..27)
        .map(|c| [c % 3 - 1, c / 3 % 3 - 1, c / 9 - 1])
        .filter(|o| (1..=2).contains(&o.iter().map(|c: &i32| c.abs()).sum::<i32>()))
}

struct Tets<'a> {
    octree: &'a Octree,
    frame: &'a Frame,
    vertices: HashMap<[i32; 3], u32>,
    positions: Vec<[f64; 3]>,
    tets: Vec<([u32; 4], u8)>,
}

impl Tets<'_> {
    /// The tets at the faces of a leaf, but for those that its neighbour makes.
    fn fill(&mut self, leaf: Cell) {
        for axis in 0..3 {
            for high in [false, true] {
                let face = Face { leaf, axis, high };
                let beside = face.beside();
                if !self.octree.contains(beside) {
                    self.fill_to_side(&face);
                    continue;
                }
                match self.octree.cover(beside) {
                    Some(cover) if cover.0 < leaf.0 => self.fill_to_larger(&face, cover),
                    Some(cover) if high => self.fill_to_equal(&face, cover),
                    _ => {}
                }
            }
        }
    }

    fn fill_to_side(&mut self, face: &Face) {
        let middle = face.middle();
        self.fill_around(face, middle);
    }

    fn fill_to_equal(&mut self, face: &Face, other: Cell) {
        self.fill_around(face, centre(other));
    }

    /// The tets around the line from the centre of the face's cell to another point.
    fn fill_around(&mut self, face: &Face, to: [i32; 3]) {
        let corners = face.corners();
        for k in 0..4 {
            let (a, b) = (corners[k], corners[(k + 1) % 4]);
            if self.has_middle(face.leaf.0, a, b) {
                let middle = std::array::from_fn(|i| (a[i] + b[i]) / 2);
                self.push([centre(face.leaf), to, a, middle]);
                self.push([centre(face.leaf), to, middle, b]);
            } else {
                self.push([centre(face.leaf), to, a, b]);
            }
        }
    }

    fn fill_to_larger(&mut self, face: &Face, larger: Cell) {
        let corners = face.corners();
        let middle = face.middle_of_parent();
        let k = (0..4).find(|&k| corners[k] == middle).expect("a corner of the face");
        for apex in [centre(face.leaf), centre(larger)] {
            for (p, q) in [(k + 1, k + 2), (k + 2, k + 3)] {
                self.push([apex, middle, corners[p % 4], corners[q % 4]]);
            }
        }
    }

    /// Whether the edge between two corners of a leaf has a vertex in its middle: one of the cells around it
    /// was halved.
    fn has_middle(&self, level: u32, a: [i32; 3], b: [i32; 3]) -> bool {
        let low: [i32; 3] = std::array::from_fn(|i| a[i].min(b[i]) / width(level));
        let along = (0..3).find(|&i| a[i] != b[i]).expect("two points");
        let (s, t) = ((along + 1) % 3, (along + 2) % 3);
        [(0, 0), (1, 0), (0, 1), (1, 1)].into_iter().any(|(i, j)| {
            let mut place = low;
            place[s] -= i;
            place[t] -= j;
            self.octree.is_halved((level, place))
        })
    }

    fn push(&mut self, corners: [[i32; 3]; 4]) {
        let mut tet = corners.map(|c| self.vertex(c));
        if !is_positive(tet.map(|v| self.positions[v as usize])) {
            tet.swap(2, 3);
        }
        self.tets.push((tet, 0));
    }

    fn vertex(&mut self, at: [i32; 3]) -> u32 {
        let next = self.positions.len() as u32;
        *self.vertices.entry(at).or_insert_with(|| {
            self.positions.push(self.frame.point(at));
            next
        })
    }
}

/// A face of a leaf.
struct Face {
    leaf: Cell,
    axis: usize,
    high: bool,
}

impl Face {
    /// The cell of the same size on the other side.
    fn beside(&self) -> Cell {
        let mut place = self.leaf.1;
        place[self.axis] += if self.high { 1 } else { -1 };
        (self.leaf.0, place)
    }

    fn corners(&self) -> [[i32; 3]; 4] {
        let (s, t) = ((self.axis + 1) % 3, (self.axis + 2) % 3);
        let width = width(self.leaf.0);
        [(0, 0), (1, 0), (1, 1), (0, 1)].map(|(i, j)| {
            let mut corner = low_corner(self.leaf);
            corner[self.axis] += if self.high { width } else { 0 };
            corner[s] += i * width;
            corner[t] += j * width;
            corner
        })
    }

    fn middle(&self) -> [i32; 3] {
        let mut middle = centre(self.leaf);
        middle[self.axis] += if self.high { width(self.leaf.0) / 2 } else { -width(self.leaf.0) / 2 };
        middle
    }

    /// The middle of the face of the cell that the leaf is an eighth of.
    fn middle_of_parent(&self) -> [i32; 3] {
        let (level, place) = self.leaf;
        let parent = Face { leaf: (level - 1, place.map(|p| p >> 1)), ..*self };
        parent.middle()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quality::{quality, volume};

    #[test]
    fn a_uniform_lattice_is_of_good_tets() {
        let lattice = graded_lattice([0.0; 3], [1.0, 0.5, 0.75], 0.25, |_| 1.0).unwrap();
        lattice.check().unwrap();
        assert_eq!(lattice.euler_characteristic(), 1);
        let inner = lattice.tets().filter(|&t| quality(lattice.points(t)) > 0.929).count();
        let sides = lattice.tets().filter(|&t| quality(lattice.points(t)) < 0.72).count();
        assert_eq!((inner, sides), (4 * (3 * 2 * 3 + 4 * 3 + 4 * 2 * 2), 4 * 2 * (4 * 2 + 4 * 3 + 2 * 3)));
    }

    #[test]
    fn a_graded_lattice_fills_the_box_with_tets_that_are_not_bad() {
        let (lower, upper) = ([-1.0, 0.0, 0.1], [1.0, 1.0, 1.1]);
        let to_point =
            |x: [f64; 3]| ((x[0] - 0.3).powi(2) + (x[1] - 0.2).powi(2) + (x[2] - 0.6).powi(2)).sqrt();
        let wanted = |x: [f64; 3]| 0.02 + 0.3 * to_point(x);
        let lattice = graded_lattice(lower, upper, 0.5, wanted).unwrap();
        lattice.check().unwrap();
        assert_eq!(lattice.euler_characteristic(), 1);
        let whole: f64 = lattice.tets().map(|t| volume(lattice.points(t))).sum();
        assert!((whole - 2.0).abs() < 1e-12);
        let worst = lattice.tets().map(|t| quality(lattice.points(t))).fold(1.0, f64::min);
        assert!(worst > 0.5, "{worst}");
    }
}

//! Meshes of boxes and balls.

use std::collections::HashMap;

use meniscus_core::vector::{add_scaled, norm, unit};
use meniscus_tet::fem::element::Element;
use meniscus_tet::fem::mesh::Mesh;

/// A mesh that owns its parts.
#[derive(Clone)]
pub struct Tets {
    pub positions: Vec<[f64; 3]>,
    pub tets: Vec<[u32; 4]>,
    pub labels: Vec<u8>,
}

impl Tets {
    pub fn mesh(&self) -> Mesh<'_> {
        Mesh { positions: &self.positions, tets: &self.tets, labels: &self.labels }
    }

    pub fn volume(&self) -> f64 {
        (0..self.tets.len()).map(|t| self.mesh().element(t).volume).sum()
    }

    pub fn centre(&self, tet: usize) -> [f64; 3] {
        self.tets[tet].iter().fold([0.0; 3], |c, &v| add_scaled(c, 0.25, self.positions[v as usize]))
    }

    pub fn label_by(mut self, label: impl Fn([f64; 3]) -> u8) -> Self {
        self.labels = (0..self.tets.len()).map(|t| label(self.centre(t))).collect();
        self
    }

    fn new(positions: Vec<[f64; 3]>, mut tets: Vec<[u32; 4]>) -> Self {
        for tet in &mut tets {
            if Element::new(tet.map(|v| positions[v as usize])).volume < 0.0 {
                tet.swap(2, 3);
            }
        }
        let labels = vec![0; tets.len()];
        Self { positions, tets, labels }
    }
}

/// Numbers in [-1, 1) that are the same on every machine.
pub struct Noise(pub u64);

impl Noise {
    pub fn draw(&mut self) -> f64 {
        // Knuth's linear congruential generator; the upper bits are good enough to shake a mesh.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    pub fn vector(&mut self) -> [f64; 3] {
        [self.draw(), self.draw(), self.draw()]
    }
}

/// A box of cells of side `h`, each cut into six tets around a diagonal (Kuhn). Inner vertices are shaken by `shake`
/// of a side, along walls on walls, and not along axis k where `keep(vertex, k)`, with the vertex counted in cells.
pub fn kuhn(cells: [usize; 3], h: f64, shake: f64, keep: impl Fn([usize; 3], usize) -> bool) -> Tets {
    let mut noise = Noise(1);
    let n = cells.map(|c| c + 1);
    let index = |p: [usize; 3]| ((p[0] * n[1] + p[1]) * n[2] + p[2]) as u32;
    let mut positions = Vec::new();
    for (i, j, k) in grid(n) {
        let p = [i, j, k];
        let d = noise.vector();
        positions.push(std::array::from_fn(|a| {
            let free = p[a] > 0 && p[a] < cells[a] && !keep(p, a);
            h * (p[a] as f64 + if free { shake * d[a] } else { 0.0 })
        }));
    }
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    let mut tets = Vec::new();
    for (i, j, k) in grid(cells) {
        for order in orders {
            let mut p = [i, j, k];
            let mut tet = [index(p); 4];
            for (corner, axis) in order.into_iter().enumerate() {
                p[axis] += 1;
                tet[corner + 1] = index(p);
            }
            tets.push(tet);
        }
    }
    Tets::new(positions, tets)
}

fn grid(n: [usize; 3]) -> impl Iterator<Item = (usize, usize, usize)> {
    (0..n[0]).flat_map(move |i| (0..n[1]).flat_map(move |j| (0..n[2]).map(move |k| (i, j, k))))
}

/// A ball of radius 1 with 10 4^s + 2 vertices on its surface: an icosahedron's twenty tets around the centre, cut in
/// eight `s` times; new vertices lie at the mean radius of their edge's ends. Shells of equal radius are icospheres.
pub fn ball(s: usize) -> Tets {
    let golden = 0.5 * (1.0 + 5.0_f64.sqrt());
    let mut positions = vec![[0.0; 3]];
    for [a, b] in [[-1.0, golden], [1.0, golden], [-1.0, -golden], [1.0, -golden]] {
        positions.extend([unit([a, b, 0.0]), unit([0.0, a, b]), unit([b, 0.0, a])]);
    }
    let mut tets = Vec::new();
    let near = |a: usize, b: usize, p: &[[f64; 3]]| norm(add_scaled(p[a], -1.0, p[b])) < 1.2;
    for a in 1..13 {
        for b in a + 1..13 {
            for c in b + 1..13 {
                if near(a, b, &positions) && near(b, c, &positions) && near(a, c, &positions) {
                    tets.push([0, a as u32, b as u32, c as u32]);
                }
            }
        }
    }
    for _ in 0..s {
        tets = refine(&mut positions, &tets);
    }
    Tets::new(positions, tets)
}

/// Each tet cut in eight at its edges' middles, the octahedron in it along its shortest diagonal.
fn refine(positions: &mut Vec<[f64; 3]>, tets: &[[u32; 4]]) -> Vec<[u32; 4]> {
    let mut middles = HashMap::new();
    let mut fine = Vec::new();
    for &tet in tets {
        let mut middle = |a: usize, b: usize| {
            let key = (tet[a].min(tet[b]), tet[a].max(tet[b]));
            *middles.entry(key).or_insert_with(|| {
                let [p, q] = [positions[key.0 as usize], positions[key.1 as usize]];
                let radius = 0.5 * (norm(p) + norm(q));
                positions.push(unit(add_scaled(p, 1.0, q)).map(|c| c * radius));
                positions.len() as u32 - 1
            })
        };
        let [m01, m02, m03] = [middle(0, 1), middle(0, 2), middle(0, 3)];
        let [m12, m13, m23] = [middle(1, 2), middle(1, 3), middle(2, 3)];
        fine.extend([[tet[0], m01, m02, m03], [tet[1], m01, m12, m13]]);
        fine.extend([[tet[2], m02, m12, m23], [tet[3], m03, m13, m23]]);
        let rings = [
            ([m01, m23], [m02, m03, m13, m12]),
            ([m02, m13], [m01, m03, m23, m12]),
            ([m03, m12], [m01, m02, m23, m13]),
        ];
        let length = |[a, b]: [u32; 2]| norm(add_scaled(positions[a as usize], -1.0, positions[b as usize]));
        let ([a, b], ring) =
            rings.into_iter().min_by(|x, y| length(x.0).total_cmp(&length(y.0))).expect("three diagonals");
        fine.extend((0..4).map(|k| [a, b, ring[k], ring[(k + 1) % 4]]));
    }
    fine
}

#[test]
fn boxes_and_balls_fill_their_volume() {
    let cells = kuhn([3, 4, 2], 0.5, 0.2, |_, _| false);
    assert!((cells.volume() - 3.0).abs() < 1e-12);
    for (s, surface) in [(1, 42), (2, 162)] {
        let ball = ball(s);
        assert_eq!(ball.tets.len(), 20 * 8_usize.pow(s as u32));
        assert_eq!(ball.positions.iter().filter(|x| norm(**x) > 1.0 - 1e-9).count(), surface);
        let smallest = (0..ball.tets.len()).map(|t| ball.mesh().element(t).volume).fold(f64::MAX, f64::min);
        assert!(smallest * ball.tets.len() as f64 > 0.3 * ball.volume());
    }
}

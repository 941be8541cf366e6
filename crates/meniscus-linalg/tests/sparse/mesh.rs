//! Tetrahedral meshes of a cube, and matrices on them.

use std::sync::Arc;

use meniscus_linalg::sparse::{Block, Bsr, Pattern};

/// Random numbers, the same on every machine.
pub struct Random(pub u64);

impl Random {
    /// Between -1 and 1.
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    pub fn vector(&mut self, len: usize) -> Vec<f64> {
        (0..len).map(|_| self.next()).collect()
    }
}

pub struct Mesh {
    pub n: usize,
    pub points: Vec<[f64; 3]>,
    pub tets: Vec<[u32; 4]>,
    /// Volumes and gradients of the four linear functions of each tet.
    pub shapes: Vec<(f64, [[f64; 3]; 4])>,
}

pub fn sub(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

pub fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn shape(x: [[f64; 3]; 4]) -> (f64, [[f64; 3]; 4]) {
    let e = [1, 2, 3].map(|k| sub(x[k], x[0]));
    let volume = dot(cross(e[0], e[1]), e[2]) / 6.0;
    let mut gradients = [[0.0; 3]; 4];
    for k in 0..3 {
        let normal = cross(e[(k + 1) % 3], e[(k + 2) % 3]);
        gradients[k + 1] = normal.map(|v| v / (6.0 * volume));
        (0..3).for_each(|axis| gradients[0][axis] -= gradients[k + 1][axis]);
    }
    (volume, gradients)
}

/// The unit cube, n^3 cells of six tets, with vertices moved at random by a fifth of an edge, within the walls they lie in.
pub fn kuhn(n: usize) -> Mesh {
    let (h, mut random) = (1.0 / n as f64, Random(0));
    let number = |p: [usize; 3]| ((p[0] * (n + 1) + p[1]) * (n + 1) + p[2]) as u32;
    let mut points = Vec::new();
    for k in 0..(n + 1).pow(3) {
        let p = [k / (n + 1).pow(2), k / (n + 1) % (n + 1), k % (n + 1)];
        points.push(p.map(|i| {
            let jitter = 0.2 * random.next();
            h * (i as f64 + if i == 0 || i == n { 0.0 } else { jitter })
        }));
    }
    let (mut tets, mut shapes) = (Vec::new(), Vec::new());
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        for k in 0..n.pow(3) {
            let mut p = [k / n.pow(2), k / n % n, k % n];
            let mut tet = [number(p); 4];
            for step in 0..3 {
                p[order[step]] += 1;
                tet[step + 1] = number(p);
            }
            let of = |tet: [u32; 4]| shape(tet.map(|v| points[v as usize]));
            if of(tet).0 < 0.0 {
                tet.swap(2, 3);
            }
            tets.push(tet);
            shapes.push(of(tet));
        }
    }
    Mesh { n, points, tets, shapes }
}

impl Mesh {
    /// Whether a point lies in a wall across an axis.
    pub fn at_wall(&self, vertex: usize, axis: usize) -> bool {
        let x = self.points[vertex][axis];
        x == 0.0 || x == 1.0
    }

    pub fn is_boundary(&self, vertex: usize) -> bool {
        (0..3).any(|axis| self.at_wall(vertex, axis))
    }

    /// 1 in tets whose middle is in a ball, 0 elsewhere.
    pub fn ball(&self) -> Vec<usize> {
        let inside = |tet: &[u32; 4]| {
            let mut middle = [0.0; 3];
            for v in tet {
                (0..3).for_each(|axis| middle[axis] += 0.25 * self.points[*v as usize][axis]);
            }
            usize::from(dot(sub(middle, [0.5; 3]), sub(middle, [0.5; 3])).sqrt() < 0.28)
        };
        self.tets.iter().map(inside).collect()
    }
}

/// The sum over tets of the blocks `f(tet, i, j)` between unknowns at their corners.
pub fn assemble<const R: usize, const C: usize>(
    [rows, columns]: [&[[u32; 4]]; 2],
    f: impl Fn(usize, usize, usize) -> Block<R, C> + Sync,
) -> Bsr<R, C> {
    let count = |tets: &[[u32; 4]]| tets.iter().flatten().max().map_or(0, |last| *last as usize + 1);
    let mut stars = vec![Vec::new(); count(rows)];
    for (k, tet) in rows.iter().enumerate() {
        (0..4).for_each(|i| stars[tet[i] as usize].push((k, i)));
    }
    let pattern = Pattern::from_rows(stars.len(), count(columns), |row, found| {
        stars[row].iter().for_each(|(k, _)| found.extend(columns[*k]));
    });
    Bsr::assembled(Arc::new(pattern), |row, found, blocks| {
        for &(k, i) in &stars[row] {
            for j in 0..4 {
                let place = found.binary_search(&columns[k][j]).expect("in the pattern");
                let added = f(k, i, j);
                for (values, added) in blocks[place].iter_mut().zip(added) {
                    values.iter_mut().zip(added).for_each(|(value, added)| *value += added);
                }
            }
        }
    })
}

/// Holds rows and columns of numbers: what remains of them is `diagonal` in its place.
pub fn hold<const B: usize>(
    matrix: &mut Bsr<B, B>,
    diagonal: f64,
    held: impl Fn(usize, usize) -> bool + Sync,
) {
    matrix.update(|row, columns, blocks| {
        for (&column, block) in columns.iter().zip(blocks) {
            for r in 0..B {
                for c in 0..B {
                    if held(row, r) || held(column as usize, c) {
                        let own = row == column as usize && r == c;
                        block[r][c] = if own { diagonal } else { 0.0 };
                    }
                }
            }
        }
    });
}

/// -div(c grad u) with c in each tet; u = 0 on the boundary, or free.
pub fn laplacian(mesh: &Mesh, free: bool, c: impl Fn(usize) -> f64 + Sync) -> Bsr<1, 1> {
    let mut matrix = assemble([&mesh.tets; 2], |k, i, j| {
        let (volume, g) = mesh.shapes[k];
        [[c(k) * volume * dot(g[i], g[j])]]
    });
    if !free {
        let size = mesh.n as f64;
        hold(&mut matrix, 1.0 / size, |v, _| mesh.is_boundary(v));
    }
    matrix
}

/// Linear elasticity with a ratio of the two moduli as for a Poisson's number of 0.3; the bottom is held.
pub fn elasticity(mesh: &Mesh, stiffness: impl Fn(usize) -> f64 + Sync) -> Bsr<3, 3> {
    let [shear, bulk] = [1.0, 1.5];
    let mut matrix = assemble([&mesh.tets; 2], |k, i, j| {
        let (volume, g) = mesh.shapes[k];
        let scale = volume * stiffness(k);
        let mut block = [[0.0; 3]; 3];
        for r in 0..3 {
            for c in 0..3 {
                block[r][c] = scale * (shear * g[i][c] * g[j][r] + bulk * g[i][r] * g[j][c]);
            }
            block[r][r] += scale * shear * dot(g[i], g[j]);
        }
        block
    });
    let size = mesh.n as f64;
    hold(&mut matrix, 1.0 / size, |v, _| mesh.points[v][2] == 0.0);
    matrix
}

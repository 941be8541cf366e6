//! Saddle-point systems of incompressible flow of two fluids: velocities at the vertices of a mesh, a pressure for each phase at each vertex
//! that it touches, and a stabilisation that linear pressures do not feel. FGMRES(30) to 1e-6, with a block-triangular preconditioner:
//! the diagonal of the velocities' matrix or a V-cycle for it, and a V-cycle for B diag(A)^-1 B^T + C.

use std::collections::BTreeMap;
use std::sync::Arc;

use meniscus_linalg::sparse::{
    Amg, AmgParams, Bsr, GmresParams, Product, Transposition, flexible_gmres, minres,
};
use meniscus_linalg::{SolveInfo, SolveParams};

use super::mesh::*;
use super::motions;

/// What flows: lengths are edges, times are steps.
#[derive(Clone, Copy)]
pub struct Case {
    pub n: usize,
    /// Densities outside and inside of the ball.
    pub densities: [f64; 2],
    /// Viscosity times the step over the square of an edge.
    pub viscous: f64,
    /// Tension times the square of the step over the larger density and the cube of an edge.
    pub capillary: f64,
}

/// [[A, -B^T], [-B, -C]].
pub struct System {
    pub a: Bsr<3, 3>,
    pub b: Bsr<1, 3>,
    pub bt: Bsr<3, 1>,
    pub c: Bsr<1, 1>,
    pub rhs: Vec<f64>,
    pub mesh: Mesh,
    /// The lumped viscosity over the volume of every pressure.
    pub viscosities: Vec<f64>,
}

fn lumped(count: usize, corners: &[[u32; 4]], f: impl Fn(usize) -> f64) -> Vec<f64> {
    let mut sums = vec![0.0; count];
    for (k, corners) in corners.iter().enumerate() {
        corners.iter().for_each(|q| sums[*q as usize] += f(k));
    }
    sums
}

impl System {
    pub fn new(case: Case) -> Self {
        let mesh = kuhn(case.n);
        let (labels, h) = (mesh.ball(), 1.0 / case.n as f64);
        let density = |k: usize| case.densities[labels[k]];
        let viscosity = |k: usize| density(k) * case.viscous * h * h;
        let mut corners = BTreeMap::new();
        for (tet, label) in mesh.tets.iter().zip(&labels) {
            tet.iter().for_each(|v| _ = corners.insert((*v, *label), 0));
        }
        corners.values_mut().zip(0..).for_each(|(number, k)| *number = k);
        let pressures: Vec<[u32; 4]> =
            mesh.tets.iter().zip(&labels).map(|(tet, label)| tet.map(|v| corners[&(v, *label)])).collect();
        let mut a = assemble([&mesh.tets; 2], |k, i, j| {
            let (volume, g) = mesh.shapes[k];
            let viscous = volume * viscosity(k);
            let mut block = [[0.0; 3]; 3];
            for r in 0..3 {
                (0..3).for_each(|c| block[r][c] = viscous * g[i][c] * g[j][r]);
                let mass = if i == j { 0.25 * density(k) * volume } else { 0.0 };
                block[r][r] += mass + viscous * dot(g[i], g[j]);
            }
            block
        });
        let mut b = assemble::<1, 3>([&pressures, &mesh.tets], |k, _, j| {
            let (volume, g) = mesh.shapes[k];
            [g[j].map(|g| 0.25 * volume * g)]
        });
        let (c, _) = stabilisation(&mesh, &pressures, |k| {
            let size = 2.0 * mesh.shapes[k].0.powf(2.0 / 3.0);
            1.0 / (density(k) + 12.0 * viscosity(k) / size)
        });
        let mass = lumped(mesh.points.len(), &mesh.tets, |k| 0.25 * density(k) * mesh.shapes[k].0);
        let (mut f, mut random) = (vec![0.0; 3 * mass.len()], Random(1));
        for (v, f) in f.as_chunks_mut::<3>().0.iter_mut().enumerate() {
            for axis in 0..3 {
                let u = 0.17 * random.next() + (3.0 * mesh.points[v][(axis + 1) % 3]).sin();
                f[axis] = mass[v] * (u - if axis == 2 { 1.0 } else { 0.0 });
            }
        }
        if case.capillary > 0.0 {
            let densest = case.densities[0].max(case.densities[1]);
            add_tension(&mesh, &labels, case.capillary * densest * h.powi(3), &mut a, &mut f);
        }
        let mut sorted = a.diagonal();
        sorted.sort_by(f64::total_cmp);
        let median = sorted[sorted.len() / 2];
        hold(&mut a, median, |v, axis| mesh.at_wall(v, axis));
        b.update(|_, columns, blocks| {
            for (&v, block) in columns.iter().zip(blocks) {
                (0..3).filter(|axis| mesh.at_wall(v as usize, *axis)).for_each(|axis| block[0][axis] = 0.0);
            }
        });
        for (k, f) in f.iter_mut().enumerate() {
            *f *= if mesh.at_wall(k / 3, k % 3) { 0.0 } else { 1.0 };
        }
        let volume = lumped(c.height(), &pressures, |k| 0.25 * mesh.shapes[k].0);
        let viscosities = lumped(c.height(), &pressures, |k| 0.25 * mesh.shapes[k].0 * viscosity(k));
        let viscosities = viscosities.iter().zip(&volume).map(|(mu, v)| mu / (v * v)).collect();
        let rhs = f.iter().copied().chain(vec![0.0; c.height()]).collect();
        let bt = Transposition::new(b.pattern()).apply(&b);
        Self { a, b, bt, c, rhs, mesh, viscosities }
    }

    pub fn product(&self, x: &[f64], y: &mut [f64]) {
        let ((u, p), (f, g)) = (x.split_at(self.a.height()), y.split_at_mut(self.a.height()));
        self.a.apply(u, f);
        self.bt.apply_add(-1.0, p, f);
        self.c.apply(p, g);
        self.b.apply_add(1.0, u, g);
        g.iter_mut().for_each(|g| *g = -*g);
    }

    /// B diag(A)^-1 B^T + C, with a trace of its diagonal, as it is singular.
    pub fn schur(&self, diagonal: &[f64]) -> Bsr<1, 1> {
        let inverse: Vec<f64> = diagonal.iter().map(|d| 1.0 / d).collect();
        let mut scaled = self.bt.clone();
        scaled.scale_rows(&inverse);
        let product = Product::containing(self.b.pattern(), self.bt.pattern(), &[self.c.pattern()]);
        let mut schur = product.compute(&self.b, &scaled);
        schur.add(1.0, &self.c);
        schur
    }
}

/// The sum over tets of tau (grad p - its projection) (grad q - its projection), and its plain part.
fn stabilisation(
    mesh: &Mesh,
    pressures: &[[u32; 4]],
    tau: impl Fn(usize) -> f64 + Sync,
) -> (Bsr<1, 1>, Bsr<1, 1>) {
    let plain = assemble([pressures; 2], |k, i, j| {
        let (volume, g) = mesh.shapes[k];
        [[tau(k) * volume * dot(g[i], g[j])]]
    });
    let gradient = assemble::<3, 1>([pressures; 2], |k, _, j| {
        let (volume, g) = mesh.shapes[k];
        g[j].map(|g| [0.25 * tau(k) * volume * g])
    });
    let mass = lumped(plain.height(), pressures, |k| 0.25 * tau(k) * mesh.shapes[k].0);
    let transposed = Transposition::new(gradient.pattern()).apply(&gradient);
    let mut scaled = gradient;
    scaled.scale_rows(&mass.iter().flat_map(|m| [1.0 / m; 3]).collect::<Vec<_>>());
    let product = Product::containing(transposed.pattern(), scaled.pattern(), &[plain.pattern()]);
    let projected = product.compute(&transposed, &scaled);
    let mut whole = Bsr::zeros(Arc::clone(product.pattern()));
    whole.add(1.0, &plain);
    whole.add(-1.0, &projected);
    (whole, plain)
}

/// The positive part of the second derivative of the area of the interface, and what its first pushes.
fn add_tension(mesh: &Mesh, labels: &[usize], sigma: f64, a: &mut Bsr<3, 3>, f: &mut [f64]) {
    let mut faces = BTreeMap::new();
    for (tet, label) in mesh.tets.iter().zip(labels) {
        for out in 0..4 {
            let mut face = [0, 1, 2, 3].into_iter().filter(|k| *k != out).map(|k| tet[k]).collect::<Vec<_>>();
            face.sort_unstable();
            faces.entry([face[0], face[1], face[2]]).or_insert([0; 2])[*label] += 1;
        }
    }
    let mut added: BTreeMap<(u32, u32), [[f64; 3]; 3]> = BTreeMap::new();
    for (face, _) in faces.iter().filter(|(_, sides)| **sides == [1, 1]) {
        let x = face.map(|v| mesh.points[v as usize]);
        let e = [sub(x[2], x[1]), sub(x[0], x[2]), sub(x[1], x[0])];
        let normal = cross(e[0], e[1]);
        let twice = dot(normal, normal).sqrt();
        let normal = normal.map(|n| n / twice);
        for i in 0..3 {
            let push = cross(normal, e[i]);
            (0..3).for_each(|axis| f[3 * face[i] as usize + axis] -= 0.5 * sigma * push[axis]);
            for j in 0..3 {
                let block = added.entry((face[i], face[j])).or_insert([[0.0; 3]; 3]);
                for r in 0..3 {
                    for c in 0..3 {
                        block[r][c] += sigma / (2.0 * twice) * dot(e[i], e[j]) * normal[r] * normal[c];
                    }
                }
            }
        }
    }
    a.update(|row, columns, blocks| {
        for (&column, block) in columns.iter().zip(blocks) {
            if let Some(added) = added.get(&(row as u32, column)) {
                (0..9).for_each(|k| block[k / 3][k % 3] += added[k / 3][k % 3]);
            }
        }
    });
}

/// Iterations of FGMRES, and of MINRES with the same blocks if they are to be compared.
pub fn iterations(case: Case, params: &AmgParams, compare: bool) -> (SolveInfo, Option<usize>) {
    let system = System::new(case);
    let (velocities, diagonal) = (system.a.height(), system.a.diagonal());
    let is_viscous = case.viscous > 0.0;
    let schur = if is_viscous {
        let inviscid = System::new(Case { viscous: 0.0, capillary: 0.0, ..case });
        inviscid.schur(&inviscid.a.diagonal())
    } else {
        system.schur(&diagonal)
    };
    let ones = vec![[[1.0]]; schur.height()];
    let mut of_pressures = Amg::new(&schur, &ones, params).expect("positive");
    let mut of_velocities = (is_viscous || case.capillary > 0.0).then(|| {
        let mut candidates = motions(&system.mesh, |v, axis| system.mesh.at_wall(v, axis));
        if !is_viscous {
            candidates.iter_mut().flatten().for_each(|values| values[3..].fill(0.0));
        }
        Amg::new(&system.a, &candidates, &AmgParams { strength: 0.02, max_coarse: 300, ..*params })
            .expect("definite")
    });
    let mut first = |r: &[f64], z: &mut [f64]| match &mut of_velocities {
        Some(amg) => amg.apply(r, z),
        None => z.iter_mut().zip(r.iter().zip(&diagonal)).for_each(|(z, (r, d))| *z = r / d),
    };
    let mut second = |r: &[f64], z: &mut [f64]| {
        of_pressures.apply(r, z);
        z.iter_mut().zip(r.iter().zip(&system.viscosities)).for_each(|(z, (r, mu))| *z += mu * r);
    };
    let mut rhs = system.rhs.clone();
    let mean = rhs[velocities..].iter().sum::<f64>() / schur.height() as f64;
    rhs[velocities..].iter_mut().for_each(|r| *r -= mean);
    let mut x = vec![0.0; rhs.len()];
    let mut rest = vec![0.0; schur.height()];
    let triangular = |r: &[f64], z: &mut [f64]| {
        let ((ru, rp), (zu, zp)) = (r.split_at(velocities), z.split_at_mut(velocities));
        first(ru, zu);
        rest.copy_from_slice(rp);
        system.b.apply_add(1.0, zu, &mut rest);
        rest.iter_mut().for_each(|r| *r = -*r);
        second(&rest, zp);
    };
    let info = flexible_gmres(&rhs, &mut x, |p, q| system.product(p, q), triangular, &GmresParams::default());
    let info = info.expect("converges");
    let minres = compare.then(|| {
        let diagonal = |r: &[f64], z: &mut [f64]| {
            let ((ru, rp), (zu, zp)) = (r.split_at(velocities), z.split_at_mut(velocities));
            first(ru, zu);
            second(rp, zp);
        };
        let params = SolveParams { tolerance: 1e-6, max_iterations: 500 };
        minres(&rhs, &mut x, |p, q| system.product(p, q), diagonal, &params).expect("converges").iterations
    });
    (info, minres)
}

const DENSITIES: [(&str, [f64; 2]); 3] =
    [("1", [1.0, 1.0]), ("1000 inside", [1.0, 1000.0]), ("1000 outside", [1000.0, 1.0])];

#[test]
fn two_fluids_take_few_iterations() {
    for (name, densities) in DENSITIES {
        let case = Case { n: 8, densities, viscous: 0.0, capillary: 0.0 };
        let (info, minres) = iterations(case, &AmgParams::default(), true);
        println!("ratio {name}: {} iterations, {minres:?} of MINRES", info.iterations);
        assert!(info.iterations <= 12, "ratio {name}: {} iterations", info.iterations);
    }
}

/// Viscous and capillary numbers, ratios, sizes.
#[test]
#[ignore = "takes a minute"]
fn long_two_fluids_in_all_sizes() {
    for (viscous, capillary) in [(0.0, 0.0), (0.0, 1.0), (0.0, 10.0), (1.0, 0.0), (100.0, 0.0)] {
        for (name, densities) in DENSITIES {
            let mut line = format!("viscous {viscous} capillary {capillary} ratio {name}:");
            for n in [8, 16, 24] {
                let case = Case { n, densities, viscous, capillary };
                let (info, minres) = iterations(case, &AmgParams::default(), n < 24);
                line += &format!(" {}", info.iterations);
                line += &minres.map_or(String::new(), |minres| format!(" (MINRES {minres})"));
                let most = match (viscous, capillary) {
                    (0.0, 0.0) => 12,
                    (0.0, 1.0) => 22,
                    (1.0, 0.0) => 26,
                    _ => 38,
                };
                assert!(info.iterations <= most, "{line}");
            }
            println!("{line}");
        }
    }
}

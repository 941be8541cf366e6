//! The blocks of the system (TET-VALIDATION C2, C3).

use faer::Mat;
use faer::linalg::solvers::Solve;
use meniscus_core::vector::{dot, norm, sub};
use meniscus_tet::fem::direct;
use meniscus_tet::fem::discretisation::Scheme;
use meniscus_tet::fem::materials::{Material, Materials, Side};
use meniscus_tet::fem::rows::BlockRows;
use meniscus_tet::fem::unknowns::PressureSpace;

use crate::case::{Case, fluid, slip_box};
use crate::meshes::{Noise, Tets, kuhn};

const PAPER: PressureSpace = PressureSpace::Tets;

/// Three fluids and a void in slabs and wedges of a unit box.
fn motley(pressures: PressureSpace) -> Case {
    let label = |x: [f64; 3]| match x[2] {
        z if z > 0.7 => 3,
        z if z < 0.3 => 0,
        _ => 1 + u8::from(x[0] > 0.5),
    };
    let tets = kuhn([4, 4, 4], 0.25, 0.2, |_, _| false).label_by(label);
    let materials =
        Materials::new(vec![fluid(1000.0, 0.1), fluid(1.0, 0.02), fluid(50.0, 0.0), Material::Void])
            .with_tension(Side::Label(0), Side::Label(1), 0.05)
            .with_tension(Side::Label(1), Side::Label(3), 0.07);
    let walls = slip_box(&tets, [1.0; 3]);
    Case::new(tets, materials, walls, Scheme { pressures, ..Scheme::default() }).falling([0.0, 0.0, -9.81])
}

fn dense<const R: usize, const C: usize>(matrix: &BlockRows<R, C>, columns: usize) -> Mat<f64> {
    let mut full = Mat::zeros(R * matrix.pattern.rows(), C * columns);
    for i in 0..matrix.pattern.rows() {
        for (j, block) in matrix.row(i) {
            for r in 0..R {
                for c in 0..C {
                    full[(R * i + r, C * j + c)] = block[r][c];
                }
            }
        }
    }
    full
}

fn fluid_components(case: &Case) -> Vec<u32> {
    let labels = &case.discretisation.components.labels;
    (0..labels.len()).filter(|&c| !case.materials.is_void(labels[c])).map(|c| c as u32).collect()
}

/// The sum of the gradient's columns of one component, at each vertex.
fn component_gradient(case: &Case, matrix: &BlockRows<3, 1>, component: u32) -> Vec<[f64; 3]> {
    let unknowns = &case.discretisation.unknowns;
    let ones: Vec<[f64; 1]> =
        unknowns.component_of.iter().map(|&c| [f64::from(u8::from(c == component))]).collect();
    unknowns.scatter(&matrix.times(&ones), [0.0; 3], case.tets.positions.len())
}

#[test]
fn gradient_columns_add_up_to_the_gradient_of_a_volume() {
    for pressures in [PressureSpace::Corners, PAPER] {
        let mut case = motley(pressures);
        case.walls.clear();
        let system = case.system(0.01);
        let mut noise = Noise(2);
        let step: Vec<_> = case.tets.positions.iter().map(|_| noise.vector()).collect();
        for component in fluid_components(&case) {
            let gradient = component_gradient(&case, &system.gradient, component);
            let rate: f64 = gradient.iter().zip(&step).map(|(&g, &d)| dot(g, d)).sum();
            let volume = |s: f64| {
                let shifted = case.tets.positions.iter().zip(&step);
                let moved: Vec<[f64; 3]> =
                    shifted.map(|(x, d)| std::array::from_fn(|k| x[k] + s * d[k])).collect();
                case.discretisation.components.volumes(&case.tets.mesh().moved_to(&moved))[component as usize]
            };
            let slope = (volume(1e-5) - volume(-1e-5)) / 2e-5;
            assert!((rate - slope).abs() < 1e-9, "{rate} {slope}");
        }
    }
}

/// The residual form changes no component's volume.
#[test]
fn divergence_rows_add_up_as_gradient_columns_do() {
    let case = motley(PressureSpace::Corners);
    let system = case.system(0.01);
    let nodes = system.force.len();
    let sum = |q: &[usize]| {
        let mut sums = vec![[0.0; 3]; nodes];
        for (node, d) in q.iter().flat_map(|&q| system.divergence.row(q)) {
            (0..3).for_each(|x| sums[node][x] += d[0][x]);
        }
        sums
    };
    for component in fluid_components(&case) {
        let unknowns = &case.discretisation.unknowns;
        let ours: Vec<_> =
            (0..system.expansion.len()).filter(|&q| unknowns.component_of[q] == component).collect();
        let there = component_gradient(&case, &system.gradient, component);
        for (a, b) in sum(&ours).into_iter().zip(unknowns.gather(&there)) {
            assert!(norm(sub(a, b)) < 1e-15);
        }
    }
}

#[test]
fn leak_is_symmetric_and_sees_no_constants() {
    for pressures in [PressureSpace::Corners, PAPER] {
        let case = motley(pressures);
        let system = case.system(0.01);
        let count = system.expansion.len();
        let leak = dense(&system.leak, count);
        let size = leak.norm_max();
        assert!((&leak - leak.transpose()).norm_max() < 1e-14 * size);
        for component in fluid_components(&case) {
            let ours = |q| f64::from(u8::from(case.discretisation.unknowns.component_of[q] == component));
            let constant = Mat::from_fn(count, 1, |q, _| ours(q));
            assert!((&leak * constant).norm_max() < 1e-13 * size);
        }
        let eigenvalues = leak.self_adjoint_eigenvalues(faer::Side::Lower).expect("eigenvalues");
        assert!(eigenvalues.iter().all(|&e| e > -1e-13 * size));
    }
}

/// Of pressures that are linear in each component the stabiliser sees no more than the residual's share.
#[test]
fn projected_leak_sees_no_linear_pressures() {
    let case = motley(PressureSpace::Corners);
    let system = case.system(1e-9);
    let unknowns = &case.discretisation.unknowns;
    let slopes = [[1.0, 2.0, -1.0], [0.5, 0.0, 3.0], [-2.0, 1.0, 1.0]];
    let mut pressure = vec![[0.0]; system.expansion.len()];
    let mut plain = 0.0;
    for (tet, corners) in unknowns.corners.iter().enumerate().filter(|(_, c)| c[0] != u32::MAX) {
        let component = unknowns.component_of[corners[0] as usize] as usize;
        for (&q, &v) in corners.iter().zip(&case.tets.tets[tet]) {
            pressure[q as usize] = [dot(slopes[component % 3], case.tets.positions[v as usize])];
        }
        let (density, _) = case.materials.fluid(case.tets.labels[tet]).expect("a fluid");
        plain += case.tets.mesh().element(tet).volume * dot(slopes[component % 3], slopes[component % 3])
            / density;
    }
    let leak: f64 = system.leak.times(&pressure).iter().zip(&pressure).map(|(c, p)| c[0] * p[0]).sum();
    assert!((leak / plain - 0.01).abs() < 1e-6, "{}", leak / plain);
}

#[test]
fn momentum_is_symmetric_and_paper_mode_is_too() {
    for pressures in [PressureSpace::Corners, PAPER] {
        let system = motley(pressures).system(0.01);
        let [nodes, count] = [system.force.len(), system.expansion.len()];
        let momentum = dense(&system.momentum, nodes);
        assert!((&momentum - momentum.transpose()).norm_max() < 1e-14 * momentum.norm_max());
        momentum.llt(faer::Side::Lower).expect("a positive definite matrix");
        let [gradient, divergence] = [dense(&system.gradient, count), dense(&system.divergence, nodes)];
        let bound = if pressures == PAPER { 1e-15 } else { 0.011 };
        assert!((&gradient - divergence.transpose()).norm_max() <= bound * gradient.norm_max());
    }
}

#[test]
fn direct_solutions_fulfil_the_system() {
    let case = motley(PressureSpace::Corners);
    let system = case.system(0.01);
    let solution = direct::solve(&system).expect("a solution");
    let impulses: Vec<_> = solution.impulses.iter().map(|&l| [l]).collect();
    let [pushed, balance] = [system.momentum.times(&solution.velocities), system.gradient.times(&impulses)];
    let largest = system.force.iter().map(|&f| norm(f)).fold(0.0, f64::max);
    for node in 0..pushed.len() {
        let residual: [f64; 3] =
            std::array::from_fn(|x| pushed[node][x] - balance[node][x] - system.force[node][x]);
        assert!(norm(residual) < 1e-12 * largest);
    }
    let [divergence, leak] = [system.divergence.times(&solution.velocities), system.leak.times(&impulses)];
    let scale = system.expansion.iter().fold(1e-6_f64, |most, c| most.max(c.abs()));
    for q in 0..leak.len() {
        assert!((divergence[q][0] + leak[q][0] - system.expansion[q]).abs() < 1e-10 * scale);
    }
}

/// Singular values of D A^-1 G + C, scaled to a unit diagonal, that vanish.
fn zero_modes(tets: Tets) -> usize {
    let kinds = 1 + tets.labels.iter().max().map_or(0, |&l| l as usize);
    let walls = slip_box(&tets, [1.0; 3]);
    let case = Case::new(tets, Materials::new(vec![fluid(1.0, 0.0); kinds]), walls, Scheme::default());
    let system = case.system(0.01);
    let [nodes, count] = [system.force.len(), system.expansion.len()];
    let solved = dense(&system.momentum, nodes).partial_piv_lu().solve(dense(&system.gradient, count));
    let schur = dense(&system.divergence, nodes) * solved + dense(&system.leak, count);
    let scale = |q: usize| 1.0 / schur[(q, q)].sqrt();
    let scaled = Mat::from_fn(count, count, |q, r| scale(q) * schur[(q, r)] * scale(r));
    assert_eq!(system.closed_parts.len(), 1);
    scaled.singular_values().expect("singular values").iter().filter(|&&s| s < 1e-10).count()
}

#[test]
fn a_closed_box_has_one_free_pressure_whatever_its_components() {
    let cube = || kuhn([4, 4, 4], 0.25, 0.2, |_, _| false);
    assert_eq!(zero_modes(cube()), 1);
    assert_eq!(zero_modes(cube().label_by(|x| u8::from((x[2] - 0.375).abs() < 0.125))), 1);
    let mut noise = Noise(4);
    let specks: Vec<u8> = (0..384).map(|_| u8::from(noise.draw() > 0.9)).collect();
    assert_eq!(zero_modes(Tets { labels: specks, ..cube() }), 1);
    let random: Vec<u8> = (0..384).map(|_| (1.5 * (1.0 + noise.draw())) as u8).collect();
    assert_eq!(zero_modes(Tets { labels: random, ..cube() }), 1);
}

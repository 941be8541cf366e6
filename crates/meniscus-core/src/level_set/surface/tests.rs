use std::collections::HashMap;
use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::grid::Blocks;

fn field<const D: usize>(cells: [usize; D], phi: impl Fn([f32; D]) -> f32 + Sync) -> Field<f32, D> {
    Field::from_fn(Arc::new(Blocks::all(cells)), 3.0, |c| phi(c.map(|c| c as f32 + 0.5)))
}

/// A random smooth function: value noise with a wavelength of `scale` cells.
fn noise<const D: usize>(seed: u64, scale: f32) -> impl Fn([f32; D]) -> f32 + Sync {
    move |x| {
        let y = x.map(|x| x / scale);
        let lattice = |corner: usize| {
            let key = (0..D).fold(seed, |h, a| {
                let node = (y[a].floor() as i64 + (corner >> a & 1) as i64) as u64;
                (h ^ node).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(31)
            });
            (key >> 40) as f32 / (1 << 23) as f32 - 1.0
        };
        (0..1usize << D)
            .map(|corner| {
                let weight = |a: usize| {
                    let t = y[a] - y[a].floor();
                    let s = t * t * (3.0 - 2.0 * t);
                    if corner >> a & 1 == 1 { s } else { 1.0 - s }
                };
                lattice(corner) * (0..D).map(weight).product::<f32>()
            })
            .sum()
    }
}

fn volume(mesh: &SurfaceMesh) -> f64 {
    let corner = |v: u32| mesh.position[v as usize].map(f64::from);
    let cone = |t: &[u32; 3]| {
        let [a, b, c] = t.map(corner);
        let cross: [f64; 3] =
            std::array::from_fn(|i| b[(i + 1) % 3] * c[(i + 2) % 3] - b[(i + 2) % 3] * c[(i + 1) % 3]);
        crate::vector::dot(a, cross)
    };
    mesh.triangles.iter().map(cone).sum::<f64>() / 6.0
}

/// Every edge has two triangles that run along it in opposite directions, and the triangles around each vertex
/// make one fan.
fn assert_manifold(mesh: &SurfaceMesh) {
    let mut next = HashMap::new();
    for t in &mesh.triangles {
        for k in 0..3 {
            let edge = (t[k], t[(k + 1) % 3]);
            assert_ne!(edge.0, edge.1);
            assert!(next.insert(edge, t[(k + 2) % 3]).is_none(), "two triangles run along {edge:?}");
        }
    }
    assert!(next.keys().all(|&(a, b)| next.contains_key(&(b, a))), "an open edge");
    let mut valence = vec![0usize; mesh.position.len()];
    let mut spoke = vec![None; mesh.position.len()];
    for &(a, b) in next.keys() {
        valence[a as usize] += 1;
        spoke[a as usize] = Some(b);
    }
    for (v, spoke) in spoke.into_iter().enumerate() {
        let (v, first) = (v as u32, spoke.expect("every vertex is used"));
        let (mut turns, mut at) = (1, next[&(v, first)]);
        while at != first {
            at = next[&(v, at)];
            turns += 1;
        }
        assert_eq!(turns, valence[v as usize], "two fans meet at vertex {v}");
    }
}

fn area(mesh: &SurfaceMesh, t: &[u32; 3]) -> f32 {
    let [a, b, c] = t.map(|v| mesh.position[v as usize]);
    let n = cross(sub(b, a), sub(c, a));
    0.5 * dot(n, n).sqrt()
}

fn longest_squared(mesh: &SurfaceMesh, t: &[u32; 3]) -> f32 {
    let [a, b, c] = t.map(|v| mesh.position[v as usize]);
    [sub(b, a), sub(c, b), sub(a, c)].map(|e| dot(e, e)).into_iter().fold(0.0, f32::max)
}

#[test]
fn a_sphere_has_its_volume_its_normals_and_well_shaped_triangles() {
    for shift in [0.0, 0.13, 0.5, 0.77] {
        let centre = [16.0 + shift, 15.9, 16.3];
        let phi = field([32; 3], |x| dot(sub(x, centre), sub(x, centre)).sqrt() - 10.0);
        let mesh = surface_mesh(&phi);
        assert_manifold(&mesh);
        let exact = 4.0 / 3.0 * std::f64::consts::PI * 1000.0;
        assert!((volume(&mesh) / exact - 1.0).abs() < 5e-3, "{}", volume(&mesh) / exact);
        for (x, n) in mesh.position.iter().zip(&mesh.normal) {
            let out = sub(*x, centre);
            let r = dot(out, out).sqrt();
            assert!((r - 10.0).abs() < 0.02, "{r}");
            assert!(dot(out, *n) / r > 0.998, "{}", dot(out, *n) / r);
        }
        // The height over the longest side, 0.87 of it in an equilateral triangle.
        let mut shapes: Vec<f32> =
            mesh.triangles.iter().map(|t| 2.0 * area(&mesh, t) / longest_squared(&mesh, t)).collect();
        shapes.sort_by(f32::total_cmp);
        let thin = shapes.partition_point(|&shape| shape < 0.2);
        assert!(shapes[0] > 0.03 && thin * 100 < shapes.len(), "{} thin triangles, {}", thin, shapes[0]);
    }
}

#[test]
fn a_full_domain_is_its_box_exactly() {
    for cells in [[8, 16, 11], [1, 1, 1], [7, 9, 24]] {
        let mesh = surface_mesh(&field(cells, |_| -2.0));
        assert_manifold(&mesh);
        assert_eq!(volume(&mesh), cells.iter().product::<usize>() as f64);
        for a in 0..3 {
            let along = || mesh.position.iter().map(|x| x[a]);
            assert_eq!(along().fold(f32::MAX, f32::min), 0.0);
            assert_eq!(along().fold(f32::MIN, f32::max), cells[a] as f32);
        }
    }
}

#[test]
fn a_tank_with_a_flat_surface_has_the_volume_of_its_water() {
    let mesh = surface_mesh(&field([12, 20, 9], |x| (x[1] - 7.3).clamp(-3.0, 3.0)));
    assert_manifold(&mesh);
    assert!((volume(&mesh) - 12.0 * 7.3 * 9.0).abs() < 1e-3);
    // The same where the water stands against the upper walls, and in a tilted tank.
    let mesh = surface_mesh(&field([12, 20, 9], |x| 12.7 - x[1]));
    assert!((volume(&mesh) - 12.0 * 7.3 * 9.0).abs() < 1e-3);
    let mesh = surface_mesh(&field([16, 16, 16], |x| x[0] + x[1] + x[2] - 24.0));
    assert_manifold(&mesh);
    assert!((volume(&mesh) - 2048.0).abs() < 2.0, "{}", volume(&mesh));
}

#[test]
fn inactive_blocks_and_nonsense_are_air() {
    let blocks = Arc::new(Blocks::<3>::new([24; 3], |c| c == [1, 1, 1]));
    let mesh = surface_mesh(&Field::from_fn(blocks.clone(), -5.0, |_| -1.0));
    assert_manifold(&mesh);
    assert!(volume(&mesh) > 400.0 && volume(&mesh) < 600.0);
    assert!(mesh.position.iter().flatten().all(|x| (7.4..16.6).contains(x)));
    let strange = Field::from_fn(blocks, f32::NAN, |c| match c[0] % 4 {
        0 => f32::NAN,
        1 => f32::NEG_INFINITY,
        2 => f32::INFINITY,
        _ => -f32::MIN_POSITIVE,
    });
    let mesh = surface_mesh(&strange);
    assert_manifold(&mesh);
    assert!(mesh.position.iter().chain(&mesh.normal).flatten().all(|x| x.is_finite()));
    assert_eq!(surface_mesh(&field([9; 3], |_| 1.0)), SurfaceMesh::default());
}

fn assert_closed_with_normals_out<const SMOOTH: bool>(phi: &Field<f32, 3>) {
    let mesh = surface_mesh(phi);
    assert_manifold(&mesh);
    let cells = phi.blocks().cells();
    let inside = |x: &[f32; 3]| (0..3).all(|a| (0.0..=cells[a] as f32).contains(&x[a]));
    assert!(mesh.position.iter().all(inside));
    let flat = mesh.triangles.iter().filter(|t| area(&mesh, t) < 1e-7).count();
    assert!(flat == 0, "{flat} degenerate of {}", mesh.triangles.len());
    if SMOOTH {
        let rises = |(x, n): (&[f32; 3], &[f32; 3])| {
            let at = |s: f32| crate::interpolate::interpolate(phi, std::array::from_fn(|a| x[a] + s * n[a]));
            let wall = (0..3).any(|a| x[a] < 2.0 || x[a] > cells[a] as f32 - 2.0);
            wall || at(0.3) > at(-0.3)
        };
        let right = mesh.position.iter().zip(&mesh.normal).filter(|&(x, n)| rises((x, n))).count();
        assert!(right * 100 >= mesh.position.len() * 99, "{right} of {}", mesh.position.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn smooth_noise_is_closed(seed: u64, scale in 3.0f32..9.0, offset in -0.4f32..0.4) {
        let value = noise::<3>(seed, scale);
        assert_closed_with_normals_out::<true>(&field([21, 24, 17], |x| 3.0 * (value(x) + offset)));
    }

    /// Every cell for itself: all configurations next to all others, with and without a boundary.
    #[test]
    fn white_noise_is_closed(seed: u64, offset in -0.7f32..0.7) {
        let value = noise::<3>(seed, 1.0);
        assert_closed_with_normals_out::<false>(&field([13, 16, 10], |x| value(x.map(f32::floor)) + offset));
    }

    #[test]
    fn sparse_blocks_are_closed(seed: u64, mask: u64) {
        let value = noise::<3>(seed, 4.0);
        let blocks = Arc::new(Blocks::new([23, 32, 25], |c| mask >> (c[0] + 3 * c[1] + 15 * c[2]) & 1 == 1));
        let phi = Field::from_fn(blocks, 3.0, |c| value(c.map(|c| c as f32)));
        assert_closed_with_normals_out::<false>(&phi);
    }

    #[test]
    fn contours_are_closed(seed: u64, scale in 1.0f32..9.0, offset in -0.6f32..0.6) {
        let value = noise::<2>(seed, scale);
        let phi = field([33, 24], |x| value(x.map(f32::floor)) + offset);
        let loops = contour(&phi);
        // Liquid lies on the left of each segment that is not along a wall.
        let mut area = 0.0;
        for points in &loops {
            prop_assert!(points.len() >= 4);
            for (k, p) in points.iter().enumerate() {
                let q = points[(k + 1) % points.len()];
                prop_assert!(p != &q && (p[0] - q[0]).abs() <= 2.0 && (p[1] - q[1]).abs() <= 2.0);
                area += 0.5 * f64::from(p[0] * q[1] - p[1] * q[0]);
            }
        }
        let liquid = phi.values().iter().enumerate().filter(|&(i, &v)| {
            let cell = phi.blocks().cell(crate::grid::Slot { block: i / 64, local: i % 64 });
            v < 0.0 && cell[0] < 33 && cell[1] < 24
        });
        let cells = liquid.count() as f64;
        prop_assert!((area - cells).abs() < 0.2 * 33.0 * 24.0 && (area > 0.0 || cells < 40.0), "{area} {cells}");
    }
}

#[test]
fn a_disc_and_a_full_square_have_their_areas() {
    let area = |loops: &[Vec<[f32; 2]>]| -> f64 {
        let cross = |p: [f32; 2], q: [f32; 2]| 0.5 * f64::from(p[0] * q[1] - p[1] * q[0]);
        let one = |l: &Vec<[f32; 2]>| (0..l.len()).map(|k| cross(l[k], l[(k + 1) % l.len()])).sum::<f64>();
        loops.iter().map(one).sum()
    };
    let disc = contour(&field([32, 30], |x| (x[0] - 15.2).hypot(x[1] - 14.9) - 10.0));
    assert_eq!(disc.len(), 1);
    assert!((area(&disc) / (100.0 * std::f64::consts::PI) - 1.0).abs() < 3e-3, "{}", area(&disc));
    let ring = contour(&field([32, 30], |x| ((x[0] - 15.2).hypot(x[1] - 14.9) - 9.0).abs() - 2.0));
    assert_eq!(ring.len(), 2);
    assert!((area(&ring) / (72.0 * std::f64::consts::PI) - 1.0).abs() < 3e-3, "{}", area(&ring));
    assert_eq!(area(&contour(&field([16, 9], |_| -1.0))), 144.0);
    assert_eq!(area(&contour(&field([1, 1], |_| -1.0))), 1.0);
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    let value = noise::<3>(5, 4.0);
    let phi = field([40; 3], &value);
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| surface_mesh(&phi))
    };
    let once = run(1);
    assert!(!once.triangles.is_empty());
    assert!(once == run(2) && once == run(3));
}

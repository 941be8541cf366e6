//! Conservation and reproduction, in both dimensions, on random particles and random block layouts.

use proptest::prelude::*;

use super::*;
use crate::grid::FaceField;
use crate::particles::{SortWorkspace, blocks_near};

/// Particles in `lower..upper` of a domain with random velocities and affine matrices from a hash.
fn cloud<const D: usize>(cells: [usize; D], count: usize, margin: f32, salt: u32) -> Particles<D> {
    let mut state = salt;
    let mut random = move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 24) as f32
    };
    let position = (0..count)
        .map(|_| std::array::from_fn(|a| margin + random() * (cells[a] as f32 - 2.0 * margin)))
        .collect();
    let mut particles = Particles::at(position);
    let spin = 0.1;
    for (v, x) in particles.velocity.iter_mut().zip(&particles.position) {
        // A rotation in the (0, 1) plane, so that there is angular momentum to lose, and noise.
        *v = std::array::from_fn(|_| random() - 0.3);
        v[0] -= spin * (x[1] - 0.5 * cells[1] as f32);
        v[1] += spin * (x[0] - 0.5 * cells[0] as f32);
    }
    let matrix = |_| std::array::from_fn(|_| std::array::from_fn(|_| random() - 0.5));
    particles.affine = Some((0..count).map(matrix).collect());
    particles
}

struct Transferred<const D: usize> {
    particles: Particles<D>,
    ranges: BlockRanges<D>,
    velocity: FaceField<f32, D>,
    weight: FaceField<f32, D>,
}

fn to_grid<const D: usize>(cells: [usize; D], mut particles: Particles<D>) -> Transferred<D> {
    let blocks = Arc::new(blocks_near(cells, &particles.position, 1.0));
    let ranges = particles.sort_by_block(&blocks, &mut SortWorkspace::default());
    let mut velocity = FaceField::new(blocks.clone(), 0.0);
    let mut weight = FaceField::new(blocks, 0.0);
    let workspace = &mut TransferWorkspace::default();
    particles_to_grid(&particles, &ranges, &mut velocity, &mut weight, workspace);
    Transferred { particles, ranges, velocity, weight }
}

/// A sum and the sum of absolute values, the scale that its rounding errors are measured by.
#[derive(Clone, Copy, Debug)]
struct Total {
    sum: f64,
    scale: f64,
}

impl Total {
    fn of(terms: impl Iterator<Item = f64>) -> Self {
        terms.fold(Self { sum: 0.0, scale: 0.0 }, |t, x| Self { sum: t.sum + x, scale: t.scale + x.abs() })
    }

    fn differs_by(self, other: Self) -> f64 {
        (self.sum - other.sum).abs() / self.scale.max(other.scale)
    }
}

/// The faces of the domain with their mass and velocity: (position, mass, velocity).
fn faces<const D: usize>(t: &Transferred<D>, axis: usize) -> impl Iterator<Item = ([f64; D], f64, f64)> {
    let blocks = t.velocity.blocks();
    (0..blocks.slots()).map(move |index| {
        let n = crate::grid::block_len::<D>();
        let slot = crate::grid::Slot { block: index / n, local: index % n };
        let mut x = blocks.cell(slot).map(|c| c as f64 + 0.5);
        x[axis] -= 0.5;
        (x, f64::from(t.weight.axes[axis][slot]), f64::from(t.velocity.axes[axis][slot]))
    })
}

fn linear_momentum_of_grid<const D: usize>(t: &Transferred<D>, axis: usize) -> Total {
    Total::of(faces(t, axis).map(|(_, m, u)| m * u))
}

fn linear_momentum_of_particles<const D: usize>(p: &Particles<D>, axis: usize) -> Total {
    Total::of(p.velocity.iter().map(|v| f64::from(v[axis])))
}

/// The axes of rotation, as pairs of axes.
fn planes<const D: usize>() -> impl Iterator<Item = (usize, usize)> {
    (0..D).flat_map(|a| (a + 1..D).map(move |b| (a, b)))
}

/// `sum m (x_a u_b - x_b u_a)` over faces.
fn angular_momentum_of_grid<const D: usize>(t: &Transferred<D>, (a, b): (usize, usize)) -> Total {
    let forward = faces(t, b).map(|(x, m, u)| m * x[a] * u);
    let backward = faces(t, a).map(|(x, m, u)| -m * x[b] * u);
    Total::of(forward.chain(backward))
}

/// A particle with an affine matrix carries the angular momentum of its velocity field over its own
/// kernel: `x_a v_b + (D_b c_b)_a - ..`, where component `b` has the diagonal second moments
/// `(D_b)_aa = f (1 - f)` of its kernel along axis a (Jiang et al. 2015, for the multilinear kernel).
fn angular_momentum_of_particles<const D: usize>(p: &Particles<D>, (a, b): (usize, usize)) -> Total {
    let moment = |x: f32| {
        let f = f64::from(x - 0.5).rem_euclid(1.0);
        f * (1.0 - f)
    };
    let affine =
        |k: usize, row: usize, column: usize| p.affine.as_ref().map_or(0.0, |c| f64::from(c[k][row][column]));
    Total::of((0..p.len()).flat_map(|k| {
        let (x, v) = (p.position[k].map(f64::from), p.velocity[k].map(f64::from));
        let spin_b = moment(p.position[k][a]) * affine(k, b, a);
        let spin_a = moment(p.position[k][b]) * affine(k, a, b);
        [x[a] * v[b] + spin_b, -(x[b] * v[a] + spin_a)]
    }))
}

/// Relative to the sum of absolute values, f32 sums of some tens of terms on each face, f32 weights
/// and one division are each off by a few 6e-8, with random signs.
const ROUNDING: f64 = 1e-6;

fn conserves_linear_momentum<const D: usize>(cells: [usize; D], particles: Particles<D>) {
    let t = to_grid(cells, particles);
    for axis in 0..D {
        let mass = Total::of(faces(&t, axis).map(|(_, m, _)| m));
        assert!((mass.sum / t.particles.len() as f64 - 1.0).abs() < ROUNDING);
        let (before, after) =
            (linear_momentum_of_particles(&t.particles, axis), linear_momentum_of_grid(&t, axis));
        // Faces have smaller momenta than the affine parts of particles that cancel in them.
        assert!(before.differs_by(after) < 4.0 * ROUNDING, "{before:?} {after:?}");
    }
}

/// The relative change of angular momentum, particles to grid and particles to particles.
fn angular_momentum_change<const D: usize>(
    cells: [usize; D],
    mut particles: Particles<D>,
    apic: bool,
) -> (f64, f64) {
    if !apic {
        particles.affine = None;
    }
    let t = to_grid(cells, particles);
    let mut after = t.particles.clone();
    grid_to_particles(&t.velocity, if apic { Scheme::Apic } else { Scheme::Pic }, &mut after, &t.ranges);
    planes::<D>().fold((0.0f64, 0.0f64), |worst, plane| {
        let before = angular_momentum_of_particles(&t.particles, plane);
        let grid = before.differs_by(angular_momentum_of_grid(&t, plane));
        (worst.0.max(grid), worst.1.max(before.differs_by(angular_momentum_of_particles(&after, plane))))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn linear_momentum_and_mass_are_kept(salt in any::<u32>(), count in 1usize..800) {
        conserves_linear_momentum([40, 27], cloud([40, 27], count, 0.0, salt));
        conserves_linear_momentum([17, 24, 15], cloud([17, 24, 15], count, 0.0, salt));
    }

    #[test]
    fn apic_keeps_angular_momentum(salt in any::<u32>(), count in 2usize..800) {
        let two = angular_momentum_change([40, 27], cloud([40, 27], count, 0.5, salt), true);
        let three = angular_momentum_change([17, 24, 15], cloud([17, 24, 15], count, 0.5, salt), true);
        prop_assert!(two.0.max(two.1) < ROUNDING, "{two:?}");
        prop_assert!(three.0.max(three.1) < ROUNDING, "{three:?}");
    }

    #[test]
    fn flip_on_an_unchanged_grid_changes_no_bit(salt in any::<u32>(), count in 1usize..300) {
        let t = to_grid([17, 24, 15], cloud([17, 24, 15], count, 0.0, salt));
        let mut after = t.particles.clone();
        grid_to_particles(&t.velocity, Scheme::Flip { before: &t.velocity, blend: 1.0 }, &mut after, &t.ranges);
        prop_assert_eq!(after, t.particles);
    }
}

#[test]
fn pic_loses_angular_momentum() {
    let (grid, particles) = angular_momentum_change([40, 27], cloud([40, 27], 3000, 0.5, 1), false);
    assert!(grid < ROUNDING, "without an affine part the transfer to the grid still keeps it: {grid}");
    assert!(particles > 100.0 * ROUNDING, "the check above can fail: {particles}");
}

/// Component `a` at `x`: an affine field with numbers that make rounding errors visible.
fn affine_field<const D: usize>(a: usize, x: [f32; D]) -> f32 {
    0.7 * a as f32 - 0.4 + (0..D).map(|b| affine_slope(a, b) * x[b]).sum::<f32>()
}

fn affine_slope(a: usize, b: usize) -> f32 {
    0.11 * a as f32 - 0.07 * b as f32 + if a == b { 0.05 } else { -0.02 }
}

fn apic_reproduces_affine_fields<const D: usize>(cells: [usize; D]) {
    let mut particles = cloud(cells, 4000, 0.5, 5);
    for (v, x) in particles.velocity.iter_mut().zip(&particles.position) {
        *v = std::array::from_fn(|a| affine_field(a, *x));
    }
    let slopes = std::array::from_fn(|a| std::array::from_fn(|b| affine_slope(a, b)));
    particles.affine = Some(vec![slopes; particles.len()]);
    let t = to_grid(cells, particles);
    for axis in 0..D {
        for (x, m, u) in faces(&t, axis).filter(|f| f.1 > 0.01) {
            let expected = f64::from(affine_field(axis, x.map(|x| x as f32)));
            assert!((u - expected).abs() < 1e-5, "{u} {expected} {m}");
        }
    }
    let mut after = t.particles.clone();
    grid_to_particles(&t.velocity, Scheme::Apic, &mut after, &t.ranges);
    for k in 0..after.len() {
        for a in 0..D {
            assert!((after.velocity[k][a] - t.particles.velocity[k][a]).abs() < 1e-5);
            for b in 0..D {
                assert!((after.affine.as_ref().unwrap()[k][a][b] - affine_slope(a, b)).abs() < 3e-5);
            }
        }
    }
}

#[test]
fn apic_reproduces_affine_fields_in_both_dimensions() {
    apic_reproduces_affine_fields([23, 16]);
    apic_reproduces_affine_fields([9, 10, 11]);
}

#[test]
fn flip_adds_the_change_and_blends_with_pic() {
    let mut t = to_grid([24, 24], cloud([24, 24], 2000, 0.5, 9));
    let before = t.velocity.clone();
    for value in t.velocity.axes[1].values_mut() {
        *value -= 0.25;
    }
    let (mut pic, mut blend) = (t.particles.clone(), t.particles.clone());
    grid_to_particles(&t.velocity, Scheme::Pic, &mut pic, &t.ranges);
    grid_to_particles(&t.velocity, Scheme::Flip { before: &before, blend: 0.75 }, &mut blend, &t.ranges);
    for k in 0..blend.len() {
        let (v, p, b) = (t.particles.velocity[k], pic.velocity[k], blend.velocity[k]);
        assert!((b[0] - (0.75 * v[0] + 0.25 * p[0])).abs() < 1e-5);
        assert!((b[1] - (0.75 * (v[1] - 0.25) + 0.25 * p[1])).abs() < 1e-5);
    }
}

#[test]
#[should_panic(expected = "not in the block it was sorted to")]
fn a_particle_that_moved_since_the_sort_is_refused() {
    let mut t = to_grid([32, 32], cloud([32, 32], 100, 0.0, 2));
    t.particles.position[0] = t.particles.position[t.particles.len() - 1];
    let workspace = &mut TransferWorkspace::default();
    particles_to_grid(&t.particles, &t.ranges, &mut t.velocity, &mut t.weight, workspace);
}

#[test]
fn transfers_give_the_same_bits_for_any_number_of_threads() {
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let t = to_grid([33, 20, 25], cloud([33, 20, 25], 20_000, 0.0, 4));
            let mut after = t.particles.clone();
            grid_to_particles(&t.velocity, Scheme::Apic, &mut after, &t.ranges);
            let flip = Scheme::Flip { before: &t.weight, blend: 0.9 };
            let mut flipped = t.particles.clone();
            grid_to_particles(&t.velocity, flip, &mut flipped, &t.ranges);
            (t.velocity, t.weight, after, flipped)
        })
    };
    let one = run(1);
    for threads in 2..=3 {
        let other = run(threads);
        for axis in 0..3 {
            let bits =
                |f: &FaceField<f32, 3>| f.axes[axis].values().iter().map(|v| v.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&one.0), bits(&other.0));
            assert_eq!(bits(&one.1), bits(&other.1));
        }
        assert_eq!(one.2, other.2);
        assert_eq!(one.3, other.3);
    }
}

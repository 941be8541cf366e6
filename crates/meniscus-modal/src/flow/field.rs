//! A flow at any points.

use meniscus_core::simd::simd;

use super::product::{Matrix, dot};
use super::sines::Sines;

/// What a flow is at a point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sample {
    /// The stream function, in m²/s.
    pub stream: f64,
    /// The velocity, in m/s.
    pub velocity: [f64; 2],
}

/// The sines and the cosines of the multiples of angles: a row for each multiple, from one.
fn waves(angles: impl Iterator<Item = f64>, count: usize) -> [Matrix; 2] {
    let (first_sin, first_cos): (Vec<f64>, Vec<f64>) = angles.map(f64::sin_cos).unzip();
    let [mut sin, mut cos] = [0, 1].map(|_| Matrix::new(count, first_sin.len()));
    let (mut s, mut c) = (vec![0.0; first_sin.len()], vec![1.0; first_sin.len()]);
    for k in 0..count {
        let ones = first_sin.iter().zip(&first_cos);
        for (((s, c), (sin, cos)), (to_sin, to_cos)) in
            s.iter_mut().zip(&mut c).zip(ones).zip(sin.row_mut(k).iter_mut().zip(cos.row_mut(k)))
        {
            (*s, *c) = (*s * cos + *c * sin, *c * cos - *s * sin);
            (*to_sin, *to_cos) = (*s, *c);
        }
    }
    [sin, cos]
}

/// A flow at points, by its vorticity.
pub fn samples(sines: &Sines, vorticity: &[f64], points: &[[f64; 2]]) -> Vec<Sample> {
    let [kx, ky] = sines.counts;
    let unit = sines.size.map(|side| std::f64::consts::PI / side);
    let [sin_x, cos_x] = waves(points.iter().map(|x| unit[0] * x[0]), kx);
    let [sin_y, cos_y] = waves(points.iter().map(|x| unit[1] * x[1]), ky);
    let stream = Matrix::from_fn(kx, ky, |k, l| vorticity[k * ky + l] / sines.eigenvalue(k * ky + l));
    let along_y = Matrix::from_fn(kx, ky, |k, l| (l + 1) as f64 * unit[1] * stream.row(k)[l]);
    let [mut by_sin, mut by_cos] = [0, 1].map(|_| Matrix::new(kx, points.len()));
    by_sin.set_to_product(&stream, &sin_y);
    by_cos.set_to_product(&along_y, &cos_y);
    let mut samples = vec![Sample::default(); points.len()];
    for k in 0..kx {
        let a = (k + 1) as f64 * unit[0];
        let rows = by_sin.row(k).iter().zip(by_cos.row(k));
        let waves = sin_x.row(k).iter().zip(cos_x.row(k));
        for ((sample, (by_sin, by_cos)), (sin, cos)) in samples.iter_mut().zip(rows).zip(waves) {
            sample.stream += sin * by_sin;
            sample.velocity[0] += sin * by_cos;
            sample.velocity[1] -= a * cos * by_sin;
        }
    }
    samples
}

/// For each sine the sum of its values at points, each with a weight.
pub fn sums_of_sines(sines: &Sines, points: &[([f64; 2], f64)]) -> Vec<f64> {
    let unit = sines.size.map(|side| std::f64::consts::PI / side);
    let [mut along_x, _] = waves(points.iter().map(|(x, _)| unit[0] * x[0]), sines.counts[0]);
    let [along_y, _] = waves(points.iter().map(|(x, _)| unit[1] * x[1]), sines.counts[1]);
    for k in 0..sines.counts[0] {
        along_x.row_mut(k).iter_mut().zip(points).for_each(|(sin, (_, weight))| *sin *= weight);
    }
    let mut sums = Vec::with_capacity(sines.len());
    simd(
        #[inline(always)]
        || {
            for k in 0..sines.counts[0] {
                sums.extend((0..sines.counts[1]).map(|l| dot(along_x.row(k), along_y.row(l))));
            }
        },
    );
    sums
}

/// The stream function of a flow by its vorticity at the corners of the cells of a grid over the box, in lists by x.
pub fn streams_at_nodes(sines: &Sines, vorticity: &[f64], cells: [usize; 2]) -> Vec<f64> {
    let stream = |place: usize| vorticity[place] / sines.eigenvalue(place);
    at_nodes(sines, cells, [Wave::Sin, Wave::Sin], stream)
}

/// The velocity there.
pub fn velocities_at_nodes(sines: &Sines, vorticity: &[f64], cells: [usize; 2]) -> Vec<[f64; 2]> {
    let wave = |place: usize, axis: usize| {
        vorticity[place] / sines.eigenvalue(place) * sines.wave_numbers(place)[axis]
    };
    let along_x = at_nodes(sines, cells, [Wave::Sin, Wave::Cos], |place| wave(place, 1));
    let along_y = at_nodes(sines, cells, [Wave::Cos, Wave::Sin], |place| -wave(place, 0));
    along_x.into_iter().zip(along_y).map(|(u, v)| [u, v]).collect()
}

#[derive(Clone, Copy)]
enum Wave {
    Sin,
    Cos,
}

/// Sums of products of sines or cosines at the corners of cells.
fn at_nodes(sines: &Sines, cells: [usize; 2], of: [Wave; 2], value: impl Fn(usize) -> f64) -> Vec<f64> {
    let [kx, ky] = sines.counts;
    let table = |axis: usize| {
        let nodes = (0..=cells[axis]).map(|node| std::f64::consts::PI * node as f64 / cells[axis] as f64);
        let [sin, cos] = waves(nodes, sines.counts[axis]);
        match of[axis] {
            Wave::Sin => sin,
            Wave::Cos => cos,
        }
    };
    let along_x = table(0).transposed();
    let coefficients = Matrix::from_fn(kx, ky, |k, l| value(k * ky + l));
    let (mut half, mut nodes) = (Matrix::new(kx, cells[1] + 1), Matrix::new(cells[0] + 1, cells[1] + 1));
    half.set_to_product(&coefficients, &table(1));
    nodes.set_to_product(&along_x, &half);
    (0..=cells[0]).flat_map(|i| nodes.row(i)).copied().collect()
}

/// The vorticity by sines of the flow nearest to velocities in the middles of the faces of the cells of a grid over the box, as if it were one through these: of waves shorter than two cells nothing is known.
pub fn vorticity_of_faces(
    sines: &Sines,
    cells: [usize; 2],
    velocity: impl Fn(usize, [usize; 2]) -> f64,
) -> Vec<f64> {
    let [nx, ny] = cells;
    let edge = [0, 1].map(|axis| sines.size[axis] / cells[axis] as f64);
    // At the corners of cells inside the box, where it is the difference of velocities around them.
    let turning = Matrix::from_fn(nx - 1, ny - 1, |i, j| {
        let along_y = velocity(1, [i + 1, j + 1]) - velocity(1, [i, j + 1]);
        let along_x = velocity(0, [i + 1, j + 1]) - velocity(0, [i + 1, j]);
        along_y / edge[0] - along_x / edge[1]
    });
    let known = [0, 1].map(|axis| sines.counts[axis].min(cells[axis] - 1));
    let sin = |axis: usize| {
        let nodes = (1..cells[axis]).map(|node| std::f64::consts::PI * node as f64 / cells[axis] as f64);
        waves(nodes, known[axis])[0].clone()
    };
    let (mut half, mut sums) = (Matrix::new(known[0], ny - 1), Matrix::new(known[0], known[1]));
    half.set_to_product(&sin(0), &turning);
    sums.set_to_product(&half, &sin(1).transposed());
    // The differences of a wave over cells are less than its derivatives.
    let on_cells = |axis: usize, k: usize| {
        let angle = 0.5 * std::f64::consts::PI * k as f64 / cells[axis] as f64;
        (2.0 * angle.sin() / edge[axis]).powi(2)
    };
    let mut vorticity = vec![0.0; sines.len()];
    for k in 1..=known[0] {
        for l in 1..=known[1] {
            let place = sines.place([k, l]);
            let stream = 4.0 / (nx * ny) as f64 * sums.row(k - 1)[l - 1] / (on_cells(0, k) + on_cells(1, l));
            vorticity[place] = sines.eigenvalue(place) * stream;
        }
    }
    vorticity
}

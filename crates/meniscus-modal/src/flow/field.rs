//! A flow at any points.

use super::product::Matrix;
use super::sines::Sines;

/// What a flow is at a point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sample {
    /// The stream function, in m²/s.
    pub stream: f64,
    /// The velocity, in m/s.
    pub velocity: [f64; 2],
    /// The vorticity, in 1/s.
    pub vorticity: f64,
}

/// What finds a flow at points: as many products as there are sines, for each.
#[derive(Clone, Debug)]
pub struct Field<'a> {
    sines: &'a Sines,
    vorticity: &'a [f64],
    /// 1 / λ by sines.
    inverse: Vec<f64>,
    x: Waves,
    y: Waves,
}

/// Sines and cosines of the multiples of an angle.
#[derive(Clone, Debug)]
struct Waves {
    sin: Vec<f64>,
    cos: Vec<f64>,
}

impl Waves {
    fn new(count: usize) -> Self {
        Self { sin: vec![0.0; count], cos: vec![0.0; count] }
    }

    fn set(&mut self, angle: f64) {
        let (sin, cos) = angle.sin_cos();
        let (mut s, mut c) = (0.0, 1.0);
        for (to_sin, to_cos) in self.sin.iter_mut().zip(&mut self.cos) {
            (s, c) = (s * cos + c * sin, c * cos - s * sin);
            (*to_sin, *to_cos) = (s, c);
        }
    }
}

impl<'a> Field<'a> {
    /// Of a flow by its vorticity.
    pub fn new(sines: &'a Sines, vorticity: &'a [f64]) -> Self {
        let inverse = sines.eigenvalues().iter().map(|eigenvalue| 1.0 / eigenvalue).collect();
        Self { sines, vorticity, inverse, x: Waves::new(sines.counts[0]), y: Waves::new(sines.counts[1]) }
    }

    /// At a point.
    pub fn at(&mut self, x: [f64; 2]) -> Sample {
        let unit = [0, 1].map(|axis| std::f64::consts::PI / self.sines.size[axis]);
        self.x.set(unit[0] * x[0]);
        self.y.set(unit[1] * x[1]);
        let mut sample = Sample::default();
        let of_y = self.sines.counts[1];
        for (k, (sin, cos)) in self.x.sin.iter().zip(&self.x.cos).enumerate() {
            let vorticity = &self.vorticity[k * of_y..][..of_y];
            let inverse = &self.inverse[k * of_y..][..of_y];
            let (mut stream, mut along_y, mut whole) = (0.0, 0.0, 0.0);
            for (l, (w, inverse)) in vorticity.iter().zip(inverse).enumerate() {
                let part = w * inverse;
                stream += part * self.y.sin[l];
                along_y += part * (l + 1) as f64 * self.y.cos[l];
                whole += w * self.y.sin[l];
            }
            sample.stream += sin * stream;
            sample.velocity[0] += unit[1] * sin * along_y;
            sample.velocity[1] -= unit[0] * (k + 1) as f64 * cos * stream;
            sample.vorticity += sin * whole;
        }
        sample
    }
}

/// For each sine the sum of its values at points, each with a weight.
pub fn sums_of_sines(sines: &Sines, points: &[([f64; 2], f64)]) -> Vec<f64> {
    let unit = sines.size.map(|side| std::f64::consts::PI / side);
    let (mut x, mut y) = (Waves::new(sines.counts[0]), Waves::new(sines.counts[1]));
    let mut along_x = Matrix::new(sines.counts[0], points.len());
    let mut along_y = Matrix::new(points.len(), sines.counts[1]);
    for (number, (point, weight)) in points.iter().enumerate() {
        x.set(unit[0] * point[0]);
        y.set(unit[1] * point[1]);
        for (k, sin) in x.sin.iter().enumerate() {
            along_x.row_mut(k)[number] = weight * sin;
        }
        along_y.row_mut(number).copy_from_slice(&y.sin);
    }
    let mut sums = Matrix::new(sines.counts[0], sines.counts[1]);
    sums.set_to_product(&along_x, &along_y);
    (0..sines.counts[0]).flat_map(|k| sums.row(k)).copied().collect()
}

/// The stream function of a flow by its vorticity at the corners of the cells of a grid over the box, in lists by x.
pub fn streams_at_nodes(sines: &Sines, vorticity: &[f64], cells: [usize; 2]) -> Vec<f64> {
    let stream = |place: usize| vorticity[place] / sines.eigenvalue(place);
    at_nodes(sines, cells, [f64::sin, f64::sin], stream)
}

/// The velocity there.
pub fn velocities_at_nodes(sines: &Sines, vorticity: &[f64], cells: [usize; 2]) -> Vec<[f64; 2]> {
    let wave = |place: usize, axis: usize| {
        vorticity[place] / sines.eigenvalue(place) * sines.wave_numbers(place)[axis]
    };
    let along_x = at_nodes(sines, cells, [f64::sin, f64::cos], |place| wave(place, 1));
    let along_y = at_nodes(sines, cells, [f64::cos, f64::sin], |place| -wave(place, 0));
    along_x.into_iter().zip(along_y).map(|(u, v)| [u, v]).collect()
}

/// Sums of products of sines or cosines at the corners of cells.
fn at_nodes(
    sines: &Sines,
    cells: [usize; 2],
    of: [fn(f64) -> f64; 2],
    value: impl Fn(usize) -> f64,
) -> Vec<f64> {
    let [kx, ky] = sines.counts;
    let wave = |axis: usize, node: usize, half_waves: usize| {
        // Within one period, and so to rounding also for many waves: at walls sines are nothing.
        let angle =
            std::f64::consts::PI * ((node * half_waves) % (2 * cells[axis])) as f64 / cells[axis] as f64;
        of[axis](angle)
    };
    let along_x = Matrix::from_fn(cells[0] + 1, kx, |node, k| wave(0, node, k + 1));
    let along_y = Matrix::from_fn(ky, cells[1] + 1, |l, node| wave(1, node, l + 1));
    let coefficients = Matrix::from_fn(kx, ky, |k, l| value(k * ky + l));
    let (mut half, mut nodes) = (Matrix::new(kx, cells[1] + 1), Matrix::new(cells[0] + 1, cells[1] + 1));
    half.set_to_product(&coefficients, &along_y);
    nodes.set_to_product(&along_x, &half);
    (0..=cells[0]).flat_map(|i| nodes.row(i)).copied().collect()
}

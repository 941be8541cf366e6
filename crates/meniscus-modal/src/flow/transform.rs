//! Between coefficients of sines and values at points, and what the flow does to its own vorticity.

use super::product::Matrix;
use super::sines::Sines;

/// What takes coefficients of sines to values at points and back, and what it works in.
///
/// The points are the middles of equal intervals, half as many again as there are wave numbers along each axis: with these the sums over them that
/// stand for integrals of products of three sines or cosines are exact, and so is all that is found here.
#[derive(Clone, Debug)]
pub struct Transform {
    sines: Sines,
    /// a and b by place.
    wave_numbers: Vec<[f64; 2]>,
    /// Along x, with a row for each point, and with one for each wave number.
    x: Tables,
    x_by_wave: Tables,
    /// Along y, likewise.
    y: Tables,
    y_by_wave: Tables,
    /// The velocity at the points.
    velocity: [Matrix; 2],
    coefficients: Coefficients,
    /// What has wave numbers along x and points along y.
    half: Matrix,
    /// At points.
    product: [Matrix; 2],
}

/// Sines and cosines at points.
#[derive(Clone, Debug)]
struct Tables {
    sin: Matrix,
    cos: Matrix,
}

impl Tables {
    fn of(angle: impl Fn(usize, usize) -> f64, rows: usize, columns: usize) -> Self {
        let table = |f: fn(f64) -> f64| Matrix::from_fn(rows, columns, |row, column| f(angle(row, column)));
        Self { sin: table(f64::sin), cos: table(f64::cos) }
    }
}

/// Two lists of coefficients, as matrices with a row for each wave number along x.
#[derive(Clone, Debug)]
struct Coefficients([Matrix; 2]);

/// Points along an axis for exact sums of products of three.
fn points(count: usize) -> usize {
    3 * count / 2 + 1
}

impl Transform {
    /// For some sines.
    pub fn new(sines: &Sines) -> Self {
        Self::with_points(sines, sines.counts.map(points))
    }

    pub(super) fn with_points(sines: &Sines, [nx, ny]: [usize; 2]) -> Self {
        let [kx, ky] = sines.counts;
        let angle = |point: usize, wave: usize, points: usize| {
            (point as f64 + 0.5) * std::f64::consts::PI / points as f64 * (wave + 1) as f64
        };
        Self {
            sines: sines.clone(),
            wave_numbers: (0..sines.len()).map(|place| sines.wave_numbers(place)).collect(),
            x: Tables::of(|point, wave| angle(point, wave, nx), nx, kx),
            x_by_wave: Tables::of(|wave, point| angle(point, wave, nx), kx, nx),
            y: Tables::of(|point, wave| angle(point, wave, ny), ny, ky),
            y_by_wave: Tables::of(|wave, point| angle(point, wave, ny), ky, ny),
            velocity: [Matrix::new(nx, ny), Matrix::new(nx, ny)],
            coefficients: Coefficients([Matrix::new(kx, ky), Matrix::new(kx, ky)]),
            half: Matrix::new(kx, ny),
            product: [Matrix::new(nx, ny), Matrix::new(nx, ny)],
        }
    }

    /// Finds the velocity at the points of a flow with these coefficients of its vorticity.
    pub fn set_velocity(&mut self, vorticity: &[f64]) {
        let [of_u, of_v] = &mut self.coefficients.0;
        for (k, of_k) in vorticity.chunks_exact(self.sines.counts[1]).enumerate() {
            let waves = &self.wave_numbers[k * of_k.len()..];
            let (u, v) = (of_u.row_mut(k), of_v.row_mut(k));
            for (((w, [a, b]), u), v) in of_k.iter().zip(waves).zip(u).zip(v) {
                let stream = w / (a * a + b * b);
                (*u, *v) = (b * stream, -a * stream);
            }
        }
        let [u, v] = &mut self.velocity;
        self.half.set_to_product(of_u, &self.y_by_wave.cos);
        u.set_to_product(&self.x.sin, &self.half);
        self.half.set_to_product(of_v, &self.y_by_wave.sin);
        v.set_to_product(&self.x.cos, &self.half);
    }

    /// The greatest speed at the points, of the velocity that was set.
    pub fn max_speed(&self) -> f64 {
        let [u, v] = self.velocity.each_ref().map(Matrix::values);
        u.iter().zip(v).map(|(u, v)| u * u + v * v).fold(0.0, f64::max).sqrt()
    }

    /// The rate at which the velocity that was set carries its own vorticity, the sum of sines with these coefficients:
    /// -u·∇ω = -(∂xx - ∂yy)(u v) - ∂xy(v² - u²). It does no work, and changes the enstrophy no more than the energy.
    pub fn self_advection(&mut self, rate: &mut [f64]) {
        let [u, v] = self.velocity.each_ref().map(Matrix::values);
        let [uv, squares] = &mut self.product;
        for (((uv, squares), u), v) in uv.values_mut().iter_mut().zip(squares.values_mut()).zip(u).zip(v) {
            (*uv, *squares) = (u * v, v * v - u * u);
        }
        self.find_coefficients([Table::Sin, Table::Sin], 0);
        self.find_coefficients([Table::Cos, Table::Cos], 1);
        self.collect(rate, |[a, b], [uv, squares]| -((b * b - a * a) * uv + a * b * squares));
    }

    /// The rate at which the velocity that was set carries any vorticity: -u·∇ω = -∂x(u ω) - ∂y(v ω). It does not change the enstrophy of that.
    pub fn advection(&mut self, vorticity: &[f64], rate: &mut [f64]) {
        let [of_vorticity, _] = &mut self.coefficients.0;
        for (k, of_k) in vorticity.chunks_exact(self.sines.counts[1]).enumerate() {
            of_vorticity.row_mut(k).copy_from_slice(of_k);
        }
        self.half.set_to_product(of_vorticity, &self.y_by_wave.sin);
        let [flux, at_points] = &mut self.product;
        at_points.set_to_product(&self.x.sin, &self.half);
        let [u, v] = self.velocity.each_ref().map(Matrix::values);
        for (((flux, vorticity), u), v) in
            flux.values_mut().iter_mut().zip(at_points.values_mut()).zip(u).zip(v)
        {
            (*flux, *vorticity) = (u * *vorticity, v * *vorticity);
        }
        self.find_coefficients([Table::Cos, Table::Sin], 0);
        self.find_coefficients([Table::Sin, Table::Cos], 1);
        self.collect(rate, |[a, b], [x, y]| a * x + b * y);
    }

    /// The flow nearest to a field of velocities, by its vorticity: the field without its gradient part. It is sampled at the points, so that what is finer than their distance
    /// is not seen.
    pub fn project(&mut self, velocity: impl Fn([f64; 2]) -> [f64; 2], vorticity: &mut [f64]) {
        let counts = [self.x.sin.rows(), self.y.sin.rows()];
        let size = self.sines.size;
        let at = |axis: usize, point: usize| (point as f64 + 0.5) * size[axis] / counts[axis] as f64;
        let [along_x, along_y] = &mut self.product;
        for i in 0..counts[0] {
            for (j, (u, v)) in along_x.row_mut(i).iter_mut().zip(along_y.row_mut(i)).enumerate() {
                [*u, *v] = velocity([at(0, i), at(1, j)]);
            }
        }
        // The vorticity of the nearest flow is that of the field, by parts: no flow passes the walls.
        self.find_coefficients([Table::Sin, Table::Cos], 0);
        self.find_coefficients([Table::Cos, Table::Sin], 1);
        self.collect(vorticity, |[a, b], [u, v]| b * u - a * v);
    }

    /// Sums what is at the points with sines or cosines.
    fn find_coefficients(&mut self, [along_x, along_y]: [Table; 2], which: usize) {
        let of_x = along_x.of(&self.x_by_wave);
        self.half.set_to_product(of_x, &self.product[which]);
        self.coefficients.0[which].set_to_product(&self.half, along_y.of(&self.y));
    }

    /// Puts two lists of sums over points together.
    fn collect(&self, to: &mut [f64], f: impl Fn([f64; 2], [f64; 2]) -> f64) {
        let points = self.x.sin.rows() * self.y.sin.rows();
        // The mean square of a sine is a half.
        let weight = 4.0 / points as f64;
        let [first, second] = &self.coefficients.0;
        for (k, to) in to.chunks_exact_mut(self.sines.counts[1]).enumerate() {
            let waves = &self.wave_numbers[k * to.len()..];
            for (((to, waves), x), y) in to.iter_mut().zip(waves).zip(first.row(k)).zip(second.row(k)) {
                *to = weight * f(*waves, [*x, *y]);
            }
        }
    }
}

#[derive(Clone, Copy)]
enum Table {
    Sin,
    Cos,
}

impl Table {
    fn of(self, tables: &Tables) -> &Matrix {
        match self {
            Self::Sin => &tables.sin,
            Self::Cos => &tables.cos,
        }
    }
}

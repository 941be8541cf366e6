//! The pressure of a flow.

use super::product::Matrix;
use super::sines::Sines;

/// The pressure over the density at a point, relative to its mean in the box, of a flow with these coefficients of its vorticity.
///
/// It is what keeps the volume: Δp = 2 (ψxx ψyy - ψxy²), with no slope across the walls, which are flat, so that it is a sum of cosines. Sines with
/// m half waves give it up to 2 m, and on more points than these their sums are exact.
pub fn pressure(sines: &Sines, vorticity: &[f64], x: [f64; 2]) -> f64 {
    let source = source(sines, vorticity);
    let of_wave = |half_waves: [usize; 2]| {
        let waves = [0, 1].map(|axis| half_waves[axis] as f64 * std::f64::consts::PI / sines.size[axis]);
        let eigenvalue = waves[0] * waves[0] + waves[1] * waves[1];
        let wave = (waves[0] * x[0]).cos() * (waves[1] * x[1]).cos();
        -source.row(half_waves[0])[half_waves[1]] / eigenvalue * wave
    };
    let all = (0..=2 * sines.counts[0]).flat_map(|k| (0..=2 * sines.counts[1]).map(move |l| [k, l]));
    all.skip(1).map(of_wave).sum()
}

/// The coefficients of cosines of the Laplacian of the pressure.
fn source(sines: &Sines, vorticity: &[f64]) -> Matrix {
    let [kx, ky] = sines.counts;
    let points = sines.counts.map(|count| 2 * count + 1);
    let angle = |axis: usize, point: usize, wave: usize| {
        (point as f64 + 0.5) * std::f64::consts::PI / points[axis] as f64 * wave as f64
    };
    // Rows for points, columns for waves from one on.
    let table = |axis: usize, f: fn(f64) -> f64| {
        Matrix::from_fn(points[axis], sines.counts[axis], |point, wave| f(angle(axis, point, wave + 1)))
    };
    let at_points = |f: fn(f64) -> f64, value: &dyn Fn([f64; 2]) -> f64| {
        let coefficients = Matrix::from_fn(kx, ky, |k, l| {
            let place = k * ky + l;
            value(sines.wave_numbers(place)) * vorticity[place] / sines.eigenvalue(place)
        });
        let [mut half, mut values] = [Matrix::new(kx, points[1]), Matrix::new(points[0], points[1])];
        half.set_to_product(&coefficients, &table(1, f).transposed());
        values.set_to_product(&table(0, f), &half);
        values
    };
    let xx = at_points(f64::sin, &|[a, _]| -a * a);
    let yy = at_points(f64::sin, &|[_, b]| -b * b);
    let xy = at_points(f64::cos, &|[a, b]| a * b);
    let product = Matrix::from_fn(points[0], points[1], |i, j| {
        2.0 * (xx.row(i)[j] * yy.row(i)[j] - xy.row(i)[j] * xy.row(i)[j])
    });
    // The mean square of a cosine is a half, but for that of no wave.
    let cosines = |axis: usize| {
        Matrix::from_fn(points[axis], points[axis], |wave, point| {
            let weight = if wave == 0 { 1.0 } else { 2.0 };
            weight / points[axis] as f64 * angle(axis, point, wave).cos()
        })
    };
    let [mut half, mut source] = [(); 2].map(|()| Matrix::new(points[0], points[1]));
    half.set_to_product(&cosines(0), &product);
    source.set_to_product(&half, &cosines(1).transposed());
    source
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::samples;
    use crate::flow::transform::Transform;

    #[test]
    fn a_single_mode_has_the_pressure_of_taylor_and_green() {
        let sines = Sines { size: [1.0, 1.0], counts: [3, 3] };
        let mut vorticity = vec![0.0; sines.len()];
        let place = sines.place([2, 2]);
        let a = 2.0 * std::f64::consts::PI;
        // Velocities u = U sin(a x) cos(a y).
        let speed = 0.7;
        vorticity[place] = speed * sines.eigenvalue(place) / a;
        for x in [[0.1, 0.2], [0.5, 0.5], [0.9, 0.33]] {
            let exact = 0.25 * speed * speed * ((2.0 * a * x[0]).cos() + (2.0 * a * x[1]).cos());
            assert!((pressure(&sines, &vorticity, x) - exact).abs() < 1e-14, "{x:?}");
        }
    }

    /// What of -u·∇u the change of the velocity leaves is the gradient of the pressure: for a flow whose change the modes hold.
    #[test]
    fn velocity_changes_by_what_carries_it_and_the_slope_of_pressure() {
        let small = Sines { size: [1.3, 0.8], counts: [3, 3] };
        let sines = Sines { counts: [6, 6], ..small.clone() };
        let of_small: Vec<f64> = (0..small.len()).map(|k| (1.0 + 3.0 * k as f64).sin()).collect();
        let vorticity = small.moved(&of_small, &sines);
        let mut transform = Transform::new(&sines);
        transform.set_velocity(&vorticity);
        let mut rate = vec![0.0; sines.len()];
        transform.self_advection(&mut rate);
        let h = 1e-5;
        for x in [[0.31, 0.22], [0.8, 0.61]] {
            let velocity = |x: [f64; 2]| samples(&sines, &vorticity, &[x])[0].velocity;
            let change = samples(&sines, &rate, &[x])[0].velocity;
            let [u, v] = velocity(x);
            for axis in 0..2 {
                let beside = |along: usize, way: f64| {
                    let mut x = x;
                    x[along] += way;
                    x
                };
                let slope = |f: &dyn Fn([f64; 2]) -> f64, along: usize| {
                    (f(beside(along, h)) - f(beside(along, -h))) / (2.0 * h)
                };
                let of_velocity = |x: [f64; 2]| velocity(x)[axis];
                let carried = u * slope(&of_velocity, 0) + v * slope(&of_velocity, 1);
                let pushed = slope(&|x| pressure(&sines, &vorticity, x), axis);
                let error = change[axis] + carried + pushed;
                assert!(error.abs() < 1e-8, "{x:?}: {error:e} of {carried}");
            }
        }
    }
}

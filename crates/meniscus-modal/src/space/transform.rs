//! Between amplitudes of waves along three axes and values at points.

use std::f64::consts::PI;

use meniscus_core::simd::simd;

/// How many values there are along each axis. Lists have them by the first, and these by the second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape(pub [usize; 3]);

impl Shape {
    pub fn len(self) -> usize {
        self.0.iter().product()
    }

    pub fn place(self, [i, j, k]: [usize; 3]) -> usize {
        (i * self.0[1] + j) * self.0[2] + k
    }
}

/// What values along an axis become: others, each a sum of them with factors.
#[derive(Clone, Debug)]
pub struct Along {
    from: usize,
    to: usize,
    /// For each value those with which it adds to the others.
    factors: Vec<f64>,
}

impl Along {
    pub fn new(from: usize, to: usize, factor: impl Fn(usize, usize) -> f64) -> Self {
        let factors = (0..from).flat_map(|p| (0..to).map(move |q| (p, q))).map(|(p, q)| factor(p, q));
        Self { from, to, factors: factors.collect() }
    }

    /// How many values it takes.
    pub fn from(&self) -> usize {
        self.from
    }

    /// Waves, from that of no half wave on, at the ends of cells.
    pub fn nodes(most: usize, cells: usize, wave: fn(f64) -> f64) -> Self {
        Self::new(most + 1, cells + 1, |k, node| wave(PI * (k * node) as f64 / cells as f64))
    }

    /// Cosines as means over cells.
    pub fn means(most: usize, cells: usize) -> Self {
        Self::new(most + 1, cells, |k, cell| {
            let half = 0.5 * PI * k as f64 / cells as f64;
            let mean = if k == 0 { 1.0 } else { half.sin() / half };
            mean * (half * (2 * cell + 1) as f64).cos()
        })
    }

    /// Waves in the middles of equal intervals.
    pub fn middles(most: usize, points: usize, wave: fn(f64) -> f64) -> Self {
        Self::new(most + 1, points, |k, point| wave(angle(k, point, points)))
    }

    /// The amplitudes of waves from values there.
    pub fn amplitudes(most: usize, points: usize, wave: fn(f64) -> f64) -> Self {
        let weight = |k: usize| if k == 0 { 1.0 } else { 2.0 } / points as f64;
        Self::new(points, most + 1, |point, k| weight(k) * wave(angle(k, point, points)))
    }

    /// Of lists with some values for each along the axis, `inner` beside each other.
    fn apply(&self, values: &[f64], inner: usize, to: &mut [f64]) {
        to.fill(0.0);
        simd(
            #[inline(always)]
            || {
                let lists = values.chunks_exact(self.from * inner).zip(to.chunks_exact_mut(self.to * inner));
                for (values, to) in lists {
                    for (factors, values) in
                        self.factors.chunks_exact(self.to).zip(values.chunks_exact(inner))
                    {
                        if inner == 1 {
                            add(to, values[0], factors);
                        } else {
                            for (factor, to) in factors.iter().zip(to.chunks_exact_mut(inner)) {
                                add(to, *factor, values);
                            }
                        }
                    }
                }
            },
        );
    }
}

#[inline(always)]
fn add(to: &mut [f64], factor: f64, values: &[f64]) {
    for (to, value) in to.iter_mut().zip(values) {
        *to += factor * value;
    }
}

fn angle(k: usize, point: usize, points: usize) -> f64 {
    (point as f64 + 0.5) * PI / points as f64 * k as f64
}

/// Values with a shape along all three axes, one after another, the shortest lists first.
pub fn along_all(values: &[f64], shape: Shape, along: &[Along; 3]) -> Vec<f64> {
    let mut values = values.to_vec();
    let mut shape = shape;
    let order = if along[0].to >= along[0].from { [2, 1, 0] } else { [0, 1, 2] };
    for axis in order {
        let inner: usize = shape.0[axis + 1..].iter().product();
        shape.0[axis] = along[axis].to;
        let mut to = vec![0.0; shape.len()];
        along[axis].apply(&values, inner, &mut to);
        values = to;
    }
    values
}

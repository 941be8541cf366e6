//! What probes measure of a fluid that fills all that is no solid.

use meniscus_core::grid::Grid;
use meniscus_core::shape::Shape;
use meniscus_scene::ProbeKind;

use crate::stats::ProbeValue;

/// Parts of a cell along each axis, to tell what of it is fluid and in a shape.
const PARTS: usize = 4;

/// The velocities at points.
type Velocities<'a, const D: usize> = dyn Fn(&[[f64; D]]) -> Vec<[f64; D]> + 'a;

/// A fluid, by its velocities at any points.
pub struct Fluid<'a, const D: usize> {
    /// Cells, in the middles of which it is sampled.
    pub grid: &'a Grid<D>,
    /// In kg/m³.
    pub density: f64,
    /// The velocities at points.
    pub velocities: &'a Velocities<'a, D>,
    /// Whether a point is in it.
    pub is_fluid: &'a dyn Fn([f64; D]) -> bool,
}

/// What of a cell, or of a part of a cross-section, is measured.
struct Portion<const D: usize> {
    /// Its centre of mass.
    centre: [f64; D],
    /// In cells.
    size: f64,
}

impl<const D: usize> Fluid<'_, D> {
    /// What a probe of what is in a shape, or passes a cross-section, measures.
    pub fn measure(&self, kind: &ProbeKind<D>) -> ProbeValue {
        match kind {
            ProbeKind::Flux { axis, from, to } => ProbeValue::Scalar(Some(self.flux(*axis, [*from, *to]))),
            ProbeKind::Volume { shape } => {
                let volume = sum(self.within(shape).iter().map(|portion| portion.size));
                ProbeValue::Scalar(Some(volume * self.of_cell()))
            }
            ProbeKind::MeanVelocity { shape } => self.mean_velocity(shape).into(),
            ProbeKind::Energy { shape } => ProbeValue::Scalar(Some(self.energy(shape))),
            _ => unreachable!("points are measured by what knows them, and the scene refuses other probes"),
        }
    }

    fn of_cell(&self) -> f64 {
        self.grid.dx.powi(D as i32)
    }

    fn mean_velocity(&self, shape: &Shape<D>) -> Option<[f64; D]> {
        let portions = self.within(shape);
        let volume = sum(portions.iter().map(|portion| portion.size));
        let velocities = self.velocities_of(&portions);
        let mean = |axis: usize| {
            let flow = portions.iter().zip(&velocities).map(|(portion, u)| portion.size * u[axis]);
            sum(flow) / volume
        };
        (volume > 0.0).then(|| std::array::from_fn(mean))
    }

    fn energy(&self, shape: &Shape<D>) -> f64 {
        let portions = self.within(shape);
        let velocities = self.velocities_of(&portions);
        let squares = portions.iter().zip(velocities).map(|(portion, u)| portion.size * square(u));
        0.5 * self.density * self.of_cell() * sum(squares)
    }

    fn flux(&self, axis: usize, [from, to]: [[f64; D]; 2]) -> f64 {
        let step = self.grid.dx / PARTS as f64;
        let count = std::array::from_fn(|a| ((to[a] - from[a]) / step).ceil().max(1.0) as usize);
        let part: [f64; D] =
            std::array::from_fn(|a| if a == axis { 1.0 } else { (to[a] - from[a]) / count[a] as f64 });
        let middle = |k: [usize; D]| -> [f64; D] {
            std::array::from_fn(|a| if a == axis { from[a] } else { from[a] + (k[a] as f64 + 0.5) * part[a] })
        };
        let points: Vec<[f64; D]> = places(count).map(middle).filter(|x| (self.is_fluid)(*x)).collect();
        let through = sum((self.velocities)(&points).iter().map(|u| u[axis]));
        through * part.iter().product::<f64>()
    }

    fn velocities_of(&self, portions: &[Portion<D>]) -> Vec<[f64; D]> {
        let centres: Vec<[f64; D]> = portions.iter().map(|portion| portion.centre).collect();
        (self.velocities)(&centres)
    }

    /// What of each cell is fluid and in a shape.
    fn within(&self, shape: &Shape<D>) -> Vec<Portion<D>> {
        let Grid { origin, dx, cells } = *self.grid;
        let bounds = shape.bounds();
        let cell_of = |x: f64, a: usize| ((x - origin[a]) / dx).clamp(0.0, cells[a] as f64);
        let first: [usize; D] = std::array::from_fn(|a| cell_of(bounds.lower[a], a).floor() as usize);
        let count: [usize; D] =
            std::array::from_fn(|a| (cell_of(bounds.upper[a], a).ceil() as usize).saturating_sub(first[a]));
        let corner = |k: [usize; D]| -> [f64; D] {
            std::array::from_fn(|a| origin[a] + (first[a] + k[a]) as f64 * dx)
        };
        places(count).filter_map(|k| self.portion(shape, corner(k))).collect()
    }

    fn portion(&self, shape: &Shape<D>, corner: [f64; D]) -> Option<Portion<D>> {
        let dx = self.grid.dx;
        let reach = 0.5 * dx * (D as f64).sqrt();
        let to_shape = shape.signed_distance(corner.map(|x| x + 0.5 * dx));
        if to_shape >= reach {
            return None;
        }
        let step = dx / PARTS as f64;
        let (mut size, mut moment) = (0.0, [0.0; D]);
        for k in places([PARTS; D]) {
            let x: [f64; D] = std::array::from_fn(|a| corner[a] + (k[a] as f64 + 0.5) * step);
            // As if the side of the shape passed in parallel to a face of the part.
            let inside = match to_shape {
                deep if deep <= -reach => 1.0,
                _ => (0.5 - shape.signed_distance(x) / step).clamp(0.0, 1.0),
            };
            if inside > 0.0 && (self.is_fluid)(x) {
                size += inside;
                (0..D).for_each(|a| moment[a] += inside * x[a]);
            }
        }
        let parts = (PARTS as f64).powi(D as i32);
        (size > 0.0).then(|| Portion { centre: moment.map(|m| m / size), size: size / parts })
    }
}

/// Of nothing it is 0, which that of iterators is not: it is -0.
fn sum(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, |sum, value| sum + value)
}

fn square<const D: usize>(u: [f64; D]) -> f64 {
    u.iter().map(|u| u * u).sum()
}

/// All places of a lattice.
fn places<const D: usize>(count: [usize; D]) -> impl Iterator<Item = [usize; D]> {
    (0..count.iter().product()).map(move |mut number: usize| {
        std::array::from_fn(|a| {
            let place = number % count[a];
            number /= count[a];
            place
        })
    })
}

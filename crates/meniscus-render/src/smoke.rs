//! How dense smoke is, from its markers.

use meniscus_core::particles::markers_along;

use crate::colour::from_srgb;
use crate::vec3::Vec3;

/// The colours of smokes, one after the other, in sRGB.
const COLOURS: [[u8; 3]; 4] = [[232, 232, 236], [224, 122, 84], [96, 156, 214], [126, 178, 110]];

/// The colour of a smoke, in linear light.
pub(crate) fn smoke_colour(index: usize) -> Vec3 {
    from_srgb(COLOURS[index % COLOURS.len()])
}

/// The density of a smoke on a lattice finer than the cells: 1 where it fills a cell. A marker counts for the nodes around it.
pub(crate) struct Density<const D: usize> {
    /// Nodes along each axis; the first is half a spacing from the domain's corner.
    pub nodes: [usize; D],
    /// Nodes a cell, along each axis.
    pub along: usize,
    pub values: Vec<f32>,
}

impl<const D: usize> Density<D> {
    pub fn new(cells: [usize; D], markers: &[[f32; D]]) -> Self {
        let along = markers_along::<D>();
        let nodes = cells.map(|n| n * along);
        let mut density = Self { nodes, along, values: vec![0.0; nodes.iter().product()] };
        for &x in markers {
            let around = density.around(x);
            around[..1 << D].iter().for_each(|&(index, weight)| density.values[index] += weight);
        }
        density
    }

    /// The density at a point, in cells; beyond the outermost nodes it is that of the nearest.
    pub fn at(&self, x: [f32; D]) -> f32 {
        self.between(&self.around(x))
    }

    /// The density between the nodes that [`Density::around`] gave.
    pub fn between(&self, around: &Around) -> f32 {
        around[..1 << D].iter().map(|&(index, weight)| weight * self.values[index]).sum()
    }

    /// The nodes around a point and their weights.
    pub fn around(&self, x: [f32; D]) -> Around {
        let mut around = [(0, 1.0); 8];
        let mut stride = 1;
        for a in 0..D {
            let last = (self.nodes[a] - 1) as f32;
            let place = (self.along as f32 * x[a] - 0.5).clamp(0.0, last);
            // As an integer, which costs less than `floor`.
            let first = (place as usize).min(self.nodes[a].saturating_sub(2));
            let part = place - first as f32;
            for (k, (index, weight)) in around.iter_mut().enumerate().take(1 << D) {
                let upper = k >> a & 1;
                *index += stride * (first + upper).min(self.nodes[a] - 1);
                *weight *= if upper == 1 { part } else { 1.0 - part };
            }
            stride *= self.nodes[a];
        }
        around
    }
}

/// Nodes and their weights, of which the first 2^D count.
pub(crate) type Around = [(usize, f32); 8];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_cell_has_density_one_and_markers_are_conserved() {
        let markers: Vec<[f32; 3]> =
            (0..8 * 8 * 8).map(|k| [k % 8, k / 8 % 8, k / 64].map(|c| c as f32 * 0.5 + 0.25)).collect();
        let density = Density::new([4; 3], &markers);
        assert!((density.at([1.7, 2.2, 3.9]) - 1.0).abs() < 1e-5);
        let one = Density::new([4; 3], &[[0.1, 3.99, 2.3]]);
        assert!((one.values.iter().sum::<f32>() - 1.0).abs() < 1e-6);
        assert_eq!(one.at([3.0, 1.0, 1.0]), 0.0);
    }
}

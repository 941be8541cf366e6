//! How dense smoke is, from its markers.

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
        // As many as a full cell has markers.
        let along = if D == 2 { 4 } else { 2 };
        let nodes = cells.map(|n| n * along);
        let mut density = Self { nodes, along, values: vec![0.0; nodes.iter().product()] };
        for &x in markers {
            let around: Vec<(usize, f32)> = density.around(x).collect();
            around.into_iter().for_each(|(index, weight)| density.values[index] += weight);
        }
        density
    }

    /// The density at a point, in cells; nothing comes from outside the domain.
    pub fn at(&self, x: [f32; D]) -> f32 {
        self.around(x).map(|(index, weight)| weight * self.values[index]).sum()
    }

    /// The nodes around a point and their weights.
    fn around(&self, x: [f32; D]) -> impl Iterator<Item = (usize, f32)> + use<D> {
        let (nodes, along) = (self.nodes, self.along as f32);
        let place = x.map(|c| along * c - 0.5);
        let first = place.map(|c| c.floor());
        (0..1 << D).filter_map(move |k: usize| {
            let (mut index, mut weight) = (0, 1.0);
            for a in (0..D).rev() {
                let upper = k >> a & 1;
                let part = place[a] - first[a];
                weight *= if upper == 1 { part } else { 1.0 - part };
                // At a wall the outermost node counts for what lies beyond.
                let node = (first[a] + upper as f32).clamp(0.0, (nodes[a] - 1) as f32);
                index = index * nodes[a] + node as usize;
            }
            weight.is_finite().then_some((index, weight))
        })
    }
}


#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_cell_has_density_one_and_markers_are_conserved() {
        let markers: Vec<[f32; 3]> = (0..8 * 8 * 8)
            .map(|k| [k % 8, k / 8 % 8, k / 64].map(|c| c as f32 * 0.5 + 0.25))
            .collect();
        let density = Density::new([4; 3], &markers);
        assert!((density.at([1.7, 2.2, 3.9]) - 1.0).abs() < 1e-5);
        let one = Density::new([4; 3], &[[0.1, 3.99, 2.3]]);
        assert!((one.values.iter().sum::<f32>() - 1.0).abs() < 1e-6);
        assert_eq!(one.at([3.0, 1.0, 1.0]), 0.0);
    }
}

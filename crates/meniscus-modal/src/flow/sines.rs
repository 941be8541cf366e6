//! The functions that flows in a box are made of.

use std::f64::consts::PI;

use serde::{Deserialize, Serialize};

/// The products sin(a x) sin(b y) of a box, with a = π k / Lx, b = π l / Ly and k, l from 1 to some counts. A flow that passes no wall is a sum of them: as its
/// vorticity, with coefficients w, and as its stream function, with w / λ, λ = a² + b². The velocity is (∂ψ/∂y, -∂ψ/∂x), and the vorticity, -Δψ, is positive
/// where the flow turns counter-clockwise.
///
/// Lists of coefficients have those of one k after those of another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sines {
    /// The sides of the box, in m.
    pub size: [f64; 2],
    /// How many wave numbers there are along each axis.
    pub counts: [usize; 2],
}

impl Sines {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.counts[0] * self.counts[1]
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The place of one in lists of coefficients, by its numbers of half waves.
    pub fn place(&self, [k, l]: [usize; 2]) -> usize {
        debug_assert!((1..=self.counts[0]).contains(&k) && (1..=self.counts[1]).contains(&l));
        (k - 1) * self.counts[1] + l - 1
    }

    /// The numbers of half waves of one, by its place.
    pub fn half_waves(&self, place: usize) -> [usize; 2] {
        [place / self.counts[1] + 1, place % self.counts[1] + 1]
    }

    /// The wave numbers a and b of one, in 1/m.
    pub fn wave_numbers(&self, place: usize) -> [f64; 2] {
        wave_numbers(self.size, self.half_waves(place))
    }

    /// λ of one, in 1/m².
    pub fn eigenvalue(&self, place: usize) -> f64 {
        eigenvalue(self.size, self.half_waves(place))
    }

    /// λ of all.
    pub fn eigenvalues(&self) -> Vec<f64> {
        (0..self.len()).map(|place| self.eigenvalue(place)).collect()
    }

    /// Coefficients of these as those of others, as far as there are such.
    pub fn moved(&self, coefficients: &[f64], to: &Self) -> Vec<f64> {
        let mut moved = vec![0.0; to.len()];
        for (place, coefficient) in coefficients.iter().enumerate() {
            let half_waves = self.half_waves(place);
            if (0..2).all(|axis| half_waves[axis] <= to.counts[axis]) {
                moved[to.place(half_waves)] = *coefficient;
            }
        }
        moved
    }

    /// The area of the box, in m².
    pub fn area(&self) -> f64 {
        self.size[0] * self.size[1]
    }
}

/// π k / L along each axis.
pub(crate) fn wave_numbers(size: [f64; 2], half_waves: [usize; 2]) -> [f64; 2] {
    [0, 1].map(|axis| PI * half_waves[axis] as f64 / size[axis])
}

fn eigenvalue(size: [f64; 2], half_waves: [usize; 2]) -> f64 {
    let [a, b] = wave_numbers(size, half_waves);
    a * a + b * b
}

/// The half waves of the eigenmodes of a box with the lowest eigenvalues, in their order. Of those that share an eigenvalue the one with fewer
/// half waves along x comes first.
pub fn lowest_modes(size: [f64; 2], count: usize) -> Vec<[usize; 2]> {
    // All k l modes with no more half waves along either axis come no later than mode (k, l) itself.
    let of_k = |k: usize| (1..=count / k).map(move |l| [k, l]);
    let mut modes: Vec<[usize; 2]> = (1..=count).flat_map(of_k).collect();
    let key = |modes: &[usize; 2]| eigenvalue(size, *modes);
    modes.sort_by(|a, b| key(a).total_cmp(&key(b)).then(a.cmp(b)));
    modes.truncate(count);
    modes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_modes_are_those_of_the_least_eigenvalues() {
        for size in [[1.0, 1.0], [2.0, 1.0], [0.3, 7.0]] {
            let modes = lowest_modes(size, 50);
            let largest = eigenvalue(size, modes[49]);
            let all = (1..=60).flat_map(|k| (1..=60).map(move |l| [k, l]));
            let below = all.filter(|&mode| eigenvalue(size, mode) < largest * (1.0 - 1e-12));
            assert!(below.clone().all(|mode| modes.contains(&mode)), "{size:?}");
            assert!(below.count() < 50);
        }
    }

    #[test]
    fn of_modes_that_share_an_eigenvalue_the_order_is_told() {
        assert_eq!(lowest_modes([1.0, 1.0], 4), [[1, 1], [1, 2], [2, 1], [2, 2]]);
    }
}

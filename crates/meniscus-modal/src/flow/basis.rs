//! What the flow is made of: eigenmodes of the box, and modes that are drawn or learnt.

use serde::{Deserialize, Serialize};

use super::sines::{Sines, lowest_modes};

/// Modes that are orthogonal in energy. A flow is a list of coefficients: for each eigenmode that of its vorticity, in 1/s, and for each other mode its
/// amplitude, so that its square is what it adds to the sum of w² / λ over sines, in m/s.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Basis {
    /// What all modes are sums of.
    pub sines: Sines,
    /// The half waves of the eigenmodes.
    pub eigenmodes: Vec<[usize; 2]>,
    /// The other modes.
    pub enrichment: Vec<EnrichedMode>,
}

/// A mode that was drawn or learnt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EnrichedMode {
    /// Its name.
    pub name: String,
    /// The coefficients of its vorticity by sines: none of an eigenmode, the sum of w² / λ is one, and that of products with those of another mode nothing.
    pub vorticity: Vec<f64>,
}

impl Basis {
    /// The eigenmodes of a box with the lowest eigenvalues.
    pub fn new(size: [f64; 2], count: usize) -> Self {
        let eigenmodes = lowest_modes(size, count);
        let sines = Sines { size, counts: extent(&eigenmodes) };
        Self { sines, eigenmodes, enrichment: Vec::new() }
    }

    /// How many modes there are.
    pub fn len(&self) -> usize {
        self.eigenmodes.len() + self.enrichment.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// For each mode the square of its velocity, integrated over the box, of a flow with a coefficient of one.
    pub fn squares(&self) -> Vec<f64> {
        let of_eigenmode = |&mode: &[usize; 2]| 1.0 / self.sines.eigenvalue(self.sines.place(mode));
        let squares = self.eigenmodes.iter().map(of_eigenmode).chain(self.enrichment.iter().map(|_| 1.0));
        squares.map(|square| self.sines.area() / 4.0 * square).collect()
    }
}

fn extent(modes: &[[usize; 2]]) -> [usize; 2] {
    [0, 1].map(|axis| modes.iter().map(|mode| mode[axis]).max().unwrap_or(0))
}

//! The coefficients of a block, laid out plane by plane for the kernels.

use super::stencil::Stencil;
use super::tile::{LANES, Plane, Planes, Tile, planes, spread};
use crate::real::Real;

/// A block's coefficients in the precision V of the vectors that they are applied to.
pub(crate) struct Expanded<V, const D: usize> {
    weights: Weights<V>,
    /// Where the weights are not all the same: by axis and side.
    sides: Option<Box<[[Planes<V>; 2]; D]>>,
    diagonal: Planes<V>,
    /// The one value of the diagonal, where it has one.
    constant: Option<V>,
}

/// How the neighbours of a cell are weighed.
#[derive(Clone, Copy, PartialEq)]
enum Weights<V> {
    /// All alike. A closed face leads to a cell that is no unknown and holds zero.
    Same(V),
    /// Face by face.
    Own,
}

impl<V: Real, const D: usize> Expanded<V, D> {
    pub(crate) fn new() -> Self {
        Self { weights: Weights::Own, sides: None, diagonal: [[V::ZERO; LANES]; 8], constant: None }
    }

    /// The weights face by face, to be written.
    #[inline(always)]
    fn sides_mut(&mut self) -> &mut [[Planes<V>; 2]; D] {
        self.sides.get_or_insert_with(|| Box::new([[[[V::ZERO; LANES]; 8]; 2]; D]))
    }

    /// Reads the coefficients of a block.
    #[inline(always)]
    pub(crate) fn load<T: Real>(&mut self, stencil: &Stencil<T, D>) {
        match stencil {
            Stencil::Uniform { kappa } => {
                let kappa = V::of(kappa.f64());
                self.weights = Weights::Same(kappa);
                self.fill_diagonal(kappa * V::of(2.0 * D as f64));
            }
            Stencil::OnOff(on_off) => {
                let kappa = V::of(on_off.kappa.f64());
                for plane in 0..planes::<D>() {
                    let cells = 64 * plane..64 * plane + 64;
                    expand(&on_off.degree[cells.clone()], &mut self.diagonal[plane], |d| {
                        V::from_byte(d) * kappa
                    });
                    if !on_off.plain {
                        for axis in 0..D {
                            for side in 0..2 {
                                let weight = |bits: u8| V::from_byte(bits >> (2 * axis + side) & 1) * kappa;
                                expand(
                                    &on_off.open[cells.clone()],
                                    &mut self.sides_mut()[axis][side][plane],
                                    weight,
                                );
                            }
                        }
                    }
                }
                self.weights = if on_off.plain { Weights::Same(kappa) } else { Weights::Own };
                self.constant = None;
            }
            Stencil::General(general) => {
                for plane in 0..planes::<D>() {
                    let convert = |w: T| V::of(w.f64());
                    expand(
                        &general.diagonal[64 * plane..64 * plane + 64],
                        &mut self.diagonal[plane],
                        convert,
                    );
                    for axis in 0..D {
                        for side in 0..2 {
                            let faces = general.plane_faces(axis, side, plane);
                            expand(&faces, &mut self.sides_mut()[axis][side][plane], convert);
                        }
                    }
                }
                self.weights = Weights::Own;
                self.constant = None;
            }
        }
    }

    /// Reads the coefficients of a block, with the inverse of the diagonal in the diagonal's place (0 where
    /// that is 0).
    #[inline(always)]
    pub(crate) fn load_inverse<T: Real>(&mut self, stencil: &Stencil<T, D>) {
        if let Stencil::Uniform { kappa } = stencil {
            let kappa = V::of(kappa.f64());
            self.weights = Weights::Same(kappa);
            self.fill_diagonal(V::ONE / (kappa * V::of(2.0 * D as f64)));
            return;
        }
        self.load(stencil);
        self.invert();
    }

    /// Puts the inverse of the diagonal in its place.
    #[inline(always)]
    pub(crate) fn invert(&mut self) {
        self.constant = None;
        for plane in &mut self.diagonal[..planes::<D>()] {
            for d in plane.iter_mut() {
                // Dividing by infinity, not choosing afterwards, keeps the division in vector registers.
                *d = V::ONE / if *d > V::ZERO { *d } else { V::INFINITY };
            }
        }
    }

    /// Neighbouring blocks are often alike, and then there is nothing to do.
    #[inline(always)]
    fn fill_diagonal(&mut self, value: V) {
        if self.constant != Some(value) {
            self.diagonal.iter_mut().for_each(|plane| plane.fill(value));
            self.constant = Some(value);
        }
    }

    /// The diagonal of a plane's cells.
    #[inline(always)]
    pub(crate) fn diagonal(&self, plane: usize) -> &Plane<V> {
        &self.diagonal[plane]
    }

    #[inline(always)]
    pub(crate) fn diagonal_mut(&mut self, plane: usize) -> &mut Plane<V> {
        self.constant = None;
        &mut self.diagonal[plane]
    }

    /// The sum of w x over the neighbours of a plane's cells; anything where a cell is no unknown.
    #[inline(always)]
    pub(crate) fn around(&self, tile: &Tile<V, D>, plane: usize, sum: &mut Plane<V>) {
        let beside = |axis, side| tile.beside(plane, axis, side);
        match self.weights {
            Weights::Same(kappa) => {
                let (a, b, c, d) = (beside(0, 0), beside(0, 1), beside(1, 0), beside(1, 1));
                if D == 3 {
                    let (e, f) = (beside(2, 0), beside(2, 1));
                    for i in 0..LANES {
                        sum[i] = kappa * (a[i] + b[i] + c[i] + d[i] + e[i] + f[i]);
                    }
                } else {
                    for i in 0..LANES {
                        sum[i] = kappa * (a[i] + b[i] + c[i] + d[i]);
                    }
                }
            }
            Weights::Own => {
                sum.fill(V::ZERO);
                let sides = self.sides.as_ref().expect("written when the coefficients were loaded");
                for axis in 0..D {
                    let [lower, upper] = &sides[axis];
                    let (lower, upper) = (&lower[plane], &upper[plane]);
                    let (below, above) = (beside(axis, 0), beside(axis, 1));
                    for i in 0..LANES {
                        sum[i] += lower[i] * below[i] + upper[i] * above[i];
                    }
                }
            }
        }
    }

    /// The product A x of a plane's cells.
    #[inline(always)]
    pub(crate) fn product(&self, tile: &Tile<V, D>, plane: usize, product: &mut Plane<V>) {
        self.around(tile, plane, product);
        let (x, diagonal) = (tile.plane(plane), self.diagonal(plane));
        for i in 0..LANES {
            let value = diagonal[i] * x[i] - product[i];
            product[i] = if diagonal[i] > V::ZERO { value } else { V::ZERO };
        }
    }
}

#[inline(always)]
fn expand<S: Copy, V: Copy + Default>(cells: &[S], lanes: &mut Plane<V>, convert: impl Fn(S) -> V) {
    let mut converted = [V::default(); 64];
    for (to, from) in converted.iter_mut().zip(cells) {
        *to = convert(*from);
    }
    spread(&converted, lanes);
}

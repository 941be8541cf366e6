//! Affine tiles among the velocity carriers (Goldade 2020, section 5).

use std::collections::HashMap;
use std::sync::Arc;

use meniscus_core::grid::{BLOCK_EDGE, FaceField, Mask, Slot, block_len};
use meniscus_core::parallel;
use meniscus_linalg::AffineTerm;

use super::energy::{Inertia, Pushed};
use super::faces::{Asked, Faces};
use super::{KineticEnergy, Stored};

/// In [`AffineTiles::of_slot`]: not in a tile.
pub const NO_TILE: u32 = u32::MAX;

/// Cells that move as a few affine fields of no divergence instead of one by one.
///
/// No face of such a cell is closed, not even in part, and across each lies a cell of the same tile, or one of no tile that is of the same
/// fluid. Every tile is at least two cells wide along each axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AffineTiles {
    /// The tile of every slot, or [`NO_TILE`].
    pub of_slot: Vec<u32>,
    /// The number of tiles.
    pub count: usize,
}

/// The degrees of freedom of a field u + A r: u, and A row by row without its last entry, since its trace is zero.
const fn dofs<const D: usize>() -> usize {
    D + D * D - 1
}

/// The sums of a quantity over faces across an axis, and of it times their places along each axis.
type Moments<const D: usize> = [[f64; 4]; D];

/// What is summed up over the faces of a tile.
#[derive(Clone, Copy)]
struct Sums<const D: usize> {
    /// By axis of the faces: sums of 1 and r times 1 and r.
    of_place: [[[f64; 4]; 4]; D],
    of_velocity: Moments<D>,
    /// Of the velocity squared.
    energy: f64,
}

/// A tile as a carrier. Places are in cells, from its centre.
struct Carrier<const D: usize> {
    centre: [f64; D],
    /// The inverse of its mass, in terms of the mass of a cell full of liquid.
    inverse_mass: Arc<Vec<f64>>,
    /// The mass of a cell full of its fluid, as a part of that of the liquid.
    density: f64,
    /// How fast it is to grow along each axis: a velocity per cell.
    growth: f64,
    /// Its liquid cells.
    liquid_cells: f64,
    /// What growth adds to its momentum, and to its energy, doubled; and the work that growth does on what the fit left.
    of_growth: (Vec<f64>, f64),
    work_on_misfit: f64,
    tentative: Vec<f64>,
    /// The energy of the velocities that it was fitted to, and of what the fit left of them.
    before: f64,
    misfit: f64,
    mass: Arc<Vec<f64>>,
    /// Of its faces, before the fit.
    inertia: Inertia<D>,
    /// By axis, the sums of 1 and r over its faces.
    faces: [[f64; 4]; D],
}

/// The tiles of a projection.
pub(super) struct Carriers<const D: usize> {
    all: Vec<Carrier<D>>,
}

impl<const D: usize> Carriers<D> {
    /// Fits the tiles to the tentative velocities, and writes the fits to their faces.
    pub(super) fn fit<T: Stored>(faces: &Faces<T, D>, velocity: &mut FaceField<T, D>) -> Self {
        let Some(tiles) = faces.liquid().tiles else { return Self { all: Vec::new() } };
        let places = places(faces, tiles);
        let sums = sums(faces, tiles, &places, velocity);
        let mut known = Masses::new();
        let mut all = Vec::with_capacity(tiles.count);
        for (sums, place) in sums.iter().zip(places) {
            let density = faces.density_ratio_at(place.first);
            let rate = faces.liquid().divergence.map_or(0.0, |rate| rate(place.first));
            let growth = rate * faces.liquid().grid.dx / D as f64;
            let is_liquid = faces.liquid().level_set[place.first].into() < 0.0;
            let liquid_cells = if is_liquid { place.cells } else { 0.0 };
            all.push(Carrier::new(sums, place.centre, density, growth, liquid_cells, &mut known));
        }
        let carriers = Self { all };
        carriers.write(faces, carriers.all.iter().map(|carrier| &carrier.tentative), velocity);
        carriers
    }

    /// What corrections ask for of the tiles; its work is told by [`push`](Self::push).
    pub(super) fn asked(&self) -> Asked {
        let flux = |carrier: &Carrier<D>| D as f64 * carrier.growth * carrier.liquid_cells;
        Asked { flux: self.all.iter().map(flux).sum(), work: 0.0 }
    }

    /// The terms J^T M^-1 J of the operator; which faces touch them, its blocks say.
    pub(super) fn terms(&self) -> Vec<AffineTerm<D>> {
        let term = |carrier: &Carrier<D>| AffineTerm {
            centre: carrier.centre,
            inverse_mass: carrier.inverse_mass.to_vec(),
            weight: 1.0 / carrier.density,
        };
        self.all.iter().map(term).collect()
    }

    /// By tile: the moments of the pressures on its outer faces, and the sum and the number of those pressures.
    fn pushes<T: Stored>(&self, faces: &Faces<T, D>, pressure: &[f64]) -> Vec<(Moments<D>, f64, f64)> {
        let blocks = faces.blocks();
        let of_block = |block: usize| {
            let mut found: Vec<(usize, (Moments<D>, f64, f64))> = Vec::new();
            for axis in 0..D {
                for (tile, [own, above]) in faces.parts().along(blocks, block, axis) {
                    let centre = &self.all[tile].centre;
                    let mut sums = ([[0.0; 4]; D], 0.0, 0.0);
                    let mut push = |face: usize, cell: Option<Slot>, inwards: f64| {
                        let Some(cell) = cell.filter(|&cell| faces.is_unknown(cell)) else { return };
                        let pressure = pressure[cell.flat::<D>()];
                        let place = place(blocks.cell(Slot { block, local: face }), axis, centre);
                        (0..=D).for_each(|i| sums.0[axis][i] += inwards * pressure * place[i]);
                        sums.1 += pressure;
                        sums.2 += 1.0;
                    };
                    for local in own.without(&above).iter() {
                        push(local, blocks.step(Slot { block, local }, axis, 0), 1.0);
                    }
                    for local in above.without(&own).iter() {
                        push(local, Some(Slot { block, local }), -1.0);
                    }
                    found.push((tile, sums));
                }
            }
            found
        };
        let parts = parallel::map(blocks.len(), of_block);
        let mut all = vec![([[0.0; 4]; D], 0.0, 0.0); self.all.len()];
        // Summed in the order of the blocks: the same for any number of threads.
        for (tile, (moments, sum, count)) in parts.into_iter().flatten() {
            let total = &mut all[tile];
            for axis in 0..D {
                (0..=D).for_each(|i| total.0[axis][i] += moments[axis][i]);
            }
            total.1 += sum;
            total.2 += count;
        }
        all
    }

    /// Lets the scaled pressures push the tiles, writes their velocities to their faces, and gives the energies. The pressure in a tile is that
    /// whose gradient pushed it.
    pub(super) fn push<T: Stored>(
        &self,
        faces: &Faces<T, D>,
        scaled_pressure: &mut [f64],
        velocity: &mut FaceField<T, D>,
    ) -> Pushed<D> {
        let mut pushed = Pushed::NOTHING;
        if self.all.is_empty() {
            return pushed;
        }
        let pushes = self.pushes(faces, scaled_pressure);
        let around: Vec<f64> = pushes.iter().map(|(_, sum, count)| sum / f64::max(*count, 1.0)).collect();
        let mut changes = Vec::with_capacity(self.all.len());
        let mut after = Vec::with_capacity(self.all.len());
        for (carrier, (moments, ..)) in self.all.iter().zip(&pushes) {
            let change = product(&carrier.inverse_mass, &to_dofs(moments).collect::<Vec<_>>());
            let velocity: Vec<f64> = carrier.tentative.iter().zip(&change).map(|(v, c)| v + c).collect();
            pushed.energy = pushed.energy.plus(carrier.energy(&velocity, &change));
            pushed.inertia = pushed.inertia.plus(carrier.inertia);
            let field = rows_of::<D>(&velocity, carrier.growth);
            for axis in 0..D {
                pushed.momentum_after[axis] += carrier.density * dot(&field[axis], &carrier.faces[axis]);
                // What is around it does not give way for nothing.
                pushed.growth -= carrier.growth * moments[axis][1 + axis];
            }
            pushed.growth += change.iter().zip(&carrier.of_growth.0).map(|(c, m)| c * m).sum::<f64>();
            pushed.growth += carrier.work_on_misfit;
            changes.push(change);
            after.push(velocity);
        }
        self.write(faces, after.iter(), velocity);
        self.fill_pressure(faces, &changes, &around, scaled_pressure);
        pushed
    }

    /// Writes the fields of the tiles to all their faces.
    fn write<'a, T: Stored>(
        &self,
        faces: &Faces<T, D>,
        dofs: impl Iterator<Item = &'a Vec<f64>>,
        velocity: &mut FaceField<T, D>,
    ) {
        let fields: Vec<[[f64; 4]; D]> =
            self.all.iter().zip(dofs).map(|(carrier, dofs)| rows_of(dofs, carrier.growth)).collect();
        let blocks = faces.blocks();
        for axis in 0..D {
            parallel::for_chunks(velocity.axes[axis].values_mut(), block_len::<D>(), |block, values| {
                for (tile, [own, above]) in faces.parts().along(blocks, block, axis) {
                    let field = &fields[tile][axis];
                    for (first, bits) in own.or(&above).rows() {
                        let cell = blocks.cell(Slot { block, local: first });
                        let at_first = dot(field, &place(cell, axis, &self.all[tile].centre));
                        for (i, value) in values[first..first + BLOCK_EDGE].iter_mut().enumerate() {
                            if bits >> i & 1 == 1 {
                                *value = T::nearest(at_first + i as f64 * field[1]);
                            }
                        }
                    }
                }
            });
        }
    }

    /// `q` with `grad q = -change`: a quadratic function, about the mean of what is around the tile.
    fn fill_pressure<T: Stored>(
        &self,
        faces: &Faces<T, D>,
        changes: &[Vec<f64>],
        around: &[f64],
        scaled_pressure: &mut [f64],
    ) {
        let slots = faces.blocks().slots();
        let fields: Vec<[[f64; 4]; D]> = changes.iter().map(|change| rows_of::<D>(change, 0.0)).collect();
        let density = |tile: usize| self.all[tile].density;
        parallel::for_chunks(&mut scaled_pressure[..slots], block_len::<D>(), |block, values| {
            for (tile, cells) in faces.parts().of_block(block) {
                let tile = *tile as usize;
                for local in cells.iter() {
                    let cell = faces.blocks().cell(Slot { block, local });
                    let centre = &self.all[tile].centre;
                    let r: [f64; D] = std::array::from_fn(|a| cell[a] as f64 + 0.5 - centre[a]);
                    let of_axis =
                        |row: &[f64; 4]| row[0] + 0.5 * (0..D).map(|b| row[1 + b] * r[b]).sum::<f64>();
                    let potential: f64 = fields[tile].iter().zip(&r).map(|(row, r)| r * of_axis(row)).sum();
                    values[local] = around[tile] - density(tile) * potential;
                }
            }
        });
    }
}

impl<const D: usize> Carrier<D> {
    fn new(
        sums: &Sums<D>,
        centre: [f64; D],
        density: f64,
        growth: f64,
        liquid_cells: f64,
        known: &mut Masses,
    ) -> Self {
        let mut velocity = sums.of_velocity;
        // What is to grow does so whatever the pressure: the rest is fitted.
        for (axis, moments) in velocity.iter_mut().enumerate() {
            for (row, sum) in sums.of_place[axis].iter().zip(moments.iter_mut()) {
                *sum -= growth * row[1 + axis];
            }
        }
        let key = sums.of_place.iter().flatten().flatten().chain([&density]).map(|x| x.to_bits()).collect();
        let [mass, inverse_mass] = known
            .entry(key)
            .or_insert_with(|| {
                let mass = mass_matrix(&sums.of_place, density);
                let inverse = inverse(&mass);
                [Arc::new(mass), Arc::new(inverse)]
            })
            .clone();
        let momentum: Vec<f64> = to_dofs(&velocity).map(|m| density * m).collect();
        let tentative = product(&inverse_mass, &momentum);
        let fitted = rows_of::<D>(&tentative, growth);
        let mut fitted_energy = 0.0;
        let mut common = 0.0;
        for axis in 0..D {
            let moved: [f64; 4] = std::array::from_fn(|i| dot(&sums.of_place[axis][i], &fitted[axis]));
            fitted_energy += dot(&fitted[axis], &moved);
            common += dot(&fitted[axis], &sums.of_velocity[axis]);
        }
        let misfit = density * (sums.energy - 2.0 * common + fitted_energy);
        let inertia = Inertia {
            mass: std::array::from_fn(|axis| density * sums.of_place[axis][0][0]),
            momentum: std::array::from_fn(|axis| density * sums.of_velocity[axis][0]),
        };
        let moments: Moments<D> = std::array::from_fn(|axis| {
            std::array::from_fn(|i| density * growth * sums.of_place[axis][i][1 + axis])
        });
        let of_growth =
            (to_dofs(&moments).collect(), (0..D).map(|axis| growth * moments[axis][1 + axis]).sum());
        let left = |axis: usize| {
            sums.of_velocity[axis][1 + axis] - dot(&sums.of_place[axis][1 + axis], &fitted[axis])
        };
        let work_on_misfit = -density * growth * (0..D).map(left).sum::<f64>();
        let faces = std::array::from_fn(|axis| sums.of_place[axis][0]);
        let before = density * sums.energy;
        Self {
            centre,
            inverse_mass,
            density,
            growth,
            liquid_cells,
            of_growth,
            work_on_misfit,
            tentative,
            before,
            misfit,
            mass,
            inertia,
            faces,
        }
    }

    /// The energies, in those of a cell full of liquid.
    fn energy(&self, velocity: &[f64], change: &[f64]) -> KineticEnergy {
        let of = |v: &[f64]| v.iter().zip(product(&self.mass, v)).map(|(v, m)| v * m).sum::<f64>();
        let (momentum, energy) = &self.of_growth;
        let of_growth = energy + 2.0 * velocity.iter().zip(momentum).map(|(v, m)| v * m).sum::<f64>();
        KineticEnergy {
            before: self.before,
            after: of(velocity) + of_growth,
            change: of(change) + self.misfit,
        }
    }
}

/// Masses and their inverses by what they follow from, in bits: those of full tiles are all the same.
type Masses = HashMap<Vec<u64>, [Arc<Vec<f64>>; 2]>;

/// 1 and the place of the lower face of a cell along an axis, from a centre.
fn place<const D: usize>(cell: [usize; D], axis: usize, centre: &[f64; D]) -> [f64; 4] {
    let mut place = [1.0, 0.0, 0.0, 0.0];
    for a in 0..D {
        let middle = if a == axis { 0.0 } else { 0.5 };
        place[1 + a] = cell[a] as f64 + middle - centre[a];
    }
    place
}

/// What each degree of freedom does to the field: by axis, what multiplies 1 and r; with a growth along each axis added.
fn rows_of<const D: usize>(dofs: &[f64], growth: f64) -> [[f64; 4]; D] {
    let mut rows = [[0.0; 4]; D];
    let mut trace = 0.0;
    for (axis, row) in rows.iter_mut().enumerate() {
        row[0] = dofs[axis];
        for b in 0..D {
            if (axis, b) != (D - 1, D - 1) {
                row[1 + b] = dofs[D + axis * D + b];
            }
        }
        trace += row[1 + axis];
    }
    rows[D - 1][D] -= trace;
    for (axis, row) in rows.iter_mut().enumerate() {
        row[1 + axis] += growth;
    }
    rows
}

/// The transpose: how moments act on the degrees of freedom.
fn to_dofs<const D: usize>(moments: &Moments<D>) -> impl Iterator<Item = f64> + '_ {
    let of_constant = (0..D).map(|axis| moments[axis][0]);
    let of_gradient = (0..D * D - 1).map(|k| {
        let (a, b) = (k / D, k % D);
        moments[a][1 + b] - if a == b { moments[D - 1][D] } else { 0.0 }
    });
    of_constant.chain(of_gradient)
}

/// The mass matrix (eq. 20).
fn mass_matrix<const D: usize>(of_place: &[[[f64; 4]; 4]; D], density: f64) -> Vec<f64> {
    let k = dofs::<D>();
    let mut mass = vec![0.0; k * k];
    for i in 0..k {
        let mut unit = vec![0.0; k];
        unit[i] = 1.0;
        let rows = rows_of::<D>(&unit, 0.0);
        let mut moments = [[0.0; 4]; D];
        for axis in 0..D {
            moments[axis] = std::array::from_fn(|m| density * dot(&of_place[axis][m], &rows[axis]));
        }
        for (j, value) in to_dofs(&moments).enumerate() {
            mass[i * k + j] = value;
        }
    }
    mass
}

fn dot(a: &[f64; 4], b: &[f64; 4]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn product(matrix: &[f64], v: &[f64]) -> Vec<f64> {
    matrix.chunks_exact(v.len()).map(|row| row.iter().zip(v).map(|(m, v)| m * v).sum()).collect()
}

/// The inverse of a symmetric positive definite matrix, by Gauss and Jordan.
fn inverse(matrix: &[f64]) -> Vec<f64> {
    let k = matrix.len().isqrt();
    let mut rows: Vec<Vec<f64>> = (0..k)
        .map(|i| {
            let mut row = matrix[i * k..(i + 1) * k].to_vec();
            row.extend((0..k).map(|j| f64::from(u8::from(i == j))));
            row
        })
        .collect();
    for i in 0..k {
        let pivot = rows[i][i];
        rows[i].iter_mut().for_each(|x| *x /= pivot);
        let own = rows[i].clone();
        for (_, row) in rows.iter_mut().enumerate().filter(|(j, _)| *j != i) {
            let factor = row[i];
            row.iter_mut().zip(&own).for_each(|(x, o)| *x -= factor * o);
        }
    }
    rows.into_iter().flat_map(|row| row[k..].to_vec()).collect()
}

/// Where a tile is.
struct Place<const D: usize> {
    /// In cells.
    centre: [f64; D],
    /// How many it has.
    cells: f64,
    first: Slot,
}

fn places<T: Stored, const D: usize>(faces: &Faces<T, D>, tiles: &AffineTiles) -> Vec<Place<D>> {
    let blocks = faces.blocks();
    let of_block = |block: usize| -> Vec<(u32, f64, [f64; D], Slot)> {
        let of_part = |(tile, cells): &(u32, Mask<D>)| {
            let first = Slot { block, local: cells.first()? };
            let (mut count, mut sum) = (0.0, [0.0; D]);
            for (local, bits) in cells.rows() {
                let [number, along, _] = row_sums(bits);
                let cell = blocks.cell(Slot { block, local });
                count += number;
                (0..D).for_each(|a| sum[a] += number * (cell[a] as f64 + 0.5));
                sum[0] += along;
            }
            Some((*tile, count, sum, first))
        };
        faces.parts().of_block(block).iter().filter_map(of_part).collect()
    };
    let parts = parallel::map(blocks.len(), of_block);
    let mut sums = vec![(0.0, [0.0; D], None); tiles.count];
    for (tile, count, sum, first) in parts.into_iter().flatten() {
        let total = &mut sums[tile as usize];
        total.0 += count;
        (0..D).for_each(|a| total.1[a] += sum[a]);
        total.2.get_or_insert(first);
    }
    let place = |(cells, sum, first): (f64, [f64; D], Option<Slot>)| Place {
        centre: sum.map(|s| s / cells.max(1.0)),
        cells,
        first: first.unwrap_or(Slot { block: 0, local: 0 }),
    };
    sums.into_iter().map(place).collect()
}

/// The sums over all faces of each tile.
fn sums<T: Stored, const D: usize>(
    faces: &Faces<T, D>,
    tiles: &AffineTiles,
    places: &[Place<D>],
    velocity: &FaceField<T, D>,
) -> Vec<Sums<D>> {
    let blocks = faces.blocks();
    let empty = Sums { of_place: [[[0.0; 4]; 4]; D], of_velocity: [[0.0; 4]; D], energy: 0.0 };
    let of_block = |block: usize| {
        let mut found: Vec<(usize, usize, AxisSums)> = Vec::new();
        for axis in 0..D {
            let u = velocity.axes[axis].block(block);
            for (tile, [own, above]) in faces.parts().along(blocks, block, axis) {
                let mut sums = AxisSums::default();
                for (first, bits) in own.or(&above).rows() {
                    let cell = blocks.cell(Slot { block, local: first });
                    sums.add_row(
                        bits,
                        &u[first..first + BLOCK_EDGE],
                        &place(cell, axis, &places[tile].centre),
                    );
                }
                found.push((tile, axis, sums));
            }
        }
        found
    };
    let parts = parallel::map(blocks.len(), of_block);
    let mut all = vec![empty; tiles.count];
    // Summed in the order of the blocks: the same for any number of threads.
    for (tile, axis, part) in parts.into_iter().flatten() {
        let sums = &mut all[tile];
        for i in 0..=D {
            (0..=D).for_each(|j| sums.of_place[axis][i][j] += part.of_place[i][j]);
            sums.of_velocity[axis][i] += part.of_velocity[i];
        }
        sums.energy += part.energy;
    }
    all
}

/// The sums of a tile over faces across one axis.
#[derive(Clone, Copy, Default)]
struct AxisSums {
    of_place: [[f64; 4]; 4],
    of_velocity: [f64; 4],
    energy: f64,
}

impl AxisSums {
    /// Adds the faces of a row along x that are in `bits`, with their velocities; `place` is that of the first.
    fn add_row<T: Stored>(&mut self, bits: u8, u: &[T], place: &[f64; 4]) {
        let (mut u_sum, mut u_along) = (0.0, 0.0);
        for (i, u) in u.iter().enumerate() {
            let u: f64 = if bits >> i & 1 == 1 { (*u).into() } else { 0.0 };
            u_sum += u;
            u_along += i as f64 * u;
            self.energy += u * u;
        }
        let [number, along, along_squared] = row_sums(bits);
        for i in 0..4 {
            (0..4).for_each(|j| self.of_place[i][j] += number * place[i] * place[j]);
            self.of_place[i][1] += along * place[i];
            self.of_place[1][i] += along * place[i];
            self.of_velocity[i] += u_sum * place[i];
        }
        self.of_place[1][1] += along_squared;
        self.of_velocity[1] += u_along;
    }
}

/// The sums of 1, i and i² over the places i in a row that are in `bits`.
fn row_sums(bits: u8) -> [f64; 3] {
    let places = (0..BLOCK_EDGE as u32).filter(|i| bits >> i & 1 == 1);
    places.fold([0.0; 3], |[number, along, squared], i| {
        [number + 1.0, along + f64::from(i), squared + f64::from(i * i)]
    })
}

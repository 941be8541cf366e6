//! Low-rank terms whose degrees of freedom are an affine vector field: what touches them are faces of cells, whose columns follow from
//! where they lie and need not be stored.
//!
//! A face across `axis` at the place r from the centre of its term acts on D + 1 *moments* of that axis: 1 and r. With all moments m of a term,
//! its state is v = R m, and the term F^T F is that of any other low-rank term. Faces of a block that act on one term
//! along one axis form a *contact*, a set of cells in bits: moments are sums over rows of cells, and forces are affine along them.

use std::ops::Range;
use std::sync::Arc;

use meniscus_core::grid::{Mask, block_len};
use meniscus_core::parallel::{self, PIECE};
use meniscus_core::simd::simd;

use super::contact::{Contact, Grouped, MEMBERS, Moments, Touch, Touches, for_each_row};
use super::low_rank::{Factor, cholesky};
use super::sheets::{AXES, Cells, SHEET};
use crate::real::{Real, Row};

/// A low-rank term with D + D² - 1 degrees of freedom: a constant vector, and the gradient of a vector field, row by row, without its last
/// entry, since the trace is zero. A face that [`Patch::touch`](super::Patch::touch) gives to it feels the field's component along its axis, at its middle.
///
/// The term must not exceed what its faces would be if each had a mass of its own, the unit: J^T M^-1 J <= the number of faces by cell. It is so
/// if M sums up at least a unit mass for each of them.
#[derive(Clone, Debug, PartialEq)]
pub struct AffineTerm<const D: usize> {
    /// Where the field is the constant vector, in cells.
    pub centre: [f64; D],
    /// The inverse of the mass matrix, row by row: symmetric, positive semi-definite.
    pub inverse_mass: Vec<f64>,
    /// What a face within it would weigh in the stencil if its cells were unknowns of their own: on levels whose cells are as large as the term they are.
    pub weight: f64,
}

/// Cells of a contact, on average, below which it is better to store columns: what they take is then less. The tests take as many iterations with any
/// number.
const SCATTERED: usize = 3;

/// Blocks, or terms, with little to do that one task works through. For speed alone.
const TASK: usize = 64;

/// Terms with sums over their contacts that one task works through. For speed alone.
const SUMS_TASK: usize = 8;

/// A term on all levels.
#[derive(Clone, Debug)]
struct Body {
    /// From moments, D + 1 of each axis, to the state.
    state: Vec<f64>,
    /// The weight of a face within it.
    weight: f64,
    /// Whether it surely surrounds nothing: all lines along some axis enter it once.
    solid: bool,
}

/// All affine terms of a level. Their states follow those of the other low-rank terms.
#[derive(Clone, Debug)]
pub(crate) struct Affine<const D: usize> {
    bodies: Arc<Vec<Body>>,
    /// Where their states begin.
    first_dof: usize,
    /// The edge of a cell, in cells of the finest level.
    pub(crate) edge: f64,
    /// By block; none at all without terms.
    contacts: Vec<Vec<Contact<D>>>,
    /// By term: its contacts and their blocks, once more, since states are found term by term.
    of_terms: Grouped<(u32, Contact<D>)>,
}

impl<const D: usize> Default for Affine<D> {
    fn default() -> Self {
        Self::with_bodies(Arc::default(), 0, 1.0, Vec::new())
    }
}

/// The number of degrees of freedom, with a few that are always zero so that loops over them fill registers, and of moments.
const fn sizes<const D: usize>() -> (usize, usize) {
    ((D + D * D - 1).next_multiple_of(4), D * (D + 1))
}

impl<const D: usize> Affine<D> {
    /// The terms of the finest level; an error names one whose matrix is not what it should be.
    pub(crate) fn new(
        terms: &[AffineTerm<D>],
        first_dof: usize,
        mut contacts: Vec<Vec<Contact<D>>>,
    ) -> Result<Self, usize> {
        let k = D + D * D - 1;
        let body = |index: usize| {
            let term = &terms[index];
            let finite = term.inverse_mass.iter().chain(&term.centre).all(|m| m.is_finite());
            let square = term.inverse_mass.len() == k * k && finite;
            let factor = square.then(|| cholesky(&term.inverse_mass, k)).flatten();
            let valid = factor.filter(|_| term.weight >= 0.0 && term.weight.is_finite());
            Ok(Body { state: state_matrix::<D>(&valid.ok_or(index)?), weight: term.weight, solid: false })
        };
        let bodies = parallel::map(terms.len(), body).into_iter().collect::<Result<Vec<_>, usize>>()?;
        parallel::for_chunks(&mut contacts, TASK, |_, contacts| {
            for contact in contacts.iter_mut().flatten() {
                let centre = &terms[contact.term as usize].centre;
                contact.at.iter_mut().zip(centre).for_each(|(at, centre)| *at -= centre);
            }
        });
        let mut this = Self::with_bodies(Arc::new(bodies), first_dof, 1.0, contacts);
        let solid = parallel::map(terms.len(), |term| this.is_solid(term));
        let bodies = Arc::get_mut(&mut this.bodies).expect("no other level yet");
        bodies.iter_mut().zip(solid).for_each(|(body, solid)| body.solid = solid);
        let bounds = parallel::map(terms.len(), |t| 0.5 * this.largest(t, &this.bodies[t]));
        let set_bound = |contact: &mut Contact<D>| contact.bound = bounds[contact.term as usize] as f32;
        parallel::for_chunks(&mut this.contacts, TASK, |_, contacts| {
            contacts.iter_mut().flatten().for_each(set_bound);
        });
        parallel::for_chunks(&mut this.of_terms.all, PIECE, |_, all| {
            all.iter_mut().for_each(|(_, contact)| set_bound(contact));
        });
        Ok(this)
    }

    fn with_bodies(
        bodies: Arc<Vec<Body>>,
        first_dof: usize,
        edge: f64,
        contacts: Vec<Vec<Contact<D>>>,
    ) -> Self {
        let count = bodies.len();
        let contacts = if count == 0 { Vec::new() } else { contacts };
        let of_block = |block: usize| -> Vec<(u32, Contact<D>)> {
            contacts[block].iter().map(|contact| (block as u32, *contact)).collect()
        };
        let all = parallel::map(contacts.len(), of_block).concat();
        let of_terms = Grouped::by(&all, count, |(_, contact)| contact.term);
        Self { bodies, first_dof, edge, contacts, of_terms }
    }

    /// These terms with other contacts: of the next coarser level if `edge` is twice as long.
    pub(crate) fn with_contacts(&self, edge: f64, contacts: Vec<Vec<Contact<D>>>) -> Self {
        Self::with_bodies(self.bodies.clone(), self.first_dof, edge, contacts)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bodies.is_empty()
    }

    pub(crate) fn terms(&self) -> usize {
        self.bodies.len()
    }

    /// The terms whose contacts have so few cells that columns of F are cheaper. Exact relaxation of these is also better where terms outweigh
    /// the stencil, as they do once cells are as large as they.
    pub(crate) fn scattered(&self) -> Vec<bool> {
        let is_scattered = |term: usize| {
            let cells: usize = self.of_term(term).map(|(_, contact)| contact.cells.count()).sum();
            cells < SCATTERED * self.of_term(term).count()
        };
        parallel::map(self.bodies.len(), is_scattered)
    }

    /// Whether all lines along some axis enter a term once.
    fn is_solid(&self, term: usize) -> bool {
        let enter_once = |axis: usize| {
            // By column of blocks, known by where it lies: the lines that have entered.
            let mut entered: Vec<([u64; D], u64)> = Vec::new();
            let below = self.of_term(term).filter(|(_, c)| c.axis as usize == axis && c.weight > 0.0);
            below.into_iter().all(|(_, contact)| {
                let mut column = contact.at.map(f64::to_bits);
                column[axis] = 0;
                let known = entered.iter().position(|(other, _)| *other == column).unwrap_or_else(|| {
                    entered.push((column, 0));
                    entered.len() - 1
                });
                contact.locals().all(|local| {
                    let low = local & ((1 << (3 * axis)) - 1);
                    let line = 1 << (low | (local >> (3 * axis + 3)) << (3 * axis));
                    let is_new = entered[known].1 & line == 0;
                    entered[known].1 |= line;
                    is_new
                })
            })
        };
        (0..D).any(enter_once)
    }

    /// What a face within a term weighs, if all it touches is around it.
    pub(crate) fn inner_weight(&self, term: usize) -> Option<f64> {
        let body = &self.bodies[term];
        body.solid.then_some(body.weight)
    }

    /// One of the terms as a plain low-rank term, if it is here.
    pub(crate) fn factor(&self, term: usize) -> Option<Factor> {
        let mut factor = Factor { dofs: self.dofs_of(term), unknowns: Vec::new(), columns: Vec::new() };
        for (block, contact) in self.of_term(term) {
            for local in contact.locals() {
                factor.unknowns.push((block * block_len::<D>() + local) as u32);
                self.extend_column(contact, local, &mut factor.columns);
            }
        }
        (!factor.unknowns.is_empty()).then_some(factor)
    }

    fn dofs_of(&self, term: usize) -> Range<usize> {
        let k = sizes::<D>().0;
        self.first_dof + term * k..self.first_dof + (term + 1) * k
    }

    /// These terms without the contacts that are not to be kept.
    pub(crate) fn retain(mut self, keep: impl Fn(&Contact<D>) -> bool) -> Self {
        self.contacts.iter_mut().for_each(|contacts| contacts.retain(&keep));
        Self::with_bodies(self.bodies.clone(), self.first_dof, self.edge, self.contacts)
    }

    /// The places of the terms in the state.
    pub(crate) fn dofs(&self) -> Range<usize> {
        self.first_dof..self.first_dof + self.bodies.len() * sizes::<D>().0
    }

    /// Blocks that have a list of contacts.
    pub(crate) fn blocks(&self) -> usize {
        self.contacts.len()
    }

    /// The contacts of a block.
    pub(crate) fn contacts(&self, block: usize) -> &[Contact<D>] {
        self.contacts.get(block).map_or(&[], Vec::as_slice)
    }

    /// The contacts of a term, each with its block.
    pub(crate) fn of_term(&self, term: usize) -> impl Iterator<Item = (usize, &Contact<D>)> {
        self.of_terms.group(term).iter().map(|(block, contact)| (*block as usize, contact))
    }

    /// An upper bound, close to it, of the largest eigenvalue of a term where the number of faces by cell is the identity.
    fn largest(&self, term: usize, body: &Body) -> f64 {
        let (k, m) = sizes::<D>();
        let mut faces = vec![0.0; m * (D + 1)];
        for (_, contact) in self.of_term(term) {
            let block = &mut faces[contact.axis as usize * (D + 1) * (D + 1)..][..(D + 1) * (D + 1)];
            for local in contact.locals() {
                let place = contact.place(self.edge, local);
                let column: [f64; 4] = std::array::from_fn(|i| match i {
                    0 => 1.0,
                    _ if i <= D => place[i - 1],
                    _ => 0.0,
                });
                for i in 0..=D {
                    (0..=D).for_each(|j| block[i * (D + 1) + j] += column[i] * column[j]);
                }
            }
        }
        // R N R^T with the blocks N of the axes.
        let row = |r: usize, axis: usize| &body.state[r * m + axis * (D + 1)..][..D + 1];
        let entry = |r: usize, c: usize| -> f64 {
            let pair = |axis: usize, i: usize, j: usize| {
                row(r, axis)[i] * faces[(axis * (D + 1) + i) * (D + 1) + j] * row(c, axis)[j]
            };
            (0..D)
                .flat_map(|a| (0..=D).flat_map(move |i| (0..=D).map(move |j| (a, i, j))))
                .map(|(a, i, j)| pair(a, i, j))
                .sum()
        };
        let mut square: Vec<f64> = (0..k * k).map(|e| entry(e / k, e % k)).collect();
        for _ in 0..3 {
            square = (0..k * k)
                .map(|e| (0..k).map(|i| square[e / k * k + i] * square[e % k * k + i]).sum())
                .collect();
        }
        square.iter().map(|s| s * s).sum::<f64>().powf(1.0 / 16.0)
    }

    /// v = F x, in the places of these terms; sheets touch some of them too, and their values begin at `first_sheet`. Terms that nothing touches any more
    /// have become plain low-rank terms, and are left as they are.
    pub(super) fn state<V: Real>(&self, touches: &Touches<D>, first_sheet: usize, x: &[V], v: &mut [V]) {
        let k = sizes::<D>().0;
        parallel::for_chunks(&mut v[self.dofs()], SUMS_TASK * k, |task, v| {
            simd(
                #[inline(always)]
                || {
                    for (term, v) in (task * SUMS_TASK..).zip(v.chunks_exact_mut(k)) {
                        let touches = touches.of_term(term);
                        if !(self.of_terms.group(term).is_empty() && touches.is_empty()) {
                            self.state_of(term, touches, first_sheet, x, v);
                        }
                    }
                },
            );
        });
    }

    /// The part of F x of one term.
    #[inline(always)]
    fn state_of<V: Real>(
        &self,
        term: usize,
        touches: &[(u32, Touch<D>)],
        first_sheet: usize,
        x: &[V],
        v: &mut [V],
    ) {
        let (n, m) = (block_len::<D>(), sizes::<D>().1);
        let mut moments = [V::ZERO; 12];
        let mut add = |axis: u8, weight: f32, at: &[f64; D], sums: Moments<V>, order: &[usize; 3]| {
            let (weight, edge) = (V::narrow(weight), V::of(self.edge));
            let moments = &mut moments[axis as usize * (D + 1)..][..D + 1];
            moments[0] += weight * sums[0];
            for a in 0..D {
                moments[a + 1] += weight * V::of(at[a]) * sums[0];
                moments[order[a] + 1] += weight * edge * sums[a + 1];
            }
        };
        for (block, c) in self.of_term(term) {
            add(c.axis, c.weight, &c.at, c.sums(&x[block * n..(block + 1) * n]), &[0, 1, 2]);
        }
        for (sheet, t) in touches {
            let x = &x[first_sheet + SHEET * *sheet as usize..][..SHEET];
            add(t.axis, t.weight, &t.at, t.sums(x), &AXES[t.across as usize]);
        }
        for (v, row) in v.iter_mut().zip(self.bodies[term].state.chunks_exact(m)) {
            *v = row.iter().zip(&moments).fold(V::ZERO, |sum, (r, moment)| sum + V::of(*r) * *moment);
        }
    }

    /// R^T v: by term and axis, what acts on its moments.
    pub(crate) fn pull<V: Real>(&self, v: &[V]) -> Vec<Moments<V>> {
        let (k, m) = sizes::<D>();
        let mut pull = vec![[V::ZERO; 4]; D * self.bodies.len()];
        parallel::for_chunks(&mut pull, TASK * D, |task, pull| {
            let bodies = parallel::chunk(&self.bodies, TASK, task).iter();
            let v = parallel::chunk(&v[self.dofs()], TASK * k, task).chunks_exact(k);
            for ((body, v), pull) in bodies.zip(v).zip(pull.chunks_exact_mut(D)) {
                for (row, &v) in body.state.chunks_exact(m).zip(v) {
                    for (axis, pull) in pull.iter_mut().enumerate() {
                        (0..=D).for_each(|i| pull[i] += V::of(row[axis * (D + 1) + i]) * v);
                    }
                }
            }
        });
        pull
    }

    /// Calls `add(first local index of a row, force by cell, bound)` for rows of a block that terms touch, forces being 0 at the cells that they do not;
    /// and the same of [`Contact::bound`].
    #[inline(always)]
    pub(crate) fn for_each_force<V: Real>(
        &self,
        block: usize,
        pull: &[Moments<V>],
        mut add: impl FnMut(usize, Row<V>, Row<V>),
    ) {
        for contact in self.contacts(block) {
            let bound = V::of(f64::from(contact.bound));
            let local =
                self.force_along(contact.axis, contact.term, contact.weight, &contact.at, &[0, 1, 2], pull);
            for_each_row(
                &contact.cells,
                #[inline(always)]
                |y, z, bits| {
                    let first =
                        local[0] + local[2] * V::from_byte(y as u8) + local[3] * V::from_byte(z as u8);
                    let members = &MEMBERS[bits as usize];
                    let (mut force, mut bounds) = ([V::ZERO; 8], [V::ZERO; 8]);
                    for i in 0..8 {
                        let member = V::narrow(members[i]);
                        force[i] = member * (first + local[1] * V::from_byte(i as u8));
                        bounds[i] = member * bound;
                    }
                    add(64 * z + 8 * y, force, bounds);
                },
            );
        }
    }

    /// Adds the forces on the cells of a sheet that touches terms.
    #[inline(always)]
    pub(super) fn add_sheet_forces<V: Real>(
        &self,
        touches: &[Touch<D>],
        pull: &[Moments<V>],
        forces: &mut Cells<V>,
    ) {
        for touch in touches {
            let order = &AXES[touch.across as usize];
            let [first, by_x, by_y, _] =
                self.force_along(touch.axis, touch.term, touch.weight, &touch.at, order, pull);
            for (y, forces) in forces.chunks_exact_mut(8).enumerate() {
                let members = touch.members(y);
                let first = first + by_y * V::from_byte(y as u8);
                for (i, force) in forces.iter_mut().enumerate() {
                    *force += V::narrow(members[i]) * (first + by_x * V::from_byte(i as u8));
                }
            }
        }
    }

    /// The force on the first cell of a block or a sheet, and how it changes along rows, columns and layers: the axes in `order`.
    #[inline(always)]
    fn force_along<V: Real>(
        &self,
        axis: u8,
        term: u32,
        weight: f32,
        at: &[f64; D],
        order: &[usize; 3],
        pull: &[Moments<V>],
    ) -> Moments<V> {
        let weight = V::narrow(weight);
        let pull = pull[term as usize * D + axis as usize];
        let mut force = [weight * pull[0], V::ZERO, V::ZERO, V::ZERO];
        for a in 0..D {
            force[0] += weight * pull[a + 1] * V::of(at[a]);
            force[a + 1] = weight * pull[order[a] + 1] * V::of(self.edge);
        }
        force
    }

    /// The bound of one cell.
    pub(crate) fn bound(&self, block: usize, local: usize) -> f64 {
        self.contacts(block).iter().filter(|c| c.has(local)).map(|c| f64::from(c.bound)).sum()
    }

    /// Whether a term touches a cell.
    pub(crate) fn touches(&self, block: usize, local: usize) -> bool {
        self.contacts(block).iter().any(|c| c.has(local))
    }

    /// The cells of a block that terms touch.
    pub(crate) fn touched(&self, block: usize) -> Mask<D> {
        self.contacts(block).iter().fold(Mask::EMPTY, |all, contact| all.or(&contact.cells))
    }

    /// The column of F of a cell, by contact: (term, numbers).
    pub(crate) fn columns(&self, block: usize, local: usize) -> impl Iterator<Item = (usize, Vec<f64>)> {
        let touching = self.contacts(block).iter().filter(move |c| c.has(local));
        touching.map(move |c| (c.term as usize, self.column(c, local)))
    }

    fn column(&self, contact: &Contact<D>, local: usize) -> Vec<f64> {
        let mut column = Vec::new();
        self.extend_column(contact, local, &mut column);
        column
    }

    fn extend_column(&self, contact: &Contact<D>, local: usize, columns: &mut Vec<f64>) {
        let (place, weight) = (contact.place(self.edge, local), f64::from(contact.weight));
        let value = |row: &[f64]| {
            let row = &row[contact.axis as usize * (D + 1)..];
            row[0] + (0..D).map(|a| row[a + 1] * place[a]).sum::<f64>()
        };
        let state = &self.bodies[contact.term as usize].state;
        columns.extend(state.chunks_exact(sizes::<D>().1).map(|row| weight * value(row)));
    }

    /// The diagonal of a cell.
    pub(crate) fn diagonal(&self, block: usize, local: usize) -> f64 {
        let mut columns: Vec<(usize, Vec<f64>)> = self.columns(block, local).collect();
        columns.sort_by_key(|c| c.0);
        let square = |run: &[(usize, Vec<f64>)]| -> f64 {
            (0..sizes::<D>().0).map(|i| run.iter().map(|c| c.1[i]).sum::<f64>().powi(2)).sum()
        };
        columns.chunk_by(|a, b| a.0 == b.0).map(square).sum()
    }

    /// v += F dx of one cell, in the places of these terms.
    pub(crate) fn push(&self, block: usize, local: usize, dx: f64, v: &mut [f64]) {
        for (term, column) in self.columns(block, local) {
            v[self.dofs_of(term)].iter_mut().zip(column).for_each(|(v, f)| *v += f * dx);
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        let (k, m) = sizes::<D>();
        2 * self.of_terms.all.len() * size_of::<Contact<D>>() + self.bodies.len() * k * m * 8
    }
}

/// R: with M^-1 = L L^T, v = L^T J x, and J x are moments but for the last, whose sign the trace gives.
fn state_matrix<const D: usize>(l: &[f64]) -> Vec<f64> {
    let ((padded, m), k) = (sizes::<D>(), D + D * D - 1);
    let mut matrix = vec![0.0; padded * m];
    for r in 0..k {
        for c in r..k {
            let (axis, moment) = if c < D { (c, 0) } else { ((c - D) / D, 1 + (c - D) % D) };
            matrix[r * m + axis * (D + 1) + moment] += l[c * k + r];
            if moment == axis + 1 {
                matrix[r * m + m - 1] -= l[c * k + r];
            }
        }
    }
    matrix
}

//! The operator as users build it, and what may be wrong with its parts.

use std::sync::Arc;

use meniscus_core::grid::Blocks;
use meniscus_core::parallel;

use super::affine::{Affine, AffineTerm};
use super::boundary_cells;
use super::extras::{Edge, ExtraUnknown};
use super::level::{ExtraNodes, Hold, Level};
use super::low_rank::{self, LowRank, LowRankTerm};
use super::matrix::Matrix;
use super::outer::{Compliance, Outer};
use super::stencil::{Patch, Stencil};
use crate::deflation::Deflation;
use crate::multigrid::NullSpace;
use crate::real::Real;

/// A symmetric positive semi-definite operator of three kinds of terms:
/// a stencil with a coefficient for every face of the grid, extra unknowns coupled to many cells, and
/// low-rank terms J^T M^-1 J in factored form.
#[derive(Clone, Debug)]
pub struct Operator<const D: usize> {
    pub(crate) level: Level<f64, D>,
    pub(crate) outer: Outer,
}

/// What is wrong with the parts of an operator.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AssembleError {
    /// A weight is negative or not a number.
    #[error("{what} has the weight {weight}: weights must be finite and not negative")]
    BadWeight {
        /// Where it was found.
        what: String,
        /// The weight.
        weight: f64,
    },
    /// A face on the boundary of a block leads nowhere, or its two blocks disagree on its weight.
    #[error(
        "{what} along axis {axis} does not agree with the neighbouring block, or leads out of the active blocks: such faces must be 0, or anchors"
    )]
    Unmatched {
        /// Where it was found.
        what: String,
        /// The axis of the face.
        axis: usize,
    },
    /// An index does not name a slot or an extra unknown.
    #[error("{what} names unknown {index}, but there are only {len}")]
    OutOfRange {
        /// Where it was found.
        what: String,
        /// The index.
        index: usize,
        /// The number of unknowns that it may name.
        len: usize,
    },
    /// The arrays of a low-rank term do not fit together, or its inverse mass is not symmetric
    /// positive semi-definite.
    #[error("low-rank term {term}: {reason}")]
    BadTerm {
        /// The index of the term.
        term: usize,
        /// What is wrong with it.
        reason: &'static str,
    },
}

impl<const D: usize> Operator<D> {
    /// Assembles an operator. `fill` writes the stencil of a block into a cleared [`Patch`]; it is
    /// called once for each block, from several threads.
    pub fn assemble(
        blocks: Arc<Blocks<D>>,
        fill: impl Fn(usize, &mut Patch<D>) + Sync,
        extras: &[ExtraUnknown],
        terms: &[LowRankTerm],
    ) -> Result<Self, AssembleError> {
        Self::assemble_with_affine(blocks, fill, extras, terms, &[])
    }

    /// Assembles an operator that has affine terms as well: those that `fill` lets faces lead to.
    pub fn assemble_with_affine(
        blocks: Arc<Blocks<D>>,
        fill: impl Fn(usize, &mut Patch<D>) + Sync,
        extras: &[ExtraUnknown],
        terms: &[LowRankTerm],
        affine: &[AffineTerm<D>],
    ) -> Result<Self, AssembleError> {
        let slots = blocks.slots();
        let len = slots + extras.len();
        if len >= u32::MAX as usize {
            return Err(AssembleError::OutOfRange {
                what: "the operator".into(),
                index: len,
                len: u32::MAX as usize,
            });
        }
        check_extras(extras, slots)?;
        check_terms(terms, slots + extras.len())?;
        let edges: Vec<Edge> = extras
            .iter()
            .enumerate()
            .flat_map(|(e, extra)| {
                extra.couplings.iter().map(move |&(cell, w)| (cell as u32, (slots + e) as u32, w))
            })
            .collect();
        let holds = extras.iter().map(|e| Hold { anchor: e.anchor, mass: 0.0 }).collect();
        let extras = ExtraNodes { holds, positions: vec![None; extras.len()], edges };
        let low_rank =
            LowRank::new(terms).map_err(|term| AssembleError::BadTerm { term, reason: NOT_DEFINITE })?;
        let (level, contacts) = Level::assemble(blocks, fill, extras, low_rank);
        level.matrix.check_weights()?;
        let named = contacts.iter().flatten().map(|c| c.term as usize).max();
        if let Some(index) = named.filter(|&term| term >= affine.len()) {
            return Err(AssembleError::OutOfRange { what: "a face".into(), index, len: affine.len() });
        }
        let affine =
            Affine::new(affine, level.matrix.dofs, contacts).map_err(|term| AssembleError::BadTerm {
                term,
                reason: "the inverse mass of an affine term is not symmetric positive semi-definite",
            })?;
        let dofs = affine.dofs().end;
        Ok(Self { level: level.with_affine(affine, dofs), outer: Outer::default() })
    }

    /// Adds terms J^T M^-1 J that stay outside the hierarchy of the solver: few, of any stiffness, and with masses that can be
    /// [changed](Operator::set_compliance).
    pub fn with_outer(self, terms: &[LowRankTerm]) -> Result<Self, AssembleError> {
        check_terms(terms, self.level.len())?;
        let outer = Outer::new(terms, |i| self.level.is_unknown(i));
        let outer = outer.map_err(|term| AssembleError::BadTerm { term, reason: NOT_DEFINITE })?;
        Ok(self.with(outer))
    }

    pub(crate) fn with(mut self, outer: Outer) -> Self {
        if !outer.bare().is_empty() {
            self.level.expect_values_in(outer.bare());
        }
        Self { outer, ..self }
    }

    /// Puts another matrix in the place of the inverse masses of all outer terms: the degrees of freedom of terms may depend on each other, and those that are in no
    /// group do not move.
    ///
    /// # Panics
    /// If a matrix is not square, or a degree of freedom is in two groups, or there is none of its number.
    pub fn set_compliance(&mut self, compliance: Vec<Compliance>) {
        self.outer.set_compliance(compliance);
    }

    /// An estimate of what resists the outer terms' degrees of freedom: see [`Solver::outer_inertia`](crate::Solver::outer_inertia), but that it knows nothing of
    /// what is sealed.
    pub fn outer_inertia(&self) -> Vec<f64> {
        let deflation = Deflation::new(&self.level, &self.outer, &NullSpace::default(), None);
        deflation.map_or_else(Vec::new, |deflation| deflation.inertia())
    }

    /// The diagonal.
    pub(crate) fn diagonal(&self) -> Vec<f64> {
        let mut diagonal = parallel::map_each(self.len(), |i| self.level.diagonal(i));
        self.outer.diagonal().into_iter().for_each(|(i, value)| diagonal[i] += value);
        diagonal
    }

    /// The blocks that hold the cells.
    pub fn blocks(&self) -> &Arc<Blocks<D>> {
        &self.level.matrix.blocks
    }

    /// The length of a vector that this operator applies to: slots, then extra unknowns.
    pub fn len(&self) -> usize {
        self.level.len()
    }

    /// Whether there is nothing to solve for.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of unknowns: slots and extra unknowns with a non-zero row.
    pub fn unknowns(&self) -> usize {
        self.level.unknowns() + self.outer.bare().len()
    }

    /// Whether row `i` is not zero.
    pub fn is_unknown(&self, i: usize) -> bool {
        self.level.is_unknown(i) || self.outer.is_bare(i)
    }

    /// y = A x; returns x · y. Slots that are not unknowns must hold 0 in `x`.
    pub fn apply(&self, x: &[f64], y: &mut [f64]) -> f64 {
        self.level.whole().apply(x, y) + self.outer.add_product(x, y)
    }

    /// Bytes that the coefficients occupy.
    pub fn bytes(&self) -> usize {
        self.level.bytes() + self.outer.bytes()
    }

    /// The entries of row `i` in ascending order of the columns, low-rank terms multiplied out: slow,
    /// for tests and diagnostics.
    pub fn row(&self, i: usize) -> Vec<(usize, f64)> {
        let mut row = std::collections::BTreeMap::new();
        self.level.for_each_entry(i, |j, value| *row.entry(j).or_insert(0.0) += value);
        self.outer.for_each_entry(i, |j, value| *row.entry(j).or_insert(0.0) += value);
        row.into_iter().collect()
    }
}

const NOT_DEFINITE: &str = "the inverse mass is not symmetric positive semi-definite";

fn check_extras(extras: &[ExtraUnknown], slots: usize) -> Result<(), AssembleError> {
    for (e, extra) in extras.iter().enumerate() {
        for weight in extra.couplings.iter().map(|c| c.1).chain([extra.anchor]) {
            check_weight(weight, || format!("extra unknown {e}"))?;
        }
        if let Some(&(index, _)) = extra.couplings.iter().find(|c| c.0 >= slots) {
            return Err(AssembleError::OutOfRange { what: format!("extra unknown {e}"), index, len: slots });
        }
    }
    Ok(())
}

fn check_terms(terms: &[LowRankTerm], len: usize) -> Result<(), AssembleError> {
    for (t, term) in terms.iter().enumerate() {
        let k = low_rank::dofs(term);
        let bad = |reason| Err(AssembleError::BadTerm { term: t, reason });
        if k * k != term.inverse_mass.len() || k == 0 {
            return bad("the inverse mass is not a square matrix");
        }
        if term.columns.len() != k * term.unknowns.len() {
            return bad(
                "there must be one column of J, as long as the mass matrix is wide, for each unknown",
            );
        }
        if !term.columns.iter().chain(&term.inverse_mass).all(|c| c.is_finite()) {
            return bad("J or the inverse mass holds a number that is not finite");
        }
        if let Some(&index) = term.unknowns.iter().find(|&&u| u >= len) {
            return Err(AssembleError::OutOfRange { what: format!("low-rank term {t}"), index, len });
        }
        let mut sorted = term.unknowns.clone();
        sorted.sort_unstable();
        if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
            return bad("an unknown is named twice");
        }
    }
    Ok(())
}

fn check_weight(weight: f64, what: impl Fn() -> String) -> Result<(), AssembleError> {
    if weight >= 0.0 && weight.is_finite() {
        Ok(())
    } else {
        Err(AssembleError::BadWeight { what: what(), weight })
    }
}

impl<T: Real, const D: usize> Matrix<T, D> {
    fn check_weights(&self) -> Result<(), AssembleError> {
        let found = parallel::find_first(self.blocks.len(), |block| {
            let what = || format!("a face or anchor of block {:?}", self.blocks.coord(block));
            if let Some(weight) = self.stencils[block].bad_weight() {
                return Some(AssembleError::BadWeight { what: what(), weight });
            }
            self.unmatched_face(block).map(|axis| AssembleError::Unmatched { what: what(), axis })
        });
        found.map_or(Ok(()), Err)
    }

    /// The axis of a face on a block's boundary that the neighbour does not have, or not with this weight.
    fn unmatched_face(&self, block: usize) -> Option<usize> {
        let own = &self.stencils[block];
        // It has no open face; those of its neighbours are checked with them.
        if own.unknown_cells().is_empty() {
            return None;
        }
        (0..D).find(|&axis| {
            (0..2).any(|side| {
                let other = self.blocks.neighbour(block, axis, side).map(|other| &self.stencils[other]);
                let theirs = other.map_or(Some(T::ZERO), Stencil::one_weight);
                if let (Some(weight), Some(theirs)) = (own.one_weight(), theirs) {
                    let open = own.open_on_side(axis, side);
                    let is_alike = open == other.map_or(0, |other| other.open_on_side(axis, 1 - side));
                    return !is_alike || (open != 0 && weight != theirs);
                }
                let step = 7 * 8usize.pow(axis as u32);
                boundary_cells::<D>(axis).any(|low| {
                    let (near, far) = if side == 0 { (low, low + step) } else { (low + step, low) };
                    let theirs = other.map_or(T::ZERO, |other| other.face(axis, 1 - side, far));
                    own.face(axis, side, near) != theirs
                })
            })
        })
    }
}

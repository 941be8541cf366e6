//! What steps work in.

use crate::flow::{Basis, Stages};
use crate::of_basis::OfBasis;

/// What steps work in. It holds nothing that the state does not tell.
#[derive(Debug, Default)]
pub struct Workspace {
    pub(super) stages: Stages,
    of_basis: Option<OfBasis>,
    pub(super) memory: Vec<f64>,
}

impl Workspace {
    pub(super) fn of(&mut self, basis: &Basis) -> &mut OfBasis {
        if self.of_basis.as_ref().is_none_or(|of| of.basis != *basis) {
            self.of_basis = None;
        }
        self.of_basis.get_or_insert_with(|| OfBasis::new(basis))
    }
}

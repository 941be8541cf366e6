//! The complex: tets with labels that fill the whole domain.

//! Finite elements on the complex: forces, masses and constraints of a step.

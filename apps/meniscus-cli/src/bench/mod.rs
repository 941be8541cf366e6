//! Benchmarks: each builds a standard problem, times it, and compares with what the machine can move.

pub mod machine;
pub mod modes;
pub mod pressure;
pub mod regions;
pub mod scene;
pub mod step;

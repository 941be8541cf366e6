//! The `meniscus` command as a library: arguments, benchmarks, exit codes. It holds no physics.

pub mod bench;
pub mod cli;
pub mod commands;
mod failure;

//! What bodies in contact do, against what mechanics says.

mod crowd;
mod flight;
mod impact;
mod rest;
mod scene;
mod shapes;

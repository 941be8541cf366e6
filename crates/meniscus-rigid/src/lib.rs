//! Rigid bodies, as every simulator has them: their motions and masses, and contact as a part of the solve for what moves them.

mod body;
mod contact;
mod motion;

pub use body::{Contact, RigidBody, RigidState};
pub use contact::{Bodies, Inertial, Island, Pressing, Settled, Touch, islands};
pub use motion::{
    Matrix, PAIRS, SIZE, Twist, add, dot, inverse, mass_matrix, motion_count, motions, motions_at,
    pair_count, product, rotation_vector, summed, twist,
};

//! What bodies, solids and domains must be.

use crate::flight::Inertia;
use crate::{BodySpec, ContactError, Domain, Owner};

pub fn domain<const D: usize>(domain: &Domain<D>) -> Result<(), ContactError> {
    let extent = domain.bounds.extent();
    let has_inside = extent.iter().all(|length| *length > 0.0 && length.is_finite());
    let is_real = domain.dx > 0.0 && domain.dx.is_finite() && domain.gravity.iter().all(|g| g.is_finite());
    if has_inside && is_real { Ok(()) } else { Err(ContactError::BadDomain) }
}

pub fn body<const D: usize>(owner: Owner, body: &BodySpec<'_, D>) -> Result<Inertia, ContactError> {
    surface(owner, body.friction, body.restitution)?;
    if !body.shape.bounds().is_finite() {
        return Err(ContactError::Unbounded { owner });
    }
    let (quantity, value) = ("its mass", body.mass);
    if !(value > 0.0 && value.is_finite()) {
        let expected = "a finite number greater than zero";
        return Err(ContactError::OutOfRange { owner, quantity, value, expected });
    }
    Inertia::new::<D>(body.inertia).ok_or(ContactError::BadInertia { owner })
}

pub fn surface(owner: Owner, friction: f64, restitution: f64) -> Result<(), ContactError> {
    if !(friction >= 0.0 && friction.is_finite()) {
        let (quantity, expected) = ("its friction", "a finite number that is not negative");
        return Err(ContactError::OutOfRange { owner, quantity, value: friction, expected });
    }
    if !(0.0..=1.0).contains(&restitution) {
        let (quantity, expected) = ("its restitution", "a number from 0 to 1");
        return Err(ContactError::OutOfRange { owner, quantity, value: restitution, expected });
    }
    Ok(())
}

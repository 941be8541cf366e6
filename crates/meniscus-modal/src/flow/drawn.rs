//! Flows that are drawn.

use meniscus_core::stroke::Stroke;

use super::sines::Sines;
use super::transform::Transform;

/// The flow nearest to a stroke, by its vorticity in sines: what is drawn without its gradient part, which pressure would take.
pub fn drawn(stroke: &Stroke, sines: &Sines) -> Vec<f64> {
    let mut vorticity = vec![0.0; sines.len()];
    Transform::new(sines).project(|x| stroke.velocity(x), &mut vorticity);
    vorticity
}

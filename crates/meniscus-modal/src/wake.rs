//! Vortices that have left the edges of bodies.

use serde::{Deserialize, Serialize};

use crate::flow::Sines;
use crate::panels::{Images, Places};

/// A round vortex whose vorticity falls off as a bell curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Blob {
    /// Its middle, in m.
    pub at: [f64; 2],
    /// Its circulation, in m²/s, counter-clockwise.
    pub circulation: f64,
    /// The deviation of the bell curve, in m.
    pub core: f64,
}

/// What has left the edges of bodies, and what is therefore left around these.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Wake {
    /// The vortices, the oldest first.
    pub blobs: Vec<Blob>,
    /// The circulation around each body, in m²/s.
    pub circulations: Vec<f64>,
}

/// No more vortices are carried one by one: what is older goes over into the modes.
const MOST_BLOBS: usize = 400;
/// Beyond so many deviations nothing is left of a bell curve.
const FAR: f64 = 8.0;

impl Wake {
    /// The circulation around a body.
    pub fn circulation(&self, body: usize) -> f64 {
        self.circulations.get(body).copied().unwrap_or(0.0)
    }

    /// The circulations around so many bodies.
    pub(crate) fn circulations_of(&self, bodies: usize) -> Vec<f64> {
        (0..bodies).map(|body| self.circulation(body)).collect()
    }

    /// Adds the stream function at points, with all images of the vortices, as if they had no cores.
    pub(crate) fn add_streams(&self, images: &Images, points: &[[f64; 2]], streams: &mut [f64]) {
        if self.blobs.is_empty() || points.is_empty() {
            return;
        }
        let places: Vec<_> = points.iter().map(|x| images.place(*x)).collect();
        let places = Places::of(&places);
        for blob in &self.blobs {
            images.add_streams(&places, 0, images.place(blob.at), blob.circulation, streams);
        }
    }

    /// What the cores of vortices take from the velocity of these at a point.
    pub(crate) fn less_in_cores(&self, x: [f64; 2]) -> [f64; 2] {
        let mut less = [0.0; 2];
        for blob in &self.blobs {
            let [dx, dy] = [x[0] - blob.at[0], x[1] - blob.at[1]];
            let (square, core) = (dx * dx + dy * dy, blob.core * blob.core);
            if square > 0.0 && square < FAR * FAR * core {
                let part =
                    blob.circulation / (2.0 * std::f64::consts::PI * square) * (-0.5 * square / core).exp();
                less = [less[0] + part * dy, less[1] - part * dx];
            }
        }
        less
    }

    /// The vorticity in sines: 4 / A times the integral of each with the vorticity, which for a bell curve is its value in the middle times e^(-λ σ² / 2).
    pub fn vorticity(&self, sines: &Sines) -> Vec<f64> {
        vorticity(&self.blobs, sines)
    }

    /// Whether there are more vortices than are carried one by one.
    pub(crate) fn is_too_long(&self) -> bool {
        self.blobs.len() > MOST_BLOBS
    }

    /// Takes the vortices out that are too many to be carried one by one; gives their vorticity in sines.
    pub(crate) fn give_up_the_oldest(&mut self, sines: &Sines) -> Option<Vec<f64>> {
        let too_many = self.blobs.len().checked_sub(MOST_BLOBS).filter(|count| *count > 0)?;
        let old: Vec<Blob> = self.blobs.drain(..too_many).collect();
        Some(vorticity(&old, sines))
    }
}

fn vorticity(blobs: &[Blob], sines: &Sines) -> Vec<f64> {
    let mut vorticity = vec![0.0; sines.len()];
    let unit = sines.size.map(|side| std::f64::consts::PI / side);
    for blob in blobs {
        let waves = [0, 1].map(|axis| -> Vec<f64> {
            let wave = |k: usize| {
                let number = unit[axis] * k as f64;
                (number * blob.at[axis]).sin() * (-0.5 * (number * blob.core).powi(2)).exp()
            };
            (1..=sines.counts[axis]).map(wave).collect()
        });
        let factor = 4.0 / sines.area() * blob.circulation;
        for (row, x) in vorticity.chunks_mut(sines.counts[1]).zip(&waves[0]) {
            row.iter_mut().zip(&waves[1]).for_each(|(to, y)| *to += factor * x * y);
        }
    }
    vorticity
}

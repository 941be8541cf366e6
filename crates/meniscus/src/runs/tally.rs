//! What the substeps of a run come to.

use super::RunError;
use crate::stats::{self, Stats};

/// What a whole run comes to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Summary {
    /// The frame that the run began with: 0, or that which it has in common with another run.
    pub first_frame: u32,
    /// The last frame that is there.
    pub last_frame: u32,
    /// The largest drift of the liquid's volume, as a part of it.
    pub max_drift: f64,
    /// The frame of that.
    pub frame_of_drift: u32,
    /// The largest drift that there would be without all corrections up to then.
    pub max_drift_uncorrected: f64,
    /// By how much the volume at the start was off that of the shapes of the scene, as a part of it.
    pub off_at_start: f64,
    /// The volume that sources added, in m³ (2D: m²).
    pub poured: f64,
    /// The volume that sinks took or that left through open sides.
    pub drained: f64,
}

/// What the substeps so far come to.
#[derive(Clone, Copy, Default)]
pub struct Tally {
    /// The largest drift of the liquid's volume, and its frame.
    drift: f64,
    frame: u32,
    /// The largest without corrections, without its sign.
    uncorrected: f64,
    poured: f64,
    drained: f64,
}

impl Tally {
    pub fn of(stats: &Stats) -> Self {
        let Stats { frame, poured_volume: poured, drained_volume: drained, .. } = *stats;
        let uncorrected = stats.drift_uncorrected().abs();
        Self { drift: stats.drift(), frame, uncorrected, poured, drained }
    }

    /// From a line of `stats.jsonl`.
    pub fn of_line(line: &serde_json::Value) -> Self {
        let number = |key: &str| line.get(key).and_then(serde_json::Value::as_f64).unwrap_or(0.0);
        let off = |key: &str| stats::drift(number(key), number("liquid_volume_target"));
        Self {
            drift: off("liquid_volume"),
            frame: number("frame") as u32,
            uncorrected: off("liquid_volume_uncorrected").abs(),
            poured: number("poured_volume"),
            drained: number("drained_volume"),
        }
    }

    /// Both together, with the larger drift, the first of equals. No number is larger than any.
    pub fn plus(self, other: Self) -> Self {
        let worse = if other.drift.abs().total_cmp(&self.drift.abs()).is_gt() { other } else { self };
        Self {
            uncorrected: self.uncorrected.max(other.uncorrected),
            poured: self.poured + other.poured,
            drained: self.drained + other.drained,
            ..worse
        }
    }

    pub fn check(self, limit: Option<f64>) -> Result<(), RunError> {
        let Self { frame, drift, .. } = self;
        match limit {
            Some(limit) if drift.is_nan() || drift.abs() > limit => {
                Err(RunError::Drift { frame, drift, limit })
            }
            _ => Ok(()),
        }
    }

    pub fn summary(self) -> Summary {
        Summary {
            first_frame: 0,
            last_frame: 0,
            max_drift: self.drift.abs(),
            frame_of_drift: self.frame,
            max_drift_uncorrected: self.uncorrected,
            off_at_start: 0.0,
            poured: self.poured,
            drained: self.drained,
        }
    }
}

//! How long stages take.

use std::time::Instant;

/// Times stages by name.
pub struct Clock {
    last: Instant,
    pub stages: Vec<(&'static str, f64)>,
}

impl Clock {
    pub fn new() -> Self {
        Self { last: Instant::now(), stages: Vec::new() }
    }

    /// Ends a stage; the time of stages with the same name is added up.
    pub fn stage(&mut self, name: &'static str) {
        let now = Instant::now();
        let seconds = (now - self.last).as_secs_f64();
        self.last = now;
        match self.stages.iter_mut().find(|(n, _)| *n == name) {
            Some((_, total)) => *total += seconds,
            None => self.stages.push((name, seconds)),
        }
    }
}

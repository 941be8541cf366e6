//! Ctrl-C.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use indicatif::ProgressBar;

use super::count;
use crate::cli::print_line;
use crate::failure::Failure;

/// What the user asks for with Ctrl-C: a run ends after its substep, with a checkpoint; drawing ends at once, since
/// nothing waits for it and pictures can be drawn again.
#[derive(Clone, Default)]
pub struct Interrupt(Arc<Shared>);

#[derive(Default)]
struct Shared {
    asked: AtomicBool,
    drawing: Mutex<Option<ProgressBar>>,
}

impl Interrupt {
    /// Hears of Ctrl-C from now on.
    pub fn listen() -> Result<Self, Failure> {
        let interrupt = Self::default();
        let heard = interrupt.clone();
        ctrlc::set_handler(move || heard.hear()).map_err(Failure::failed)?;
        Ok(interrupt)
    }

    /// Whether the work should end.
    pub fn is_asked(&self) -> bool {
        self.0.asked.load(Ordering::Relaxed)
    }

    /// Only pictures are drawn from now on; the bar counts them.
    pub fn now_drawing(&self, bar: &ProgressBar) {
        *self.0.drawing.lock().unwrap_or_else(PoisonError::into_inner) = Some(bar.clone());
        // Between the last substep and here nobody else would notice.
        if self.is_asked() {
            self.hear();
        }
    }

    fn hear(&self) {
        self.0.asked.store(true, Ordering::Relaxed);
        if let Some(bar) = &*self.0.drawing.lock().unwrap_or_else(PoisonError::into_inner) {
            let pictures = count(bar.position() as usize, "picture");
            bar.finish_and_clear();
            print_line(&format!("interrupted after {pictures}"));
            std::process::exit(130);
        }
    }
}

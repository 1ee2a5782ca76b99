//! Ctrl-C, and a scheduler's request to end. What was found so far is printed
//! whole; a second one ends the program at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::failure::Failure;

/// What a shell adds to a signal's number for its exit code.
const BY_SIGNAL: u8 = 128;

/// Whether somebody wants the program to end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interrupt(Arc<AtomicUsize>);

impl Interrupt {
    /// Listens from now on.
    ///
    /// # Errors
    ///
    /// A system that does not let a program listen.
    pub(crate) fn listen() -> Result<Self, Failure> {
        let interrupt = Self::default();
        let again = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            let number = usize::try_from(signal).unwrap_or_default();
            flag::register_conditional_default(signal, again.clone())
                .and_then(|_| flag::register(signal, again.clone()))
                .and_then(|_| flag::register_usize(signal, interrupt.0.clone(), number))
                .map_err(|error| Failure::internal("signals", format!("no signals: {error}")))?;
        }
        Ok(interrupt)
    }

    /// The exit code of a program that was asked to end.
    pub(crate) fn code(&self) -> Option<u8> {
        match self.0.load(Ordering::Relaxed) {
            0 => None,
            signal => Some(BY_SIGNAL.saturating_add(u8::try_from(signal).unwrap_or_default())),
        }
    }
}

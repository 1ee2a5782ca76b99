//! Ctrl-C, a scheduler's request to end, and a terminal that is closed. What was found
//! so far is printed whole; a second Ctrl-C or request ends the program at once.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use gate_checks::process::is_signal_ignored;
use gate_checks::{CancelReason, Cancellation, Grace};
use gate_platform::HANG_UP;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::failure::Failure;

/// A shell adds this to a signal's number for its exit code.
const BY_SIGNAL: u8 = 128;

/// Time between two looks at what may cancel work.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Signals that end the program.
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
        match interrupt.register() {
            Ok(()) => Ok(interrupt),
            Err(error) => Err(Failure::internal("signals", format!("no signals: {error}"))),
        }
    }

    fn register(&self) -> io::Result<()> {
        // Handlers run in the order of their registration: the first signal finds the flag unset,
        // and sets it; the second one then ends the program.
        let is_second = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            flag::register_conditional_default(signal, is_second.clone())?;
            flag::register(signal, is_second.clone())?;
            self.note(signal)?;
        }
        // A terminal's end often arrives twice, from the system and from the shell.
        match HANG_UP {
            Some(hang_up) if !is_signal_ignored(hang_up) => self.note(hang_up)?,
            _ => {}
        }
        Ok(())
    }

    /// Stores the number of a signal when it arrives.
    fn note(&self, signal: i32) -> io::Result<()> {
        let number = usize::try_from(signal).unwrap_or_default();
        flag::register_usize(signal, self.0.clone(), number)?;
        Ok(())
    }

    /// The signal's number, 0 as long as none has arrived.
    pub(crate) fn signal(&self) -> &Arc<AtomicUsize> {
        &self.0
    }

    /// The cause of the signal, as a phrase; `None` as long as none has arrived.
    pub(crate) fn cause(&self) -> Option<&'static str> {
        match i32::try_from(self.0.load(Ordering::Relaxed)).unwrap_or_default() {
            0 => None,
            signal if HANG_UP == Some(signal) => Some("the terminal was closed (SIGHUP)"),
            SIGINT => Some("by Ctrl-C (SIGINT)"),
            _ => Some("another program asked gate to end (SIGTERM)"),
        }
    }

    /// The exit code of a program that a signal ends.
    pub(crate) fn code(&self) -> Option<u8> {
        match self.0.load(Ordering::Relaxed) {
            0 => None,
            signal => Some(BY_SIGNAL.saturating_add(u8::try_from(signal).unwrap_or_default())),
        }
    }
}

/// Does the work on this thread, and cancels it as soon as `is_unwanted` returns true.
pub(crate) fn cancel_when<T>(
    cancel: &Cancellation,
    grace: Grace,
    is_unwanted: &(dyn Fn() -> bool + Sync),
    work: impl FnOnce() -> T,
) -> T {
    let (work_sender, work_receiver) = mpsc::channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            let mut is_done = false;
            while !is_done && !is_unwanted() {
                is_done = work_receiver.recv_timeout(POLL_INTERVAL)
                    == Err(RecvTimeoutError::Disconnected);
            }
            cancel.cancel(CancelReason::Unwanted, grace);
        });
        // Dropped at the end of the work, even if the work panics.
        let _work_sender = work_sender;
        work()
    })
}

//! Events of running checks, for progress displays.

use std::fmt;
use std::sync::Arc;

use gate_core::decide::evidence::Evidence;

use crate::id::CheckId;

/// A step of a check or of the round that it is a part of.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A check began, or was given the slot that it had waited for.
    Started {
        /// The check's name.
        check: CheckId,
    },
    /// A check waits: as many run on this machine as may at once.
    Waiting {
        /// The check's name.
        check: CheckId,
    },
    /// A check failed and is run again.
    Retried {
        /// The check's name.
        check: CheckId,
        /// The number of further runs after this one.
        left: u32,
    },
    /// A check left its record.
    Finished {
        /// The record.
        evidence: Box<Evidence>,
    },
    /// The work tree changed while checks ran; those that passed run again.
    TreeChanged {
        /// The files that changed or vanished.
        files: Vec<String>,
    },
}

/// Receiver of events.
#[derive(Clone)]
pub struct Events(Arc<dyn Fn(Event) + Send + Sync>);

impl Events {
    /// Passes each event to this function, which must not block.
    pub fn to(sink: impl Fn(Event) + Send + Sync + 'static) -> Self {
        Self(Arc::new(sink))
    }

    /// Drops all events.
    pub fn nobody() -> Self {
        Self::to(drop)
    }

    pub(crate) fn send(&self, event: Event) {
        (self.0)(event);
    }
}

impl Default for Events {
    fn default() -> Self {
        Self::nobody()
    }
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Events")
    }
}

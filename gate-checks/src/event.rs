//! Events of running checks, for progress displays.

use std::fmt;
use std::sync::Arc;

use gate_core::decide::evidence::Evidence;

use crate::id::CheckId;

/// One thing that happened.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A check began, or was given the slot that it had waited for.
    Started {
        /// The check's name.
        check: CheckId,
    },
    /// As many checks run on this machine as may at once, and this one waits.
    Waiting {
        /// The check's name.
        check: CheckId,
    },
    /// A check failed and is run again.
    Retried {
        /// The check's name.
        check: CheckId,
        /// Number of remaining tries.
        left: u32,
    },
    /// A check left its record.
    Finished {
        /// The record.
        evidence: Box<Evidence>,
    },
    /// The work tree changed while checks ran; what passed is run again.
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

//! The events of a loop, for display.

use std::time::Duration;

use gate_core::decide::spent::Spent;
use jiff::Timestamp;

use super::end::FinishedRun;
use crate::record::Record;

/// An event of a loop, for display.
#[derive(Clone, Copy)]
pub(crate) enum LoopEvent<'e> {
    /// The loop begins, with this command line and a note on its permissions.
    Starts { command: &'e str, note: Option<&'e str> },
    /// An iteration begins; `spent` is the usage of the loop so far.
    Begins { iteration: u64, elapsed: Duration, spent: Option<&'e Spent> },
    /// The agent printed this.
    Printed(&'e [u8]),
    /// A check began or ended.
    Check(&'e gate_checks::Event),
    /// The agent ended.
    Ended { iteration: u64, run: &'e FinishedRun },
    /// gate decided on the iteration.
    Judged { iteration: u64, record: &'e Record },
    /// The loop waits until then.
    Waits { until: Timestamp, reason: &'e str },
}

/// A display of a loop's events.
pub(crate) trait Live {
    fn show(&self, event: LoopEvent<'_>);
}

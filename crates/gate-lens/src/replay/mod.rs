//! Past transcripts, decided again as the gate would have done.
//!
//! Files are read by a pool of threads ([`Findings`]), in the order in which they were named.

pub mod accuracy;
mod given;
mod inputs;
mod marks;
mod record;
mod replayer;
pub mod report;
mod run_folder;
#[cfg(test)]
mod tests;
mod warnings;
mod workers;

pub use given::{EarlierReplay, Idle, Labelled, Labels};
pub use inputs::{Input, Inputs, Passed, find};
pub use marks::{JudgedTranscript, MarkedDecision, MarkedTranscript, Marks};
pub use record::{
    Changed, GROUP, Judged, Label, ROW, ReplayGroup, ReplayRecord, ReplayVerdict, SUMMARY,
};
pub use replayer::{Replayer, Row, TranscriptText, exits_under};
pub use warnings::{about_place, about_settings};
pub use workers::{Finding, Findings, Host, MAX_THRESHOLD, Work, with_thresholds};

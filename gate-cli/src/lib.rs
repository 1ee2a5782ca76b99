//! [`Gate`] reads a transcript, gathers the evidence and decides; [`run`] is the command line over
//! it.
#![doc = include_str!("../README.md")]

// A test alone derives schemas: what gate prints are files. See gate-derive.
#[cfg(not(feature = "schemas"))]
extern crate gate_derive as schemars;

mod agent;
mod approval;
mod clients;
mod commands;
mod failure;
mod gate;
pub mod governance;
mod handoff;
mod hook;
mod install;
mod interrupt;
mod invocation;
mod key_file;
mod limit_end;
mod loops;
mod memory;
mod notify;
mod operator;
mod panics;
mod pull_request;
mod render;
mod request;
mod runner;
mod sealing;
mod secrets;
mod settings;
mod source;
mod supervision;
mod test_approval;
#[cfg(test)]
mod tests;
mod tool_inputs;
pub mod trust;

use gate_core::record;

pub use commands::{run, schema};
pub use failure::Failure;
pub use gate::{Gate, GateBuilder};
pub use gate_checks::check::{Check, CheckContext, CheckId, async_trait};
pub use gate_checks::{CheckSite, Checks, Event, Events, GatherOptions};
pub use gate_core::Verdict;
pub use gate_core::decide::evidence::{Evidence, Outcome};
pub use gate_core::record::{Ledger, Record, SCHEMA, Tree, UsageRecord, VERSION};
pub use gate_lens::replay::{Changed, Judged, Label, ReplayGroup, ReplayRecord, ReplayVerdict};
pub use gate_store as store;
#[doc(hidden)]
pub use hook::read_event;
pub use memory::{
    BreakerSelector, BreakerStatus, Claim, LeaseRef, Memory, OpenBreaker, Operation,
    RecordSelector, ReplayedDecision, SetAside, Submitted,
};
pub use request::{Asker, Request, Turn};
pub use settings::{Places, Selection, layers};
pub use source::Source;

/// The book's examples of this library run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../../docs/book/src/howto/loop-rust.md")]
struct Book;

/// Time to a decision's `retry_at`; zero if that has come, or is not set.
pub fn time_to_retry(record: &Record) -> std::time::Duration {
    record.time_to_retry(jiff::Timestamp::now())
}

//! Decides whether an agent loop may end.
//!
//! [`scan()`] reads a transcript of any known format: the explicit signal, the completion
//! indicators, and what the format reports beside the conversation. [`decide()`] weighs them,
//! together with the evidence that the caller gathered, under a [`Policy`]. Both are pure: time,
//! bytes, environment and earlier state are parameters.
//!
//! * [`decide`](mod@decide): indicators, signals, evidence, the decision;
//! * [`scan`](mod@scan): from bytes to all that a decision needs of a transcript;
//! * [`config`]: from settings to a policy;
//! * [`exit`], [`exit_scan`]: the agent exit protocol, and its signals in an agent's output;
//! * [`ledger`], [`history`]: records in a chain, and a ledger decided again;
//! * [`integrity`]: changes that get around the checks;
//! * [`mask`]: secrets in words of others;
//! * [`text`]: words of others, fit to be shown;
//! * [`trouble`]: errors, limits and denials, for the circuit breaker.
#![doc = include_str!("../README.md")]

// A test alone derives schemas: what gate prints are files. See gate-derive.
#[cfg(not(feature = "schemas"))]
extern crate gate_derive as schemars;

pub mod config;
pub mod decide;
mod digest;
pub mod exit;
pub mod exit_scan;
mod failure;
pub mod history;
pub mod integrity;
pub mod ledger;
pub mod mask;
pub mod record;
pub mod scan;
pub mod text;
pub mod trouble;

/// Names in the state folder of gate's own program.
pub mod state_folder {
    /// The folder of check slots.
    pub const SLOTS: &str = "check-slots";

    /// The file of panics: a check that panics names it, if it is there.
    pub const PANICS: &str = "panics.log";
}

pub use decide::decision::{Decision, decide};
pub use decide::input::Input;
pub use decide::policy::Policy;
pub use decide::verdict::Verdict;
pub use digest::digest;
pub use failure::{Failure, OUTPUT_CLOSED};
pub use record::Record;
pub use scan::{Scan, Scanner, scan};

/// The book's examples of this library run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../../docs/book/src/reference/library.md")]
struct Book;

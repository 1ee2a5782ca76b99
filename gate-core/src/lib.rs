//! Decides whether an agent loop may end.
//!
//! ```
//! use gate_core::{Input, Policy, Verdict, decide, scan};
//!
//! let policy = Policy::default();
//! let output = "\
//! The parser is in place: all tasks are completed, and it is ready for review.
//!
//! EXIT_STATUS: COMPLETE
//! EXIT_REASON: every criterion is met";
//! let scan = scan(output.as_bytes(), &policy).expect("the default patterns compile");
//! let decision = decide(&Input::new(scan.signal, scan.hits), &policy);
//! assert_eq!(decision.verdict, Verdict::Exit);
//! ```
//!
//! [`scan()`] reads a transcript of any known format: the explicit signal, the
//! completion indicators, and what the format tells beside the conversation.
//! [`decide()`] weighs them, together with the evidence that the caller
//! gathered, under a [`Policy`]. Both are pure: time, bytes, environment and
//! earlier state are parameters.
//!
//! * [`read`]: who said what, in which format;
//! * [`decide`](mod@decide): indicators, signals, evidence, the decision;
//! * [`exit`], [`work`]: the agent exit protocol, and the work that it moves;
//! * [`config`]: from settings to a policy;
//! * [`handoff`]: what one agent leaves to the next;
//! * [`mask`]: secrets in words of others;
//! * [`replay`]: logs that hold many iterations;
//! * [`text`]: words of others, fit to be shown;
//! * [`trouble`]: errors, limits and denials, for the circuit breaker.

pub mod config;
pub mod decide;
mod digest;
mod exit_scan;
pub mod history;
pub mod integrity;
pub mod mask;
pub mod protocol;
pub mod read;
pub mod replay;
mod scan;
pub mod text;
pub mod trouble;

pub use decide::decision::{Decision, Judged, decide, judge};
pub use decide::input::Input;
pub use decide::policy::Policy;
pub use decide::verdict::Verdict;
pub use digest::digest;
pub use exit_scan::{ExitScan, ExitScanner};
pub use protocol::{exit, handoff, work};
pub use scan::{Command, Limit, Reach, Remark, Scan, Scanner, Transcript, scan};

/// The book's examples of this library run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../../docs/book/src/reference/library.md")]
struct Book;

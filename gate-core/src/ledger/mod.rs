//! The ledger: records of events, in a chain that nobody can change unseen.
//!
//! Each record holds the hash of the one before it, and its own hash is BLAKE3
//! over its whole canonical JSON (RFC 8785), so that an edit of any field, a
//! removal, an insertion or another order breaks the chain at a record that can
//! be named. A tail that was cut off breaks nothing: that takes a [`Head`] that
//! is kept elsewhere.
//!
//! ```
//! use gate_core::ledger::{Body, Chain, Draft, Head};
//!
//! let draft = |kind: &str| Draft {
//!     time: "2026-11-02T10:00:00Z".to_owned(),
//!     kind: kind.to_owned(),
//!     run: None,
//!     actor: "gate".to_owned(),
//!     body: Body::new(&serde_json::json!({ "task": "42" })).expect("an object of plain data"),
//! };
//! let first = Head::EMPTY.follow(draft("exit_gate_blocked"));
//! let second = first.head().follow(draft("exit_gate_passed"));
//!
//! let mut chain = Chain::new().against(second.head());
//! chain.push_line(first.to_line().as_bytes()).expect("the first record");
//! let cut = chain.end().expect_err("the second is known");
//! assert_eq!(cut.to_string(), "the ledger ends at record 1, and 2 is known");
//! chain.push(&second).expect("it follows the first");
//! assert_eq!(chain.end().expect("nothing is wrong").head, second.head());
//! ```

mod body;
mod chain;
mod hash;
mod head;
mod line;
mod moved_out;
mod record;
#[cfg(test)]
mod tests;

pub use body::{Body, BodyError};
pub use chain::{Chain, Fault, Intact, Missing, Problem};
pub use hash::{BadHash, Hash};
pub use head::{BadHead, Head};
pub use line::{LONGEST_LINE, LineError};
pub use moved_out::MovedOut;
pub use record::{Draft, Record, Sealed, VERSION};

//! Errors, limits and denied tools of an iteration, for the circuit breaker.
//!
//! The patterns of errors and limits are data: the packs `errors` and
//! `limits`. They are read when an error, a failed tool or a line that may be
//! an error is there; an ordinary transcript does not pay for them.
//!
//! One of three sources feeds the signature, the first that is not empty: the
//! API's errors at the turn's end, its failed tool results, error lines of the
//! last word. An error or a limit that the agent got over, which its own text
//! after it shows, did not end the turn.

mod effort;
mod hint;
mod line;
mod normal;
mod pack;
mod signature;
mod watch;
mod wording;

#[cfg(test)]
mod tests;

pub use effort::Effort;
pub use normal::normalise;
pub use signature::Signature;
pub(crate) use watch::Watch;
pub use wording::has_wording;
pub use wording::outage_of;

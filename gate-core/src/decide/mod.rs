//! The decision: what counts as an indicator, a signal, evidence, and how
//! they add up.
//!
//! Nothing here knows where a text, an outcome or a state comes from: bytes
//! are [`read`](gate_transcript) elsewhere, checks are run elsewhere, state is
//! kept elsewhere.

pub mod breaker;
mod breaker_input;
mod budget;
pub mod changed_tests;
pub mod checks;
pub mod decision;
pub mod elsewhere;
pub mod evidence;
pub(crate) mod expression;
pub mod feedback;
pub mod first_tests;
pub mod grounds;
pub mod indicator;
pub mod input;
pub mod iteration_facts;
pub mod language;
pub(crate) mod literal;
pub mod notice;
pub mod open_decisions;
pub(crate) mod pack_text;
pub mod pattern;
pub mod policy;
pub mod question;
pub mod reason;
pub mod release;
mod ruling;
pub mod run_state;
pub mod score;
pub mod sealed_tests;
mod sentence;
pub mod signal;
pub mod situation;
pub mod spent;
pub mod stop;
pub mod test_failure;
pub mod timestamp;
pub mod verdict;

//! The agent exit protocol ([`gate_core::exit`]), the signal in what an agent gave, and the
//! answers to it.

mod answer;
mod input;

pub use answer::{ExitParsed, ExitSubmitted};
pub use gate_core::exit::*;
pub use input::{SignalInput, SignalReader};

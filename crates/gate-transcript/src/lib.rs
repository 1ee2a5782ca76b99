//! Reads what coding agents write.
//!
//! A [`Reader`] is fed bytes as they come and pushes [`Event`]s into a [`Sink`]: texts
//! with their speakers, boundaries between turns, and facts such as tokens and errors.
//! It finds the [`Format`] by itself unless one is forced, keeps memory flat whatever
//! the size of the input, and tolerates noise: invalid UTF-8, foreign lines between JSON
//! records and a torn last line become [`Event::Problem`]s, never errors.
//!
//! [`FinalTurn`] alone decides which text is the agent's *last word*, so that no format
//! has to. [`iterations`] cuts a log that holds the output of many runs of an agent.
//!
//! The crate has no input, output, clock or environment of its own.
#![doc = include_str!("../README.md")]

mod blocks;
mod calls;
mod claude_like;
mod clean;
mod controls;
mod detect;
mod event;
mod final_turn;
mod format;
mod frames;
pub mod iterations;
mod json;
mod limit;
mod loose;
mod out;
mod parts;
mod prefix;
mod prompt;
mod reader;
mod scan;
mod shape;
mod spec;
mod surrogates;
mod tail_buffer;
mod talk;
mod tally;

#[cfg(test)]
mod tests;

pub use event::{
    Answer, Boundary, Call, Ending, Event, Fact, Problem, ProblemKind, Role, Sink, Text, Usage,
    Wording,
};
pub use final_turn::{FinalTurn, Word};
pub use format::{Forced, Format, UnknownFormat};
pub use limit::resets_at;
pub use prompt::Prompt;
pub use reader::Reader;
pub use tail_buffer::TAIL_BYTES;

/// The longest JSON record that is parsed, in bytes; longer ones are passed over.
pub const MAX_RECORD: usize = 16 << 20;

/// The longest piece in which a line of plain text is handed on, in bytes.
/// Longer lines come in several pieces.
pub const MAX_PIECE: usize = 1 << 20;

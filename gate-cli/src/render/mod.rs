//! Output: the card of a decision, and diagnostics. `gate_card` has what they are made of.

pub(crate) mod card;
mod diagnostic;
pub(crate) mod findings;
pub(crate) mod progress;
#[cfg(test)]
pub(crate) mod tests;

pub(crate) use card::{CardOptions, card, decided, scan_card};
pub(crate) use diagnostic::{
    OutputMode, failure, let_go, message, released, stop_line, unverified_line,
};
pub(crate) use gate_card::{
    Mark, Page, brief, diagnose, diagnose_as_is, diagnose_commands, fitted, json, json_line, lines,
    local_time, markdown, notes, page, print, print_commands, print_text, span, text,
};
pub(crate) use progress::progress;

//! Handoffs: the state of the work that one agent leaves to the next. They are Markdown or
//! JSON, and each becomes the other without loss.
//!
//! ```
//! use gate_fleet::handoff::{self, Format};
//!
//! let parsed = handoff::read("## Handoff\n- objective: Ship it\n", Format::Markdown);
//! assert_eq!(parsed.handoff.as_ref().map(|handoff| handoff.objective.as_str()), Some("Ship it"));
//! let problem = &parsed.all_problems()[0];
//! assert_eq!((problem.rule, problem.field.as_str()), (Some(1), "in_scope"));
//! ```
//!
//! Reading is tolerant: a [`ParsedHandoff`] holds the readable part of the text, and the faults of
//! the text ([`ParsedHandoff::problems`]). [`Handoff::problems`] lists what a handoff lacks;
//! [`ParsedHandoff::all_problems`] lists both.

mod changed;
mod claims;
mod draft;
mod form;
mod markdown;
mod message;
mod model;
mod placeholder;
mod problem;
mod report;
mod rules;
#[cfg(feature = "schemas")]
mod schema;
#[cfg(test)]
mod tests;

use serde::Serialize;

pub use changed::{ChangedFile, Changes, Folders, never_there};
pub use claims::{SeenCommand, all_seen, contradicted_claims, line, words};
pub use draft::{Judged, draft_of_decision};
pub use model::{A2a, Agent, Blocker, Handoff, Outcome, PROTOCOL_VERSION, Risk, Verification};
pub use problem::Problem;
pub use report::{ConvertedHandoff, HandoffReport, text_of};
#[cfg(feature = "schemas")]
pub use schema::schema;

/// The longest text that is read, in bytes: a handoff is brief.
pub const LONGEST: usize = 2 << 20;

/// The longest text of a single field, in bytes.
pub const LONGEST_TEXT: usize = 10 << 10;

/// The format of a handoff.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// A list below the heading `## Handoff`.
    #[serde(rename = "md")]
    Markdown,
    /// One JSON object.
    Json,
    /// A message of A2A 0.3.0, with the JSON object as its one data part.
    A2a,
}

impl Format {
    /// The format that a text seems to have: a text that begins with `{` is JSON, and a message of
    /// A2A if it has `parts`.
    pub fn detect(text: &str) -> Self {
        let content = text.strip_prefix('\u{feff}').unwrap_or(text).trim_start();
        if !content.starts_with('{') {
            Self::Markdown
        } else if message::is_message(text) {
            Self::A2a
        } else {
            Self::Json
        }
    }
}

/// A handoff as it was read, with the faults of its text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParsedHandoff {
    /// The handoff, as far as it could be read: a missing field is empty. `None` if the text is no
    /// handoff at all.
    pub handoff: Option<Handoff>,
    /// Problems with the text itself: syntax, unknown and repeated keys, values of another
    /// type. If there are none, nothing of the handoff was lost.
    pub problems: Vec<Problem>,
    /// Parts and members of a message beside the handoff. They do not make the handoff
    /// invalid, and are lost if it is written again.
    pub lost_members: Vec<Problem>,
}

impl ParsedHandoff {
    /// The result for a text that is no handoff.
    fn unreadable(problem: Problem) -> Self {
        Self { problems: vec![problem], ..Self::default() }
    }

    /// Problems with the text, and rules that the handoff breaks. A field that could not be
    /// read is reported once, not again as missing.
    pub fn all_problems(&self) -> Vec<Problem> {
        let mut problems = self.problems.clone();
        for broken_rule in self.handoff.iter().flat_map(Handoff::problems) {
            if !self.problems.iter().any(|problem| problem.covers(&broken_rule.field)) {
                problems.push(broken_rule);
            }
        }
        problems
    }
}

/// Reads a handoff of a format.
pub fn read(text: &str, format: Format) -> ParsedHandoff {
    if text.len() > LONGEST {
        let message = format!("longer than {LONGEST} bytes, and a handoff is brief");
        return ParsedHandoff::unreadable(Problem::new("", message));
    }
    match format {
        Format::Markdown => markdown::read(text),
        Format::Json => form::read(text),
        Format::A2a => message::read(text),
    }
}

impl Handoff {
    /// The handoff as JSON, indented, with a line's end.
    pub fn to_json(&self) -> String {
        // Texts and lists of texts always have a form in JSON.
        serde_json::to_string_pretty(self).map(|text| text + "\n").unwrap_or_default()
    }

    /// The handoff as Markdown, in the canonical form. A text that a line of Markdown cannot hold
    /// as it is becomes a JSON string, between double quotes.
    pub fn to_markdown(&self) -> String {
        markdown::write(self)
    }

    /// The handoff as a message of A2A 0.3.0, in JSON: one data part, the interaction's id as
    /// `contextId`. The message's id is a digest of its content.
    pub fn to_message(&self) -> String {
        message::write(self)
    }

    /// The handoff in a format.
    pub fn to_text(&self, format: Format) -> String {
        match format {
            Format::Markdown => self.to_markdown(),
            Format::Json => self.to_json(),
            Format::A2a => self.to_message(),
        }
    }
}

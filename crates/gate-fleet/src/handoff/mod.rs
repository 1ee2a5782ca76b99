//! Handoffs: what one agent leaves to the next, as Markdown or JSON, each to the
//! other without loss.
//!
//! ```
//! use gate_fleet::handoff::{self, Format};
//!
//! let read = handoff::read("## Handoff\n- objective: Ship it\n", Format::Markdown);
//! assert_eq!(read.handoff.as_ref().map(|handoff| handoff.objective.as_str()), Some("Ship it"));
//! let problem = &read.all_problems()[0];
//! assert_eq!((problem.rule, problem.field.as_str()), (Some(1), "in_scope"));
//! ```
//!
//! Reading is tolerant: [`Read`] holds what could be read beside what is wrong with the text
//! ([`Read::problems`]). [`Handoff::problems`] lists what a handoff lacks; [`Read::all_problems`]
//! lists both.

mod claims;
mod draft;
mod form;
mod markdown;
mod message;
mod model;
mod placeholder;
mod problem;
mod rules;
#[cfg(feature = "schemas")]
mod schema;
#[cfg(test)]
mod tests;

use serde::Serialize;

pub use claims::{Seen, all_seen, line, unheld, unknown_files, words};
pub use draft::draft;
pub use model::{A2a, Agent, Blocker, Handoff, Outcome, PROTOCOL_VERSION, Risk, Verification};
pub use problem::Problem;
#[cfg(feature = "schemas")]
pub use schema::schema;

/// The longest text that is read, in bytes: a handoff is brief.
pub const LONGEST: usize = 2 << 20;

/// The longest that one of its texts may be, in bytes.
pub const LONGEST_TEXT: usize = 10 << 10;

/// Format of a handoff.
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
    /// The format that a text seems to have: what begins with `{` is JSON, and a message of A2A if
    /// it has `parts`.
    pub fn detect(text: &str) -> Self {
        let bare = text.strip_prefix('\u{feff}').unwrap_or(text).trim_start();
        if !bare.starts_with('{') {
            Self::Markdown
        } else if message::is_one(text) {
            Self::A2a
        } else {
            Self::Json
        }
    }
}

/// Result of reading a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Read {
    /// The handoff, as far as it could be read: what is missing is empty. None if the text is no
    /// handoff at all.
    pub handoff: Option<Handoff>,
    /// Problems with the text itself: syntax, unknown and repeated keys, values of another
    /// type. If there are none, nothing of the handoff was lost.
    pub problems: Vec<Problem>,
    /// Parts and members of a message beside the handoff. They do not make the handoff
    /// invalid, and are lost if it is written again.
    pub beside: Vec<Problem>,
}

impl Read {
    /// The result for a text that is no handoff.
    fn nothing(why: Problem) -> Self {
        Self { problems: vec![why], ..Self::default() }
    }

    /// Problems with the text, and rules that the handoff breaks. A field that could not be
    /// read is reported once, not again as missing.
    pub fn all_problems(&self) -> Vec<Problem> {
        let mut all = self.problems.clone();
        for broken in self.handoff.iter().flat_map(Handoff::problems) {
            if !self.problems.iter().any(|problem| problem.covers(&broken.field)) {
                all.push(broken);
            }
        }
        all
    }
}

/// Reads a handoff of a format.
pub fn read(text: &str, format: Format) -> Read {
    if text.len() > LONGEST {
        let message = format!("longer than {LONGEST} bytes, and a handoff is brief");
        return Read::nothing(Problem::new("", message));
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

    /// The handoff as Markdown, in the canonical form. What cannot stand in a line of Markdown as
    /// it is stands as a JSON string, between double quotes.
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

//! The wordings of limits, outages and denials that clients use: the pack `limits`.

use super::hint::Hints;
use super::pack::Kind;
use crate::decide::iteration_facts::OutageCause;
use gate_transcript::Wording;

/// The longest notice, in bytes; a longer text is prose.
const MAX_NOTICE_BYTES: usize = 300;

/// The beginning of a tool's answer that is searched for a denial, in bytes.
const MAX_DENIAL_BYTES: usize = 500;

/// Texts of which every notice contains one.
static NOTICE_HINTS: Hints = Hints::new(&[
    "hit your ",
    "reached your ",
    "exceeded your ",
    "imit reached",
    "out of extra usage",
    "429",
    "exhausted",
    "ate limit",
]);

/// Texts of which every denial contains one.
static DENIAL_HINTS: Hints = Hints::new(&[
    "ermission",
    "pprov",
    "The user",
    "by user",
    "enied",
    "locked",
    "ejected",
    "specified a rule",
]);

/// A text that a client words in this way.
pub fn has_wording(wording: Wording, text: &str) -> bool {
    match wording {
        Wording::Notice => is_notice(text),
        Wording::Limit => is_limit(text),
        Wording::Denial => is_denial(text),
    }
}

/// A text that is a notice as a whole: an agent's prose about limits is longer, or begins in
/// another way.
pub(super) fn is_notice(text: &str) -> bool {
    let text = text.trim();
    text.len() <= MAX_NOTICE_BYTES
        && text.lines().count() <= 2
        && NOTICE_HINTS.are_in(text)
        && text.lines().next().is_some_and(|line| Kind::Notice.is_in(line))
}

fn is_limit(error: &str) -> bool {
    Kind::Mention.is_in(error) || is_notice(error)
}

/// The cause of an outage that an error of the client names.
pub fn outage_of(error: &str) -> Option<OutageCause> {
    if is_limit(error) {
        Some(OutageCause::Limit)
    } else {
        Kind::Outage.is_in(error).then_some(OutageCause::Connection)
    }
}

/// The output of an agent that printed nothing but its client's message about an outage.
pub(super) fn is_outage_notice(text: &str) -> bool {
    let text = text.trim();
    let marks = ["api error", "[api error", "error", "✕", "✗", "×", "■", "⚠"];
    if text.len() > MAX_NOTICE_BYTES || text.lines().count() > 2 {
        return false;
    }
    let lower_case = text.to_lowercase();
    marks.iter().any(|mark| lower_case.starts_with(mark)) && outage_of(text).is_some()
}

/// An answer that begins with a denial: further on, a tool's own output may speak of permissions.
fn is_denial(answer: &str) -> bool {
    let line = answer.trim_start().lines().next().unwrap_or_default();
    let line = &line[..line.floor_char_boundary(MAX_DENIAL_BYTES)];
    DENIAL_HINTS.are_in(line) && Kind::Denial.is_in(line)
}

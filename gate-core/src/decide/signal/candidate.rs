//! Candidates: whatever in the last word may be a signal, and what is left of
//! them.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::context::Context;
use super::layout::Layout;
use super::objection::Objection;
use super::spelling::Spelling;
use crate::decide::policy::{SignalPolicy, SignalValue};
use crate::exit::ExitSignal;
use crate::text::clean_lines;

/// The most candidates of one spelling that are judged: the last ones. Each is compared
/// with the text around it, and a hostile message may repeat one without end.
pub(super) const MAX_CANDIDATES: usize = 200;

/// Why the form of a signal is none.
pub(super) const PLACEHOLDER: &str = "a placeholder, not a signal";

/// The longest text of the agent that a signal carries, in characters.
const MAX_TEXT_CHARS: usize = 2_000;

/// Something in the last word that may be a signal.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) spelling: Spelling,
    pub(super) line: u64,
    /// The line of the message, which orders candidates.
    pub(super) at: usize,
    /// The bytes of the message that it takes up.
    pub(super) span: Range<usize>,
    /// The text that a person is shown.
    pub(super) text: String,
    /// The texts that are part of the signal and so are no indicators.
    pub(super) taken: Vec<String>,
    pub(super) reading: Reading,
}

#[derive(Debug)]
pub(super) enum Reading {
    /// It is a signal.
    Signal(Statement),
    /// It is none, for this reason.
    Rejected(Objection),
    /// It would say that the work goes on, were it not for this reason. After
    /// a completion, or on its line, that is doubt enough.
    Doubtful(String),
    /// It is one that cannot be read.
    Unreadable(String),
}

/// The content of a signal.
#[derive(Debug)]
pub(super) struct Statement {
    pub(super) value: SignalValue,
    pub(super) reason: Option<String>,
    pub(super) remaining_work: Option<String>,
    pub(super) confidence: Option<String>,
    pub(super) override_requested: bool,
    pub(super) agrees: bool,
    pub(super) problems: Vec<String>,
    pub(super) exit_signal: Option<Box<ExitSignal>>,
}

/// A text that looks like a signal and is none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NearMiss {
    /// The text.
    pub text: String,
    /// Line of the input, from 1.
    pub line: u64,
    /// Why it is none, or what would make it one.
    pub why: String,
}

impl Statement {
    pub(super) fn new(value: SignalValue) -> Self {
        Self {
            value,
            reason: None,
            remaining_work: None,
            confidence: None,
            override_requested: false,
            agrees: false,
            problems: Vec::new(),
            exit_signal: None,
        }
    }
}

impl Candidate {
    pub(super) fn flaw(&self) -> Option<String> {
        match &self.reading {
            Reading::Unreadable(why) => Some(format!("line {}: {why}", self.line)),
            Reading::Signal(_) | Reading::Rejected(_) | Reading::Doubtful(_) => None,
        }
    }

    /// The candidate with the highest weight stands for all. The weight grows with how
    /// much the candidate forbids, so that a CONTINUE beats a COMPLETE.
    pub(super) fn weight(&self) -> u8 {
        match &self.reading {
            Reading::Signal(statement) => match statement.value {
                SignalValue::Continue => 4,
                SignalValue::Blocked => 3,
                SignalValue::Complete if !statement.problems.is_empty() => 2,
                SignalValue::Complete => 1,
            },
            Reading::Unreadable(_) => 5,
            Reading::Rejected(_) | Reading::Doubtful(_) => 0,
        }
    }

    /// True if the candidate counts under this policy. A CONTINUE counts in every
    /// spelling.
    fn counts(&self, policy: &SignalPolicy) -> bool {
        let accepted = self.spelling == Spelling::Custom || policy.accept.contains(&self.spelling);
        let goes_on = matches!(&self.reading, Reading::Signal(statement) if statement.value == SignalValue::Continue);
        accepted || goes_on
    }

    pub(super) fn completes(&self) -> bool {
        matches!(&self.reading, Reading::Signal(statement) if statement.value == SignalValue::Complete)
    }

    pub(super) fn miss(&self, why: &str) -> NearMiss {
        NearMiss { text: cut(&self.text), line: self.line, why: cut(why) }
    }

    fn not_accepted(&self) -> String {
        format!("`{}` is not in signal.accept", self.spelling.name())
    }
}

/// Takes completions for examples where the message shows elsewhere how one is given: a
/// document speaks about signals, an agent gives one and ends.
pub(super) fn refuse_examples(candidates: &mut [Candidate], layout: &Layout<'_>) {
    let spans: Vec<_> = candidates.iter().map(|one| one.span.clone()).collect();
    let shown = candidates.iter().filter_map(|one| match &one.reading {
        Reading::Rejected(objection) if objection.is_example => Some((one.spelling, one.line)),
        _ => None,
    });
    let shown: Vec<_> = shown.collect();
    for one in candidates.iter_mut().filter(|one| one.completes()) {
        let Some((_, line)) = shown.iter().find(|(spelling, _)| *spelling == one.spelling) else {
            continue;
        };
        // A tag is mentioned easily. Who shows a whole block gives a heading to each.
        let is_block = one.spelling != Spelling::Promise;
        let first = layout.index_of(one.span.start);
        if !layout.ends_with(one.span.end, &spans)
            || (is_block && Context::new(layout, first..first).is_titled())
        {
            let why = format!("line {line} shows how it is given, so this is an example too");
            one.reading = Reading::Rejected(Objection::example(why));
        }
    }
}

/// The candidates that count, and the reasons why the others do not.
#[derive(Default)]
pub(super) struct Selection {
    /// The last one of each spelling that is a signal.
    pub(super) last: Vec<Candidate>,
    /// All that are none.
    pub(super) misses: Vec<NearMiss>,
    /// The texts of examples, mentions and placeholders: they say nothing, so
    /// they are no indicators either.
    pub(super) refused: Vec<String>,
    /// Why a completion among the first is doubtful.
    pub(super) doubts: Vec<String>,
}

pub(super) fn select(mut candidates: Vec<Candidate>, policy: &SignalPolicy) -> Selection {
    candidates.sort_by_key(|candidate| candidate.at);
    let mut selection = Selection::default();
    let mut doubtful = Vec::new();
    for candidate in candidates {
        match &candidate.reading {
            Reading::Rejected(objection) => {
                selection.misses.push(candidate.miss(&objection.why));
                selection.refused.extend(candidate.taken);
            }
            Reading::Doubtful(why) => {
                selection.misses.push(candidate.miss(why));
                doubtful.push((candidate.at, candidate.line, candidate.text));
            }
            _ if !candidate.counts(policy) => {
                selection.misses.push(candidate.miss(&candidate.not_accepted()));
            }
            _ => {
                selection.last.retain(|other| other.spelling != candidate.spelling);
                selection.last.push(candidate);
            }
        }
    }
    let completed = selection.last.iter().filter(|one| one.completes()).map(|one| one.at).max();
    let after =
        doubtful.into_iter().filter(|(at, ..)| completed.is_some_and(|completed| *at >= completed));
    selection.doubts = after
        .map(|(_, line, text)| format!("line {line}: `{text}` follows the completion"))
        .collect();
    selection.misses.sort_by_key(|miss| miss.line);
    selection
}

/// Two spellings that say different things.
pub(super) fn disagreement(last: &[Candidate]) -> Option<String> {
    let values: Vec<_> = last
        .iter()
        .filter_map(|candidate| match &candidate.reading {
            Reading::Signal(statement) => Some((candidate, statement.value)),
            Reading::Rejected(_) | Reading::Doubtful(_) | Reading::Unreadable(_) => None,
        })
        .collect();
    let (first, value) = values.first()?;
    let (other, _) = values.iter().find(|(_, other)| other != value)?;
    Some(format!(
        "line {}: `{}` contradicts line {}: `{}`",
        first.line, first.text, other.line, other.text
    ))
}

/// The agent's text, cut to a length that records and terminals can bear, and without
/// what a terminal obeys.
pub(super) fn cut(text: &str) -> String {
    let text = &clean_lines(text);
    match text.char_indices().nth(MAX_TEXT_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

//! Candidates: whatever in the last word may be a signal, and the choice among them.

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

/// The objection to a form of a signal that nobody filled in.
pub(super) const PLACEHOLDER: &str = "a placeholder, not a signal";

/// The longest text of the agent that a signal carries, in characters.
const MAX_TEXT_CHARS: usize = 2_000;

/// Something in the last word that may be a signal.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) spelling: Spelling,
    /// Its line in the input, from 1.
    pub(super) line: u64,
    /// Its line in the message, from 0, which orders candidates.
    pub(super) index: usize,
    /// The bytes of the message that it takes up.
    pub(super) span: Range<usize>,
    /// The text that a person is shown.
    pub(super) text: String,
    /// The texts that are part of the signal and so are no indicators.
    pub(super) texts: Vec<String>,
    pub(super) reading: Reading,
}

#[derive(Debug)]
pub(super) enum Reading {
    /// It is a signal.
    Signal(Statement),
    /// It only looks like a signal.
    Rejected(Objection),
    /// It would say that the work goes on, were it not for this reason. After
    /// a completion, or on its line, that is doubt enough.
    Doubtful(String),
    /// It is a signal that cannot be read, for this reason.
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
    /// Other fields confirm the value.
    pub(super) fields_agree: bool,
    pub(super) problems: Vec<String>,
    pub(super) exit_signal: Option<Box<ExitSignal>>,
}

/// A text that looks like a signal, and does not count as one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NearMiss {
    /// The text.
    pub text: String,
    /// Line of the input, from 1.
    pub line: u64,
    /// The reason why it does not count, or what would make it count.
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
            fields_agree: false,
            problems: Vec::new(),
            exit_signal: None,
        }
    }
}

impl Candidate {
    pub(super) fn flaw(&self) -> Option<String> {
        match &self.reading {
            Reading::Unreadable(reason) => Some(format!("line {}: {reason}", self.line)),
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

    /// The candidate counts under this policy. A CONTINUE counts in every spelling.
    fn counts(&self, policy: &SignalPolicy) -> bool {
        let is_accepted =
            self.spelling == Spelling::Custom || policy.accept.contains(&self.spelling);
        is_accepted || self.says(SignalValue::Continue)
    }

    pub(super) fn says(&self, value: SignalValue) -> bool {
        matches!(&self.reading, Reading::Signal(statement) if statement.value == value)
    }

    pub(super) fn near_miss(&self, reason: &str) -> NearMiss {
        NearMiss { text: cut(&self.text), line: self.line, why: cut(reason) }
    }
}

/// Takes completions for examples where the message shows elsewhere how one is given: a
/// document speaks about signals, an agent gives one and ends.
pub(super) fn refuse_examples(candidates: &mut [Candidate], layout: &Layout<'_>) {
    let spans: Vec<_> = candidates.iter().map(|candidate| candidate.span.clone()).collect();
    let examples = candidates.iter().filter_map(|candidate| match &candidate.reading {
        Reading::Rejected(objection) if objection.is_example => {
            Some((candidate.spelling, candidate.line))
        }
        _ => None,
    });
    let examples: Vec<_> = examples.collect();
    for candidate in candidates.iter_mut().filter(|one| one.says(SignalValue::Complete)) {
        let is_same_spelling = |(spelling, _): &&(Spelling, u64)| *spelling == candidate.spelling;
        let Some((_, line)) = examples.iter().find(is_same_spelling) else { continue };
        // A tag is mentioned easily. Who shows a whole block gives a heading to each.
        let is_block = candidate.spelling != Spelling::Promise;
        let first = layout.index_of(candidate.span.start);
        if !layout.ends_with(candidate.span.end, &spans)
            || (is_block && Context::new(layout, first..first).is_titled())
        {
            let reason = format!("line {line} shows how it is given, so this is an example too");
            candidate.reading = Reading::Rejected(Objection::example(reason));
        }
    }
}

/// The candidates that count, and the reasons why the others do not.
#[derive(Default)]
pub(super) struct Selection {
    /// The last signal of each spelling.
    pub(super) signals: Vec<Candidate>,
    /// All candidates that do not count.
    pub(super) near_misses: Vec<NearMiss>,
    /// The texts of examples, mentions and placeholders: they say nothing, so
    /// they are no indicators either.
    pub(super) refused_texts: Vec<String>,
    /// The reasons to doubt a completion among the signals.
    pub(super) doubts: Vec<String>,
}

/// A candidate that would say that the work goes on.
struct DoubtfulLine {
    index: usize,
    line: u64,
    text: String,
}

pub(super) fn select(mut candidates: Vec<Candidate>, policy: &SignalPolicy) -> Selection {
    candidates.sort_by_key(|candidate| candidate.index);
    let mut selection = Selection::default();
    let mut doubtful_lines = Vec::new();
    for candidate in candidates {
        match &candidate.reading {
            Reading::Rejected(objection) => {
                selection.near_misses.push(candidate.near_miss(&objection.reason));
                selection.refused_texts.extend(candidate.texts);
            }
            Reading::Doubtful(reason) => {
                selection.near_misses.push(candidate.near_miss(reason));
                let Candidate { index, line, text, .. } = candidate;
                doubtful_lines.push(DoubtfulLine { index, line, text });
            }
            _ if !candidate.counts(policy) => {
                let reason = format!("`{}` is not in signal.accept", candidate.spelling.name());
                selection.near_misses.push(candidate.near_miss(&reason));
            }
            _ => {
                selection.signals.retain(|signal| signal.spelling != candidate.spelling);
                selection.signals.push(candidate);
            }
        }
    }
    let completions = selection.signals.iter().filter(|signal| signal.says(SignalValue::Complete));
    if let Some(completion) = completions.map(|signal| signal.index).max() {
        let later_lines = doubtful_lines.iter().filter(|doubtful| doubtful.index >= completion);
        let doubts = later_lines.map(|DoubtfulLine { line, text, .. }| {
            format!("line {line}: `{text}` follows the completion")
        });
        selection.doubts = doubts.collect();
    }
    selection.near_misses.sort_by_key(|miss| miss.line);
    selection
}

/// Two spellings that say different things.
pub(super) fn disagreement(signals: &[Candidate]) -> Option<String> {
    let mut values = signals.iter().filter_map(|candidate| match &candidate.reading {
        Reading::Signal(statement) => Some((candidate, statement.value)),
        Reading::Rejected(_) | Reading::Doubtful(_) | Reading::Unreadable(_) => None,
    });
    let (first, first_value) = values.next()?;
    let (second, _) = values.find(|(_, value)| *value != first_value)?;
    Some(format!(
        "line {}: `{}` contradicts line {}: `{}`",
        first.line, first.text, second.line, second.text
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

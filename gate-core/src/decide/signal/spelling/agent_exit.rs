//! The JSON exit signal of the agent exit protocol.
//!
//! A signal is what the protocol's own rules take for one, where it stands as
//! signals stand: on lines of its own, alone, indented or fenced, also with
//! other JSON around it; not within a sentence, an example or other JSON. An
//! invalid signal is reported, and says nothing.

use std::ops::Range;

use memchr::memmem;

use super::Spelling;
use super::promise::{FOLLOWED, MARKS, neighbours_objection};
use crate::decide::language::Language;
use crate::decide::policy::{SignalPolicy, SignalValue};
use crate::decide::signal::candidate::{Candidate, MAX_CANDIDATES, Reading, Statement};
use crate::decide::signal::context::{Context, end_of, start_of};
use crate::decide::signal::layout::Layout;
use crate::decide::signal::marker::Marker;
use crate::decide::signal::objection::Objection;
use crate::exit::{
    AgentExitConfig, EXIT_SIGNAL_PROTOCOL, ExitSignal, ExitSignalError, WorkPhase, find,
};
use gate_transcript::{FinalTurn, Word};

/// The part of a signal's line that can refuse it, in bytes on either side.
const MAX_LINE_BYTES: usize = 2_000;

/// A place in the agent's last message that names the exit protocol in JSON.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExitSighting {
    /// Line of the input, from 1.
    pub line: u64,
    /// The signal at this place, or the reason why there is none.
    pub found: Result<ExitSignal, NoSignal>,
}

/// The reason why a place that looks like an exit signal does not count.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoSignal {
    /// It is not valid. Lines and columns are those of the JSON.
    #[error(transparent)]
    Invalid(#[from] ExitSignalError),
    /// It is shown, quoted, mentioned, put off: the agent does not say it.
    #[error("no exit signal: {0}")]
    NotSaid(String),
}

/// Finds the places in the agent's last message that name the exit protocol in JSON, in
/// order. The last one that is a signal counts. The caller checks the feature flag.
pub fn exit_signals(turn: &FinalTurn) -> Vec<ExitSighting> {
    for word in turn.words() {
        let sightings = sightings_in(word);
        if !sightings.is_empty() || !word.answers_notification {
            return sightings;
        }
    }
    Vec::new()
}

fn sightings_in(word: &Word) -> Vec<ExitSighting> {
    let language = Language::default();
    let layout = Layout::new(word, &language);
    let sightings = signal_spans(&layout).into_iter().map(|span| ExitSighting {
        line: layout.number(layout.index_of(span.start)),
        found: signal_at(&layout, span),
    });
    sightings.collect()
}

/// See [`Spelling::parts`].
pub(super) const PARTS: &[Marker] = &[Marker::new("apm2_", 3)];

/// The protocol in a prompt.
pub(super) fn protocol(_: &SignalPolicy) -> String {
    "## Exit Protocol

When you have completed a phase of the work, or cannot go on with it, print one JSON object:

{
  \"protocol\": \"{the name of the exit protocol: apm2_agent_exit}\",
  \"version\": \"1.0.0\",
  \"phase_completed\": \"{the phase that you worked on}\",
  \"exit_reason\": \"{completed|blocked|error}\",
  \"notes\": \"{one sentence}\"
}
"
    .to_owned()
}

/// All candidates of this spelling in a message.
pub(super) fn candidates(layout: &Layout<'_>, policy: &SignalPolicy) -> Vec<Candidate> {
    let spans = signal_spans(layout).into_iter();
    spans.map(|span| candidate(layout, span, policy.exit_protocol)).collect()
}

/// The bytes of the last texts that may be a signal.
fn signal_spans(layout: &Layout<'_>) -> Vec<Range<usize>> {
    let text = &layout.word().text;
    if memmem::find(text.as_bytes(), EXIT_SIGNAL_PROTOCOL.as_bytes()).is_none() {
        return Vec::new();
    }
    let mut spans = find(text);
    spans.split_off(spans.len().saturating_sub(MAX_CANDIDATES))
}

fn candidate(layout: &Layout<'_>, span: Range<usize>, is_protocol_on: bool) -> Candidate {
    let text = &layout.word().text[span.clone()];
    let index = layout.index_of(span.start);
    let reading = match (AgentExitConfig { enabled: is_protocol_on }).from_json(text) {
        Err(error) => Reading::Rejected(Objection::new(error.to_string())),
        Ok(signal) => match objection(layout, span.clone(), &signal) {
            Some(objection) => Reading::Rejected(objection),
            None => Reading::Signal(statement(&signal)),
        },
    };
    Candidate {
        spelling: Spelling::AgentExit,
        line: layout.number(index),
        index,
        span,
        text: text.to_owned(),
        texts: vec![text.to_owned()],
        reading,
    }
}

fn signal_at(layout: &Layout<'_>, span: Range<usize>) -> Result<ExitSignal, NoSignal> {
    let signal = ExitSignal::from_json(&layout.word().text[span.clone()])?;
    match objection(layout, span, &signal) {
        Some(objection) => Err(NoSignal::NotSaid(objection.reason)),
        None => Ok(signal),
    }
}

fn objection(layout: &Layout<'_>, span: Range<usize>, signal: &ExitSignal) -> Option<Objection> {
    let (first, last) = (layout.index_of(span.start), layout.index_of(span.end));
    let (text, lines) = (&layout.word().text, layout.lines());
    let preceding = end_of(&text[lines[first].offset..span.start], MAX_LINE_BYTES);
    let following = &text[span.end..lines[last].offset + lines[last].text.len()];
    let context = Context::new(layout, first..last + 1).for_json();
    let line_goes_on = !following.trim_matches(MARKS).is_empty();
    let following = start_of(following, MAX_LINE_BYTES);
    context
        .objection()
        .or_else(|| neighbours_objection(layout.language(), preceding, following))
        .or_else(|| line_goes_on.then(|| Objection::new("its line goes on after it")))
        .or_else(|| {
            let is_premature = value(signal) == SignalValue::Complete && context.is_before_work();
            is_premature.then(|| Objection::new(FOLLOWED))
        })
}

/// The phase is completed, or the work is blocked from now on.
fn value(signal: &ExitSignal) -> SignalValue {
    if signal.next_expected_phase() == WorkPhase::Blocked {
        SignalValue::Blocked
    } else {
        SignalValue::Complete
    }
}

fn statement(signal: &ExitSignal) -> Statement {
    let reason = match &signal.notes {
        Some(notes) => notes.clone(),
        None => format!("{}: {}", signal.phase_completed, signal.exit_reason),
    };
    Statement {
        reason: Some(reason),
        exit_signal: Some(Box::new(signal.clone())),
        ..Statement::new(value(signal))
    }
}

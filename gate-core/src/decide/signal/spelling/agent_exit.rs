//! The JSON exit signal of the agent exit protocol.
//!
//! A signal is what the protocol's own rules take for one, where it stands as
//! signals stand: on lines of its own, alone, indented or fenced, also with
//! other JSON around it; not within a sentence, an example or other JSON. One
//! that is not valid is told, and says nothing.

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

/// The reason why a place that looks like an exit signal is none.
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
        let found: Vec<_> = sightings_in(word);
        if !found.is_empty() || !word.answers_notification {
            return found;
        }
    }
    Vec::new()
}

fn sightings_in(word: &Word) -> Vec<ExitSighting> {
    let language = Language::default();
    let layout = Layout::new(word, &language);
    let sightings = places(&layout).into_iter().map(|place| ExitSighting {
        line: layout.number(layout.index_of(place.start)),
        found: look(&layout, place),
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
    let places = places(layout).into_iter();
    places.map(|place| candidate(layout, place, policy.exit_protocol)).collect()
}

/// The last places that may hold a signal.
fn places(layout: &Layout<'_>) -> Vec<Range<usize>> {
    let text = &layout.word().text;
    if memmem::find(text.as_bytes(), EXIT_SIGNAL_PROTOCOL.as_bytes()).is_none() {
        return Vec::new();
    }
    let mut found = find(text);
    found.split_off(found.len().saturating_sub(MAX_CANDIDATES))
}

fn candidate(layout: &Layout<'_>, place: Range<usize>, is_read: bool) -> Candidate {
    let text = &layout.word().text[place.clone()];
    let at = layout.index_of(place.start);
    let span = place.clone();
    let reading = match (AgentExitConfig { enabled: is_read }).from_json(text) {
        Err(why) => Reading::Rejected(Objection::new(why.to_string())),
        Ok(signal) => objection(layout, place, &signal)
            .map_or_else(|| Reading::Signal(statement(&signal)), Reading::Rejected),
    };
    Candidate {
        spelling: Spelling::AgentExit,
        line: layout.number(at),
        at,
        span,
        text: text.to_owned(),
        taken: vec![text.to_owned()],
        reading,
    }
}

/// Reads the signal at a place.
fn look(layout: &Layout<'_>, place: Range<usize>) -> Result<ExitSignal, NoSignal> {
    let signal = ExitSignal::from_json(&layout.word().text[place.clone()])?;
    objection(layout, place, &signal)
        .map_or(Ok(signal), |objection| Err(NoSignal::NotSaid(objection.why)))
}

fn objection(layout: &Layout<'_>, place: Range<usize>, signal: &ExitSignal) -> Option<Objection> {
    let (first, last) = (layout.index_of(place.start), layout.index_of(place.end));
    let (text, lines) = (&layout.word().text, layout.lines());
    let before = end_of(&text[lines[first].offset..place.start], MAX_LINE_BYTES);
    let after = &text[place.end..lines[last].offset + lines[last].text.len()];
    let stands = Context::new(layout, first..last + 1).for_json();
    let goes_on = !after.trim_matches(MARKS).is_empty();
    let after = start_of(after, MAX_LINE_BYTES);
    let beside = neighbours_objection(layout.language(), before, after);
    stands
        .objection()
        .or(beside)
        .or_else(|| goes_on.then(|| Objection::new("its line goes on after it")))
        .or_else(|| {
            let followed = value(signal) == SignalValue::Complete && stands.work_follows();
            followed.then(|| Objection::new(FOLLOWED))
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

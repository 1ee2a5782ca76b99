//! `[[signal.custom]]`: signals that settings define, under the same rules of
//! place as the promise tag.

use std::ops::Range;

use super::Spelling;
use super::promise::objection;
use crate::decide::expression::{compile, source};
use crate::decide::policy::{CustomSignal, SignalPolicy};
use crate::decide::signal::candidate::{
    Candidate, MAX_CANDIDATES, PLACEHOLDER, Reading, Statement,
};
use crate::decide::signal::context::Context;
use crate::decide::signal::layout::Layout;
use crate::decide::signal::marker::Marker;
use crate::decide::signal::objection::Objection;
use crate::decide::signal::prompt::HEAD;

/// See [`Spelling::parts`]. Only settings know what such a signal contains.
pub(super) const PARTS: &[Marker] = &[];

/// The protocol in a prompt.
pub(super) fn protocol(_: &SignalPolicy) -> String {
    format!("{HEAD},\nas your instructions describe it.\n")
}

/// All candidates of the settings' signals in a message.
pub(super) fn candidates(layout: &Layout<'_>, policy: &SignalPolicy) -> Vec<Candidate> {
    policy.custom.iter().flat_map(|signal| signal_candidates(layout, signal)).collect()
}

/// The candidates of one signal. An expression that does not compile was
/// refused when the settings were read; here it finds nothing.
fn signal_candidates(layout: &Layout<'_>, signal: &CustomSignal) -> Vec<Candidate> {
    let Ok(regex) = compile(&source(&signal.matcher)) else {
        return Vec::new();
    };
    let mut hits = Vec::new();
    for (index, line) in layout.lines().iter().enumerate() {
        let ranges = regex.find_iter(line.text).map(|hit| hit.range());
        hits.extend(ranges.filter(|range| !range.is_empty()).map(|range| (index, range)));
    }
    let last_hits = hits.split_off(hits.len().saturating_sub(MAX_CANDIDATES));
    last_hits.into_iter().map(|(index, range)| candidate(layout, index, range, signal)).collect()
}

fn candidate(
    layout: &Layout<'_>,
    index: usize,
    range: Range<usize>,
    signal: &CustomSignal,
) -> Candidate {
    let line = layout.lines()[index];
    let text = line.text[range.clone()].to_owned();
    let span = line.offset + range.start..line.offset + range.end;
    Candidate {
        spelling: Spelling::Custom,
        line: layout.number(index),
        index,
        text: text.clone(),
        span: span.clone(),
        texts: vec![text],
        reading: reading(layout, index, span, signal),
    }
}

fn reading(
    layout: &Layout<'_>,
    index: usize,
    span: Range<usize>,
    signal: &CustomSignal,
) -> Reading {
    // `DONE | BLOCKED` is a choice, as a prompt shows one.
    let following = &layout.word().text[span.end..];
    if following.trim_start().starts_with('|') {
        return Reading::Rejected(Objection::example(PLACEHOLDER));
    }
    match objection(layout, &Context::new(layout, index..index + 1), span) {
        Some(objection) => Reading::Rejected(objection),
        None => Reading::Signal(Statement::new(signal.value)),
    }
}

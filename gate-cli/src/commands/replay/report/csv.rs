//! Rows as comma-separated values (RFC 4180). Columns are added, never changed.

use std::error::Error;

use ::csv::{QuoteStyle, WriterBuilder};

use super::why;
use crate::failure::Failure;
use crate::replay::{ReplayRecord, ReplayVerdict};

const HEAD: [&str; 23] = [
    "file",
    "iteration",
    "first_line",
    "verdict",
    "signal",
    "source",
    "line",
    "score",
    "threshold",
    "format",
    "session",
    "reasons",
    "near_misses",
    "commands",
    "label",
    "ambiguous",
    "judged",
    "was",
    "why",
    "next",
    "error",
    "bytes",
    "duration_ms",
];

/// The names of the columns.
pub(super) fn head() -> Result<String, Failure> {
    record(HEAD)
}

/// One row. What is not known is empty.
pub(super) fn row(row: &ReplayRecord) -> Result<String, Failure> {
    let signal = row.signal.as_ref();
    let indicators = row.indicators.as_ref();
    let transcript = row.transcript.as_ref();
    let codes: Vec<_> = row.reasons.iter().map(|reason| reason.code.code()).collect();
    let changed = row.changed.map(|changed| changed.from.map_or("none", ReplayVerdict::name));
    record([
        row.file.clone(),
        row.iteration.to_string(),
        row.first_line.to_string(),
        text(row.verdict.map(ReplayVerdict::name)),
        signal.map(|signal| format!("{:?}", signal.status).to_lowercase()).unwrap_or_default(),
        text(signal.and_then(|signal| signal.source).map(|source| source.name())),
        number(signal.and_then(|signal| signal.line)),
        number(indicators.map(|indicators| indicators.score.into())),
        number(indicators.map(|indicators| indicators.threshold.into())),
        text(transcript.and_then(|transcript| transcript.format.as_deref())),
        text(transcript.and_then(|transcript| transcript.session.as_deref())),
        codes.join(" "),
        number(signal.map(|signal| signal.near_misses.len() as u64)),
        number(transcript.map(|transcript| transcript.commands.len() as u64)),
        text(row.label.map(|label| label.name())),
        row.ambiguous.to_string(),
        text(row.judged.map(|judged| judged.name())),
        text(changed),
        why::short(row),
        text(row.next.as_deref()),
        text(row.error.as_ref().map(|error| error.code.as_str())),
        row.bytes.to_string(),
        row.duration_ms.to_string(),
    ])
}

fn number(number: Option<u64>) -> String {
    number.map(|number| number.to_string()).unwrap_or_default()
}

fn text(text: Option<&str>) -> String {
    text.unwrap_or_default().to_owned()
}

/// One record, without its line break.
pub(super) fn record<T: AsRef<[u8]>>(
    fields: impl IntoIterator<Item = T>,
) -> Result<String, Failure> {
    let mut writer =
        WriterBuilder::new().quote_style(QuoteStyle::Necessary).from_writer(Vec::new());
    writer.write_record(fields).map_err(|error| unprintable(&error))?;
    let bytes = writer.into_inner().map_err(|error| unprintable(&error))?;
    Ok(String::from_utf8_lossy(&bytes).trim_end_matches('\n').to_owned())
}

fn unprintable(error: &dyn Error) -> Failure {
    Failure::internal("answer-unprintable", error.to_string())
}

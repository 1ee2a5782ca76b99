//! Warnings beside a decision: about settings, about the transcript.

use gate_core::Transcript;
use gate_core::config::ConfigWarning;
use gate_core::decide::reason::{Warning, WarningCode};

/// A warning about a setting that is valid.
pub(crate) fn warning(warning: &ConfigWarning) -> Warning {
    Warning::new(WarningCode::ThresholdFromEnvironment, warning.to_string())
}

/// Warnings about the transcript: flaws, errors, limits; the last of each kind.
pub(crate) fn about_transcript(transcript: &Transcript) -> Vec<Warning> {
    let problem = transcript.problems.first().map(|one| (one.line, one.text.as_str()));
    let error = transcript.errors.last().map(|one| (one.line, one.text.as_str()));
    let limit = transcript.limits.last().map(|one| (one.line, one.text.as_str()));
    let kinds = [
        (WarningCode::InputProblem, problem, transcript.problems.len()),
        (WarningCode::AgentError, error, transcript.errors.len()),
        (WarningCode::LimitReached, limit, transcript.limits.len()),
    ];
    kinds.into_iter().filter_map(|(code, shown, count)| about(code, shown?, count)).collect()
}

fn about(code: WarningCode, (line, text): (u64, &str), count: usize) -> Option<Warning> {
    let more = match count.checked_sub(1)? {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    Some(Warning::new(code, format!("line {line}: {text}{more}")))
}

//! Warnings beside a decision: about settings, about the transcript.

use gate_core::config::ConfigWarning;
use gate_core::decide::reason::{Warning, WarningCode};
use gate_core::scan::Transcript;

/// A warning about a setting that is valid.
pub(crate) fn warning(warning: &ConfigWarning) -> Warning {
    let code = match warning {
        ConfigWarning::Locked(_) => WarningCode::SettingLocked,
        ConfigWarning::Gone { .. } => WarningCode::SettingGone,
        _ => WarningCode::ThresholdFromEnvironment,
    };
    Warning::new(code, warning.to_string())
}

/// Warnings about the transcript: flaws, errors, limits; the last of each kind. If the
/// format is not known, that is the flaw.
pub(crate) fn about_transcript(transcript: &Transcript, unknown_format: bool) -> Vec<Warning> {
    let problem = transcript.problems.first().map(|one| (one.line, one.text.as_str()));
    let error = transcript.errors.last().map(|one| (one.line, one.text.as_str()));
    let limit = transcript.limits.last().map(|one| (one.line, one.text.as_str()));
    let flaw = if unknown_format { WarningCode::UnknownFormat } else { WarningCode::InputProblem };
    let kinds = [
        (flaw, problem, transcript.problems.len()),
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

#[cfg(test)]
mod tests {
    use gate_core::scan::{Limit, Remark};

    use super::*;

    fn remark(line: u64) -> Remark {
        Remark { text: format!("text {line}"), line }
    }

    #[test]
    fn the_first_flaw_and_the_last_error_and_limit_stand_for_the_others() {
        let limit = |line| Limit { text: format!("limit {line}"), resets_at: None, line };
        let mut transcript = Transcript::default();
        transcript.problems = vec![remark(1), remark(2), remark(3)];
        transcript.errors = vec![remark(4), remark(5)];
        transcript.limits = vec![limit(6)];
        transcript.denials = vec![remark(7)];
        let texts = |transcript: &Transcript| {
            let warnings = about_transcript(transcript, false).into_iter();
            warnings.map(|one| (one.code, one.message)).collect::<Vec<_>>()
        };
        let expected = [
            (WarningCode::InputProblem, "line 1: text 1 (and 2 more)".to_owned()),
            (WarningCode::AgentError, "line 5: text 5 (and 1 more)".to_owned()),
            (WarningCode::LimitReached, "line 6: limit 6".to_owned()),
        ];
        assert_eq!(texts(&transcript), expected);
        assert_eq!(texts(&Transcript::default()), []);
    }
}

//! Warnings about a transcript.

use super::{Scan, Transcript};
use crate::decide::reason::{Warning, WarningCode};

impl<S> Scan<S> {
    /// Warnings about the transcript: flaws, errors, limits; the last of each kind. If the format is
    /// not known, that is the flaw.
    pub fn warnings(&self) -> Vec<Warning> {
        warnings(&self.transcript, self.unknown_format || self.foreign_format)
    }
}

fn warnings(transcript: &Transcript, unknown_format: bool) -> Vec<Warning> {
    let flaw = if unknown_format { WarningCode::UnknownFormat } else { WarningCode::InputProblem };
    let (problems, errors, limits) = (&transcript.problems, &transcript.errors, &transcript.limits);
    let shown = [
        problems.first().map(|first| warning(flaw, first.line, &first.text, problems.len())),
        errors
            .last()
            .map(|last| warning(WarningCode::AgentError, last.line, &last.text, errors.len())),
        limits
            .last()
            .map(|last| warning(WarningCode::LimitReached, last.line, &last.text, limits.len())),
    ];
    shown.into_iter().flatten().collect()
}

/// A warning about one of `count` lines.
fn warning(code: WarningCode, line: u64, text: &str, count: usize) -> Warning {
    let more = if count > 1 { format!(" (and {} more)", count - 1) } else { String::new() };
    Warning::new(code, format!("line {line}: {text}{more}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::{Limit, Remark};

    fn remark(line: u64) -> Remark {
        Remark { text: format!("text {line}"), line }
    }

    #[test]
    fn the_first_flaw_and_the_last_error_and_limit_stand_for_the_others() {
        let limit = |line| Limit { text: format!("limit {line}"), resets_at: None, line };
        let transcript = Transcript {
            problems: vec![remark(1), remark(2), remark(3)],
            errors: vec![remark(4), remark(5)],
            limits: vec![limit(6)],
            denials: vec![remark(7)],
            ..Transcript::default()
        };
        let texts = |transcript: &Transcript| {
            let listed = warnings(transcript, false).into_iter();
            listed.map(|one| (one.code, one.message)).collect::<Vec<_>>()
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

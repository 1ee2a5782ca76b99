//! Annotations of GitHub Actions: a line each, which its runner shows at the file.
//!
//! Source: "Workflow commands for GitHub Actions", and the runner, which keeps ten of each kind for
//! a step and 4,096 characters of each.

use crate::pull_request::{CiProblem, CiRecord};
use crate::render::brief;

/// Annotations of one kind that the runner keeps for a step.
const MAX_ANNOTATIONS: usize = 10;

/// Characters of a message that the runner keeps.
const MAX_MESSAGE_CHARS: usize = 4_096;

/// The annotations of all problems, the first ones as errors of their own.
pub(super) fn annotations(record: &CiRecord) -> String {
    let mut lines: Vec<_> = record.problems.iter().take(MAX_ANNOTATIONS).map(error).collect();
    let more = record.problems.len().saturating_sub(MAX_ANNOTATIONS);
    if more > 0 {
        lines.push(format!("::notice title=gate::and {more} more: see the summary"));
    }
    if let Some(workflow) = &record.changed_workflow {
        let place = escaped_property(workflow);
        lines.push(format!("::warning file={place},title=gate::this workflow runs gate"));
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn error(problem: &CiProblem) -> String {
    let test = problem.tests.first().map(String::as_str);
    let title = test.or(problem.check.as_deref()).unwrap_or("gate.toml");
    let mut place = String::new();
    if let Some(file) = &problem.file {
        place = format!("file={},", escaped_property(file));
        if let Some(line) = problem.line {
            place += &format!("line={line},");
        }
    }
    let detail = match problem.detail.is_empty() || problem.detail.starts_with(&problem.message) {
        true => problem.detail.as_str(),
        false => &format!("{}\n{}", problem.message, problem.detail),
    };
    let message = if detail.is_empty() { &problem.message } else { detail };
    let message: String = message.chars().take(MAX_MESSAGE_CHARS).collect();
    let title = escaped_property(&format!("gate: {}", brief(title)));
    format!("::error {place}title={title}::{}", escaped(&message))
}

fn escaped(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn escaped_property(text: &str) -> String {
    escaped(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pull_request::ProblemKind;

    #[test]
    fn words_of_others_end_no_command() {
        let problem = CiProblem {
            kind: ProblemKind::Failed,
            check: Some("tests".to_owned()),
            message: "100% wrong".to_owned(),
            tests: vec!["a::b".to_owned()],
            file: Some("tests/a,b.py".to_owned()),
            line: Some(3),
            detail: "100% wrong\n::error::forged".to_owned(),
        };
        let expected = "::error file=tests/a%2Cb.py,line=3,title=gate%3A a%3A%3Ab::100%25 \
                        wrong%0A::error::forged";
        assert_eq!(error(&problem), expected);
    }
}

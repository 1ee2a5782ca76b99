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
    let problems = record.problems.iter().take(MAX_ANNOTATIONS);
    let mut lines: Vec<_> = problems.map(error_line).collect();
    let omitted = record.problems.len().saturating_sub(MAX_ANNOTATIONS);
    if omitted > 0 {
        lines.push(format!("::notice title=gate::and {omitted} more: see the summary"));
    }
    if let Some(workflow) = &record.changed_workflow {
        let file = escaped_property(workflow);
        lines.push(format!("::warning file={file},title=gate::this workflow runs gate"));
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// The annotation of a problem at its file.
fn error_line(problem: &CiProblem) -> String {
    let test = problem.tests.first().map(String::as_str);
    let title = test.or(problem.check.as_deref()).unwrap_or("gate.toml");
    let mut place = String::new();
    if let Some(file) = &problem.file {
        place = format!("file={},", escaped_property(file));
        if let Some(line) = problem.line {
            place += &format!("line={line},");
        }
    }
    let message = match problem.detail.as_str() {
        "" => problem.message.clone(),
        // A detail often begins with the message already.
        detail if detail.starts_with(&problem.message) => detail.to_owned(),
        detail => format!("{}\n{detail}", problem.message),
    };
    let shown_message: String = message.chars().take(MAX_MESSAGE_CHARS).collect();
    let title = escaped_property(&format!("gate: {}", brief(title)));
    format!("::error {place}title={title}::{}", escaped(&shown_message))
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
        assert_eq!(error_line(&problem), expected);
    }
}

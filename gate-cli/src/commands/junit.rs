//! The checks of a decision as JUnit XML: a suite for each check, with its failed tests.

use std::path::Path;

use gate_core::decide::evidence::{Evidence, Outcome};
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};
use quick_xml::writer::Writer;

use super::common::write_file;
use crate::context::Here;
use crate::failure::Failure;
use crate::record::Record;
use crate::render::text::lines;
use crate::secrets;

/// A case of a suite: its name, and the message of its failure.
struct Case {
    name: String,
    problem: Option<(Problem, String)>,
}

#[derive(Clone, Copy)]
enum Problem {
    Failure,
    Error,
    Skipped,
}

impl Problem {
    fn name(self) -> &'static str {
        match self {
            Self::Failure => "failure",
            Self::Error => "error",
            Self::Skipped => "skipped",
        }
    }
}

/// Writes the checks of a decision to the file that the caller names; none if nothing was decided.
///
/// # Errors
///
/// A file that cannot be written.
pub(super) fn write_junit(
    here: &Here,
    file: Option<&Path>,
    decision: Option<&Record>,
) -> Result<(), Failure> {
    let Some(file) = file else { return Ok(()) };
    let file = here.places.folder.join(file);
    let text = match decision {
        Some(record) => return write_checks(&file, &record.decision.input.evidence, &record.time),
        // The file of an earlier run must not stay.
        None => {
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"gate\"/>\n".to_owned()
        }
    };
    write(&file, &text)
}

/// Writes these checks to a file.
///
/// # Errors
///
/// A file that cannot be written.
pub(super) fn write_checks(file: &Path, checks: &[Evidence], time: &str) -> Result<(), Failure> {
    write(file, &secrets::masked(&document(checks, time)?))
}

fn write(file: &Path, text: &str) -> Result<(), Failure> {
    write_file(file, text.as_bytes()).map_err(|error| {
        let failure = Failure::file("junit-unwritable", "write the checks to", file, &error);
        Failure { exit_code: 5, ..failure }
    })
}

fn document(checks: &[Evidence], time: &str) -> Result<String, Failure> {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    write_suites(&mut writer, checks, time)
        .map_err(|error| Failure::internal("answer-unprintable", format!("JUnit XML: {error}")))?;
    Ok(String::from_utf8_lossy(&writer.into_inner()).into_owned() + "\n")
}

fn write_suites(
    writer: &mut Writer<Vec<u8>>,
    checks: &[Evidence],
    time: &str,
) -> std::io::Result<()> {
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let mut root = BytesStart::new("testsuites");
    root.push_attribute(("name", "gate"));
    writer.write_event(Event::Start(root))?;
    for evidence in checks {
        suite(writer, evidence, time)?;
    }
    writer.write_event(Event::End(BytesEnd::new("testsuites")))
}

fn suite(writer: &mut Writer<Vec<u8>>, evidence: &Evidence, time: &str) -> std::io::Result<()> {
    let cases = cases(evidence);
    let count = |wanted: fn(Problem) -> bool| {
        let problems = cases.iter().filter_map(|case| case.problem.as_ref());
        problems.filter(|(problem, _)| wanted(*problem)).count().to_string()
    };
    let seconds = format!("{:.3}", evidence.duration_ms as f64 / 1e3);
    let mut start = BytesStart::new("testsuite");
    start.push_attribute(("name", evidence.check.as_str()));
    start.push_attribute(("tests", cases.len().to_string().as_str()));
    let failures = count(|problem| matches!(problem, Problem::Failure));
    start.push_attribute(("failures", failures.as_str()));
    let errors = count(|problem| matches!(problem, Problem::Error));
    start.push_attribute(("errors", errors.as_str()));
    let skipped = count(|problem| matches!(problem, Problem::Skipped));
    start.push_attribute(("skipped", skipped.as_str()));
    start.push_attribute(("time", seconds.as_str()));
    start.push_attribute(("timestamp", time));
    writer.write_event(Event::Start(start))?;
    for case in &cases {
        let mut start = BytesStart::new("testcase");
        start.push_attribute(("name", case.name.as_str()));
        start.push_attribute(("classname", evidence.check.as_str()));
        let Some((problem, message)) = &case.problem else {
            writer.write_event(Event::Empty(start))?;
            continue;
        };
        writer.write_event(Event::Start(start))?;
        let mut inner = BytesStart::new(problem.name());
        let first = message.lines().next().unwrap_or_default();
        inner.push_attribute(("message", first));
        writer.write_event(Event::Start(inner))?;
        writer.write_event(Event::Text(BytesText::new(message)))?;
        writer.write_event(Event::End(BytesEnd::new(problem.name())))?;
        writer.write_event(Event::End(BytesEnd::new("testcase")))?;
    }
    writer.write_event(Event::End(BytesEnd::new("testsuite")))
}

/// The failed tests of a check, else the check itself.
fn cases(evidence: &Evidence) -> Vec<Case> {
    let failures = evidence.failures();
    let cases = evidence.failed_tests().into_iter().map(|test| {
        let failure = failures.iter().find(|failure| failure.test.as_deref() == Some(test));
        let message = failure.map_or(evidence.summary.as_str(), |failure| failure.message.as_str());
        Case { name: lines(test), problem: Some((Problem::Failure, lines(message))) }
    });
    let cases: Vec<_> = cases.collect();
    if !cases.is_empty() {
        return cases;
    }
    let problem = match evidence.outcome {
        Outcome::Pass => None,
        Outcome::Fail | Outcome::Tamper => Some(Problem::Failure),
        Outcome::Inconclusive => Some(Problem::Error),
        Outcome::Skipped => Some(Problem::Skipped),
    };
    let text = match &evidence.excerpt {
        Some(excerpt) => format!("{}\n{excerpt}", evidence.summary),
        None => evidence.summary.clone(),
    };
    let problem = problem.map(|problem| (problem, lines(&text)));
    vec![Case { name: evidence.check.clone(), problem }]
}

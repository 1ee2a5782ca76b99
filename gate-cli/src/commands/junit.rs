//! The checks of a decision as JUnit XML: a suite for each check, with its failed tests.

use std::io;
use std::path::Path;

use gate_core::decide::evidence::{Evidence, Outcome};
use quick_xml::events::{BytesDecl, BytesText, Event};
use quick_xml::writer::Writer;

use super::common::write_file;
use crate::failure::Failure;
use crate::invocation::Invocation;
use crate::record::Record;
use crate::render::text::lines;
use crate::secrets;

/// The elements of a case that did not pass.
const FAILURE: &str = "failure";
const ERROR: &str = "error";
const SKIPPED: &str = "skipped";

/// A case of a suite.
struct Case {
    name: String,
    problem: Option<Problem>,
}

/// The problem of a case that did not pass.
struct Problem {
    /// The name of its element.
    element: &'static str,
    message: String,
}

/// Writes the checks of a decision to the file that the caller names; no checks if nothing was
/// decided.
///
/// # Errors
///
/// A file that cannot be written.
pub(super) fn write_junit(
    invocation: &Invocation,
    file: Option<&Path>,
    decision: Option<&Record>,
) -> Result<(), Failure> {
    let Some(file) = file else { return Ok(()) };
    let file = invocation.places.folder.join(file);
    match decision {
        Some(record) => write_checks(&file, &record.decision.input.evidence, &record.time),
        // The file of an earlier run must not stay.
        None => write(
            &file,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"gate\"/>\n",
        ),
    }
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

fn write_suites(writer: &mut Writer<Vec<u8>>, checks: &[Evidence], time: &str) -> io::Result<()> {
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let suites = writer.create_element("testsuites").with_attribute(("name", "gate"));
    let write = |writer: &mut Writer<_>| {
        checks.iter().try_for_each(|evidence| write_suite(writer, evidence, time))
    };
    suites.write_inner_content(write).map(drop)
}

fn write_suite(writer: &mut Writer<Vec<u8>>, evidence: &Evidence, time: &str) -> io::Result<()> {
    let cases = cases(evidence);
    let count = |element: &str| {
        let problems = cases.iter().filter_map(|case| case.problem.as_ref());
        problems.filter(|problem| problem.element == element).count().to_string()
    };
    let tests = cases.len().to_string();
    let seconds = evidence.duration_ms as f64 / 1e3;
    let suite = writer.create_element("testsuite").with_attributes([
        ("name", evidence.check.as_str()),
        ("tests", &tests),
        ("failures", &count(FAILURE)),
        ("errors", &count(ERROR)),
        ("skipped", &count(SKIPPED)),
        ("time", &format!("{seconds:.3}")),
        ("timestamp", time),
    ]);
    let write = |writer: &mut Writer<_>| {
        cases.iter().try_for_each(|case| write_case(writer, case, &evidence.check))
    };
    suite.write_inner_content(write).map(drop)
}

fn write_case(writer: &mut Writer<Vec<u8>>, case: &Case, check: &str) -> io::Result<()> {
    let attributes = [("name", case.name.as_str()), ("classname", check)];
    let element = writer.create_element("testcase").with_attributes(attributes);
    let Some(problem) = &case.problem else {
        return element.write_empty().map(drop);
    };
    let write = |writer: &mut Writer<_>| {
        let summary = problem.message.lines().next().unwrap_or_default();
        let inner = writer.create_element(problem.element).with_attribute(("message", summary));
        inner.write_text_content(BytesText::new(&problem.message)).map(drop)
    };
    element.write_inner_content(write).map(drop)
}

/// The failed tests of a check, else the check itself.
fn cases(evidence: &Evidence) -> Vec<Case> {
    let failures = evidence.failures();
    let failed_tests = evidence.failed_tests().into_iter().map(|test| {
        let failure = failures.iter().find(|failure| failure.test.as_deref() == Some(test));
        let message = failure.map_or(evidence.summary.as_str(), |failure| failure.message.as_str());
        Case {
            name: lines(test),
            problem: Some(Problem { element: FAILURE, message: lines(message) }),
        }
    });
    let cases: Vec<_> = failed_tests.collect();
    if !cases.is_empty() {
        return cases;
    }
    let element = match evidence.outcome {
        Outcome::Pass => None,
        Outcome::Fail | Outcome::Tamper => Some(FAILURE),
        Outcome::Inconclusive => Some(ERROR),
        Outcome::Skipped => Some(SKIPPED),
    };
    let text = match &evidence.excerpt {
        Some(excerpt) => format!("{}\n{excerpt}", evidence.summary),
        None => evidence.summary.clone(),
    };
    let problem = element.map(|element| Problem { element, message: lines(&text) });
    vec![Case { name: evidence.check.clone(), problem }]
}

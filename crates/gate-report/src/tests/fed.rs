//! Feeding readers with recorded output.

use std::fs;

use gate_core::decide::evidence::Outcome;

use crate::{Judged, Reader, Stream, TestReport, judge};

/// What a reader makes of recorded output: lines of the standard error begin
/// with `2> `.
pub(crate) fn report(reader: impl Reader + 'static, text: &str) -> Option<TestReport> {
    let mut reader: Box<dyn Reader> = Box::new(reader);
    for line in text.lines() {
        match line.strip_prefix("2> ") {
            Some(line) => reader.line(Stream::Stderr, line),
            None => reader.line(Stream::Stdout, line),
        }
    }
    reader.finish()
}

/// The outcome of a run that ended with this code, and the text about it.
pub(crate) fn outcome(report: Option<&TestReport>, code: i32) -> (Outcome, String) {
    let Judged { outcome, summary, .. } = judge(report, Some(code), None);
    (outcome, summary)
}

/// A report file with this content, for a reader made from its path.
pub(super) fn in_file<R: Reader + 'static>(
    content: Option<&str>,
    text: &str,
    reader: impl FnOnce(std::path::PathBuf) -> R,
) -> Option<TestReport> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report");
    if let Some(content) = content {
        fs::write(&path, content).unwrap();
    }
    report(reader(path), text)
}

/// With exit code 0, the text comes to an outcome and a summary that begin so.
#[track_caller]
pub(crate) fn comes_to(reader: impl Reader + 'static, text: &str, expected: &str) {
    let report = report(reader, text);
    let (outcome, summary) = outcome(report.as_ref(), 0);
    let found = format!("{outcome:?}: {summary}");
    assert!(found.starts_with(expected), "{found}\n{report:#?}");
}

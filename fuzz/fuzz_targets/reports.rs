//! Reports of test runners: whatever a runner prints, counts and names agree, and a report can only
//! make a run look worse than its exit code.
#![no_main]

use std::path::Path;

use gate_checks::report::{Request, Status, Stream, TestReport, judge, prepare};
use gate_core::decide::evidence::Outcome;
use gate_fuzz::choices;
use libfuzzer_sys::fuzz_target;

/// Commands whose output is read in different ways; the last one is no runner that gate knows.
const COMMANDS: [&[&str]; 9] = [
    &["cargo", "test"],
    &["cargo", "nextest", "run"],
    &["go", "test", "./..."],
    &["pytest"],
    &["jest"],
    &["vitest", "run"],
    &["node", "--test"],
    &["make", "test"],
    &["./run", "{report}"],
];

fn read(choice: u8, text: &str) -> Option<TestReport> {
    let argv: Vec<_> = COMMANDS[usize::from(choice) % COMMANDS.len()]
        .iter()
        .map(|word| (*word).to_owned())
        .collect();
    let nowhere = Path::new("/nowhere/at/all");
    let request = Request {
        argv: &argv,
        shell: false,
        demanded: None,
        folder: nowhere,
        cwd: nowhere,
        keep_going: false,
    };
    let mut reader = prepare(&request).reader;
    for (number, line) in text.lines().enumerate() {
        let stream = if number % 3 == 2 { Stream::Stderr } else { Stream::Stdout };
        reader.line(stream, line);
    }
    reader.finish()
}

fuzz_target!(|input: &[u8]| {
    let Some(([choice], text)) = choices(input) else { return };
    let text = String::from_utf8_lossy(text);
    let report = read(choice, &text);
    let failed = judge(report.as_ref(), Some(1), None).outcome;
    assert_ne!(failed, Outcome::Pass, "a report makes an exit code of 1 a pass");
    let Some(report) = report else { return };
    let named = |status| report.named(status).count() as u64;
    assert!(named(Status::Passed) <= report.passed, "{report:?}");
    assert!(named(Status::Failed) <= report.failed, "{report:?}");
    if report.failed > 0 || !report.errors.is_empty() {
        assert_ne!(judge(Some(&report), Some(0), None).outcome, Outcome::Pass, "{report:?}");
    }
});

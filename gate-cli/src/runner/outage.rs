//! Detects runs in which the agent could not work: limits, a service that cannot be
//! reached, a program that fails at its start.

use gate_core::decide::iteration_facts::{Outage, OutageCause};
use gate_core::decide::signal::{Status, UncheckedSignal};
use gate_core::trouble::outage_of;
use gate_core::{Scan, text};

use super::end::FinishedRun;
use crate::memory::StoppedBy;
use crate::secrets;

/// Lines at the end of stderr that an outage quotes.
const MAX_STDERR_LINES: usize = 5;
const MAX_LINE_CHARS: usize = 200;

/// The outage of a run; `None` if the agent could work.
pub(super) fn from_run(run: &FinishedRun, scan: &Scan<UncheckedSignal>) -> Option<Outage> {
    let effort = &scan.effort;
    if let Some(limited) = &effort.limited {
        return Some(outage(OutageCause::Limit, &limited.text, run));
    }
    // An agent that gate ended, or that ended well, is not out of order.
    let code = run.exit_code.filter(|code| *code != 0 && !run.was_ended)?;
    if let Some(text) = &effort.outage {
        return Some(outage(outage_of(text)?, text, run));
    }
    // An agent that gave an exit signal was able to work.
    if scan.signal.status() != Status::Absent {
        return None;
    }
    for line in run.stderr_end.lines().rev().take(MAX_STDERR_LINES) {
        if let Some(cause) = outage_of(line) {
            return Some(outage(cause, line.trim(), run));
        }
    }
    let is_silent =
        !effort.acted && effort.signature.is_none() && scan.transcript.errors.is_empty();
    let crash = format!("it ended with code {code} and said nothing");
    is_silent.then(|| outage(OutageCause::Crash, &crash, run))
}

/// The outage of a run that was stopped from outside, and with it the loop.
pub(super) fn cancelled(stopped_by: StoppedBy, run: &FinishedRun) -> Outage {
    outage(OutageCause::Cancelled, stopped_by.words(), run)
}

fn outage(cause: OutageCause, text: &str, run: &FinishedRun) -> Outage {
    let stderr = last_lines(&run.stderr_end);
    Outage { cause, text: secrets::masked(text), stderr, count: 0, gives_up: None }
}

/// The last lines that are not empty, joined to one.
fn last_lines(stderr: &str) -> String {
    let full_lines = stderr.lines().map(str::trim).filter(|line| !line.is_empty());
    let lines: Vec<_> = full_lines.map(|line| text::brief(line, MAX_LINE_CHARS)).collect();
    let last_lines = &lines[lines.len().saturating_sub(MAX_STDERR_LINES)..];
    secrets::masked(&last_lines.join(" | "))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use gate_core::decide::indicator::PatternSet;
    use gate_core::{Policy, Scanner};

    use super::*;

    fn run(code: i32, stderr: &str) -> FinishedRun {
        FinishedRun {
            transcript: PathBuf::new(),
            exit_code: Some(code),
            error: format!("agent exited with code {code}"),
            not_started: false,
            was_ended: false,
            interrupted: None,
            delegated: crate::runner::end::DelegatedRuns::None,
            stderr_end: stderr.to_owned(),
        }
    }

    fn scan(printed: &str) -> Scan<UncheckedSignal> {
        let policy = Policy::default();
        let patterns = PatternSet::from_policy(&policy).unwrap();
        let mut scanner = Scanner::new(&patterns, None);
        scanner.push(printed.as_bytes());
        scanner.finish(&policy.signal)
    }

    fn cause(code: i32, printed: &str, stderr: &str) -> Option<OutageCause> {
        from_run(&run(code, stderr), &scan(printed)).map(|outage| outage.cause)
    }

    const DEAD: &str = r#"{"type":"result","subtype":"success","is_error":true,"result":"WHAT","session_id":"s","num_turns":1}"#;

    #[test]
    fn each_kind_of_outage_is_known_by_what_the_client_prints() {
        use OutageCause::{Connection, Crash, Limit};
        let dead = |error: &str| DEAD.replace("WHAT", error);
        assert_eq!(cause(1, &dead("API Error: 529 overloaded_error"), ""), Some(Limit));
        assert_eq!(cause(1, &dead("API Error: Connection error."), ""), Some(Connection));
        assert_eq!(cause(1, "API Error: Connection error.\n", ""), Some(Connection));
        assert_eq!(cause(1, "", "TypeError: fetch failed\n"), Some(Connection));
        assert_eq!(cause(1, "", "Error: Cannot find module 'x'\n"), Some(Crash));
        assert_eq!(cause(134, "", ""), Some(Crash));
    }

    #[test]
    fn an_agent_that_worked_or_was_refused_for_its_own_fault_is_no_outage() {
        assert_eq!(cause(0, "", ""), None);
        assert_eq!(cause(1, "I began with the parser.\n", ""), None);
        assert_eq!(cause(1, &DEAD.replace("WHAT", "API Error: 401 invalid key"), ""), None);
        let claims = "The importer is ready.\n\nEXIT_STATUS: COMPLETE\nEXIT_REASON: done\n";
        assert_eq!(cause(1, claims, "socket hang up\n"), None);
        let timed_out = FinishedRun { was_ended: true, ..run(143, "") };
        assert_eq!(from_run(&timed_out, &scan("")), None);
    }

    #[test]
    fn the_last_lines_of_the_standard_error_are_quoted() {
        let stderr = "one\ntwo\n\nthree\nfour\nfive\nsix\n";
        assert_eq!(last_lines(stderr), "two | three | four | five | six");
    }
}

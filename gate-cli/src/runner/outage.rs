//! Whether an agent could work at all: limits, a service that cannot be reached, a
//! program that fails at its start.

use gate_core::decide::iteration_facts::{Outage, OutageCause};
use gate_core::decide::signal::Status;
use gate_core::trouble::outage_of;
use gate_core::{Scan, text};

use super::attempt::Ran;
use crate::memory::StoppedBy;
use crate::secrets;

/// How many lines of the standard error are told, and how long each may be.
const LINES: usize = 5;
const LINE: usize = 200;

/// Why the agent could not work in this run; none where it did.
pub(super) fn of(ran: &Ran, scan: &Scan) -> Option<Outage> {
    let (cause, text) = cause_of(ran, scan)?;
    Some(outage(cause, &text, ran))
}

/// The outage of a run that somebody ended, and with it the loop.
pub(super) fn cancelled(by: StoppedBy, ran: &Ran) -> Outage {
    outage(OutageCause::Cancelled, by.words(), ran)
}

fn outage(cause: OutageCause, text: &str, ran: &Ran) -> Outage {
    let stderr = last_lines(&ran.stderr_end);
    Outage { cause, text: secrets::masked(text), stderr, count: 0, gives_up: None }
}

fn cause_of(ran: &Ran, scan: &Scan) -> Option<(OutageCause, String)> {
    let effort = &scan.effort;
    if let Some(limited) = &effort.limited {
        return Some((OutageCause::Limit, limited.text.clone()));
    }
    let code = ran.exit_code.filter(|code| *code != 0 && !ran.was_ended)?;
    if let Some(text) = &effort.outage {
        return Some((outage_of(text)?, text.clone()));
    }
    // An agent that gave a signal had its say.
    if scan.signal.status != Status::Absent {
        return None;
    }
    let lines = ran.stderr_end.lines().rev().take(LINES);
    let told = lines.filter_map(|line| Some((outage_of(line)?, line.trim().to_owned()))).next();
    let silent = !effort.acted && effort.signature.is_none() && scan.transcript.errors.is_empty();
    let crash = || (OutageCause::Crash, format!("it ended with code {code} and said nothing"));
    told.or_else(|| silent.then(crash))
}

/// The last lines that say something, on one line.
fn last_lines(stderr: &str) -> String {
    let said = stderr.lines().map(str::trim).filter(|line| !line.is_empty());
    let said: Vec<_> = said.map(|line| text::brief(line, LINE)).collect();
    let last = &said[said.len().saturating_sub(LINES)..];
    secrets::masked(&last.join(" | "))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use gate_core::{Policy, scan};

    use super::*;

    fn ran(code: i32, stderr: &str) -> Ran {
        Ran {
            id: "r".to_owned(),
            transcript: PathBuf::new(),
            exit_code: Some(code),
            error: format!("agent exited with code {code}"),
            not_started: false,
            was_ended: false,
            interrupted: None,
            delegated: crate::runner::watch::Delegated::None,
            stderr_end: stderr.to_owned(),
        }
    }

    fn cause(code: i32, printed: &str, stderr: &str) -> Option<OutageCause> {
        let scan = scan(printed.as_bytes(), &Policy::default()).unwrap();
        of(&ran(code, stderr), &scan).map(|outage| outage.cause)
    }

    const DEAD: &str = r#"{"type":"result","subtype":"success","is_error":true,"result":"WHAT","session_id":"s","num_turns":1}"#;

    #[test]
    fn each_kind_of_outage_is_known_by_what_the_client_prints() {
        use OutageCause::{Connection, Crash, Limit};
        let dead = |what: &str| DEAD.replace("WHAT", what);
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
        let scan = scan(b"", &Policy::default()).unwrap();
        let timed_out = Ran { was_ended: true, ..ran(143, "") };
        assert_eq!(of(&timed_out, &scan), None);
    }

    #[test]
    fn the_last_lines_of_the_standard_error_are_told() {
        let stderr = "one\ntwo\n\nthree\nfour\nfive\nsix\n";
        assert_eq!(last_lines(stderr), "two | three | four | five | six");
    }
}

//! Rows made by hand, and what a report makes of them.

mod groups;
mod report;
mod table;
mod totals;
mod why;

use gate_core::decide::reason::{Reason, ReasonCode};
use gate_core::decide::signal::{NearMiss, Signal, Status};
use gate_core::scan::{Command, Transcript};
use serde_json::json;

use super::{Grouping, Layout};
use crate::replay::{Judged, ROW, ReplayRecord, ReplayVerdict};

/// A row of which only the place is known.
fn place(file: &str) -> ReplayRecord {
    ReplayRecord {
        schema: ROW,
        file: file.to_owned(),
        iteration: 1,
        first_line: 1,
        ..ReplayRecord::default()
    }
}

/// A row with this verdict, from a text without a signal.
fn judged(file: &str, verdict: ReplayVerdict) -> ReplayRecord {
    let indicators = json!({ "score": 1, "threshold": 2, "patterns": 1, "checks": 0, "hits": [
        { "pattern": "done", "pack": "completion", "weight": 1, "line": 4, "column": 1,
          "excerpt": "All is done." },
    ] });
    let mut transcript = Transcript::default();
    transcript.format = Some("text".to_owned());
    ReplayRecord {
        verdict: Some(verdict),
        signal: Some(Signal::absent()),
        indicators: Some(serde_json::from_value(indicators).unwrap()),
        transcript: Some(transcript),
        bytes: 100,
        ..place(file)
    }
}

/// The same row, judged by a label.
fn labelled(row: ReplayRecord, judged: Judged) -> ReplayRecord {
    ReplayRecord { judged: Some(judged), ..row }
}

fn reason(message: &str) -> Reason {
    Reason { code: ReasonCode::SignalAbsent, check: None, message: message.to_owned() }
}

fn miss(line: u64, why: &str) -> NearMiss {
    NearMiss { text: format!("text {line}"), line, why: why.to_owned() }
}

fn signal(status: Status, line: u64) -> Signal {
    let mut signal = Signal::absent();
    signal.status = status;
    signal.source = Some(gate_core::decide::policy::Spelling::ExitStatus);
    signal.line = Some(line);
    signal
}

fn near(near_misses: Vec<NearMiss>, mut signal: Signal) -> Signal {
    signal.near_misses = near_misses;
    signal
}

/// A transcript with these commands, each with its exit code.
fn observing(commands: &[(&str, i32)]) -> Transcript {
    let commands = commands.iter().enumerate().map(|(at, (command, exit_code))| Command {
        command: (*command).to_owned(),
        exit_code: *exit_code,
        line: at as u64 + 1,
    });
    let mut transcript = Transcript::default();
    transcript.commands = commands.collect();
    transcript
}

fn layout(json: bool, grouping: Grouping) -> Layout {
    Layout {
        json,
        grouping,
        folded: false,
        checks: false,
        labels: false,
        by: None,
        compared: false,
        file_width: 5,
        columns: None,
    }
}

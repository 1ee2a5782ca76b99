//! Records of the ledger: a line each, or one whole. Others wrote their texts, so they are
//! cleaned.

#[cfg(test)]
mod tests;

use std::time::Duration;

use anstyle::{AnsiColor, Style};
use gate_core::history::kind;
use gate_core::ledger::{Record, Sealed};
use gate_core::text::{self, MAX_NAMES, some_names};
use gate_fleet::work;
use serde_json::Value;

use super::cost::counted;
use crate::record::ApprovedChange;
use crate::render::page::{Mark, Page};
use crate::render::text::{brief, local_seconds, local_time, span};

/// The columns of a project, and of a run or task.
const SUBJECT_COLUMNS: usize = 24;

/// A record in a line: time, number, run or task, event, reason. `project` has a column before
/// the number if the log has several, `cost` stands before the reason.
pub(crate) fn log_line(sealed: &Sealed, project: Option<&str>, cost: Option<&str>) -> String {
    let record = &sealed.record;
    let (what, color, why) = event(record);
    let style = Style::new().fg_color(color.map(Into::into));
    let what = format!("{:<13}", brief(&what));
    let why = match cost {
        Some(cost) => format!("{cost}: {why}"),
        None => why,
    };
    let project = match project {
        Some(project) => format!("  {:<SUBJECT_COLUMNS$}", shortened(&brief(project))),
        None => String::new(),
    };
    let subject = shortened(&brief(&subject(record)));
    let start = format!(
        "{}{project}  {:>5}  {subject:<SUBJECT_COLUMNS$}  {what}  ",
        local_seconds(&record.time),
        record.seq
    );
    let mut page = Page::new();
    page.line(&start, &what, style, &brief(&why));
    page.into_text().trim_end().to_owned()
}

/// A name with its middle left out if it is longer than its column.
fn shortened(name: &str) -> String {
    let count = name.chars().count();
    if count <= SUBJECT_COLUMNS {
        return name.to_owned();
    }
    let (start, end) = (SUBJECT_COLUMNS / 2 - 1, SUBJECT_COLUMNS / 2);
    name.chars().take(start).chain(['…']).chain(name.chars().skip(count - end)).collect()
}

/// A record whole.
pub(crate) fn record_card(sealed: &Sealed) -> String {
    let Sealed { record, hash } = sealed;
    let mut page = Page::new();
    page.head(Mark::None, &format!("record {}", record.seq), &local_seconds(&record.time));
    page.blank();
    page.row("type", &record.kind);
    page.row("run", record.run.as_deref().unwrap_or("none"));
    page.row("actor", &record.actor);
    page.row("hash", &hash.to_string());
    if record.hash() != *hash {
        page.detail("which does not fit what the record says");
    }
    page.row("prev", &record.prev.to_string());
    page.blank();
    page.into_text() + &body(record)
}

/// The body as JSON, indented. Cleaned line by line, it stays JSON.
fn body(record: &Record) -> String {
    let json = serde_json::to_string_pretty(&record.body).unwrap_or_default();
    let lines: Vec<_> = json.lines().map(text::clean).collect();
    lines.join("\n")
}

/// The run and its iteration, else the task.
fn subject(record: &Record) -> String {
    let state = record.body.get("state");
    let task = state.and_then(|state| state.get("task")).or_else(|| record.body.get("task"));
    let task = task.and_then(Value::as_str);
    let iteration = state.and_then(|state| state.get("iteration")).and_then(Value::as_u64);
    match (&record.run, iteration) {
        (Some(run), Some(iteration)) => format!("{run}, {iteration}"),
        (Some(run), None) => run.clone(),
        (None, _) => task
            .filter(|task| !task.is_empty())
            .map_or_else(|| "-".to_owned(), |task| format!("task {task}")),
    }
}

/// The event, its colour, and its reason.
fn event(record: &Record) -> (String, Option<AnsiColor>, String) {
    match record.kind.as_str() {
        kind if kind::is_decision(kind) => decided(record),
        kind::TRANSITION => {
            let step = format!("{} to {}", at(record, "from", ""), at(record, "to", ""));
            let message = at(record, "trip", "/message");
            let colon = if message.is_empty() { "" } else { ": " };
            ("breaker".to_owned(), Some(AnsiColor::Yellow), format!("{step}{colon}{message}"))
        }
        kind::ACT => {
            let why = [at(record, "reason", ""), at(record, "value", "")];
            let why = why.iter().find(|why| !why.is_empty()).copied().unwrap_or_default();
            (at(record, "act", "").to_owned(), Some(AnsiColor::Yellow), why.to_owned())
        }
        kind::NOT_JUDGED => ("not judged".to_owned(), None, let_go(record)),
        kind::UNDECIDED => ("undecided".to_owned(), Some(AnsiColor::Red), let_go(record)),
        kind::BASELINE => {
            let why = format!("{}: {}", at(record, "agent", ""), at(record, "baseline", ""));
            ("baseline".to_owned(), None, why)
        }
        kind::NO_BASELINE => ("no baseline".to_owned(), Some(AnsiColor::Yellow), let_go(record)),
        kind::SWITCH => switched(record),
        kind::TRUST => {
            let digest = at(record, "trust", "/digest");
            let what = if digest.is_empty() { "trust revoked" } else { "trusted" };
            (what.to_owned(), Some(AnsiColor::Yellow), digest.to_owned())
        }
        kind::APPROVED => {
            let changes = record.body.get("approved").cloned().unwrap_or_default();
            let changes: Vec<ApprovedChange> = serde_json::from_value(changes).unwrap_or_default();
            let names: Vec<_> = changes.iter().map(ApprovedChange::name).collect();
            let reason = changes.first().map_or("", |change| &change.reason);
            let why = format!("{}: {reason}", names.join(", "));
            ("approved".to_owned(), Some(AnsiColor::Yellow), why)
        }
        kind::WRONG => {
            let mistake = at(record, "mistake", "").replace('-', " ");
            let marked = record.body.get("marked").and_then(|marked| marked.get("seq"));
            let seq = marked.and_then(Value::as_u64).unwrap_or_default();
            let why = format!("record {seq}: {}", at(record, "reason", ""));
            (mistake, Some(AnsiColor::Yellow), why)
        }
        kind::RUN_ENDED => run_ended(record),
        kind::LOSS_NOTICED => {
            let marked = record.body.get("marked").and_then(|marked| marked.get("seq"));
            let marked = marked.and_then(Value::as_u64).unwrap_or_default();
            let why = format!("{} knows record {marked}", at(record, "machine", ""));
            ("loss noticed".to_owned(), Some(AnsiColor::Red), why)
        }
        kind::LOSS_ACCEPTED => (
            "loss accepted".to_owned(),
            Some(AnsiColor::Yellow),
            at(record, "reason", "").to_owned(),
        ),
        kind::TESTS_LOCKED => tests_locked(record),
        work::kind::ADDED | work::kind::MOVED | work::kind::ENDED => worked(record),
        other => (other.to_owned(), None, String::new()),
    }
}

/// The end of a loop, with what it took.
fn run_ended(record: &Record) -> (String, Option<AnsiColor>, String) {
    let took = span(Duration::from_millis(number(record, "duration_ms")));
    let cost = match number(record, "cost_micro_usd") {
        0 => String::new(),
        micro => format!(", ${:.2}", micro as f64 / 1e6),
    };
    let message = at(record, "message", "");
    let iterations = counted(number(record, "iterations"), "iteration");
    let why = format!("{message} ({iterations}, {took}{cost})");
    let done = at(record, "stopped_by", "") == "completed";
    let color = if done { AnsiColor::Green } else { AnsiColor::Red };
    ("loop ended".to_owned(), Some(color), why)
}

/// The lock of tests that were written before the work.
fn tests_locked(record: &Record) -> (String, Option<AnsiColor>, String) {
    let files = record.body.get("tests").and_then(|tests| tests.get("files"));
    let files = files.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let files: Vec<_> = files.map(str::to_owned).collect();
    let code = match at(record, "code_by", "") {
        "" => String::new(),
        by => format!("; code by {by}"),
    };
    let (named, by) = (some_names(&files, MAX_NAMES), at(record, "tests_by", ""));
    ("tests locked".to_owned(), None, format!("{named}, by {by}{code}"))
}

/// A work item that was added, or took a step.
fn worked(record: &Record) -> (String, Option<AnsiColor>, String) {
    if record.kind == work::kind::ENDED && record.body.get("work").is_none() {
        return session_ended(record);
    }
    let id = at(record, "work", "/id");
    if record.kind == work::kind::ADDED {
        return ("work added".to_owned(), None, format!("{id}: {}", at(record, "work", "/phase")));
    }
    let (from, to, cause) =
        (at(record, "work", "/from"), at(record, "work", "/to"), at(record, "work", "/cause"));
    let why = [at(record, "reason", ""), at(record, "event", "/notes")];
    let why = why.iter().find(|why| !why.is_empty()).map(|why| format!(": {why}"));
    let step = format!("{id}: {from} to {to}, {cause}{}", why.unwrap_or_default());
    let color = if to == "BLOCKED" { AnsiColor::Red } else { AnsiColor::Green };
    ("work".to_owned(), Some(color), step)
}

/// A session that ended with an exit signal and worked on no item.
fn session_ended(record: &Record) -> (String, Option<AnsiColor>, String) {
    let phase = at(record, "event", "/phase_completed");
    let reason = at(record, "event", "/exit_reason");
    let notes = match at(record, "event", "/notes") {
        "" => String::new(),
        notes => format!(": {notes}"),
    };
    let done = reason == "completed";
    let color = if done { AnsiColor::Green } else { AnsiColor::Red };
    ("session ended".to_owned(), Some(color), format!("{phase}: {reason}{notes}"))
}

fn let_go(record: &Record) -> String {
    format!("{}: {}", at(record, "agent", ""), at(record, "why", ""))
}

fn switched(record: &Record) -> (String, Option<AnsiColor>, String) {
    let off = record.body.get("switch").and_then(|switch| switch.get("off")?.as_bool());
    let until = at(record, "switch", "/until");
    let until =
        if until.is_empty() { String::new() } else { format!("until {}", local_time(until)) };
    let what = if off == Some(true) { "hooks off" } else { "hooks on" };
    (what.to_owned(), Some(AnsiColor::Yellow), until)
}

fn decided(record: &Record) -> (String, Option<AnsiColor>, String) {
    let verdict = at(record, "decision", "/verdict");
    let forced = record.body.get("decision").and_then(|decision| decision.get("forced")?.as_bool());
    let released = at(record, "decision", "/released");
    let (what, color) = match (verdict, forced) {
        ("continue", _) if released == "red" => ("released, red", AnsiColor::Red),
        ("continue", _) if released == "green" => ("released, green", AnsiColor::Green),
        ("continue", _) if !released.is_empty() => ("released, not run", AnsiColor::Yellow),
        ("exit", Some(true)) => ("exit, forced", AnsiColor::Yellow),
        ("exit", _) => ("exit", AnsiColor::Green),
        ("continue", _) => ("continue", AnsiColor::Yellow),
        (other, _) => (other, AnsiColor::Red),
    };
    (what.to_owned(), Some(color), at(record, "decision", "/reasons/0/message").to_owned())
}

/// A number in the body; 0 if there is none.
fn number(record: &Record, key: &str) -> u64 {
    record.body.get(key).and_then(Value::as_u64).unwrap_or_default()
}

/// A text below a member of the body; empty if there is none.
fn at<'a>(record: &'a Record, member: &str, pointer: &str) -> &'a str {
    let value = record.body.get(member).and_then(|value| value.pointer(pointer));
    value.and_then(Value::as_str).unwrap_or_default()
}

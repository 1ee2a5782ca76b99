//! Records of the ledger: a line each, or one whole. Others wrote their texts, so they are
//! cleaned.

#[cfg(test)]
mod tests;

use std::time::Duration;

use anstyle::{AnsiColor, Style};
use gate_core::history::kind;
use gate_core::ledger::{Record, Sealed};
use gate_core::text::{self, MAX_NAMES, counted, some_names};
use gate_fleet::fact::Fact;
use gate_fleet::notice::{self, Notice};
use gate_fleet::work;
use serde_json::Value;

use gate_card::page::{Mark, Page};
use gate_card::text::{brief, local_seconds, local_time, span, without_middle};
use gate_core::record::ApprovedChange;

/// The columns of a project, and of a run or task.
const SUBJECT_COLUMNS: usize = 24;

/// A record in a line: time, number, run or task, event, reason. `project` has a column before
/// the number if the log has several, `cost` stands before the reason.
pub fn log_line(sealed: &Sealed, project: Option<&str>, cost: Option<&str>) -> String {
    let record = &sealed.record;
    let Event { label, color, why } = Event::from_record(record);
    let style = Style::new().fg_color(color.map(Into::into));
    let label = format!("{:<13}", brief(&label));
    let why = match cost {
        Some(cost) => format!("{cost}: {why}"),
        None => why,
    };
    let project = match project {
        Some(project) => {
            format!("  {:<SUBJECT_COLUMNS$}", without_middle(&brief(project), SUBJECT_COLUMNS))
        }
        None => String::new(),
    };
    let subject = without_middle(&brief(&subject(record)), SUBJECT_COLUMNS);
    let start = format!(
        "{}{project}  {:>5}  {subject:<SUBJECT_COLUMNS$}  {label}  ",
        local_seconds(&record.time),
        record.seq
    );
    let mut page = Page::new();
    page.line(&start, &label, style, &brief(&why));
    page.into_text().trim_end().to_owned()
}

/// A record whole.
pub fn record_card(sealed: &Sealed) -> String {
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
    let task = first_text(&[at(record, "state", "/task"), at(record, "task", "")]);
    match (&record.run, number(record, "state", "/iteration")) {
        (Some(run), 0) => run.clone(),
        (Some(run), iteration) => format!("{run}, {iteration}"),
        (None, _) if task.is_empty() => "-".to_owned(),
        (None, _) => format!("task {task}"),
    }
}

const GREEN: Option<AnsiColor> = Some(AnsiColor::Green);
const YELLOW: Option<AnsiColor> = Some(AnsiColor::Yellow);
const RED: Option<AnsiColor> = Some(AnsiColor::Red);

/// What a record says happened, and why.
struct Event {
    label: String,
    color: Option<AnsiColor>,
    why: String,
}

impl Event {
    fn new(label: &str, color: Option<AnsiColor>, why: impl Into<String>) -> Self {
        Self { label: label.to_owned(), color, why: why.into() }
    }

    fn from_record(record: &Record) -> Self {
        match record.kind.as_str() {
            kind if kind::is_decision(kind) => decided(record),
            kind::TRANSITION => {
                let step = format!("{} to {}", at(record, "from", ""), at(record, "to", ""));
                let message = at(record, "trip", "/message");
                Self::new("breaker", YELLOW, step + &behind_colon(message))
            }
            kind::ACT => {
                let why = first_text(&[at(record, "reason", ""), at(record, "value", "")]);
                Self::new(at(record, "act", ""), YELLOW, why)
            }
            kind::NOT_JUDGED => Self::new("not judged", None, let_go(record)),
            kind::UNDECIDED => Self::new("undecided", RED, let_go(record)),
            kind::BASELINE => {
                let why = format!("{}: {}", at(record, "agent", ""), at(record, "baseline", ""));
                Self::new("baseline", None, why)
            }
            kind::NO_BASELINE => Self::new("no baseline", YELLOW, let_go(record)),
            kind::SWITCH => switched(record),
            kind::TRUST => {
                let digest = at(record, "trust", "/digest");
                let label = if digest.is_empty() { "trust revoked" } else { "trusted" };
                Self::new(label, YELLOW, digest)
            }
            kind::APPROVED => {
                let changes = record.body.get("approved").cloned().unwrap_or_default();
                let changes: Vec<ApprovedChange> =
                    serde_json::from_value(changes).unwrap_or_default();
                let names: Vec<_> = changes.iter().map(ApprovedChange::name).collect();
                let reason = changes.first().map_or("", |change| &change.reason);
                Self::new("approved", YELLOW, format!("{}: {reason}", names.join(", ")))
            }
            kind::GOAL => {
                let goals = record.body.get("goals").and_then(Value::as_array);
                let texts = goals.into_iter().flatten().filter_map(|goal| goal["text"].as_str());
                let step = at(record, "act", "");
                let color = if step == "reached" { GREEN } else { YELLOW };
                Self::new(&format!("goal {step}"), color, texts.collect::<Vec<_>>().join("; "))
            }
            kind::WRONG => {
                let mistake = at(record, "mistake", "").replace('-', " ");
                let (seq, reason) = (number(record, "marked", "/seq"), at(record, "reason", ""));
                Self::new(&mistake, YELLOW, format!("record {seq}: {reason}"))
            }
            kind::RUN_STARTED => {
                let (agent, tree) = (at(record, "agent", ""), at(record, "root", ""));
                Self::new("loop started", None, format!("{agent}, in {tree}"))
            }
            kind::RUN_ENDED => run_ended(record),
            kind::LOSS_NOTICED => {
                let (machine, seq) = (at(record, "machine", ""), number(record, "marked", "/seq"));
                Self::new("loss noticed", RED, format!("{machine} knows record {seq}"))
            }
            kind::LOSS_ACCEPTED => Self::new("loss accepted", YELLOW, at(record, "reason", "")),
            kind::TESTS_LOCKED => tests_locked(record),
            kind::DECISIONS_LISTED => {
                let label = decisions(record, "open", "choice");
                Self::new(
                    "decisions listed",
                    YELLOW,
                    format!("{label}, by {}", at(record, "by", "")),
                )
            }
            kind::DECISIONS_CONFIRMED => Self::new(
                "decided",
                None,
                match decisions(record, "confirmed", "answer") {
                    none if none.is_empty() => {
                        format!("nothing is open, says {}", at(record, "by", ""))
                    }
                    decisions => decisions,
                },
            ),
            notice::kind::MESSAGE | notice::kind::FACT | notice::kind::HANDOFF => noticed(record),
            work::kind::ADDED | work::kind::MOVED | work::kind::ENDED => worked(record),
            other => Self::new(other, None, ""),
        }
    }
}

/// The end of a loop, with what it took.
fn run_ended(record: &Record) -> Event {
    let took = span(Duration::from_millis(number(record, "duration_ms", "")));
    let cost = match number(record, "cost_micro_usd", "") {
        0 => String::new(),
        micro => format!(", ${:.2}", micro as f64 / 1e6),
    };
    let message = at(record, "message", "");
    let iterations = counted(number(record, "iterations", ""), "iteration");
    let color = if at(record, "stopped_by", "") == "completed" { GREEN } else { RED };
    Event::new("loop ended", color, format!("{message} ({iterations}, {took}{cost})"))
}

/// The lock of tests that were written before the work.
fn tests_locked(record: &Record) -> Event {
    let files = record.body.get("tests").and_then(|tests| tests.get("files"));
    let files = files.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let files: Vec<_> = files.map(str::to_owned).collect();
    let code = match at(record, "code_by", "") {
        "" => String::new(),
        by => format!("; code by {by}"),
    };
    let (named, by) = (some_names(&files, MAX_NAMES), at(record, "tests_by", ""));
    Event::new("tests locked", None, format!("{named}, by {by}{code}"))
}

/// The decisions in a list of a record, each with its answer.
fn decisions(record: &Record, list: &str, answer: &str) -> String {
    let decisions = record.body.get(list).and_then(Value::as_array).into_iter().flatten();
    let words = decisions.map(|decision| {
        let text = |key: &str| decision[key].as_str().unwrap_or_default();
        format!("{} ({})", text("question"), text(answer))
    });
    some_names(&words.collect::<Vec<_>>(), MAX_NAMES)
}

/// A message, a fact or a handoff that machines share.
fn noticed(record: &Record) -> Event {
    let value = serde_json::to_value(&record.body).unwrap_or_default();
    let notice = serde_json::from_value::<Notice>(value).unwrap_or_default();
    match record.kind.as_str() {
        notice::kind::MESSAGE => {
            let message = notice.message().unwrap_or_default();
            Event::new("message", None, format!("{}: {}", message.kind, message.body.trim()))
        }
        notice::kind::FACT => {
            let title = Fact::parse(&notice.text).map(|fact| fact.title).unwrap_or_default();
            Event::new("fact", None, title)
        }
        _ => Event::new("handoff", None, notice.work.unwrap_or(notice.task)),
    }
}

/// A work item that was added, or took a step.
fn worked(record: &Record) -> Event {
    let (id, phase) = (at(record, "work", "/id"), at(record, "work", "/phase"));
    if record.kind == work::kind::ADDED {
        return Event::new("work added", None, format!("{id}: {phase}"));
    }
    let notes = at(record, "event", "/notes");
    if record.kind == work::kind::ENDED && record.body.get("work").is_none() {
        // A session that ended with an exit signal and worked on no item.
        let phase = at(record, "event", "/phase_completed");
        let reason = at(record, "event", "/exit_reason");
        let color = if reason == "completed" { GREEN } else { RED };
        return Event::new(
            "session ended",
            color,
            format!("{phase}: {reason}{}", behind_colon(notes)),
        );
    }
    let (from, to, cause) =
        (at(record, "work", "/from"), at(record, "work", "/to"), at(record, "work", "/cause"));
    let why = behind_colon(first_text(&[at(record, "reason", ""), notes]));
    let color = if to == "BLOCKED" { RED } else { GREEN };
    Event::new("work", color, format!("{id}: {from} to {to}, {cause}{why}"))
}

/// The first of these texts that is not empty; empty if all are.
fn first_text<'t>(texts: &[&'t str]) -> &'t str {
    texts.iter().find(|text| !text.is_empty()).copied().unwrap_or_default()
}

/// The text behind a colon; nothing if it is empty.
fn behind_colon(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!(": {text}") }
}

fn let_go(record: &Record) -> String {
    format!("{}: {}", at(record, "agent", ""), at(record, "why", ""))
}

fn switched(record: &Record) -> Event {
    let until = match at(record, "switch", "/until") {
        "" => String::new(),
        until => format!("until {}", local_time(until)),
    };
    let label = if flag(record, "switch", "off") { "hooks off" } else { "hooks on" };
    Event::new(label, YELLOW, until)
}

fn decided(record: &Record) -> Event {
    let verdict = at(record, "decision", "/verdict");
    let (label, color) = match (verdict, at(record, "decision", "/released")) {
        ("continue", "red") => ("released, red", RED),
        ("continue", "green") => ("released, green", GREEN),
        ("continue", "") => ("continue", YELLOW),
        ("continue", _) => ("released, not run", YELLOW),
        ("exit", _) if flag(record, "decision", "forced") => ("exit, forced", YELLOW),
        ("exit", _) => ("exit", GREEN),
        (other, _) => (other, RED),
    };
    Event::new(label, color, at(record, "decision", "/reasons/0/message"))
}

/// A boolean below a member of the body; false if there is none.
fn flag(record: &Record, member: &str, key: &str) -> bool {
    record.body.get(member).and_then(|member| member.get(key)?.as_bool()) == Some(true)
}

/// A number below a member of the body; 0 if there is none.
fn number(record: &Record, member: &str, pointer: &str) -> u64 {
    let value = record.body.get(member).and_then(|value| value.pointer(pointer));
    value.and_then(Value::as_u64).unwrap_or_default()
}

/// A text below a member of the body; empty if there is none.
fn at<'a>(record: &'a Record, member: &str, pointer: &str) -> &'a str {
    let value = record.body.get(member).and_then(|value| value.pointer(pointer));
    value.and_then(Value::as_str).unwrap_or_default()
}

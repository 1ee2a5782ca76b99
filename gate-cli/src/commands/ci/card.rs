//! The card of a change: the verdict, each failure with its assertion, changed tests, the next step.

use std::time::Duration;

use gate_core::decide::evidence::Outcome;
use gate_core::text::some_names;

use crate::pull_request::{BaseVersion, ChangedFile, CiProblem, CiRecord, FileChange, short_name};
use crate::render::{Mark, Page, brief, span};

/// Problems and files that a card shows at most, of each.
const MAX_SHOWN: usize = 5;

/// Lines of an assertion.
const MAX_MESSAGE_LINES: usize = 6;

pub(super) fn card(record: &CiRecord) -> String {
    let mut page = Page::new();
    let (mark, word) = if record.is_pass() { (Mark::Good, "PASS") } else { (Mark::Bad, "FAIL") };
    page.head(mark, word, &record.summary);
    page.blank();
    for problem in record.problems.iter().take(MAX_SHOWN) {
        show_problem(&mut page, problem);
    }
    let omitted = record.problems.len().saturating_sub(MAX_SHOWN);
    if omitted > 0 {
        page.detail(&format!("and {omitted} more: gate ci --json"));
    }
    let files: Vec<_> = record.changed_tests().collect();
    for file in files.iter().take(MAX_SHOWN) {
        page.row("changed", &changed_file_line(file));
    }
    if files.len() > MAX_SHOWN {
        page.detail(&format!("and {} more", files.len() - MAX_SHOWN));
    }
    let passed_checks: Vec<_> = record
        .checks
        .iter()
        .filter(|check| check.outcome == Outcome::Pass)
        .map(|check| match check.duration_ms {
            ..1_000 => check.check.clone(),
            millis => format!("{} ({})", check.check, span(Duration::from_millis(millis))),
        })
        .collect();
    if !passed_checks.is_empty() {
        page.marked(Mark::Good, "passed", &passed_checks.join(", "));
    }
    let base = match &record.base {
        Some(commit) => format!("{} ({})", record.base_name, short_name(commit)),
        None => "nothing".to_owned(),
    };
    let judged =
        if record.event == "commit" { "what is staged" } else { &short_name(&record.head) };
    page.row("compared", &format!("{judged} with {base}"));
    for note in record.notes.iter().take(MAX_SHOWN) {
        page.row("note", note);
    }
    if let Some(next) = &record.next {
        page.row("next", next);
    }
    page.into_text()
}

fn show_problem(page: &mut Page, problem: &CiProblem) {
    let label = problem.check.as_deref().unwrap_or("review");
    let mut subject: Vec<_> = problem.place().into_iter().collect();
    if !problem.tests.is_empty() {
        subject.push(some_names(&problem.tests, MAX_SHOWN));
    }
    // The lines below show the detail, so what it says already is not said twice.
    let is_quoted = !problem.message.is_empty() && problem.detail.contains(&problem.message);
    let text = match (subject.is_empty(), is_quoted) {
        (true, _) => brief(&problem.message),
        (false, true) => subject.join("  "),
        (false, false) => format!("{}  {}", subject.join("  "), brief(&problem.message)),
    };
    page.marked(Mark::Bad, label, &text);
    for line in some_lines(&problem.detail, MAX_MESSAGE_LINES) {
        page.quote(&brief(line));
    }
}

/// The first and the last lines of a message: it begins with the assertion, and ends with the error.
pub(super) fn some_lines(message: &str, max_lines: usize) -> Vec<&str> {
    let mut lines: Vec<_> = message.lines().filter(|line| !line.trim().is_empty()).collect();
    if lines.len() > max_lines {
        let last_lines = lines.split_off(lines.len() - max_lines / 2);
        lines.truncate(max_lines - max_lines / 2);
        lines.extend(last_lines);
    }
    lines
}

/// A changed file of tests, with the size of the change.
fn changed_file_line(file: &ChangedFile) -> String {
    let size = match file.change {
        FileChange::Added => "new".to_owned(),
        FileChange::Moved => "moved".to_owned(),
        FileChange::Removed => "removed".to_owned(),
        FileChange::Edited => format!("+{} −{}", file.added, file.removed),
    };
    let failing = match (file.base_version, file.failing.len()) {
        (BaseVersion::Passes | BaseVersion::NotRun, _) => String::new(),
        (BaseVersion::Lost, number) => format!("; {number} of its tests do not run any more"),
        (BaseVersion::Fails, 0) => "; fails as it was".to_owned(),
        (BaseVersion::Fails, number) => format!("; fails as it was: {number} of its tests"),
    };
    format!("{} ({size}){failing}", file.file)
}

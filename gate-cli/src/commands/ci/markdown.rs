//! The summary of a change for its reviewers, in Markdown.

use std::fmt::Write as _;
use std::time::Duration;

use gate_core::decide::evidence::{Evidence, Outcome};

use super::card::some_lines;
use crate::pull_request::{
    BaseVersion, ChangedFile, CiOptions, CiProblem, CiRecord, FileChange, ProblemKind, Role,
    short_name,
};
use crate::render::markdown::{block, code};
use crate::render::span;

/// Failures that a summary shows whole; a reviewer reads no more.
const MAX_SHOWN: usize = 10;

/// Files and remarks that a summary lists: GitHub takes a megabyte.
const MAX_FILES: usize = 100;

/// Lines of an assertion.
const MAX_MESSAGE_LINES: usize = 12;

/// Tests that a row of the table names.
const MAX_TESTS_IN_ROW: usize = 3;

/// The whole summary.
pub(super) fn summary(record: &CiRecord, options: &CiOptions) -> String {
    let (sign, word) = if record.is_pass() { ("✅", "pass") } else { ("❌", "fail") };
    let mut text = format!("## {sign} gate: {word}\n\n{}\n\n", sentence(&record.summary));
    add_problems(&mut text, record);
    add_changed_files(&mut text, record, options);
    if let Some(next) = &record.next {
        let _ = writeln!(text, "**Next**: {}\n", with_code(next));
    }
    add_grounds(&mut text, record);
    text
}

/// A sentence with words of others, in which no character is read as Markdown.
fn sentence(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        if "\\`*_{}[]<>#|~&".contains(letter) {
            escaped.push('\\');
        }
        escaped.push(if letter.is_control() { ' ' } else { letter });
    }
    escaped
}

/// A sentence in which every other piece between backticks is code.
fn with_code(text: &str) -> String {
    let pieces = text.split('`').enumerate();
    pieces
        .map(|(index, piece)| if index % 2 == 0 { sentence(piece) } else { code(piece) })
        .collect()
}

fn add_problems(text: &mut String, record: &CiRecord) {
    if record.problems.is_empty() {
        return;
    }
    text.push_str("### Why\n\n");
    for problem in record.problems.iter().take(MAX_SHOWN) {
        add_problem(text, problem);
    }
    let omitted = record.problems.len().saturating_sub(MAX_SHOWN);
    if omitted > 0 {
        let _ = writeln!(text, "- and {omitted} more, in the job's log");
    }
    text.push('\n');
}

fn add_problem(text: &mut String, problem: &CiProblem) {
    let place = problem.place();
    let kind = match problem.kind {
        ProblemKind::Failed => "fails",
        ProblemKind::ChangedTests => "the base's version of a changed test fails",
        ProblemKind::LostTests => "tests of the base do not run any more",
        ProblemKind::Finding => "a reviewer has to look",
        ProblemKind::WeakerSettings => "the settings ask for less",
        ProblemKind::NoResult => "no result",
    };
    let check = problem.check.as_deref().unwrap_or("gate.toml");
    let mut line = format!("- {} {kind}", code(check));
    for name in problem.tests.iter().take(MAX_SHOWN).chain(&place) {
        let _ = write!(line, " · {}", code(name));
    }
    let _ = writeln!(text, "{line}");
    let detail = if problem.detail.is_empty() { &problem.message } else { &problem.detail };
    let detail_lines = some_lines(detail, MAX_MESSAGE_LINES);
    if !detail_lines.is_empty() {
        text.push_str(&block(&detail_lines.join("\n"), "  "));
    }
}

fn add_changed_files(text: &mut String, record: &CiRecord, options: &CiOptions) {
    if record.changed_files.is_empty() {
        return;
    }
    let _ = writeln!(text, "### Changed tests and settings\n");
    text.push_str("| file | | lines | as it was |\n| --- | --- | --- | --- |\n");
    for file in record.changed_files.iter().take(MAX_FILES) {
        let _ = writeln!(text, "{}", changed_row(file));
    }
    let omitted = record.changed_files.len().saturating_sub(MAX_FILES);
    if omitted > 0 {
        let _ = writeln!(text, "| and {omitted} more | | | |");
    }
    text.push('\n');
    let approval = record.approval.as_ref().filter(|approval| approval.counts);
    if let Some(approval) = approval {
        let commit = short_name(&approval.commit);
        let _ = writeln!(text, "Approved by {} for {}.\n", code(&approval.by), code(&commit));
    } else if let (Some(label), false) = (&options.approve_label, record.is_pass()) {
        let _ = writeln!(text, "The label {} approves them for this commit.\n", code(label));
    }
}

fn changed_row(file: &ChangedFile) -> String {
    let role = match file.role {
        Role::Test => "test",
        Role::Support => "tests rest on it",
        Role::Settings => "settings of tests",
        Role::Automation => "CI, hooks or agents",
    };
    let change = match file.change {
        FileChange::Added => "new",
        FileChange::Edited => "edited",
        FileChange::Moved => "moved",
        FileChange::Removed => "removed",
    };
    let lines = format!("+{} −{}", file.added, file.removed);
    let failing = match (file.base_version, file.failing.as_slice()) {
        (BaseVersion::NotRun, _) => "not run".to_owned(),
        (BaseVersion::Passes, _) => "passes".to_owned(),
        (BaseVersion::Fails, []) => "**fails**".to_owned(),
        (BaseVersion::Fails | BaseVersion::Lost, names) => {
            let tests: Vec<_> =
                names.iter().take(MAX_TESTS_IN_ROW).map(|name| code(name)).collect();
            let omission = match names.len().saturating_sub(MAX_TESTS_IN_ROW) {
                0 => String::new(),
                omitted => format!(" and {omitted} more"),
            };
            let state = if file.base_version == BaseVersion::Lost { "lost" } else { "fails" };
            format!("**{state}**: {}{omission}", tests.join(", "))
        }
    };
    format!("| {} | {role}, {change} | {lines} | {failing} |", code(&file.file))
}

/// The checks, the commits that were compared, and remarks.
fn add_grounds(text: &mut String, record: &CiRecord) {
    text.push_str("### What it rests on\n\n");
    for check in &record.checks {
        let _ = writeln!(text, "- {}", check_line(check));
    }
    let head = code(&short_name(&record.head));
    let compared = match &record.base {
        Some(commit) => {
            format!(
                "{head} compared with {} of {}",
                code(&short_name(commit)),
                code(&record.base_name)
            )
        }
        None => format!("{head}, compared with nothing"),
    };
    let _ = writeln!(text, "- {compared}");
    for note in record.notes.iter().take(MAX_FILES) {
        let _ = writeln!(text, "- {}", sentence(note));
    }
}

fn check_line(check: &Evidence) -> String {
    let outcome = match check.outcome {
        Outcome::Pass => "✅",
        Outcome::Fail | Outcome::Tamper => "❌",
        Outcome::Inconclusive | Outcome::Skipped => "⚠️",
    };
    let command = match shlex::try_join(check.argv.iter().map(String::as_str)) {
        Ok(words) if !words.is_empty() => format!(" {}", code(&words)),
        _ => String::new(),
    };
    let time = match check.duration_ms {
        ..1_000 => String::new(),
        millis => format!(" ({})", span(Duration::from_millis(millis))),
    };
    // Behind the colon stand names, which the summary lists as problems.
    let summary = check.summary.split(": ").next().unwrap_or_default();
    format!("{outcome} {}{command}: {}{time}", code(&check.check), sentence(summary))
}

//! The rows of a decision's checks.

use std::time::Duration;

use gate_core::decide::evidence::{Evidence, NOT_RUN_AGAIN, Outcome};
use gate_core::decide::policy::Mode;
use gate_core::integrity::Finding;

use super::super::findings::{finding_line, findings};
use super::super::page::{Mark, Page};
use super::super::text::{brief, span};

/// Failing tests and findings that a check shows at most, of each kind.
const MAX_SHOWN: usize = 3;

/// Lines of a failing test's message that a card shows at most.
const MAX_MESSAGE_LINES: usize = 6;

/// The row of a check, its failing tests, its findings, and its log if that says more. `next` is
/// the next step, which the card ends with.
pub(crate) fn check(
    page: &mut Page,
    evidence: &Evidence,
    verbose: bool,
    is_stored: bool,
    next: Option<&str>,
) {
    page.marked(mark(evidence), &evidence.check, &check_text(evidence));
    let max_shown = if verbose { usize::MAX } else { MAX_SHOWN };
    add_failures(page, evidence, max_shown);
    let (findings, _) = findings(std::slice::from_ref(evidence));
    for finding in findings.iter().take(max_shown) {
        if let Some(line) = finding_detail(finding, &evidence.summary, next) {
            page.detail(&brief(&line));
        }
    }
    if findings.len() > max_shown {
        page.detail(&format!("and {} more: gate last --verbose", findings.len() - max_shown));
    }
    if evidence.failures().is_empty() && findings.is_empty() {
        excerpt(page, evidence, if verbose { usize::MAX } else { MAX_MESSAGE_LINES });
    }
    let is_explained = evidence.outcome == Outcome::Pass
        || !evidence.failures().is_empty()
        || evidence.summary.ends_with("is not installed");
    match &evidence.log {
        Some(path) if verbose || (!is_explained && !is_stored) => {
            page.detail(&format!("full log: {path}"));
        }
        Some(_) if !is_explained => {
            page.detail(&format!("full log: gate last --log {}", evidence.check));
        }
        _ => {}
    }
}

/// The line of a finding below the row of its check: its advice alone if the row says the rest, and
/// no line if that advice is the next step.
fn finding_detail(finding: &Finding, summary: &str, next: Option<&str>) -> Option<String> {
    let row = format!("{}: {} [{}]", finding.place(), finding.message, finding.rule);
    if !finding.excerpt.is_empty() || !summary.contains(&row) {
        return Some(finding_line(finding));
    }
    let advice = finding.advice();
    (next != Some(advice.as_str())).then_some(advice)
}

/// The excerpt of a command that failed. If that is too long, its lines from the first error, and its
/// last ones if none says so.
fn excerpt(page: &mut Page, evidence: &Evidence, most: usize) {
    let Some(excerpt) = evidence.excerpt.as_ref() else { return };
    if evidence.outcome != Outcome::Fail {
        return;
    }
    let lines: Vec<_> = excerpt.lines().filter(|line| !line.trim().is_empty()).collect();
    let error = lines.iter().position(|line| line.to_ascii_lowercase().contains("error"));
    // That of criteria begins with the first one's failure.
    let has_criteria =
        evidence.detail.as_ref().is_some_and(|detail| detail.get("criteria").is_some());
    let from = match lines.len().saturating_sub(most) {
        last_lines if last_lines > 0 && !has_criteria => error.unwrap_or(last_lines),
        _ => 0,
    };
    for line in lines.iter().skip(from).take(most) {
        page.quote(&brief(line));
    }
}

pub(crate) fn mark(evidence: &Evidence) -> Mark {
    match evidence.outcome {
        Outcome::Pass => Mark::Good,
        Outcome::Fail | Outcome::Tamper if evidence.mode == Mode::Require => Mark::Bad,
        _ => Mark::Unsure,
    }
}

/// A card need not say more about a check that passed: it has no findings.
pub(crate) fn is_quiet(evidence: &Evidence) -> bool {
    findings(std::slice::from_ref(evidence)).0.is_empty()
}

/// A check that passed, with its time if that was a second or more.
pub(crate) fn passed(evidence: &Evidence) -> String {
    let cached = if evidence.cached { ", as before" } else { "" };
    match time(evidence) {
        Some(time) => format!("{} ({time}{cached})", evidence.check),
        None if evidence.cached => format!("{} (as before)", evidence.check),
        None => evidence.check.clone(),
    }
}

fn check_text(evidence: &Evidence) -> String {
    let prefix = match evidence.outcome {
        Outcome::Pass | Outcome::Fail if !evidence.summary.is_empty() => "",
        Outcome::Pass => "passed",
        Outcome::Fail => "failed",
        Outcome::Inconclusive => "no result: ",
        Outcome::Tamper => "does not count: ",
        Outcome::Skipped => "did not run: ",
    };
    let (mut summary, reason) = match evidence.summary.rsplit_once(NOT_RUN_AGAIN) {
        Some((summary, reason)) if evidence.cached => (summary, Some(reason)),
        _ => (evidence.summary.as_str(), None),
    };
    if !evidence.failures().is_empty() {
        // The names follow below.
        summary = summary.split(": ").next().unwrap_or(summary);
    }
    let mut text = format!("{prefix}{}", brief(summary));
    if let Some(time) = time(evidence) {
        text.push_str(&format!(" ({time})"));
    }
    if let Some(reason) = reason {
        text.push_str(&format!("{NOT_RUN_AGAIN}{reason}"));
    }
    if evidence.mode != Mode::Require && evidence.outcome != Outcome::Pass {
        text.truncate(text.trim_end_matches('.').len());
        text.push_str("; a warning only");
    }
    text
}

fn time(evidence: &Evidence) -> Option<String> {
    let is_shown = evidence.outcome != Outcome::Skipped && evidence.duration_ms >= 1_000;
    is_shown.then(|| span(Duration::from_millis(evidence.duration_ms)))
}

/// Adds failing tests with their places and messages, then the names of the other failing tests.
fn add_failures(page: &mut Page, evidence: &Evidence, max_shown: usize) {
    let failures = evidence.failures();
    let max_lines = if max_shown == usize::MAX { usize::MAX } else { MAX_MESSAGE_LINES };
    for failure in failures.iter().take(max_shown) {
        let place = failure.place();
        let parts: Vec<_> =
            place.iter().map(String::as_str).chain(failure.test.as_deref()).collect();
        if !parts.is_empty() {
            page.detail(&parts.join("  "));
        }
        let lines: Vec<_> =
            failure.message.lines().filter(|line| !line.trim().is_empty()).collect();
        for line in lines.iter().take(max_lines) {
            page.quote(&brief(line));
        }
    }
    let shown_names: Vec<_> =
        failures.iter().take(max_shown).filter_map(|failure| failure.test.as_deref()).collect();
    let mut other_names = evidence.failed_tests();
    other_names.retain(|name| !shown_names.contains(name));
    // Without failures, the summary has the names.
    if !other_names.is_empty() && !failures.is_empty() {
        page.detail(&brief(&format!("also failed: {}", other_names.join(", "))));
    }
}

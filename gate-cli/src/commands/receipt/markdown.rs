//! A receipt as Markdown, for a pull request.

use std::time::Duration;

use gate_core::Verdict;
use gate_core::decide::evidence::Outcome;

use super::{ReceiptRecord, RunCheck};
use crate::render::span;
use crate::render::text::{brief, plain};

pub(super) fn document(receipt: &ReceiptRecord) -> String {
    let mut lines = vec![
        format!("### gate: {}", words(receipt)),
        String::new(),
        code(&receipt.why),
        String::new(),
        "| check | outcome | command | took |".to_owned(),
        "| --- | --- | --- | --: |".to_owned(),
    ];
    lines.extend(receipt.checks.iter().map(row));
    if receipt.checks.is_empty() {
        lines.push("| none | | | |".to_owned());
    }
    lines.push(String::new());
    let claim = &receipt.claim;
    let status = serde_json::to_value(claim.status).unwrap_or_default();
    let reason = claim.reason.as_deref().map(|reason| format!(": {}", code(reason)));
    let status = status.as_str().unwrap_or_default();
    lines.push(format!("- **Claimed**: {status}{}", reason.unwrap_or_default()));
    let commit = receipt.commit.as_deref().map(|commit| format!("commit `{commit}`, "));
    let tree = receipt.tree.as_deref().unwrap_or("unknown");
    lines.push(format!("- **Tree**: {}`{tree}`", commit.unwrap_or_default()));
    lines.push(format!("- **Settings**: `{}`", receipt.policy_digest));
    let baseline = receipt.baseline.as_deref().map(|baseline| format!(", baseline `{baseline}`"));
    lines.push(format!("- **Trust**: {}{}", receipt.trust, baseline.unwrap_or_default()));
    if let Some(ledger) = &receipt.ledger {
        lines.push(format!("- **Recorded**: record {}, hash `{}`", ledger.seq, ledger.hash));
    }
    let (id, version) = (&receipt.decision_id, &receipt.gate_version);
    lines.push(format!("- **Decision**: `{id}`, {}, gate {version}", receipt.time));
    lines.join("\n") + "\n"
}

fn words(receipt: &ReceiptRecord) -> &'static str {
    match (receipt.verdict, receipt.forced, receipt.verified) {
        (Verdict::Exit, true, _) => "done, forced by the operator",
        (Verdict::Exit, false, true) => "done",
        (Verdict::Exit, false, false) => "done, unverified",
        (Verdict::Continue, ..) => "not done",
        (Verdict::Tripped, ..) => "stopped",
        (Verdict::Blocked, ..) => "blocked",
    }
}

fn row(check: &RunCheck) -> String {
    let outcome = match check.outcome {
        Outcome::Pass => "passed",
        Outcome::Fail => "**failed**",
        Outcome::Inconclusive => "could not run",
        Outcome::Tamper => "**tampered with**",
        Outcome::Skipped => "did not run",
    };
    let summary = if check.summary.is_empty() {
        String::new()
    } else {
        format!(": {}", code(&check.summary))
    };
    let cached = if check.cached { " (earlier run)" } else { "" };
    let command = shlex::try_join(check.argv.iter().map(String::as_str)).unwrap_or_default();
    let command = if command.is_empty() { String::new() } else { span_of_code(&command) };
    let time = span(Duration::from_millis(check.duration_ms));
    format!("| {} | {outcome}{summary}{cached} | {command} | {time} |", code(&check.check))
}

/// Words of others, which must not be read as Markdown.
fn code(text: &str) -> String {
    if text.is_empty() { String::new() } else { span_of_code(text) }
}

fn span_of_code(text: &str) -> String {
    format!("`{}`", brief(&plain(text)).replace('`', "'").replace('|', "\\|"))
}

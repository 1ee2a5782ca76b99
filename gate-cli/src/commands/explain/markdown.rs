//! A decision as Markdown, for a pull request.

use std::time::Duration;

use gate_core::Verdict;
use gate_core::decide::evidence::{Evidence, Outcome};

use crate::record::{Ledger, Record};
use crate::render::markdown::code;
use crate::render::span;

/// The verdict, the checks, and what they rest on.
pub(super) fn document(record: &Record) -> String {
    let decision = &record.decision;
    let mut lines = vec![
        format!("### gate: {}", verdict_words(record)),
        String::new(),
        code(&decision.cause()),
        String::new(),
        "| check | outcome | command | took |".to_owned(),
        "| --- | --- | --- | --: |".to_owned(),
    ];
    lines.extend(decision.input.evidence.iter().map(check_row));
    if decision.input.evidence.is_empty() {
        lines.push("| none | | | |".to_owned());
    }
    let signal = &decision.input.signal;
    // The name of a status is that of its JSON.
    let status_value = serde_json::to_value(signal.status).unwrap_or_default();
    let status = status_value.as_str().unwrap_or_default();
    let reason = signal.reason.as_deref().map(|reason| format!(": {}", code(reason)));
    let head = decision.input.observed.tree.as_ref().and_then(|tree| tree.after.head.as_deref());
    let commit = head.map(|head| format!("commit `{head}`, ")).unwrap_or_default();
    let tree = record.tree.as_ref().map_or("unknown", |tree| &tree.after);
    let baseline = record.baseline.as_deref().map(|baseline| format!(", baseline `{baseline}`"));
    lines.extend([
        String::new(),
        format!("- **Claimed**: {status}{}", reason.unwrap_or_default()),
        format!("- **Tree**: {commit}`{tree}`"),
        format!("- **Settings**: `{}`", record.policy_digest),
        format!("- **Trust**: {}{}", record.trust, baseline.unwrap_or_default()),
    ]);
    let ledger = record.ledger.as_ref();
    lines.extend(
        ledger.map(|Ledger { seq, hash }| format!("- **Recorded**: record {seq}, hash `{hash}`")),
    );
    let (id, version) = (&record.decision_id, &record.gate_version);
    lines.push(format!("- **Decision**: `{id}`, {}, gate {version}", record.time));
    lines.join("\n") + "\n"
}

fn verdict_words(record: &Record) -> &'static str {
    let decision = &record.decision;
    match (decision.verdict, decision.forced, decision.verified) {
        (Verdict::Exit, true, _) => "done, forced by the operator",
        (Verdict::Exit, false, true) => "done",
        (Verdict::Exit, false, false) => "done, unverified",
        (Verdict::Continue, ..) => "not done",
        (Verdict::Tripped, ..) => "stopped",
        (Verdict::Blocked, ..) => "blocked",
    }
}

fn check_row(check: &Evidence) -> String {
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
    let time = span(Duration::from_millis(check.duration_ms));
    format!("| {} | {outcome}{summary}{cached} | {} | {time} |", code(&check.check), code(&command))
}

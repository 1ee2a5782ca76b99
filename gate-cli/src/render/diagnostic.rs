//! The lines on stderr: failures, notes, the one that stops a loop, and those about an agent that a
//! hook let go.

use std::fmt::Write;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use gate_core::config::Excerpt;
use gate_core::decide::reason::WarningCode;
use gate_core::decide::situation::Released;
use gate_core::{Decision, Failure, OUTPUT_CLOSED, Verdict};

use crate::record::Record;
use crate::secrets;
use gate_card::fit::stderr_columns;
use gate_card::text::plain;
use gate_card::{diagnose, json_line, print};

/// The form in which a command reports a failure.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OutputMode {
    /// As one JSON object on stdout, too.
    pub(crate) json: bool,
    /// With "STOP, not done" first on stderr, because the caller is a loop.
    pub(crate) stop: bool,
}

/// Reports a failure, and returns its exit code.
pub(crate) fn failure(failure: &Failure, mode: OutputMode) -> u8 {
    if failure.code == OUTPUT_CLOSED {
        return failure.exit_code;
    }
    let failure = &masked(failure);
    diagnose(&describe(failure, mode.stop));
    if mode.json
        && let Ok(text) = json_line(failure)
    {
        // If it cannot be printed, the exit code still tells the failure.
        let _ = print(&text);
    }
    failure.exit_code
}

/// The failure without secrets: it may show a line of settings, or words of others.
fn masked(failure: &Failure) -> Failure {
    // A mask would move the marked place of an excerpt, so one with a secret is left out.
    let excerpt = failure.excerpt.clone();
    let harmless_excerpt = excerpt.filter(|excerpt| secrets::masked(&excerpt.text) == excerpt.text);
    Failure {
        message: secrets::masked(&failure.message),
        file: failure.file.as_deref().map(secrets::masked),
        key: failure.key.as_deref().map(secrets::masked),
        hint: failure.hint.as_deref().map(secrets::masked),
        excerpt: harmless_excerpt,
        ..failure.clone()
    }
}

/// A line if a loop ends on the agent's word alone.
pub(crate) fn unverified_line(record: &Record) {
    let decision = &record.decision;
    if decision.verdict == Verdict::Exit && !decision.verified && !decision.forced {
        let mut warnings = decision.input.warnings.iter();
        let are_left_out = warnings.any(|warning| warning.code == WarningCode::ChecksNotRun);
        let next = match are_left_out {
            true => "check again without `--no-checks`",
            false => "`gate init` finds checks",
        };
        diagnose(&format!(
            "gate: done on the agent's word alone: no check stands behind it ({next})\n"
        ));
    }
}

/// `gate: STOP, not done: …` for a verdict that stops a loop without success.
pub(crate) fn stop_line(record: &Record) {
    let decision = &record.decision;
    if matches!(decision.verdict, Verdict::Tripped | Verdict::Blocked) {
        let message = decision.reasons.first().map_or("", |reason| reason.message.as_str());
        diagnose(&format!("gate: STOP, not done: {}\n", plain(message)));
    }
}

fn describe(failure: &Failure, stop: bool) -> String {
    let head = if stop { "gate: STOP, not done: " } else { "gate: " };
    let mut text = format!("{head}{}\n", message(failure));
    if let Some(excerpt) = &failure.excerpt {
        text.push_str(&snippet(failure, excerpt));
    }
    if let Some(hint) = &failure.hint {
        let _ = writeln!(text, "  hint: {hint}");
    }
    text
}

/// The message, behind its file and line if it has them.
pub(crate) fn message(failure: &Failure) -> String {
    match (&failure.file, &failure.excerpt, failure.key.is_some()) {
        (Some(file), Some(excerpt), _) => {
            format!("{file}:{}:{}: {}", excerpt.line, excerpt.column, failure.message)
        }
        (Some(file), None, true) => format!("{file}: {}", failure.message),
        _ => failure.message.clone(),
    }
}

fn snippet(failure: &Failure, excerpt: &Excerpt) -> String {
    let file = failure.file.as_deref().unwrap_or_default();
    let annotation = AnnotationKind::Primary.span(excerpt.span.clone());
    let source = Snippet::source(&excerpt.text).path(file).annotation(annotation);
    let report = &[Level::ERROR.primary_title(failure.message.as_str()).element(source)];
    let renderer = match stderr_columns() {
        Some(columns) => Renderer::plain().term_width(columns),
        None => Renderer::plain(),
    };
    // The first line is the message, which is printed already.
    let rendered = renderer.render(report).to_string();
    let body = rendered.lines().skip(1).collect::<Vec<_>>().join("\n");
    body + "\n"
}

/// An agent was let go, and its work is not done.
pub(crate) fn let_go(agent: &str, decision: &Decision) -> String {
    let reasons: Vec<_> = decision.reasons.iter().map(|reason| plain(&reason.message)).collect();
    let next = decision.next.as_deref().unwrap_or("`gate last` shows the decision");
    format!("gate let {agent} stop, NOT done: {}; next: {}", reasons.join("; "), plain(next))
}

/// An agent was let go without a verdict that ends the work.
pub(crate) fn released(agent: &str, decision: &Decision) -> String {
    let reasons: Vec<_> = decision.reasons.iter().map(|reason| plain(&reason.message)).collect();
    let message = reasons.join("; ");
    match decision.released {
        Some(Released::Green) => format!("gate: {message}"),
        Some(Released::Red) => {
            format!("gate let {agent} stop, NOT done: {message}; `gate last` shows the failures")
        }
        _ => format!("gate let {agent} stop, not checked: {message}"),
    }
}

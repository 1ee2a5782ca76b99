//! A loop on stderr: in full at a terminal, in a line a step elsewhere; at the end a card that
//! says why it stopped.

mod lines;
mod speech;
mod terminal;
#[cfg(test)]
mod tests;

use std::io::IsTerminal;
use std::sync::Arc;
use std::time::Duration;

use gate_checks::Events;
use gate_core::Verdict;
use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::open_decisions::OpenDecision;
use gate_core::decide::spent::Spent;
use gate_core::text::{MAX_NAMES, counted, some_names};
use gate_lens::loops::{COST_UNKNOWN, Usage};
use gate_transcript::Forced;

use crate::memory::StoppedBy;
use crate::record::Record;
use crate::render::card::{checks, decided_line, done};
use crate::render::page::{Mark, Page};
use crate::render::text::{brief, plain, span};
use crate::runner::{Decisions, FinishedRun, Live, LiveFile, LoopEvent, RunRecord, TestsWritten};
use crate::secrets;
use lines::Lines;
use terminal::Terminal;

/// The form in which a loop is shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoopDisplay {
    /// The format of the agent's output.
    pub(crate) format: Option<Forced>,
    /// Show the agent's output as it is.
    pub(crate) raw: bool,
    /// A program reads the answer, so that a line a step is enough.
    pub(crate) json: bool,
}

/// Shows a loop on stderr. Stdout is the answer's.
#[derive(Clone)]
pub(crate) struct LoopReporter {
    display: Arc<dyn Live + Send + Sync>,
    file: Arc<LiveFile>,
}

impl LoopReporter {
    pub(crate) fn new(form: LoopDisplay, file: LiveFile) -> Self {
        let is_full = !form.json && std::io::stderr().is_terminal();
        let display: Arc<dyn Live + Send + Sync> = match is_full {
            true => Arc::new(Terminal::new(form)),
            false => Arc::new(Lines::new(crate::render::diagnose)),
        };
        Self { display, file: Arc::new(file) }
    }

    /// A listener for the events of checks.
    pub(crate) fn checks(&self) -> Events {
        let reporter = self.clone();
        Events::to(move |event| reporter.show(LoopEvent::Check(&event)))
    }
}

impl Live for LoopReporter {
    fn show(&self, event: LoopEvent<'_>) {
        self.file.note(event);
        self.display.show(event);
    }
}

/// The cost of a loop so far; empty if no transcript reports it.
fn cost_so_far(spent: Option<&Spent>) -> String {
    match spent {
        Some(spent) if spent.cost_micro_usd > 0 => {
            format!(", ${:.2} so far", spent.cost_micro_usd as f64 / 1e6)
        }
        Some(spent) if spent.tokens > 0 => format!(", {} tokens so far", spent.tokens),
        _ => String::new(),
    }
}

/// A check with its outcome and its time.
fn check_line(evidence: &Evidence) -> String {
    let outcome = match evidence.outcome {
        Outcome::Pass => "pass",
        Outcome::Fail => "fail",
        Outcome::Inconclusive => "inconclusive",
        Outcome::Tamper => "tampered with",
        Outcome::Skipped => "did not run",
    };
    let summary = if evidence.summary.is_empty() { "" } else { ": " };
    let time = span(Duration::from_millis(evidence.duration_ms));
    let text = format!("{}: {outcome}{summary}{} ({time})", evidence.check, evidence.summary);
    brief(&secrets::masked(&text))
}

/// The problem of a run of the agent; `None` if there is nothing to say.
fn run_problem(run: &FinishedRun) -> Option<String> {
    match run.exit_code {
        _ if run.error.is_empty() => None,
        Some(code @ 1..=127) if !run.was_ended => {
            Some(format!("the agent ended with exit code {code}"))
        }
        _ => Some(plain(&run.error)),
    }
}

/// The cause of a decision, in a line.
fn cause(record: &Record) -> String {
    plain(&record.decision.cause())
}

/// The card of a loop: the reason why it stopped, the checks of its last decision, its
/// cost, and what to do next.
pub(crate) fn run_card(record: &RunRecord<'_>) -> String {
    let (mark, word) = match (record.success, record.verified, record.latest.verdict) {
        (true, Some(false), _) => (Mark::Unsure, done(false)),
        (true, ..) => (Mark::Good, done(true)),
        (false, _, Some(Verdict::Tripped)) => (Mark::Bad, "STOPPED"),
        (false, _, Some(Verdict::Blocked)) => (Mark::Bad, "BLOCKED"),
        (false, ..) if record.end.stopped_by == StoppedBy::Blocked => (Mark::Bad, "BLOCKED"),
        (false, ..) => (Mark::Bad, "NOT DONE"),
    };
    let mut page = Page::new();
    page.head(mark, word, &record.message);
    page.blank();
    if let Some(last) = &record.end.last_record {
        if let Some(code) = last.decision.input.agent_exit_code
            && code != 0
            && !record.success
        {
            let text = format!("its program ended with code {code} in the last iteration");
            page.marked(Mark::Bad, "agent", &text);
        }
        checks(&mut page, last);
    }
    if let Some(work) = &record.end.work {
        let next = work.next_phase.map_or("as it was", |phase| phase.as_str());
        page.row("work item", &format!("{}: {}, now {next}", work.work, work.phase));
    }
    if let Some(decisions) = &record.end.decisions {
        open_decisions(&mut page, decisions);
    }
    if let Some(tests) = &record.end.tests_first {
        page.row("tests first", &tests_first(tests));
    }
    if !record.task.is_empty() {
        page.row("task", record.task);
    }
    effort(&mut page, record);
    page.row("folder", &record.end.folder);
    page.rows("handoff", &record.end.handoff);
    if !record.denied.is_empty() {
        page.row("denied", &record.denied.join(", "));
        page.detail("allow more with `--allow`, or in `[run.agents.NAME] args` of gate.toml");
    }
    page.rows("next", &record.next);
    page.into_text()
}

/// The decisions of a person before the work, or those that are still open.
fn open_decisions(page: &mut Page, decisions: &Decisions) {
    let Decisions { by, confirmed, open, decided, .. } = decisions;
    if open.is_empty() && decided.is_empty() {
        page.row("decisions", &format!("none open, says {by}"));
    }
    for decision in decided {
        page.row("decision", &decided_line(decision));
    }
    let unconfirmed = if *confirmed { &[] } else { open.as_slice() };
    for OpenDecision { question, choice } in unconfirmed {
        page.row("open", &format!("{question}: {choice}"));
    }
}

/// The tests that were written before the work.
fn tests_first(written: &TestsWritten) -> String {
    let TestsWritten { by, locked, tests, files } = written;
    let amount = match (tests.len(), files.len()) {
        (0, 0) => return format!("none so far, by {by}"),
        (0, _) => some_names(files, MAX_NAMES),
        (count, _) => format!("{count} in {}", some_names(files, MAX_NAMES)),
    };
    format!("{amount}, by {by}{}", if *locked { ", locked" } else { ", not locked" })
}

/// Iterations, time and cost of this run, and of the whole task if an earlier run worked on it.
fn effort(page: &mut Page, record: &RunRecord<'_>) {
    let time = span(Duration::from_millis(record.duration_ms));
    let last = record.end.last_record.as_ref();
    let micro_usd = record.latest.cost_usd.map_or(0, |dollars| (dollars * 1e6).round() as u64);
    let whole = Usage::new(record.latest.tokens.unwrap_or_default(), micro_usd);
    let earlier = record.end.spent_earlier.clone().unwrap_or_default();
    let usage = Usage::new(
        whole.tokens.saturating_sub(earlier.tokens),
        whole.cost_micro_usd.saturating_sub(earlier.cost_micro_usd),
    );
    let spent = if record.iterations > 0 { spent_in_words(usage) } else { String::new() };
    let all = last.and_then(|record| record.iteration).unwrap_or_default();
    if record.iterations == 0 || all <= record.iterations as u64 {
        page.row("iterations", &format!("{} in {time}{spent}", record.iterations));
        return;
    }
    let iterations = counted(record.iterations, "iteration");
    page.row("this run", &format!("{iterations} in {time}{spent}"));
    page.row("whole task", &format!("{}{}", counted(all, "iteration"), spent_in_words(whole)));
}

/// Money and tokens behind a comma.
fn spent_in_words(usage: Usage) -> String {
    let cost = Some(usage.dollars()).filter(|cost| !cost.is_empty());
    let cost = cost.unwrap_or_else(|| COST_UNKNOWN.to_owned());
    let tokens = match usage.tokens {
        0 => String::new(),
        tokens => format!(", {tokens} tokens"),
    };
    format!(", {cost}{tokens}")
}

//! The card for a person: the verdict first and what it means, then what led
//! to it, and what to do.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};
use gate_core::decide::breaker::BreakerState;
use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::score::Indicators;
use gate_core::decide::signal::{Signal, Status};
use gate_core::decide::situation::Released;
use gate_core::{Decision, Transcript, Verdict};

use super::breaker::{counted, state_name};
use super::findings::{finding_line, findings};
use super::text::{brief, plain};
use crate::record::Record;

/// Near misses, hits and findings that a card shows at most, of each kind.
const SHOWN: usize = 5;

/// The card of a decision.
pub(crate) fn card(record: &Record) -> String {
    let decision = &record.decision;
    let mut card = Card::default();
    card.head(decision);
    card.blank();
    if record.repeated {
        card.row("repeated", "this iteration was decided before: this is that decision");
    }
    card.signal(&decision.signal);
    card.indicators(&decision.indicators);
    card.evidence(&decision.evidence);
    card.breaker(decision);
    card.list("why", decision.reasons.iter().map(|reason| reason.message.as_str()));
    card.list("note", decision.warnings.iter().map(|warning| warning.message.as_str()));
    card.list("next", decision.next.as_deref());
    card.text
}

/// The card of a scan.
pub(crate) fn scan_card(
    file: &str,
    transcript: &Transcript,
    signal: &Signal,
    indicators: &Indicators,
) -> String {
    let mut card = Card::default();
    let format = transcript.format.as_deref().unwrap_or("empty");
    let _ = writeln!(card.text, "{} ({format})", plain(file));
    card.signal(signal);
    card.indicators(indicators);
    card.text
}

#[derive(Default)]
struct Card {
    text: String,
}

impl Card {
    fn head(&mut self, decision: &Decision) {
        if let Some(released) = decision.released {
            let (color, meaning) = match released {
                Released::Green => (AnsiColor::Green, "green: the agent was let go; no exit"),
                Released::Red => (AnsiColor::Red, "red, not done: the agent was let go"),
                Released::NotRun => (AnsiColor::Yellow, "not checked: the agent was let go"),
            };
            let style = Style::new().bold().fg_color(Some(color.into()));
            let _ = writeln!(self.text, "{style}RELEASED{style:#}  {meaning}");
            return;
        }
        let (color, word, meaning) = match decision.verdict {
            Verdict::Exit if decision.forced => (
                AnsiColor::Yellow,
                done(decision.verified),
                "forced by the operator: the loop ends",
            ),
            Verdict::Exit if !decision.verified => {
                (AnsiColor::Yellow, done(false), "the loop may end, on the agent's word alone")
            }
            Verdict::Exit => (AnsiColor::Green, done(true), "the loop may end"),
            Verdict::Continue => (AnsiColor::Yellow, "NOT DONE", "the loop goes on"),
            Verdict::Tripped => {
                (AnsiColor::Red, "STOPPED", "not done: the loop got nowhere, a person is needed")
            }
            Verdict::Blocked if decision.waits_for_settings() => {
                (AnsiColor::Red, "BLOCKED", "not done: a person has to approve changed settings")
            }
            Verdict::Blocked => {
                (AnsiColor::Red, "BLOCKED", "not done: the agent cannot go on, a person is needed")
            }
        };
        let style = Style::new().bold().fg_color(Some(color.into()));
        let _ = writeln!(self.text, "{style}{word}{style:#}  {meaning}");
    }

    fn blank(&mut self) {
        self.text.push('\n');
    }

    fn row(&mut self, label: &str, text: &str) {
        let _ = writeln!(self.text, "  {label:<12}{}", brief(text));
    }

    /// Rows with the label on the first alone.
    fn list<'a>(&mut self, label: &str, lines: impl IntoIterator<Item = &'a str>) {
        for (at, line) in lines.into_iter().enumerate() {
            self.row(if at == 0 { label } else { "" }, line);
        }
    }

    fn signal(&mut self, signal: &Signal) {
        self.row("signal", &signal_line(signal));
        for problem in &signal.problems {
            self.row("", problem);
        }
        for miss in signal.near_misses.iter().rev().take(SHOWN) {
            self.row("", &format!("line {}: {}: {}", miss.line, miss.why, miss.text));
        }
    }

    fn indicators(&mut self, indicators: &Indicators) {
        self.row("indicators", &format!("{} of {}", indicators.score, indicators.threshold));
        let counting = || indicators.hits.iter().filter(|hit| hit.weight > 0);
        for hit in counting().take(SHOWN) {
            self.row("", &format!("line {}: {} \"{}\"", hit.line, hit.pattern, hit.excerpt));
        }
        match counting().count().saturating_sub(SHOWN) {
            0 => {}
            more => self.row("", &format!("and {more} more patterns")),
        }
        if indicators.fields > 0 {
            self.row("", "the signal's other fields say the same");
        }
    }

    fn evidence(&mut self, evidence: &[Evidence]) {
        for (at, evidence) in evidence.iter().enumerate() {
            self.row(if at == 0 { "evidence" } else { "" }, &evidence_line(evidence));
            let log = evidence.log.as_ref().filter(|_| evidence.outcome != Outcome::Pass);
            if let Some(log) = log {
                // Whole, whatever its length: it is there to be opened.
                let _ = writeln!(self.text, "  {:<14}{}", "", plain(log));
            }
            let (found, _) = findings(std::slice::from_ref(evidence));
            for finding in found.iter().take(SHOWN) {
                let _ = writeln!(self.text, "  {:<14}{}", "", brief(&finding_line(finding)));
            }
        }
    }

    fn breaker(&mut self, decision: &Decision) {
        let breaker = &decision.breaker;
        let counters = counted(&breaker.counters).map(|it| format!(": {it}")).unwrap_or_default();
        match breaker.state {
            BreakerState::Closed if counters.is_empty() => {}
            state => self.row("breaker", &format!("{}{counters}", state_name(state))),
        }
    }
}

/// The first word of a card of what is done.
pub(super) fn done(verified: bool) -> &'static str {
    if verified { "DONE" } else { "DONE (unverified)" }
}

fn signal_line(signal: &Signal) -> String {
    let status = match signal.status {
        Status::Complete => "complete",
        Status::Continue => "continue",
        Status::Blocked => "blocked",
        Status::Absent => return "none in the agent's last word".to_owned(),
        Status::Invalid => "cannot be read",
    };
    let source = signal.source.map_or("", |source| source.name());
    let line = signal.line.map(|line| format!(", line {line}")).unwrap_or_default();
    let reason = signal.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
    format!("{status} ({source}{line}){reason}")
}

fn evidence_line(evidence: &Evidence) -> String {
    let outcome = match evidence.outcome {
        Outcome::Pass => "pass",
        Outcome::Fail => "fail",
        Outcome::Inconclusive => "inconclusive",
        Outcome::Tamper => "tampered with",
        Outcome::Skipped => "did not run",
    };
    let cached = if evidence.cached { ", as before" } else { "" };
    let time = match evidence.duration_ms {
        0..1_000 => String::new(),
        millis => format!(" ({:.1} s)", millis as f64 / 1e3),
    };
    format!("{}: {outcome}{cached}: {}{time}", evidence.check, evidence.summary)
}

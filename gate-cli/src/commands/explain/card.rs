//! A decision with every input that it rests on.

#[cfg(test)]
mod tests;

use gate_core::Policy;
use gate_core::decide::breaker::BreakerView;
use gate_core::decide::iteration_facts::IterationFacts;
use gate_core::decide::policy::Mode;
use gate_core::scan::Transcript;

use crate::memory::ReplayedDecision;
use crate::record::Record;
use crate::render::card::{CardOptions, fill_card};
use crate::render::card::{counters, state_name};
use crate::render::page::Page;
use crate::render::text::{brief, local_time};

/// The latest decision, with its time and place.
pub(crate) fn last_card(record: &Record, verbose: bool) -> String {
    let mut page = with_card(record, CardOptions { verbose, policy: None });
    place(&mut page, record);
    page.into_text()
}

/// A decision, all that it rests on, and what comes out when it is decided
/// again.
pub(crate) fn explained(past: &ReplayedDecision) -> String {
    let record = &past.record;
    let policy = past.policy.as_ref();
    let mut page = with_card(record, CardOptions { verbose: true, policy });
    place(&mut page, record);
    let decision = format!("{}, gate {}", record.decision_id, record.gate_version);
    rows(&mut page, "decision", [decision]);
    settings(&mut page, record, policy);
    transcript(&mut page, &record.transcript);
    observed(&mut page, &record.decision.input.observed);
    memory(&mut page, record);
    again(&mut page, past);
    page.into_text()
}

/// A page that begins with the card of a decision.
fn with_card(record: &Record, options: CardOptions<'_>) -> Page {
    let mut page = Page::new();
    fill_card(&mut page, record, options);
    page.blank();
    page
}

fn rows(page: &mut Page, label: &str, texts: impl IntoIterator<Item: AsRef<str>>) {
    page.rows(label, texts.into_iter().map(|text| brief(text.as_ref())));
}

fn place(page: &mut Page, record: &Record) {
    rows(page, "decided", [local_time(&record.time)]);
    let run = record.run.as_ref().zip(record.iteration);
    rows(page, "run", run.map(|(run, iteration)| format!("{run}, iteration {iteration}")));
    rows(page, "task", &record.task);
    let ledger = record.ledger.as_ref();
    rows(page, "ledger", ledger.map(|place| format!("record {}, {}", place.seq, place.hash)));
    let approved = record.approved.iter();
    rows(page, "approved", approved.map(|change| format!("{}: {}", change.name(), change.reason)));
    let mark = record.wrong.as_ref();
    rows(page, "marked", mark.map(|mark| format!("{}: {}", mark.mistake.words(), mark.reason)));
}

fn settings(page: &mut Page, record: &Record, policy: Option<&Policy>) {
    rows(page, "policy", [&record.policy_digest]);
    let Some(policy) = policy else { return };
    let (threshold, patterns) = (policy.threshold_in_force(), policy.patterns.len());
    rows(page, "", [format!("threshold {threshold}, {patterns} patterns")]);
    let checks = policy.checks.iter().map(|(name, check)| {
        let mode = match check.mode {
            Mode::Require => "required",
            Mode::Count => "adds an indicator",
            Mode::Warn => "warns",
        };
        let colon = if check.command.is_empty() { "" } else { ": " };
        format!("check {name} ({mode}){colon}{}", check.command.join(" "))
    });
    rows(page, "", checks);
}

fn transcript(page: &mut Page, transcript: &Transcript) {
    let facts = [
        transcript.format.clone(),
        transcript.model.clone(),
        transcript.session.as_ref().map(|session| format!("session {session}")),
        transcript.tokens.map(|tokens| format!("{tokens} tokens")),
    ];
    rows(page, "transcript", [facts.into_iter().flatten().collect::<Vec<_>>().join(", ")]);
    let commands = transcript.commands.iter().rev().take(3).map(|command| {
        format!("line {}: {} ended with {}", command.line, command.command, command.exit_code)
    });
    rows(page, "", commands);
}

fn observed(page: &mut Page, observed: &IterationFacts) {
    let tree = observed.tree.as_ref().map(|tree| &tree.before);
    rows(page, "tree", tree.map(|tree| format!("{} before the checks", tree.digest)));
    let head = tree.and_then(|tree| tree.head.as_ref());
    rows(page, "", head.map(|head| format!("on commit {head}")));
    rows(page, "error", &observed.signature);
    let denied = Some(observed.denied.join(", "));
    rows(page, "denied", denied.filter(|denied| !denied.is_empty()));
    rows(page, "limit", observed.limited.as_ref().map(|limit| &limit.text));
}

fn memory(page: &mut Page, record: &Record) {
    let decision = &record.decision;
    if let Some(memory) = &decision.input.memory {
        rows(page, "before", [breaker(&memory.breaker_view())]);
        let passed = decision.passed_in_a_row;
        let passed = format!("{passed} passing iterations in a row before this one");
        rows(page, "after", [breaker(&decision.breaker), passed]);
    } else {
        let lost = decision.input.lost.as_ref();
        rows(page, "before", lost.map(|lost| format!("the state was lost: {lost}")));
    }
}

fn again(page: &mut Page, past: &ReplayedDecision) {
    let text = match (past.is_same(), &past.again) {
        (Some(true), _) => "same decision".to_owned(),
        (Some(false), Some(again)) if again.verdict != past.record.decision.verdict => {
            format!("ANOTHER verdict: {}", again.verdict.name())
        }
        (Some(false), Some(again)) => {
            format!("ANOTHER decision, with the same verdict, {}", again.verdict.name())
        }
        _ if past.policy.is_some() => {
            "not possible: it rests on a rule that this version of gate does not have".to_owned()
        }
        _ => "not possible: the settings of this decision are not stored".to_owned(),
    };
    rows(page, "replay", [text]);
}

fn breaker(view: &BreakerView) -> String {
    let counters = counters(&view.counters).unwrap_or_else(|| "all counters at zero".to_owned());
    format!("breaker {}, {counters}", state_name(view.state))
}

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

/// The commands of a transcript that a card shows, the last one first.
const MAX_COMMANDS: usize = 3;

/// The latest decision, with its time and place.
pub(crate) fn last_card(record: &Record, verbose: bool) -> String {
    let mut page = with_card(record, CardOptions { verbose, policy: None });
    add_place(&mut page, record);
    page.into_text()
}

/// A decision, all that it rests on, and what comes out when it is decided
/// again.
pub(crate) fn explained(replayed: &ReplayedDecision) -> String {
    let record = &replayed.record;
    let policy = replayed.policy.as_ref();
    let mut page = with_card(record, CardOptions { verbose: true, policy });
    add_place(&mut page, record);
    let decision = format!("{}, gate {}", record.decision_id, record.gate_version);
    add_rows(&mut page, "decision", [decision]);
    add_settings(&mut page, record, policy);
    add_transcript(&mut page, &record.transcript);
    add_facts(&mut page, &record.decision.input.observed);
    add_memory(&mut page, record);
    add_replay(&mut page, replayed);
    page.into_text()
}

/// A page that begins with the card of a decision.
fn with_card(record: &Record, options: CardOptions<'_>) -> Page {
    let mut page = Page::new();
    fill_card(&mut page, record, options);
    page.blank();
    page
}

/// Adds a row for each text, the first with the label.
fn add_rows(page: &mut Page, label: &str, texts: impl IntoIterator<Item: AsRef<str>>) {
    page.rows(label, texts.into_iter().map(|text| brief(text.as_ref())));
}

/// The decision's time, run, task and record, and the operator's acts on it.
fn add_place(page: &mut Page, record: &Record) {
    add_rows(page, "decided", [local_time(&record.time)]);
    let run = record.run.as_ref().zip(record.iteration);
    add_rows(page, "run", run.map(|(run, iteration)| format!("{run}, iteration {iteration}")));
    add_rows(page, "task", &record.task);
    let ledger = record.ledger.as_ref();
    add_rows(page, "ledger", ledger.map(|place| format!("record {}, {}", place.seq, place.hash)));
    let approved = record.approved.iter();
    add_rows(
        page,
        "approved",
        approved.map(|change| format!("{}: {}", change.name(), change.reason)),
    );
    let mark = record.wrong.as_ref();
    add_rows(page, "marked", mark.map(|mark| format!("{}: {}", mark.mistake.words(), mark.reason)));
}

/// The policy: its digest, its threshold and its checks.
fn add_settings(page: &mut Page, record: &Record, policy: Option<&Policy>) {
    add_rows(page, "policy", [&record.policy_digest]);
    let Some(policy) = policy else { return };
    let (threshold, patterns) = (policy.threshold_in_force(), policy.patterns.len());
    add_rows(page, "", [format!("threshold {threshold}, {patterns} patterns")]);
    let checks = policy.checks.iter().map(|(name, check)| {
        let mode = match check.mode {
            Mode::Require => "required",
            Mode::Count => "adds an indicator",
            Mode::Warn => "warns",
        };
        let colon = if check.command.is_empty() { "" } else { ": " };
        format!("check {name} ({mode}){colon}{}", check.command.join(" "))
    });
    add_rows(page, "", checks);
}

/// Facts of the transcript, and its last commands.
fn add_transcript(page: &mut Page, transcript: &Transcript) {
    let facts = [
        transcript.format.clone(),
        transcript.model.clone(),
        transcript.session.as_ref().map(|session| format!("session {session}")),
        transcript.tokens.map(|tokens| format!("{tokens} tokens")),
    ];
    add_rows(page, "transcript", [facts.into_iter().flatten().collect::<Vec<_>>().join(", ")]);
    let commands = transcript.commands.iter().rev().take(MAX_COMMANDS).map(|command| {
        format!("line {}: {} ended with {}", command.line, command.command, command.exit_code)
    });
    add_rows(page, "", commands);
}

/// The facts of the iteration: its work tree, its error, what it was denied, its limit.
fn add_facts(page: &mut Page, facts: &IterationFacts) {
    let tree = facts.tree.as_ref().map(|tree| &tree.before);
    add_rows(page, "tree", tree.map(|tree| format!("{} before the checks", tree.digest)));
    let head = tree.and_then(|tree| tree.head.as_ref());
    add_rows(page, "", head.map(|head| format!("on commit {head}")));
    add_rows(page, "error", &facts.signature);
    let denied_tools = Some(facts.denied.join(", "));
    add_rows(page, "denied", denied_tools.filter(|names| !names.is_empty()));
    add_rows(page, "limit", facts.limited.as_ref().map(|limit| &limit.text));
}

/// The breaker before the decision and after it.
fn add_memory(page: &mut Page, record: &Record) {
    let decision = &record.decision;
    if let Some(memory) = &decision.input.memory {
        add_rows(page, "before", [breaker_words(&memory.breaker_view())]);
        let count = decision.passed_in_a_row;
        let passes = format!("{count} passing iterations in a row before this one");
        add_rows(page, "after", [breaker_words(&decision.breaker), passes]);
    } else {
        let lost = decision.input.lost.as_ref();
        add_rows(page, "before", lost.map(|lost| format!("the state was lost: {lost}")));
    }
}

/// The comparison with the same decision, made again.
fn add_replay(page: &mut Page, replayed: &ReplayedDecision) {
    let text = match (replayed.is_same(), &replayed.again) {
        (Some(true), _) => "same decision".to_owned(),
        (Some(false), Some(decision)) if decision.verdict != replayed.record.decision.verdict => {
            format!("ANOTHER verdict: {}", decision.verdict.name())
        }
        (Some(false), Some(decision)) => {
            format!("ANOTHER decision, with the same verdict, {}", decision.verdict.name())
        }
        _ if replayed.policy.is_some() => {
            "not possible: it rests on a rule that this version of gate does not have".to_owned()
        }
        _ => "not possible: the settings of this decision are not stored".to_owned(),
    };
    add_rows(page, "replay", [text]);
}

fn breaker_words(view: &BreakerView) -> String {
    let counters = counters(&view.counters).unwrap_or_else(|| "all counters at zero".to_owned());
    format!("breaker {}, {counters}", state_name(view.state))
}

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
use crate::render::breaker::{counted, state_name};
use crate::render::card::{CardOptions, fill_card};
use crate::render::page::Page;
use crate::render::text::{brief, local_time};

/// The latest decision, with its time and place.
pub(crate) fn last_card(record: &Record, verbose: bool) -> String {
    let mut page = Explained::new(record, CardOptions { verbose, policy: None });
    page.place(record);
    page.page.into_text()
}

/// A decision, all that it rests on, and what comes out when it is decided
/// again.
pub(crate) fn explained(past: &ReplayedDecision) -> String {
    let record = &past.record;
    let policy = past.policy.as_ref();
    let mut page = Explained::new(record, CardOptions { verbose: true, policy });
    page.place(record);
    page.row("decision", &format!("{}, gate {}", record.decision_id, record.gate_version));
    page.policy(record, policy);
    page.transcript(&record.transcript);
    page.observed(&record.decision.input.observed);
    page.memory(record);
    page.again(past);
    page.page.into_text()
}

/// A page that begins with the card of a decision.
struct Explained {
    page: Page,
}

impl Explained {
    fn new(record: &Record, options: CardOptions<'_>) -> Self {
        let mut page = Page::new();
        fill_card(&mut page, record, options);
        page.blank();
        Self { page }
    }

    fn row(&mut self, label: &str, text: &str) {
        self.page.row(label, &brief(text));
    }

    fn place(&mut self, record: &Record) {
        self.row("decided", &local_time(&record.time));
        if let (Some(run), Some(iteration)) = (&record.run, record.iteration) {
            self.row("run", &format!("{run}, iteration {iteration}"));
        }
        if let Some(task) = &record.task {
            self.row("task", task);
        }
        if let Some(ledger) = &record.ledger {
            self.row("ledger", &format!("record {}, {}", ledger.seq, ledger.hash));
        }
        for (number, change) in record.approved.iter().enumerate() {
            let label = if number == 0 { "approved" } else { "" };
            self.row(label, &format!("{}: {}", change.name(), change.reason));
        }
        if let Some(mark) = &record.wrong {
            self.row("marked", &format!("{}: {}", mark.mistake.words(), mark.reason));
        }
    }

    fn policy(&mut self, record: &Record, policy: Option<&Policy>) {
        self.row("policy", &record.policy_digest);
        let Some(policy) = policy else { return };
        let (threshold, patterns) = (policy.threshold_in_force(), policy.patterns.len());
        self.row("", &format!("threshold {threshold}, {patterns} patterns"));
        for (name, check) in &policy.checks {
            let mode = match check.mode {
                Mode::Require => "required",
                Mode::Count => "adds an indicator",
                Mode::Warn => "warns",
            };
            let command = if check.command.is_empty() { "" } else { ": " };
            let command = format!("{command}{}", check.command.join(" "));
            self.row("", &format!("check {name} ({mode}){command}"));
        }
    }

    fn transcript(&mut self, transcript: &Transcript) {
        let facts = [
            transcript.format.clone(),
            transcript.model.clone(),
            transcript.session.as_ref().map(|session| format!("session {session}")),
            transcript.tokens.map(|tokens| format!("{tokens} tokens")),
        ];
        self.row("transcript", &facts.into_iter().flatten().collect::<Vec<_>>().join(", "));
        for command in transcript.commands.iter().rev().take(3) {
            let (line, code) = (command.line, command.exit_code);
            self.row("", &format!("line {line}: {} ended with {code}", command.command));
        }
    }

    fn observed(&mut self, observed: &IterationFacts) {
        if let Some(tree) = &observed.tree {
            self.row("tree", &format!("{} before the checks", tree.before.digest));
            if let Some(head) = &tree.before.head {
                self.row("", &format!("on commit {head}"));
            }
        }
        if let Some(signature) = &observed.signature {
            self.row("error", signature);
        }
        if !observed.denied.is_empty() {
            self.row("denied", &observed.denied.join(", "));
        }
        if let Some(limit) = &observed.limited {
            self.row("limit", &limit.text);
        }
    }

    fn memory(&mut self, record: &Record) {
        if let Some(memory) = &record.decision.input.memory {
            self.row("before", &breaker(&memory.breaker_view()));
            self.row("after", &breaker(&record.decision.breaker));
            let passed = record.decision.passed_in_a_row;
            self.row("", &format!("{passed} passing iterations in a row before this one"));
        } else if let Some(lost) = &record.decision.input.lost {
            self.row("before", &format!("the state was lost: {lost}"));
        }
    }

    fn again(&mut self, past: &ReplayedDecision) {
        let text = match (past.is_same(), &past.again) {
            (Some(true), _) => "same decision".to_owned(),
            (Some(false), Some(again)) if again.verdict != past.record.decision.verdict => {
                format!("ANOTHER verdict: {}", again.verdict.name())
            }
            (Some(false), Some(again)) => {
                format!("ANOTHER decision, with the same verdict, {}", again.verdict.name())
            }
            _ if past.policy.is_some() => {
                "not possible: it rests on a rule that this version of gate does not have"
                    .to_owned()
            }
            _ => "not possible: the settings of this decision are not stored".to_owned(),
        };
        self.row("replay", &text);
    }
}

fn breaker(view: &BreakerView) -> String {
    let counters = counted(&view.counters).unwrap_or_else(|| "all counters at zero".to_owned());
    format!("breaker {}, {counters}", state_name(view.state))
}

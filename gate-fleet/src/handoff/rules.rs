//! The protocol's four validation rules, and the rules of its extension for A2A.
//!
//! 1. No empty required field. A placeholder is empty, and so is an entry of a
//!    list that is one.
//! 2. Verification has to include commands that were really run, with the result of each.
//! 3. A risk has to include its impact and its owner. That there is none is said by `none` alone.
//! 4. A failed verification has to include its severity and the way back.

use super::model::{A2a, Agent, Handoff, Outcome, PROTOCOL_VERSION, Risk, Verification};
use super::placeholder::{answers_nothing, is_empty, is_none};
use super::problem::{Problem, few};

/// Most next actions that a handoff may have.
const ACTIONS: usize = 3;

/// The words that the canonical template has where a text is to come.
const TEMPLATE: &[(&str, &str)] = &[
    ("command", "command"),
    ("risk", "risk"),
    ("impact", "impact"),
    ("owner", "owner"),
    ("changed_files", "/abs/or/repo/path"),
];

impl Handoff {
    /// The broken rules, in the order of the fields.
    pub fn problems(&self) -> Vec<Problem> {
        let mut found = Found::default();
        found.text(1, "objective", &self.objective, "say the target in one sentence");
        found.texts("in_scope", &self.in_scope, "name what the next agent is responsible for");
        found.texts("out_of_scope", &self.out_of_scope, "name what it is not to do");
        found.texts("changed_files", &self.changed_files, "name the files by their full paths");
        found.verification(&self.verification);
        found.risks(&self.open_risks);
        found.texts("next_actions", &self.next_actions, "name up to three actions, in order");
        if self.next_actions.len() > ACTIONS {
            let message =
                format!("{} actions, and at most {ACTIONS} may be", self.next_actions.len());
            found.add(Problem::new("next_actions", message));
        }
        found.texts("assumptions", &self.assumptions, "name what decisions rested on");
        if let Some(a2a) = &self.a2a {
            found.a2a(a2a);
        }
        few(found.problems)
    }
}

#[derive(Default)]
struct Found {
    problems: Vec<Problem>,
}

impl Found {
    fn add(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    /// A text that has to say something.
    fn text(&mut self, rule: impl Into<Option<u8>>, field: &str, text: &str, advice: &str) {
        if is_empty(text) || is_template(field, text) {
            let message = format!("{}: {advice}", what(text));
            self.add(Problem { rule: rule.into(), ..Problem::new(field, message) });
        }
    }

    /// The same, where "none" is no answer.
    fn answer(&mut self, rule: u8, field: &str, text: &str, advice: &str) {
        if is_none(text) {
            self.add(Problem::rule(rule, field, format!("{}: {advice}", what(text))));
        } else {
            self.text(rule, field, text, advice);
        }
    }

    /// A list that must not be empty, nor have an entry that says nothing.
    fn texts(&mut self, field: &str, texts: &[String], advice: &str) {
        if texts.is_empty() {
            self.add(Problem::rule(1, field, format!("is empty: {advice}")));
        }
        for (at, text) in texts.iter().enumerate() {
            self.text(1, &format!("{field}[{at}]"), text, advice);
        }
    }

    fn verification(&mut self, all: &[Verification]) {
        if all.is_empty() {
            let advice = "is empty: name the commands that were run, and what came of each";
            self.add(Problem::rule(1, "verification", advice));
        }
        for (at, one) in all.iter().enumerate() {
            let field = format!("verification[{at}]");
            let advice = "name the command that was run";
            self.answer(2, &format!("{field}.command"), &one.command, advice);
            match &one.result {
                Outcome::Pass => {}
                Outcome::Fail => self.blocker(one, &format!("{field}.blocker")),
                Outcome::Unsaid(text) => {
                    let message = format!("{}: PASS or FAIL is expected", what(text));
                    self.add(Problem::rule(2, format!("{field}.result"), message));
                }
            }
        }
    }

    fn blocker(&mut self, failed: &Verification, field: &str) {
        let blocker = failed.blocker.clone().unwrap_or_default();
        for (name, text, advice) in [
            ("severity", &blocker.severity, "it failed, so say how bad that is"),
            ("rollback", &blocker.rollback, "it failed, so say how to get back"),
        ] {
            self.answer(4, &format!("{field}.{name}"), text, advice);
        }
    }

    fn risks(&mut self, risks: &[Risk]) {
        if risks.is_empty() {
            let advice = "is empty: name what may go wrong, with its impact and its owner, or \
                          write `none`";
            self.add(Problem::rule(1, "open_risks", advice));
        }
        if let [only] = risks
            && answers_nothing(&only.risk)
            && [&only.impact, &only.owner].iter().all(|text| is_none(text))
        {
            return;
        }
        for (at, risk) in risks.iter().enumerate() {
            let field = format!("open_risks[{at}]");
            self.text(1, &format!("{field}.risk"), &risk.risk, "say what may go wrong");
            let advice = "say what would come of it";
            self.text(3, &format!("{field}.impact"), &risk.impact, advice);
            self.answer(3, &format!("{field}.owner"), &risk.owner, "say who looks after it");
        }
    }

    fn a2a(&mut self, a2a: &A2a) {
        if a2a.protocol_version != PROTOCOL_VERSION {
            let message = format!(
                "{}: the string {PROTOCOL_VERSION} is expected",
                what(&a2a.protocol_version)
            );
            self.add(Problem::new("a2a.protocol_version", message));
        }
        self.agent("a2a.sender", &a2a.sender);
        self.agent("a2a.receiver", &a2a.receiver);
        for (name, texts) in [
            ("capabilities_declared", &a2a.capabilities_declared),
            ("capabilities_required", &a2a.capabilities_required),
        ] {
            for (at, text) in texts.iter().flatten().enumerate() {
                self.text(None, &format!("a2a.{name}[{at}]"), text, "name the capability");
            }
        }
        self.text(None, "a2a.interaction_id", &a2a.interaction_id, "name the interaction");
        for (name, text) in [
            ("checkpoint_id", &a2a.checkpoint_id),
            ("agent_card_ref", &a2a.agent_card_ref),
            ("handoff_reason", &a2a.handoff_reason),
        ] {
            if let Some(text) = text {
                self.text(None, &format!("a2a.{name}"), text, "say it, or leave it out");
            }
        }
    }

    fn agent(&mut self, field: &str, agent: &Agent) {
        if *agent == Agent::default() {
            let advice = "is missing: agent_id, provider and model are expected";
            return self.add(Problem::new(field, advice));
        }
        for (name, text, advice) in [
            ("agent_id", &agent.agent_id, "name the agent"),
            ("provider", &agent.provider, "name who runs its model"),
            ("model", &agent.model, "name its model"),
        ] {
            self.text(None, &format!("{field}.{name}"), text, advice);
        }
    }
}

fn is_template(field: &str, text: &str) -> bool {
    let name = field.rsplit('.').next().unwrap_or(field);
    let name = name.split('[').next().unwrap_or(name);
    TEMPLATE.contains(&(name, text.trim()))
}

fn what(text: &str) -> String {
    match text.trim() {
        "" => "is empty".to_owned(),
        text => format!("`{}` does not say it", gate_core::text::brief(text, 60)),
    }
}

//! Masks the foreign texts of a decision's input: of agents, clients, checks and files.

use serde_json::Value;

use super::Masker;
use crate::decide::elsewhere::{CheckedElsewhere, WorkElsewhere};
use crate::decide::evidence::Evidence;
use crate::decide::indicator::Hit;
use crate::decide::input::Input;
use crate::decide::iteration_facts::{IterationFacts, LimitNotice, Outage};
use crate::decide::open_decisions::{ConfirmedDecision, Listing, OpenDecision};
use crate::decide::reason::Warning;
use crate::decide::score::Indicators;
use crate::decide::signal::{NearMiss, Signal, WorkLeft};
use crate::decide::situation::{FailureShares, Owed, Situation};
use crate::decide::stop::Stop;
use crate::scan::{Command, Limit, Remark, Transcript};

impl Masker {
    /// Masks the input of a decision, except for memory, which was masked when it was
    /// new.
    pub fn input(&self, input: &mut Input) {
        input.mask(self);
    }

    /// Masks the record of a check.
    pub fn evidence(&self, evidence: &mut Evidence) {
        let output = evidence.excerpt.as_deref().unwrap_or_default();
        let details = evidence.detail.as_ref().map(Value::to_string).unwrap_or_default();
        let command = evidence.argv.join(" ");
        let masker = self.with_named(&[&command, &evidence.summary, output, &details]);
        let Evidence {
            argv,
            summary,
            detail,
            flaky,
            excerpt,
            check: _,
            mode: _,
            outcome: _,
            cached: _,
            duration_ms: _,
            exit_code: _,
            log: _,
            claim: _,
            running: _,
        } = evidence;
        argv.mask(&masker);
        flaky.mask(&masker);
        summary.mask(&masker);
        excerpt.mask(&masker);
        if let Some(detail) = detail {
            masker.value(detail);
        }
    }

    /// Masks the facts of a transcript beside the conversation.
    pub fn transcript(&self, transcript: &mut Transcript) {
        transcript.mask(self);
    }
}

/// Foreign texts, which may hold secrets.
trait Texts {
    fn mask(&mut self, masker: &Masker);
}

impl Texts for String {
    fn mask(&mut self, masker: &Masker) {
        masker.cover(self);
    }
}

impl<T: Texts> Texts for Option<T> {
    fn mask(&mut self, masker: &Masker) {
        self.iter_mut().for_each(|texts| texts.mask(masker));
    }
}

impl<T: Texts> Texts for Vec<T> {
    fn mask(&mut self, masker: &Masker) {
        self.iter_mut().for_each(|texts| texts.mask(masker));
    }
}

impl Texts for Evidence {
    fn mask(&mut self, masker: &Masker) {
        masker.evidence(self);
    }
}

/// Names the fields of a type that are masked, and the others: a new field does not compile until
/// it is named here.
macro_rules! texts {
    ($($type:ident { $($masked:ident),*; $($other:ident),* })*) => {$(
        impl Texts for $type {
            fn mask(&mut self, masker: &Masker) {
                let Self { $($masked,)* $($other: _,)* } = self;
                $($masked.mask(masker);)*
            }
        }
    )*};
}

texts! {
    Input {
        signal, indicators, evidence, observed, force_reason, warnings, lost, settings_changed;
        checks_left_out, stateful, memory, agent_exit_code, next_token
    }

    Signal {
        reason, remaining_work, confidence, problems, near_misses, work_left;
        texts, status, source, override_requested, line, fields_agree, whole_message, token,
        exit_signal
    }
    NearMiss { text, why; line }
    WorkLeft { sentence; digest }
    Indicators { hits; score, threshold, patterns, checks, fields, word, plan }
    Hit { excerpt, matched; pattern, pack, weight, line, column, same_words_as }
    Warning { message; code }

    Transcript {
        session, model, errors, limits, denials, commands, problems;
        format, client, tokens, cost_micro_usd, duration_ms, turns, bytes, skipped, is_of_call
    }
    Remark { text; line }
    Limit { text; resets_at, line }
    Command { command; exit_code, line }

    IterationFacts {
        signature, denied, limited, session, stop, outage, elsewhere, listing, decided;
        at, iteration, tree, output, tokens, cost_micro_usd, probe, settings, user_settings,
        is_of_call
    }
    LimitNotice { text; resets_at }
    Outage { text, stderr, gives_up; cause, count }
    Listing { open, problem, changed; file }
    OpenDecision { question, choice; }
    ConfirmedDecision { question, answer, command; edited }
    WorkElsewhere { place, work, checked; }
    CheckedElsewhere { summary; passed }
    Stop { background, situation; agent, prompt }
    Situation {
        owed, failures, changed_tests, changed_settings, waits;
        presence, needs_exit, work, asks, always, has_goal, elsewhere
    }
    Owed { red; }
    FailureShares { own, before, others, flaky, unknown, problem; check, newly_red }
}

//! Masks all texts of a decision's input that somebody else wrote. Structs are taken
//! apart field by field, so that a new field does not compile until it is named here.

use serde_json::Value;

use super::{Masker, any};
use crate::decide::elsewhere::{CheckedElsewhere, WorkElsewhere};
use crate::decide::evidence::Evidence;
use crate::decide::indicator::Hit;
use crate::decide::input::Input;
use crate::decide::iteration_facts::{IterationFacts, LimitNotice, Outage};
use crate::decide::reason::Warning;
use crate::decide::signal::{NearMiss, Signal};
use crate::decide::situation::Situation;
use crate::decide::stop::Stop;
use crate::scan::{Command, Limit, Remark, Transcript};

impl Masker {
    /// Masks the input of a decision, except for memory, which was masked when it was
    /// new. Returns whether anything is masked.
    pub fn input(&self, input: &mut Input) -> bool {
        let Input {
            signal,
            hits,
            evidence,
            observed,
            forced,
            warnings,
            lost,
            settings_changed,
            checks_left_out: _,
            stateful: _,
            memory: _,
            agent_exit_code: _,
            next_token: _,
        } = input;
        let mut masked = self.signal(signal);
        masked |= any(hits.iter_mut().map(|hit| self.hit(hit)));
        masked |= any(evidence.iter_mut().map(|record| self.evidence(record)));
        masked |= any(warnings.iter_mut().map(|Warning { message, code: _ }| self.cover(message)));
        masked |= self.observed(observed);
        masked | self.covers([forced, lost, settings_changed])
    }

    /// Masks the record of a check. Returns whether anything is masked.
    pub fn evidence(&self, evidence: &mut Evidence) -> bool {
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
        let output = excerpt.as_deref().unwrap_or_default();
        let details = detail.as_ref().map(Value::to_string).unwrap_or_default();
        let masker = self.with_named(&[&argv.join(" "), summary, output, &details]);
        let mut masked = any(argv.iter_mut().chain(flaky).map(|text| masker.cover(text)));
        masked |= detail.as_mut().is_some_and(|detail| masker.value(detail));
        masked |= masker.cover(summary);
        masked | masker.covers([excerpt])
    }

    /// Masks everything in a transcript beside the conversation. Returns whether
    /// anything is masked.
    pub fn transcript(&self, transcript: &mut Transcript) -> bool {
        let Transcript {
            session,
            model,
            errors,
            limits,
            denials,
            commands,
            problems,
            format: _,
            tokens: _,
            cost_micro_usd: _,
            duration_ms: _,
            turns: _,
            bytes: _,
            skipped: _,
            is_of_call: _,
        } = transcript;
        let remarks = errors.iter_mut().chain(denials).chain(problems);
        let mut masked = any(remarks.map(|Remark { text, line: _ }| self.cover(text)));
        masked |= any(limits.iter_mut().map(|Limit { text, .. }| self.cover(text)));
        masked |= any(commands.iter_mut().map(|Command { command, .. }| self.cover(command)));
        masked | self.covers([session, model])
    }

    fn signal(&self, signal: &mut Signal) -> bool {
        let Signal {
            reason,
            remaining_work,
            confidence,
            problems,
            near_misses,
            taken: _,
            status: _,
            source: _,
            override_requested: _,
            line: _,
            fields_agree: _,
            whole_message: _,
            work_left,
            token: _,
            exit_signal: _,
        } = signal;
        let mut masked = any(problems.iter_mut().map(|problem| self.cover(problem)));
        masked |= any(work_left.iter_mut().map(|left| self.cover(&mut left.sentence)));
        for NearMiss { text, why, line: _ } in near_misses {
            masked |= self.cover(text);
            masked |= self.cover(why);
        }
        masked | self.covers([reason, remaining_work, confidence])
    }

    fn hit(&self, hit: &mut Hit) -> bool {
        let Hit {
            excerpt,
            matched,
            pattern: _,
            pack: _,
            weight: _,
            line: _,
            column: _,
            same_words_as: _,
        } = hit;
        self.cover(matched);
        self.cover(excerpt)
    }

    fn observed(&self, observed: &mut IterationFacts) -> bool {
        let IterationFacts {
            signature,
            denied,
            limited,
            session,
            stop,
            outage,
            at: _,
            iteration: _,
            tree: _,
            output: _,
            tokens: _,
            cost_micro_usd: _,
            probe: _,
            settings: _,
            user_settings: _,
            elsewhere,
            is_of_call: _,
        } = observed;
        let mut masked = any(denied.iter_mut().map(|tool| self.cover(tool)));
        for WorkElsewhere { place, work, checked } in elsewhere {
            masked |= self.cover(place) | self.cover(work);
            if let Some(CheckedElsewhere { summary, passed: _ }) = checked {
                masked |= self.cover(summary);
            }
        }
        if let Some(LimitNotice { text, resets_at: _ }) = limited {
            masked |= self.cover(text);
        }
        if let Some(Outage { text, stderr, gives_up, cause: _, count: _ }) = outage {
            masked |= self.cover(text);
            masked |= self.cover(stderr);
            masked |= self.covers([gives_up]);
        }
        if let Some(Stop { background, situation, agent: _, prompt: _ }) = stop {
            masked |= any(background.iter_mut().map(|task| self.cover(task)));
            masked |= any(situation.iter_mut().flat_map(test_names).map(|name| self.cover(name)));
        }
        masked | self.covers([signature, session])
    }

    fn covers<const N: usize>(&self, texts: [&mut Option<String>; N]) -> bool {
        any(texts.into_iter().flatten().map(|text| self.cover(text)))
    }
}

/// The names of the tests whose failures came before a stop.
fn test_names(situation: &mut Situation) -> Vec<&mut String> {
    let owed = situation.owed.iter_mut().flat_map(|owed| &mut owed.red);
    let failures = situation.failures.iter_mut().flat_map(|failure| {
        let lists = [
            &mut failure.own,
            &mut failure.before,
            &mut failure.others,
            &mut failure.flaky,
            &mut failure.unknown,
        ];
        lists.into_iter().flatten().chain(&mut failure.problem)
    });
    let news = situation.changed_tests.iter_mut().chain(&mut situation.changed_settings);
    owed.chain(failures).chain(news).chain(&mut situation.waits).collect()
}

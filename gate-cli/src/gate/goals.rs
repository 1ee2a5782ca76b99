//! The goals of persons among the checks. The act of giving one is the approval of its command, so
//! it runs whatever became of the settings.

use std::borrow::Cow;

use gate_checks::{Checks, Gathered};
use gate_core::decide::checks::GOAL;
use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::policy::{Mode, Policy};
use gate_core::record::{GoalRecord, GoalState};
use gate_core::{Decision, Verdict};
use serde_json::Value;

use super::Gate;
use super::persons_check::add_check;
use crate::failure::Failure;
use crate::memory::{Goal, Memory};
use crate::record::Record;
use crate::render;
use crate::request::{Asker, Request};
use crate::source::Source;
use crate::trust::NOT_TRUSTED;

/// The goals that are in force for one asker.
#[derive(Clone, Debug, Default)]
pub(super) struct Goals {
    pub(super) open: Vec<Goal>,
    /// The check that runs their commands; `None` if none has a command.
    check: Option<String>,
}

impl Gate {
    /// The gate with the goals for the work of this asker among its checks; `None` if there are none.
    /// A goal is none of a phase in which only tests are written.
    ///
    /// Fails on a store that cannot be read.
    pub(crate) fn with_goals(&self, asker: &Asker) -> Result<Option<Self>, Failure> {
        // A program that embeds gate answers for all of its checks.
        let (Some(mut memory), true, false) =
            (self.memory(), self.trust.is_some(), self.writes_tests)
        else {
            return Ok(None);
        };
        let open = match memory.goals_for(asker) {
            // The decision itself reports lost state, and is no exit.
            Err(failure) if failure.lost_state().is_some() => return Ok(None),
            goals => goals?,
        };
        drop(memory);
        if open.is_empty() { Ok(None) } else { self.bound_by(open).map(Some) }
    }

    /// The gate with these goals among its checks.
    fn bound_by(&self, open: Vec<Goal>) -> Result<Self, Failure> {
        let mut policy = self.policy_without_goals().into_owned();
        let check = add_goal_check(&mut policy, &open)?;
        Ok(Self { goals: Goals { open, check }, ..self.with_policy(policy) })
    }

    /// Runs the commands of goals now, and nothing else. Nothing is recorded.
    ///
    /// # Errors
    ///
    /// As of [`Gate::check`].
    pub(crate) fn try_goals(&self, goals: Vec<Goal>) -> Result<Record, Failure> {
        let gate = self.bound_by(goals)?;
        let mut request = Request::default();
        request.asker.dry_run = true;
        request.checking.events = render::progress();
        let request = match gate.goal_check() {
            Some(check) => only(check, &request),
            None => request,
        };
        let judging = gate.read(&Source::Message(String::new()), &request)?;
        gate.judge(&judging, &request)
    }

    /// A goal with a command is in force.
    pub(crate) fn checks_goal(&self) -> bool {
        self.goals.check.is_some()
    }

    /// The goals in force, a line each, for an agent.
    pub(crate) fn goal_lines(&self) -> Vec<String> {
        self.goals.open.iter().map(Goal::line).collect()
    }

    /// The name of the check of goals.
    pub(crate) fn goal_check(&self) -> Option<&str> {
        self.goals.check.as_deref()
    }

    /// The policy without the goals, whose commands need no approval of settings.
    pub(super) fn policy_without_goals(&self) -> Cow<'_, Policy> {
        let Some(check) = &self.goals.check else { return Cow::Borrowed(&self.policy) };
        let mut policy = self.policy.clone();
        policy.checks.remove(check);
        Cow::Owned(policy)
    }

    /// The goal is checked alone if nobody approved the settings, and the other checks have no
    /// result. Without a goal the failure stays one.
    pub(super) fn goal_alone(
        &self,
        admitted: Result<(), Failure>,
    ) -> Result<Option<Failure>, Failure> {
        match admitted {
            Err(failure) if failure.code == NOT_TRUSTED && self.checks_goal() => Ok(Some(failure)),
            admitted => admitted.map(|()| None),
        }
    }

    /// The goals with their commands, as a record has them.
    pub(super) fn goal_words(&self) -> Vec<String> {
        let records = self.goals.open.iter().map(|goal| self.record_of(goal, GoalState::Open));
        records.map(|record| record.words()).collect()
    }

    fn record_of(&self, goal: &Goal, state: GoalState) -> GoalRecord {
        let command = goal.command_line().map(|command| self.masker.text(&command));
        GoalRecord { text: self.masker.text(&goal.text), command, state }
    }

    /// The goals as a record has them.
    pub(super) fn goal_records(&self, decision: &Decision) -> Vec<GoalRecord> {
        let evidence = self.goal_evidence(decision);
        let results =
            evidence.and_then(|evidence| evidence.detail.as_ref()?.get("criteria")?.as_array());
        let mut states = results.into_iter().flatten().map(state_of);
        let is_exit = decision.verdict == Verdict::Exit;
        let goals = self.goals.open.iter().map(|goal| {
            let state = match (goal.command.is_empty(), is_exit) {
                (false, _) => states.next().unwrap_or(GoalState::NotRun),
                (true, true) => GoalState::Claimed,
                (true, false) => GoalState::Open,
            };
            self.record_of(goal, state)
        });
        goals.collect()
    }

    /// Records that goals were reached: they do not linger for the next task. Those with a command
    /// are if it passes and the agent may go, those without if the work is done.
    pub(super) fn end_goals(&self, memory: &mut Memory, record: &Record, asker: &Asker) {
        // The work of an agent that asks by itself goes on, and may undo what was reached.
        if asker.is_agent {
            return;
        }
        let decision = &record.decision;
        let is_reached =
            self.goal_evidence(decision).is_some_and(|evidence| evidence.outcome == Outcome::Pass);
        let is_exit = decision.verdict == Verdict::Exit;
        let lets_go = is_exit || decision.released.is_some();
        let mut ended = self.goals.open.clone();
        ended.retain(|goal| if goal.command.is_empty() { is_exit } else { is_reached && lets_go });
        if !ended.is_empty() && !record.repeated {
            // If that fails, the next decision finds it reached once more.
            let _ = memory.goals_reached(&ended);
        }
    }

    fn goal_evidence<'d>(&self, decision: &'d Decision) -> Option<&'d Evidence> {
        let check = self.goals.check.as_ref()?;
        decision.input.evidence.iter().find(|evidence| evidence.check == *check)
    }
}

/// The request with this check alone.
pub(super) fn only(check: &str, request: &Request) -> Request {
    let mut request = request.clone();
    request.checking.checks = Checks::Only(check.to_owned());
    request
}

/// The evidence of this check, and of the others that they did not run. Settings that nobody approved
/// may have none of the others, so that they are an own one that has no result.
pub(super) fn without_others(
    mut gathered: Gathered,
    check: &str,
    unapproved: &Failure,
) -> Gathered {
    let cause = &unapproved.message;
    for evidence in gathered.evidence.iter_mut().filter(|evidence| evidence.check != check) {
        evidence.outcome = Outcome::Inconclusive;
        evidence.summary = format!("it did not run: {cause}");
    }
    let mut settings = Evidence::new("settings", Mode::Require, Outcome::Inconclusive);
    settings.summary.clone_from(cause);
    gathered.evidence.push(settings);
    gathered
}

/// Adds a required check with the commands of these goals. Returns its name.
pub(crate) fn add_goal_check(
    policy: &mut Policy,
    goals: &[Goal],
) -> Result<Option<String>, Failure> {
    let with_command = goals.iter().filter(|goal| !goal.command.is_empty());
    let criteria: Vec<_> =
        with_command.enumerate().map(|(index, goal)| goal.criterion(index + 1)).collect();
    if criteria.is_empty() { Ok(None) } else { add_check(policy, GOAL, criteria).map(Some) }
}

fn state_of(criterion: &Value) -> GoalState {
    match criterion["state"].as_str() {
        Some("met") => GoalState::Met,
        Some("not-met") => GoalState::NotMet,
        _ => GoalState::Unknown,
    }
}

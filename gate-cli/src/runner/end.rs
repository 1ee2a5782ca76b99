//! The end of a run, that of its loop, and the loop's record `gate.run.v1`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use gate_core::decide::open_decisions::{ConfirmedDecision, OpenDecision};
use gate_core::decide::reason::ReasonCode;
use gate_core::decide::spent::Spent;
use gate_core::exit::WorkPhase;
use gate_core::record::GoalRecord;
use schemars::JsonSchema;
use serde::Serialize;

use crate::memory::StoppedBy;
use crate::record::{LatestDecision, Record};

/// The result of a run whose agent has ended.
#[derive(Clone, Debug)]
pub(crate) struct FinishedRun {
    /// The file with the agent's stdout, or its `output.md` if it printed nothing.
    pub(crate) transcript: PathBuf,
    /// The agent's exit code as a shell has it: 128 and the number of a signal. `None` if it is not
    /// known.
    pub(crate) exit_code: Option<i32>,
    /// The reason of a failure, or empty.
    pub(crate) error: String,
    /// The agent could not be started.
    pub(crate) not_started: bool,
    /// The runner ended the agent, because of a limit or of a stop from outside.
    pub(crate) was_ended: bool,
    /// The end of the agent's stderr.
    pub(crate) stderr_end: String,
    /// The stop from outside that ended the agent, and with it the loop.
    pub(crate) interrupted: Option<StoppedBy>,
    pub(crate) delegated: DelegatedRuns,
}

/// The outcome of the runs that an agent had delegated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum DelegatedRuns {
    /// No such run went on when the agent ended.
    #[default]
    None,
    /// They ended during the wait.
    Ended,
    /// They took too long, and gate ended them.
    TimedOut,
}

/// An ended loop.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct End {
    /// The reason for the end.
    pub(crate) stopped_by: StoppedBy,
    /// The runs' ids, in order.
    pub(crate) runs: Vec<String>,
    /// The last decision.
    #[serde(skip)]
    pub(crate) last_record: Option<Record>,
    /// The use of earlier loops over the same task.
    #[serde(skip)]
    pub(crate) spent_earlier: Option<Spent>,
    /// The one thing to do next, if the last decision does not name it.
    #[serde(skip)]
    pub(crate) way_out: Option<String>,
    #[serde(skip)]
    pub(crate) duration: Duration,
    /// The task's folder.
    pub(crate) folder: String,
    /// The path of the handoff, if gate stopped the loop and the work is not done. gate
    /// drafts it unless the agent wrote one.
    pub(crate) handoff: Option<String>,
    /// The transcript of the last run.
    #[serde(skip)]
    pub(crate) transcript: Option<PathBuf>,
    /// The work item of the loop.
    pub(crate) work: Option<WorkEnd>,
    /// Why the loop had to end, if no decision says it.
    #[serde(skip)]
    pub(crate) problem: Option<String>,
    /// The command that resumes the loop, if it ended before the work was done.
    pub(crate) resume: Option<String>,
    /// The most iterations in which the agent worked.
    #[serde(skip)]
    pub(crate) max_iterations: u64,
    /// The loop was to write tests alone.
    #[serde(skip)]
    pub(crate) writes_tests: bool,
    /// The tests that were written before the work, with `--tests-first`.
    pub(crate) tests_first: Option<TestsWritten>,
    /// The decisions that the task left open, with `--decide-first`.
    pub(crate) decisions: Option<Decisions>,
}

/// The decisions that a task left open.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Decisions {
    /// The agent that listed them.
    pub(crate) by: String,
    /// A person confirmed them, or there was nothing to confirm.
    pub(crate) confirmed: bool,
    /// The file in which a person confirms them; null if that is done.
    pub(crate) file: Option<String>,
    /// The list, with the agent's choices.
    pub(crate) open: Vec<OpenDecision>,
    /// The answers of a person.
    pub(crate) decided: Vec<ConfirmedDecision>,
}

/// The tests that were written before the work.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct TestsWritten {
    /// The agent that wrote them.
    pub(crate) by: String,
    /// The tests are locked into the decisions on the code.
    pub(crate) locked: bool,
    /// The names of those that fail until the work is done, as far as they are known.
    pub(crate) tests: Vec<String>,
    /// The files with new or edited tests, relative to the root of the work tree.
    pub(crate) files: Vec<String>,
}

/// The work item of a loop, at the loop's end.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct WorkEnd {
    /// The item's id.
    pub(crate) work: String,
    /// The item's phase during the loop.
    pub(crate) phase: WorkPhase,
    /// The lease's id.
    pub(crate) lease: String,
    /// The lease's holder.
    pub(crate) actor: String,
    /// An exit signal has ended the phase.
    pub(crate) submitted: bool,
    /// The reason for the refusal of the exit signal.
    pub(crate) refused: Option<String>,
    /// The item's next phase; null if it stays in its phase.
    pub(crate) next_phase: Option<WorkPhase>,
    /// The number of the item's latest record, if the loop has written one.
    pub(crate) seq: Option<u64>,
}

/// `gate.run.v1`: the end of a loop.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct RunRecord<'e> {
    /// Always `gate.run.v1`.
    pub(crate) schema: &'static str,
    /// The program's exit code.
    pub(crate) exit_code: u8,
    /// The work counts as done.
    pub(crate) success: bool,
    /// The reason as a sentence.
    pub(crate) message: String,
    /// The project's id, as in the names of folders.
    pub(crate) project: &'e str,
    /// The task's id.
    pub(crate) task: &'e str,
    #[serde(flatten)]
    pub(crate) end: &'e End,
    /// Starts of the agent, including those in which it could not work.
    pub(crate) iterations: usize,
    /// The one thing to do next.
    pub(crate) next: Option<String>,
    /// The tools that were denied in the last iteration.
    pub(crate) denied: &'e [String],
    #[serde(flatten)]
    pub(crate) latest: LatestDecision,
    /// The last decision rests on more than the agent's word.
    pub(crate) verified: Option<bool>,
    /// The goals of persons at the last decision.
    pub(crate) goals: &'e [GoalRecord],
    /// The duration in milliseconds.
    pub(crate) duration_ms: u64,
}

impl End {
    /// The end of a loop that ran nothing.
    pub(crate) fn without_work(stopped_by: StoppedBy, folder: &Path) -> Self {
        Self {
            stopped_by,
            runs: Vec::new(),
            last_record: None,
            spent_earlier: None,
            way_out: None,
            duration: Duration::ZERO,
            folder: folder.display().to_string(),
            handoff: None,
            transcript: None,
            work: None,
            problem: None,
            resume: None,
            max_iterations: 0,
            writes_tests: false,
            tests_first: None,
            decisions: None,
        }
    }

    /// Only a person's approval of changed settings or tests is missing.
    pub(crate) fn waits_for_approval(&self) -> bool {
        let decision = self.last_record.as_ref().map(|record| &record.decision);
        decision.is_some_and(|decision| decision.waits_for_settings() || decision.waits_for_tests())
    }

    /// A person has yet to confirm open decisions.
    pub(crate) fn waits_for_decisions(&self) -> bool {
        self.decisions.as_ref().is_some_and(|decisions| !decisions.confirmed)
    }

    /// Takes the decision of an iteration in.
    pub(super) fn note(&mut self, record: Record) {
        let memory = record.decision.input.memory.as_ref();
        if self.spent_earlier.is_none() {
            self.spent_earlier = memory.map(|memory| memory.run.spent.clone());
        }
        self.last_record = Some(record);
    }

    /// The one thing to do next: the way out of this end, else what the last decision names.
    fn next(&self) -> Option<String> {
        let named_next = self.last_record.as_ref().and_then(|record| record.decision.next.clone());
        self.way_out.clone().or(named_next)
    }

    fn denied_tools(&self) -> &[String] {
        match &self.last_record {
            Some(record) if !self.is_success() => &record.decision.input.observed.denied,
            _ => &[],
        }
    }

    /// The work counts as done. The phase of a work item also has to have ended, and CI must not have
    /// blocked the item.
    pub(crate) fn is_success(&self) -> bool {
        self.stopped_by == StoppedBy::Completed
            && self
                .work
                .as_ref()
                .is_none_or(|work| work.submitted && work.next_phase != Some(WorkPhase::Blocked))
    }

    /// The reason for the end, as a sentence.
    pub(crate) fn message(&self) -> String {
        // The error of a start names the agent's program itself.
        if let (StoppedBy::NotStarted, Some(error)) = (self.stopped_by, &self.problem) {
            return error.clone();
        }
        let refusal = self.work.as_ref().and_then(|work| work.refused.as_deref());
        if let Some(problem) = refusal.or(self.problem.as_deref()) {
            return self.introduced(problem);
        }
        // A stop from outside, or a person's word, is no consequence of the last decision.
        let is_from_outside = matches!(
            self.stopped_by,
            StoppedBy::Cancelled
                | StoppedBy::StopRequested
                | StoppedBy::LeaseLost
                | StoppedBy::NotConfirmed
        );
        let record = if is_from_outside { None } else { self.last_record.as_ref() };
        let Some(decision) = record.map(|record| &record.decision) else { return self.words() };
        match decision.reasons.first() {
            // These messages name the breaker or the budget themselves.
            Some(reason)
                if self.stopped_by == StoppedBy::Tripped && names_its_cause(reason.code) =>
            {
                reason.message.clone()
            }
            Some(_) => self.introduced(&decision.cause()),
            None => self.words(),
        }
    }

    fn introduced(&self, reason: &str) -> String {
        format!("{}: {reason}", self.words())
    }

    fn words(&self) -> String {
        match (self.stopped_by, self.max_iterations) {
            (StoppedBy::MaxIterations, 1) => "stopped after 1 iteration, the limit".to_owned(),
            (StoppedBy::MaxIterations, count) => {
                format!("stopped after {count} iterations, the limit")
            }
            (StoppedBy::Completed, _) if self.writes_tests => "the tests are written".to_owned(),
            (stopped_by, _) => stopped_by.words().to_owned(),
        }
    }

    pub(crate) fn record<'e>(
        &'e self,
        project: &'e str,
        task: &'e str,
        exit_code: u8,
    ) -> RunRecord<'e> {
        RunRecord {
            schema: "gate.run.v1",
            exit_code,
            success: self.is_success(),
            message: self.message(),
            project,
            task,
            end: self,
            iterations: self.runs.len(),
            next: self.next(),
            denied: self.denied_tools(),
            latest: LatestDecision::new(self.last_record.as_ref()),
            verified: self.last_record.as_ref().map(|record| record.decision.verified),
            goals: self.last_record.as_ref().map_or(&[], |record| &record.goals),
            duration_ms: u64::try_from(self.duration.as_millis()).unwrap_or(u64::MAX),
        }
    }
}

fn names_its_cause(code: ReasonCode) -> bool {
    matches!(
        code,
        ReasonCode::BreakerOpen
            | ReasonCode::BreakerIsolated
            | ReasonCode::BudgetSpent
            | ReasonCode::BackoffLimit
    )
}

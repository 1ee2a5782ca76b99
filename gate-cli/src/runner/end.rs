//! How a loop ended.

use std::path::PathBuf;
use std::time::Duration;

use gate_core::decide::reason::ReasonCode;
use gate_core::exit::WorkPhase;
use schemars::JsonSchema;
use serde::Serialize;

use crate::memory::StoppedBy;
use crate::record::Record;

/// How a loop ended, with what it did.
#[derive(Clone, Debug)]
pub(crate) struct End {
    /// Why.
    pub(crate) by: StoppedBy,
    /// Its runs, by their ids.
    pub(crate) runs: Vec<String>,
    /// Gate's last decision.
    pub(crate) last: Option<Record>,
    /// How long it took.
    pub(crate) duration: Duration,
    /// The task's folder.
    pub(crate) folder: PathBuf,
    /// The handoff that was left, where the work is not done.
    pub(crate) handoff: Option<PathBuf>,
    /// What the last agent printed.
    pub(crate) transcript: Option<PathBuf>,
    /// What became of the work item that it was about.
    pub(crate) work: Option<WorkEnd>,
    /// Why its agent could not be started.
    pub(crate) not_started: Option<String>,
    /// The command that goes on with it.
    pub(crate) resume: Option<String>,
}

/// What became of the work item that a loop was about.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct WorkEnd {
    /// The item.
    pub(crate) work: String,
    /// The phase that the loop was about.
    pub(crate) phase: WorkPhase,
    /// The lease.
    pub(crate) lease: String,
    /// Its holder.
    pub(crate) actor: String,
    /// Whether the phase has ended with an exit signal.
    pub(crate) submitted: bool,
    /// Why it was refused.
    pub(crate) refused: Option<String>,
    /// The item's phase from now on; null where it stays in its phase.
    pub(crate) next_phase: Option<WorkPhase>,
    /// The number of its latest record, where the loop has left one.
    pub(crate) seq: Option<u64>,
}

/// `gate.run.v1`: how a loop ended.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct RunRecord {
    /// Always `gate.run.v1`.
    pub(crate) schema: &'static str,
    /// The program's exit code.
    pub(crate) exit_code: u8,
    /// Whether the work counts as done.
    pub(crate) success: bool,
    /// Why the loop ended.
    pub(crate) stopped_by: StoppedBy,
    /// The same in words.
    pub(crate) message: String,
    /// What the project is known by, in the names of folders.
    pub(crate) project: String,
    /// The task's id.
    pub(crate) task: String,
    /// The task's folder.
    pub(crate) folder: String,
    /// The handoff for whoever goes on, drafted by gate unless the agent wrote one:
    /// where gate stopped the loop, and the work is not done.
    pub(crate) handoff: Option<String>,
    /// What became of the work item that the loop was about.
    pub(crate) work: Option<WorkEnd>,
    /// How often the agent was started, the tries in which it could not work included.
    pub(crate) iterations: usize,
    /// The runs' ids, in order.
    pub(crate) runs: Vec<String>,
    /// The command that goes on, where the loop ended before the work was done.
    pub(crate) resume: Option<String>,
    /// The tools that were denied in the last iteration.
    pub(crate) denied: Vec<String>,
    /// The last decision's id.
    pub(crate) decision_id: Option<String>,
    /// The last decision's verdict.
    pub(crate) verdict: Option<gate_core::Verdict>,
    /// Whether the last decision rests on more than the agent's word.
    pub(crate) verified: Option<bool>,
    /// Tokens of the loop's run, where transcripts tell them.
    pub(crate) tokens: Option<u64>,
    /// US dollars of the loop's run, where transcripts tell them.
    pub(crate) cost_usd: Option<f64>,
    /// Milliseconds.
    pub(crate) duration_ms: u64,
}

impl End {
    /// Where nothing was begun.
    pub(crate) fn without_work(by: StoppedBy, folder: PathBuf) -> Self {
        Self {
            by,
            runs: Vec::new(),
            last: None,
            duration: Duration::ZERO,
            folder,
            handoff: None,
            transcript: None,
            work: None,
            not_started: None,
            resume: None,
        }
    }

    /// Whether nothing but a person's word about changed settings is missing.
    pub(crate) fn waits_for_settings(&self) -> bool {
        self.last.as_ref().is_some_and(|last| last.decision.waits_for_settings())
    }

    /// The tools that were denied in the last iteration.
    fn denied(&self) -> Vec<String> {
        let last = self.last.as_ref().filter(|_| !self.is_success());
        last.map(|last| last.decision.observed.denied.clone()).unwrap_or_default()
    }

    /// Whether the work counts as done: of a work item the phase, which has ended
    /// and was not blocked by CI.
    pub(crate) fn is_success(&self) -> bool {
        let ended = |work: &WorkEnd| work.submitted && work.next_phase != Some(WorkPhase::Blocked);
        self.by == StoppedBy::Completed && self.work.as_ref().is_none_or(ended)
    }

    /// Why it ended, in a sentence.
    pub(crate) fn message(&self) -> String {
        let refused = self.work.as_ref().and_then(|work| work.refused.as_deref());
        let outside = [StoppedBy::Cancelled, StoppedBy::StopRequested, StoppedBy::LeaseLost];
        let last = self.last.as_ref().filter(|_| !outside.contains(&self.by));
        let why = last.and_then(|last| last.decision.reasons.first());
        // What a breaker or a budget says of itself is not introduced once more.
        let tells_itself = why.is_some_and(|why| {
            let itself = [
                ReasonCode::BreakerOpen,
                ReasonCode::BreakerIsolated,
                ReasonCode::BudgetSpent,
                ReasonCode::BackoffLimit,
            ];
            self.by == StoppedBy::Tripped && itself.contains(&why.code)
        });
        let own = refused.or(self.not_started.as_deref());
        match own.or(why.map(|why| why.message.as_str())) {
            Some(why) if tells_itself => why.to_owned(),
            Some(why) => format!("{}: {why}", self.by.words()),
            None => self.by.words().to_owned(),
        }
    }

    /// The record, with the program's exit code.
    pub(crate) fn record(&self, project: &str, task: &str, exit_code: u8) -> RunRecord {
        let last = self.last.as_ref();
        let spent = last.and_then(|last| last.decision.spent());
        let seen = |sum: u64| Some(sum).filter(|sum| *sum > 0);
        RunRecord {
            schema: "gate.run.v1",
            exit_code,
            success: self.is_success(),
            stopped_by: self.by,
            message: self.message(),
            project: project.to_owned(),
            task: task.to_owned(),
            folder: self.folder.display().to_string(),
            handoff: self.handoff.as_ref().map(|path| path.display().to_string()),
            work: self.work.clone(),
            iterations: self.runs.len(),
            runs: self.runs.clone(),
            resume: self.resume.clone(),
            denied: self.denied(),
            decision_id: last.map(|last| last.decision_id.clone()),
            verdict: last.map(|last| last.decision.verdict),
            verified: last.map(|last| last.decision.verified),
            tokens: spent.as_ref().and_then(|spent| seen(spent.tokens)),
            cost_usd: spent.and_then(|it| seen(it.cost_micro_usd)).map(|it| it as f64 / 1e6),
            duration_ms: u64::try_from(self.duration.as_millis()).unwrap_or(u64::MAX),
        }
    }
}

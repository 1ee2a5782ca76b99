//! `gate run`: the loop around an agent.
//!
//! Each iteration is a run with a folder of its own. gate writes a prompt, starts the
//! agent in a session of its own, judges its output, and puts what is missing into the
//! next prompt. Only gate's decision ends the loop, never the agent's claim.

mod agent_loop;
mod attempt;
mod backoff;
mod claim;
mod delegated;
mod end;
mod handoff;
mod lease;
mod live;
mod live_file;
mod lock;
mod old_runs;
mod outage;
mod preset;
mod reconcile;
mod stop_conditions;
#[cfg(test)]
mod tests;
mod watch;

use std::thread;

use gate_checks::{Cancellation, Checks};
use gate_core::Verdict;
use gate_core::decide::reason::ReasonCode;
use jiff::{Timestamp, Zoned};

use crate::failure::Failure;
use crate::governance::STARTING;
use crate::limit_end::limit_end;
use crate::memory::{LoopEnd, StoppedBy};
use crate::record::Record;
use crate::source::Source;

pub(crate) use agent_loop::{Loop, Order};
use attempt::Attempt;
pub(crate) use delegated::starts_runs;
pub(crate) use end::{End, FinishedRun, RunRecord, TestsWritten, WorkEnd};
pub(crate) use lease::{phase_task, with_lease};
pub(crate) use live::{Event, Live};
pub(crate) use live_file::{LiveFile, LiveLoop, live_loops, other_loop_here};
pub(crate) use lock::is_locked;
pub(crate) use old_runs::{OldTask, old_tasks};
pub(crate) use preset::{AgentStart, Allow, PresetContext, agent_start, agents, shell_word};
pub(crate) use stop_conditions::LostLease;

/// The next step if an agent's output has no known format.
const UNKNOWN_FORMAT: &str = "name the agent or its format with --agent (`gate scan --help` lists \
     them), or let it print plain text; nothing that it printed could be read";

/// Why a loop ended that has run nothing.
const HELD: &str = "no loop over this task starts within a minute of `gate stop`, or as long as \
     STOP-REQUESTED in its folder is `permanent`";

impl Loop<'_> {
    /// Runs the loop to its end.
    ///
    /// Fails on folders that cannot be written, a store that does not answer, and another
    /// loop over the same task. No agent keeps running after a failure.
    pub(crate) fn run(mut self) -> Result<End, Failure> {
        self.task.bus()?;
        let _lock = lock::lock(self.task)?;
        reconcile::runs(self.task)?;
        let start = self.commit();
        self.request.turn.began_at.clone_from(&start);
        let (command, note) = (self.order.shown.0.as_str(), self.order.shown.1);
        self.live.show(Event::Starts { command, note });
        let by = if self.task.is_held()? {
            self.end.problem = Some(HELD.to_owned());
            StoppedBy::StopRequested
        } else {
            self.iterate()?
        };
        self.post_end(by)?;
        let handoff = self.hand_over(by, start.as_deref());
        self.end.handoff = handoff.map(|path| path.display().to_string());
        let first = self.end.last.as_ref().and_then(|last| last.decision.reasons.first());
        let gave_up = first.is_some_and(|reason| reason.code == ReasonCode::BackoffLimit);
        if by.can_resume() || gave_up {
            self.end.resume.clone_from(&self.order.resume);
        }
        let end = End { by, duration: self.began.elapsed(), ..self.end };
        if let Some(mut memory) = self.gate.memory() {
            let last = end.last.as_ref();
            memory.loop_ended(&LoopEnd {
                run: last.and_then(|last| last.run.as_deref()).or(self
                    .request
                    .asker
                    .run
                    .as_deref()),
                task: self.task.id(),
                agent: &self.order.agent,
                stopped_by: end.by,
                message: end.message(),
                iterations: end.runs.len(),
                spent: last.and_then(|last| last.decision.spent()).unwrap_or_default(),
                duration: end.duration,
            })?;
        }
        Ok(end)
    }

    fn iterate(&mut self) -> Result<StoppedBy, Failure> {
        if self.is_tripped()? {
            return Ok(StoppedBy::Tripped);
        }
        if claim::withdraw(self.task)? {
            self.post("WARNING", claim::LEFT_OVER)?;
        }
        // A run in which the agent could not work is no iteration.
        let mut worked = 0;
        while worked < self.order.iterations {
            if let Some(by) = self.conditions.stop_reason() {
                return Ok(by);
            }
            let iteration = worked + 1;
            let spent = self.end.last.as_ref().and_then(|last| last.decision.spent());
            let elapsed = self.began.elapsed();
            self.live.show(Event::Begins { iteration, elapsed, spent: spent.as_ref() });
            let attempt = Attempt::begin(self)?;
            // Posted after the prompt is written, which would have it among the messages.
            let restart = self.end.runs.len() - 1;
            self.post("INFO", &format!("{STARTING} (restart #{restart})"))?;
            let run = attempt.run(self)?;
            self.end.transcript = Some(run.transcript.clone());
            self.delegated = run.delegated;
            self.live.show(Event::Ended { iteration, run: &run });
            if run.not_started {
                self.end.problem = Some(run.error);
                return Ok(StoppedBy::NotStarted);
            }
            // At the end of the loop's time the work may be done, so gate still judges it.
            if let Some(by) = run.interrupted
                && by != StoppedBy::BudgetWall
            {
                self.end.last = Some(self.record_stopped(by, &run)?);
                return Ok(by);
            }
            let (record, unknown_format) = self.judge(&run)?;
            self.live.show(Event::Judged { iteration, record: &record });
            // A stop cancels the checks, so this `continue` shows nothing about the work.
            if record.decision.verdict == Verdict::Continue
                && let Some(by) = self.conditions.urgent_stop()
            {
                self.end.last = Some(record);
                return Ok(by);
            }
            if is_outage(&record) {
                self.backoff.count_failure();
            } else {
                self.backoff.reset();
                worked += 1;
            }
            let ended = self.after(&record, unknown_format)?;
            self.end.last = Some(record);
            if let Some(by) = ended {
                return Ok(by);
            }
        }
        let most = self.order.iterations;
        self.post("ERROR", &format!("task failed: max restarts ({most}) exceeded"))?;
        Ok(StoppedBy::MaxIterations)
    }

    /// Records a run that was stopped from outside: its usage, and that it was not judged.
    fn record_stopped(&self, by: StoppedBy, run: &FinishedRun) -> Result<Record, Failure> {
        let mut request = self.request.clone();
        request.asker.force_reason = None;
        request.asker.acts = Vec::new();
        request.turn.outage = Some(outage::cancelled(by, run));
        request.turn.agent_exit_code = run.exit_code;
        request.checking.checks = Checks::None;
        self.gate.check_with(&Source::File(run.transcript.clone()), &request)
    }

    /// The decision on a run, and true if its output is of no known format.
    fn judge(&mut self, run: &FinishedRun) -> Result<(Record, bool), Failure> {
        let source = Source::File(run.transcript.clone());
        let mut request = self.request.clone();
        request.turn.done_file = self.task.is_done()?;
        request.turn.agent_exit_code = run.exit_code;
        // The operator may have approved other settings since the loop began.
        let renewed = self.gate.renewed()?;
        let gate = renewed.as_ref().unwrap_or(self.gate);
        let judging = gate.read(&source, &request)?;
        let outage = outage::from_run(run, &judging.scan);
        let limited = judging.scan.effort.limited.as_ref();
        let resets_at = limited.and_then(|limited| limit_end(limited, &Zoned::now()));
        (request.turn.outage, request.turn.retry_at) = match outage {
            Some(outage) => {
                let (outage, retry_at) = self.backoff.outage(outage, resets_at);
                (Some(outage), retry_at)
            }
            None => (None, None),
        };
        let cancel = Cancellation::default();
        request.checking.cancel = cancel.clone();
        let record = self.conditions.run_cancellable(&cancel, || gate.judge(&judging, &request))?;
        Ok((record, judging.scan.unknown_format))
    }

    /// True if the breaker, an operator or a spent budget already stops the loop. Then no
    /// agent is started, and a decision says why.
    fn is_tripped(&mut self) -> Result<bool, Failure> {
        if self.request.asker.is_forced() {
            return Ok(false);
        }
        let Some(mut memory) = self.gate.memory() else { return Ok(false) };
        let asker = &self.request.asker;
        let (run, task) = (asker.run.as_deref(), asker.task.as_deref());
        let is_stopped = memory.stops(run, task, self.gate.policy())?;
        // The check below locks the memory itself.
        drop(memory);
        if !is_stopped {
            return Ok(false);
        }
        let record = self.gate.check_with(&Source::Message(String::new()), &self.request)?;
        let is_tripped = record.decision.verdict == Verdict::Tripped;
        self.end.last = Some(record);
        Ok(is_tripped)
    }

    /// Acts on a decision. Returns none if the loop goes on.
    fn after(
        &mut self,
        record: &Record,
        unknown_format: bool,
    ) -> Result<Option<StoppedBy>, Failure> {
        let verdict = record.decision.verdict;
        if verdict != Verdict::Exit {
            claim::withdraw(self.task)?;
        }
        match verdict {
            Verdict::Exit => self.complete().map(Some),
            Verdict::Tripped => Ok(Some(StoppedBy::Tripped)),
            Verdict::Blocked => Ok(Some(StoppedBy::Blocked)),
            // The next output could not be read either.
            Verdict::Continue if unknown_format && !is_outage(record) => {
                self.end.problem = Some(UNKNOWN_FORMAT.to_owned());
                Ok(Some(StoppedBy::UnknownFormat))
            }
            Verdict::Continue => self.wait_out(record),
        }
    }

    /// Waits for the runs that the agent has started.
    fn complete(&mut self) -> Result<StoppedBy, Failure> {
        let (timeout, earlier) = (self.order.children, self.delegated);
        let (kind, text) =
            reconcile::wait_for_children(self.task, timeout, &self.conditions, earlier)?;
        self.post(kind, &text)?;
        Ok(StoppedBy::Completed)
    }

    /// Sleeps until the next try, if the agent could not work.
    fn wait_out(&self, record: &Record) -> Result<Option<StoppedBy>, Failure> {
        let Some(until) = record.retry_at.as_deref().and_then(|at| at.parse::<Timestamp>().ok())
        else {
            return Ok(None);
        };
        let why = record.decision.reasons.first().map_or("", |reason| reason.message.as_str());
        self.post("INFO", &format!("waiting until {until}: {why}"))?;
        self.live.show(Event::Waits { until, why });
        while Timestamp::now() < until {
            if let Some(by) = self.conditions.stop_reason() {
                return Ok(Some(by));
            }
            thread::sleep(watch::POLL_INTERVAL);
        }
        Ok(None)
    }

    /// Posts the end of the loop on the task's bus, unless another message already has.
    fn post_end(&self, by: StoppedBy) -> Result<(), Failure> {
        let kind = match by {
            StoppedBy::Completed | StoppedBy::MaxIterations => return Ok(()),
            StoppedBy::Cancelled | StoppedBy::StopRequested => "INFO",
            _ => "ERROR",
        };
        let reasons = self.end.last.as_ref().map(|last| last.decision.reasons.as_slice());
        let why = match by {
            StoppedBy::Tripped | StoppedBy::Blocked => reasons.unwrap_or_default().first(),
            _ => None,
        };
        let why = why.map(|why| format!(": {}", why.message)).unwrap_or_default();
        self.post(kind, &format!("the loop ended, and the task is not done: {}{why}", by.words()))?;
        Ok(())
    }
}

/// True if the agent could not work in this iteration.
fn is_outage(record: &Record) -> bool {
    let outage = [ReasonCode::RateLimited, ReasonCode::AgentUnavailable];
    record.decision.input.observed.outage.is_some()
        && record.decision.reasons.iter().any(|reason| outage.contains(&reason.code))
}

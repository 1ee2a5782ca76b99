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
mod listing;
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
use crate::memory::{LoopEnd, LoopStart, StoppedBy};
use crate::record::Record;
use crate::source::Source;

pub(crate) use agent_loop::{Loop, Order};
use attempt::Attempt;
pub(crate) use delegated::is_run_command;
pub(crate) use end::{Decisions, End, FinishedRun, RunRecord, TestsWritten, WorkEnd};
pub(crate) use lease::{phase_task, with_lease};
pub(crate) use listing::{LISTING_TURNS, ListingOrder};
pub(crate) use live::{Live, LoopEvent};
pub(crate) use live_file::{LiveFile, LiveLoop, live_loops, other_loop_here};
pub(crate) use lock::{is_let_go, is_locked};
pub(crate) use old_runs::{OldTask, old_tasks};
pub(crate) use preset::{AgentStart, Allow, PresetContext, agent_start, preset_agents};
pub(crate) use stop_conditions::LostLease;

/// The next step if an agent's output has no known format.
const UNKNOWN_FORMAT: &str = "name the agent or its format with --agent (`gate scan --help` lists \
     them), or let it print plain text; nothing that it printed could be read";

/// The words of errors on a full disk: the system's, and SQLite's.
const FULL_DISK: [&str; 3] = ["No space left on device", "disk is full", "Disk quota exceeded"];

/// The words of decisions for the command that goes on, which they do not know.
const START_AGAIN: &str = "start the loop again";

/// The problem of a loop that `gate stop` keeps from starting.
const HELD: &str = "no loop over this task starts within a minute of `gate stop`, or as long as \
     STOP-REQUESTED in its folder is `permanent`";

impl Loop<'_> {
    /// Runs the loop to its end.
    ///
    /// Fails on folders that cannot be written, a store that does not answer, and another
    /// loop over the same task. No agent keeps running after a failure.
    pub(crate) fn run(&mut self) -> Result<End, Failure> {
        self.task.bus()?;
        let lock = lock::lock(self.task)?;
        reconcile::end_orphaned_records(self.task)?;
        self.task.reserve()?;
        let started = self.record_start(lock.mark.as_deref());
        let ended = started.and_then(|()| self.run_recorded());
        if let Err(failure) = &ended {
            self.record_failure(failure);
        }
        self.task.release();
        ended
    }

    /// A start is a record: a loop that dies has no other.
    fn record_start(&self, lock: Option<&str>) -> Result<(), Failure> {
        let Some(mut memory) = self.gate.memory() else { return Ok(()) };
        memory.loop_started(&LoopStart {
            run: self.request.asker.run.as_deref(),
            task: self.task.id(),
            agent: &self.order.agent,
            root: &self.order.root,
            folder: &self.end.folder,
            lock,
            resume: self.order.resume.as_deref(),
        })
    }

    /// Records that gate could not go on, with the room that was kept for it. The failure itself
    /// counts more than one of this record.
    fn record_failure(&mut self, failure: &Failure) {
        self.task.release();
        let is_full = FULL_DISK.iter().any(|words| failure.message.contains(words));
        let (cause, step) = match is_full {
            true => ("the disk was full: ", "make room on the disk"),
            false => ("", "put the cause right"),
        };
        self.end.stopped_by = StoppedBy::Failed;
        self.end.problem = Some(format!("{cause}{}", failure.message));
        self.end.resume.clone_from(&self.order.resume);
        self.end.way_out = Some(match &self.end.resume {
            Some(resume) => format!("{step}, then go on with: `{resume}`"),
            None => format!("{step}, then {START_AGAIN}"),
        });
        let _ = self.record_end();
    }

    /// The end of a loop in which gate could not go on.
    pub(crate) fn failed_end(&self) -> Option<&End> {
        Some(&self.end).filter(|end| end.stopped_by == StoppedBy::Failed)
    }

    fn run_recorded(&mut self) -> Result<End, Failure> {
        let start_commit = self.commit();
        self.request.turn.began_at.clone_from(&start_commit);
        let (command, note) = (self.order.shown_command.as_str(), self.order.permission_note);
        self.live.show(LoopEvent::Starts { command, note });
        let stopped_by = if self.task.is_held()? {
            self.end.problem = Some(HELD.to_owned());
            StoppedBy::StopRequested
        } else {
            self.iterate()?
        };
        self.post_end(stopped_by)?;
        let handoff = self.hand_over(stopped_by, start_commit.as_deref());
        self.end.handoff = handoff.map(|path| path.display().to_string());
        let first_reason =
            self.end.last_record.as_ref().and_then(|record| record.decision.reasons.first());
        // Of the blocked loops, only one that gave up waiting, or has listed open decisions, can simply
        // go on later.
        let gave_up = first_reason.is_some_and(|reason| reason.code == ReasonCode::BackoffLimit);
        if stopped_by.can_resume() || gave_up || self.order.listing.is_some() {
            self.end.resume.clone_from(&self.order.resume);
        }
        if stopped_by == StoppedBy::Cancelled {
            self.end.problem = self.conditions.signal_cause().map(str::to_owned);
        }
        self.end.stopped_by = stopped_by;
        let going_on = self.end.resume.as_ref().map(|resume| self.going_on(resume));
        self.end.way_out = stopped_by.remedy().map(str::to_owned).or(going_on);
        self.record_end()?;
        self.share_handoff();
        Ok(self.end.clone())
    }

    /// The step of a loop that can be resumed. The last decision may name what comes before that.
    fn going_on(&self, resume: &str) -> String {
        let going_on = format!("go on with: `{resume}`");
        let record = self.end.last_record.as_ref();
        match record.and_then(|record| record.decision.next.as_deref()) {
            Some(next) if next.contains(START_AGAIN) => next.replace(START_AGAIN, &going_on),
            _ => going_on,
        }
    }

    /// Records the end of the loop.
    fn record_end(&mut self) -> Result<(), Failure> {
        self.end.duration = self.began.elapsed();
        let end = &self.end;
        let Some(mut memory) = self.gate.memory() else { return Ok(()) };
        let last_record = end.last_record.as_ref();
        let recorded_run = last_record.and_then(|record| record.run.as_deref());
        memory.loop_ended(&LoopEnd {
            run: recorded_run.or(self.request.asker.run.as_deref()),
            task: self.task.id(),
            agent: &self.order.agent,
            stopped_by: end.stopped_by,
            message: end.message(),
            iterations: end.runs.len(),
            spent: last_record.and_then(|record| record.decision.spent()).unwrap_or_default(),
            duration: end.duration,
            next: end.way_out.clone(),
            root: &self.order.root,
            folder: &end.folder,
            handoff: end.handoff.as_deref(),
            resume: end.resume.as_deref(),
        })
    }

    fn iterate(&mut self) -> Result<StoppedBy, Failure> {
        if self.is_tripped()? {
            return Ok(StoppedBy::Tripped);
        }
        if claim::withdraw(self.task)? {
            self.post("WARNING", claim::LEFT_OVER)?;
        }
        // A run in which the agent could not work is no iteration.
        let mut iterations_done = 0;
        while iterations_done < self.order.iterations {
            if let Some(stopped_by) = self.conditions.stop_reason() {
                return Ok(stopped_by);
            }
            let iteration = iterations_done + 1;
            let last_record = self.end.last_record.as_ref();
            let spent = last_record.and_then(|record| record.decision.spent());
            let elapsed = self.began.elapsed();
            self.live.show(LoopEvent::Begins { iteration, elapsed, spent: spent.as_ref() });
            let attempt = Attempt::begin(self)?;
            // Posted after the prompt is written, which would have it among the messages.
            let restart = self.end.runs.len() - 1;
            self.post("INFO", &format!("{STARTING} (restart #{restart})"))?;
            let run = attempt.run(self)?;
            self.end.transcript = Some(run.transcript.clone());
            self.delegated = run.delegated;
            self.live.show(LoopEvent::Ended { iteration, run: &run });
            if run.not_started {
                self.end.problem = Some(run.error);
                return Ok(StoppedBy::NotStarted);
            }
            // At the end of the loop's time the work may be done, so gate still judges it.
            if let Some(stopped_by) = run.interrupted
                && stopped_by != StoppedBy::BudgetWall
            {
                let record = self.record_stopped(stopped_by, &run)?;
                self.end.note(record);
                return Ok(stopped_by);
            }
            let JudgedRun { record, has_unknown_format } = self.judge(&run)?;
            self.live.show(LoopEvent::Judged { iteration, record: &record });
            // A stop cancels the checks, so this `continue` shows nothing about the work.
            if record.decision.verdict == Verdict::Continue
                && let Some(stopped_by) = self.conditions.urgent_stop()
            {
                self.end.note(record);
                return Ok(stopped_by);
            }
            if is_outage(&record) {
                self.backoff.count_failure();
            } else {
                self.backoff.reset();
                iterations_done += 1;
            }
            let end_reason = self.act_on(&record, has_unknown_format)?;
            self.end.note(record);
            if let Some(stopped_by) = end_reason {
                return Ok(stopped_by);
            }
        }
        if self.order.listing.is_some() {
            return Ok(StoppedBy::NotListed);
        }
        let max = self.order.iterations;
        self.post("ERROR", &format!("task failed: max restarts ({max}) exceeded"))?;
        Ok(StoppedBy::MaxIterations)
    }

    /// Records a run that was stopped from outside: its usage, and that it was not judged.
    fn record_stopped(&self, stopped_by: StoppedBy, run: &FinishedRun) -> Result<Record, Failure> {
        let mut request = self.request.clone();
        request.asker.force_reason = None;
        request.asker.acts = Vec::new();
        request.turn.outage = Some(outage::cancelled(stopped_by, run));
        request.turn.agent_exit_code = run.exit_code;
        request.checking.checks = Checks::None;
        self.gate.check_with(&Source::File(run.transcript.clone()), &request)
    }

    fn judge(&mut self, run: &FinishedRun) -> Result<JudgedRun, Failure> {
        let source = Source::File(run.transcript.clone());
        let mut request = self.request.clone();
        request.turn.done_file = self.task.is_done()?;
        request.turn.agent_exit_code = run.exit_code;
        // The operator may have approved other settings, or given a goal, since the loop began.
        let renewed_gate = self.gate.renewed_for(&request.asker)?;
        let gate = renewed_gate.as_ref().unwrap_or(self.gate);
        let judging = gate.read(&source, &request)?;
        let outage = outage::from_run(run, &judging.scan);
        let limited = judging.scan.effort.limited.as_ref();
        let resets_at = limited.and_then(|limited| limit_end(limited, &Zoned::now()));
        if let Some(outage) = outage {
            let counted = self.backoff.count_outage(outage, resets_at);
            request.turn.outage = Some(counted.outage);
            request.turn.retry_at = counted.retry_at;
        } else if let Some(listing) = &self.order.listing {
            request.turn.listing = Some(listing.read(gate, &judging)?);
        }
        let cancel = Cancellation::default();
        request.checking.cancel = cancel.clone();
        let record = self.conditions.run_cancellable(&cancel, || gate.judge(&judging, &request))?;
        Ok(JudgedRun { record, has_unknown_format: judging.scan.unknown_format })
    }

    /// The breaker, an operator or a spent budget already stops the loop. Then no agent is started,
    /// and a decision says why.
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
        self.end.last_record = Some(record);
        Ok(is_tripped)
    }

    /// Acts on a decision. Returns `None` if the loop goes on.
    fn act_on(
        &mut self,
        record: &Record,
        has_unknown_format: bool,
    ) -> Result<Option<StoppedBy>, Failure> {
        let verdict = record.decision.verdict;
        // A claim counts once: the agent has to repeat it after the next work.
        if verdict != Verdict::Exit {
            claim::withdraw(self.task)?;
        }
        let is_listed = self.note_listing(record)?;
        match verdict {
            Verdict::Exit => self.complete().map(Some),
            Verdict::Continue if is_listed => Ok(Some(StoppedBy::NothingOpen)),
            Verdict::Tripped => Ok(Some(StoppedBy::Tripped)),
            Verdict::Blocked => Ok(Some(StoppedBy::Blocked)),
            // The next output could not be read either.
            Verdict::Continue if has_unknown_format && !is_outage(record) => {
                self.end.problem = Some(UNKNOWN_FORMAT.to_owned());
                Ok(Some(StoppedBy::UnknownFormat))
            }
            Verdict::Continue => self.wait_out(record),
        }
    }

    /// Waits for the runs that the agent has started.
    fn complete(&mut self) -> Result<StoppedBy, Failure> {
        let timeout = self.order.children;
        let notice =
            reconcile::wait_for_children(self.task, timeout, &self.conditions, self.delegated)?;
        self.post(notice.kind, &notice.text)?;
        Ok(StoppedBy::Completed)
    }

    /// Sleeps until the next try, if the agent could not work.
    fn wait_out(&self, record: &Record) -> Result<Option<StoppedBy>, Failure> {
        let retry_at = record.retry_at.as_deref().and_then(|time| time.parse::<Timestamp>().ok());
        let Some(until) = retry_at else { return Ok(None) };
        let reasons = &record.decision.reasons;
        let reason = reasons.first().map_or("", |reason| reason.message.as_str());
        self.post("INFO", &format!("waiting until {until}: {reason}"))?;
        self.live.show(LoopEvent::Waits { until, reason });
        while Timestamp::now() < until {
            if let Some(stopped_by) = self.conditions.stop_reason() {
                return Ok(Some(stopped_by));
            }
            thread::sleep(watch::POLL_INTERVAL);
        }
        Ok(None)
    }

    /// Posts the end of the loop on the task's bus, unless another message already has.
    fn post_end(&self, stopped_by: StoppedBy) -> Result<(), Failure> {
        let kind = match stopped_by {
            StoppedBy::Completed | StoppedBy::MaxIterations => return Ok(()),
            StoppedBy::Cancelled | StoppedBy::StopRequested => "INFO",
            _ => "ERROR",
        };
        let last_record = self.end.last_record.as_ref();
        let reason = match stopped_by {
            StoppedBy::Tripped | StoppedBy::Blocked => {
                last_record.and_then(|record| record.decision.reasons.first())
            }
            _ => None,
        };
        let words = stopped_by.words();
        let detail = reason.map(|reason| format!(": {}", reason.message)).unwrap_or_default();
        self.post(kind, &format!("the loop ended, and the task is not done: {words}{detail}"))?;
        Ok(())
    }
}

/// A run with the decision on it.
struct JudgedRun {
    record: Record,
    /// The agent's output is of no known format.
    has_unknown_format: bool,
}

/// The agent could not work in this iteration.
fn is_outage(record: &Record) -> bool {
    let outage_codes = [ReasonCode::RateLimited, ReasonCode::AgentUnavailable];
    record.decision.input.observed.outage.is_some()
        && record.decision.reasons.iter().any(|reason| outage_codes.contains(&reason.code))
}

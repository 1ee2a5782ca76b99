//! `gate run`: the loop around an agent.
//!
//! Each iteration is a run with a folder of its own: a prompt with what is known,
//! the agent in a session of its own, gate over what it printed, and what was
//! missing in the next prompt. The loop ends when gate says so, and for no word
//! of the agent's.

mod attempt;
mod backoff;
mod claim;
mod delegated;
mod end;
mod handoff;
mod lease;
mod outage;
mod outside;
mod preset;
mod reconcile;
mod watch;

use std::fs::{File, TryLockError};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use gate_checks::CancellationToken;
use gate_core::Verdict;
use gate_core::decide::reason::ReasonCode;
use gate_core::protocol::bus::{Draft, Message};
use gate_core::protocol::run::RunInfo;
use jiff::Timestamp;

use crate::failure::Failure;
use crate::gate::Gate;
use crate::governance::{Heads, STARTING, Task, by_gate};
use crate::interrupt::Interrupt;
use crate::memory::{self, LoopEnd, StoppedBy};
use crate::record::Record;
use crate::request::{Checks, Request};
use crate::secrets;
use crate::source::Source;

use attempt::Attempt;
pub(crate) use attempt::Ran;
use backoff::Backoff;
pub(crate) use delegated::starts_runs;
pub(crate) use end::{End, RunRecord, WorkEnd};
pub(crate) use lease::keeping;
use outside::Outside;
pub(crate) use preset::{Allow, Project, Start, agents, start_of, word};
pub(crate) use watch::{Event, Live};

/// What is asked of a loop.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    /// The agent's program and its arguments; `{prompt}` stands for the prompt.
    pub(crate) argv: Vec<String>,
    /// The agent's name, such as `codex`, or its program's.
    pub(crate) agent: String,
    /// The agent's working folder.
    pub(crate) cwd: PathBuf,
    /// What the agent is asked to do.
    pub(crate) prompt: String,
    /// The most iterations.
    pub(crate) iterations: u64,
    /// How long one run may take.
    pub(crate) timeout: Option<Duration>,
    /// How long the loop may take.
    pub(crate) wall: Option<Duration>,
    /// How long an agent may print nothing.
    pub(crate) idle: Option<Duration>,
    /// How long runs that the agent has started are waited for at the end.
    pub(crate) children: Duration,
    /// How long an agent has to end after SIGTERM.
    pub(crate) grace: Duration,
    /// The run whose agent asks for this loop.
    pub(crate) parent: Option<RunInfo>,
    /// Ends the loop: the work that it is about is somebody else's.
    pub(crate) lost: CancellationToken,
    /// All of the agent's environment.
    pub(crate) environment: Vec<(String, String)>,
    /// The agent's command line, as it is shown, and what to know of what is allowed.
    pub(crate) shown: (String, Option<&'static str>),
    /// Whether the agent is given the prompt and the feedback alone.
    pub(crate) plain_prompt: bool,
    /// How the loop waits while the agent cannot work.
    pub(crate) backoff: gate_core::config::Backoff,
    /// The command that goes on with this loop.
    pub(crate) resume: Option<String>,
}

/// A loop that runs.
pub(crate) struct Loop<'l> {
    pub(crate) order: &'l Order,
    pub(crate) task: &'l Task,
    pub(crate) gate: &'l Gate,
    pub(crate) request: Request,
    pub(crate) supervisor: gate_checks::process::Supervisor,
    pub(crate) interrupt: &'l Interrupt,
    pub(crate) live: &'l dyn Live,
    outside: Outside<'l>,
    /// The loop's runs, by their ids.
    runs: Vec<String>,
    /// The last messages that an agent was told.
    heard: Heads,
    last: Option<Record>,
    /// What the last agent printed.
    transcript: Option<PathBuf>,
    /// What came of the runs that the last agent had delegated.
    delegated: watch::Delegated,
    backoff: Backoff,
    began: Instant,
    /// Why the agent could not be started.
    not_started: Option<String>,
}

impl<'l> Loop<'l> {
    pub(crate) fn new(
        order: &'l Order,
        task: &'l Task,
        (gate, request): (&'l Gate, Request),
        supervisor: gate_checks::process::Supervisor,
        (interrupt, live): (&'l Interrupt, &'l dyn Live),
    ) -> Self {
        let outside = Outside::of(task, interrupt, order);
        let (runs, heard) = (Vec::new(), Heads::default());
        let (last, transcript) = (None, None);
        let backoff = Backoff::new(order.backoff);
        Self {
            order,
            task,
            gate,
            request,
            supervisor,
            interrupt,
            live,
            outside,
            runs,
            heard,
            last,
            transcript,
            delegated: watch::Delegated::None,
            backoff,
            began: Instant::now(),
            not_started: None,
        }
    }

    /// Runs it to its end.
    ///
    /// # Errors
    ///
    /// Folders that cannot be written, a store that does not answer, another
    /// loop over the same task. No agent is left running.
    pub(crate) fn run(mut self) -> Result<End, Failure> {
        self.task.bus()?;
        let _alone = self.lock()?;
        reconcile::runs(self.task)?;
        let start = self.commit();
        self.request.began_at.clone_from(&start);
        let (command, note) = (self.order.shown.0.as_str(), self.order.shown.1);
        self.live.tell(Event::Starts { command, note });
        let by = match self.task.is_held()? {
            true => StoppedBy::StopRequested,
            false => self.iterate()?,
        };
        self.say_end(by)?;
        let handoff = self.hand_over(by, start.as_deref());
        let first = self.last.as_ref().and_then(|last| last.decision.reasons.first());
        let gave_up = first.is_some_and(|reason| reason.code == ReasonCode::BackoffLimit);
        let goes_on = by.goes_on() || gave_up;
        let end = End {
            by,
            handoff,
            transcript: self.transcript,
            work: None,
            runs: self.runs,
            last: self.last,
            duration: self.began.elapsed(),
            folder: self.task.folder(),
            not_started: self.not_started,
            resume: self.order.resume.clone().filter(|_| goes_on),
        };
        if let Some(mut memory) = self.gate.memory() {
            let last = end.last.as_ref();
            memory.loop_ended(&LoopEnd {
                run: last.and_then(|last| last.run.as_deref()).or(self.request.run.as_deref()),
                task: self.task.id(),
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
        if self.is_shut()? {
            return Ok(StoppedBy::Tripped);
        }
        if claim::withdraw(self.task)? {
            self.say("WARNING", claim::LEFT_OVER)?;
        }
        // Tries in which the agent could not work are no iterations.
        let mut worked = 0;
        while worked < self.order.iterations {
            if let Some(by) = self.outside.ends() {
                return Ok(by);
            }
            let iteration = worked + 1;
            let spent = self.last.as_ref().and_then(|last| last.decision.spent());
            let elapsed = self.began.elapsed();
            self.live.tell(Event::Begins { iteration, elapsed, spent: spent.as_ref() });
            let attempt = Attempt::begin(self)?;
            // Behind what the prompt tells of the bus.
            let restart = self.runs.len() - 1;
            self.say("INFO", &format!("{STARTING} (restart #{restart})"))?;
            let ran = attempt.run(self)?;
            self.transcript = Some(ran.transcript.clone());
            self.delegated = ran.delegated;
            self.live.tell(Event::Ended { iteration, ran: &ran });
            if ran.not_started {
                self.not_started = Some(ran.error);
                return Ok(StoppedBy::NotStarted);
            }
            if let Some(by) = stopped(&ran) {
                self.last = Some(self.note_stopped(by, &ran)?);
                return Ok(by);
            }
            let record = self.judge(&ran)?;
            self.live.tell(Event::Judged { iteration, record: &record });
            // What was cancelled says nothing of the work.
            if record.decision.verdict == Verdict::Continue
                && let Some(by) = self.outside.stops()
            {
                self.last = Some(record);
                return Ok(by);
            }
            if is_outage(&record) {
                self.backoff.failed();
            } else {
                self.backoff.worked();
                worked += 1;
            }
            let ended = self.after(&record)?;
            self.last = Some(record);
            if let Some(by) = ended {
                return Ok(by);
            }
        }
        let most = self.order.iterations;
        self.say("ERROR", &format!("task failed: max restarts ({most}) exceeded"))?;
        Ok(StoppedBy::MaxIterations)
    }

    /// Records a run that somebody ended: what it used, and that nobody judged it.
    fn note_stopped(&self, by: StoppedBy, ran: &Ran) -> Result<Record, Failure> {
        let request = Request {
            outage: Some(outage::cancelled(by, ran)),
            checks: Checks::None,
            agent_exit_code: ran.exit_code,
            forced: None,
            acts: Vec::new(),
            ..self.request.clone()
        };
        self.gate.check(&Source::File(ran.transcript.clone()), &request)
    }

    /// What gate says of a run. A `DONE` is a claim like any other, and taken away
    /// where it does not hold.
    fn judge(&mut self, ran: &Ran) -> Result<Record, Failure> {
        let source = Source::File(ran.transcript.clone());
        let done_file = self.task.is_done()?;
        let request = Request { agent_exit_code: ran.exit_code, done_file, ..self.request.clone() };
        // Settings that the operator approved meanwhile decide from now on.
        let renewed = self.gate.renewed()?;
        let gate = renewed.as_ref().unwrap_or(self.gate);
        let judging = gate.read(&source, &request)?;
        let outage = outage::of(ran, &judging.scan);
        let limited = judging.scan.effort.limited.as_ref();
        let resets_at = limited.and_then(|limited| limited.resets_at);
        let resets_at = resets_at.and_then(|at| Timestamp::from_second(at).ok());
        let (outage, retry_at) = match outage {
            Some(outage) => {
                let (outage, retry_at) = self.backoff.outage(outage, resets_at);
                (Some(outage), retry_at)
            }
            None => (None, None),
        };
        let cancel = CancellationToken::new();
        let request = Request { cancel: cancel.clone(), outage, retry_at, ..request };
        self.outside.cancels(&cancel, || gate.judge(&judging, &source, &request))
    }

    /// Whether the loop is stopped already, by its breaker, by an operator or because its
    /// budget is spent: then no agent is started, and gate's decision says why.
    fn is_shut(&mut self) -> Result<bool, Failure> {
        if self.request.forced.is_some() {
            return Ok(false);
        }
        let of =
            memory::Loop { run: self.request.run.as_deref(), task: self.request.task.as_deref() };
        let stops = self.gate.memory().map(|mut it| it.stops(&of, self.gate.policy()));
        if !stops.transpose()?.unwrap_or(false) {
            return Ok(false);
        }
        let record = self.gate.check(&Source::Message(String::new()), &self.request)?;
        let is_shut = record.decision.verdict == Verdict::Tripped;
        self.last = Some(record);
        Ok(is_shut)
    }

    /// What a decision means to the loop; none: it goes on.
    fn after(&mut self, record: &Record) -> Result<Option<StoppedBy>, Failure> {
        let verdict = record.decision.verdict;
        if verdict != Verdict::Exit {
            claim::withdraw(self.task)?;
        }
        match verdict {
            Verdict::Exit => self.complete().map(Some),
            Verdict::Tripped => Ok(Some(StoppedBy::Tripped)),
            Verdict::Blocked => Ok(Some(StoppedBy::Blocked)),
            Verdict::Continue => self.wait_out(record),
        }
    }

    /// The work is done: what the agent has started may end.
    fn complete(&mut self) -> Result<StoppedBy, Failure> {
        let (patience, were) = (self.order.children, self.delegated);
        let (kind, said) = reconcile::children(self.task, patience, self.interrupt, were)?;
        self.say(kind, &said)?;
        Ok(StoppedBy::Completed)
    }

    /// Sleeps until the agent is worth another try.
    fn wait_out(&self, record: &Record) -> Result<Option<StoppedBy>, Failure> {
        let Some(until) = record.retry_at.as_deref().and_then(|at| at.parse::<Timestamp>().ok())
        else {
            return Ok(None);
        };
        let why = record.decision.reasons.first().map_or("", |reason| reason.message.as_str());
        self.say("INFO", &format!("waiting until {until}: {why}"))?;
        self.live.tell(Event::Waits { until, why });
        while Timestamp::now() < until {
            if let Some(by) = self.outside.ends() {
                return Ok(Some(by));
            }
            thread::sleep(watch::TICK);
        }
        Ok(None)
    }

    /// Says on the task's bus how the loop ended, if nobody said so before.
    fn say_end(&self, by: StoppedBy) -> Result<(), Failure> {
        let kind = match by {
            StoppedBy::Completed | StoppedBy::MaxIterations => return Ok(()),
            StoppedBy::Cancelled | StoppedBy::StopRequested => "INFO",
            _ => "ERROR",
        };
        let reasons = self.last.as_ref().map(|last| last.decision.reasons.as_slice());
        let why = match by {
            StoppedBy::Tripped | StoppedBy::Blocked => reasons.unwrap_or_default().first(),
            _ => None,
        };
        let why = why.map(|why| format!(": {}", why.message)).unwrap_or_default();
        self.say(kind, &format!("the loop ended, and the task is not done: {}{why}", by.words()))?;
        Ok(())
    }

    /// Says something on the task's bus.
    fn say(&self, kind: &str, body: &str) -> Result<Message, Failure> {
        self.task.bus()?.append(Draft { body: secrets::masked(body), ..by_gate(kind, self.task) })
    }

    /// One loop a task.
    fn lock(&self) -> Result<File, Failure> {
        let path = self.task.folder().join(LOCK);
        let failed = |error: &std::io::Error| {
            Failure::internal(
                "folder-unwritable",
                format!("cannot lock {}: {error}", path.display()),
            )
        };
        let file =
            File::options().create(true).append(true).open(&path).map_err(|it| failed(&it))?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(TryLockError::WouldBlock) => {
                let message = format!("another loop runs over the task {}", self.task.id());
                Err(Failure::usage("task-running", message).hint("gate stop ends it"))
            }
            Err(TryLockError::Error(error)) => Err(failed(&error)),
        }
    }
}

/// The file whose lock says that a loop runs over the task.
const LOCK: &str = ".gate-loop.lock";

/// Why no more is tried, whatever gate would say.
fn stopped(ran: &Ran) -> Option<StoppedBy> {
    // Where the time is over the work may be done all the same.
    ran.interrupted.filter(|by| *by != StoppedBy::BudgetWall)
}

/// Whether the agent could not work in this iteration.
fn is_outage(record: &Record) -> bool {
    let outage = [ReasonCode::RateLimited, ReasonCode::AgentUnavailable];
    record.decision.observed.outage.is_some()
        && record.decision.reasons.iter().any(|reason| outage.contains(&reason.code))
}

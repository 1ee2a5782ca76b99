//! `gate run`: the loop around an agent.
//!
//! Each iteration is a run with a folder of its own: a prompt with what is known,
//! the agent in a session of its own, gate over what it printed, and what was
//! missing in the next prompt. The loop ends when gate says so, and for no word
//! of the agent's.

mod attempt;
mod claim;
mod delegated;
mod end;
mod handoff;
mod lease;
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
use gate_core::protocol::bus::{Draft, Message};
use gate_core::protocol::run::RunInfo;
use jiff::Timestamp;

use crate::failure::Failure;
use crate::gate::Gate;
use crate::governance::{Heads, STARTING, Task, by_gate};
use crate::interrupt::Interrupt;
use crate::memory;
use crate::record::Record;
use crate::request::Request;
use crate::secrets;
use crate::source::Source;

use attempt::Attempt;
pub(crate) use attempt::{IN_RUN, Ran};
pub(crate) use delegated::starts_runs;
pub(crate) use end::{End, RunRecord, StoppedBy, WorkEnd};
pub(crate) use lease::keeping;
use outside::Outside;
pub(crate) use outside::cancelled;
pub(crate) use preset::command_of;
pub(crate) use watch::Live;

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
        }
    }

    /// Runs it to its end.
    ///
    /// # Errors
    ///
    /// Folders that cannot be written, a store that does not answer, another
    /// loop over the same task. No agent is left running.
    pub(crate) fn run(mut self) -> Result<End, Failure> {
        let began = Instant::now();
        self.task.bus()?;
        let _alone = self.lock()?;
        reconcile::runs(self.task)?;
        let start = self.commit();
        self.request.began_at.clone_from(&start);
        let by = match self.task.is_held()? {
            true => StoppedBy::StopRequested,
            false => self.iterate()?,
        };
        self.say_end(by)?;
        let handoff = self.hand_over(by, start.as_deref());
        Ok(End {
            by,
            handoff,
            transcript: self.transcript,
            work: None,
            runs: self.runs,
            last: self.last,
            duration: began.elapsed(),
            folder: self.task.folder(),
        })
    }

    fn iterate(&mut self) -> Result<StoppedBy, Failure> {
        if self.is_shut()? {
            return Ok(StoppedBy::Tripped);
        }
        if claim::withdraw(self.task)? {
            self.say("WARNING", claim::LEFT_OVER)?;
        }
        for iteration in 1..=self.order.iterations {
            if let Some(by) = self.outside.ends() {
                return Ok(by);
            }
            let attempt = Attempt::begin(self)?;
            // Behind what the prompt tells of the bus.
            let restart = iteration - 1;
            self.say("INFO", &format!("{STARTING} (restart #{restart})"))?;
            let ran = attempt.run(self)?;
            self.transcript = Some(ran.transcript.clone());
            self.delegated = ran.delegated;
            self.live.ended(iteration, &ran);
            if let Some(by) = self.stopped(&ran) {
                return Ok(by);
            }
            let record = self.judge(&ran)?;
            self.live.judged(iteration, &record);
            // What was cancelled says nothing of the work.
            if record.decision.verdict == Verdict::Continue
                && let Some(by) = self.outside.stops()
            {
                self.last = Some(record);
                return Ok(by);
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

    /// Why no more is tried, whatever gate would say.
    fn stopped(&self, ran: &Ran) -> Option<StoppedBy> {
        match ran.interrupted {
            // The work may be done all the same.
            Some(StoppedBy::BudgetWall) => None,
            Some(by) => Some(by),
            None if ran.not_started => Some(StoppedBy::NotStarted),
            None => None,
        }
    }

    /// What gate says of a run. A `DONE` is a claim like any other, and taken away
    /// where it does not hold.
    fn judge(&mut self, ran: &Ran) -> Result<Record, Failure> {
        let done_file = self.task.is_done()?;
        let request = Request { agent_exit_code: ran.exit_code, done_file, ..self.request.clone() };
        self.check(&Source::File(ran.transcript.clone()), &request)
    }

    fn check(&self, source: &Source, request: &Request) -> Result<Record, Failure> {
        let cancel = CancellationToken::new();
        let request = Request { cancel: cancel.clone(), ..request.clone() };
        self.outside.cancels(&cancel, || self.gate.check(source, &request))
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

    /// Sleeps a limit out whose end is known.
    fn wait_out(&self, record: &Record) -> Result<Option<StoppedBy>, Failure> {
        let Some(until) = record.retry_at.as_deref().and_then(|at| at.parse::<Timestamp>().ok())
        else {
            return Ok(None);
        };
        self.say("INFO", &format!("waiting for a limit to end, at {until}"))?;
        self.live.waits(until);
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

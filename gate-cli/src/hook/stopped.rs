//! One stop of an agent, judged.

use std::io::Write;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anstream::stderr;
use gate_core::decide::policy::{Judge, When};
use gate_core::decide::signal::Status;
use gate_core::decide::stop::Stop;
use gate_core::read::Forced;
use gate_core::{Scan, Verdict as Ruling};

use super::{Event, Lag, Latest, Said, asks, client, why};
use crate::agent::Agent;
use crate::commands::Here;
use crate::failure::Failure;
use crate::gate::{Gate, Judging};
use crate::governance::{Caller, Runs};
use crate::memory::{Memory, NotJudged};
use crate::record::Record;
use crate::render;
use crate::request::Request;
use crate::runner::IN_RUN;
use crate::settings::{self, Selection};
use crate::source::Source;

/// What is left of the deadline for gate's own work beside checks.
const MARGIN: Duration = Duration::from_secs(2);

/// How long a transcript is waited for that is behind its client.
const PATIENCE: Duration = Duration::from_secs(2);

/// The longest that a store is waited for.
const PATIENCE_OF_STORE: Duration = Duration::from_secs(10);

/// How often it is looked at.
const AGAIN: Duration = Duration::from_millis(20);

/// One stop of an agent.
pub(crate) struct Stopped<'s> {
    pub(crate) agent: Agent,
    /// What its client said, and what that means.
    pub(crate) said: Said<'s>,
    pub(crate) event: Event,
    /// When the hook was called.
    pub(crate) began: Instant,
    /// How long it may take.
    pub(crate) deadline: Duration,
}

/// What is said to the client.
pub(crate) enum Verdict {
    /// The work is done: the agent may stop.
    Done,
    /// The stop was none to be judged: the agent may stop.
    NotJudged,
    /// The agent has to go on: what it is told.
    Refused(String),
    /// The agent may stop, and the work is not done: what the person is told.
    LetGo(String),
}

impl Stopped<'_> {
    /// Judges it where it is to be judged. What comes of it is recorded.
    ///
    /// # Errors
    ///
    /// Settings that cannot be used, a transcript that is not there, a store
    /// that cannot be written: nothing was decided.
    pub(crate) fn judge(&self, here: &Here) -> Result<Verdict, Failure> {
        let (settings, trust) = settings::read(&here.places, &Selection::default())?;
        let mut memory = here.memory_under(&trust, &settings.policy, self.patience())?;
        if memory.switch()?.off {
            return Ok(Verdict::NotJudged);
        }
        let never = settings.policy.hook.judge == Judge::Never;
        let not_judged = self.event.not_judged.or(never.then_some(why::NEVER));
        let in_run = || is_in_run(here).then_some(why::IN_RUN);
        if let Some(why) = not_judged.or_else(in_run) {
            return self.let_go(&mut memory, why);
        }
        let gate = Gate::open(settings, here.site()?)?.at(When::Hook).remembering(memory);
        let gate = gate.trusting(trust)?;
        let request = self.request();
        let (source, judging) = self.read(&gate, &request)?;
        if let Some(why) = self.exempt(&gate, &judging.scan, (&source, &request))? {
            let let_go = gate.memory().map(|mut memory| self.let_go(&mut memory, why));
            let let_go = let_go.transpose()?.unwrap_or(Verdict::NotJudged);
            // It was refused, and ends without being done.
            let is_undone = why == why::HELD_QUESTION;
            return Ok(if is_undone { Verdict::LetGo(format!("gate: {why}")) } else { let_go });
        }
        let request = Request { deadline: Some(self.time_left()), ..request };
        let record = gate.judge(&judging, &source, &request)?;
        self.go_on(&gate, &record, (&source, &request));
        Ok(said(self.agent, record))
    }

    /// The session may go on after an `exit`: what was accepted is what its next run
    /// is compared with. Where that cannot be had, it is compared with what was before.
    fn go_on(&self, gate: &Gate, record: &Record, asked: (&Source, &Request)) {
        let until = Instant::now() + self.time_left();
        if let Err(failure) = gate.keep_accepted(record, asked, until) {
            let why = render::message(&failure);
            let _ = writeln!(stderr().lock(), "gate: no baseline of what was accepted: {why}");
        }
    }

    fn let_go(&self, memory: &mut Memory, why: &str) -> Result<Verdict, Failure> {
        let session = self.event.run();
        let agent = self.agent.name();
        memory.not_judged(&NotJudged { agent, session: session.as_deref(), why })?;
        Ok(Verdict::NotJudged)
    }

    fn request(&self) -> Request {
        Request {
            format: self.agent.name().parse::<Forced>().ok(),
            end_only: self.event.said.is_some(),
            run: self.event.run(),
            stop: Some(Stop {
                agent: self.agent.name().to_owned(),
                prompt: self.event.prompt.clone(),
                background: self.event.background.clone(),
            }),
            ..Request::default()
        }
    }

    /// How long a store is waited for: at most twice in a stop, beside its checks.
    fn patience(&self) -> Duration {
        PATIENCE_OF_STORE.min(self.deadline / 8)
    }

    /// How long checks may be waited for.
    fn time_left(&self) -> Duration {
        let margin = MARGIN.min(self.deadline / 4);
        self.deadline.saturating_sub(self.began.elapsed() + margin)
    }

    /// Reads the agent's last word. Where the client tells it, it counts: a
    /// transcript may be written later. The transcript then tells the rest,
    /// such as what was used.
    fn read(&self, gate: &Gate, request: &Request) -> Result<(Source, Judging), Failure> {
        // A client that tells neither leaves evidence alone to decide.
        let silence = || self.event.transcript.is_none().then(String::new);
        let Some(said) = &self.event.said.clone().or_else(silence) else {
            return self.read_settled(gate, request);
        };
        let told = self.read_transcript(gate, request).ok().flatten();
        match told {
            Some((judging, file)) if same(&judging.scan.said, said) => Ok((file, judging)),
            told => {
                let source = Source::Message(said.clone());
                let request = Request { format: "text".parse().ok(), ..request.clone() };
                let message = gate.read(&source, &request)?;
                let told = told.map(|(told, _)| told.scan.transcript);
                Ok((source, message.beside(told)))
            }
        }
    }

    /// Reads the transcript once it is no longer behind its client.
    fn read_settled(&self, gate: &Gate, request: &Request) -> Result<(Source, Judging), Failure> {
        let until = Instant::now() + PATIENCE.min(self.deadline / 4);
        loop {
            // What the client had written before it is read: what it writes meanwhile
            // says nothing of what was read.
            let latest = Latest::of(self.event.transcript.as_deref().unwrap_or(Path::new("")));
            let read = self.read_transcript(gate, request)?;
            let lag = read.as_ref().map_or(Lag::Sure, |(read, _)| {
                (client(self.agent).lag)(&self.said, &latest, &read.scan.said)
            });
            match (read, lag) {
                (Some((judging, file)), Lag::None) => return Ok((file, judging)),
                (read, lag) if Instant::now() >= until => {
                    let read = read.filter(|_| lag < Lag::Sure).ok_or_else(|| self.unread())?;
                    return Ok((read.1, read.0));
                }
                _ => thread::sleep(AGAIN),
            }
        }
    }

    /// Reads the transcript; none where there is none, or a file of another kind.
    fn read_transcript(
        &self,
        gate: &Gate,
        request: &Request,
    ) -> Result<Option<(Judging, Source)>, Failure> {
        let path = self.event.transcript.clone().filter(|path| path.is_file());
        let Some(file) = path.map(Source::File) else { return Ok(None) };
        let judging = gate.read(&file, request)?;
        Ok(is_a_record(&judging.scan).then_some((judging, file)))
    }

    fn unread(&self) -> Failure {
        let message = match &self.event.transcript {
            Some(path) => format!("{} holds no transcript of this stop", path.display()),
            None => "there is no transcript of the session".to_owned(),
        };
        Failure::usage("transcript-missing", message)
    }

    /// Why the stop is let go without being judged: an interactive turn in which
    /// nothing was done or claimed, or one that waits for the person.
    fn exempt(
        &self,
        gate: &Gate,
        scan: &Scan,
        (source, request): (&Source, &Request),
    ) -> Result<Option<&'static str>, Failure> {
        let claims = scan.signal.status != Status::Absent || !scan.hits.is_empty();
        let headless = (client(self.agent).is_headless)(&self.said);
        // Nobody answers a question there, and it would be a way out.
        if claims || headless == Some(true) {
            return Ok(None);
        }
        let name = request.run.as_deref().zip(gate.memory());
        let run = name.map(|(name, mut memory)| memory.run_of(name)).transpose()?.flatten();
        let run = run.unwrap_or_default();
        // What was refused is judged until it is done or let go.
        let is_held =
            request.stop.as_ref().is_some_and(|stop| run.refusals.before(stop).blocks > 0);
        if asks(&scan.said) {
            return Ok(Some(if is_held { why::HELD_QUESTION } else { why::QUESTION }));
        }
        let always = gate.policy().hook.judge == Judge::Always;
        let is_idle = || gate.has_changed(source, run.tree.as_ref()) == Some(false);
        let is_idle = !always && !is_held && is_idle();
        Ok(is_idle.then_some(why::NOTHING_DONE))
    }
}

/// Whether this is an agent of a run: the loop around it asks gate itself. Where
/// that cannot be told, it is none.
fn is_in_run(here: &Here) -> bool {
    let Some(id) = here.places.variable(IN_RUN) else { return false };
    let look = || {
        let project = Runs::here(&here.places)?;
        let caller = Caller::of_process(&project)?;
        let named = project.run(id)?.map(|run| run.info()).transpose()?;
        Ok::<_, Failure>((caller.run.is_some(), named.is_some_and(|info| info.pid == 0)))
    };
    let until = Instant::now() + PATIENCE;
    loop {
        match look() {
            // The record of a run that has just begun does not name its agent yet.
            Ok((false, true)) if Instant::now() < until => thread::sleep(AGAIN),
            seen => return seen.is_ok_and(|(is_agent, _)| is_agent),
        }
    }
}

/// What is said to the client of a decision.
fn said(agent: Agent, record: Record) -> Verdict {
    match record.decision.verdict {
        Ruling::Exit => Verdict::Done,
        Ruling::Continue => Verdict::Refused(record.decision.feedback),
        Ruling::Tripped | Ruling::Blocked => {
            Verdict::LetGo(render::let_go(agent.name(), &record.decision))
        }
    }
}

/// Whether records of the agent were found. A file of another kind says nothing.
fn is_a_record(scan: &Scan) -> bool {
    scan.transcript.format.as_deref().is_some_and(|format| format != "text")
}

/// Whether both say the same, white space apart.
fn same(one: &str, other: &str) -> bool {
    one.split_whitespace().eq(other.split_whitespace())
}

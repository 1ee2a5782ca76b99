//! One stop of an agent, judged.

use std::io::Write;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anstream::stderr;
use gate_core::decide::evidence::Outcome;
use gate_core::decide::notice::Notice;
use gate_core::decide::policy::{HookSignal, Judge, Mode, Subagents, When};
use gate_core::decide::situation::{Course, Owed, Released, Situation, Work};
use gate_core::decide::stop::Stop;
use gate_core::read::Forced;
use gate_core::{Decision, Policy, Scan, Verdict as Ruling};

use super::session::{self, Session};
use super::{Event, Lag, Latest, Said, Surroundings, asks, client, why};
use crate::agent::{Agent, IN_RUN};
use crate::context::Here;
use crate::failure::Failure;
use crate::gate::{Gate, Judging};
use crate::governance::{Caller, Runs};
use crate::memory::{Memory, NotJudged};
use crate::record::Record;
use crate::render;
use crate::request::{Checks, Request};
use crate::settings::Selection;
use crate::source::Source;
use crate::trust;

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

/// What the client is answered.
pub(crate) enum Verdict {
    /// The agent may stop, and nobody has to be told.
    Done,
    /// The agent may stop; what the person is told.
    Told(String),
    /// The agent has to go on: what it is told.
    Refused(String),
    /// The agent may stop, and the work is not done: what the person is told.
    LetGo(String),
}

impl Verdict {
    /// One answer for several projects: whatever refuses comes first, then what the
    /// person has to know.
    pub(crate) fn of_all(all: Vec<Self>) -> Self {
        let (mut refused, mut undone, mut told) = (Vec::new(), Vec::new(), Vec::new());
        for verdict in all {
            match verdict {
                Self::Done => {}
                Self::Told(message) => told.push(message),
                Self::Refused(reason) => refused.push(reason),
                Self::LetGo(message) => undone.push(message),
            }
        }
        if !refused.is_empty() {
            Self::Refused(refused.join("\n\n"))
        } else if !undone.is_empty() {
            Self::LetGo(undone.join("\n"))
        } else if !told.is_empty() {
            Self::Told(told.join("\n"))
        } else {
            Self::Done
        }
    }
}

impl Stopped<'_> {
    /// Judges it if it is to be judged, and records what comes of it.
    ///
    /// # Errors
    ///
    /// Settings that cannot be used, a transcript that is not there, a store that
    /// cannot be written: nothing was decided.
    pub(crate) fn judge(
        &self,
        here: &Here,
        around: Option<&mut Surroundings>,
    ) -> Result<Verdict, Failure> {
        let (settings, trust) = trust::settings_in_force(&here.places, &Selection::default())?;
        let mut memory = here.memory_under(&trust, &settings.policy, self.patience())?;
        if memory.switch()?.off {
            return Ok(Verdict::Done);
        }
        let hook = settings.policy.hook;
        let not_judged = self
            .event
            .not_judged
            .filter(|why| *why != why::SUB_AGENT || hook.subagents == Subagents::Never);
        let not_judged = not_judged.or((hook.judge == Judge::Never).then_some(why::NEVER));
        let in_run = || is_in_run(here).then_some(why::IN_RUN);
        if let Some(why) = not_judged.or_else(in_run) {
            self.let_go(&mut memory, why)?;
            return Ok(Verdict::Done);
        }
        let whole = settings.policy.clone();
        let gate =
            Gate::open(settings, here.site_under(&trust)?)?.at(When::Hook).remembering(memory);
        let gate = gate.trusting(trust)?;
        let (source, judging, acted) = self.read(&gate, &self.request())?;
        let request =
            self.request_for(&gate, &whole, (&source, &judging, acted), around.as_deref())?;
        let request = self.named(&gate, request, (&source, &judging));
        let record = gate.judge(&judging, &source, &request)?;
        self.go_on(&gate, &record, (&source, &request));
        if let Some(session) = around.and_then(|around| around.session.as_mut()) {
            owe(session, &gate.place().project, &record.decision);
        }
        Ok(self.with_settings(self.answer(here, &record), here, &record.decision))
    }

    /// The answer, with what the person is told, once a session, of settings that are
    /// not the approved ones. An agent that is refused is told of them itself.
    fn with_settings(&self, verdict: Verdict, here: &Here, decision: &Decision) -> Verdict {
        let changed = decision.settings_changed.as_ref();
        let changed = changed.filter(|_| !matches!(verdict, Verdict::Refused(_)));
        let is_news = |changed: &&String| {
            let session = self.event.session.as_deref().unwrap_or("");
            let what = format!("{session} {changed}");
            session::is_news_here(here.places.state.as_deref(), &here.places.top(), &what)
        };
        let Some(changed) = changed.filter(is_news) else { return verdict };
        let both = |message: String| format!("{message}\ngate: {changed}");
        match verdict {
            Verdict::Done => Verdict::Told(format!("gate: {changed}")),
            Verdict::Told(message) => Verdict::Told(both(message)),
            Verdict::LetGo(message) => Verdict::LetGo(both(message)),
            Verdict::Refused(_) => verdict,
        }
    }

    /// The request, with what the stop comes after.
    fn request_for(
        &self,
        gate: &Gate,
        whole: &Policy,
        (source, judging, acted): (&Source, &Judging, Option<bool>),
        around: Option<&Surroundings>,
    ) -> Result<Request, Failure> {
        let request = self.request();
        let situation = self.situation(gate, whole, (source, judging, acted), around)?;
        let course = situation.course(judging.scan.signal.status);
        let others_files = match (course, around) {
            (Course::Release, _) | (_, None) => Vec::new(),
            (_, Some(around)) => around.others_files(self.event.transcript.as_deref()),
        };
        let budget = Duration::from_millis(gate.policy().hook.budget_ms);
        Ok(Request {
            stop: request.stop.map(|stop| Stop { situation: Some(situation), ..stop }),
            checks: match course {
                Course::Release => Checks::None,
                Course::Look => Checks::All,
                Course::Decide => Checks::Lazy,
            },
            shared: course == Course::Look,
            others_files,
            deadline: Some(self.time_left().min(budget)),
            until: Instant::now().checked_add(self.time_left()),
            ..request
        })
    }

    fn situation(
        &self,
        gate: &Gate,
        whole: &Policy,
        (source, judging, acted): (&Source, &Judging, Option<bool>),
        around: Option<&Surroundings>,
    ) -> Result<Situation, Failure> {
        let policy = gate.policy();
        let session = around.and_then(|around| around.session.as_ref());
        let known = around.and_then(|around| around.work(policy));
        let work = match (acted, known) {
            (Some(false), _) => Work::None,
            (_, Some(work)) => work,
            (_, None) => {
                let run = self.request().run;
                let named = run.as_deref().zip(gate.memory());
                let run =
                    named.map(|(name, mut memory)| memory.run_of(name)).transpose()?.flatten();
                let was = run.and_then(|run| run.tree);
                let transcript = self.event.transcript.as_deref();
                let has_committed = acted == Some(true)
                    && around.is_none_or(|around| around.has_committed(transcript));
                let is_same = gate.has_changed(source, was.as_ref()) == Some(false);
                let is_idle = is_same && !has_committed;
                if is_idle { Work::None } else { Work::Changed }
            }
        };
        let owed = session.and_then(|session| session.kept.owed.get(&gate.place().project));
        let elsewhere = whole.checks.iter().filter(|(name, check)| {
            check.mode == Mode::Require && !policy.checks.contains_key(*name)
        });
        let needs_exit = policy.hook.signal == HookSignal::Require
            || session.is_some_and(|session| session.kept.needs_exit);
        Ok(Situation {
            headless: (client(self.agent).is_headless)(&self.said) == Some(true),
            needs_exit: needs_exit && self.event.not_judged.is_none(),
            work,
            owed: owed.map(|red| Owed { red: red.clone() }),
            asks: asks(&judging.scan.said),
            always: policy.hook.judge == Judge::Always,
            elsewhere: elsewhere.map(|(name, _)| name.clone()).collect(),
            failures: Vec::new(),
        })
    }

    /// What the client is answered on a decision.
    fn answer(&self, here: &Here, record: &Record) -> Verdict {
        let decision = &record.decision;
        match (decision.verdict, decision.released) {
            (Ruling::Exit, _) => Verdict::Done,
            (Ruling::Continue, None) => Verdict::Refused(decision.feedback.clone()),
            (Ruling::Tripped | Ruling::Blocked, _) => {
                Verdict::LetGo(render::let_go(self.agent.name(), decision))
            }
            (Ruling::Continue, Some(released)) => {
                let message = render::released(self.agent.name(), decision);
                match (self.is_worth(here, decision, &message), released) {
                    (false, _) => Verdict::Done,
                    (true, Released::Green) => Verdict::Told(message),
                    (true, Released::Red | Released::NotRun) => Verdict::LetGo(message),
                }
            }
        }
    }

    /// Whether the person is told of a release: some things are said once.
    fn is_worth(&self, here: &Here, decision: &Decision, message: &str) -> bool {
        let state = here.places.state.as_deref();
        let Ok(project) = here.places.project() else { return true };
        match decision.notice() {
            Notice::Silent => false,
            Notice::Always => true,
            Notice::OncePerProject => session::is_news_here(state, &project, message),
            Notice::OncePerSession => {
                // Not the message itself: it names a time, which differs.
                let what = format!("{} {}", self.event.session.as_deref().unwrap_or(""), "late");
                session::is_news_here(state, &project, &what)
            }
        }
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

    fn let_go(&self, memory: &mut Memory, why: &str) -> Result<(), Failure> {
        let session = self.event.run();
        let agent = self.agent.name();
        memory.not_judged(&NotJudged { agent, session: session.as_deref(), why })
    }

    fn request(&self) -> Request {
        Request {
            format: self.agent.name().parse::<Forced>().ok(),
            end_only: self.event.said.is_some(),
            run: self.event.run(),
            session: self.event.run(),
            stop: Some(Stop {
                agent: self.agent.name().to_owned(),
                prompt: self.event.prompt.clone(),
                background: self.event.background.clone(),
                situation: None,
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

    /// Reads the agent's last word, and whether it used a tool since the person's
    /// prompt where the transcript tells. A last word that the client sends counts: a
    /// transcript may be written later, and then tells the rest alone.
    fn read(
        &self,
        gate: &Gate,
        request: &Request,
    ) -> Result<(Source, Judging, Option<bool>), Failure> {
        // A client that sends neither leaves evidence alone to decide.
        let silence = || self.event.transcript.is_none().then(String::new);
        let Some(said) = &self.event.said.clone().or_else(silence) else {
            let (source, judging) = self.read_settled(gate, request)?;
            let acted = judging.scan.acted;
            return Ok((source, judging, Some(acted)));
        };
        match self.read_transcript(gate, request).ok().flatten() {
            Some((judging, file)) if same(&judging.scan.said, said) => {
                let acted = judging.scan.acted;
                Ok((file, judging, Some(acted)))
            }
            told => {
                let source = Source::Message(said.clone());
                let request = Request { format: "text".parse().ok(), ..request.clone() };
                let message = gate.read(&source, &request)?;
                let told = told.map(|(told, _)| told.scan);
                Ok((source, message.beside(told), None))
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
}

/// Remembers what a session owes after a stop.
fn owe(session: &mut Session, project: &Path, decision: &Decision) {
    let red = || {
        let situation = decision.situation();
        let named = situation.into_iter().flat_map(|it| &it.failures).flat_map(|it| &it.own);
        let named: Vec<_> = named.cloned().collect();
        let failed = decision.evidence.iter().filter(|it| it.outcome == Outcome::Fail);
        if named.is_empty() { failed.map(|it| it.check.clone()).collect() } else { named }
    };
    let is_done = decision.verdict == Ruling::Exit;
    let has_run = !decision.evidence.is_empty();
    match decision.released {
        Some(Released::Green) => drop(session.kept.owed.remove(project)),
        _ if is_done => drop(session.kept.owed.remove(project)),
        _ if has_run => drop(session.kept.owed.insert(project.to_owned(), red())),
        _ => {
            let is_changed = decision.situation().is_some_and(|it| it.work == Work::Changed);
            if is_changed {
                session.kept.owed.entry(project.to_owned()).or_default();
            }
        }
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

/// Whether records of the agent were found. A file of another kind says nothing.
fn is_a_record(scan: &Scan) -> bool {
    scan.transcript.format.as_deref().is_some_and(|format| format != "text")
}

/// Whether both say the same, white space apart.
fn same(one: &str, other: &str) -> bool {
    one.split_whitespace().eq(other.split_whitespace())
}

//! Judges a stop of an agent.

use std::io::Write;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use anstream::stderr;
use gate_core::decide::elsewhere::WorkElsewhere;
use gate_core::decide::notice::Notice;
use gate_core::decide::policy::{HookSignal, Judge, Mode, Subagents, When};
use gate_core::decide::question::asks_person;
use gate_core::decide::situation::{Course, Owed, Released, Situation, Work};
use gate_core::decide::stop::Stop;
use gate_core::text::brief;
use gate_core::{Decision, Policy, Verdict};
use gate_transcript::Forced;

use super::helper::only_looked;
use super::owed;
use super::session::{self, Session};
use super::{ClientStart, Event, Payload, TurnContext, not_judged};
use crate::agent::{Agent, IN_RUN};
use crate::context::Here;
use crate::failure::Failure;
use crate::gate::{Gate, Judging, may_be_news};
use crate::governance::{Caller, Runs};
use crate::memory::{Memory, NotJudged};
use crate::notify::{self, Notifier};
use crate::record::Record;
use crate::render;
use crate::request::{Checks, Request};
use crate::settings::Selection;
use crate::source::Source;
use crate::trust;

/// Time of the deadline that checks leave for gate's own work.
const MARGIN: Duration = Duration::from_secs(2);

/// Wait for a transcript, or a run's record, that is behind.
const LAG_TIMEOUT: Duration = Duration::from_secs(2);

const STORE_TIMEOUT: Duration = Duration::from_secs(10);

/// The longest text of a wake-up, in characters.
const MAX_WAKE_UP_CHARS: usize = 80;

const POLL_INTERVAL: Duration = Duration::from_millis(20);

pub(crate) struct AgentStop<'s> {
    pub(crate) agent: Agent,
    pub(crate) payload: Payload<'s>,
    pub(crate) event: Event,
    pub(crate) start: ClientStart,
    pub(crate) hook_called_at: Instant,
    /// Time that the hook may take, from its call.
    pub(crate) deadline: Duration,
}

/// The answer to the client.
pub(crate) enum StopReply {
    /// The agent may stop.
    Allow,
    /// The agent may stop. The person gets this message.
    Notice(String),
    /// The agent may stop: it waits for what starts it again.
    Pause,
    /// The agent has to go on, for this reason.
    Refuse(String),
    /// The agent may stop, but the work is not done. The person gets this message.
    LetGo(String),
}

impl StopReply {
    /// One reply for several projects. A refusal wins over everything else, and unfinished
    /// work over notices.
    pub(crate) fn combine(replies: Vec<Self>) -> Self {
        let (mut refusals, mut undone, mut notices) = (Vec::new(), Vec::new(), Vec::new());
        let mut is_pause = false;
        for reply in replies {
            match reply {
                Self::Allow => {}
                Self::Pause => is_pause = true,
                Self::Notice(message) => notices.push(message),
                Self::Refuse(reason) => refusals.push(reason),
                Self::LetGo(message) => undone.push(message),
            }
        }
        if !refusals.is_empty() {
            Self::Refuse(refusals.join("\n\n"))
        } else if !undone.is_empty() {
            Self::LetGo(undone.join("\n"))
        } else if !notices.is_empty() {
            Self::Notice(notices.join("\n"))
        } else if is_pause {
            Self::Pause
        } else {
            Self::Allow
        }
    }

    /// Adds a message for the person. A refusal stays as it is.
    fn with_notice(self, notice: &str) -> Self {
        match self {
            Self::Allow | Self::Pause => Self::Notice(notice.to_owned()),
            Self::Notice(message) => Self::Notice(format!("{message}\n{notice}")),
            Self::LetGo(message) => Self::LetGo(format!("{message}\n{notice}")),
            Self::Refuse(reason) => Self::Refuse(reason),
        }
    }
}

impl AgentStop<'_> {
    /// Judges the stop, unless the event or the settings forbid it, and records the
    /// outcome.
    ///
    /// Fails on settings that cannot be used, a transcript that is missing, and a store
    /// that cannot be written. Then nothing was decided.
    pub(crate) fn judge(
        &self,
        here: &Here,
        turn: Option<&mut TurnContext>,
        elsewhere: &[WorkElsewhere],
    ) -> Result<StopReply, Failure> {
        let (settings, trust) = trust::settings_in_force(&here.places, &Selection::default())?;
        let mut memory = here.memory_within(&trust, &settings.policy, self.store_timeout())?;
        if memory.switch()?.off {
            return Ok(StopReply::Allow);
        }
        if let Some(why) = self.reason_not_to_judge(here, &settings.policy, turn.as_deref()) {
            self.record_not_judged(&mut memory, why)?;
            return Ok(StopReply::Allow);
        }
        let whole_policy = settings.policy.clone();
        // A bad place for messages must not prevent a verdict; `gate doctor` reports it.
        let notifier = Notifier::new(here, &settings, &trust).ok().flatten();
        let gate =
            Gate::open(settings, here.site_under(&trust)?)?.at(When::Hook).remembering(memory);
        let gate = gate.trusting(trust)?;
        let (source, judging, acted) = self.read(&gate, &self.base_request())?;
        let request =
            self.request(&gate, &whole_policy, (&source, &judging, acted), turn.as_deref())?;
        let request = Request { elsewhere: Some(elsewhere.to_vec()), ..request };
        let request = self.with_run_name(&gate, request, (&source, &judging));
        let record = gate.judge(&judging, &source, &request)?;
        self.keep_accepted(&gate, &record, (&source, &request));
        notify::decided(here, notifier.as_ref(), &record);
        if let Some(session) = turn.and_then(|turn| turn.session.as_mut()) {
            owed::update(session, &gate.place().project, &record.decision);
            let is_advised = record.decision.released == Some(Released::Red);
            session.state.advice = Some(record.decision.feedback.clone())
                .filter(|text| is_advised && !text.is_empty());
            session.state.news = match record.decision.situation() {
                Some(situation) if !record.decision.stop => {
                    [situation.changed_tests.clone(), situation.changed_settings.clone()]
                }
                _ => Default::default(),
            };
            if record.decision.stop {
                session.state.unread = Default::default();
            }
        }
        Ok(self.with_notices(self.reply(here, &record), here, &record.decision))
    }

    fn reason_not_to_judge(
        &self,
        here: &Here,
        policy: &Policy,
        turn: Option<&TurnContext>,
    ) -> Option<&'static str> {
        let why = match self.event.not_judged {
            Some(not_judged::SUB_AGENT) if policy.hook.subagents != Subagents::Never => {
                only_looked(&self.payload, turn).then_some(not_judged::HELPER_LOOKED)
            }
            why => why,
        };
        if why.is_some() {
            return why;
        }
        if policy.hook.judge == Judge::Never {
            return Some(not_judged::NEVER);
        }
        is_in_run(here).then_some(not_judged::IN_RUN)
    }

    /// Adds, once a session, notices on settings that differ from the approved ones, and on a
    /// client that gate does not know. A refused agent already gets the first with the refusal.
    fn with_notices(&self, reply: StopReply, here: &Here, decision: &Decision) -> StopReply {
        if matches!(reply, StopReply::Refuse(_)) {
            return reply;
        }
        let entry = self.start.unknown_entry.as_ref().map(|entry| {
            format!(
                "a client with {entry} is taken for a person's; `[hook] person` says who is there"
            )
        });
        let session = self.event.session.as_deref().unwrap_or("");
        let (state, top) = (here.places.state.as_deref(), here.places.top());
        decision.settings_changed.iter().chain(&entry).fold(reply, |reply, notice| {
            match session::is_new_message(state, &top, &format!("{session} {notice}")) {
                true => reply.with_notice(&format!("gate: {notice}")),
                false => reply,
            }
        })
    }

    fn request(
        &self,
        gate: &Gate,
        whole_policy: &Policy,
        (source, judging, acted): (&Source, &Judging, Option<bool>),
        turn: Option<&TurnContext>,
    ) -> Result<Request, Failure> {
        let request = self.base_request();
        let mut situation = self.situation(gate, whole_policy, (source, judging, acted), turn)?;
        let course = situation.course(judging.scan.signal.status());
        let mut others_files = Vec::new();
        if let (Course::Look | Course::Release, Some(turn)) = (course, turn) {
            others_files = self.add_news(gate, &mut situation, turn, course);
        }
        let budget = Duration::from_millis(gate.policy().hook.budget_ms);
        Ok(Request {
            stop: request.stop.map(|stop| Stop {
                background: situation.waits.clone(),
                situation: Some(situation),
                ..stop
            }),
            checks: match course {
                Course::Release | Course::Wait => Checks::None,
                Course::Look => Checks::All,
                Course::Decide => Checks::Lazy,
            },
            plain: course == Course::Look,
            others_files,
            no_prompt_tree: turn.and_then(TurnContext::no_prompt_tree),
            deadline: Some(self.time_left().min(budget)),
            until: Instant::now().checked_add(self.time_left()),
            ..request
        })
    }

    /// The helpers and wake-ups that start the agent again. A shell that ran at the last stop
    /// already is a server.
    fn waits(&self, session: &Session) -> Vec<String> {
        if self.event.not_judged.is_some() {
            return Vec::new();
        }
        let tasks = self.event.tasks.iter();
        let tasks = tasks.filter(|task| !task.is_shell || !session.state.shells.contains(&task.id));
        let wake_ups = self.event.scheduled.iter().filter(|prompt| !prompt.is_recurring);
        let wake_ups = wake_ups
            .map(|prompt| format!("a wake-up ({})", brief(&prompt.text, MAX_WAKE_UP_CHARS)));
        tasks.map(|task| task.name.clone()).chain(wake_ups).collect()
    }

    /// Adds the news of changed tests to the situation. Returns the files that others changed, as
    /// far as they matter.
    fn add_news(
        &self,
        gate: &Gate,
        situation: &mut Situation,
        turn: &TurnContext,
        course: Course,
    ) -> Vec<PathBuf> {
        let mut news = turn.changed_in(&gate.place().project);
        news.retain(|file| may_be_news(file));
        let unread = turn.session.as_ref().map(|session| session.state.unread.clone());
        let [tests, settings] = unread.unwrap_or_default();
        if course == Course::Release && news.is_empty() {
            (situation.changed_tests, situation.changed_settings) = (tests, settings);
            return Vec::new();
        }
        let others_files = turn.others_files(self.event.transcript.as_deref());
        news.retain(|file| !others_files.iter().any(|other| other == file));
        if let (Some(session), false) = (self.event.run(), news.is_empty()) {
            gate.add_news(situation, &session, &news);
        }
        add_unread(&mut situation.changed_tests, tests);
        add_unread(&mut situation.changed_settings, settings);
        others_files
    }

    // The situation decides if a stop without an `exit` may be released. Without work
    // there is nothing to check, so gate releases it at once. That is why anything
    // unknown counts as changed work.
    fn situation(
        &self,
        gate: &Gate,
        whole_policy: &Policy,
        (source, judging, acted): (&Source, &Judging, Option<bool>),
        turn: Option<&TurnContext>,
    ) -> Result<Situation, Failure> {
        let policy = gate.policy();
        let session = turn.and_then(|turn| turn.session.as_ref());
        let work = match (acted, turn.and_then(|turn| turn.work(policy))) {
            // The tree shows what changed. A transcript may be cut, or behind its client.
            (_, Some(work)) => work,
            (Some(false), None) => Work::None,
            (_, None) if self.is_idle(gate, source, acted, turn)? => Work::None,
            (_, None) => Work::Changed,
        };
        let owed = session.and_then(|session| session.state.owed.get(&gate.place().project));
        let elsewhere = whole_policy.checks.iter().filter(|(name, check)| {
            check.mode == Mode::Require && !policy.checks.contains_key(*name)
        });
        let needs_exit = policy.hook.signal == HookSignal::Require
            || session.is_some_and(|session| session.state.needs_exit);
        Ok(Situation {
            presence: self.start.presence,
            needs_exit: needs_exit && self.event.not_judged.is_none(),
            work,
            owed: owed.map(|red| Owed { red: red.clone() }),
            asks: asks_person(&judging.scan.said, &policy.signal.language),
            waits: session.map(|session| self.waits(session)).unwrap_or_default(),
            always: policy.hook.judge == Judge::Always,
            elsewhere: elsewhere.map(|(name, _)| name.clone()).collect(),
            ..Situation::default()
        })
    }

    /// True if the work tree is the one of the run's last decision, and nothing was
    /// committed. Used if no hook has listed the files at the prompt.
    fn is_idle(
        &self,
        gate: &Gate,
        source: &Source,
        acted: Option<bool>,
        turn: Option<&TurnContext>,
    ) -> Result<bool, Failure> {
        let run = match (self.event.run(), gate.memory()) {
            (Some(name), Some(mut memory)) => memory.run_of(&name)?,
            _ => None,
        };
        let tree = run.and_then(|run| run.tree);
        let transcript = self.event.transcript.as_deref();
        let has_committed =
            acted == Some(true) && turn.is_none_or(|turn| turn.has_committed(transcript));
        Ok(!has_committed && gate.has_changed(source, tree.as_ref()) == Some(false))
    }

    fn reply(&self, here: &Here, record: &Record) -> StopReply {
        let decision = &record.decision;
        match (decision.verdict, decision.released) {
            (Verdict::Exit, _) => StopReply::Allow,
            (Verdict::Continue, None) => StopReply::Refuse(decision.feedback.clone()),
            (Verdict::Continue, Some(Released::Waiting)) => StopReply::Pause,
            (Verdict::Tripped | Verdict::Blocked, _) => {
                StopReply::LetGo(render::let_go(self.agent.name(), decision))
            }
            (Verdict::Continue, Some(released)) => {
                let message = render::released(self.agent.name(), decision);
                match (self.is_notice_due(here, decision, &message), released) {
                    (false, _) => StopReply::Allow,
                    (true, Released::Waiting) => StopReply::Pause,
                    (true, Released::Green) => StopReply::Notice(message),
                    (true, Released::Red | Released::NotRun) => StopReply::LetGo(message),
                }
            }
        }
    }

    fn is_notice_due(&self, here: &Here, decision: &Decision, message: &str) -> bool {
        let state = here.places.state.as_deref();
        let Ok(project) = here.places.project() else { return true };
        match decision.notice() {
            Notice::Silent => false,
            Notice::Always => true,
            Notice::OncePerProject => session::is_new_message(state, &project, message),
            Notice::OncePerSession => {
                // The message itself is no key: it names a time, which differs.
                let key = format!("{} {}", self.event.session.as_deref().unwrap_or(""), "late");
                session::is_new_message(state, &project, &key)
            }
        }
    }

    /// Takes the accepted work tree as the next baseline: the session may go on after an
    /// `exit`. If that fails, the old baseline stays.
    fn keep_accepted(&self, gate: &Gate, record: &Record, request: (&Source, &Request)) {
        let until = Instant::now() + self.time_left();
        if let Err(failure) = gate.keep_accepted(record, request, until) {
            let why = render::message(&failure);
            let _ = writeln!(stderr().lock(), "gate: no baseline of what was accepted: {why}");
        }
    }

    fn record_not_judged(&self, memory: &mut Memory, why: &str) -> Result<(), Failure> {
        let session = self.event.run();
        let agent = self.agent.name();
        memory.not_judged(&NotJudged { agent, session: session.as_deref(), why })
    }

    fn base_request(&self) -> Request {
        Request {
            format: self.agent.name().parse::<Forced>().ok(),
            end_only: self.event.last_message.is_some(),
            run: self.event.run(),
            session: self.event.run(),
            stop: Some(Stop {
                agent: self.agent.name().to_owned(),
                prompt: self.event.prompt_id.clone(),
                background: Vec::new(),
                situation: None,
            }),
            ..Request::default()
        }
    }

    /// A stop opens the store at most twice.
    fn store_timeout(&self) -> Duration {
        STORE_TIMEOUT.min(self.deadline / 8)
    }

    /// Time that is left for checks.
    fn time_left(&self) -> Duration {
        let margin = MARGIN.min(self.deadline / 4);
        self.deadline.saturating_sub(self.hook_called_at.elapsed() + margin)
    }
}

/// Adds news of earlier turns, but for files of which there is newer.
fn add_unread(news: &mut Vec<String>, unread: Vec<String>) {
    let file = |line: &str| line.rsplit_once(" (").map_or(line, |(file, _)| file).to_owned();
    let newer: Vec<_> = news.iter().map(|line| file(line)).collect();
    news.extend(unread.into_iter().filter(|line| !newer.contains(&file(line))));
}

/// True if this is the agent of a `gate run`, which checks by itself when the agent
/// ends. False if gate cannot find out.
fn is_in_run(here: &Here) -> bool {
    let Some(id) = here.places.variable(IN_RUN) else { return false };
    let until = Instant::now() + LAG_TIMEOUT;
    loop {
        match run_membership(here, id) {
            // The record of a run that has just begun does not name its agent yet.
            Ok((false, true)) if Instant::now() < until => thread::sleep(POLL_INTERVAL),
            membership => return membership.is_ok_and(|(is_agent, _)| is_agent),
        }
    }
}

/// The first value is true if this process belongs to a run's agent. The second one is true if
/// the run with this id does not name its agent's process yet.
fn run_membership(here: &Here, id: &str) -> Result<(bool, bool), Failure> {
    let project = Runs::here(&here.places)?;
    let caller = Caller::from_process(&project)?;
    let info = project.run(id)?.map(|run| run.info()).transpose()?;
    Ok((caller.run.is_some(), info.is_some_and(|info| info.pid == 0)))
}

mod last_word;
#[cfg(test)]
mod tests;

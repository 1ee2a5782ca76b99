//! Judges a stop of an agent.

use std::io::Write;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use anstream::stderr;
use gate_checks::Checks;
use gate_checks::check::Occasion;
use gate_core::decide::elsewhere::WorkElsewhere;
use gate_core::decide::notice::Notice;
use gate_core::decide::policy::{HookSignal, Judge, Mode, Subagents, When};
use gate_core::decide::question::asks_person;
use gate_core::decide::situation::{Course, Owed, Presence, Released, Situation, Work};
use gate_core::decide::stop::Stop;
use gate_core::record::GoalState;
use gate_core::text::brief;
use gate_core::{Decision, Policy, Verdict};
use gate_platform::RealPath;
use gate_transcript::Forced;

use last_word::LastWord;

use super::background::BackgroundTask;
use super::helper::has_only_read;
use super::owed;
use super::session::{self, News, Session};
use super::{HookCall, StopReply, TurnContext, not_judged};
use crate::agent::IN_RUN;
use crate::clients::facts;
use crate::failure::Failure;
use crate::gate::{Gate, Judging, may_be_news};
use crate::governance;
use crate::invocation::Invocation;
use crate::memory::{LoopId, Memory, NotJudged};
use crate::notify::{self, Notifier};
use crate::record::Record;
use crate::render;
use crate::request::Request;
use crate::settings::{Places, Selection};
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

/// The words before a goal that was reached.
const GOAL_MET: &str = "goal met: ";

/// Prefix of a prompt's digest. An event's `prompt_id` may be one, or the client's own.
const DIGEST_PREFIX: &str = "blake3:";

impl HookCall<'_> {
    /// Judges the stop, unless the event or the settings forbid it, and records the
    /// outcome.
    ///
    /// Fails on settings that cannot be used, a transcript that is missing, and a store
    /// that cannot be written. Then nothing was decided.
    pub(crate) fn judge(
        &self,
        invocation: &Invocation,
        turn: Option<&mut TurnContext>,
        work_elsewhere: &[WorkElsewhere],
    ) -> Result<StopReply, Failure> {
        let (settings, trust) =
            trust::settings_in_force(&invocation.places, &Selection::default())?;
        let mut memory =
            invocation.memory_within(&trust, &settings.policy, self.store_timeout())?;
        if memory.switch()?.off {
            return Ok(StopReply::Allow);
        }
        if let Some(reason) =
            self.reason_not_to_judge(invocation, &settings.policy, turn.as_deref())
        {
            self.record_not_judged(&mut memory, reason)?;
            return Ok(StopReply::Allow);
        }
        let whole_policy = settings.policy.clone();
        // A bad place for messages must not prevent a verdict; `gate doctor` reports it.
        let notifier = Notifier::new(invocation, &settings, &trust).ok().flatten();
        let gate = Gate::open(settings, invocation.site_under(&trust)?)?
            .at(When::Hook)
            .remembering(memory)
            .trusting(trust)?;
        let mut request = self.request(work_elsewhere);
        request.asker.began_in = self.first_project(invocation);
        let gate = gate.with_goals(&request.asker)?.unwrap_or(gate);
        let last_word = self.last_word(&gate, &request)?;
        self.complete(&mut request, &gate, &whole_policy, &last_word, turn.as_deref())?;
        let record = gate.judge(&last_word.judging, &request)?;
        self.keep_accepted(&gate, &record, &last_word.judging, &request);
        notify::send_decision(invocation, notifier.as_ref(), &record);
        if let Some(session) = turn.and_then(|turn| turn.session.as_mut()) {
            owed::update(session, &gate.place().project, &record.decision);
            note_for_next_turn(session, &record.decision);
        }
        let reply = self.reply(invocation, &record);
        let reply = with_goals_met(reply, &record);
        Ok(self.with_notices(reply, invocation, &record.decision))
    }

    fn reason_not_to_judge(
        &self,
        invocation: &Invocation,
        policy: &Policy,
        turn: Option<&TurnContext>,
    ) -> Option<&'static str> {
        let reason = match self.event.not_judged {
            Some(not_judged::SUB_AGENT) if policy.hook.subagents != Subagents::Never => {
                has_only_read(&self.payload, turn).then_some(not_judged::HELPER_LOOKED)
            }
            reason => reason,
        };
        if reason.is_some() {
            return reason;
        }
        if policy.hook.judge == Judge::Never {
            return Some(not_judged::NEVER);
        }
        is_in_run(invocation).then_some(not_judged::IN_RUN)
    }

    /// Adds, once a session, notices on settings that differ from the approved ones, and on a
    /// client that gate does not know. A refused agent already gets the first with the refusal.
    fn with_notices(
        &self,
        reply: StopReply,
        invocation: &Invocation,
        decision: &Decision,
    ) -> StopReply {
        if matches!(reply, StopReply::Refuse(_)) {
            return reply;
        }
        let entry = self.start.unknown_entry.as_ref().map(|entry| {
            format!(
                "a client with {entry} is taken for a person's; `[hook] person` says who is there"
            )
        });
        let session = self.event.session.as_deref().unwrap_or("");
        let (state, top) = (invocation.places.state.as_deref(), invocation.places.top());
        decision.input.settings_changed.iter().chain(&entry).fold(reply, |reply, notice| {
            match session::is_new_message(state, &top, &format!("{session} {notice}")) {
                true => reply.with_notice(&format!("gate: {notice}")),
                false => reply,
            }
        })
    }

    /// The project in which the session began, if the client tells.
    pub(super) fn first_project(&self, invocation: &Invocation) -> Option<PathBuf> {
        let variable = facts(self.agent).hook.project_variable.as_deref()?;
        let folder = PathBuf::from(self.payload.variable(variable)?).real_path().ok()?;
        Places { folder, ..invocation.places.clone() }.project().ok()
    }

    /// The request, as far as the event tells.
    fn request(&self, work_elsewhere: &[WorkElsewhere]) -> Request {
        let stop = Stop {
            agent: self.agent.name().to_owned(),
            prompt: self.event.prompt_id.clone(),
            background: Vec::new(),
            situation: None,
        };
        let mut request = Request::default();
        request.asker.run = self.event.run();
        request.asker.session = self.event.run();
        request.asker.until = Instant::now().checked_add(self.time_left());
        request.turn.format = self.agent.name().parse::<Forced>().ok();
        request.turn.end_only = self.event.last_message.is_some();
        request.turn.stop = Some(stop);
        request.turn.elsewhere = Some(work_elsewhere.to_vec());
        request
    }

    /// Adds what the agent's last word and the session tell: the situation, and what follows from it.
    fn complete(
        &self,
        request: &mut Request,
        gate: &Gate,
        whole_policy: &Policy,
        last_word: &LastWord,
        turn: Option<&TurnContext>,
    ) -> Result<(), Failure> {
        let mut situation = self.situation(gate, whole_policy, last_word, turn)?;
        let course = situation.course(last_word.judging.scan.signal.status());
        if let (Course::Look | Course::Release, Some(turn)) = (course, turn) {
            request.turn.others_files = self.add_news(gate, &mut situation, turn, course);
        }
        if let Some(stop) = &mut request.turn.stop {
            stop.background.clone_from(&situation.waits);
            stop.situation = Some(situation);
        }
        request.turn.no_prompt_tree = turn.and_then(TurnContext::no_prompt_tree);
        request.checking.checks = match course {
            Course::Release | Course::Wait => Checks::None,
            Course::Look => Checks::All,
            Course::Decide => Checks::Lazy,
        };
        if course == Course::Look {
            request.checking.occasion = Occasion::Session;
        }
        let budget = Duration::from_millis(gate.policy().hook.budget_ms);
        request.checking.deadline = Some(self.time_left().min(budget));
        self.name_run(request, gate, &last_word.judging);
        Ok(())
    }

    /// The helpers and wake-ups that start the agent again. A shell that ran at the last stop
    /// already is a server.
    fn waits(&self, session: &Session) -> Vec<String> {
        if self.event.not_judged.is_some() {
            return Vec::new();
        }
        let is_server =
            |task: &&BackgroundTask| task.is_shell && session.state.shells.contains(&task.id);
        let tasks = self.event.tasks.iter().filter(|task| !is_server(task));
        // A prompt that comes again and again is no wait: no stop would ever be judged.
        let wake_ups = self.event.scheduled.iter().filter(|prompt| !prompt.is_recurring);
        let wake_up_names = wake_ups
            .map(|prompt| format!("a wake-up ({})", brief(&prompt.text, MAX_WAKE_UP_CHARS)));
        tasks.map(|task| task.name.clone()).chain(wake_up_names).collect()
    }

    /// Adds the news of changed tests and settings to the situation. Returns the files that other
    /// sessions or people changed, as far as they matter.
    fn add_news(
        &self,
        gate: &Gate,
        situation: &mut Situation,
        turn: &TurnContext,
        course: Course,
    ) -> Vec<PathBuf> {
        let mut changed_files = turn.changed_in(&gate.place().project);
        changed_files.retain(|file| may_be_news(file));
        let unread = turn.session.as_ref().map(|session| session.state.unread.clone());
        let News { tests, settings } = unread.unwrap_or_default();
        // Finding other sessions' files reads transcripts, which is only worth it for a check or
        // for news.
        if course == Course::Release && changed_files.is_empty() {
            (situation.changed_tests, situation.changed_settings) = (tests, settings);
            return Vec::new();
        }
        let others_files = turn.others_files(self.event.transcript.as_deref());
        changed_files.retain(|file| !others_files.iter().any(|other_file| other_file == file));
        if let (Some(session), false) = (self.event.run(), changed_files.is_empty()) {
            gate.add_news(situation, &session, &changed_files);
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
        last_word: &LastWord,
        turn: Option<&TurnContext>,
    ) -> Result<Situation, Failure> {
        let policy = gate.policy();
        let session = turn.and_then(|turn| turn.session.as_ref());
        let work = match (last_word.has_acted, turn.and_then(|turn| turn.work(policy))) {
            // A goal may be about prose.
            (_, Some(Work::Prose)) if gate.checks_goal() => Work::Changed,
            // The tree shows what changed. A transcript may be cut, or behind its client.
            (_, Some(work)) => work,
            (Some(false), None) => Work::None,
            (_, None) if self.is_idle(gate, last_word, turn)? => Work::None,
            (_, None) => Work::Changed,
        };
        let debt = session.and_then(|session| session.state.owed.get(&gate.place().project));
        let checked_elsewhere = whole_policy.checks.iter().filter(|(name, check)| {
            check.mode == Mode::Require && !policy.checks.contains_key(*name)
        });
        let needs_exit = policy.hook.signal == HookSignal::Require
            || session.is_some_and(|session| session.state.needs_exit);
        Ok(Situation {
            presence: self.start.presence,
            needs_exit: needs_exit && self.event.not_judged.is_none(),
            work,
            owed: debt.map(|names| Owed { red: names.clone() }),
            asks: asks_person(&last_word.judging.scan.last_word, &policy.signal.language),
            waits: session.map(|session| self.waits(session)).unwrap_or_default(),
            always: policy.hook.judge == Judge::Always,
            has_goal: gate.checks_goal(),
            elsewhere: checked_elsewhere.map(|(name, _)| name.clone()).collect(),
            ..Situation::default()
        })
    }

    /// The work tree is the one of the run's last decision, and nothing was committed. Used if no
    /// hook has listed the files at the prompt.
    fn is_idle(
        &self,
        gate: &Gate,
        last_word: &LastWord,
        turn: Option<&TurnContext>,
    ) -> Result<bool, Failure> {
        let run = match (self.event.run(), gate.memory()) {
            (Some(name), Some(mut memory)) => memory.run_of(&name)?,
            _ => None,
        };
        let last_tree = run.and_then(|run| run.tree);
        let transcript = self.event.transcript.as_deref();
        let has_committed = last_word.has_acted == Some(true)
            && turn.is_none_or(|turn| turn.has_committed(transcript));
        Ok(!has_committed
            && gate.has_changed(&last_word.judging, last_tree.as_ref()) == Some(false))
    }

    fn reply(&self, invocation: &Invocation, record: &Record) -> StopReply {
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
                match (self.is_notice_due(invocation, decision, &message), released) {
                    (false, _) => StopReply::Allow,
                    (true, Released::Waiting) => StopReply::Pause,
                    (true, Released::Green) => StopReply::Notice(message),
                    (true, Released::Red | Released::NotRun) => StopReply::LetGo(message),
                }
            }
        }
    }

    fn is_notice_due(&self, invocation: &Invocation, decision: &Decision, message: &str) -> bool {
        let state = invocation.places.state.as_deref();
        let Ok(project) = invocation.places.project() else { return true };
        match decision.notice() {
            Notice::Silent => false,
            Notice::Always => true,
            Notice::OncePerProject => session::is_new_message(state, &project, message),
            Notice::OncePerSession => {
                // The message itself is no key: it names a time, which differs.
                let key = format!("{} late", self.event.session.as_deref().unwrap_or(""));
                session::is_new_message(state, &project, &key)
            }
        }
    }

    /// Takes the accepted work tree as the next baseline: the session may go on after an
    /// `exit`. If that fails, the old baseline stays.
    fn keep_accepted(&self, gate: &Gate, record: &Record, judging: &Judging, request: &Request) {
        let until = Instant::now() + self.time_left();
        if let Err(failure) = gate.keep_accepted(record, judging, &request.asker, until) {
            let problem = render::message(&failure);
            let _ = writeln!(stderr().lock(), "gate: no baseline of what was accepted: {problem}");
        }
    }

    fn record_not_judged(&self, memory: &mut Memory, reason: &str) -> Result<(), Failure> {
        let session = self.event.run();
        let agent = self.agent.name();
        memory.not_judged(&NotJudged { agent, session: session.as_deref(), why: reason })
    }

    /// Sets the run of a headless client: the one of its prompt in this work tree, in any session. A
    /// client with a person keeps the session's run. If a loop starts its client again with the same
    /// prompt, the run goes on; another prompt has another run.
    fn name_run(&self, request: &mut Request, gate: &Gate, judging: &Judging) {
        if self.start.presence != Presence::Nobody {
            return;
        }
        let prompt = self.prompt_digest(gate, request.turn.format, judging);
        if let (Some(prompt), Some(memory)) = (prompt, gate.memory())
            && let Ok(run) = memory.loop_name(LoopId::Prompt(&prompt))
        {
            request.asker.run = Some(run);
        }
    }

    /// The digest of the person's prompt, from the end of the transcript, from the whole
    /// transcript, or from the event: the first that has it.
    fn prompt_digest(
        &self,
        gate: &Gate,
        format: Option<Forced>,
        judging: &Judging,
    ) -> Option<String> {
        if let Some(prompt) = &judging.scan.prompt {
            return Some(prompt.clone());
        }
        let transcript = self.event.transcript.clone().filter(|path| path.is_file());
        let whole_scan = transcript.and_then(|file| gate.scan(&Source::File(file), format).ok());
        whole_scan.and_then(|scan| scan.prompt).or_else(|| {
            self.event.prompt_id.clone().filter(|prompt| prompt.starts_with(DIGEST_PREFIX))
        })
    }

    /// A stop opens the store at most twice.
    fn store_timeout(&self) -> Duration {
        STORE_TIMEOUT.min(self.deadline / 8)
    }

    /// Time that is left for checks.
    fn time_left(&self) -> Duration {
        let margin = MARGIN.min(self.deadline / 4);
        self.deadline.saturating_sub(self.called_at.elapsed() + margin)
    }
}

/// Adds the goals that were reached, unless the message names them among what passed.
fn with_goals_met(reply: StopReply, record: &Record) -> StopReply {
    let is_told = matches!(&reply, StopReply::Notice(message) if message.contains(GOAL_MET));
    if !record.decision.stop || is_told {
        return reply;
    }
    let met = record.goals.iter().filter(|goal| goal.state == GoalState::Met);
    met.fold(reply, |reply, goal| reply.with_notice(&format!("gate: {GOAL_MET}{}", goal.words())))
}

/// Notes for the session's next turn: the advice on red checks, and the news that a refused stop has
/// shown to nobody.
fn note_for_next_turn(session: &mut Session, decision: &Decision) {
    let is_red = decision.released == Some(Released::Red);
    session.state.advice =
        Some(decision.feedback.clone()).filter(|text| is_red && !text.is_empty());
    session.state.news = match decision.situation() {
        Some(situation) if !decision.stop => News {
            tests: situation.changed_tests.clone(),
            settings: situation.changed_settings.clone(),
        },
        _ => News::default(),
    };
    if decision.stop {
        session.state.unread = News::default();
    }
}

/// Adds news of earlier turns, but for files of which there is newer.
fn add_unread(news: &mut Vec<String>, unread: Vec<String>) {
    // A line of news is a file's name and, in brackets, its changes.
    let file = |line: &str| line.rsplit_once(" (").map_or(line, |(file, _)| file).to_owned();
    let newer_files: Vec<_> = news.iter().map(|line| file(line)).collect();
    news.extend(unread.into_iter().filter(|line| !newer_files.contains(&file(line))));
}

/// This is the agent of a `gate run`, which checks by itself when the agent ends. An agent of which
/// gate cannot find that out is none.
fn is_in_run(invocation: &Invocation) -> bool {
    let Some(id) = invocation.places.variable(IN_RUN) else { return false };
    let until = Instant::now() + LAG_TIMEOUT;
    loop {
        match run_membership(invocation, id) {
            Ok(Membership::Unnamed) if Instant::now() < until => thread::sleep(POLL_INTERVAL),
            membership => return matches!(membership, Ok(Membership::Agent)),
        }
    }
}

/// The part of this process in a run.
enum Membership {
    /// It belongs to a run's agent.
    Agent,
    /// It may be the agent's: the record of a run that has just begun does not name its agent yet.
    Unnamed,
    Outsider,
}

fn run_membership(invocation: &Invocation, id: &str) -> Result<Membership, Failure> {
    let project = governance::project_here(&invocation.places)?;
    let caller = governance::caller(&project)?;
    let info = project.run(id)?.map(|run| run.info()).transpose()?;
    Ok(if caller.run.is_some() {
        Membership::Agent
    } else if info.is_some_and(|info| info.pid == 0) {
        Membership::Unnamed
    } else {
        Membership::Outsider
    })
}

mod last_word;
#[cfg(test)]
mod tests;

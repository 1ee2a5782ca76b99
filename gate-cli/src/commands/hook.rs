//! `gate hook AGENT`: a client's stop event in, the one reply out; or the event of a
//! session that begins, to which nothing is replied.
//!
//! The exit code is 0 whatever is replied: any other makes a client let the
//! agent go, or show an error, and which of them differs from client to client.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use anstream::adapter::strip_str;
use anstream::stderr;
use gate_core::decide::elsewhere::{CheckedElsewhere, WorkElsewhere};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::{Value, json};

use super::common::DONE;
use super::{last, status};
use crate::agent::{Agent, IN_RUN};
use crate::context::Here;
use crate::failure::Failure;
use crate::hook::session::{Session, is_first_hook, is_new_message};
use crate::hook::{
    self, AgentStop, Answer, Client, ClientStart, EventKind, Ground, Grounds, Payload, Prompt,
    Scene, SessionStart, StopReply, TurnContext,
};
use crate::memory::{Memory, NotJudged};
use crate::panics::guarded;
use crate::render::{self, print};
use crate::secrets;
use crate::settings::Selection;
use crate::settings::parse_duration;
use crate::trust::{self, NOT_TRUSTED};
use clap::Args;

/// The exit code has no meaning: clients differ in what they do for any other than 0.
const CODES: &str = "\
A refusal is one JSON object on stdout; to let the agent stop, nothing is printed.
Where a session begins, its baseline is taken, and nothing is printed.
Exit code: 0, whatever is replied";

#[derive(Debug, Args)]
#[command(after_help = CODES)]
pub(crate) struct Hook {
    /// The agent whose client calls.
    #[arg(value_name = "AGENT")]
    pub(crate) agent: Agent,
    /// The most time that the hook may take, below the client's own limit. A check that
    /// takes longer is ended, and is no proof.
    #[arg(long, value_name = "D", value_parser = parse_duration)]
    pub(crate) deadline: Option<Duration>,
}

/// The longest wait for a client's event.
const PATIENCE: Duration = Duration::from_secs(10);

/// The longest wait for a store if nothing can be decided.
const PATIENCE_OF_STORE: Duration = Duration::from_secs(1);

/// The longest event of a client, in bytes.
const MAX_INPUT_BYTES: usize = 64 << 20;

/// The longest reason why a baseline could not be taken, in characters.
const MAX_REASON_CHARS: usize = 500;

/// The exit code that refuses a stop for which a client reads no reply.
const REFUSED: u8 = 2;

/// The variable that switches hooks off, and its value for that.
const SWITCH: (&str, &str) = ("GATE", "off");

pub(super) fn run(here: &Here, args: &Hook) -> Result<u8, Failure> {
    let began = Instant::now();
    if here.places.variable(SWITCH.0) == Some(SWITCH.1) {
        return Ok(DONE);
    }
    let client = hook::client(args.agent);
    let deadline = args.deadline.unwrap_or_else(|| client.deadline());
    let received = receive(began + PATIENCE.min(deadline));
    let value = received.as_ref().unwrap_or(&Value::Null);
    let payload = Payload::new(value, &here.places.environment);
    let client = client.speaking(args.agent, &payload);
    let event = client.event(&payload);
    if event.kind == EventKind::MidTurn {
        return Ok(DONE);
    }
    let agent = args.agent;
    let scene = Scene { here, agent, client: &client, payload: &payload, event: &event };
    let ground = scene.ground();
    let Some(first) = ground.places.first() else { return Ok(DONE) };
    if client.is_dialect()
        && let Some(session) = &event.session
        && !is_first_hook(first.state.as_deref(), &first.top(), (agent, session))
    {
        return Ok(DONE);
    }
    let start = ClientStart::of(agent, &payload, first);
    let hook_called_at = began;
    match event.kind {
        EventKind::SessionStart => {
            let here = Here { places: first.clone() };
            let (event, start) = (&event, &start);
            begin(&here, &SessionStart { agent, event, start, hook_called_at, deadline });
            Ok(DONE)
        }
        EventKind::SessionEnd => {
            let state = first.state.as_deref();
            if hook::is_from_client(&start)
                && let Some(session) =
                    Session::open(state, &first.top(), (agent, event.session.as_deref()))
            {
                session.end();
            }
            Ok(DONE)
        }
        EventKind::Prompt => {
            let here = Here { places: first.clone() };
            let (event, start) = (&event, &start);
            prompted(&here, &Prompt { agent, event, start, hook_called_at, deadline })
        }
        EventKind::Stop | EventKind::MidTurn => {
            let grounds = scene.grounds(ground);
            let by_code = event.is_refused_by_code;
            let stopped = AgentStop { agent, payload, event, start, hook_called_at, deadline };
            let answer = stop(&stopped, grounds, received.as_ref().err());
            match answer {
                StopReply::Refuse(reason) if by_code => {
                    let _ = writeln!(stderr().lock(), "{reason}");
                    Ok(REFUSED)
                }
                answer => reply(&client, answer),
            }
        }
    }
}

/// Judges a stop in each work tree and project that it is about, last in the agent's own: its
/// decision says what was found in the others.
fn stop(stopped: &AgentStop<'_>, grounds: Grounds, read_failure: Option<&Failure>) -> StopReply {
    let Grounds { main, others, mut open } = grounds;
    let mut replies = Vec::new();
    for (ground, work) in others {
        let reply = judge(stopped, ground, &[], read_failure);
        let (passed, summary) = match &reply {
            StopReply::Refuse(_) | StopReply::LetGo(_) | StopReply::Pause => {
                (false, "its checks do not pass")
            }
            StopReply::Allow | StopReply::Notice(_) => (true, "its checks pass"),
        };
        let checked = Some(CheckedElsewhere { passed, summary: summary.to_owned() });
        replies.push(match reply {
            StopReply::Refuse(reason) => StopReply::Refuse(format!("In {}:\n{reason}", work.place)),
            reply => reply,
        });
        open.push(WorkElsewhere { checked, ..work });
    }
    replies.push(judge(stopped, main, &open, read_failure));
    StopReply::combine(replies)
}

/// Judges a stop in one work tree.
fn judge(
    stopped: &AgentStop<'_>,
    mut ground: Ground,
    elsewhere: &[WorkElsewhere],
    read_failure: Option<&Failure>,
) -> StopReply {
    let mut replies = Vec::new();
    for places in &ground.places {
        let here = Here { places: places.clone() };
        let judged = match read_failure {
            None => guarded(|| stopped.judge(&here, ground.around.as_mut(), elsewhere)),
            Some(failure) => Err(failure.clone()),
        };
        let session = ground.around.as_ref().and_then(|around| around.session.as_ref());
        replies.push(judged.unwrap_or_else(|failure| undecided(&here, stopped, &failure, session)));
    }
    let reply = StopReply::combine(replies);
    if let Some(around) = &mut ground.around {
        // A turn whose stop is not judged goes on, or was broken off: its changes are still to be
        // checked.
        if stopped.event.not_judged.is_none() {
            let goes_on = matches!(reply, StopReply::Refuse(_) | StopReply::Pause);
            around.end(stopped.event.transcript.as_deref(), goes_on);
        }
        around.note_background(&stopped.event);
    }
    reply
}

/// Handles a prompt. The client gets a reply only if the prompt is a command to gate.
fn prompted(here: &Here, prompt: &Prompt<'_>) -> Result<u8, Failure> {
    match prompt.begin_turn(here) {
        Ok(None) => {}
        Ok(Some(answer)) => {
            let text = match answer {
                Answer::Reply(reply) => return print(&format!("{reply}\n")).map(|()| DONE),
                Answer::Status => status::text(here),
                Answer::Last => last::text(here),
            };
            let text = text.unwrap_or_else(|failure| render::message(&failure));
            let plain = strip_str(&text).to_string();
            print(&format!("{}\n", hook::reply(prompt.agent, &secrets::masked(&plain))))?;
        }
        Err(failure) => {
            let why = gate_core::text::brief(&render::message(&failure), MAX_REASON_CHARS);
            let _ = writeln!(stderr().lock(), "gate: at the prompt: {why}");
        }
    }
    Ok(DONE)
}

/// Handles the start of a session. The client gets no reply, and a failure goes to stderr alone.
fn begin(here: &Here, start: &SessionStart<'_>) {
    match start.take_baseline(here) {
        Ok(()) => {
            // The agent of a run is that run's.
            let is_in_run = here.places.variable(IN_RUN).is_some();
            if let (Some(mut around), false) =
                (TurnContext::open(here, start.agent, start.event, None), is_in_run)
            {
                around.begin_session(start.start.is_nested());
            }
        }
        Err(failure) => {
            let why = gate_core::text::brief(&render::message(&failure), MAX_REASON_CHARS);
            let _ = writeln!(stderr().lock(), "gate: the baseline of this session: {why}");
        }
    }
}

/// Receives the client's event. It ends with its object: a client that does not close its side
/// must not hang on its own hook.
fn receive(until: Instant) -> Result<Value, Failure> {
    let bytes = read(until).map_err(|error| bad_event(&error.to_string()))?;
    let value = object(&bytes).map_err(|error| bad_event(&format!("no JSON: {error}")))?;
    if value.is_object() { Ok(value) } else { Err(bad_event("no JSON object")) }
}

fn bad_event(problem: &str) -> Failure {
    Failure::usage("hook-input", format!("the event on stdin: {problem}"))
}

fn object(bytes: &[u8]) -> serde_json::Result<Value> {
    serde_json::from_slice(bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes))
}

/// The standard input up to the end of an object, or all of it, if that comes in time.
fn read(until: Instant) -> io::Result<Vec<u8>> {
    let stdin = io::stdin();
    let mut block = vec![0; 64 << 10];
    let mut bytes = Vec::new();
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let left = Timespec::try_from(left).map_err(io::Error::other)?;
        if poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&left))? == 0 {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "it did not end in time"));
        }
        match rustix::io::read(&stdin, &mut block)? {
            0 => return Ok(bytes),
            _ if bytes.len() > MAX_INPUT_BYTES => return Err(io::Error::other("it is too long")),
            length => bytes.extend_from_slice(&block[..length]),
        }
        let ends = bytes.trim_ascii_end().ends_with(b"}");
        if ends && object(&bytes).is_ok() {
            return Ok(bytes);
        }
    }
}

/// Answers a stop that gate cannot decide: refuses it once, and then lets the agent go; at
/// once if only a person can help.
fn undecided(
    here: &Here,
    stopped: &AgentStop<'_>,
    failure: &Failure,
    kept: Option<&Session>,
) -> StopReply {
    let session = stopped.event.session.as_deref();
    let why = secrets::masked(&gate_core::text::clean(&render::message(failure)));
    // The agent cannot put that right, and must not.
    let is_persons =
        failure.code == NOT_TRUSTED || hook::is_older_than_prompt(failure.file.as_deref(), kept);
    let why = match &failure.hint {
        Some(hint) if is_persons => format!("{why} ({hint})"),
        _ => why,
    };
    if !is_persons && hook::is_first(here.places.state.as_deref(), stopped.agent, session) {
        return StopReply::Refuse(format!(
            "gate cannot decide whether the work is done: {why}\n\
             If you can put that right, do so, and finish again; else tell the person about it."
        ));
    }
    // What keeps gate from deciding may keep it from recording, too.
    let _ = record(here, stopped, &why);
    let is_old = hook::is_older_than_prompt(failure.file.as_deref(), kept);
    let message = format!("{} {why}", session.unwrap_or_default());
    if is_old && !is_new_message(here.places.state.as_deref(), &here.places.folder, &message) {
        return StopReply::Allow;
    }
    StopReply::LetGo(format!("gate could not decide, and let the agent stop, not done: {why}"))
}

/// Records a stop that was allowed undecided, so that `gate last` shows it.
fn record(here: &Here, stopped: &AgentStop<'_>, why: &str) -> Result<(), Failure> {
    let id = trust::settings_in_force(&here.places, &Selection::default())
        .map_or(None, |(settings, _)| settings.policy.project_id);
    let mut memory = Memory::open_within(&here.places, id.as_deref(), PATIENCE_OF_STORE)?;
    let (agent, session) = (stopped.agent.name(), stopped.event.session.as_deref());
    memory.undecided(&NotJudged { agent, session, why })
}

/// Prints the reply: a refusal alone on stdout, or else only a message for the person, if there
/// is one.
fn reply(client: &Client, stop_reply: StopReply) -> Result<u8, Failure> {
    match stop_reply {
        StopReply::Allow | StopReply::Pause => {}
        StopReply::Notice(message) => {
            // Another program may show it as a warning.
            if client.facts().shows_messages && !client.is_dialect() {
                print(&format!("{}\n", json!({ "systemMessage": message })))?;
            }
        }
        StopReply::Refuse(reason) => print(&format!("{}\n", client.refusal(&reason)))?,
        StopReply::LetGo(message) => {
            if client.facts().shows_messages {
                print(&format!("{}\n", json!({ "systemMessage": message })))?;
            }
            // If nobody reads this, `gate last` shows it.
            let _ = writeln!(stderr().lock(), "{message}");
        }
    }
    Ok(DONE)
}

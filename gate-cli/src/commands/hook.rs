//! `gate hook AGENT`: a client's stop event in, the one reply out; or the event of a
//! session that begins, to which nothing is replied.
//!
//! The exit code is 0 whatever is replied: any other makes a client let the
//! agent go, or show an error, and which of them differs from client to client.

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use anstream::stderr;
use gate_checks::worktree::own_git_folder;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::{Value, json};

use super::common::DONE;
use crate::agent::Agent;
use crate::context::Here;
use crate::failure::Failure;
use crate::hook::session::{Session, is_new_message};
use crate::hook::{
    self, AgentStop, Client, ClientStart, Event, EventKind, Payload, Prompt, SessionStart,
    StopReply, TurnContext,
};
use crate::memory::{Memory, NotJudged};
use crate::panics::guarded;
use crate::render::{self, print};
use crate::secrets;
use crate::settings::parse_duration;
use crate::settings::{Places, Selection};
use crate::trust::{self, NOT_TRUSTED, Trust};
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
    let event = client.event(&payload);
    if event.kind == EventKind::MidTurn {
        return Ok(DONE);
    }
    let primary = project(here, &client, &payload, &event);
    let all = projects(here, primary, args.agent, &event);
    let Some(first) = all.places.first() else { return Ok(DONE) };
    let start = ClientStart::of(args.agent, &payload, first);
    let (agent, hook_called_at) = (args.agent, began);
    match event.kind {
        EventKind::SessionStart => {
            let here = Here { places: first.clone() };
            let (event, start) = (&event, &start);
            begin(&here, &SessionStart { agent, event, start, hook_called_at, deadline });
            Ok(DONE)
        }
        EventKind::Prompt => {
            let here = Here { places: first.clone() };
            let (event, start) = (&event, &start);
            prompted(&here, &Prompt { agent, event, start, hook_called_at, deadline })
        }
        EventKind::Stop | EventKind::MidTurn => {
            let stopped = AgentStop { agent, payload, event, start, hook_called_at, deadline };
            reply(&client, stop(&stopped, all, received.as_ref().err()))
        }
    }
}

/// The projects that an event is about.
struct Projects {
    places: Vec<Places>,
    around: Option<TurnContext>,
}

/// The projects that an event is about: where the session is, or, with several settings
/// in one work tree, those nearest to each file that changed.
fn projects(here: &Here, primary: Option<Places>, agent: Agent, event: &Event) -> Projects {
    let base = primary.clone().or_else(|| {
        let folder = event.folder.as_ref()?.canonicalize().ok()?;
        let places = Places { folder, ..here.places.clone() };
        has_tracked_settings(&places.top()).then_some(places)
    });
    let Some(base) = base else { return Projects { places: Vec::new(), around: None } };
    if event.kind == EventKind::SessionStart {
        return Projects { places: primary.into_iter().collect(), around: None };
    }
    let around = TurnContext::open(&Here { places: base.clone() }, agent, event);
    let own = primary.as_ref().and_then(|places| places.project().ok());
    let nested = around.as_ref().map(|around| around.projects(own.as_deref())).unwrap_or_default();
    let is_stop = event.kind == EventKind::Stop;
    let places: Vec<_> = match nested.is_empty() {
        // A prompt is kept for the whole work tree.
        true if !is_stop => vec![base],
        true => primary.into_iter().collect(),
        false => nested.into_iter().map(|folder| Places { folder, ..base.clone() }).collect(),
    };
    Projects { places, around }
}

/// True if git's index may name settings somewhere below a folder. The search costs next to
/// nothing, which matters because most projects have none.
fn has_tracked_settings(root: &Path) -> bool {
    let index = own_git_folder(root).and_then(|folder| fs::read(folder.join("index")).ok());
    let index = index.unwrap_or_default();
    // From version 4 on a name leaves out what it shares with the one before: of gate.toml behind
    // gate.test.ts, only the end is there.
    let is_packed = index.get(4..8).is_some_and(|version| version == 4_u32.to_be_bytes());
    let name: &[u8] = if is_packed { b"oml" } else { b"gate.toml" };
    memchr::memmem::find(&index, name).is_some()
}

/// Judges a stop in each project that it is about.
fn stop(stopped: &AgentStop<'_>, mut all: Projects, read_failure: Option<&Failure>) -> StopReply {
    let mut replies = Vec::new();
    for places in &all.places {
        let here = Here { places: places.clone() };
        let judged = match read_failure {
            None => guarded(|| stopped.judge(&here, all.around.as_mut())),
            Some(failure) => Err(failure.clone()),
        };
        let session = all.around.as_ref().and_then(|around| around.session.as_ref());
        replies.push(judged.unwrap_or_else(|failure| undecided(&here, stopped, &failure, session)));
    }
    let reply = StopReply::combine(replies);
    if let Some(around) = &mut all.around {
        let is_refused = matches!(reply, StopReply::Refuse(_));
        around.end(stopped.event.transcript.as_deref(), is_refused);
    }
    reply
}

/// Handles a prompt. The client gets a reply only if the prompt is a command to gate.
fn prompted(here: &Here, prompt: &Prompt<'_>) -> Result<u8, Failure> {
    match prompt.begin_turn(here) {
        Ok(None) => {}
        Ok(Some(reply)) => print(&format!("{reply}\n"))?,
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
            if let Some(mut around) = TurnContext::open(here, start.agent, start.event) {
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

/// The project of the first of these folders that has settings: the one that the session began
/// in, the agent's, gate's own. A project whose gate.toml was approved and is gone counts, too:
/// an agent must not get out by removing it.
fn project(here: &Here, client: &Client, payload: &Payload<'_>, event: &Event) -> Option<Places> {
    let began_in = client.facts().project_variable.as_deref();
    let began_in = began_in.and_then(|name| payload.variable(name)).map(Into::into);
    let folders = [began_in, event.folder.clone(), Some(here.places.folder.clone())];
    let places = folders.into_iter().flatten().filter_map(|folder| {
        let folder = folder.canonicalize().ok().filter(|folder| folder.is_dir())?;
        Some(Places { folder, ..here.places.clone() })
    });
    // Settings that cannot be looked at are reported when they are read.
    places
        .into_iter()
        .find(|places| !matches!(places.project_file(), Ok(None)) || Trust::was_approved(places))
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
        StopReply::Allow => {}
        StopReply::Notice(message) => {
            if client.facts().shows_messages {
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

//! `gate hook AGENT`: a client's stop event in, the one reply out; or the event of a
//! session that begins, to which nothing is replied.
//!
//! The exit code is 0 whatever is replied: any other makes a client let the
//! agent go, or show an error, and which of them differs from client to client.

use std::io::{self, Read, Write};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use anstream::adapter::strip_str;
use anstream::stderr;
use serde_json::{Value, json};

use super::common::DONE;
use super::{goal, last, status};
use crate::agent::Agent;
use crate::failure::Failure;
use crate::hook::session::is_first_hook;
use crate::hook::{
    self, Client, ClientStart, EventKind, EventScene, HookCall, Payload, PromptAnswer, StopReply,
};
use crate::invocation::Invocation;
use crate::render::{self, print};
use crate::secrets;
use crate::settings::parse_duration;
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

/// The longest event of a client, in bytes.
const MAX_INPUT_BYTES: usize = 64 << 20;

/// The longest reason why a baseline could not be taken, in characters.
const MAX_REASON_CHARS: usize = 500;

/// The exit code that refuses a stop for which a client reads no reply.
const REFUSED: u8 = 2;

/// The variable that switches hooks off if it has the value [`OFF`].
const SWITCH: &str = "GATE";
const OFF: &str = "off";

pub(super) fn run(invocation: &Invocation, args: &Hook) -> Result<u8, Failure> {
    let called_at = Instant::now();
    if invocation.places.variable(SWITCH) == Some(OFF) {
        return Ok(DONE);
    }
    let client = hook::client(args.agent);
    let deadline = args.deadline.unwrap_or_else(|| client.deadline());
    let received = receive(called_at + PATIENCE.min(deadline));
    // An event that cannot be read is a stop that gate cannot decide: it is answered below.
    let event_value = received.as_ref().unwrap_or(&Value::Null);
    let payload = Payload::new(event_value, &invocation.places.environment);
    let client = client.for_sender(args.agent, &payload);
    let event = client.event(&payload);
    if event.kind == EventKind::MidTurn {
        return Ok(DONE);
    }
    let agent = args.agent;
    let scene = EventScene { invocation, agent, client: &client, payload: &payload, event: &event };
    let ground = scene.ground();
    let Some(places) = ground.projects.first() else { return Ok(DONE) };
    // A program that reads the hook files of several clients calls the hook of each, and one of
    // them judges.
    if client.is_dialect()
        && let Some(session) = &event.session
        && !is_first_hook(places.state.as_deref(), &places.top(), agent, session)
    {
        return Ok(DONE);
    }
    let start = ClientStart::detect(agent, &payload, places);
    let invocation = Invocation { places: places.clone() };
    let (kind, is_refused_by_code) = (event.kind, event.is_refused_by_code);
    let grounds = match kind {
        EventKind::Stop => Some(scene.grounds(ground)),
        _ => None,
    };
    let call = HookCall { agent, payload, event, start, called_at, deadline };
    if let Some(grounds) = grounds {
        return match call.answer(grounds, received.as_ref().err()) {
            StopReply::Refuse(reason) if is_refused_by_code => {
                let _ = writeln!(stderr().lock(), "{reason}");
                Ok(REFUSED)
            }
            stop_reply => print_reply(&client, stop_reply),
        };
    }
    match kind {
        EventKind::SessionStart => {
            if let Err(failure) = call.begin_session(&invocation) {
                complain("the baseline of this session", &failure);
            }
        }
        EventKind::Prompt => return begin_turn(&invocation, &call),
        EventKind::SessionEnd | EventKind::Stop | EventKind::MidTurn => {
            call.end_session(&invocation);
        }
    }
    Ok(DONE)
}

/// Handles a prompt. The client gets a reply only if the prompt is a command to gate.
fn begin_turn(invocation: &Invocation, call: &HookCall<'_>) -> Result<u8, Failure> {
    match call.begin_turn(invocation) {
        Ok(None) => {}
        Ok(Some(answer)) => {
            let text = match answer {
                PromptAnswer::Reply(reply) => return print(&format!("{reply}\n")).map(|()| DONE),
                PromptAnswer::Status => status::text(invocation),
                PromptAnswer::Last => last::text(invocation),
                PromptAnswer::Goals => goal::text(invocation),
            };
            let text = text.unwrap_or_else(|failure| render::message(&failure));
            let plain = strip_str(&text).to_string();
            print(&format!("{}\n", hook::prompt_reply(call.agent, &secrets::masked(&plain))))?;
        }
        Err(failure) => complain("at the prompt", &failure),
    }
    Ok(DONE)
}

/// Reports a failure that is nothing to the client.
fn complain(topic: &str, failure: &Failure) {
    let problem = gate_core::text::brief(&render::message(failure), MAX_REASON_CHARS);
    let _ = writeln!(stderr().lock(), "gate: {topic}: {problem}");
}

/// Receives the client's event. It ends with its object: a client that does not close its side
/// must not hang on its own hook.
fn receive(deadline: Instant) -> Result<Value, Failure> {
    let bytes = read_event(deadline).map_err(|error| bad_event(&error.to_string()))?;
    let value = parse(&bytes).map_err(|error| bad_event(&format!("no JSON: {error}")))?;
    if value.is_object() { Ok(value) } else { Err(bad_event("no JSON object")) }
}

fn bad_event(problem: &str) -> Failure {
    Failure::usage("hook-input", format!("the event on stdin: {problem}"))
}

/// The JSON behind a byte order mark, which some clients write.
fn parse(bytes: &[u8]) -> serde_json::Result<Value> {
    serde_json::from_slice(bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes))
}

/// The standard input up to the end of an object, or all of it, if that comes in time.
fn read_event(deadline: Instant) -> io::Result<Vec<u8>> {
    let (sender, blocks) = mpsc::channel();
    // A thread of its own, since a read waits: it ends with the program.
    thread::spawn(move || {
        let mut block = vec![0; 64 << 10];
        loop {
            let read = io::stdin().read(&mut block).map(|length| block[..length].to_vec());
            let is_last = !matches!(&read, Ok(block) if !block.is_empty());
            if sender.send(read).is_err() || is_last {
                break;
            }
        }
    });
    let mut bytes = Vec::new();
    loop {
        let remaining = deadline.saturating_duration_since(Instant::now());
        let block = blocks
            .recv_timeout(remaining)
            .map_err(|_| io::Error::new(io::ErrorKind::TimedOut, "it did not end in time"))??;
        match block.len() {
            0 => return Ok(bytes),
            _ if bytes.len() > MAX_INPUT_BYTES => return Err(io::Error::other("it is too long")),
            _ => bytes.extend_from_slice(&block),
        }
        // Only a text that ends like an object is worth to be parsed: an event may be long.
        let may_be_whole = bytes.trim_ascii_end().ends_with(b"}");
        if may_be_whole && parse(&bytes).is_ok() {
            return Ok(bytes);
        }
    }
}

/// Prints the reply: a refusal alone on stdout, or else only a message for the person, if there
/// is one.
fn print_reply(client: &Client, stop_reply: StopReply) -> Result<u8, Failure> {
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

//! The doubts that a person typed a command in a prompt. A client reports a prompt that it sends by
//! itself just as it reports a typed one.

use std::path::Path;

use gate_checks::process::ProcessStat;
use gate_core::decide::situation::Presence;
use serde_json::Value;

use super::session::{ClientProcess, Session};
use super::{HookCall, has_same_words};
use crate::agent::Process;
use crate::clients::facts;
use crate::tool_inputs::{ToolInputs, tail};

/// Bytes at the end of a transcript that are searched for the record behind a prompt.
const MAX_TAIL_BYTES: u64 = 1 << 20;

/// Shells and small tools between a hook and the program that started it.
const WRAPPERS: [&str; 10] =
    ["sh", "bash", "dash", "zsh", "fish", "env", "timeout", "nohup", "setsid", "script"];

/// Programs that inherit orphans.
const INITS: [&str; 7] =
    ["systemd", "init", "tini", "dumb-init", "docker-init", "catatonit", "launchd"];

/// Why a prompt is not taken for a person's word; `None` if a person typed it.
pub(super) fn doubt(call: &HookCall<'_>, session: Option<&Session>) -> Option<String> {
    let text = call.event.prompt_text.as_deref().unwrap_or_default().trim();
    if let Some(entry) = &call.start.unknown_entry {
        return Some(format!("gate does not know who sits in front of a client with {entry}"));
    }
    match call.start.presence {
        Presence::Person => {}
        Presence::Nobody => return Some("nobody sits in front of this client".to_owned()),
        Presence::Unknown => {
            return Some("gate cannot find out who sits in front of this client".to_owned());
        }
    }
    let mut scheduled_prompts = session.into_iter().flat_map(|session| &session.state.scheduled);
    if scheduled_prompts.any(|prompt| has_same_words(prompt, text)) {
        return Some("the client was scheduled to send it".to_owned());
    }
    let transcript = call.event.transcript.as_deref();
    let records = &facts(call.agent).hook.unattended_records;
    if let Some(record) = transcript.and_then(|file| record_behind(file, records, text)) {
        return Some(format!("the client sent it by itself ({record})"));
    }
    if ToolInputs::read(transcript).can_send(text) {
        return Some("a call of the agent sends the same words".to_owned());
    }
    let client = session.and_then(|session| session.state.client);
    if client.zip(starter()).is_some_and(|(client, starter)| client != starter) {
        return Some("another program than this session's client started this hook".to_owned());
    }
    is_orphan().then(|| "no client started this hook".to_owned())
}

/// The program that started this hook.
pub(super) fn starter() -> Option<ClientProcess> {
    let stat = nearest_program()?;
    Some(ClientProcess { pid: stat.pid, start_ticks: stat.start_ticks })
}

/// The nearest program above this hook that is no shell.
fn nearest_program() -> Option<ProcessStat> {
    let mut ancestors = gate_checks::process::ancestors().filter_map(|process| process.stat);
    ancestors.find(|stat| !is_wrapper(stat))
}

/// The kind of the client's record behind a prompt that nobody typed: it follows the agent's last
/// message.
fn record_behind(transcript: &Path, records: &[String], text: &str) -> Option<String> {
    let tail = tail(transcript, MAX_TAIL_BYTES)?;
    let lines = tail.lines().rev().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut latest_records = lines.take_while(|record| record["type"] != "assistant");
    latest_records.find_map(|record| {
        let kinds = [record["subtype"].as_str(), record["type"].as_str()];
        let kind =
            kinds.into_iter().flatten().find(|kind| records.iter().any(|name| name == kind))?;
        // A record that is known by its type holds the prompt that was sent. One that is known by
        // its subtype may hold another text.
        let is_about_prompt = record["content"].as_str().is_none_or(|content| {
            kind != record["type"].as_str().unwrap_or_default() || has_same_words(content, text)
        });
        is_about_prompt.then(|| kind.to_owned())
    })
}

/// The program that started this hook is gone, and so the hook's parent is the system's first
/// program. A client waits for its hooks, so no client started this one.
pub(super) fn is_orphan() -> bool {
    let Some(stat) = nearest_program() else {
        // Only shells are above, up to the first process: nobody waits for the answer.
        return ProcessStat::read(std::process::id() as i32).is_some();
    };
    if Process::new(&stat).agent.is_some() {
        return false;
    }
    let parent = ProcessStat::read(stat.parent);
    is_init(&stat) || parent.is_some_and(|parent| is_init(&parent))
}

fn is_wrapper(stat: &ProcessStat) -> bool {
    WRAPPERS.contains(&stat.name.as_str()) && Process::new(stat).agent.is_none()
}

fn is_init(stat: &ProcessStat) -> bool {
    INITS.contains(&stat.name.as_str()) && stat.session == stat.pid
}

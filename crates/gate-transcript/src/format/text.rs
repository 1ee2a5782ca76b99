//! Plain text: what agents print in text mode, through whatever runner.

use std::borrow::Cow;

use memchr::{memchr, memchr2_iter, memmem};
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::blocks::{Block, Lines, Passage, Pending, Plain, count_breaks};
use crate::clean::clean;
use crate::loose::Str;
use crate::out::Out;
use crate::spec::{KnownBy, Spec};
use crate::{ProblemKind, Role, Text};

pub(super) const TEXT: Spec = Spec {
    name: "text",
    family: &["text"],
    known_by: KnownBy::Lines(|_| false),
    open: |start| {
        let speaker = if start.unknown_json { Role::System } else { Role::Assistant };
        Box::new(Plain::new(PlainText { speaker, header: start.header, ..PlainText::default() }))
    },
};

/// Lines that begin what a runner adds after the agent's output (ralph-tui 0.x).
const TRAILERS: [&str; 2] = ["--- STDERR ---", "--- SUBAGENT TRACE ---"];

/// The JSON exit signal's protocol: an agent's own words, although JSON.
const ANSWER: &str = "apm2_agent_exit";

/// The prefix of a server-sent event's data.
const EVENT_DATA: &str = "data: ";

/// JSON that an agent itself answers with: an object that names the exit
/// protocol as its own. JSON that only mentions the protocol is data.
pub(crate) fn is_answer(json: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Answer<'a> {
        #[serde(borrow, default)]
        protocol: Str<'a>,
    }
    memmem::find(json, ANSWER.as_bytes()).is_some()
        && match serde_json::from_slice::<Answer<'_>>(json) {
            Ok(answer) => &*answer.protocol == ANSWER,
            Err(_) => begins_as_answer(json),
        }
}

/// JSON that cannot be read but begins with the protocol's key.
fn begins_as_answer(json: &[u8]) -> bool {
    let inner = json.strip_prefix(b"{").unwrap_or(json).trim_ascii_start();
    inner.strip_prefix(b"\"").unwrap_or(inner).starts_with(b"protocol")
}

/// The block's text, clean, with a problem for each line that is not UTF-8.
pub(super) fn decode<'a>(block: &Block<'a>, out: &mut Out<'_>) -> Cow<'a, str> {
    match simdutf8::basic::from_utf8(block.bytes) {
        Ok(text) => clean(text),
        Err(_) => Cow::Owned(clean(&decode_lossy(block, out)).into_owned()),
    }
}

fn decode_lossy(block: &Block<'_>, out: &mut Out<'_>) -> String {
    let mut text = String::with_capacity(block.bytes.len());
    let mut line = block.line;
    let mut reported_line = 0;
    for chunk in block.bytes.utf8_chunks() {
        line += count_breaks(chunk.valid());
        text.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            text.push(char::REPLACEMENT_CHARACTER);
            if std::mem::replace(&mut reported_line, line) != line {
                out.at_line(line).problem(ProblemKind::InvalidUtf8);
            }
        }
    }
    text
}

/// Finds the speaker of each line; lines of one speaker are handed on together.
#[derive(Debug)]
pub(super) struct PlainText {
    /// The speaker of lines that have no other.
    speaker: Role,
    /// Lines at the beginning that are a runner's header.
    header: u64,
    /// The runner's trailer has begun.
    in_trailer: bool,
    /// The roles that have spoken: the text that they say next continues the one before.
    spoken_roles: Vec<Role>,
}

impl Default for PlainText {
    fn default() -> Self {
        Self { speaker: Role::Assistant, header: 0, in_trailer: false, spoken_roles: Vec::new() }
    }
}

impl Lines for PlainText {
    fn block(&mut self, block: Block<'_>, out: &mut Out<'_>) {
        let text = decode(&block, out);
        let mut pending = Pending::new(&text, block.line);
        let mut role = self.role(block.line);
        let (mut searched, mut number) = (0, block.line);
        while let Some(start) = self.next_line(&text, searched) {
            number += count_breaks(&text[searched..start]);
            let line = line_at(&text, start);
            let is_line_start = start > 0 || block.starts_line;
            self.in_trailer |=
                is_line_start && self.header > 0 && TRAILERS.contains(&line.trim_end());
            let data_role = is_line_start.then(|| self.data_role(line)).flatten();
            if data_role.is_some() || self.role(number) != role {
                self.say(role, pending.take_until(start, number), out);
                role = self.role(number);
            }
            if let Some(role) = data_role {
                // Its line break stays with the text around it, whose lines
                // would be miscounted otherwise.
                let end = start + line.trim_end_matches('\n').len();
                let Passage { text, line } = pending.take_until(end, number);
                out.text(Text { role, text, line, multiline: true, continues: false });
            }
            searched = start + line.len();
            number += 1;
        }
        self.say(role, pending.into_passage(), out);
    }

    /// Behind a runner's header, each line may be the one that ends the text.
    fn can_skip(&self) -> bool {
        self.header == 0
    }
}

impl PlainText {
    /// The beginning of the next line that may belong to another speaker.
    fn next_line(&self, text: &str, searched: usize) -> Option<usize> {
        if self.header > 0 {
            return (searched < text.len()).then_some(searched);
        }
        let bytes = text.as_bytes();
        let mut brackets = memchr2_iter(b'{', b'[', &bytes[searched..]);
        brackets.find_map(|distance| {
            let head = &bytes[..searched + distance];
            let lines = head.strip_suffix(EVENT_DATA.as_bytes()).unwrap_or(head);
            (lines.is_empty() || lines.ends_with(b"\n")).then_some(lines.len())
        })
    }

    /// The speaker of a line that is JSON and no part of the text around it: a tool, or the
    /// agent if it answers among JSON that is nobody's.
    fn data_role(&self, line: &str) -> Option<Role> {
        if is_data(line) {
            return Some(Role::Tool);
        }
        let is_agents = self.speaker == Role::System && is_answer(line.trim_end().as_bytes());
        is_agents.then_some(Role::Assistant)
    }

    fn role(&self, line: u64) -> Role {
        if line <= self.header || self.in_trailer { Role::System } else { self.speaker }
    }

    fn say(&mut self, role: Role, passage: Passage<'_>, out: &mut Out<'_>) {
        let continues = self.spoken_roles.contains(&role);
        let Passage { text, line } = if continues { passage } else { passage.skip_blank() };
        if !text.is_empty() {
            out.text(Text { role, text, line, multiline: true, continues });
            if !continues {
                self.spoken_roles.push(role);
            }
        }
    }
}

fn line_at(text: &str, start: usize) -> &str {
    let length = memchr(b'\n', &text.as_bytes()[start..]);
    &text[start..length.map_or(text.len(), |length| start + length + 1)]
}

fn is_data(line: &str) -> bool {
    let line = line.trim_end();
    let json = line.strip_prefix(EVENT_DATA).unwrap_or(line);
    let is_object = json.starts_with('{') && json.ends_with('}');
    let is_array = json.starts_with("[{") && json.ends_with(']');
    (is_object || is_array)
        && !is_answer(json.as_bytes())
        && serde_json::from_str::<IgnoredAny>(json).is_ok()
}

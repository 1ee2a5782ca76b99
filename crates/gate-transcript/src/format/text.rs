//! Plain text: what agents print in text mode, through whatever runner.

use std::borrow::Cow;

use memchr::{memchr, memchr2_iter, memmem};
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::blocks::{Block, Lines, Plain, count_breaks, skip_blank};
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
        Box::new(Plain::new(Voice { speaker, header: start.header, ..Voice::default() }))
    },
};

/// Lines that begin what a runner adds after the agent's output (ralph-tui 0.x).
const TRAILERS: [&str; 2] = ["--- STDERR ---", "--- SUBAGENT TRACE ---"];

/// The JSON exit signal's protocol: an agent's own words, although JSON.
const ANSWER: &str = "apm2_agent_exit";

/// The prefix of a server-sent event's data.
const EVENT: &str = "data: ";

/// True for JSON that an agent itself answers with: an object that names the exit
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

/// True for JSON that cannot be read but begins with the protocol's key.
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
    let mut reported = 0;
    for chunk in block.bytes.utf8_chunks() {
        line += count_breaks(chunk.valid());
        text.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            text.push(char::REPLACEMENT_CHARACTER);
            if std::mem::replace(&mut reported, line) != line {
                out.at(line).problem(ProblemKind::InvalidUtf8);
            }
        }
    }
    text
}

/// Finds the speaker of each line; lines of one speaker are handed on together.
#[derive(Debug)]
pub(super) struct Voice {
    /// The speaker of what has no other.
    speaker: Role,
    header: u64,
    trailer: bool,
    /// The roles that have spoken: what they say next continues it.
    spoken: Vec<Role>,
}

impl Default for Voice {
    fn default() -> Self {
        Self { speaker: Role::Assistant, header: 0, trailer: false, spoken: Vec::new() }
    }
}

impl Lines for Voice {
    fn block(&mut self, block: Block<'_>, out: &mut Out<'_>) {
        let text = decode(&block, out);
        let mut part = Part { text: &text, from: 0, line: block.line };
        let mut role = self.role(block.line);
        let (mut at, mut number) = (0, block.line);
        while let Some(begin) = self.next_line(&text, at) {
            number += count_breaks(&text[at..begin]);
            let line = line_at(&text, begin);
            let whole = begin > 0 || block.starts_line;
            self.trailer |= whole && self.header > 0 && TRAILERS.contains(&line.trim_end());
            let data = whole.then(|| self.data(line)).flatten();
            if data.is_some() || self.role(number) != role {
                self.say(role, part.until(begin, number), out);
                role = self.role(number);
            }
            if let Some(role) = data {
                // Its line break stays with the text around it, whose lines
                // would be miscounted otherwise.
                let (data, _) = part.until(begin + line.trim_end_matches('\n').len(), number);
                out.text(Text {
                    role,
                    text: data,
                    line: number,
                    multiline: true,
                    continues: false,
                });
            }
            at = begin + line.len();
            number += 1;
        }
        self.say(role, part.until(text.len(), number), out);
    }

    /// Behind a runner's header, each line may be the one that ends the text.
    fn can_skip(&self) -> bool {
        self.header == 0
    }
}

impl Voice {
    /// The beginning of the next line that may belong to another speaker.
    fn next_line(&self, text: &str, at: usize) -> Option<usize> {
        if self.header > 0 {
            return (at < text.len()).then_some(at);
        }
        let bytes = text.as_bytes();
        let mut candidates = memchr2_iter(b'{', b'[', &bytes[at..]).map(|found| at + found);
        candidates.find_map(|found| {
            let line = bytes[..found].strip_suffix(EVENT.as_bytes()).unwrap_or(&bytes[..found]);
            (line.is_empty() || line.ends_with(b"\n")).then_some(line.len())
        })
    }

    /// Whose a line is that is JSON and no part of the text around it: a tool's,
    /// or the agent's if it answers among JSON that is nobody's.
    fn data(&self, line: &str) -> Option<Role> {
        if is_data(line) {
            return Some(Role::Tool);
        }
        let answers = self.speaker == Role::System && is_answer(line.trim_end().as_bytes());
        answers.then_some(Role::Assistant)
    }

    fn role(&self, line: u64) -> Role {
        if line <= self.header || self.trailer { Role::System } else { self.speaker }
    }

    fn say(&mut self, role: Role, (text, line): (&str, u64), out: &mut Out<'_>) {
        let continues = self.spoken.contains(&role);
        let (text, line) = if continues { (text, line) } else { skip_blank(text, line) };
        if !text.is_empty() {
            out.text(Text { role, text, line, multiline: true, continues });
            if !continues {
                self.spoken.push(role);
            }
        }
    }
}

/// The part of a text that was not handed on yet.
struct Part<'a> {
    text: &'a str,
    from: usize,
    line: u64,
}

impl<'a> Part<'a> {
    /// The text before `end`, which is a byte in line `number`, and the line where that
    /// text begins.
    fn until(&mut self, end: usize, number: u64) -> (&'a str, u64) {
        let part = (&self.text[self.from..end], self.line);
        (self.from, self.line) = (end, number);
        part
    }
}

fn line_at(text: &str, begin: usize) -> &str {
    let end = memchr(b'\n', &text.as_bytes()[begin..]);
    &text[begin..end.map_or(text.len(), |end| begin + end + 1)]
}

fn is_data(line: &str) -> bool {
    let line = line.trim_end();
    let line = line.strip_prefix(EVENT).unwrap_or(line);
    let object = line.starts_with('{') && line.ends_with('}');
    let array = line.starts_with("[{") && line.ends_with(']');
    (object || array)
        && !is_answer(line.as_bytes())
        && serde_json::from_str::<IgnoredAny>(line).is_ok()
}

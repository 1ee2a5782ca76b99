//! Another session's record: where one process of an agent ends and the next
//! begins, in a file that several have written one after the other.
//!
//! A process ends with a record `result` (Claude Code, Qwen, Gemini), with
//! `turn.completed` or `turn.failed` (`codex exec --json`), with `completion`
//! (droid), or with an `error` or a `step_finish` that waits for no tool
//! (OpenCode). After it, a record of another session begins an iteration, and so do `thread.started` and, in a
//! file of results alone, the next result. A record of the same session does
//! not: the agent answers a task that ran in the background.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::Cut;

/// The longest record that may be a mark, in bytes.
pub(super) const MAX_LINE_BYTES: usize = 1 << 20;

/// The first bytes of a record, which show if it has to be parsed.
const GLANCE_BYTES: usize = 64;

/// State of the iteration.
#[derive(Debug, Default)]
pub(super) struct Stream {
    /// Its session, once a record has named it.
    session: Option<String>,
    /// Its process has ended.
    ended: bool,
    /// It holds records of other kinds than `result`.
    mixed: bool,
}

/// The members of a record that count here.
#[derive(Deserialize)]
struct Record<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Cow<'a, str>>,
    /// OpenCode spells it `sessionID`.
    #[serde(borrow, alias = "sessionID")]
    session_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    part: Option<&'a RawValue>,
}

/// The members of a part of OpenCode's that count here.
#[derive(Deserialize)]
struct Step<'a> {
    #[serde(borrow)]
    reason: Option<Cow<'a, str>>,
}

impl Record<'_> {
    /// A record with which a process ends.
    fn is_end(&self, kind: &str) -> bool {
        match kind {
            "result" | "turn.completed" | "turn.failed" | "completion" => true,
            // Other agents go on after an error, in their own session.
            "error" => self.session_id.is_some(),
            "step_finish" => self.part.is_some_and(is_last_step),
            _ => false,
        }
    }
}

fn is_last_step(part: &RawValue) -> bool {
    let step = serde_json::from_str::<Step<'_>>(part.get());
    step.is_ok_and(|step| step.reason.is_some_and(|reason| reason != "tool-calls"))
}

impl Stream {
    /// A stream of records begins like this, perhaps after a few other lines.
    pub(super) fn detect(head: &[u8]) -> Option<Self> {
        let mut lines = head.split(|&byte| byte == b'\n');
        lines.any(|line| line.starts_with(b"{\"type\"")).then(Self::default)
    }

    pub(super) fn judge(&mut self, line: &[u8]) -> Cut {
        if !self.ended && !may_matter(line) {
            self.mixed |= !line.trim_ascii().is_empty();
            return Cut::No;
        }
        let Ok(record) = serde_json::from_slice::<Record<'_>>(line) else {
            self.mixed |= !line.trim_ascii().is_empty();
            return Cut::No;
        };
        let kind = record.kind.as_deref().unwrap_or_default();
        let session = record.session_id.as_deref();
        let begins_iteration = self.ended && self.is_of_another_session(kind, session);
        if begins_iteration {
            *self = Self::default();
        }
        self.mixed |= kind != "result";
        self.ended |= record.is_end(kind);
        if let Some(session) = record.session_id {
            self.session = Some(session.into_owned());
        }
        if begins_iteration { Cut::Before } else { Cut::No }
    }

    fn is_of_another_session(&self, kind: &str, session: Option<&str>) -> bool {
        let sessions = self.session.as_deref().zip(session);
        let is_other = sessions.is_some_and(|(current, session)| current != session);
        is_other || kind == "thread.started" || (kind == "result" && !self.mixed)
    }
}

fn may_matter(line: &[u8]) -> bool {
    let glance = &line[..line.len().min(GLANCE_BYTES)];
    let kinds: [&[u8]; 6] =
        [b"init\"", b"result\"", b"turn.", b"completion\"", b"\"error\"", b"step_finish\""];
    glance.starts_with(b"{")
        && kinds.iter().any(|kind| memchr::memmem::find(glance, kind).is_some())
}

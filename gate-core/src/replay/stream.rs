//! Another session's record: where one process of an agent ends and the next
//! begins, in a file that several have written one after the other.
//!
//! A process ends with a record `result` (Claude Code, Qwen, Gemini), or with
//! `turn.completed` or `turn.failed` (`codex exec --json`). After it, a record
//! of another session begins an iteration, and so do `thread.started` and, in a
//! file of results alone, the next result. A record of the same session does
//! not: the agent answers a task that ran in the background.

use std::borrow::Cow;

use serde::Deserialize;

use super::Cut;

/// The longest record that may be a mark, in bytes.
pub(super) const LONGEST: usize = 1 << 20;

/// How much of a record is looked at to see whether it has to be parsed.
const GLANCE: usize = 64;

/// What is known of the iteration.
#[derive(Debug, Default)]
pub(super) struct Stream {
    /// Its session, once a record has told.
    session: Option<String>,
    /// Whether its process has ended.
    ended: bool,
    /// Whether it holds anything but results.
    mixed: bool,
}

/// What is needed of a record.
#[derive(Deserialize)]
struct Record<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    session_id: Option<Cow<'a, str>>,
}

impl Stream {
    /// A stream of records begins like this, perhaps after a few other lines.
    pub(super) fn of(head: &[u8]) -> Option<Self> {
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
        let begins = self.ended && self.is_another(kind, record.session_id.as_deref());
        if begins {
            *self = Self::default();
        }
        self.mixed |= kind != "result";
        self.ended |= matches!(kind, "result" | "turn.completed" | "turn.failed");
        if let Some(session) = record.session_id {
            self.session = Some(session.into_owned());
        }
        if begins { Cut::Before } else { Cut::No }
    }

    /// Whether this record, after the end of the process, is another one's.
    fn is_another(&self, kind: &str, session: Option<&str>) -> bool {
        let other = self.session.as_deref().zip(session).is_some_and(|(known, new)| known != new);
        other || kind == "thread.started" || (kind == "result" && !self.mixed)
    }
}

/// Whether the record has to be parsed: by its type, which stands first.
fn may_matter(line: &[u8]) -> bool {
    let glance = &line[..line.len().min(GLANCE)];
    let kinds: [&[u8]; 3] = [b"init\"", b"result\"", b"turn."];
    glance.starts_with(b"{")
        && kinds.iter().any(|kind| memchr::memmem::find(glance, kind).is_some())
}

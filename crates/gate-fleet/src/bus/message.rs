//! A message, before and after it was written.

use jiff::Timestamp;
use serde::{Serialize, Serializer};

use super::escape::{MARK, escaped};
use crate::stamp::{Stamp, compact};
use crate::tree::{Entry, Node, members};
use crate::yaml;

/// The longest body that is written, in bytes.
pub const LONGEST_BODY: usize = 1 << 20;

/// The longest word of a header that is written, in bytes.
const LONGEST_WORD: usize = 4096;

/// The type of messages that are issues.
const ISSUE: &str = "ISSUE";

/// An entry of a bus.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Message {
    /// Its id, which nobody chooses.
    pub msg_id: String,
    /// When it was written (RFC 3339, UTC), by its own header; empty if that has no time.
    pub ts: String,
    /// Its type: `FACT`, `QUESTION`, `RUN_STOP`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The project's id.
    pub project_id: String,
    /// The task's id; empty for a message to the project.
    pub task_id: String,
    /// The run that wrote it; empty if no run did.
    pub run_id: String,
    /// An issue's number: its id.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub issue_id: String,
    /// The messages that it answers, corrects or belongs to.
    pub parents: Vec<Parent>,
    /// Files and addresses that it refers to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<Link>,
    /// Keys and values of programs, in order.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "as_map")]
    pub meta: Vec<(String, String)>,
    /// Its text.
    pub body: String,
    /// Keys that are not known here.
    #[serde(skip)]
    pub extra: Extra,
}

/// Keys of a message that are not known here: they are written again as they were.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extra(pub(super) Vec<Entry>);

/// A message that another belongs to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Parent {
    /// Its id.
    pub msg_id: String,
    /// Kind of the relation; empty means an answer.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// Keys and values of programs.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "as_map")]
    pub meta: Vec<(String, String)>,
}

/// A file or an address that a message points to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Link {
    /// An absolute path or an address.
    pub url: String,
    /// Label for a person.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// Kind for a program.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub kind: String,
}

/// The fault for which a message cannot be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadMessage {
    /// It is of no type.
    #[error("message type is empty")]
    NoType,
    /// It belongs to no project.
    #[error("project id is empty")]
    NoProject,
    /// A word of its header has several lines, or is too long.
    #[error("{key}: one line without control characters is expected, at most 4096 bytes")]
    Word {
        /// The key.
        key: &'static str,
    },
    /// It is too long.
    #[error("the body has {0} bytes, and {LONGEST_BODY} are the most: link to a file instead")]
    Long(usize),
}

impl Message {
    /// A message of a type to a project, without an id, a time and a text so far.
    pub fn new(kind: &str, project_id: &str) -> Self {
        Self { kind: kind.to_owned(), project_id: project_id.to_owned(), ..Self::default() }
    }

    /// The message with its id and its time, both of this stamp.
    ///
    /// # Errors
    ///
    /// As [`Message::check`].
    pub fn stamped(self, stamp: Stamp) -> Result<Self, BadMessage> {
        self.check()?;
        let msg_id = id(stamp);
        let issue_id = if self.kind == ISSUE { msg_id.clone() } else { String::new() };
        Ok(Self { msg_id, ts: stamp.time.to_string(), issue_id, ..self })
    }

    /// Checks that it may be written.
    ///
    /// # Errors
    ///
    /// No type, no project, a word of the header with a line break or above 4096 bytes, too long
    /// a body.
    pub fn check(&self) -> Result<(), BadMessage> {
        if self.kind.trim().is_empty() {
            return Err(BadMessage::NoType);
        }
        if self.project_id.trim().is_empty() {
            return Err(BadMessage::NoProject);
        }
        if let Some((key, _)) = self.words().find(|(_, word)| !is_word(word)) {
            return Err(BadMessage::Word { key });
        }
        match self.body.len() {
            0..=LONGEST_BODY => Ok(()),
            length => Err(BadMessage::Long(length)),
        }
    }

    fn words(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let ids = [
            ("type", self.kind.as_str()),
            ("project_id", &self.project_id),
            ("task_id", &self.task_id),
            ("run_id", &self.run_id),
        ];
        let parents = self.parents.iter().flat_map(|parent| [parent.msg_id.as_str(), &parent.kind]);
        let links = self.links.iter().flat_map(|link| [link.url.as_str(), &link.label, &link.kind]);
        let parents_meta = self.parents.iter().flat_map(|parent| parent.meta.iter());
        let meta = self.meta.iter().chain(parents_meta);
        let meta = meta.flat_map(|(key, value)| [key.as_str(), value]);
        ids.into_iter()
            .chain(parents.map(|word| ("parents", word)))
            .chain(links.map(|word| ("links", word)))
            .chain(meta.map(|word| ("meta", word)))
    }

    /// When it was written; `None` if its header has no time.
    pub fn time(&self) -> Option<Timestamp> {
        self.ts.parse().ok()
    }

    /// The entry, from its `---` to its last line break. Behind another entry an
    /// empty line stands before it.
    pub fn to_entry(&self) -> String {
        let mut header = members(self);
        // In JSON alone, a list without parents is there as well.
        header.retain(|entry| {
            entry.key != "body" && (entry.key != "parents" || !entry.value.is_empty())
        });
        for entry in header.iter_mut().filter(|entry| entry.key == "ts" && self.time().is_some()) {
            // In quotes it would be text, and no moment, to other readers of YAML.
            entry.value = Node::plain(self.ts.as_str());
        }
        header.extend(self.extra.0.iter().cloned());
        let body = escaped(&self.body);
        let end = if body.ends_with('\n') { "" } else { "\n" };
        format!("{MARK}\n{}{MARK}\n{body}{end}", yaml::text(header))
    }
}

impl Parent {
    /// A message that is answered or corrected.
    pub fn new(msg_id: &str) -> Self {
        Self { msg_id: msg_id.to_owned(), ..Self::default() }
    }
}

fn is_word(text: &str) -> bool {
    text.len() <= LONGEST_WORD && !text.contains(breaks_line)
}

fn breaks_line(char: char) -> bool {
    char.is_control() || matches!(char, '\u{2028}' | '\u{2029}')
}

fn as_map<S: Serializer>(pairs: &[(String, String)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().map(|(key, value)| (key, value)))
}

/// A message's id, as `MSG-20260220-153045-500000000-PID04121-0001`: its moment to the nanosecond,
/// its process and the process's counter.
fn id(Stamp { time, pid, seq }: Stamp) -> String {
    let nanos = time.as_nanosecond().rem_euclid(1_000_000_000);
    format!("MSG-{}-{nanos:09}-PID{:05}-{:04}", compact(time), pid % 100_000, seq % 10_000)
}

/// A text that has the form of a message's id.
pub fn is_message_id(text: &str) -> bool {
    let form = "MSG-00000000-000000-000000000-PID00000-0000";
    let mut pairs = text.bytes().zip(form.bytes());
    text.len() == form.len()
        && pairs.all(|(byte, sample)| match sample {
            b'0' => byte.is_ascii_digit(),
            _ => byte == sample,
        })
}

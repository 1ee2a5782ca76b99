//! `chatSessions/ID.jsonl` of VS Code: a session, and each change to it on a line.
//!
//! Source: microsoft/vscode, `src/vs/workbench/contrib/chat/common/model/objectMutationLog.ts`. The
//! changes are made to the last request alone: what changes in one before it says nothing new of a
//! turn that has ended.

use serde_json::Value;

use super::{Chat, Request};
use crate::json::{Json, Records, records};
use crate::loose::{List, Num};
use crate::out::Out;
use crate::spec::{KnownBy, Spec};
use crate::{Boundary, MAX_RECORD, ProblemKind};

pub(in crate::format) const VSCODE_SESSION: Spec = Spec {
    name: "vscode-session",
    family: &["vscode"],
    known_by: KnownBy::Record(|shape| {
        shape.first_key() == Some(b"kind") && shape.inner("v").has("requests")
    }),
    open: |_| Box::new(Json::new(Log::default())),
};

/// Follows the changes.
#[derive(Debug, Default)]
struct Log {
    chat: Chat,
    /// Requests of the session.
    count: usize,
    /// The last of them, if it can still change.
    request: Option<Value>,
    /// The line that changed it last.
    line: u64,
    /// Bytes of the records that made it.
    size: usize,
    /// Bytes of the record that comes.
    record_size: usize,
}

records! {
    struct Change {
        kind: Num,
        /// The path to what changes: keys of objects and indexes of arrays.
        "k" => path: List<Value>,
        "v" => value: Value,
        /// The length that an array is cut to before it grows.
        "i" => length: Num,
    }
}

impl Records for Log {
    type Record<'a> = Change;

    fn inspect(&mut self, json: &str) {
        self.record_size = json.len();
    }

    fn take(&mut self, change: Change, out: &mut Out<'_>) {
        let length = change.length.whole().and_then(|length| usize::try_from(length).ok());
        let path: Vec<&Value> = change.path.0.iter().collect();
        let is_of_requests = path.first().is_some_and(|key| *key == "requests");
        match (change.kind.whole(), &*path) {
            (Some(0), _) => self.open(change.value, out),
            (Some(1 | 3), [_]) if is_of_requests => self.splice(Some(0), change.value, out),
            (Some(2), [_]) if is_of_requests => self.splice(length, change.value, out),
            (Some(kind), [_, index, path @ ..]) if is_of_requests => {
                let line = out.line();
                let is_last = index.as_u64() == (self.count as u64).checked_sub(1);
                let request = if is_last { self.request.as_mut() } else { None };
                let Some(target) = request.and_then(|request| at_path(request, path)) else {
                    return;
                };
                if kind == 2 {
                    push(target, length, change.value);
                } else {
                    *target = change.value;
                }
                self.line = line;
                self.size += self.record_size;
            }
            _ => {}
        }
        if self.size > MAX_RECORD && self.request.take().is_some() {
            out.problem(ProblemKind::Oversized);
            self.chat.talk.turn(Boundary::Unanswered, out);
        }
    }

    fn finish(&mut self, out: &mut Out<'_>) {
        self.close(out);
        self.chat.finish(out);
    }
}

impl Log {
    /// Begins a session.
    fn open(&mut self, mut session: Value, out: &mut Out<'_>) {
        self.close(out);
        self.chat.session(session["sessionId"].as_str().unwrap_or_default(), out);
        self.count = 0;
        self.splice(None, session["requests"].take(), out);
    }

    /// Cuts the requests to this number, if there is one, and adds some.
    fn splice(&mut self, length: Option<usize>, requests: Value, out: &mut Out<'_>) {
        if let Some(length) = length.filter(|length| *length < self.count) {
            // The person took requests back, and what the agent said to them does not stand.
            self.request = None;
            self.count = length;
            self.chat.talk.turn(Boundary::Unanswered, out);
        }
        let Value::Array(requests) = requests else { return };
        let line = out.line();
        for request in requests {
            self.close(out);
            self.count += 1;
            self.request = Some(request);
            self.line = line;
            self.size = self.record_size;
        }
    }

    /// The last request changes no more.
    fn close(&mut self, out: &mut Out<'_>) {
        let line = out.line();
        let text = self.request.take().map(|request| request.to_string());
        let request = text.as_deref().map(serde_json::from_str::<Request<'_>>);
        if let Some(Ok(request)) = request {
            self.chat.request(&request, out.at_line(self.line));
        }
        out.at_line(line);
    }
}

/// The value at this path; a last key that is missing is added.
fn at_path<'v>(value: &'v mut Value, path: &[&Value]) -> Option<&'v mut Value> {
    path.iter().try_fold(value, |value, step| match (value, step) {
        (Value::Object(members), Value::String(key)) => {
            Some(members.entry(key.as_str()).or_insert(Value::Null))
        }
        (Value::Array(elements), Value::Number(index)) => {
            elements.get_mut(usize::try_from(index.as_u64()?).ok()?)
        }
        _ => None,
    })
}

fn push(array: &mut Value, length: Option<usize>, added: Value) {
    if !array.is_array() {
        *array = Value::Array(Vec::new());
    }
    if let Value::Array(elements) = array {
        elements.truncate(length.unwrap_or(usize::MAX));
        if let Value::Array(added) = added {
            elements.extend(added);
        }
    }
}

//! A model on loopback that says what a test has written for it, and
//! remembers what it was asked.

use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use serde_json::{Value, json};
use tiny_http::{Header, Method, Request, Response, Server};

use super::wire::{Said, Sent, Wire, error, whole};

/// One reply of the model.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// It says this, and its turn ends.
    Says(&'static str),
    /// It runs this in a shell.
    Runs(&'static str),
    /// It calls this tool with this JSON.
    Calls(&'static str, &'static str),
    /// It does not answer but with this status.
    Fails(u16),
}

/// Words in the prompt of a helper. It does the work once, and reports.
pub(super) const HELPER: &str = "You are the helper.";

/// The work of a helper, which takes a while.
const HELP: &str = "sleep 4; echo straight > shelf.txt";

/// How the model of a client calls its shell: the tool's name, and its input.
pub(super) type Shell = fn(&str) -> (&'static str, Value);

/// What to say, and what was asked.
struct Mind {
    script: Vec<Reply>,
    shell: Shell,
    asked: Mutex<Vec<Value>>,
}

/// A model that listens on 127.0.0.1 while it lives.
pub(super) struct Model {
    server: Arc<Server>,
    mind: Arc<Mind>,
    thread: Option<JoinHandle<()>>,
}

impl Model {
    /// Starts to listen. The last reply is said for ever.
    pub(super) fn start(script: &[Reply], shell: Shell) -> Self {
        let server = Arc::new(Server::http("127.0.0.1:0").unwrap());
        let mind = Arc::new(Mind { script: script.to_vec(), shell, asked: Mutex::default() });
        let (heard, thinks) = (server.clone(), mind.clone());
        let serve = move || {
            for request in heard.incoming_requests() {
                thinks.answer(request);
            }
        };
        Self { server, mind, thread: Some(thread::spawn(serve)) }
    }

    /// Where it listens.
    pub(super) fn url(&self) -> String {
        format!("http://{}", self.server.server_addr())
    }

    /// What was asked of it in the conversation, in order.
    pub(super) fn asked(&self) -> Vec<Value> {
        self.mind.asked.lock().unwrap().clone()
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        self.server.unblock();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Mind {
    fn answer(&self, mut request: Request) {
        let path = request.url().to_owned();
        let mut text = String::new();
        let read = request.as_reader().read_to_string(&mut text);
        let asked = read.ok().and_then(|_| serde_json::from_str(&text).ok());
        let (status, sent) = match (request.method(), asked, Wire::of(&path)) {
            (Method::Post, Some(asked), Some(wire)) => self.reply(wire, &path, asked),
            (Method::Post, ..) => (200, whole(&json!({"input_tokens": 100, "totalTokens": 100}))),
            (Method::Head, ..) => (200, whole(&Value::Null)),
            _ => (404, error(404)),
        };
        let kind = Header::from_bytes("content-type", sent.kind).unwrap();
        let response = Response::from_string(sent.body).with_status_code(status);
        // A client that has gone is no fault of the model.
        let _ = request.respond(response.with_header(kind));
    }

    fn reply(&self, wire: Wire, path: &str, asked: Value) -> (u16, Sent) {
        let mut all = self.asked.lock().unwrap();
        let number = all.len();
        let is_beside = is_aside(&asked) || is_helper(&asked);
        let said = if is_aside(&asked) {
            Said { text: aside(wire), call: None }
        } else if is_helper(&asked) {
            let has_worked = asked.to_string().contains("tool_result");
            let call = (!has_worked).then(|| (self.shell)(HELP));
            Said { text: "I mend the other half.".to_owned(), call }
        } else {
            match self.script.get(number).or(self.script.last()) {
                Some(Reply::Says(text)) => Said { text: (*text).to_owned(), call: None },
                Some(Reply::Runs(command)) => {
                    let call = Some((self.shell)(command));
                    Said { text: "I am at it.".to_owned(), call }
                }
                Some(Reply::Calls(name, input)) => {
                    let call = Some((*name, serde_json::from_str(input).unwrap()));
                    Said { text: "I am at it.".to_owned(), call }
                }
                Some(Reply::Fails(status)) => {
                    all.push(asked);
                    return (*status, error(*status));
                }
                None => Said { text: String::new(), call: None },
            }
        };
        let sent = wire.say(path, &asked, number, &said);
        if !is_beside {
            all.push(asked);
        }
        (200, sent)
    }
}

/// Whether a client asks for something beside the conversation, such as a
/// title: it offers no tools then.
fn is_aside(asked: &Value) -> bool {
    asked["tools"].as_array().is_none_or(Vec::is_empty)
}

/// Whether a helper asks, and not the agent that started it.
fn is_helper(asked: &Value) -> bool {
    asked["messages"].get(0).is_some_and(|first| first.to_string().contains(HELPER))
}

/// What suits any such question.
fn aside(wire: Wire) -> String {
    match wire {
        Wire::Gemini => json!({"reasoning": "It has ended.", "next_speaker": "user"}).to_string(),
        _ => "A shelf".to_owned(),
    }
}

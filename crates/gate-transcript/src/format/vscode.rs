//! The chat of VS Code, as "Chat: Export Chat…" and `chatSessions/ID.json` have it: one object with all
//! requests. `vscode/log.rs` reads the newer `ID.jsonl`.
//!
//! Sources: microsoft/vscode, `src/vs/workbench/contrib/chat/common/`: `ISerializableChatData` in
//! `model/chatModel.ts`, and the parts of a response in `chatService/chatService.ts`. Of a sub-agent
//! only calls stand in the response.

mod log;

pub(super) use log::VSCODE_SESSION;

use std::borrow::Cow;

use crate::json::{Json, Records, records};
use crate::loose::{Flag, Leaves, List, Num, Object, Str};
use crate::out::Out;
use crate::shape::Shape;
use crate::spec::{KnownBy, Spec};
use crate::talk::Talk;
use crate::{Boundary, Ending, Role, Usage};

pub(super) const VSCODE_JSON: Spec = Spec {
    name: "vscode-json",
    family: &["vscode"],
    known_by: KnownBy::Record(|shape| !shape.in_array && is_session(shape)),
    open: |_| Box::new(Json::new(Chat::default())),
};

/// States of a response after which no answer stands there: it goes on, the person cancelled it,
/// or it waits for the person.
const UNFINISHED: [u64; 3] = [0, 2, 4];

/// Ways to confirm a call that are none: the person denied or skipped it.
const REFUSALS: [u64; 2] = [0, 5];

fn is_session(shape: &Shape<'_>) -> bool {
    let request = shape.inner("requests");
    let is_request = request.in_array && request.has("requestId") && request.has("message");
    shape.has("requests") && (shape.has("responderUsername") || is_request)
}

/// Follows the requests.
#[derive(Debug, Default)]
struct Chat {
    talk: Talk,
    /// A session came: the next one begins another.
    has_session: bool,
    usage: Usage,
}

records! {
    struct Session<'a> {
        "sessionId" => id: Str<'a>,
        requests: List<Object<Request<'a>>>,
    }

    /// A prompt with its response.
    struct Request<'a> {
        message: Object<Prompt<'a>>,
        /// The client sent it: a command in the background has ended.
        "isSystemInitiated" => is_system: Flag,
        /// The person took it back.
        "shouldBeRemovedOnSend" => removal: Object<Removal>,
        "isHidden" => is_hidden: Flag,
        "modelId" => model: Str<'a>,
        response: List<Object<Part<'a>>>,
        result: Object<Outcome<'a>>,
        "modelState" => state: Object<State>,
        /// Stands for the state in older versions.
        "isCanceled" => is_cancelled: Flag,
    }

    struct Prompt<'a> {
        text: Str<'a>,
    }

    struct Removal {}

    struct State {
        value: Num,
    }

    struct Outcome<'a> {
        "errorDetails" => error: Object<Failure<'a>>,
        timings: Object<Timings>,
    }

    struct Failure<'a> {
        message: Str<'a>,
    }

    struct Timings {
        "totalElapsed" => elapsed: Num,
    }

    /// A part of a response. Markdown has no kind.
    struct Part<'a> {
        kind: Str<'a>,
        value: Leaves<'a>,
        content: Object<Markdown<'a>>,
        /// The text of a reference.
        name: Str<'a>,
        "toolId" => tool: Str<'a>,
        "toolCallId" => call_id: Str<'a>,
        "isConfirmed" => confirmation: Object<Confirmation>,
        "toolSpecificData" => input: Object<Input<'a>>,
        "resultDetails" => output: Object<Output<'a>>,
        "hookType" => hook: Str<'a>,
        "stopReason" => stop_reason: Str<'a>,
        "subAgentInvocationId" => sub_agent: Str<'a>,
    }

    struct Markdown<'a> {
        value: Leaves<'a>,
    }

    struct Confirmation {
        "type" => kind: Num,
    }

    struct Input<'a> {
        "commandLine" => command: Object<Command<'a>>,
        "rawInput" => arguments: Leaves<'a>,
        prompt: Str<'a>,
        result: Str<'a>,
        "terminalCommandOutput" => terminal: Object<Prompt<'a>>,
        "terminalCommandState" => end: Object<End>,
    }

    struct Command<'a> {
        original: Str<'a>,
        "toolEdited" => edited: Str<'a>,
    }

    struct End {
        "exitCode" => exit_code: Num,
    }

    struct Output<'a> {
        output: List<Object<Markdown<'a>>>,
        "isError" => is_error: Flag,
    }
}

impl Records for Chat {
    type Record<'a> = Session<'a>;

    fn take(&mut self, session: Session<'_>, out: &mut Out<'_>) {
        self.session(&session.id, out);
        // The number of the request says more than the line of the object.
        for (request, line) in session.requests.0.iter().zip(1..) {
            if let Some(request) = &request.0 {
                self.request(request, out.at_line(line));
            }
        }
    }

    fn finish(&mut self, out: &mut Out<'_>) {
        out.usage(self.usage);
    }
}

impl Chat {
    /// Begins a session.
    fn session(&mut self, id: &str, out: &mut Out<'_>) {
        if std::mem::replace(&mut self.has_session, true) {
            self.talk.turn(Boundary::Prompt, out);
        }
        out.session(id);
    }

    fn request(&mut self, request: &Request<'_>, out: &mut Out<'_>) {
        if request.is_hidden.0 || request.removal.0.is_some() {
            return;
        }
        let prompt = request.message.0.as_ref().map_or("", |message| &message.text);
        if request.is_system.0 {
            self.talk.turn(Boundary::Notification, out);
            out.say(Role::System, prompt);
        } else {
            self.talk.prompt(prompt, out);
        }
        out.model(&request.model);
        for part in request.response.0.iter().filter_map(|part| part.0.as_ref()) {
            self.part(part, out);
        }
        let state = request.state.0.as_ref().and_then(|state| state.value.whole());
        if request.is_cancelled.0 || state.is_some_and(|state| UNFINISHED.contains(&state)) {
            self.talk.turn(Boundary::Unanswered, out);
        }
        let Some(outcome) = &request.result.0 else { return };
        if let Some(error) = &outcome.error.0 {
            out.fail(&error.message, None);
        }
        let duration_ms = outcome.timings.0.as_ref().and_then(|timings| timings.elapsed.whole());
        self.usage.add(Usage { duration_ms, ..Usage::default() });
    }

    fn part(&mut self, part: &Part<'_>, out: &mut Out<'_>) {
        let content = part.content.0.iter().flat_map(|content| &content.value.texts);
        match &*part.kind {
            // A message goes on behind a reference, and behind an edit in a block of code.
            "" | "markdownContent" | "markdownVuln" => {
                for text in part.value.texts.iter().chain(content) {
                    self.talk.delta("response", text, out);
                }
            }
            "inlineReference" => self.talk.delta("response", &part.name, out),
            "thinking" => {
                for text in part.value.texts.iter().filter(|text| !text.is_empty()) {
                    self.talk.close();
                    self.talk.thought(text, out);
                }
            }
            "toolInvocation" | "toolInvocationSerialized" => self.call(part, out),
            "hook" if part.is_feedback() => {
                self.talk.turn(Boundary::HookFeedback, out);
                out.say(Role::User, &part.stop_reason);
            }
            _ => {}
        }
    }

    fn call(&mut self, part: &Part<'_>, out: &mut Out<'_>) {
        let input = part.input.0.as_ref();
        let texts = input.into_iter().flat_map(Input::texts).map(Cow::Borrowed).collect();
        let command = input.and_then(|input| input.command.0.as_ref()).map(Command::line);
        let leaves = Leaves { texts, command: command.map(str::to_owned) };
        self.talk.call(&part.call_id, &part.tool, &leaves, out);
        if part.is_refused() {
            return out.denied(&part.tool, &part.call_id);
        }
        let output = part.output.0.as_ref();
        let ending = Ending::failed_if(output.is_some_and(|output| output.is_error.0));
        let printed = input.into_iter().flat_map(Input::printed);
        let texts: Vec<&str> = printed.chain(output.into_iter().flat_map(Output::texts)).collect();
        let end = input.and_then(|input| input.end.0.as_ref());
        let exit_code = end.and_then(|end| end.exit_code.exit_code());
        self.talk.answer(&part.call_id, &texts.join("\n"), ending, exit_code, out);
    }
}

impl Part<'_> {
    /// A stop hook sends the main agent back to work.
    fn is_feedback(&self) -> bool {
        &*self.hook == "Stop" && self.sub_agent.is_empty() && !self.stop_reason.is_empty()
    }

    fn is_refused(&self) -> bool {
        let confirmation = self.confirmation.0.as_ref();
        let kind = confirmation.and_then(|confirmation| confirmation.kind.whole());
        kind.is_some_and(|kind| REFUSALS.contains(&kind))
    }
}

impl Input<'_> {
    fn texts(&self) -> impl Iterator<Item = &str> {
        let command = self.command.0.iter().map(Command::line);
        let arguments = self.arguments.texts.iter().map(|text| &**text);
        let texts = command.chain([&*self.prompt]).chain(arguments);
        texts.filter(|text| !text.is_empty())
    }

    /// The output of a command, or the answer of a sub-agent.
    fn printed(&self) -> impl Iterator<Item = &str> {
        let terminal = self.terminal.0.iter().map(|terminal| &*terminal.text);
        terminal.chain([&*self.result]).filter(|text| !text.is_empty())
    }
}

impl Output<'_> {
    fn texts(&self) -> impl Iterator<Item = &str> {
        let parts = self.output.0.iter().filter_map(|part| part.0.as_ref());
        parts.flat_map(|part| &part.value.texts).map(|text| &**text)
    }
}

impl Command<'_> {
    /// The line that ran.
    fn line(&self) -> &str {
        if self.edited.is_empty() { &self.original } else { &self.edited }
    }
}

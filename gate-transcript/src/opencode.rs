//! OpenCode: `run --format json`, and what `export` prints.
//!
//! Source: captures of 1.18.33. Prompts are not in it; a step that ended
//! with reason `stop` ended the agent's turn, so that a step after it answers
//! something new. Sub-agents run in sessions of their own, which are not shown.

mod export;

pub(super) use export::OPENCODE_EXPORT;

use serde::Deserialize;

use super::json::{Borrowed, Json, Records, read};
use super::loose::{Leaves, Maybe, Num, Str};
use super::out::Out;
use super::spec::{KnownBy, Spec};
use super::{Boundary, Ending, Fact, Role, Usage, Wording};

pub(super) const OPENCODE_JSON: Spec = Spec {
    name: "opencode-json",
    family: &["opencode"],
    known_by: KnownBy::Record(|shape| {
        let kinds = ["step_start", "step_finish", "text", "reasoning", "tool_use", "error"];
        let body = shape.has("part") || shape.has("error");
        kinds.contains(&shape.text("type")) && shape.has("sessionID") && body
    }),
    open: |_| Box::new(Json::new(Opencode::default())),
};

/// Follows the events of `opencode run --format json`.
#[derive(Debug, Default)]
struct Opencode {
    session: String,
    /// The id of the message whose text may go on in the next part.
    message: String,
    stopped: bool,
    tokens: Option<u64>,
    cost: Option<u64>,
}

struct Any;

impl Borrowed for Any {
    type Of<'a> = Record<'a>;
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Record<'a> {
    #[serde(rename = "type", borrow)]
    kind: Str<'a>,
    #[serde(borrow, rename = "sessionID")]
    session: Str<'a>,
    #[serde(borrow)]
    part: Maybe<Part<'a>>,
    #[serde(borrow)]
    error: Maybe<Failure<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Part<'a> {
    #[serde(borrow, rename = "messageID")]
    message: Str<'a>,
    #[serde(borrow)]
    text: Str<'a>,
    #[serde(borrow)]
    tool: Str<'a>,
    #[serde(borrow, rename = "callID")]
    call: Str<'a>,
    #[serde(borrow)]
    state: Maybe<ToolState<'a>>,
    #[serde(borrow)]
    reason: Str<'a>,
    tokens: Maybe<Tokens>,
    cost: Num,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ToolState<'a> {
    #[serde(borrow)]
    input: Leaves<'a>,
    #[serde(borrow)]
    output: Str<'a>,
    #[serde(borrow)]
    error: Str<'a>,
    metadata: Maybe<Metadata>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Metadata {
    exit: Num,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Tokens {
    input: Num,
    output: Num,
    reasoning: Num,
    cache: Maybe<Cache>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Cache {
    write: Num,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Failure<'a> {
    #[serde(borrow)]
    name: Str<'a>,
    #[serde(borrow)]
    data: Maybe<FailureData<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct FailureData<'a> {
    #[serde(borrow)]
    message: Str<'a>,
    #[serde(rename = "statusCode")]
    status: Num,
}

impl Records for Opencode {
    fn record(&mut self, json: &str, line: u64, out: &mut Out<'_>) -> bool {
        read::<Any>(json, |record| self.take(&record, line, out))
    }

    fn finish(&mut self, out: &mut Out<'_>) {
        let usage = Usage { tokens: self.tokens, cost_micro_usd: self.cost, ..Usage::default() };
        if usage != Usage::default() {
            out.fact(Fact::Usage(usage));
        }
    }
}

impl Opencode {
    fn take(&mut self, record: &Record<'_>, line: u64, out: &mut Out<'_>) {
        self.turn(record, line, out);
        if let Some(failure) = &record.error.0 {
            fail(failure, line, out);
        }
        let Some(part) = &record.part.0 else {
            return;
        };
        match &*record.kind {
            "text" => self.text(part, line, out),
            "reasoning" => out.say(Role::Thinking, &part.text, line),
            "tool_use" => {
                self.message.clear();
                if let Some(state) = &part.state.0 {
                    tool(part, state, line, out);
                }
            }
            "step_finish" => self.step(part),
            _ => {}
        }
    }

    fn turn(&mut self, record: &Record<'_>, line: u64, out: &mut Out<'_>) {
        out.session(&record.session);
        let other = !self.session.is_empty() && *record.session != *self.session;
        // What comes after the end, an error too, is of another run.
        let content = !matches!(&*record.kind, "step_finish");
        if !record.session.is_empty() && (other || (content && self.stopped)) {
            self.stopped = false;
            self.message.clear();
            out.boundary(Boundary::Prompt, line);
        }
        if !record.session.is_empty() {
            record.session.clone_into(&mut self.session);
        }
    }

    fn text(&mut self, part: &Part<'_>, line: u64, out: &mut Out<'_>) {
        if part.text.trim().is_empty() {
            return;
        }
        if !part.message.is_empty() && *part.message == *self.message {
            out.add(Role::Assistant, &part.text, line);
        } else {
            part.message.clone_into(&mut self.message);
            out.say(Role::Assistant, &part.text, line);
        }
    }

    fn step(&mut self, part: &Part<'_>) {
        self.stopped |= &*part.reason == "stop";
        if let Some(tokens) = &part.tokens.0 {
            self.tokens = Some(self.tokens.unwrap_or(0).saturating_add(tokens.total()));
        }
        if let Some(cost) = part.cost.micro() {
            self.cost = Some(self.cost.unwrap_or(0).saturating_add(cost));
        }
    }
}

impl Tokens {
    /// Input and output together, without what was read from a cache.
    fn total(&self) -> u64 {
        let written = self.cache.0.as_ref().map_or(Num::default(), |cache| cache.write);
        let parts = [self.input, self.output, self.reasoning, written];
        parts.into_iter().filter_map(Num::whole).fold(0, u64::saturating_add)
    }
}

/// A call with its answer.
fn tool(part: &Part<'_>, state: &ToolState<'_>, line: u64, out: &mut Out<'_>) {
    out.called(&part.call, &part.tool, &state.input, line);
    for text in &state.input.texts {
        out.say(Role::Tool, text, line);
    }
    out.answered(&part.call, Ending::failed_if(!state.error.is_empty()), line);
    out.say(Role::Tool, &state.output, line);
    out.say(Role::Tool, &state.error, line);
    let exit = state.metadata.0.as_ref().and_then(|metadata| metadata.exit.signed());
    let exit = exit.and_then(|code| code.try_into().ok());
    if let (Some(command), Some(exit_code)) = (state.input.command.clone(), exit) {
        out.fact(Fact::Command { command, exit_code, line });
    }
    no_success(part, state, line, out);
}

/// A call that did not succeed was denied, or it failed.
fn no_success(part: &Part<'_>, state: &ToolState<'_>, line: u64, out: &mut Out<'_>) {
    let exit = state.metadata.0.as_ref().and_then(|metadata| metadata.exit.signed());
    if exit.is_some_and(|code| code != 0) {
        out.tool_failed(&state.output, line);
    } else if out.says(Wording::Denial, &state.error) {
        out.denied(&part.tool, &part.call, line);
    } else {
        out.tool_failed(&state.error, line);
    }
}

fn fail(failure: &Failure<'_>, line: u64, out: &mut Out<'_>) {
    let data = failure.data.0.as_ref();
    let message = data.map_or("", |data| &*data.message);
    let message = if message.is_empty() { &*failure.name } else { message };
    out.say(Role::System, message, line);
    out.failure(message, data.and_then(|data| data.status.signed()), line);
}

//! OpenCode: `run --format json`, and what `export` prints.
//!
//! Source: captures of 1.18.33. Prompts are not in it; a step that ended
//! with reason `stop` ended the agent's turn, so that a step after it answers
//! something new. Sub-agents run in sessions of their own, which are not shown.

mod export;

pub(super) use export::OPENCODE_EXPORT;

use crate::json::{Json, Records, records};
use crate::loose::{Leaves, Maybe, Num, Str};
use crate::out::Out;
use crate::spec::{KnownBy, Spec};
use crate::talk::Talk;
use crate::{Boundary, Ending, Role, Usage};

pub(super) const OPENCODE_JSON: Spec = Spec {
    name: "opencode-json",
    family: &["opencode"],
    known_by: KnownBy::Record(|shape| {
        let kinds = ["step_start", "step_finish", "text", "reasoning", "tool_use", "error"];
        let has_content = shape.has("part") || shape.has("error");
        kinds.contains(&shape.text("type")) && shape.has("sessionID") && has_content
    }),
    open: |_| Box::new(Json::new(Opencode::default())),
};

/// Follows the events of `opencode run --format json`.
#[derive(Debug, Default)]
struct Opencode {
    session: String,
    talk: Talk,
    /// A step has ended the agent's turn.
    turn_ended: bool,
    tokens: Option<u64>,
    cost: Option<u64>,
}

records! {
    struct Record<'a> {
        "type" => kind: Str<'a>,
        "sessionID" => session: Str<'a>,
        part: Maybe<Part<'a>>,
        error: Maybe<Failure<'a>>,
    }

    struct Part<'a> {
        "messageID" => message: Str<'a>,
        text: Str<'a>,
        tool: Str<'a>,
        "callID" => call: Str<'a>,
        state: Maybe<ToolState<'a>>,
        reason: Str<'a>,
        tokens: Maybe<Tokens>,
        cost: Num,
    }

    struct ToolState<'a> {
        input: Leaves<'a>,
        output: Str<'a>,
        error: Str<'a>,
        metadata: Maybe<Metadata>,
    }

    struct Metadata {
        exit: Num,
    }

    struct Tokens {
        input: Num,
        output: Num,
        reasoning: Num,
        cache: Maybe<Cache>,
    }

    struct Cache {
        write: Num,
    }

    struct Failure<'a> {
        name: Str<'a>,
        data: Maybe<FailureData<'a>>,
    }

    struct FailureData<'a> {
        message: Str<'a>,
        "statusCode" => status: Num,
    }
}

impl Records for Opencode {
    type Record<'a> = Record<'a>;

    fn take(&mut self, record: Record<'_>, out: &mut Out<'_>) {
        self.turn(&record, out);
        if let Some(failure) = &record.error.0 {
            fail(failure, out);
        }
        let Some(part) = &record.part.0 else {
            return;
        };
        match &*record.kind {
            "text" => self.talk.block(&part.message, &part.text, out),
            "reasoning" => out.say(Role::Thinking, &part.text),
            "tool_use" => {
                self.talk.close();
                if let Some(state) = &part.state.0 {
                    tool_call(part, state, out);
                }
            }
            "step_finish" => self.step(part),
            _ => {}
        }
    }

    fn finish(&mut self, out: &mut Out<'_>) {
        let usage = Usage { tokens: self.tokens, cost_micro_usd: self.cost, ..Usage::default() };
        out.usage(usage);
    }
}

impl Opencode {
    fn turn(&mut self, record: &Record<'_>, out: &mut Out<'_>) {
        out.session(&record.session);
        let is_other_session = !self.session.is_empty() && *record.session != *self.session;
        // A record after the end, an error too, is of another run.
        let begins_turn = self.turn_ended && &*record.kind != "step_finish";
        if !record.session.is_empty() && (is_other_session || begins_turn) {
            self.turn_ended = false;
            self.talk.turn(Boundary::Prompt, out);
        }
        if !record.session.is_empty() {
            record.session.clone_into(&mut self.session);
        }
    }

    fn step(&mut self, part: &Part<'_>) {
        self.turn_ended |= &*part.reason == "stop";
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
        let cache_write = self.cache.0.as_ref().map_or(Num::default(), |cache| cache.write);
        let counts = [self.input, self.output, self.reasoning, cache_write];
        counts.into_iter().filter_map(Num::whole).fold(0, u64::saturating_add)
    }
}

/// A call with its answer.
fn tool_call(part: &Part<'_>, state: &ToolState<'_>, out: &mut Out<'_>) {
    out.called(&part.call, &part.tool, &state.input);
    out.say_all(Role::Tool, &state.input.texts);
    out.answered(&part.call, Ending::failed_if(!state.error.is_empty()));
    out.say(Role::Tool, &state.output);
    out.say(Role::Tool, &state.error);
    let code = state.metadata.0.as_ref().and_then(|metadata| metadata.exit.exit_code());
    if let (Some(command), Some(exit_code)) = (&state.input.command, code) {
        out.ran(command.clone(), exit_code);
    }
    if code.is_some_and(|code| code != 0) {
        out.tool_failed(&state.output);
    } else {
        out.denied_or_failed(&part.tool, &part.call, &state.error);
    }
}

fn fail(failure: &Failure<'_>, out: &mut Out<'_>) {
    let data = failure.data.0.as_ref();
    let message = data.map_or("", |data| &*data.message);
    out.fail(
        if message.is_empty() { &failure.name } else { message },
        data.and_then(|data| data.status.signed()),
    );
}

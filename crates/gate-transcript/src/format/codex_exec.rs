//! `codex exec --json`.
//!
//! Source: captures of 0.169.0. Neither the prompt nor hook feedback is in
//! it; a message before a stop hook's refusal looks like any other, so that
//! the last message of a turn is the one that counts. Sub-agents' texts are
//! not in it either, only the calls that start them.

use std::sync::LazyLock;

use crate::json::{Json, Records, ends_as_object, records};
use crate::loose::{Leaves, Maybe, Num, Str};
use crate::out::Out;
use crate::spec::{KnownBy, Spec};
use crate::{Boundary, Ending, Role, Usage};
use memchr::memmem::Finder;

pub(super) const CODEX_EXEC: Spec = Spec {
    name: "codex-exec",
    family: &["codex", "codex-cli"],
    known_by: KnownBy::Record(|shape| {
        let kind = shape.text("type");
        matches!(kind, "thread.started" | "turn.started" | "turn.completed" | "turn.failed")
            || (kind.starts_with("item.") && shape.has("item"))
    }),
    open: |_| Box::new(Json::new(CodexExec::default())),
};

/// The type of an item that is a command with its output.
static COMMAND: LazyLock<Finder<'static>> =
    LazyLock::new(|| Finder::new(br#""type":"command_execution""#));

/// Follows the events of `codex exec --json`.
#[derive(Debug, Default)]
struct CodexExec {
    /// A turn has ended: the next one answers a new prompt.
    turn_ended: bool,
    thread: String,
    /// Tokens of earlier threads.
    earlier_tokens: u64,
    /// Tokens of this thread so far.
    tokens: Option<u64>,
}

records! {
    struct Record<'a> {
        "type" => kind: Str<'a>,
        thread_id: Str<'a>,
        item: Maybe<Item<'a>>,
        message: Str<'a>,
        error: Maybe<Failure<'a>>,
        usage: Maybe<CodexTokens>,
    }

    struct Item<'a> {
        "type" => kind: Str<'a>,
        text: Str<'a>,
        command: Str<'a>,
        aggregated_output: Str<'a>,
        exit_code: Num,
        status: Str<'a>,
        error: Maybe<Failure<'a>>,
        id: Str<'a>,
        message: Str<'a>,
        // The input and the answers of other tools.
        arguments: Leaves<'a>,
        prompt: Str<'a>,
        agents_states: Leaves<'a>,
        result: Leaves<'a>,
        items: Leaves<'a>,
        /// The paths of a `file_change`, and how each was changed.
        changes: Leaves<'a>,
    }

    struct Failure<'a> {
        message: Str<'a>,
    }

    /// Codex's count of tokens, in all its formats.
    #[derive(Clone, Copy)]
    struct CodexTokens {
        input_tokens: Num,
        cached_input_tokens: Num,
        output_tokens: Num,
    }
}

impl CodexTokens {
    /// The figure that Codex itself prints as "tokens used": input that was not read from
    /// a cache, and output.
    pub(super) fn total(self) -> u64 {
        let [input, cached, output] =
            [self.input_tokens, self.cached_input_tokens, self.output_tokens]
                .map(|count| count.whole().unwrap_or(0));
        input.saturating_sub(cached).saturating_add(output)
    }
}

impl Records for CodexExec {
    type Record<'a> = Record<'a>;

    fn take(&mut self, record: Record<'_>, out: &mut Out<'_>) {
        out.session(&record.thread_id);
        if !record.thread_id.is_empty() && *record.thread_id != *self.thread {
            self.next_thread();
            record.thread_id.clone_into(&mut self.thread);
        }
        match &*record.kind {
            "thread.started" | "turn.started" if self.turn_ended => {
                self.turn_ended = false;
                out.boundary(Boundary::Prompt);
            }
            "item.started" => {
                if let Some(item) = &record.item.0
                    && !item.command.is_empty()
                {
                    let command = Some(item.command.to_string());
                    out.called(&item.id, &item.kind, &Leaves { texts: Vec::new(), command });
                }
            }
            "item.completed" => {
                if let Some(item) = &record.item.0 {
                    completed_item(item, out);
                }
            }
            "turn.completed" => self.end(&record),
            "turn.failed" => {
                self.end(&record);
                out.boundary(Boundary::Unanswered);
                out.fail(record.error.0.as_ref().map_or("", |error| &*error.message), None);
            }
            // The client tries again by itself.
            "error" if record.message.starts_with("Reconnecting") => {
                out.say(Role::System, &record.message);
            }
            "error" => out.fail(&record.message, None),
            _ => {}
        }
    }

    fn finish(&mut self, out: &mut Out<'_>) {
        self.next_thread();
        let tokens = (self.earlier_tokens > 0).then_some(self.earlier_tokens);
        out.usage(Usage { tokens, ..Usage::default() });
    }

    fn can_skip(&self) -> bool {
        true
    }

    /// Commands with their output. In an agent's text the quotes of the type would be
    /// escaped.
    fn is_skippable(&mut self, line: &[u8]) -> bool {
        ends_as_object(line) && COMMAND.find(line).is_some()
    }
}

impl CodexExec {
    /// A turn's usage is that of its thread so far, earlier runs included.
    fn end(&mut self, record: &Record<'_>) {
        self.turn_ended = true;
        self.tokens = record.usage.0.map(CodexTokens::total).or(self.tokens);
    }

    fn next_thread(&mut self) {
        self.earlier_tokens = self.earlier_tokens.saturating_add(self.tokens.take().unwrap_or(0));
    }
}

fn completed_item(item: &Item<'_>, out: &mut Out<'_>) {
    match &*item.kind {
        "agent_message" => out.say(Role::Assistant, &item.text),
        "reasoning" => out.say(Role::Thinking, &item.text),
        // Warnings too: nothing that ends a turn.
        "error" => out.say(Role::System, &item.message),
        "command_execution" => completed_command(item, out),
        _ => completed_tool(item, out),
    }
    if &*item.status == "declined" {
        out.denied(&item.kind, &item.id);
    }
}

impl Item<'_> {
    fn ending(&self) -> Ending {
        Ending::failed_if(matches!(&*self.status, "failed" | "declined"))
    }
}

fn completed_command(item: &Item<'_>, out: &mut Out<'_>) {
    out.answered(&item.id, item.ending());
    out.say(Role::Tool, &item.command);
    out.say(Role::Tool, &item.aggregated_output);
    if let Some(exit_code) = item.exit_code.exit_code() {
        out.ran(item.command.to_string(), exit_code);
        if exit_code != 0 {
            out.tool_failed(&item.aggregated_output);
        }
    }
}

fn completed_tool(item: &Item<'_>, out: &mut Out<'_>) {
    if &*item.kind == "file_change" {
        out.called(&item.id, &item.kind, &item.changes);
    }
    out.answered(&item.id, item.ending());
    out.say(Role::Tool, &item.prompt);
    for leaves in [&item.arguments, &item.agents_states, &item.result, &item.items] {
        out.say_all(Role::Tool, &leaves.texts);
    }
    out.say(Role::Tool, &item.text);
    if let Some(error) = &item.error.0 {
        out.tool_failed(&error.message);
    }
}

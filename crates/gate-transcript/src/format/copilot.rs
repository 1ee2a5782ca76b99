//! GitHub Copilot CLI: `--output-format json` and the session file
//! `events.jsonl`, which hold the same events.
//!
//! Sources: captures of 1.0.102, public logs of 1.0 to 1.2. What is ephemeral
//! repeats, in pieces, what comes whole afterwards. The closing `result` has
//! no text. A sub-agent's events name the agent, or the call that started it.

mod record;

use crate::json::{Json, Records};
use crate::loose::Leaves;
use crate::out::Out;
use crate::shape::Shape;
use crate::spec::{KnownBy, Spec};
use crate::talk::Talk;
use crate::tally::Tally;
use crate::{Boundary, Ending, Role, Usage, Wording};
use record::{Data, Record, Tokens};

pub(super) const COPILOT_JSON: Spec = Spec {
    name: "copilot-json",
    family: &["copilot", "copilot-cli"],
    known_by: KnownBy::Record(is_record),
    open: |_| Box::new(Json::new(Copilot::default())),
};

fn is_record(shape: &Shape<'_>) -> bool {
    let kind = shape.text("type");
    let is_event = match kind.split_once('.') {
        Some(("session" | "assistant" | "hook" | "subagent", _)) => true,
        Some(("user" | "system", event)) => event == "message",
        Some(("tool", event)) => event.starts_with("execution_"),
        _ => false,
    };
    let is_end = kind == "result" && shape.has("sessionId") && shape.has("exitCode");
    (is_event && shape.has("data")) || is_end
}

/// Follows the events.
#[derive(Debug, Default)]
struct Copilot {
    talk: Talk,
    /// A stop hook refused: the next user message is its feedback.
    hook_refused: bool,
    tally: Tally,
    duration: Option<u64>,
}

impl Records for Copilot {
    type Record<'a> = Record<'a>;

    fn take(&mut self, record: Record<'_>, out: &mut Out<'_>) {
        out.session(&record.session);
        if let Some(usage) = record.usage.0.as_ref() {
            self.duration = usage.session_duration_ms.whole().or(self.duration);
        }
        let Some(data) = &record.data.0 else {
            return;
        };
        let is_sub_agent = !record.agent.is_empty() || !data.parent_call.is_empty();
        match &*record.kind {
            "assistant.usage" | "session.usage_record" => self.spend(&record, data),
            _ if record.ephemeral.0 => {}
            "user.message" if is_sub_agent => out.say(Role::Tool, &data.content),
            "user.message" => self.user(data, out),
            "assistant.message" if is_sub_agent => out.say(Role::Tool, &data.content),
            "assistant.message" => self.assistant(data, out),
            "tool.execution_start" => self.started(data, out),
            "tool.execution_complete" => self.completed(data, out),
            _ => self.client(&record, data, out),
        }
    }

    fn finish(&mut self, out: &mut Out<'_>) {
        let tokens = self.tally.total();
        out.usage(Usage { tokens, duration_ms: self.duration, ..Usage::default() });
    }
}

impl Copilot {
    /// The client's own events: errors, limits, and the end of the session.
    fn client(&mut self, record: &Record<'_>, data: &Data<'_>, out: &mut Out<'_>) {
        match &*record.kind {
            "session.start" | "session.resume" => {
                out.session(&data.session);
                out.model(&data.selected_model);
            }
            "session.error" => self.error(data, out),
            "session.compaction_complete" if data.success.is_none_or(|success| success.0) => {
                self.talk.turn(Boundary::Compaction, out);
                out.say(Role::System, &data.summary);
            }
            // The events after some place are taken back.
            "session.snapshot_rewind" => self.talk.turn(Boundary::Prompt, out),
            "system.notification" => out.boundary(Boundary::Notification),
            "hook.end" => {
                let output = data.output.0.as_ref();
                self.hook_refused = output.is_some_and(|output| &*output.decision == "block");
            }
            _ => {}
        }
        if record.kind.starts_with("session.") || record.kind.starts_with("system.") {
            out.say(Role::System, &data.message);
            out.say(Role::System, &data.content);
        }
    }

    /// The session file marks that a hook's reason is no prompt; the stream
    /// does not.
    fn user(&mut self, data: &Data<'_>, out: &mut Out<'_>) {
        let boundary = match std::mem::take(&mut self.hook_refused) {
            true => Boundary::HookFeedback,
            false => Boundary::Prompt,
        };
        self.talk.turn(boundary, out);
        out.say(Role::User, &data.content);
    }

    fn assistant(&mut self, data: &Data<'_>, out: &mut Out<'_>) {
        out.model(&data.model);
        out.say(Role::Thinking, &data.reasoning);
        // Each message comes whole: none goes on in the next record.
        self.talk.block("", &data.content, out);
    }

    fn started(&mut self, data: &Data<'_>, out: &mut Out<'_>) {
        let is_shell = matches!(&*data.tool, "bash" | "powershell");
        let first_text = data.arguments.texts.first().map(|text| &**text);
        let command = data.arguments.command.as_deref().or(first_text);
        self.talk.calls.started(&data.call, &data.tool, if is_shell { command } else { None });
        if is_shell {
            let command = command.map(str::to_owned);
            out.called(&data.call, &data.tool, &Leaves { texts: Vec::new(), command });
        } else {
            out.called(&data.call, &data.tool, &data.arguments);
        }
        out.say_all(Role::Tool, &data.arguments.texts);
    }

    /// A call's answer. The client calls it a success also if its command failed.
    fn completed(&mut self, data: &Data<'_>, out: &mut Out<'_>) {
        let answer = data.result.0.as_ref().map_or("", |result| &*result.content);
        let error = data.error.0.as_ref().map_or("", |error| &*error.message);
        let is_failed = data.success.is_some_and(|success| !success.0);
        out.answered(&data.call, Ending::failed_if(is_failed));
        out.say(Role::Tool, answer);
        out.say(Role::Tool, error);
        let exit_code = data.shell.0.as_ref().and_then(|shell| shell.exit_code.exit_code());
        if is_failed {
            let cause = if error.is_empty() { answer } else { error };
            let code = data.error.0.as_ref().map_or("", |error| &*error.code);
            if matches!(code, "denied" | "rejected") || out.has_wording(Wording::Denial, cause) {
                let tool = self.talk.calls.tool(&data.call).unwrap_or_default();
                out.denied(tool, &data.call);
            } else {
                out.tool_failed(cause);
            }
        } else if exit_code.is_some_and(|code| code != 0) {
            out.tool_failed(command_output(answer));
        }
        self.talk.calls.ended(&data.call, exit_code, out);
    }

    fn error(&mut self, data: &Data<'_>, out: &mut Out<'_>) {
        let is_limit = matches!(&*data.error_kind, "rate_limit" | "quota");
        let status = data.status.signed().or(is_limit.then_some(429));
        self.talk.close();
        out.failure(&data.message, status);
    }

    /// Counts are members of the event, or of an object in it.
    fn spend(&mut self, record: &Record<'_>, data: &Data<'_>) {
        let nested_total = data.usage.0.as_ref().map(Tokens::total);
        self.tally.count(&record.id, nested_total.unwrap_or_else(|| data.tokens().total()));
    }
}

/// The output of a command, without the line in which the client reports its end.
fn command_output(answer: &str) -> &str {
    let report = answer.rfind("<shellId: ").filter(|at| answer[*at..].contains("exit code"));
    &answer[..report.unwrap_or(answer.len())]
}

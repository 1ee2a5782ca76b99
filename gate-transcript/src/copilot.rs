//! GitHub Copilot CLI: `--output-format json` and the session file
//! `events.jsonl`, which hold the same events.
//!
//! Sources: captures of 1.0.102, public logs of 1.0 to 1.2. What is ephemeral
//! repeats, in pieces, what comes whole afterwards. The closing `result` has
//! no text. A sub-agent's events name the agent, or the call that started it.

mod record;

use super::calls::Calls;
use super::json::{Json, Records, read};
use super::loose::Leaves;
use super::out::Out;
use super::shape::Shape;
use super::spec::{KnownBy, Spec};
use super::tally::Tally;
use super::utterance::Utterance;
use super::{Boundary, Ending, Role, Usage, Wording};
use record::{Any, Data, Record, Tokens};

pub(super) const COPILOT_JSON: Spec = Spec {
    name: "copilot-json",
    family: &["copilot", "copilot-cli"],
    known_by: KnownBy::Record(is_record),
    open: |_| Box::new(Json::new(Copilot::default())),
};

fn is_record(shape: &Shape<'_>) -> bool {
    let kind = shape.text("type");
    let event = match kind.split_once('.') {
        Some(("session" | "assistant" | "hook" | "subagent", _)) => true,
        Some(("user" | "system", rest)) => rest == "message",
        Some(("tool", rest)) => rest.starts_with("execution_"),
        _ => false,
    };
    let end = kind == "result" && shape.has("sessionId") && shape.has("exitCode");
    (event && shape.has("data")) || end
}

/// Follows the events.
#[derive(Debug, Default)]
struct Copilot {
    speech: Utterance,
    calls: Calls,
    /// True after a stop hook refused: the next user message is its feedback.
    refused: bool,
    tally: Tally,
    duration: Option<u64>,
}

impl Records for Copilot {
    fn record(&mut self, json: &str, line: u64, out: &mut Out<'_>) -> bool {
        read::<Any>(json, |record| self.take(&record, line, out))
    }

    fn finish(&mut self, out: &mut Out<'_>) {
        let tokens = self.tally.total();
        out.usage(Usage {
            tokens,
            cost_micro_usd: None,
            duration_ms: self.duration,
            ..Usage::default()
        });
    }
}

impl Copilot {
    fn take(&mut self, record: &Record<'_>, line: u64, out: &mut Out<'_>) {
        out.session(&record.session);
        if let Some(usage) = record.usage.0.as_ref() {
            self.duration = usage.session_duration_ms.whole().or(self.duration);
        }
        let Some(data) = &record.data.0 else {
            return;
        };
        let sub_agent = !record.agent.is_empty() || !data.parent_call.is_empty();
        match &*record.kind {
            "assistant.usage" | "session.usage_record" => self.spend(record, data),
            _ if record.ephemeral.0 => {}
            "user.message" if sub_agent => out.say(Role::Tool, &data.content, line),
            "user.message" => self.user(data, line, out),
            "assistant.message" if sub_agent => out.say(Role::Tool, &data.content, line),
            "assistant.message" => self.assistant(data, line, out),
            "tool.execution_start" => self.started(data, line, out),
            "tool.execution_complete" => self.completed(data, line, out),
            _ => self.client(record, data, line, out),
        }
    }

    /// The client's own events: errors, limits, and the end of the session.
    fn client(&mut self, record: &Record<'_>, data: &Data<'_>, line: u64, out: &mut Out<'_>) {
        match &*record.kind {
            "session.start" | "session.resume" => {
                out.session(&data.session);
                out.model(&data.selected_model);
            }
            "session.error" => self.error(data, line, out),
            "session.compaction_complete" if data.success.is_none_or(|success| success.0) => {
                self.turn(Boundary::Compaction, line, out);
                out.say(Role::System, &data.summary, line);
            }
            // What came after some event is taken back.
            "session.snapshot_rewind" => self.turn(Boundary::Prompt, line, out),
            "system.notification" => out.boundary(Boundary::Notification, line),
            "hook.end" => {
                let output = data.output.0.as_ref();
                self.refused = output.is_some_and(|output| &*output.decision == "block");
            }
            _ => {}
        }
        if record.kind.starts_with("session.") || record.kind.starts_with("system.") {
            out.say(Role::System, &data.message, line);
            out.say(Role::System, &data.content, line);
        }
    }

    fn turn(&mut self, boundary: Boundary, line: u64, out: &mut Out<'_>) {
        self.speech.forget();
        out.boundary(boundary, line);
    }

    /// The session file marks that a hook's reason is no prompt; the stream
    /// does not.
    fn user(&mut self, data: &Data<'_>, line: u64, out: &mut Out<'_>) {
        let feedback = std::mem::take(&mut self.refused);
        let boundary = if feedback { Boundary::HookFeedback } else { Boundary::Prompt };
        self.turn(boundary, line, out);
        out.say(Role::User, &data.content, line);
    }

    fn assistant(&mut self, data: &Data<'_>, line: u64, out: &mut Out<'_>) {
        out.model(&data.model);
        out.say(Role::Thinking, &data.reasoning, line);
        // Each message comes whole: none goes on in the next record.
        self.speech.block("", &data.content, line, out);
    }

    fn started(&mut self, data: &Data<'_>, line: u64, out: &mut Out<'_>) {
        let shell = matches!(&*data.tool, "bash" | "powershell");
        let whole = data.arguments.texts.first().map(|text| &**text);
        let command = data.arguments.command.as_deref().or(whole);
        self.calls.started(&data.call, &data.tool, if shell { command } else { None });
        if shell {
            let command = command.map(str::to_owned);
            out.called(&data.call, &data.tool, &Leaves { texts: Vec::new(), command }, line);
        } else {
            out.called(&data.call, &data.tool, &data.arguments, line);
        }
        for text in &data.arguments.texts {
            out.say(Role::Tool, text, line);
        }
    }

    /// A call succeeds also if its command failed.
    fn completed(&mut self, data: &Data<'_>, line: u64, out: &mut Out<'_>) {
        let answer = data.result.0.as_ref().map_or("", |result| &*result.content);
        let error = data.error.0.as_ref().map_or("", |error| &*error.message);
        let is_failed = data.success.is_some_and(|success| !success.0);
        out.answered(&data.call, Ending::failed_if(is_failed), line);
        out.say(Role::Tool, answer, line);
        out.say(Role::Tool, error, line);
        let exit = data.shell.0.as_ref().and_then(|shell| shell.exit_code.signed());
        let exit: Option<i32> = exit.and_then(|code| code.try_into().ok());
        if is_failed {
            let cause = if error.is_empty() { answer } else { error };
            let code = data.error.0.as_ref().map_or("", |error| &*error.code);
            if matches!(code, "denied" | "rejected") || out.says(Wording::Denial, cause) {
                let tool = self.calls.tool(&data.call).unwrap_or_default();
                out.denied(tool, &data.call, line);
            } else {
                out.tool_failed(cause, line);
            }
        } else if exit.is_some_and(|code| code != 0) {
            out.tool_failed(written(answer), line);
        }
        self.calls.ended(&data.call, exit, line, out);
    }

    fn error(&mut self, data: &Data<'_>, line: u64, out: &mut Out<'_>) {
        let limited = matches!(&*data.error_kind, "rate_limit" | "quota");
        let status = data.status.signed().or(limited.then_some(429));
        self.speech.close();
        out.failure(&data.message, status, line);
    }

    /// Counts are members of the event, or of an object in it.
    fn spend(&mut self, record: &Record<'_>, data: &Data<'_>) {
        let own = data.usage.0.as_ref().map(Tokens::total);
        self.tally.count(&record.id, own.unwrap_or_else(|| data.tokens().total()));
    }
}

/// The output of a command, without the line in which the client reports its end.
fn written(answer: &str) -> &str {
    let end = answer.rfind("<shellId: ").filter(|at| answer[*at..].contains("exit code"));
    &answer[..end.unwrap_or(answer.len())]
}

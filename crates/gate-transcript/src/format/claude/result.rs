//! The end of a turn of Claude Code: its `result`, and its failures.

use super::Claude;
use super::record::Record;
use crate::out::Out;
use crate::{Boundary, Role, Wording, limit};

impl Claude {
    pub(super) fn result(&mut self, record: &Record<'_>, out: &mut Out<'_>) {
        self.spent.result(record.usage.0, record.duration_ms.whole());
        self.spent.cost_of_call(record.result_index.whole(), record.total_cost_usd.micro());
        for denial in &record.permission_denials.0 {
            out.denied(&denial.tool_name, &denial.tool_use_id);
        }
        if self.wakes.begins_unseen_run(record.result_index.whole(), self.after_result) {
            self.turn(Boundary::Prompt, out);
        }
        self.begin_answer(out);
        self.result_text(record, out);
        self.talk.forget();
        self.after_result = true;
        if record.origin.0.as_ref().is_some_and(|origin| &*origin.kind == "task-notification") {
            self.wakes.event_answered();
        }
    }

    fn result_text(&mut self, record: &Record<'_>, out: &mut Out<'_>) {
        let text = record.result.trim();
        let is_repeated = repeats(text, self.talk.last_text().trim());
        if record.is_error.0 || record.subtype.starts_with("error") {
            let mut causes = record.errors.0.iter().map(|error| &**error);
            let new_text = (!is_repeated && !text.is_empty()).then_some(text);
            let cause = new_text.or_else(|| causes.next()).unwrap_or(&record.error);
            client(if cause.is_empty() { &record.subtype } else { cause }, record, out);
        } else if out.has_wording(Wording::Notice, text) {
            client(text, record, out);
        } else if !is_repeated {
            self.speak(&record.result, "", out);
        }
    }
}

/// The client's own message. Not all are failures: some stand for an answer
/// that is missing for a good reason.
pub(super) fn client(text: &str, record: &Record<'_>, out: &mut Out<'_>) {
    out.say(Role::System, text);
    let statuses = [record.api_error_status, record.api_error_status_on_disk];
    let mut status = statuses.into_iter().find_map(|status| status.signed());
    if &*record.error == "rate_limit" {
        status = Some(429);
    }
    let flags = [record.is_error, record.is_api_error_message, record.is_api_error_on_disk];
    let is_failure =
        flags.iter().any(|flag| flag.0) || !record.error.is_empty() || &*record.kind != "assistant";
    if is_failure || text.starts_with("API Error") || out.has_wording(Wording::Notice, text) {
        out.failure(text, status);
    }
}

pub(super) fn rate_limit(record: &Record<'_>, out: &mut Out<'_>) {
    if let Some(info) = record.rate_limit_info.0.as_ref().filter(|info| &*info.status == "rejected")
    {
        out.limit("rate limit reached", info.resets_at.signed().and_then(limit::epoch));
    }
}

/// A result that repeats the turn's last text. Clients of this kind may join several texts in
/// it; then it ends with the last one.
fn repeats(result: &str, last_text: &str) -> bool {
    let is_repeated = last_text.contains(result) || result.ends_with(last_text);
    result.is_empty() || (!last_text.is_empty() && is_repeated)
}

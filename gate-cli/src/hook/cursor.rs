//! Cursor's `stop`. A follow-up message makes the agent go on; exit code 2 refuses
//! nothing.

use serde_json::Value;

use super::client::{ClientCode, Event, not_judged};
use super::payload::Payload;

pub(super) const CODE: ClientCode =
    ClientCode { event, is_headless: |_| Some(false), ..ClientCode::NONE };

fn event(payload: &Payload<'_>, event: Event) -> Event {
    let is_broken_off = payload.text("status").is_some_and(|status| status != "completed");
    let first_root = payload.list("workspace_roots").first().and_then(Value::as_str);
    Event {
        not_judged: event.not_judged.or(is_broken_off.then_some(not_judged::BROKEN_OFF)),
        folder: event.folder.or_else(|| first_root.map(Into::into)),
        ..event
    }
}

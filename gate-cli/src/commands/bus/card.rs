//! Messages of a bus, for a person.

use std::fmt::Write;
use std::path::Path;

use gate_core::text::clean;
use gate_fleet::bus::{Message, Problem};

use crate::render::diagnose;

/// A message: its head, and below it its text.
pub(crate) fn bus_message(message: &Message) -> String {
    let from = if message.run_id.is_empty() { "" } else { "  run " };
    let mut out = clean(&format!(
        "{}  {}  {}{from}{}",
        message.ts, message.kind, message.msg_id, message.run_id
    ));
    for parent in &message.parents {
        let kind = if parent.kind.is_empty() { "reply" } else { parent.kind.as_str() };
        let _ = write!(out, "\n    {} to {}", clean(kind), clean(&parent.msg_id));
    }
    for link in &message.links {
        let _ = write!(out, "\n    see {}", clean(&link.url));
    }
    for line in message.body.lines() {
        let _ = write!(out, "\n    {}", clean(line));
    }
    out
}

/// Reports the problems of a bus on stderr. They do not stop its reading.
pub(crate) fn bus_problems(bus: &Path, problems: &[Problem]) {
    for problem in problems {
        diagnose(&format!("gate: {}: {}\n", bus.display(), clean(&problem.to_string())));
    }
}

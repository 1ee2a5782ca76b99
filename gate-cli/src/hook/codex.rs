//! Codex CLI's `Stop`. The rollout shows how its session was started.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};

use serde_json::Value;

use super::client::ClientCode;
use super::payload::Payload;

pub(super) const CODE: ClientCode = ClientCode { is_headless, ..ClientCode::NONE };

/// A rollout's first line is read up to this length.
const MAX_HEADER_BYTES: u64 = 1 << 20;

/// The rollout's first record names `exec` as its source. `None` if it names no source.
fn is_headless(payload: &Payload<'_>) -> Option<bool> {
    let rollout = payload.path("transcript_path")?;
    let mut line = String::new();
    BufReader::new(File::open(rollout).ok()?.take(MAX_HEADER_BYTES)).read_line(&mut line).ok()?;
    let header: Value = serde_json::from_str(&line).ok()?;
    let source = header.get("payload")?.get("source")?;
    Some(source.as_str() == Some("exec"))
}

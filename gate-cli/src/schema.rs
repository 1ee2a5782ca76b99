//! The JSON that gate prints and reads, described.

use clap::ValueEnum;
use gate_core::decide::score::Indicators;
use gate_core::decide::signal::Signal;
use gate_core::{Decision, Transcript, config};
use schemars::{JsonSchema, schema_for};
use serde::Serialize;
use serde_json::Value;

use crate::failure::Failure;
use crate::record::Record;

/// The schemas, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Name {
    /// The settings: gate.toml.
    Config,
    /// `gate check --json`.
    Decision,
    /// Any command with `--json`, where nothing was decided.
    Error,
    /// `gate scan --json`, one object a file.
    Scan,
}

/// A JSON Schema.
pub fn of(name: Name) -> Value {
    match name {
        Name::Config => config::schema(),
        Name::Decision => schema_for!(Record).to_value(),
        Name::Error => schema_for!(Failure).to_value(),
        Name::Scan => schema_for!(ScanRecord).to_value(),
    }
}

/// `gate.scan.v1`: what a transcript holds.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ScanRecord {
    /// Always `gate.scan.v1`.
    pub schema: &'static str,
    /// The file, as it was named.
    pub file: String,
    /// What the agent says about being done.
    pub signal: Signal,
    /// What speaks for completion, checks left out.
    pub indicators: Indicators,
    /// What the format tells beside the conversation.
    pub transcript: Transcript,
}

impl ScanRecord {
    /// The record of one file.
    pub(crate) fn new(file: String, decision: Decision, transcript: Transcript) -> Self {
        Self {
            schema: "gate.scan.v1",
            file,
            signal: decision.signal,
            indicators: decision.indicators,
            transcript,
        }
    }
}

//! `gate scan`: the signal and the indicators alone.

use std::path::Path;

use gate_checks::CheckSite;
use gate_core::Decision;
use gate_core::decide::score::Indicators;
use gate_core::decide::signal::Signal;
use gate_core::scan::Transcript;
use schemars::JsonSchema;
use serde::Serialize;

use super::common::DONE;
use crate::commands::arguments::InputArgs;
use crate::failure::Failure;
use crate::gate::{Gate, admit_format};
use crate::invocation::Invocation;
use crate::render::{self, OutputMode, print};
use crate::settings;
use crate::source::Source;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct Scan {
    /// Transcripts; `-` is the standard input.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: InputArgs,
    /// Print one JSON object a file.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `gate.scan.v1`: what a transcript holds.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ScanRecord {
    /// Always `gate.scan.v1`.
    pub schema: &'static str,
    /// The file, as it was named.
    pub file: String,
    /// The agent's statement about being done.
    pub signal: Signal,
    /// The hints of completion, checks left out.
    pub indicators: Indicators,
    /// Facts that the format gives beside the conversation.
    pub transcript: Transcript,
}

impl ScanRecord {
    /// The record of one file.
    fn new(file: String, decision: Decision, transcript: Transcript) -> Self {
        Self {
            schema: "gate.scan.v1",
            file,
            signal: decision.input.signal,
            indicators: decision.input.indicators,
            transcript,
        }
    }
}

/// Reports a file that cannot be read, and goes on with the others.
pub(super) fn run(invocation: &Invocation, args: &Scan) -> Result<u8, Failure> {
    let settings = settings::resolve(&invocation.places, &args.reading.settings.selection())?;
    // No checks run: what is in the environment is masked, and nothing more.
    let environment = invocation.places.environment.clone();
    let site = CheckSite { environment, ..CheckSite::new(&invocation.places.folder) };
    let gate = Gate::open(settings, site)?;
    let mut code = DONE;
    let failure_mode = OutputMode { json: args.json, stop: false };
    for file in &args.files {
        match scan(invocation, &gate, args, file) {
            Ok(record) => print(&answer(args, &record)?)?,
            Err(failure) => code = code.max(render::failure(&failure, failure_mode)),
        }
    }
    Ok(code)
}

fn scan(
    invocation: &Invocation,
    gate: &Gate,
    args: &Scan,
    file: &Path,
) -> Result<ScanRecord, Failure> {
    let source = Source::named(file, &invocation.places.folder);
    let scan = gate.scan(&source, args.reading.format)?;
    admit_format(&source, &scan, args.reading.format)?;
    let scan = scan.without_token();
    let decision = gate.decide_scan(&scan);
    Ok(ScanRecord::new(file.display().to_string(), decision, scan.transcript))
}

fn answer(args: &Scan, record: &ScanRecord) -> Result<String, Failure> {
    if args.json {
        render::json_line(record)
    } else {
        let ScanRecord { file, signal, indicators, transcript, .. } = record;
        Ok(render::scan_card(file, transcript, signal, indicators))
    }
}

//! The exit signal in what was given.

use std::path::Path;

use gate_core::exit::{
    AGENT_EXIT_PROTOCOL_ENABLED_ENV, ExitSignal, ExitSignalError, MAX_EXIT_SIGNAL,
    parse_agent_exit_protocol_enabled,
};
use gate_core::exit_scan::{ExitScan, ExitScanner};
use gate_core::text;
use gate_transcript::{Forced, Format};

use crate::context::Here;
use crate::failure::Failure;
use crate::render;
use crate::source::Source;

/// Exit code if there is no valid signal.
pub(super) const INVALID: u8 = 1;

/// The signal that a file is or contains, or the reason why there is no valid one. If the
/// protocol is switched off, nothing is read.
pub(super) fn signal(
    here: &Here,
    file: &Path,
    format: Option<Forced>,
) -> Result<Result<ExitSignal, String>, Failure> {
    let flag = here.places.variable(AGENT_EXIT_PROTOCOL_ENABLED_ENV);
    if !parse_agent_exit_protocol_enabled(flag) {
        return Ok(Err(ExitSignalError::ValidationDisabled.to_string()));
    }
    let input = Input::read(here, file, format)?;
    let parsed = input.parsed();
    if parsed.is_ok() {
        render::notes(&input.invalid_signals());
    }
    Ok(parsed)
}

/// The text given: a signal by itself, or an agent's output.
struct Input {
    /// The beginning, with one byte more than a signal may have.
    head: Vec<u8>,
    length: u64,
    scan: ExitScan,
}

impl Input {
    fn read(here: &Here, file: &Path, format: Option<Forced>) -> Result<Self, Failure> {
        let (mut head, mut scanner) = (Vec::new(), ExitScanner::new(format));
        let length = Source::named(file, &here.places.folder).feed(&mut |bytes| {
            let room = MAX_EXIT_SIGNAL + 1 - head.len();
            head.extend_from_slice(&bytes[..bytes.len().min(room)]);
            scanner.push(bytes);
        })?;
        Ok(Self { head, length, scan: scanner.finish() })
    }

    /// The signal that it is or contains, or the reason why there is none.
    fn parsed(&self) -> Result<ExitSignal, String> {
        let whole = match self.whole() {
            Ok(signal) => return Ok(signal),
            Err(error) => error.to_string(),
        };
        if self.is_one_value() {
            return Err(whole);
        }
        if let Some(signal) = self.scan.signal() {
            return Ok(signal.clone());
        }
        let last_problem =
            self.scan.sightings.iter().rev().find_map(|sighting| sighting.found.as_ref().err());
        Err(match last_problem {
            Some(why) => why.to_string(),
            None if self.is_output() => "no exit signal in the agent's last word".to_owned(),
            None => whole,
        })
    }

    /// A line for each text that looks like a signal and is not valid.
    fn invalid_signals(&self) -> Vec<String> {
        let sightings = self.scan.sightings.iter();
        let invalid = sightings
            .filter_map(|sighting| sighting.found.as_ref().err().map(|why| (sighting.line, why)));
        invalid
            .map(|(line, why)| format!("line {line}: {}", text::clean(&why.to_string())))
            .collect()
    }

    /// All of it as a signal.
    fn whole(&self) -> Result<ExitSignal, ExitSignalError> {
        if self.length > MAX_EXIT_SIGNAL as u64 {
            let actual = usize::try_from(self.length).unwrap_or(usize::MAX);
            return Err(ExitSignalError::InputTooLarge { actual, max: MAX_EXIT_SIGNAL });
        }
        let json = std::str::from_utf8(&self.head).map_err(|error| {
            let good = &self.head[..error.valid_up_to()];
            let line = good.iter().filter(|byte| **byte == b'\n').count() + 1;
            let column = good.iter().rev().take_while(|byte| **byte != b'\n').count() + 1;
            ExitSignalError::InvalidJson(format!("no UTF-8 at line {line} column {column}"))
        })?;
        ExitSignal::from_json(json)
    }

    /// True for one line of JSON, or a text that begins with a byte order mark: a signal by
    /// itself, and not an agent's output with one in it.
    fn is_one_value(&self) -> bool {
        let marked = self.head.starts_with("\u{feff}".as_bytes());
        let json = self.head.trim_ascii();
        let one = json.starts_with(b"{") && !json.contains(&b'\n');
        !self.is_transcript() && (marked || one)
    }

    /// True if it is an agent's output without doubt: a transcript, or a text that is too
    /// long for a signal and does not begin as one.
    fn is_output(&self) -> bool {
        let long = self.length > MAX_EXIT_SIGNAL as u64;
        self.is_transcript() || (long && !self.head.trim_ascii_start().starts_with(b"{"))
    }

    fn is_transcript(&self) -> bool {
        self.scan.format.is_some_and(|format| format != Format::Text)
    }
}

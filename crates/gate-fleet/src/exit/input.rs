//! The exit signal in what was given: a signal by itself, or an agent's output.

use gate_core::exit::{ExitSignal, ExitSignalError, MAX_EXIT_SIGNAL};
use gate_core::exit_scan::{ExitScan, ExitScanner};
use gate_core::text;
use gate_transcript::{Forced, Format};

/// Looks for a signal in a text, which comes in pieces of any size.
#[derive(Debug)]
pub struct SignalReader {
    /// The beginning, with one byte more than a signal may have.
    head: Vec<u8>,
    length: u64,
    scanner: ExitScanner,
}

impl SignalReader {
    /// Finds the format of an agent's output by itself unless one is given.
    pub fn new(format: Option<Forced>) -> Self {
        Self { head: Vec::new(), length: 0, scanner: ExitScanner::new(format) }
    }

    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        let room = MAX_EXIT_SIGNAL + 1 - self.head.len();
        self.head.extend_from_slice(&bytes[..bytes.len().min(room)]);
        self.length += bytes.len() as u64;
        self.scanner.push(bytes);
    }

    /// Ends the text.
    pub fn finish(self) -> SignalInput {
        SignalInput { head: self.head, length: self.length, scan: self.scanner.finish() }
    }
}

/// The text given: a signal by itself, or an agent's output.
#[derive(Debug)]
pub struct SignalInput {
    /// The beginning, with one byte more than a signal may have.
    head: Vec<u8>,
    length: u64,
    scan: ExitScan,
}

impl SignalInput {
    /// The signal that it is or contains.
    ///
    /// # Errors
    ///
    /// Why there is none, in the protocol's own words.
    pub fn signal(&self) -> Result<ExitSignal, String> {
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
    pub fn invalid_signals(&self) -> Vec<String> {
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

    /// One line of JSON, or a text that begins with a byte order mark: a signal by itself, and
    /// not an agent's output with one in it.
    fn is_one_value(&self) -> bool {
        let has_mark = self.head.starts_with("\u{feff}".as_bytes());
        let json = self.head.trim_ascii();
        let is_one_line = json.starts_with(b"{") && !json.contains(&b'\n');
        !self.is_transcript() && (has_mark || is_one_line)
    }

    /// An agent's output without doubt: a transcript, or a text that is too long for a signal and
    /// does not begin as one.
    fn is_output(&self) -> bool {
        let is_too_long = self.length > MAX_EXIT_SIGNAL as u64;
        self.is_transcript() || (is_too_long && !self.head.trim_ascii_start().starts_with(b"{"))
    }

    fn is_transcript(&self) -> bool {
        self.scan.format.is_some_and(|format| format != Format::Text)
    }
}

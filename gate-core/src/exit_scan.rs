//! From bytes to exit signals, for `gate exit`.

use crate::decide::signal::{ExitSighting, NoSignal, exit_signals};
use crate::exit::ExitSignal;
use crate::trouble;
use gate_transcript::{Event, FinalTurn, Forced, Format, Reader, Sink, Wording};

/// Looks for exit signals in an agent's output of any format, fed in pieces of any size. The caller
/// checks the feature flag.
#[derive(Debug)]
pub struct ExitScanner {
    reader: Reader,
    collector: Collector,
}

/// The exit signals in an agent's output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExitScan {
    /// The output's format.
    pub format: Option<Format>,
    /// The places in the agent's last word that name the exit protocol in JSON, in order.
    pub sightings: Vec<ExitSighting>,
}

#[derive(Debug, Default)]
struct Collector {
    turn: FinalTurn,
    /// The line of the last record that could not be read whole.
    lost_line: Option<u64>,
}

impl ExitScanner {
    /// Finds the format by itself unless one is given.
    pub fn new(format: Option<Forced>) -> Self {
        Self { reader: Reader::new(format), collector: Collector::default() }
    }

    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.reader.push(bytes, &mut self.collector);
    }

    /// Ends the input. No text before a record that could not be read is a
    /// signal: the record may hold a later word of the agent.
    pub fn finish(mut self) -> ExitScan {
        self.reader.finish(&mut self.collector);
        self.collector.turn.finish();
        let mut sightings = exit_signals(&self.collector.turn);
        if let Some(lost_line) = self.collector.lost_line {
            let reason = format!("line {lost_line}: what follows it could not be read");
            for sighting in &mut sightings {
                if sighting.line <= lost_line && sighting.found.is_ok() {
                    sighting.found = Err(NoSignal::NotSaid(reason.clone()));
                }
            }
        }
        ExitScan { format: self.reader.format(), sightings }
    }
}

impl ExitScan {
    /// The signal that counts: the last one that is valid and given as one.
    pub fn signal(&self) -> Option<&ExitSignal> {
        self.sightings.iter().rev().find_map(|sighting| sighting.found.as_ref().ok())
    }
}

impl Sink for Collector {
    fn event(&mut self, event: Event<'_>) {
        self.turn.event(&event);
        if let Event::Problem(problem) = event
            && problem.kind.loses_words()
        {
            self.lost_line = Some(problem.line);
        }
    }

    fn has_wording(&self, wording: Wording, text: &str) -> bool {
        trouble::has_wording(wording, text)
    }
}

#[cfg(test)]
mod tests;

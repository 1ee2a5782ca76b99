//! The agent's last word at a stop: from the event, or from the transcript as soon as that has it.

use std::path::Path;
use std::thread;
use std::time::Instant;

use gate_core::Scan;

use super::{LAG_TIMEOUT, POLL_INTERVAL};
use crate::failure::Failure;
use crate::gate::{Gate, Judging};
use crate::hook::{HookCall, RecentRecords, TranscriptLag, client};
use crate::request::Request;
use crate::source::Source;

/// The agent's last word, and the transcript around it.
pub(super) struct LastWord {
    pub(super) judging: Judging,
    /// True if the agent used a tool since the prompt; none if that is not known.
    pub(super) acted: Option<bool>,
}

impl From<Judging> for LastWord {
    fn from(judging: Judging) -> Self {
        let acted = Some(judging.scan.acted);
        Self { judging, acted }
    }
}

impl HookCall<'_> {
    /// Reads the agent's last message. One in the event wins over the transcript, which the client
    /// may write later.
    pub(super) fn read(&self, gate: &Gate, request: &Request) -> Result<LastWord, Failure> {
        let last_message = match (&self.event.last_message, &self.event.transcript) {
            (Some(message), _) => message.as_str(),
            // A client that sends neither: only evidence can decide.
            (None, None) => "",
            (None, Some(transcript)) => {
                let settled = self.read_settled(transcript, gate, request);
                match (settled, &self.event.repeated_message) {
                    (Ok(judging), _) => return Ok(judging.into()),
                    (Err(_), Some(message)) => message.as_str(),
                    (Err(failure), None) => return Err(failure),
                }
            }
        };
        match self.read_transcript(gate, request).ok().flatten() {
            Some(judging) if same_words(&judging.scan.said, last_message) => Ok(judging.into()),
            transcript => {
                let source = Source::Message(last_message.to_owned());
                let mut request = request.clone();
                request.turn.format = "text".parse().ok();
                let message = gate.read(&source, &request)?;
                let judging = message.beside(transcript.map(|judging| judging.scan));
                Ok(LastWord { judging, acted: None })
            }
        }
    }

    /// Reads the transcript again and again until it is no longer behind its client.
    fn read_settled(
        &self,
        transcript: &Path,
        gate: &Gate,
        request: &Request,
    ) -> Result<Judging, Failure> {
        let until = Instant::now() + LAG_TIMEOUT.min(self.deadline / 4);
        loop {
            // The records are read first. Read after the transcript, they could show a
            // message that the client wrote in between, and that `judging` does not have.
            let latest = RecentRecords::read(transcript);
            let read = self.read_transcript(gate, request)?;
            let lag = read.as_ref().map_or(TranscriptLag::Certain, |judging| {
                client(self.agent).transcript_lag(&self.payload, &latest, &judging.scan.said)
            });
            let is_late = Instant::now() >= until;
            match (read, lag) {
                (Some(judging), TranscriptLag::UpToDate) => return Ok(judging),
                // `Likely` is a guess, so after the wait the transcript counts as it is. A
                // transcript that is certainly old must never be judged as this stop.
                (Some(judging), TranscriptLag::Likely) if is_late => return Ok(judging),
                _ if is_late => return Err(no_transcript(transcript)),
                _ => thread::sleep(POLL_INTERVAL),
            }
        }
    }

    /// None if there is no transcript, or only a file of another kind.
    fn read_transcript(&self, gate: &Gate, request: &Request) -> Result<Option<Judging>, Failure> {
        let path = self.event.transcript.clone().filter(|path| path.is_file());
        let Some(file) = path.map(Source::File) else { return Ok(None) };
        let judging = gate.read(&file, request)?;
        Ok(has_agent_records(&judging.scan).then_some(judging))
    }
}

fn no_transcript(path: &Path) -> Failure {
    let message = format!("{} holds no transcript of this stop", path.display());
    Failure::usage("transcript-missing", message)
}

fn has_agent_records<S>(scan: &Scan<S>) -> bool {
    scan.transcript.format.as_deref().is_some_and(|format| format != "text")
}

/// Compares two texts without white space.
fn same_words(one: &str, other: &str) -> bool {
    one.split_whitespace().eq(other.split_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_the_transcripts_whatever_its_white_space() {
        assert!(same_words("All is\n\ndone. ", "All is done."));
        assert!(!same_words("All is done.", "All is done. Or not."));
        assert!(!same_words("", "done") && same_words(" ", ""));
    }
}

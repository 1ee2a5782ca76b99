//! The agent's last word at a stop: from the event, or from the transcript as soon as that has it.

use std::path::Path;
use std::thread;
use std::time::Instant;

use gate_core::Scan;

use super::{LAG_TIMEOUT, POLL_INTERVAL};
use crate::failure::Failure;
use crate::gate::{Gate, Judging};
use crate::hook::{HookCall, RecentRecords, TranscriptLag, client, has_same_words};
use crate::request::Request;
use crate::source::Source;

/// The agent's last word, and the transcript around it.
pub(super) struct LastWord {
    pub(super) judging: Judging,
    /// The agent used a tool since the prompt. `None` if that is not known.
    pub(super) has_acted: Option<bool>,
}

impl From<Judging> for LastWord {
    fn from(judging: Judging) -> Self {
        let has_acted = Some(judging.scan.acted);
        Self { judging, has_acted }
    }
}

impl HookCall<'_> {
    /// Reads the agent's last message. One in the event wins over the transcript, which the client
    /// may write later.
    pub(super) fn last_word(&self, gate: &Gate, request: &Request) -> Result<LastWord, Failure> {
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
        // The transcript knows more than the words, so it is taken if it holds this message.
        match self.read_transcript(gate, request).ok().flatten() {
            Some(judging) if has_same_words(&judging.scan.last_word, last_message) => {
                Ok(judging.into())
            }
            transcript => {
                let source = Source::Message(last_message.to_owned());
                let mut request = request.clone();
                request.turn.format = "text".parse().ok();
                let message = gate.read(&source, &request)?;
                let judging = message.beside(transcript.map(|judging| judging.scan));
                Ok(LastWord { judging, has_acted: None })
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
            let judging = self.read_transcript(gate, request)?;
            let lag = judging.as_ref().map_or(TranscriptLag::Certain, |judging| {
                client(self.agent).transcript_lag(&self.payload, &latest, &judging.scan.last_word)
            });
            let is_late = Instant::now() >= until;
            match (judging, lag) {
                (Some(judging), TranscriptLag::UpToDate) => return Ok(judging),
                // `Likely` is a guess, so after the wait the transcript counts as it is. A
                // transcript that is certainly old must never be judged as this stop.
                (Some(judging), TranscriptLag::Likely) if is_late => return Ok(judging),
                _ if is_late => return Err(missing_transcript(transcript)),
                _ => thread::sleep(POLL_INTERVAL),
            }
        }
    }

    /// The transcript as it is; `None` if there is none, or only a file of another kind.
    fn read_transcript(&self, gate: &Gate, request: &Request) -> Result<Option<Judging>, Failure> {
        let path = self.event.transcript.clone().filter(|path| path.is_file());
        let Some(file) = path.map(Source::File) else { return Ok(None) };
        let judging = gate.read(&file, request)?;
        Ok(has_agent_records(&judging.scan).then_some(judging))
    }
}

fn missing_transcript(path: &Path) -> Failure {
    let message = format!("{} holds no transcript of this stop", path.display());
    Failure::usage("transcript-missing", message)
}

fn has_agent_records<S>(scan: &Scan<S>) -> bool {
    scan.transcript.format.as_deref().is_some_and(|format| format != "text")
}

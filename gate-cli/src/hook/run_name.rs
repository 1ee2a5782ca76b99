//! Names the run of a stop. With a person it is the session's. A headless client's is
//! that of its prompt in this work tree, whichever session it is.

use gate_core::decide::situation::Presence;

use super::AgentStop;
use crate::gate::{Gate, Judging};
use crate::memory::LoopId;
use crate::request::Request;
use crate::source::Source;

/// Prefix of a prompt's digest. An event's `prompt_id` may be one, or the client's own.
const DIGEST_PREFIX: &str = "blake3:";

impl AgentStop<'_> {
    /// Sets the run of a headless client. If a loop starts its client again with the
    /// same prompt, the run goes on; another prompt has another run.
    pub(super) fn with_run_name(
        &self,
        gate: &Gate,
        request: Request,
        (source, judging): (&Source, &Judging),
    ) -> Request {
        if self.start.presence != Presence::Nobody {
            return request;
        }
        let prompt = self.prompt_digest(gate, &request, (source, judging));
        let run = prompt
            .zip(gate.memory())
            .and_then(|(prompt, memory)| memory.loop_name(LoopId::Prompt(&prompt)).ok());
        Request { run: run.or(request.run), ..request }
    }

    /// The digest of the person's prompt, from the end of the transcript, from the whole
    /// transcript, or from the event: the first that has it.
    fn prompt_digest(
        &self,
        gate: &Gate,
        request: &Request,
        (source, judging): (&Source, &Judging),
    ) -> Option<String> {
        if let Some(prompt) = &judging.scan.prompt {
            return Some(prompt.clone());
        }
        let transcript = match (source, &self.event.transcript) {
            (Source::File(_), _) => Some(source.clone()),
            (_, Some(path)) if path.is_file() => Some(Source::File(path.clone())),
            _ => None,
        };
        let whole = transcript.and_then(|file| gate.scan(&file, request.format).ok());
        whole.and_then(|scan| scan.prompt).or_else(|| {
            self.event.prompt_id.clone().filter(|prompt| prompt.starts_with(DIGEST_PREFIX))
        })
    }
}

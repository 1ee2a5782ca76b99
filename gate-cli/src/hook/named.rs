//! Whose run a stop belongs to: the session's, where a person is there; without one
//! that of the prompt in this work tree, whichever session it is.

use super::{Stopped, client};
use crate::gate::{Gate, Judging};
use crate::request::Request;
use crate::source::Source;

/// What the digest of a prompt begins with, where a client's event tells one.
const DIGEST: &str = "blake3:";

impl Stopped<'_> {
    /// The request under the name of its run. A loop that starts its client again with
    /// the same prompt goes on with one run, and another prompt has another one.
    pub(super) fn named(
        &self,
        gate: &Gate,
        request: Request,
        (source, judging): (&Source, &Judging),
    ) -> Request {
        if (client(self.agent).is_headless)(&self.said) != Some(true) {
            return request;
        }
        let prompt = self.prompt(gate, &request, (source, judging));
        let run = prompt.zip(gate.memory()).map(|(prompt, memory)| memory.loop_of_prompt(&prompt));
        Request { run: run.or(request.run), ..request }
    }

    /// The digest of the person's prompt: as the transcript has it, which is read from
    /// its beginning where the end alone does not hold it; else as the client tells it.
    fn prompt(
        &self,
        gate: &Gate,
        request: &Request,
        (source, judging): (&Source, &Judging),
    ) -> Option<String> {
        let transcript = || match (source, &self.event.transcript) {
            (Source::File(_), _) => Some(source.clone()),
            (_, Some(path)) if path.is_file() => Some(Source::File(path.clone())),
            _ => None,
        };
        let whole = || gate.scan(&transcript()?, request.format).ok()?.prompt;
        let told = || self.event.prompt.clone().filter(|prompt| prompt.starts_with(DIGEST));
        judging.scan.prompt.clone().or_else(whole).or_else(told)
    }
}

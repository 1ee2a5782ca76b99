//! The JSON exit signal of the agent exit protocol.
//!
//! Its validation is switched off unless the operator switches it on
//! (`AGENT_EXIT_PROTOCOL_ENABLED`), so here it is only noticed and named.

use memchr::memmem;

use super::candidate::{CANDIDATES, Candidate, Says};
use super::layout::Layout;
use crate::decide::policy::Spelling;

/// The value of `protocol` that marks such a signal.
const PROTOCOL: &str = "\"apm2_agent_exit\"";

/// All candidates of this spelling in a message.
pub(super) fn candidates(layout: &Layout<'_>) -> Vec<Candidate> {
    let text = &layout.word().text;
    if memmem::find(text.as_bytes(), PROTOCOL.as_bytes()).is_none() {
        return Vec::new();
    }
    text.rmatch_indices(PROTOCOL)
        .take(CANDIDATES)
        .map(|(at, found)| Candidate {
            spelling: Spelling::AgentExit,
            line: layout.number(layout.index_of(at)),
            at: layout.index_of(at),
            text: found.to_owned(),
            taken: Vec::new(),
            says: Says::Nothing("exit signal validation is disabled".to_owned()),
        })
        .collect()
}

//! The completion protocol, as it is put into an agent's prompt.
//!
//! Echoed by the agent it never scores: its values are placeholders, and no
//! shipped pattern finds anything in it.

use super::TokenHalves;
use super::spelling::Spelling;
use crate::decide::policy::SignalPolicy;

/// The beginning of the protocol in most spellings.
pub(super) const HEAD: &str = "## Completion Protocol

You are called again and again until the work is done. Close each message with your status";

/// The statuses that are named in words.
pub(super) const MEANINGS: &str = "
- COMPLETE: everything that was asked for is there, and you have verified it. Your word
  alone does not end the loop; the project's own checks are run as well.
- CONTINUE: something is left. You will be called again, so do not wait for an answer.
- BLOCKED: you need something that only a person can give. Say what it is.
";

/// The protocol in the first accepted spelling; in that of the agent exit protocol only
/// if no other is accepted. Includes the next iteration's token if one is required.
pub fn prompt(policy: &SignalPolicy, token: Option<&TokenHalves>) -> String {
    let token_text = token.map(|halves| format!("\n{}", halves.prompt_paragraph()));
    let written = policy.accept.iter().find(|spelling| **spelling != Spelling::AgentExit);
    let spelling = written.or(policy.accept.first()).unwrap_or(&Spelling::ExitStatus);
    spelling.protocol(policy) + &token_text.unwrap_or_default()
}

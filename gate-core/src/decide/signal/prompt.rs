//! The completion protocol, as it is put into an agent's prompt.
//!
//! Echoed by the agent it never scores: its values are placeholders, and no
//! shipped pattern finds anything in it.

use super::TokenHalves;
use crate::decide::policy::{SignalPolicy, Spelling};

const HEAD: &str = "## Completion Protocol

You are called again and again until the work is done. Close each message with your status";

const MEANINGS: &str = "
- COMPLETE: everything that was asked for is there, and you have verified it. Your word
  alone does not end the loop; the project's own checks are run as well.
- CONTINUE: something is left. You will be called again, so do not wait for an answer.
- BLOCKED: you need something that only a person can give. Say what it is.
";

/// The protocol in the first accepted spelling; in that of the agent exit protocol only
/// if no other is accepted. Includes the next iteration's token if one is required.
pub fn prompt(policy: &SignalPolicy, token: Option<&TokenHalves>) -> String {
    let token = token.map(|halves| format!("\n{}", halves.told()));
    protocol(policy) + &token.unwrap_or_default()
}

fn protocol(policy: &SignalPolicy) -> String {
    let plain = policy.accept.iter().find(|spelling| **spelling != Spelling::AgentExit);
    match plain.or(policy.accept.first()) {
        Some(Spelling::RalphStatus) => format!("{HEAD}:\n\n{}{MEANINGS}", ralph_status()),
        Some(Spelling::Promise) => promise(policy),
        Some(Spelling::AgentExit) => agent_exit(),
        Some(Spelling::Custom) => format!("{HEAD},\nas your instructions describe it.\n"),
        Some(Spelling::ExitStatus) | None => {
            format!("{HEAD},\nevery key at the beginning of a line:\n\n{}{MEANINGS}", exit_status())
        }
    }
}

fn agent_exit() -> String {
    "## Exit Protocol

When you have completed a phase of the work, or cannot go on with it, print one JSON object:

{
  \"protocol\": \"{the name of the exit protocol: apm2_agent_exit}\",
  \"version\": \"1.0.0\",
  \"phase_completed\": \"{the phase that you worked on}\",
  \"exit_reason\": \"{completed|blocked|error}\",
  \"notes\": \"{one sentence}\"
}
"
    .to_owned()
}

fn exit_status() -> &'static str {
    "EXIT_STATUS: {COMPLETE|CONTINUE|BLOCKED}
EXIT_REASON: {one sentence}
REMAINING_WORK: {what is left, or the word none}
"
}

fn ralph_status() -> &'static str {
    "---RALPH_STATUS---
STATUS: {COMPLETE|IN_PROGRESS|BLOCKED}
TESTS_STATUS: {PASSING|FAILING|NOT_RUN}
EXIT_SIGNAL: {true, only with COMPLETE and when nothing at all is left|false}
RECOMMENDATION: {one sentence}
---END_RALPH_STATUS---
"
}

fn promise(policy: &SignalPolicy) -> String {
    format!(
        "## Completion Protocol

You are called again and again until the work is done. When everything that was asked for
is there and you have verified it, close your message with this tag on a line of its own,
with one of the phrases in it and without the braces:

<promise>{{{}|BLOCKED}}</promise>

Your word alone does not end the loop; the project's own checks are run as well. Where you
need something that only a person can give, write BLOCKED instead and say what it is. As
long as something is left, write no tag at all.
",
        policy.phrases.join("|")
    )
}

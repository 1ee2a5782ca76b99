//! Variables that agents' programs set for the processes that they start.

use super::Agent;

/// Variables that agents' programs set for what they start, and the agent that
/// sets it for its own hooks as well (as was seen: Claude Code 2.1.330, Codex 0.169.0,
/// Gemini CLI 0.61.0, Qwen Code 0.15.10, Copilot 1.0.102; else by documentation).
pub(crate) const MARKS: [(&str, Option<Agent>); 15] = [
    ("CLAUDECODE", Some(Agent::ClaudeCode)),
    ("CLAUDE_CODE_SESSION_ID", Some(Agent::ClaudeCode)),
    (SELF_NAMED, Some(Agent::ClaudeCode)),
    (BY_NPM, Some(Agent::Codex)),
    ("CODEX_SANDBOX", None),
    ("CODEX_THREAD_ID", None),
    ("GEMINI_CLI", None),
    ("GEMINI_SESSION_ID", Some(Agent::Gemini)),
    ("QWEN_CODE", None),
    ("COPILOT_AGENT_SESSION_ID", None),
    ("COPILOT_CLI", Some(Agent::Copilot)),
    ("CURSOR_AGENT", Some(Agent::Cursor)),
    ("OPENCODE", Some(Agent::Opencode)),
    ("FACTORY_PROJECT_DIR", Some(Agent::Droid)),
    ("GOOSE_TERMINAL", Some(Agent::Goose)),
];

/// The variable in which Claude Code names itself, and says whether it is a tool of the
/// agent's or a hook that it starts.
pub(crate) const SELF_NAMED: &str = "AI_AGENT";

/// The mark that Codex's starter leaves to Codex itself.
pub(crate) const BY_NPM: &str = "CODEX_MANAGED_BY_NPM";

/// The variable in which `gate run` gives its agent the run's id. A hook that finds it is
/// probably called inside of a run; anybody can set it, so it proves nothing.
pub(crate) const IN_RUN: &str = "GATE_RUN";

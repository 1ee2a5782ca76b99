//! The stops of an agent that its hook asks about, and how often they were
//! refused.
//!
//! The client's own mark of a stop that follows a refusal (`stop_hook_active`)
//! is no measure: Qwen Code always sets it, Gemini CLI clears it after a tool
//! call, Claude Code after a background task. So refusals are counted here.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::reason::{Reason, ReasonCode};
use super::verdict::Verdict;

/// A stop that an agent's hook asks about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Stop {
    /// The agent's name.
    pub agent: String,
    /// What tells the person's prompts apart, where the client says it.
    #[serde(default)]
    pub prompt: Option<String>,
    /// The background tasks that the agent leaves running.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub background: Vec<String>,
}

/// How often an agent's stop was refused since it was last let go, or since the
/// person's prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Refusals {
    /// The prompt that they belong to, where the client says it.
    pub prompt: Option<String>,
    /// How many they are.
    pub blocks: u32,
    /// Whether one was for an absent signal: the agent was told the protocol.
    pub reminded: bool,
    /// Whether one was for tasks in the background.
    pub waited: bool,
}

impl Refusals {
    /// Whether there are none.
    pub(crate) fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Those that count for a stop: another prompt begins anew.
    #[must_use]
    pub fn before(&self, stop: &Stop) -> Self {
        let is_other = self.prompt.is_some() && stop.prompt.is_some() && self.prompt != stop.prompt;
        let counted = if is_other { Self::default() } else { self.clone() };
        Self { prompt: stop.prompt.clone().or(counted.prompt), ..counted }
    }

    /// Those after a decision about the stop: whoever is let go begins anew.
    pub(crate) fn after(&self, verdict: Verdict, reasons: &[Reason]) -> Self {
        if verdict != Verdict::Continue {
            return Self::default();
        }
        let has = |code| reasons.iter().any(|reason| reason.code == code);
        Self {
            prompt: self.prompt.clone(),
            blocks: self.blocks.saturating_add(1),
            reminded: self.reminded || has(ReasonCode::SignalAbsent),
            waited: self.waited || has(ReasonCode::BackgroundRunning),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stop(prompt: Option<&str>) -> Stop {
        let prompt = prompt.map(str::to_owned);
        Stop { agent: "codex".to_owned(), prompt, background: Vec::new() }
    }

    #[test]
    fn another_prompt_begins_anew_and_so_does_letting_go() {
        let absent = [Reason::new(ReasonCode::SignalAbsent, "")];
        let one = Refusals::default().before(&stop(Some("a"))).after(Verdict::Continue, &absent);
        assert_eq!((one.blocks, one.reminded, one.waited), (1, true, false));
        assert_eq!(one.before(&stop(Some("a"))).blocks, 1);
        assert_eq!(one.before(&stop(None)), one);
        assert_eq!(one.before(&stop(Some("b"))).blocks, 0);
        for verdict in [Verdict::Exit, Verdict::Tripped, Verdict::Blocked] {
            assert!(one.after(verdict, &[]).is_none());
        }
    }
}

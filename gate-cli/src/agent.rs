//! The agent programs that gate stands in front of.

mod marks;
mod program;

use clap::ValueEnum;

pub(crate) use marks::{BY_NPM, IN_RUN, MARKS, SELF_NAMED};
#[cfg(test)]
pub(crate) use program::agent_of;
pub(crate) use program::{Process, is_of};

/// An agent program whose stop gate can hold. Others are judged by what they
/// print (`gate check`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Agent {
    /// Claude Code
    #[value(alias = "claude")]
    ClaudeCode,
    /// Codex CLI
    #[value(alias = "codex-cli")]
    Codex,
    /// Gemini CLI
    #[value(alias = "gemini-cli")]
    Gemini,
    /// Qwen Code
    Qwen,
    /// GitHub Copilot CLI
    #[value(alias = "copilot-cli")]
    Copilot,
    /// Cursor's agent
    Cursor,
    /// OpenCode, through a plug-in
    Opencode,
    /// Factory Droid
    Droid,
    /// Goose
    Goose,
}

impl Agent {
    /// All of them, in the order in which they are listed.
    pub(crate) const ALL: [Self; 9] = [
        Self::ClaudeCode,
        Self::Codex,
        Self::Gemini,
        Self::Qwen,
        Self::Copilot,
        Self::Cursor,
        Self::Opencode,
        Self::Droid,
        Self::Goose,
    ];

    /// Its name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Qwen => "qwen",
            Self::Copilot => "copilot",
            Self::Cursor => "cursor",
            Self::Opencode => "opencode",
            Self::Droid => "droid",
            Self::Goose => "goose",
        }
    }
}

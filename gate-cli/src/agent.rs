//! The agent programs that gate stands in front of.

mod marks;
mod program;

use clap::ValueEnum;

pub(crate) use marks::{BY_NPM, IN_RUN, SELF_NAMED, is_for_hooks, mark};
#[cfg(test)]
pub(crate) use program::agent_of;
pub(crate) use program::{Process, is_of};

/// Defines the agents from one line each: the variant, and its name on the command line.
macro_rules! agents {
    ($($(#[$about:meta])* $agent:ident = $name:literal,)*) => {
        /// An agent program whose stop gate can hold. Others are judged by what they
        /// print (`gate check`).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
        pub(crate) enum Agent {
            $($(#[$about])* #[value(name = $name)] $agent,)*
        }

        impl Agent {
            /// All of them, in the order in which they are listed.
            pub(crate) const ALL: [Self; [$($name),*].len()] = [$(Self::$agent),*];

            /// Its name on the command line.
            pub(crate) fn name(self) -> &'static str {
                match self {
                    $(Self::$agent => $name,)*
                }
            }
        }
    };
}

agents! {
    /// Claude Code
    #[value(alias = "claude")]
    ClaudeCode = "claude-code",
    /// Codex CLI
    #[value(alias = "codex-cli")]
    Codex = "codex",
    /// Gemini CLI
    #[value(alias = "gemini-cli")]
    Gemini = "gemini",
    /// Qwen Code
    Qwen = "qwen",
    /// GitHub Copilot CLI
    #[value(alias = "copilot-cli")]
    Copilot = "copilot",
    /// Cursor's agent
    Cursor = "cursor",
    /// OpenCode, through a plug-in
    Opencode = "opencode",
    /// Factory Droid
    Droid = "droid",
    /// Goose
    Goose = "goose",
}

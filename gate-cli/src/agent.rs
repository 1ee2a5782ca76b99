//! The agent programs that gate stands in front of.

mod marks;
mod program;

use clap::ValueEnum;
use clap::builder::PossibleValue;

pub(crate) use marks::{IN_RUN, Mark, NAMED, is_of_session, mark};
#[cfg(test)]
pub(crate) use program::agent_of;
pub(crate) use program::{Process, is_of_project};

use crate::clients::{ClientFacts, facts};

/// Defines the agents from one line each: the variant, and its name on the command line.
macro_rules! agents {
    ($($agent:ident = $name:literal,)*) => {
        /// An agent program whose stop gate can hold. Others are judged by what they
        /// print (`gate check`).
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Agent {
            $($agent,)*
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
    ClaudeCode = "claude-code",
    Codex = "codex",
    Gemini = "gemini",
    Qwen = "qwen",
    Copilot = "copilot",
    Cursor = "cursor",
    Opencode = "opencode",
    Droid = "droid",
    Goose = "goose",
}

impl ValueEnum for Agent {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let ClientFacts { title, aliases, settings, .. } = facts(*self);
        let detail = if settings.entry.is_some() { "" } else { ", through a plug-in" };
        let value = PossibleValue::new(self.name()).help(format!("{title}{detail}"));
        Some(value.aliases(aliases.iter().map(String::as_str)))
    }
}

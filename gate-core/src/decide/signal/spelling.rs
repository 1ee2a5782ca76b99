//! The ways in which a signal is written: a file for each.

pub(super) mod agent_exit;
mod custom;
mod exit_status;
pub(super) mod promise;
mod ralph_status;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::candidate::Candidate;
use super::layout::Layout;
use super::marker::Marker;
use crate::decide::policy::SignalPolicy;

/// Defines [`Spelling`]: each with its file, whose name settings and records give it.
macro_rules! spellings {
    ($($(#[$doc:meta])* $spelling:ident: $file:ident,)*) => {
        /// The ways in which a signal is written.
        #[derive(
            Clone,
            Copy,
            Debug,
            PartialEq,
            Eq,
            PartialOrd,
            Ord,
            Hash,
            Serialize,
            Deserialize,
            JsonSchema,
        )]
        #[serde(rename_all = "snake_case")]
        pub enum Spelling {
            $($(#[$doc])* $spelling,)*
        }

        impl Spelling {
            pub(super) const ALL: &[Self] = &[$(Self::$spelling,)*];

            /// Its name in settings and records.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$spelling => stringify!($file),)*
                }
            }

            /// Texts of which every signal of this spelling contains one, and so does each part
            /// of it.
            pub(super) fn parts(self) -> &'static [Marker] {
                match self {
                    $(Self::$spelling => $file::PARTS,)*
                }
            }

            /// All candidates of this spelling in a message.
            pub(super) fn candidates(
                self,
                layout: &Layout<'_>,
                policy: &SignalPolicy,
            ) -> Vec<Candidate> {
                match self {
                    $(Self::$spelling => $file::candidates(layout, policy),)*
                }
            }

            /// The completion protocol in this spelling, as a prompt gives it. Echoed, it is no
            /// signal.
            pub(super) fn protocol(self, policy: &SignalPolicy) -> String {
                match self {
                    $(Self::$spelling => $file::protocol(policy),)*
                }
            }
        }
    };
}

spellings! {
    /// `EXIT_STATUS: COMPLETE` and its companions (the seed's protocol).
    ExitStatus: exit_status,
    /// The `RALPH_STATUS` block.
    RalphStatus: ralph_status,
    /// `<promise>COMPLETE</promise>`.
    Promise: promise,
    /// The JSON exit signal of the agent exit protocol.
    AgentExit: agent_exit,
    /// A `[[signal.custom]]` of the settings.
    Custom: custom,
}

#[cfg(test)]
mod tests {
    use super::Spelling;

    #[test]
    fn settings_write_a_spelling_by_its_name() {
        for spelling in Spelling::ALL {
            assert_eq!(serde_json::to_value(spelling).unwrap(), spelling.name());
        }
    }
}

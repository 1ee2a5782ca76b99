//! What a person types to gate in an agent's prompt: it is the operator's word, for
//! the client reports what was typed, and no agent can type.

use std::time::Duration;

use crate::settings::parse_duration;

/// An operator's command in a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Typed {
    /// `gate off [--for D]`.
    Off(Option<Duration>),
    /// `gate on`.
    On,
    /// `gate on --session`.
    OnForSession,
    /// `gate trust`.
    Trust,
}

impl Typed {
    /// The command that a prompt is, as a whole.
    pub(super) fn of(prompt: &str) -> Option<Self> {
        let words: Vec<_> =
            prompt.trim().trim_start_matches(['!', '/']).split_whitespace().collect();
        match words.as_slice() {
            ["gate", "off"] => Some(Self::Off(None)),
            ["gate", "off", "--for", length] => Some(Self::Off(Some(parse_duration(length).ok()?))),
            ["gate", "on"] => Some(Self::On),
            ["gate", "on", "--session"] => Some(Self::OnForSession),
            ["gate", "trust"] => Some(Self::Trust),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_the_whole_prompt() {
        assert_eq!(Typed::of("gate off"), Some(Typed::Off(None)));
        let hour = Some(Typed::Off(Some(Duration::from_secs(3600))));
        assert_eq!(Typed::of(" gate off --for 1h\n"), hour);
        assert_eq!(Typed::of("gate on --session"), Some(Typed::OnForSession));
        for other in ["please gate off", "gate off and go on", "gate off --for ever", "gate", ""] {
            assert_eq!(Typed::of(other), None, "{other}");
        }
    }
}

//! The feature flag that switches the reading of exit signals on.

use std::sync::OnceLock;

use super::{ExitSignal, ExitSignalError};

/// The environment variable that holds the flag.
pub const AGENT_EXIT_PROTOCOL_ENABLED_ENV: &str = "AGENT_EXIT_PROTOCOL_ENABLED";

/// A value of the flag's variable that switches the protocol on: `true`, `1` or `yes`, in
/// capital or small letters, without anything around it. Any other value leaves it off, and
/// so does an absent variable.
pub fn parse_agent_exit_protocol_enabled(value: Option<&str>) -> bool {
    let words = ["true", "1", "yes"];
    value.is_some_and(|value| words.iter().any(|word| word.eq_ignore_ascii_case(value)))
}

/// A flag that is read once, when it is first needed, and keeps its value for as long as the
/// process lives.
#[derive(Debug, Default)]
pub struct Flag(OnceLock<bool>);

impl Flag {
    /// A flag that was not read yet.
    pub const fn new() -> Self {
        Self(OnceLock::new())
    }

    /// The protocol is on. `variable` returns the environment's value, and is called once.
    pub fn is_enabled(&self, variable: impl FnOnce() -> Option<String>) -> bool {
        *self.0.get_or_init(|| parse_agent_exit_protocol_enabled(variable().as_deref()))
    }
}

/// The switch for the reading of exit signals. The default is the flag.
#[derive(Clone, Debug)]
pub struct AgentExitConfig {
    /// Exit signals are read.
    pub enabled: bool,
}

impl AgentExitConfig {
    /// A switch with which exit signals are read.
    pub const fn enabled() -> Self {
        Self { enabled: true }
    }

    /// A switch with which exit signals are refused.
    pub const fn disabled() -> Self {
        Self { enabled: false }
    }

    /// Reads a signal if signals are read.
    ///
    /// # Errors
    ///
    /// [`ExitSignalError::ValidationDisabled`] before anything is looked at;
    /// otherwise as of [`ExitSignal::from_json`].
    pub fn from_json(&self, json: &str) -> Result<ExitSignal, ExitSignalError> {
        if self.enabled {
            ExitSignal::from_json(json)
        } else {
            Err(ExitSignalError::ValidationDisabled)
        }
    }
}

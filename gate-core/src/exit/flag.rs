//! The feature flag that switches the reading of exit signals on.

use std::sync::OnceLock;

use super::{ExitSignal, ExitSignalError};

/// The environment variable that holds the flag.
pub const AGENT_EXIT_PROTOCOL_ENABLED_ENV: &str = "AGENT_EXIT_PROTOCOL_ENABLED";

/// True if the flag's variable switches the protocol on: `true`, `1` or `yes`, in
/// capital or small letters, without anything around it. Any other value, and
/// none, leaves it off.
pub fn parse_agent_exit_protocol_enabled(value: Option<&str>) -> bool {
    let on = ["true", "1", "yes"];
    value.is_some_and(|value| on.iter().any(|word| word.eq_ignore_ascii_case(value)))
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

    /// True if the protocol is on; `variable` returns the environment's value, and is called once.
    pub fn is_enabled(&self, variable: impl FnOnce() -> Option<String>) -> bool {
        *self.0.get_or_init(|| parse_agent_exit_protocol_enabled(variable().as_deref()))
    }
}

/// True if exit signals are read. The default is the flag.
#[derive(Clone, Debug)]
pub struct AgentExitConfig {
    /// True if they are.
    pub enabled: bool,
}

impl AgentExitConfig {
    /// They are.
    pub const fn enabled() -> Self {
        Self { enabled: true }
    }

    /// They are not.
    pub const fn disabled() -> Self {
        Self { enabled: false }
    }

    /// Reads a signal where signals are read.
    ///
    /// # Errors
    ///
    /// [`ExitSignalError::ValidationDisabled`] before anything is looked at;
    /// else as of [`ExitSignal::from_json`].
    pub fn from_json(&self, json: &str) -> Result<ExitSignal, ExitSignalError> {
        if self.enabled {
            ExitSignal::from_json(json)
        } else {
            Err(ExitSignalError::ValidationDisabled)
        }
    }
}

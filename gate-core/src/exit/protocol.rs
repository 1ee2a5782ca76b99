//! The name and the version of the exit protocol.

/// The value of `protocol` in each signal.
pub const EXIT_SIGNAL_PROTOCOL: &str = "apm2_agent_exit";

/// The version of signals that gate writes.
pub const EXIT_SIGNAL_VERSION: &str = "1.0.0";

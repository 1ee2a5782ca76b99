//! Why a run failed, in the words of `error_summary`.

/// The agent gave no output for too long.
pub const AGENT_TIMED_OUT: &str = "timed out";

/// The run's process is gone, and no record shows how it ended.
pub const RECONCILED: &str = "reconciled stale running status: process is not alive";

/// Meaning of an exit code; empty for success. -1 stands for a process that was killed or
/// could not be started.
pub fn error_summary(exit_code: i64) -> String {
    match exit_code {
        0 => String::new(),
        1 => "agent reported failure".to_owned(),
        2 => "agent usage error".to_owned(),
        137 => "agent killed (OOM or signal)".to_owned(),
        143 => "agent terminated (SIGTERM)".to_owned(),
        code => format!("agent exited with code {code}"),
    }
}

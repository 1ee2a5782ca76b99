//! Types of messages: any word, and some that are the runner's alone.

/// A run began.
pub const START: &str = "RUN_START";
/// A run ended with code 0.
pub const STOP: &str = "RUN_STOP";
/// A run ended in any other way.
pub const CRASH: &str = "RUN_CRASH";

/// True if only a runner may use this type, in whatever case and with whatever between the words:
/// an agent could otherwise forge one.
pub fn is_runners(kind: &str) -> bool {
    let letters = kind.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_uppercase);
    let letters: String = letters.collect();
    let event = letters.strip_prefix("RUN").unwrap_or(&letters);
    matches!(event, "START" | "STOP" | "CRASH")
}

//! Messages of a runner about a run: it started, stopped or crashed. Their types are the runner's
//! alone; all others are any word.

use super::message::Message;
use crate::run::{RunInfo, Status};

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

/// Lines of an agent's standard error that a crash message quotes.
pub const STDERR_LINES: usize = 50;

/// A run's event, by its record: START while it runs, STOP if it completed, CRASH else. `folder` is
/// the run's, and `stderr` the agent's standard error, of which a crash quotes the last
/// [`STDERR_LINES`] lines.
pub fn event(info: &RunInfo, folder: &str, stderr: &str) -> Message {
    let (kind, body) = match info.status {
        Status::Running => (START, started(info, folder)),
        Status::Completed => (STOP, ended(info, folder)),
        Status::Failed | Status::Unknown => (CRASH, ended(info, folder) + &stderr_excerpt(stderr)),
    };
    Message {
        task_id: info.task_id.clone(),
        run_id: info.run_id.clone(),
        body,
        ..Message::new(kind, &info.project_id)
    }
}

fn started(info: &RunInfo, folder: &str) -> String {
    let places = [
        ("run_dir", folder),
        ("prompt", &info.prompt_path),
        ("stdout", &info.stdout_path),
        ("stderr", &info.stderr_path),
        ("output", &info.output_path),
    ];
    format!("run started{}", lines(&places))
}

fn ended(info: &RunInfo, folder: &str) -> String {
    let places = [("run_dir", folder), ("output", info.output_path.as_str())];
    format!("run stopped with code {}{}", info.exit_code, lines(&places))
}

fn lines(places: &[(&str, &str)]) -> String {
    let named = places.iter().filter(|(_, path)| !path.is_empty());
    named.map(|(name, path)| format!("\n{name}: {path}")).collect()
}

fn stderr_excerpt(stderr: &str) -> String {
    let all: Vec<_> = stderr.trim_end().lines().collect();
    let last = &all[all.len().saturating_sub(STDERR_LINES)..];
    if last.is_empty() {
        return String::new();
    }
    format!("\n\n## stderr (last {STDERR_LINES} lines)\n{}", last.join("\n"))
}

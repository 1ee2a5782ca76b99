//! Messages of a runner about a run: it started, stopped or crashed. Their types are the runner's
//! alone; any other word may be the type of an agent's message.

use super::message::Message;
use crate::run::{RunInfo, Status};

/// A run began.
pub const START: &str = "RUN_START";
/// A run ended with code 0.
pub const STOP: &str = "RUN_STOP";
/// A run ended in any other way.
pub const CRASH: &str = "RUN_CRASH";

/// A type that only a runner may use, in whatever case and with whatever between the words: an
/// agent could otherwise forge one.
pub fn is_runner_type(kind: &str) -> bool {
    let letters = kind.chars().filter(|char| char.is_alphanumeric()).flat_map(char::to_uppercase);
    let letters: String = letters.collect();
    let event = letters.strip_prefix("RUN").unwrap_or(&letters);
    matches!(event, "START" | "STOP" | "CRASH")
}

/// Lines of an agent's standard error that a crash message quotes.
pub const STDERR_LINES: usize = 50;

/// A run's event, by its record: START while it runs, STOP if it completed, otherwise CRASH.
/// `folder` is the run's, and `stderr` the agent's standard error, of which a crash quotes the last
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
    let present = places.iter().filter(|(_, path)| !path.is_empty());
    present.map(|(name, path)| format!("\n{name}: {path}")).collect()
}

fn stderr_excerpt(stderr: &str) -> String {
    let lines: Vec<_> = stderr.trim_end().lines().collect();
    let last_lines = &lines[lines.len().saturating_sub(STDERR_LINES)..];
    if last_lines.is_empty() {
        return String::new();
    }
    format!("\n\n## stderr (last {STDERR_LINES} lines)\n{}", last_lines.join("\n"))
}

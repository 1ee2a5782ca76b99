//! A test stop: runs the installed command as the client would, with a stop that it has to block.
//!
//! The project, whose one check fails, the home folder and the state are temporary. Nothing of
//! the user's own is read or written.

mod event;

use std::fs::{self, File};
use std::io::{self, Seek, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use gate_checks::{Finding, Level, Temporary};
use gate_core::text::brief;
use gate_platform::{RealPath, end_group, lead_group};
use schemars::JsonSchema;
use serde::Serialize;

use crate::agent::Agent;
use crate::clients::facts;
use crate::settings::Places;
use crate::trust;

/// A check that fails, and rules by which each stop has to be an exit: no stop is right.
const SETTINGS: &str = "[hook]\njudge = \"always\"\nsignal = \"require\"\n\
    [checks.test_stop]\ncommand = [\"false\"]\n";

/// The data folder, below the home folder.
const DATA_FOLDER: &str = ".local/share";

/// Time limit of the command, which has nothing slow to do here.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// Time between two looks at the process.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Characters of the command's output in a finding.
const MAX_OUTPUT_CHARS: usize = 200;

/// Result of a test stop.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TestStop {
    /// The command blocked the stop, in the client's own words.
    pub blocked: bool,
    /// Its duration, in milliseconds.
    pub took_ms: u64,
    /// Its exit code; null if a signal ended it, or it never ended.
    pub exit_code: Option<i32>,
    /// The fault; null if there is none.
    pub problem: Option<String>,
}

impl TestStop {
    /// The finding about the test stop.
    pub(super) fn finding(&self) -> Finding {
        let took = self.took_ms;
        match &self.problem {
            None => {
                let message = format!("a test stop was blocked, in {took} ms");
                Finding::new(Level::Ok, "stop-blocked", message)
            }
            Some(problem) => {
                let message = format!("a test stop was not blocked ({took} ms): {problem}");
                Finding::new(Level::Problem, "stop-not-blocked", message)
            }
        }
    }
}

/// Runs an installed command with a test stop.
pub(crate) fn test_stop(agent: Agent, command: &str) -> TestStop {
    let began_at = Instant::now();
    let answer = run_command(agent, command);
    let took_ms = u64::try_from(began_at.elapsed().as_millis()).unwrap_or(u64::MAX);
    let (exit_code, problem) = match answer {
        Ok(answer) => (answer.code, answer.problem(agent)),
        Err(error) => (None, Some(format!("it could not be run: {error}"))),
    };
    TestStop { blocked: problem.is_none(), took_ms, exit_code, problem }
}

/// The command's answer to a test stop.
struct TrialAnswer {
    has_ended: bool,
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl TrialAnswer {
    /// Why the client would not take this for a block.
    fn problem(&self, agent: Agent) -> Option<String> {
        if !self.has_ended {
            return Some(format!("it did not end within {} s", TIME_LIMIT.as_secs()));
        }
        if self.code != Some(0) {
            let code = self.code.map_or("a signal".to_owned(), |code| format!("code {code}"));
            return Some(format!("it ended with {code}: {}", shortened(&self.stderr)));
        }
        match serde_json::from_str(&self.stdout) {
            Ok(reply) if facts(agent).hook.refusal.is_reply(&reply) => None,
            Ok(_) => Some(format!("its reply is no block: {}", shortened(&self.stdout))),
            Err(_) if self.stdout.trim().is_empty() => {
                let stderr = shortened(&self.stderr);
                let detail = if stderr.is_empty() { stderr } else { format!(": {stderr}") };
                Some(format!("it let the agent go{detail}"))
            }
            Err(_) => Some(format!("its reply is no JSON: {}", shortened(&self.stdout))),
        }
    }
}

fn shortened(text: &str) -> String {
    brief(text.trim(), MAX_OUTPUT_CHARS)
}

fn run_command(agent: Agent, command: &str) -> io::Result<TrialAnswer> {
    let folder = Temporary::new("try")?;
    let path = |name: &str| folder.path().join(name);
    for name in ["project", "home"] {
        fs::create_dir(path(name))?;
    }
    fs::write(path("project/gate.toml"), SETTINGS)?;
    let data = Some(path("home").join(DATA_FOLDER).join("gate"));
    let places = Places { folder: path("project").real_path()?, data, ..Places::default() };
    // Settings that nobody approved start no check, so nothing would block the stop.
    trust::approve(&places).map_err(io::Error::other)?;
    let transcript = path("home/session.jsonl");
    fs::write(&transcript, event::transcript(agent))?;
    let event = event::stop_event(agent, &path("project"), &transcript).to_string();
    let mut stderr = File::create_new(path("stderr"))?;
    let mut stdout =
        File::options().read(true).write(true).create_new(true).open(path("stdout"))?;
    let mut shell = shell(command, folder.path());
    shell.stdin(Stdio::piped()).stdout(stdout.try_clone()?).stderr(stderr.try_clone()?);
    let mut child = shell.spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // A command that does not read its input may still answer.
        let _ = stdin.write_all(event.as_bytes());
    }
    let status = wait_for_end(&mut child)?;
    stdout.rewind()?;
    stderr.flush()?;
    Ok(TrialAnswer {
        has_ended: status.is_some(),
        code: status.and_then(|status| status.code()),
        stdout: io::read_to_string(stdout)?,
        stderr: String::from_utf8_lossy(&fs::read(path("stderr"))?).into_owned(),
    })
}

/// The command as the client runs it, with nothing of the user's own.
fn shell(command: &str, folder: &Path) -> Command {
    let home = folder.join("home");
    let mut shell = gate_platform::shell(command);
    lead_group(shell.current_dir(folder.join("project")));
    let names = std::env::vars_os().map(|(name, _)| name);
    for name in names.filter(|name| name.to_string_lossy().starts_with("GATE")) {
        shell.env_remove(name);
    }
    for (name, folder_in_home) in [
        ("XDG_CONFIG_HOME", ".config"),
        ("XDG_STATE_HOME", ".local/state"),
        ("XDG_DATA_HOME", DATA_FOLDER),
        ("XDG_CACHE_HOME", ".cache"),
        ("GATE_STATE_DIR", ".local/state/gate"),
    ] {
        shell.env(name, home.join(folder_in_home));
    }
    shell.env("HOME", home);
    shell
}

/// Waits for the command. One that does not end in time is killed, with all processes that it started.
fn wait_for_end(child: &mut Child) -> io::Result<Option<std::process::ExitStatus>> {
    let began_at = Instant::now();
    while began_at.elapsed() < TIME_LIMIT {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        thread::sleep(POLL_INTERVAL);
    }
    end_group(child.id());
    child.wait()?;
    Ok(None)
}

#[cfg(test)]
mod tests;

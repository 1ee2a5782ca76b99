//! What the harness has to know of a client.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::model::Shell;
use crate::needs::search_path;
use crate::support::GATE;

/// An agent program as its maker ships it.
pub(crate) struct Client {
    /// As gate names it, and the folder that `.ci/run` installs it into.
    pub(crate) name: &'static str,
    /// As its package names it.
    pub(super) program: &'static str,
    /// How its model calls its shell.
    pub(super) shell: Shell,
    /// Puts the hook where the client looks for it, and says how it is started.
    pub(super) start: fn(&CheckSite) -> Command,
}

/// Where a client is about to run, and with what.
pub(super) struct CheckSite<'a> {
    pub(super) program: PathBuf,
    pub(super) home: &'a Path,
    pub(super) work: &'a Path,
    /// The address of its model.
    pub(super) model: &'a str,
    /// What it is to run where the agent stops; none: `gate install` says it.
    pub(super) hook: Option<&'a str>,
    pub(super) prompt: &'a str,
    /// Whether its network holds nothing but loopback.
    pub(super) alone: bool,
}

impl CheckSite<'_> {
    /// Writes one of its files, below its home.
    pub(super) fn keep(&self, name: &str, text: &str) {
        let path = self.home.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// The client with the environment that all of them get, and nothing else.
    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        self.around(&mut command);
        command
    }

    /// Gives a program that environment.
    pub(super) fn around(&self, command: &mut Command) {
        command.current_dir(self.work).env_clear().env("HOME", self.home);
        // A plug-in looks for gate in PATH.
        let folder = Path::new(GATE).parent().map(Path::to_owned);
        let path = std::env::join_paths(folder.into_iter().chain(search_path())).unwrap();
        command.env("PATH", path);
        command.envs([("TERM", "dumb"), ("LANG", "C.UTF-8"), ("USER", "somebody")]);
        command.env("SHELL", "/bin/sh");
        // Else these two start themselves a second time, with more memory.
        command.envs([("GEMINI_CLI_NO_RELAUNCH", "true"), ("QWEN_CODE_NO_RELAUNCH", "true")]);
        if !self.alone {
            // What is not for loopback goes nowhere.
            command.envs([("HTTPS_PROXY", "http://127.0.0.1:9"), ("NO_PROXY", "127.0.0.1")]);
        }
    }
}

/// The settings of those that took Claude Code's form, with the unit of time
/// that the client reads.
pub(super) fn stop_hook(event: &str, command: Option<&str>, timeout: u64) -> Value {
    let Some(command) = command else { return json!({}) };
    let hook = json!({"name": "gate", "type": "command", "command": command, "timeout": timeout});
    json!({"hooks": {event: [{"hooks": [hook]}]}})
}

//! Finds agents' programs among the processes, by their names. Many of them are scripts: if a
//! program is an interpreter, its script counts. An agent that works in another folder is no
//! agent of this project, so tests of gate can run under an agent. Without /proc nothing is found.

use std::path::Path;

use gate_checks::process::{ProcessStat, ancestors, command_line, working_folder};
use gate_checks::worktree;

use super::Agent;
use crate::clients::{facts, may_name};

/// Programs that run a script.
const INTERPRETERS: [&str; 9] =
    ["node", "nodejs", "bun", "deno", "python", "python3", "sh", "bash", "dash"];

/// A process.
#[derive(Clone, Debug)]
pub(crate) struct Process {
    pub(crate) pid: i32,
    /// Its program and its arguments.
    pub(crate) words: Vec<String>,
    /// The agent whose program it is.
    pub(crate) agent: Option<Agent>,
}

impl Process {
    /// The processes above this one, the nearest first.
    pub(crate) fn ancestors() -> Vec<Self> {
        ancestors().filter_map(|process| Some(Self::new(&process.stat?))).collect()
    }

    pub(crate) fn new(stat: &ProcessStat) -> Self {
        let words = command_line(stat.pid);
        Self { pid: stat.pid, agent: agent_of(&stat.name, &words), words }
    }

    /// It works on a project, or its working folder is not known.
    pub(crate) fn is_working_on(&self, project: &Path) -> bool {
        working_folder(self.pid).is_none_or(|folder| is_of_project(&folder, project))
    }
}

/// A folder is in the project, above it, or in another work tree of it.
pub(crate) fn is_of_project(folder: &Path, project: &Path) -> bool {
    project.starts_with(folder)
        || folder.starts_with(project)
        || worktree::identity(folder) == worktree::identity(project)
}

/// The agent whose program a process runs, by the process's name and command line.
pub(crate) fn agent_of(name: &str, words: &[String]) -> Option<Agent> {
    let program = words.first().map(|word| base_name(word)).unwrap_or_default();
    let flags = words.iter().skip(1).take_while(|word| word.starts_with('-')).count();
    // A word behind `-c` is a line of a shell, and no script.
    let is_shell_line = words.iter().skip(1).take(flags).any(|flag| flag.ends_with('c'));
    let runs_script = !is_shell_line && INTERPRETERS.contains(&program);
    let script = if runs_script { words.get(1 + flags) } else { None };
    let stem = script.map(|path| base_name(path).split('.').next().unwrap_or_default());
    let package_path = script.and_then(|path| Some(path.split_once("node_modules/")?.1));
    let packages = package_path.into_iter().flat_map(|path| path.split('/'));
    let mut names: Vec<_> = [name, program].into_iter().chain(stem).chain(packages).collect();
    names.retain(|name| !INTERPRETERS.contains(name) && may_name(name));
    if names.is_empty() {
        return None;
    }
    Agent::ALL.into_iter().find(|agent| {
        let facts = facts(*agent);
        let mut known_names = facts.programs.iter().chain(&facts.packages);
        known_names.any(|known_name| names.contains(&known_name.as_str()))
    })
}

fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent(name: &str, argv: &str) -> Option<Agent> {
        let argv: Vec<_> = argv.split(' ').map(str::to_owned).collect();
        agent_of(name, &argv)
    }

    #[test]
    fn an_agents_program_is_known_however_it_was_started() {
        for (name, argv, expected) in [
            ("claude", "claude -p", Agent::ClaudeCode),
            ("claude", "/bin/sh ./claude", Agent::ClaudeCode),
            ("node", "node --no-warnings /usr/local/bin/gemini", Agent::Gemini),
            ("MainThread", "node /l/node_modules/@qwen-code/qwen-code/cli.js", Agent::Qwen),
            ("node", "/usr/bin/node /l/node_modules/@github/copilot/index.js", Agent::Copilot),
            ("codex", "/opt/codex/codex exec", Agent::Codex),
            ("cursor-agent", "cursor-agent", Agent::Cursor),
        ] {
            assert_eq!(agent(name, argv), Some(expected), "{name}: {argv}");
        }
    }

    #[test]
    fn a_program_that_only_names_one_is_none() {
        for (name, argv) in [
            ("vim", "vim claude"),
            ("cursor", "/usr/share/cursor/cursor"),
            ("bash", "bash -l"),
            ("node", "node /home/gemini/server.js"),
            ("tmux: server", "tmux new -s codex"),
        ] {
            assert_eq!(agent(name, argv), None, "{name}: {argv}");
        }
    }
}

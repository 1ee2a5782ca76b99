//! The processes above this one: whether one of them is an agent's program that
//! works on this project.
//!
//! An agent's program is known by its name. Many are scripts, so where a program is
//! an interpreter, its script counts. One that works somewhere else does not: it is
//! no agent of this project, and whoever tests gate under an agent is none either.
//! Where /proc does not tell, nothing is seen here.

use std::fs;
use std::path::Path;

use gate_checks::worktree;

use crate::agent::Agent;
use crate::commands::SUPERVISE;
use crate::governance::ancestors;

/// An agent's program above this process.
pub(super) struct Client {
    pub(super) agent: Agent,
    pub(super) pid: i64,
}

/// How an agent's programs are called, and the packages that their scripts stand in.
const PROGRAMS: [(Agent, &[&str]); 9] = [
    (Agent::ClaudeCode, &["claude", "claude-code"]),
    (Agent::Codex, &["codex"]),
    (Agent::Gemini, &["gemini", "gemini-cli"]),
    (Agent::Qwen, &["qwen", "qwen-code"]),
    (Agent::Copilot, &["copilot"]),
    (Agent::Cursor, &["cursor-agent"]),
    (Agent::Opencode, &["opencode", "opencode-ai"]),
    (Agent::Droid, &["droid"]),
    (Agent::Goose, &["goose"]),
];

/// Programs that run a script.
const INTERPRETERS: [&str; 9] =
    ["node", "nodejs", "bun", "deno", "python", "python3", "sh", "bash", "dash"];

/// The nearest agent's program above this process that works on a project.
pub(super) fn client(project: &Path) -> Option<Client> {
    ancestors().into_iter().find_map(|pid| {
        let agent = agent_of(&Process::of(pid)?)?;
        works_on(pid, project).then_some(Client { agent, pid })
    })
}

/// Whether a supervisor of gate's stands above this process: each agent of a run has
/// one. Whose it is says the run's folder, which takes longer to find out.
pub(super) fn is_supervised() -> bool {
    let supervises = |process: Process| process.argv.get(1).is_some_and(|it| it == SUPERVISE);
    ancestors().into_iter().filter_map(Process::of).any(supervises)
}

/// What is told of a process.
struct Process {
    name: String,
    argv: Vec<String>,
}

impl Process {
    fn of(pid: i64) -> Option<Self> {
        let name = fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
        let argv = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let words = argv.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into());
        Some(Self { name: name.trim_end().to_owned(), argv: words.collect() })
    }
}

fn agent_of(process: &Process) -> Option<Agent> {
    let program = process.argv.first().map(|word| base(word));
    let is_interpreter = program.is_some_and(|program| INTERPRETERS.contains(&program));
    let script = process.argv.iter().skip(1).find(|word| !word.starts_with('-'));
    let script = script.filter(|_| is_interpreter);
    let names = program.into_iter().chain([process.name.as_str()]);
    let of_script = script.into_iter().flat_map(|path| {
        let base = base(path);
        let stem = base.split_once('.').map_or(base, |(stem, _)| stem);
        let packages = path.split('/').skip_while(|folder| *folder != "node_modules");
        packages.chain([stem])
    });
    let mut names = names.chain(of_script);
    names.find_map(|name| {
        let mut all = PROGRAMS.iter();
        all.find(|(_, names)| names.contains(&name)).map(|(agent, _)| *agent)
    })
}

fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Whether a process works in the project, above it, or in another work tree of
/// it. One that does not say where it works may.
fn works_on(pid: i64, project: &Path) -> bool {
    let Ok(folder) = fs::read_link(format!("/proc/{pid}/cwd")) else { return true };
    let same = || worktree::identity(&folder) == worktree::identity(project);
    project.starts_with(&folder) || folder.starts_with(project) || same()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent(name: &str, argv: &str) -> Option<Agent> {
        let argv = argv.split(' ').map(str::to_owned).collect();
        agent_of(&Process { name: name.to_owned(), argv })
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

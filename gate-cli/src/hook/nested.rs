//! Whether a client was itself started by an agent. What that one did so far must
//! not become the beginning of another session.
//!
//! A client leaves marks in the environment of what it starts, and some of them in
//! that of its own hooks. So the processes tell more: whether the client was begun
//! with an agent's marks, and whether an agent's program that works on this project
//! stands above it. It is a fence and no wall: an agent can clear an environment and
//! leave its own processes behind.

use std::fs;
use std::path::Path;

use gate_checks::worktree;

use crate::agent::Agent;
use crate::governance::ancestors;
use crate::settings::Places;

/// Variables that agents' programs set for what they start, and the agent that
/// sets it for its own hooks as well (as was seen: Claude Code 2.1.330, Codex 0.169.0,
/// Gemini CLI 0.61.0, Qwen Code 0.15.10, Copilot 1.0.102; else by documentation).
const MARKS: [(&str, Option<Agent>); 15] = [
    ("CLAUDECODE", Some(Agent::ClaudeCode)),
    ("CLAUDE_CODE_SESSION_ID", Some(Agent::ClaudeCode)),
    (NAMED, Some(Agent::ClaudeCode)),
    (BY_NPM, Some(Agent::Codex)),
    ("CODEX_SANDBOX", None),
    ("CODEX_THREAD_ID", None),
    ("GEMINI_CLI", None),
    ("GEMINI_SESSION_ID", Some(Agent::Gemini)),
    ("QWEN_CODE", None),
    ("COPILOT_AGENT_SESSION_ID", None),
    ("COPILOT_CLI", Some(Agent::Copilot)),
    ("CURSOR_AGENT", Some(Agent::Cursor)),
    ("OPENCODE", Some(Agent::Opencode)),
    ("FACTORY_PROJECT_DIR", Some(Agent::Droid)),
    ("GOOSE_TERMINAL", Some(Agent::Goose)),
];

/// The variable in which Claude Code names itself, and says whether it is a tool of the
/// agent's or a hook that it starts.
const NAMED: &str = "AI_AGENT";

/// What it says to a tool.
const OF_TOOL: &str = "AI_AGENT of a tool";

/// The mark that Codex's starter leaves to Codex itself.
const BY_NPM: &str = "CODEX_MANAGED_BY_NPM";

/// How an agent's programs and packages are called.
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
const INTERPRETERS: [&str; 8] = ["node", "nodejs", "bun", "deno", "python3", "sh", "bash", "dash"];

/// What shows that an agent started the client of this agent, in words.
pub(super) fn outer(agent: Agent, places: &Places) -> Option<String> {
    let environment = places.environment.iter();
    let mut marks = environment.filter_map(|(name, value)| mark(name, value));
    marks.find(|mark| is_foreign(mark, agent)).map(in_environment).or_else(|| {
        let all: Vec<_> = ancestors().into_iter().filter_map(Process::of).collect();
        above(agent, &all, &|pid| works_on(pid, &places.folder))
    })
}

fn in_environment(mark: &str) -> String {
    format!("the environment has {mark}")
}

/// The mark that a variable is.
fn mark(name: &str, value: &str) -> Option<&'static str> {
    if name == NAMED && value.ends_with("_agent") {
        return Some(OF_TOOL);
    }
    let mark = MARKS.iter().find(|(mark, _)| *mark == name).filter(|_| !value.is_empty());
    mark.map(|(mark, _)| *mark)
}

/// Whether a mark is none that this agent's client gives its hooks.
fn is_foreign(mark: &str, agent: Agent) -> bool {
    !MARKS.contains(&(mark, Some(agent)))
}

/// A process above this one.
struct Process {
    pid: i64,
    agent: Option<Agent>,
    /// The marks that it was started with.
    marks: Vec<&'static str>,
}

impl Process {
    fn of(pid: i64) -> Option<Self> {
        let name = fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
        let words = words(&fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default());
        let environment = words_of_environment(pid);
        let set = environment.iter().filter_map(|it| it.split_once('='));
        let marks = set.filter_map(|(name, value)| mark(name, value)).collect();
        Some(Self { pid, agent: agent_of(name.trim_end(), &words), marks })
    }
}

/// None where it is another user's, or the system does not tell.
fn words_of_environment(pid: i64) -> Vec<String> {
    words(&fs::read(format!("/proc/{pid}/environ")).unwrap_or_default())
}

fn words(bytes: &[u8]) -> Vec<String> {
    bytes.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into()).collect()
}

/// What the processes above this one show, the nearest first: what the client started,
/// the client itself and its starters, each called by the next, and whatever started
/// those.
fn above(agent: Agent, all: &[Process], works_here: &dyn Fn(i64) -> bool) -> Option<String> {
    let first = all.iter().position(|it| it.agent == Some(agent)).unwrap_or(all.len());
    let (below, rest) = all.split_at(first);
    let length = rest.iter().take_while(|it| it.agent == Some(agent)).count();
    let (own, others) = rest.split_at(length);
    let starters = |mark: &str| agent == Agent::Codex && mark == BY_NPM;
    let started = below.iter().flat_map(|it| &it.marks).find(|mark| is_foreign(mark, agent));
    let marked = || own.iter().flat_map(|it| &it.marks).find(|mark| !starters(mark));
    started.or_else(marked).map(|mark| in_environment(mark)).or_else(|| {
        let mut others = below.iter().chain(others);
        others.find_map(|it| {
            let name = it.agent?.name();
            works_here(it.pid).then(|| format!("{name} (process {})", it.pid))
        })
    })
}

/// The agent whose program this is. Many are scripts: of an interpreter, its script
/// counts.
fn agent_of(name: &str, words: &[String]) -> Option<Agent> {
    let base = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let program = words.first().map(|word| base(word)).unwrap_or_default();
    let flags = words.iter().skip(1).take_while(|word| word.starts_with('-')).count();
    // What stands behind `-c` is a line of a shell.
    let is_line = words.iter().skip(1).take(flags).any(|flag| flag.ends_with('c'));
    let is_script = !is_line && INTERPRETERS.contains(&program.as_str());
    let script = words.get(1 + flags).filter(|_| is_script);
    let stem = script.map(|path| base(path).split('.').next().unwrap_or_default().to_owned());
    let packages = script.and_then(|path| Some(path.split_once("node_modules/")?.1));
    let packages = packages.into_iter().flat_map(|path| path.split('/')).map(str::to_owned);
    let names: Vec<_> =
        [name.to_owned(), program].into_iter().chain(stem).chain(packages).collect();
    let is_named = |known: &[&str]| names.iter().any(|name| known.contains(&name.as_str()));
    PROGRAMS.iter().find(|(_, known)| is_named(known)).map(|(agent, _)| *agent)
}

/// Whether a process works in the project, above it, or in another work tree of
/// it. One that does not say where it works may.
fn works_on(pid: i64, project: &Path) -> bool {
    let Ok(folder) = fs::read_link(format!("/proc/{pid}/cwd")) else { return true };
    project.starts_with(&folder)
        || folder.starts_with(project)
        || worktree::identity(&folder) == worktree::identity(project)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: i64, line: &str, marks: &[&'static str]) -> Process {
        let words: Vec<_> = line.split(' ').map(str::to_owned).collect();
        let marks = marks.to_vec();
        Process { pid, agent: agent_of("", &words), marks }
    }

    fn seen(agent: Agent, all: &[Process]) -> Option<String> {
        above(agent, all, &|pid| pid != 9)
    }

    #[test]
    fn a_client_that_a_person_started_is_none() {
        let codex = [
            process(5, "sh -c gate", &[BY_NPM]),
            process(4, "/l/vendor/bin/codex exec", &[BY_NPM]),
            process(3, "node /usr/bin/codex exec", &[]),
            process(2, "bash", &[]),
        ];
        assert_eq!(seen(Agent::Codex, &codex), None);
        let gemini = [
            process(4, "/usr/bin/node --max-old-space-size=12 /usr/bin/gemini -p x", &[]),
            process(3, "node /usr/bin/gemini -p x", &[]),
        ];
        assert_eq!(seen(Agent::Gemini, &gemini), None);
        assert_eq!(seen(Agent::ClaudeCode, &[process(2, "claude -p", &[])]), None);
        assert_eq!(seen(Agent::ClaudeCode, &[]), None, "nobody tells");
    }

    #[test]
    fn one_that_an_agent_started_is_known_by_its_marks() {
        let claude = [process(4, "claude -p", &["CLAUDECODE"]), process(3, "claude", &[])];
        let told = seen(Agent::ClaudeCode, &claude).unwrap();
        assert_eq!(told, "the environment has CLAUDECODE");
        let codex = [process(4, "node /usr/bin/codex", &[BY_NPM, "CODEX_THREAD_ID"])];
        assert!(seen(Agent::Codex, &codex).unwrap().contains("CODEX_THREAD_ID"));
    }

    #[test]
    fn one_that_an_agent_started_is_known_by_the_processes_above() {
        let line = |line: &str| {
            [process(7, "claude -p", &[]), process(6, "sh -c claude", &[]), process(5, line, &[])]
        };
        for outer in ["claude", "codex exec", "node /l/node_modules/@qwen-code/qwen-code/cli.js"] {
            assert!(seen(Agent::ClaudeCode, &line(outer)).is_some(), "{outer}");
        }
        for other in ["bash -l", "vim claude", "tmux new -s codex", "node /home/gemini/server.js"] {
            assert_eq!(seen(Agent::ClaudeCode, &line(other)), None, "{other}");
        }
        let elsewhere =
            [process(7, "claude", &[]), process(6, "sh", &[]), process(9, "codex", &[])];
        assert_eq!(seen(Agent::ClaudeCode, &elsewhere), None, "it works on something else");
    }

    #[test]
    fn a_mark_that_a_client_gives_its_own_hooks_says_nothing() {
        let foreign = |name: &str, value: &str, agent: Agent| {
            mark(name, value).is_some_and(|mark| is_foreign(mark, agent))
        };
        assert!(!foreign("CLAUDECODE", "1", Agent::ClaudeCode));
        assert!(foreign("CLAUDECODE", "1", Agent::Codex));
        assert!(!foreign("CLAUDECODE", "", Agent::Codex));
        assert!(!foreign("CODEX_HOME", "/c", Agent::Gemini));
    }

    #[test]
    fn a_tool_of_the_agent_is_no_hook() {
        for (name, value, agent) in [
            ("GEMINI_CLI", "1", Agent::Gemini),
            ("CODEX_THREAD_ID", "0", Agent::Codex),
            ("QWEN_CODE", "1", Agent::Qwen),
            ("COPILOT_AGENT_SESSION_ID", "0", Agent::Copilot),
            ("AI_AGENT", "claude-code_2-1-330_agent", Agent::ClaudeCode),
        ] {
            let mark = mark(name, value).unwrap();
            let program = process(2, agent.name(), &[]);
            let client = Process { agent: Some(agent), ..program };
            let cleared = [process(4, "env gate", &[]), process(3, "sh -c x", &[mark]), client];
            assert!(is_foreign(mark, agent) && seen(agent, &cleared).is_some(), "{name}");
        }
        let hook = mark("AI_AGENT", "claude-code_2-1-330_harness").unwrap();
        let all = [process(3, "sh -c gate", &[hook]), process(2, "claude", &[])];
        assert_eq!(seen(Agent::ClaudeCode, &all), None);
    }
}

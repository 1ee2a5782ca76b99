//! Whether a client was itself started by an agent. What that one did so far must
//! not become the beginning of another session.
//!
//! A client leaves marks in the environment of what it starts, and some of them in
//! that of its own hooks. So the processes tell more: whether the client was begun
//! with an agent's marks, and whether an agent's program that works on this project
//! stands above it. It is a fence and no wall: an agent can clear an environment and
//! leave its own processes behind.

use gate_checks::process::started_environment;

use crate::agent::{Agent, BY_NPM, MARKS, Process, SELF_NAMED};
use crate::settings::Places;

/// What it says to a tool.
const OF_TOOL: &str = "AI_AGENT of a tool";

/// What shows that an agent started the client of this agent, in words.
pub(super) fn outer(agent: Agent, places: &Places) -> Option<String> {
    let environment = places.environment.iter();
    let mut marks = environment.filter_map(|(name, value)| mark(name, value));
    marks.find(|mark| is_foreign(mark, agent)).map(in_environment).or_else(|| {
        let all: Vec<_> = Process::above().map(Above::of).collect();
        above(agent, &all, &|process| process.works_on(&places.folder))
    })
}

fn in_environment(mark: &str) -> String {
    format!("the environment has {mark}")
}

/// The mark that a variable is.
fn mark(name: &str, value: &str) -> Option<&'static str> {
    if name == SELF_NAMED && value.ends_with("_agent") {
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
struct Above {
    process: Process,
    /// The marks that it was started with.
    marks: Vec<&'static str>,
}

impl Above {
    fn of(process: Process) -> Self {
        let environment = started_environment(process.pid);
        let set = environment.iter().filter_map(|it| it.split_once('='));
        let marks = set.filter_map(|(name, value)| mark(name, value)).collect();
        Self { process, marks }
    }
}

/// What the processes above this one show, the nearest first: what the client started,
/// the client itself and its starters, each called by the next, and whatever started
/// those.
fn above(agent: Agent, all: &[Above], works_here: &dyn Fn(&Process) -> bool) -> Option<String> {
    let first = all.iter().position(|it| it.process.agent == Some(agent)).unwrap_or(all.len());
    let (below, rest) = all.split_at(first);
    let length = rest.iter().take_while(|it| it.process.agent == Some(agent)).count();
    let (own, others) = rest.split_at(length);
    let starters = |mark: &str| agent == Agent::Codex && mark == BY_NPM;
    let started = below.iter().flat_map(|it| &it.marks).find(|mark| is_foreign(mark, agent));
    let marked = || own.iter().flat_map(|it| &it.marks).find(|mark| !starters(mark));
    started.or_else(marked).map(|mark| in_environment(mark)).or_else(|| {
        let mut others = below.iter().chain(others);
        others.find_map(|it| {
            let name = it.process.agent?.name();
            works_here(&it.process).then(|| format!("{name} (process {})", it.process.pid))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::agent_of;

    fn process(pid: i32, line: &str, marks: &[&'static str]) -> Above {
        let words: Vec<_> = line.split(' ').map(str::to_owned).collect();
        let process = Process { pid, agent: agent_of("", &words), words };
        Above { process, marks: marks.to_vec() }
    }

    fn seen(agent: Agent, all: &[Above]) -> Option<String> {
        above(agent, all, &|process| process.pid != 9)
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
            let mut client = process(2, agent.name(), &[]);
            client.process.agent = Some(agent);
            let cleared = [process(4, "env gate", &[]), process(3, "sh -c x", &[mark]), client];
            assert!(is_foreign(mark, agent) && seen(agent, &cleared).is_some(), "{name}");
        }
        let hook = mark("AI_AGENT", "claude-code_2-1-330_harness").unwrap();
        let all = [process(3, "sh -c gate", &[hook]), process(2, "claude", &[])];
        assert_eq!(seen(Agent::ClaudeCode, &all), None);
    }
}

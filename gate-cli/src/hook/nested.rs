//! Finds the trace of another agent that started the client of this hook. If so, the outer agent's
//! changes must not become the baseline of the inner session.
//!
//! A client sets variables ("marks") for the programs that it starts, and some of them
//! for its own hooks too. So the ancestry shows more than the environment: was the client
//! started with an agent's marks, and is one of its parents an agent that works on this
//! project? This is a fence, not a wall: an agent can clear an environment and detach
//! from its parents.

use gate_checks::process::started_environment;

use crate::agent::{self, Agent, Mark, Process};
use crate::settings::Places;

/// Describes the trace of an agent that started this agent's client.
pub(super) fn outer_agent(agent: Agent, places: &Places) -> Option<String> {
    let environment = places.environment.iter();
    let mut marks = environment.filter_map(|(name, value)| mark(name, value));
    marks.find(|mark| !mark.is_for_hooks(agent)).map(described).or_else(|| {
        let ancestry: Vec<_> = Process::ancestors().into_iter().map(Ancestor::new).collect();
        agent_in_ancestry(agent, &ancestry, &|process| process.is_working_on(&places.folder))
    })
}

fn described(mark: Mark) -> String {
    format!("the environment has {mark}")
}

fn mark(name: &str, value: &str) -> Option<Mark> {
    if value.is_empty() { None } else { agent::mark(name, value) }
}

struct Ancestor {
    process: Process,
    /// The marks in the environment that the process was started with.
    marks: Vec<Mark>,
}

impl Ancestor {
    fn new(process: Process) -> Self {
        let environment = started_environment(process.pid);
        let variables = environment.iter().filter_map(|variable| variable.split_once('='));
        let marks = variables.filter_map(|(name, value)| mark(name, value)).collect();
        Self { process, marks }
    }

    fn runs(&self, agent: Agent) -> bool {
        self.process.agent == Some(agent)
    }
}

// The ancestry of a hook, the nearest process first:
//
//     sh -c gate  <  claude, node claude  <  bash, tmux, codex ...
//     started        the client              started the client
//
// A foreign mark is a trace if the client's children have it. The client itself has to
// have no mark at all, for it does not set its own marks for itself; its starter may.
fn agent_in_ancestry(
    agent: Agent,
    ancestry: &[Ancestor],
    is_working_here: &dyn Fn(&Process) -> bool,
) -> Option<String> {
    let client_start = ancestry.iter().position(|ancestor| ancestor.runs(agent));
    let (children, client_and_above) = ancestry.split_at(client_start.unwrap_or(ancestry.len()));
    let client_count = client_and_above.iter().take_while(|ancestor| ancestor.runs(agent)).count();
    let (client, starters) = client_and_above.split_at(client_count);
    let mut child_marks = children.iter().flat_map(|child| &child.marks);
    let mut client_marks = client.iter().flat_map(|process| &process.marks);
    let foreign_mark = child_marks
        .find(|mark| !mark.is_for_hooks(agent))
        .or_else(|| client_marks.find(|mark| !mark.is_for_client(agent)));
    if let Some(mark) = foreign_mark {
        return Some(described(*mark));
    }
    children.iter().chain(starters).find_map(|ancestor| {
        let process = &ancestor.process;
        let name = process.agent?.name();
        is_working_here(process).then(|| format!("{name} (process {})", process.pid))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::agent_of;

    const BY_NPM: &str = "CODEX_MANAGED_BY_NPM";

    fn process(pid: i32, line: &str, marks: &[&str]) -> Ancestor {
        let words: Vec<_> = line.split(' ').map(str::to_owned).collect();
        let process = Process { pid, agent: agent_of("", &words), words };
        Ancestor { process, marks: marks.iter().map(|name| mark(name, "1").unwrap()).collect() }
    }

    /// A process that was started with this mark.
    fn marked(pid: i32, line: &str, mark: Mark) -> Ancestor {
        Ancestor { marks: vec![mark], ..process(pid, line, &[]) }
    }

    fn seen(agent: Agent, ancestry: &[Ancestor]) -> Option<String> {
        agent_in_ancestry(agent, ancestry, &|process| process.pid != 9)
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
        let trace = seen(Agent::ClaudeCode, &claude).unwrap();
        assert_eq!(trace, "the environment has CLAUDECODE");
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
        for program in ["bash -l", "vim claude", "tmux new -s codex", "node /home/gemini/server.js"]
        {
            assert_eq!(seen(Agent::ClaudeCode, &line(program)), None, "{program}");
        }
        let on_other_project =
            [process(7, "claude", &[]), process(6, "sh", &[]), process(9, "codex", &[])];
        assert_eq!(seen(Agent::ClaudeCode, &on_other_project), None, "it works on something else");
    }

    #[test]
    fn a_mark_that_a_client_gives_its_own_hooks_says_nothing() {
        let foreign = |name: &str, value: &str, agent: Agent| {
            mark(name, value).is_some_and(|mark| !mark.is_for_hooks(agent))
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
            let cleared = [process(4, "env gate", &[]), marked(3, "sh -c x", mark), client];
            assert!(!mark.is_for_hooks(agent) && seen(agent, &cleared).is_some(), "{name}");
        }
        let hook = mark("AI_AGENT", "claude-code_2-1-330_harness").unwrap();
        let ancestry = [marked(3, "sh -c gate", hook), process(2, "claude", &[])];
        assert_eq!(seen(Agent::ClaudeCode, &ancestry), None);
    }
}

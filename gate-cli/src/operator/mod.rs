//! The operator: the person in charge, and the check that the caller is one.
//!
//! Commands for a person alone (to approve settings, to leave checks out, to end a loop) fail
//! under an agent, and below a check: a test imports code that an agent wrote. This is a fence
//! and no wall: an agent that wants to get around it can cut off the processes above it, clear its
//! environment, and make a terminal of its own.

mod above;
mod below;
mod open_work;

pub(crate) use above::project_marks;
use clap::ValueEnum;
use gate_checks::process::{ProcessStat, group_members};
use gate_core::text;
use gate_platform::{parent_process, user};
use serde::Serialize;

use crate::agent::{Agent, IN_RUN, NAMED, Process, mark};
use crate::failure::Failure;
use crate::settings::Places;
use crate::trust::Trust;

/// The caller of an operator's command, as far as the system shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Operator {
    /// The user.
    pub(crate) uid: u32,
    /// The terminal; `None` if the command is given without one.
    pub(crate) terminal: Option<String>,
    /// The process that called gate.
    pub(crate) parent: Parent,
}

/// The process that called gate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Parent {
    /// Its number.
    pub(crate) pid: Option<i32>,
    /// Its program, if the system shows it.
    pub(crate) name: Option<String>,
}

impl Operator {
    /// Admits an operator's command from a person, or from a program that no agent started. `act`
    /// is the command or the flag, as it is typed.
    ///
    /// # Errors
    ///
    /// A call under an agent (code 2).
    pub(crate) fn admitted(act: &str, places: &Places) -> Result<Self, Failure> {
        let ancestors = Process::ancestors();
        if let Some(agent) = agent_among(&ancestors, places) {
            return Err(refused(act, "under-an-agent", &format!("under an agent: {agent}")));
        }
        let operator = Self::above_checks_among(&ancestors, act, places)?;
        // An open session or loop could be the caller, cut off from the processes above it.
        if needs_terminal(act, places)
            && foreground_terminal().is_none()
            && let Some(work) = open_work::open_work(places)
        {
            let message = format!("`{act}` needs a terminal, and {work} is open here");
            let failure = Failure::usage("needs-terminal", message);
            return Err(failure.hint("type it in a terminal of your own; with ssh: `ssh -t`"));
        }
        Ok(operator)
    }

    /// Admits a command that is not given below a check. An agent may be above.
    ///
    /// # Errors
    ///
    /// A program that gate started calls it (code 2).
    pub(crate) fn above_checks(act: &str, places: &Places) -> Result<Self, Failure> {
        Self::above_checks_among(&Process::ancestors(), act, places)
    }

    fn above_checks_among(
        ancestors: &[Process],
        act: &str,
        places: &Places,
    ) -> Result<Self, Failure> {
        match below::gate_process(ancestors, places) {
            Some(check) => Err(refused(
                act,
                "under-a-check",
                &format!("below a check that gate runs: {check}"),
            )),
            None => Ok(Self::from_process()),
        }
    }

    /// The caller of this process.
    pub(crate) fn from_process() -> Self {
        let pid = parent_process();
        let name = pid.and_then(ProcessStat::read).map(|parent| parent.name);
        Self { uid: user(), terminal: terminal_name(), parent: Parent { pid, name } }
    }

    /// The actor in a record.
    pub(crate) fn actor(&self) -> String {
        format!("operator:{}", self.uid)
    }
}

fn refused(act: &str, code: &str, caller: &str) -> Failure {
    let message = format!("`{act}` is for the person in charge, and this is called {caller}");
    Failure::usage(code, message)
        .hint("a person types it in a terminal of their own, which no agent's program has started")
}

/// The commands and flags that let work pass, or end what gate remembers.
const TERMINAL_ACTS: [&str; 9] = [
    "gate approve",
    "gate trust",
    "gate off",
    "gate baseline",
    "gate breaker reset",
    "gate goal",
    "gate goal drop",
    "--force-complete",
    "--decide-first",
];

/// An act needs a terminal while an agent is at work. The first approval of settings does not:
/// without it nothing is judged.
fn needs_terminal(act: &str, places: &Places) -> bool {
    TERMINAL_ACTS.contains(&act) && (act != "gate trust" || Trust::was_approved(places))
}

/// The agent under which this is called, in words: one that left its marks in the
/// environment, one that a `gate run` of this project started, or an agent's program
/// that works on this project.
pub(crate) fn agent_above(places: &Places) -> Option<String> {
    agent_among(&Process::ancestors(), places)
}

fn agent_among(ancestors: &[Process], places: &Places) -> Option<String> {
    match first_mark(&places.environment) {
        Some(mark) => Some(format!("the environment has {}", text::brief(&mark, 200))),
        None => above::working_agent(ancestors, places),
    }
}

/// The first mark of an agent in an environment: a person's shell has such a variable only if an
/// agent started it. One that people set as well (`CODEX_HOME`, keys, models) is no mark.
fn first_mark(environment: &[(String, String)]) -> Option<String> {
    let set_variables = environment.iter().filter(|(_, value)| !value.is_empty());
    let mut marks = set_variables.filter(|(name, value)| {
        name == IN_RUN
            || mark(name, value).is_some()
            || (name == NAMED && Agent::from_str(value, true).is_ok())
    });
    marks.next().map(|(name, value)| format!("{name}={value}"))
}

/// The name of the terminal in whose foreground this process runs. `None` without a controlling
/// terminal, in its background, and if an agent's program runs in the same process group.
fn foreground_terminal() -> Option<String> {
    let Some(stat) = ProcessStat::read(std::process::id() as i32) else {
        // A system that shows no processes.
        return gate_platform::has_terminal().then(|| "a terminal".to_owned());
    };
    let name = stat.terminal_name()?;
    let is_in_front = stat.group == stat.foreground;
    let is_shared =
        group_members(stat.group).iter().any(|process| Process::new(process).agent.is_some());
    (is_in_front && !is_shared).then_some(name)
}

/// The controlling terminal of this process.
fn terminal_name() -> Option<String> {
    ProcessStat::read(std::process::id() as i32)?.terminal_name()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark_in_environment(name: &str, value: &str) -> Option<String> {
        first_mark(&[("HOME".to_owned(), "/h".to_owned()), (name.to_owned(), value.to_owned())])
    }

    #[test]
    fn an_agents_mark_is_known_and_a_persons_variable_is_none() {
        for (name, value) in [("CLAUDECODE", "1"), ("GATE_RUN", "r"), ("AGENT", "goose")] {
            assert_eq!(mark_in_environment(name, value), Some(format!("{name}={value}")));
        }
        for (name, value) in
            [("CLAUDECODE", ""), ("CODEX_HOME", "/c"), ("AGENT", "x86"), ("GATE_TRUST", "x")]
        {
            assert_eq!(mark_in_environment(name, value), None, "{name}");
        }
    }
}

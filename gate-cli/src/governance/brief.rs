//! What an agent is told when it begins.

use gate_core::protocol::bus::{self, Draft, Message};
use gate_core::protocol::run::layout;

use super::bus::Bus;
use super::file;
use super::task::Task;
use crate::failure::Failure;

/// The most messages that a prompt holds: the latest.
const MESSAGES: usize = 50;

/// What a task's agent has to know at the start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Brief {
    /// What `TASK_STATE.md` says; empty where there is none.
    pub task_state: String,
    /// The project's facts and the task's, each with its title.
    pub facts: Vec<(String, String)>,
    /// What is new on the task's bus, START and STOP left out.
    pub messages: Vec<Message>,
    /// What is new on the project's bus.
    pub project_messages: Vec<Message>,
    /// How far both were read.
    pub heads: Heads,
    /// What could not be read, in words: it is left out.
    pub problems: Vec<String>,
}

/// The last message on each bus, whatever it is: what comes later is new.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Heads {
    /// On the task's; empty if there is none.
    pub task: String,
    /// On the project's.
    pub project: String,
}

/// What marks a message that gate wrote itself.
const AUTHOR: (&str, &str) = ("author", "gate");

/// A message of gate's own to a task.
pub(crate) fn by_gate(kind: &str, task: &Task) -> Draft {
    let (key, value) = AUTHOR;
    Draft {
        task_id: task.id().to_owned(),
        meta: vec![(key.to_owned(), value.to_owned())],
        ..Draft::new(kind, task.project().id())
    }
}

/// Messages, as they stand in a prompt.
fn shown(messages: &[Message]) -> String {
    let shown = messages.iter().map(|it| {
        let is_gates = it.meta.iter().any(|(key, value)| (key.as_str(), value.as_str()) == AUTHOR);
        let from = match it.run_id.as_str() {
            "" if is_gates => "gate",
            "" => "a person",
            run => run,
        };
        format!("[{}] {} ({}, from {from})\n{}\n", it.ts, it.kind, it.msg_id, it.body.trim())
    });
    shown.collect::<Vec<_>>().join("\n")
}

/// How the runner's word begins that it starts an agent.
pub(crate) const STARTING: &str = "starting root agent";

impl Brief {
    /// What a task's agent has to know that has seen the buses up to `since`; where
    /// those messages are gone, the latest are told.
    ///
    /// # Errors
    ///
    /// A folder, file or bus that cannot be read.
    pub fn of(task: &Task, since: &Heads) -> Result<Self, Failure> {
        let mut brief = Self { task_state: task.state()?, ..Self::default() };
        for (found, unreadable) in [task.project().facts()?, task.facts()?] {
            brief.facts.extend(found.into_iter().map(|it| (it.fact.title, it.fact.body)));
            brief.problems.extend(unreadable.iter().map(ToString::to_string));
        }
        let promoted = file::read(&task.project().folder().join(layout::PROJECT_FACTS))?;
        brief.facts.extend(promoted.map(|text| (layout::PROJECT_FACTS.to_owned(), text)));
        let project = task.project().bus()?;
        (brief.messages, brief.heads.task) =
            brief.hear(&task.bus()?, &since.task, layout::TASK_BUS)?;
        (brief.project_messages, brief.heads.project) =
            brief.hear(&project, &since.project, layout::PROJECT_BUS)?;
        Ok(brief)
    }

    /// The new messages of the task's bus, as they stand in a prompt.
    pub fn told(&self) -> String {
        shown(&self.messages)
    }

    /// The new messages of the project's bus, as they stand in a prompt.
    pub fn told_of_project(&self) -> String {
        shown(&self.project_messages)
    }

    /// The new messages on a bus, and the last of all.
    fn hear(
        &mut self,
        bus: &Bus,
        since: &str,
        name: &str,
    ) -> Result<(Vec<Message>, String), Failure> {
        let read = bus.read()?;
        self.problems.extend(read.problems.iter().map(|it| format!("{name}: {it}")));
        let head = read.messages.last().map(|it| it.msg_id.clone()).unwrap_or_default();
        let new = bus::since(&read.messages, since).unwrap_or(&read.messages);
        let is_runners = |it: &&Message| bus::is_runners(&it.kind) || it.body.starts_with(STARTING);
        let said = new.iter().filter(|it| !is_runners(it));
        let mut said: Vec<_> = said.rev().take(MESSAGES).cloned().collect();
        said.reverse();
        Ok((said, head))
    }
}

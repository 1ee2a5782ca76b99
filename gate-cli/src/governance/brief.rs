//! What an agent is told when it begins.

use gate_core::protocol::bus::{self, Message};
use gate_core::protocol::run::layout;

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
    /// The last message on the bus, whatever it is: what comes later is new.
    pub head: String,
    /// What could not be read, in words: it is left out.
    pub problems: Vec<String>,
}

/// How the runner's word begins that it starts an agent.
pub(crate) const STARTING: &str = "starting root agent";

impl Brief {
    /// What a task's agent has to know that has seen the bus up to `since`; where
    /// that message is gone, the latest are told.
    ///
    /// # Errors
    ///
    /// A folder, file or bus that cannot be read.
    pub fn of(task: &Task, since: &str) -> Result<Self, Failure> {
        let mut brief = Self { task_state: task.state()?, ..Self::default() };
        for (found, unreadable) in [task.project().facts()?, task.facts()?] {
            brief.facts.extend(found.into_iter().map(|it| (it.fact.title, it.fact.body)));
            brief.problems.extend(unreadable.iter().map(ToString::to_string));
        }
        let promoted = file::read(&task.project().folder().join(layout::PROJECT_FACTS))?;
        brief.facts.extend(promoted.map(|text| (layout::PROJECT_FACTS.to_owned(), text)));
        brief.hear(task, since)?;
        Ok(brief)
    }

    /// The new messages, as they stand in a prompt.
    pub fn told(&self) -> String {
        let told = self.messages.iter().map(|it| {
            let from = if it.run_id.is_empty() { "a person" } else { it.run_id.as_str() };
            format!("[{}] {} ({}, from {from})\n{}\n", it.ts, it.kind, it.msg_id, it.body.trim())
        });
        told.collect::<Vec<_>>().join("\n")
    }

    fn hear(&mut self, task: &Task, since: &str) -> Result<(), Failure> {
        let read = task.bus()?.read()?;
        self.problems.extend(read.problems.iter().map(|it| format!("{}: {it}", layout::TASK_BUS)));
        self.head = read.messages.last().map(|it| it.msg_id.clone()).unwrap_or_default();
        let new = bus::since(&read.messages, since).unwrap_or(&read.messages);
        let is_runners = |it: &&Message| bus::is_runners(&it.kind) || it.body.starts_with(STARTING);
        let said = new.iter().filter(|it| !is_runners(it));
        let mut said: Vec<_> = said.rev().take(MESSAGES).cloned().collect();
        said.reverse();
        self.messages = said;
        Ok(())
    }
}

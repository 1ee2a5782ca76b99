//! The context of a task that an agent gets with its prompt.

use gate_core::Failure;

use super::bus::Bus;
use super::file;
use super::task::Task;
use crate::bus::{self, Message};
use crate::run::layout;

/// A prompt has this many messages of each bus, the latest.
const MAX_MESSAGES: usize = 50;

/// The context of a task for its agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Brief {
    /// The text of `TASK_STATE.md`; empty if there is no such file. If it cannot be read, the error.
    pub task_state: String,
    /// The project's facts and the task's, each with its title.
    pub facts: Vec<(String, String)>,
    /// New messages on the task's bus, without START and STOP.
    pub messages: Vec<Message>,
    /// New messages on the project's bus.
    pub project_messages: Vec<Message>,
    /// The last messages of both buses.
    pub heads: Heads,
    /// Files and messages that could not be read. They are left out.
    pub problems: Vec<String>,
}

/// The id of the last message on each bus. Later messages are new.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Heads {
    /// On the task's bus; empty if it has no message.
    pub task: String,
    /// On the project's bus; empty if it has no message.
    pub project: String,
}

/// Marks a message of gate's own.
const AUTHOR: (&str, &str) = ("author", "gate");

/// A message of gate's own on a task's bus.
pub fn by_gate(kind: &str, task: &Task) -> Message {
    let (key, value) = AUTHOR;
    Message {
        task_id: task.id().to_owned(),
        meta: vec![(key.to_owned(), value.to_owned())],
        ..Message::new(kind, task.project().id())
    }
}

/// The text of messages in a prompt.
fn prompt_text(messages: &[Message]) -> String {
    let texts = messages.iter().map(|message| {
        let Message { ts, kind, msg_id, .. } = message;
        let mut meta = message.meta.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        let is_gates = meta.any(|pair| pair == AUTHOR);
        let from = match message.run_id.as_str() {
            "" if is_gates => "gate",
            "" => "a person",
            run => run,
        };
        format!("[{ts}] {kind} ({msg_id}, from {from})\n{}\n", message.body.trim())
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// The first words of the runner's message that it starts an agent.
pub const STARTING: &str = "starting root agent";

impl Brief {
    /// Reads the context for an agent that has seen the messages up to `since`. If those
    /// messages are gone, all latest messages count as new.
    ///
    /// # Errors
    ///
    /// A folder, file or bus that cannot be read.
    pub fn read(task: &Task, since: &Heads) -> Result<Self, Failure> {
        let mut brief = Self::default();
        brief.task_state = task.state().unwrap_or_else(|failure| {
            brief.problems.push(failure.message.clone());
            failure.message
        });
        for (facts, unreadable) in [task.project().facts()?, task.facts()?] {
            brief.facts.extend(facts.into_iter().map(|file| (file.fact.title, file.fact.body)));
            brief.problems.extend(unreadable.iter().map(ToString::to_string));
        }
        let promoted = file::read(&task.project().folder().join(layout::PROJECT_FACTS))?;
        brief.facts.extend(promoted.map(|text| (layout::PROJECT_FACTS.to_owned(), text)));
        let project = task.project().bus()?;
        (brief.messages, brief.heads.task) =
            brief.read_bus(&task.bus()?, &since.task, layout::TASK_BUS)?;
        (brief.project_messages, brief.heads.project) =
            brief.read_bus(&project, &since.project, layout::PROJECT_BUS)?;
        Ok(brief)
    }

    /// The prompt's text of the new messages on the task's bus.
    pub fn task_messages(&self) -> String {
        prompt_text(&self.messages)
    }

    /// The prompt's text of the new messages on the project's bus.
    pub fn project_messages(&self) -> String {
        prompt_text(&self.project_messages)
    }

    /// Returns the new messages on a bus, and the id of its last message.
    fn read_bus(
        &mut self,
        bus: &Bus,
        since: &str,
        name: &str,
    ) -> Result<(Vec<Message>, String), Failure> {
        let read = bus.read()?;
        self.problems.extend(read.problems.iter().map(|problem| format!("{name}: {problem}")));
        let head = read.messages.last().map(|message| message.msg_id.clone()).unwrap_or_default();
        let unseen = bus::since(&read.messages, since).unwrap_or(&read.messages);
        let for_agent = unseen.iter().filter(|message| {
            !bus::is_runner_type(&message.kind) && !message.body.starts_with(STARTING)
        });
        let mut latest: Vec<_> = for_agent.rev().take(MAX_MESSAGES).cloned().collect();
        latest.reverse();
        Ok((latest, head))
    }
}

//! `gate run --decide-first`: before the work, the agent lists what its task leaves open, and a person
//! decides.
//!
//! The list and the answers are records. The file in which a person confirms lies in gate's state
//! folder, and counts for nothing without the record of a list. Before that record, whatever the agent
//! left in its place is removed: gate writes it when the agent has ended. An agent that starts the
//! loop again confirms nothing.

mod file;

use std::fs;
use std::path::PathBuf;

use gate_core::decide::open_decisions::{ConfirmedDecision, KEY, MAX_DECISIONS, NOTHING};
use gate_core::decide::policy::Criterion;
use gate_core::text::{MAX_NAMES, clean, counted, some_names};
use gate_fleet::durable;

use self::file::Answers;
use super::run_command::RunCommand;
use super::tests_first::{Stage, Writes, answer_until};
use crate::commands::common::can_ask;
use crate::failure::Failure;
use crate::gate::Gate;
use crate::governance::Task;
use crate::memory::{Confirmation, ConfirmedAt, DecisionsKey, Memory, StoppedBy, TaskDecisions};
use crate::operator::Operator;
use crate::render;
use crate::runner::{Decisions, End, ListingOrder};

/// The option, as an act of a person: to confirm what an agent listed.
const OPTION: &str = "--decide-first";

/// The folder of the files in gate's state folder.
const FOLDER: &str = "decisions";

/// The beginning of a command behind a person's answer at the terminal.
const COMMAND: &str = "-- ";

/// The prompt's part about the first turn.
pub(super) fn instructions() -> String {
    format!(
        "\
## In this phase: open decisions only

Do not begin the work. Change no file and write no code: the work begins when a person has decided.

Read the task and the code that it is about, then list what the task leaves open and what whoever uses
the result would notice: names, syntax, formats, defaults, limits, permissions, what happens to old data.
What the task, the code or its conventions settle is not open. Say for each what you would choose.

End your final message with one line for each, {MAX_DECISIONS} at most, in this form, with reasons above the
list alone:

{KEY} <what is open> => <what you would choose>

If nothing is open, end it with this line instead:

{KEY} {NOTHING}
"
    )
}

/// The prompt's part about what a person decided.
pub(super) fn decided_text(decided: &[ConfirmedDecision]) -> String {
    let lines = decided.iter().map(|decision| {
        let command = decision.command.as_ref();
        let shown = command.map(|line| format!(" (`{line}` has to pass)")).unwrap_or_default();
        format!("- {}: {}{shown}\n", decision.question, decision.answer)
    });
    format!(
        "## Decided by a person\n\nDo it in this way. If one of these cannot be done, say which and \
         why, and end with the status BLOCKED.\n\n{}",
        lines.collect::<String>()
    )
}

/// The criteria of the decisions that have a command.
pub(super) fn criteria(decided: &[ConfirmedDecision]) -> Vec<Criterion> {
    let with_command = decided.iter().filter_map(|one| Some((one, one.command.as_ref()?)));
    let criteria = with_command.enumerate().map(|(index, (decision, command))| Criterion {
        id: format!("decision-{}", index + 1),
        text: format!("{}: {}", decision.question, decision.answer),
        verify: ["bash", "-euo", "pipefail", "-c", command].map(str::to_owned).to_vec(),
        supersedes: Vec::new(),
    });
    criteria.collect()
}

/// The decisions in one line.
fn in_words(decided: &[ConfirmedDecision]) -> String {
    let words = decided.iter().map(|one| format!("{}: {}", one.question, one.answer));
    words.collect::<Vec<_>>().join("; ")
}

/// A person's answers.
struct Confirmed {
    at: ConfirmedAt,
    decided: Vec<ConfirmedDecision>,
}

/// The next step of a person, and the reason for it.
struct Waiting {
    problem: String,
    step: String,
}

impl RunCommand<'_> {
    /// The task whose decisions are in question.
    fn decisions_key(&self, task: &str) -> DecisionsKey {
        let named = self.args.task.is_some() || self.args.work.is_some();
        let prompt = self.prompt.as_ref().map(|prompt| gate_core::digest(prompt.as_bytes()));
        DecisionsKey { task: task.to_owned(), named, prompt }
    }

    /// The id of the task, or of an earlier loop over the same prompt, whose decisions were listed.
    pub(super) fn task_with_decisions(&self, task: &str) -> Result<Option<String>, Failure> {
        Ok(self.task_decisions(task)?.map(|listed| listed.task))
    }

    /// The decisions of a person on a task; none if nobody made any.
    pub(super) fn decided(&self, task: &str) -> Result<Vec<ConfirmedDecision>, Failure> {
        let listed = self.task_decisions(task)?;
        Ok(listed.and_then(|listed| listed.confirmed).unwrap_or_default())
    }

    /// The decisions of a task. There are none if the state is lost, which the breaker reports.
    fn task_decisions(&self, task: &str) -> Result<Option<TaskDecisions>, Failure> {
        match self.decisions_memory()?.task_decisions(&self.decisions_key(task)) {
            Err(failure) if failure.lost_state().is_some() => Ok(None),
            decisions => decisions,
        }
    }

    fn decisions_memory(&self) -> Result<Memory, Failure> {
        self.invocation.memory_under(&self.trust, &self.settings.policy)
    }

    /// The order of a turn that lists open decisions; `None` for another stage.
    pub(super) fn listing_order(
        &self,
        stage: Stage<'_>,
        task: &Task,
        gate: &Gate,
    ) -> Result<Option<ListingOrder>, Failure> {
        if !stage.lists_decisions() {
            return Ok(None);
        }
        Ok(Some(ListingOrder {
            key: self.decisions_key(stage.task),
            file: self.decisions_file(stage.task)?,
            tree: gate.snapshot()?,
            runs: task.project().runs().folder().to_owned(),
        }))
    }

    /// The file in which a person confirms.
    pub(super) fn decisions_file(&self, task: &str) -> Result<PathBuf, Failure> {
        let task = self.project.task(task)?;
        Ok(match &self.invocation.places.state {
            Some(state) => {
                state.join(FOLDER).join(self.project.id()).join(format!("{}.md", task.id()))
            }
            None => task.folder().join("decisions.md"),
        })
    }

    /// Lets the agent list the open decisions of a task, and a person confirm them. Returns the end of
    /// the command if the work may not begin, else what was decided.
    pub(super) fn decide_first(&self, task: &str) -> Result<Result<Decisions, End>, Failure> {
        let key = self.decisions_key(task);
        let stage = Stage { task, job: None, writes: Writes::Decisions };
        let mut memory = self.decisions_memory()?;
        let mut listing_end = None;
        let listed = match memory.task_decisions(&key)? {
            Some(TaskDecisions { by, open, confirmed: Some(decided), of_other_prompt, .. }) => {
                let count = counted(decided.len(), "decision");
                let age = if of_other_prompt { ", for an earlier text of its prompt" } else { "" };
                render::notes(&[format!(
                    "the decisions of {task} are confirmed ({count}){age}; with another --task you \
                     are asked anew"
                )]);
                return Ok(Ok(Decisions { by, confirmed: true, file: None, open, decided }));
            }
            Some(listed) => listed,
            None => {
                let by = self.worker.name.clone();
                render::notes(&[format!(
                    "decisions first: {by} lists what the task leaves open, and writes no code"
                )]);
                let end = self.run_loop(stage)?;
                if end.stopped_by == StoppedBy::NothingOpen {
                    let empty = TaskDecisions {
                        task: task.to_owned(),
                        by,
                        open: Vec::new(),
                        confirmed: None,
                        of_other_prompt: false,
                    };
                    return Ok(Ok(self.settle(&mut memory, &key, &empty, &nothing_open())?));
                }
                let Some(listed) = memory.task_decisions(&key)? else { return Ok(Err(end)) };
                listing_end = Some(end);
                listed
            }
        };
        let operator = self.invocation.operator(OPTION);
        let waiting = match self.confirm(stage, &listed, operator.as_ref())? {
            Ok(confirmed) => {
                let confirmation = Confirmation {
                    at: confirmed.at,
                    operator: operator.as_ref().ok(),
                    decisions: &confirmed.decided,
                };
                return Ok(Ok(self.settle(&mut memory, &key, &listed, &confirmation)?));
            }
            Err(waiting) => waiting,
        };
        let file = self.decisions_file(task)?;
        let stopped_by =
            if self.interrupt.code().is_some() { StoppedBy::Cancelled } else { StoppedBy::Blocked };
        let folder = self.project.task(task)?.folder();
        let end = listing_end.unwrap_or_else(|| End::without_work(stopped_by, &folder));
        let resume = self.resume(stage).unwrap_or_default();
        Ok(Err(End {
            stopped_by,
            problem: Some(waiting.problem),
            way_out: Some(format!("{}, then go on with: `{resume}`", waiting.step)),
            resume: Some(resume),
            decisions: Some(Decisions {
                by: listed.by,
                confirmed: false,
                file: Some(file.display().to_string()),
                open: listed.open,
                decided: Vec::new(),
            }),
            ..end
        }))
    }

    /// Records what was decided. The file has served.
    fn settle(
        &self,
        memory: &mut Memory,
        key: &DecisionsKey,
        listed: &TaskDecisions,
        confirmation: &Confirmation<'_>,
    ) -> Result<Decisions, Failure> {
        let decided = confirmation.decisions;
        memory.decisions_confirmed(key, listed, confirmation)?;
        // If it stays, it counts for nothing: its list has its answers.
        let _ = fs::remove_file(self.decisions_file(&key.task)?);
        render::notes(&[match decided {
            [] => "no open decisions: the work begins".to_owned(),
            decided => format!("decided: {}", in_words(decided)),
        }]);
        Ok(Decisions {
            by: listed.by.clone(),
            confirmed: true,
            file: None,
            open: listed.open.clone(),
            decided: decided.to_vec(),
        })
    }

    /// The answers of a person, from the file or at the terminal.
    fn confirm(
        &self,
        stage: Stage<'_>,
        listed: &TaskDecisions,
        operator: Result<&Operator, &Failure>,
    ) -> Result<Result<Confirmed, Waiting>, Failure> {
        let path = self.decisions_file(stage.task)?;
        let shown = path.display();
        let step = format!("confirm or edit each decision in {shown}");
        let count = match listed.open.len() {
            1 => "1 decision is open".to_owned(),
            count => format!("{} are open", counted(count, "decision")),
        };
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(_) => {
                let resume = self.resume(stage).unwrap_or_default();
                let page = file::page(stage.task, &listed.by, &listed.open, &resume);
                write(&path, &page)?;
                page
            }
        };
        let answers = match file::read(&text, &listed.open) {
            Ok(answers) => answers,
            Err(bad) => {
                let problem = format!("{shown}:{}: {}", bad.line, bad.problem);
                return Ok(Err(Waiting { problem, step: "correct that line".to_owned() }));
            }
        };
        let is_whole = answers.unconfirmed.is_empty() && !answers.decided.is_empty();
        if let Err(failure) = operator {
            // An agent's list is nothing that an agent confirms.
            let problem = if is_whole { failure.message.clone() } else { count };
            let step = if is_whole { "a person starts it in a terminal".to_owned() } else { step };
            return Ok(Err(Waiting { problem, step }));
        }
        if is_whole {
            return Ok(Ok(Confirmed { at: ConfirmedAt::File, decided: answers.decided }));
        }
        if can_ask() {
            return Ok(match self.ask(listed, &answers)? {
                Some(decided) => Ok(Confirmed { at: ConfirmedAt::Terminal, decided }),
                None => {
                    Err(Waiting { problem: format!("{count}, and nothing was confirmed"), step })
                }
            });
        }
        let names = some_names(&answers.unconfirmed, MAX_NAMES);
        let problem = match answers.decided.len() {
            _ if answers.unconfirmed.is_empty() => format!("{shown} has no decision any more"),
            0 => format!("{count}: {names}"),
            _ => format!("not confirmed yet: {names}"),
        };
        Ok(Err(Waiting { problem, step }))
    }

    /// Asks a person about each decision; `None` if they do not answer. If they have edited the file, what
    /// they confirmed or added there holds, and what they took out is not asked.
    fn ask(
        &self,
        listed: &TaskDecisions,
        answers: &Answers,
    ) -> Result<Option<Vec<ConfirmedDecision>>, Failure> {
        let is_edited = !answers.decided.is_empty();
        let is_taken_out = |question: &String| is_edited && !answers.unconfirmed.contains(question);
        let total = listed.open.len();
        render::diagnose(&format!(
            "{} lists {} of this task. Enter keeps an answer, and text replaces it. `{COMMAND}COMMAND` \
             behind it\nadds a command that has to pass before the loop may end. Ctrl-D stops, and \
             nothing is confirmed.\n",
            listed.by,
            counted(total, "open decision"),
        ));
        let mut decided = answers.decided.clone();
        for (index, open) in listed.open.iter().enumerate() {
            let (question, choice) = (clean(&open.question), clean(&open.choice));
            if is_taken_out(&question) {
                continue;
            }
            render::diagnose(&format!(
                "\n{} of {total}  {question}\n        {choice}\n",
                index + 1
            ));
            let Some(answer) = answer_until(">", &self.interrupt)? else {
                render::diagnose_as_is("\n");
                return Ok(None);
            };
            decided.push(answered(question, &choice, &answer));
        }
        Ok(Some(decided))
    }
}

fn nothing_open() -> Confirmation<'static> {
    Confirmation { at: ConfirmedAt::NothingOpen, operator: None, decisions: &[] }
}

/// A person's answer to the question about one decision.
fn answered(question: String, choice: &str, answer: &str) -> ConfirmedDecision {
    let answer = clean(answer);
    let (text, command) = match answer.strip_prefix(COMMAND) {
        Some(command) => ("", Some(command)),
        None => match answer.split_once(&format!(" {COMMAND}")) {
            Some((text, command)) => (text, Some(command)),
            None => (answer.as_str(), None),
        },
    };
    let answer = if text.trim().is_empty() { choice } else { text.trim() };
    let command = command.map(|command| command.trim().to_owned());
    ConfirmedDecision {
        question,
        answer: answer.to_owned(),
        command: command.filter(|command| !command.is_empty()),
        edited: answer != choice,
    }
}

/// Writes the file whole or not at all. A link in its place is replaced, not followed.
fn write(path: &std::path::Path, page: &str) -> Result<(), Failure> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return Ok(()) };
    let written = durable::write(folder, &name.to_string_lossy(), page.as_bytes());
    written.map_err(|error| Failure::file("folder-unwritable", "write", path, &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_keeps_or_replaces_the_choice_and_may_add_a_command() {
        let shown = |answer: &str| {
            let decision = answered("name".to_owned(), "tax", answer);
            (decision.answer, decision.command, decision.edited)
        };
        let command = Some("pytest -k tax".to_owned());
        assert_eq!(shown(""), ("tax".to_owned(), None, false));
        assert_eq!(shown("tax"), ("tax".to_owned(), None, false));
        assert_eq!(shown("vat"), ("vat".to_owned(), None, true));
        assert_eq!(shown("-- pytest -k tax"), ("tax".to_owned(), command.clone(), false));
        assert_eq!(shown("vat -- pytest -k tax"), ("vat".to_owned(), command, true));
        assert_eq!(shown("a--b"), ("a--b".to_owned(), None, true));
    }
}

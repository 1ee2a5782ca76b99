//! Goals: criteria that a person gave for a session, a task, or a work tree.
//!
//! Each act on a goal is a record of its own. A goal is open from the record that gave it to the one
//! that dropped it or found it reached.

use std::fs::{self, DirBuilder};
use std::path::{Path, PathBuf};

use gate_core::decide::policy::Criterion;
use gate_core::history::kind;
use gate_core::ledger::Sealed;
use gate_platform::DirBuilderExt;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::decision_transaction::GATE;
use super::{Memory, body};
use crate::failure::Failure;
use crate::operator::Operator;
use crate::request::Asker;

/// The characters for which a command needs a shell.
const SHELL_CHARS: &[char] = &[
    '|', '&', ';', '<', '>', '(', ')', '$', '`', '*', '?', '[', ']', '{', '}', '~', '#', '\n', '!',
];

/// Starts a line of bash, as for a criterion.
const SHELL: [&str; 4] = ["bash", "-euo", "pipefail", "-c"];

/// A goal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Goal {
    /// The person's words.
    pub(crate) text: String,
    /// The program, with its arguments, that exits with 0 if the goal is reached. Empty: no program
    /// can tell.
    #[serde(default)]
    pub(crate) command: Vec<String>,
    pub(crate) scope: Scope,
    /// The name of the work tree in which it was given.
    pub(crate) tree: String,
}

/// The work that a goal is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Scope {
    /// The sessions and loops that begin in its work tree.
    Tree,
    /// A task, in each work tree of the project.
    Task(String),
    /// A session of an agent.
    Session(String),
    /// A loop of `gate run` whose task nobody named.
    Run(String),
}

/// An act on goals, as its record has it.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Act {
    act: Step,
    goals: Vec<Goal>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Step {
    Given,
    Dropped,
    Reached,
}

impl Goal {
    /// The command as a person would type it; `None` without one.
    pub(crate) fn command_line(&self) -> Option<String> {
        command_line(&self.command)
    }

    /// The goal in one line, for an agent.
    pub(crate) fn line(&self) -> String {
        let text = self.text.trim_end_matches('.');
        match self.command_line() {
            Some(command) => {
                format!("The person's goal: {text}. It is reached when `{command}` passes.")
            }
            None => format!("The person's goal: {text}."),
        }
    }

    /// The criterion that a check runs. `number` counts from 1.
    pub(crate) fn criterion(&self, number: usize) -> Criterion {
        let id = format!("goal-{number}");
        let (text, verify) = (self.text.clone(), self.command.clone());
        Criterion { id, text, verify, supersedes: Vec::new() }
    }

    /// The goal is for the work of this asker.
    fn concerns(&self, asker: &Asker, tree: &str) -> bool {
        match &self.scope {
            Scope::Tree => {
                let first_tree = asker.began_in.as_deref().map(super::naming::tree_name);
                self.tree == tree || first_tree.as_ref() == Some(&self.tree)
            }
            Scope::Task(task) => asker.task.as_ref() == Some(task),
            Scope::Session(run) | Scope::Run(run) => asker.run.as_ref() == Some(run),
        }
    }

    /// The same words for the same work.
    fn replaces(&self, other: &Self) -> bool {
        let is_same_work = match self.scope {
            Scope::Tree => other.scope == Scope::Tree && self.tree == other.tree,
            Scope::Task(_) | Scope::Session(_) | Scope::Run(_) => self.scope == other.scope,
        };
        is_same_work && self.text == other.text
    }
}

impl Act {
    /// The act on the goals of this work tree alone.
    fn limited_to(mut self, tree: &str) -> Self {
        self.goals.retain(|goal| goal.tree == tree);
        self
    }
}

/// A command as a person would type it; `None` for no words.
pub(crate) fn command_line(command: &[String]) -> Option<String> {
    match command {
        [] => None,
        [shell, options @ .., script] if shell == SHELL[0] && options == &SHELL[1..] => {
            Some(script.clone())
        }
        words => {
            let line = shlex::try_join(words.iter().map(String::as_str));
            Some(line.unwrap_or_else(|_| words.join(" ")))
        }
    }
}

/// The goals that an act on these words is about: all without words.
///
/// # Errors
///
/// No such goal (code 2).
pub(crate) fn chosen_goals(goals: &[Goal], text: Option<&str>) -> Result<Vec<Goal>, Failure> {
    let has_words = |goal: &&Goal| text.is_none_or(|text| goal.text == text.trim());
    let chosen: Vec<_> = goals.iter().filter(has_words).cloned().collect();
    match (chosen.is_empty(), text) {
        (false, _) => Ok(chosen),
        (true, None) => Err(Failure::usage("no-goal", "no goal is open here")
            .hint("those of a task: `gate goal drop --task ID`")),
        (true, Some(text)) => {
            let message = format!("no open goal here has the words `{text}`");
            Err(Failure::usage("no-goal", message).hint("`gate goal` shows those that are open"))
        }
    }
}

/// The words of a command that stands on one line.
pub(crate) fn command_words(line: &str) -> Vec<String> {
    let is_plain = |words: &Vec<String>| {
        !line.contains(SHELL_CHARS) && words.first().is_some_and(|word| !is_assignment(word))
    };
    shlex::split(line)
        .filter(is_plain)
        .unwrap_or_else(|| [&SHELL[..], &[line]].concat().into_iter().map(str::to_owned).collect())
}

/// The word sets a variable for the command behind it, which a shell alone can.
fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map(|(name, _)| name);
    name.is_some_and(|name| {
        !name.is_empty() && name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric())
    })
}

fn quote(word: &str) -> String {
    shlex::try_quote(word).map_or_else(|_| word.to_owned(), |quoted| quoted.into_owned())
}

/// The words of a command that was typed in several.
pub(crate) fn command_of_words(words: &[String]) -> Vec<String> {
    match words {
        // One word with blanks is a line.
        [line] if line.contains(char::is_whitespace) => command_words(line),
        [first, ..] if is_assignment(first) => {
            let quoted = words.iter().map(|word| match word.split_once('=') {
                // A name in quotes would be a program's.
                Some((name, value)) if is_assignment(word) => format!("{name}={}", quote(value)),
                _ => quote(word),
            });
            command_words(&quoted.collect::<Vec<_>>().join(" "))
        }
        words => words.to_vec(),
    }
}

impl Memory {
    /// A goal of this work tree.
    pub(crate) fn new_goal(&self, text: &str, command: Vec<String>, scope: Scope) -> Goal {
        Goal { text: text.trim().to_owned(), command, scope, tree: self.tree.clone() }
    }

    /// Records that an operator gives a goal. One with the same words for the same work goes.
    pub(crate) fn give_goal(&mut self, goal: &Goal, operator: &Operator) -> Result<(), Failure> {
        // Whoever looks for a project without settings finds the goal by this mark.
        self.mark_goals(true);
        self.record_goals(Step::Given, std::slice::from_ref(goal), Some(operator))
    }

    /// Records that an operator drops goals.
    pub(crate) fn drop_goals(
        &mut self,
        goals: &[Goal],
        operator: &Operator,
    ) -> Result<(), Failure> {
        self.record_goals(Step::Dropped, goals, Some(operator))
    }

    /// Records that goals were reached.
    pub(crate) fn goals_reached(&mut self, goals: &[Goal]) -> Result<(), Failure> {
        self.record_goals(Step::Reached, goals, None)
    }

    fn record_goals(
        &mut self,
        act: Step,
        goals: &[Goal],
        operator: Option<&Operator>,
    ) -> Result<(), Failure> {
        let actor = operator.map_or_else(|| GATE.to_owned(), Operator::actor);
        let body = json!({ "act": act, "goals": goals, "by": operator });
        self.append(&body::draft(kind::GOAL, None, &actor, &body)?)?;
        if act != Step::Given && self.goals_of_tree()?.is_empty() {
            self.mark_goals(false);
        }
        Ok(())
    }

    /// The project's open goals, the oldest first. Whoever works in the tree can give the project another
    /// name, by a remote or by settings, so the goals of this tree are read under each name that it had.
    pub(crate) fn goals(&mut self) -> Result<Vec<Goal>, Failure> {
        let mut acts = Vec::new();
        let mut earlier_projects = self.marked_projects();
        earlier_projects.retain(|project| *project != self.project);
        for project in earlier_projects {
            let records = self.retry(|memory| {
                Ok(memory.view_project(&project)?.entries_of_type(kind::GOAL, usize::MAX)?)
            })?;
            acts.extend(
                records.iter().rev().filter_map(parse).map(|act| act.limited_to(&self.tree)),
            );
        }
        let records =
            self.retry(|memory| Ok(memory.view()?.entries_of_type(kind::GOAL, usize::MAX)?))?;
        acts.extend(records.iter().rev().filter_map(parse));
        Ok(open_goals(acts.into_iter()))
    }

    /// The projects under whose names goals were given in this work tree.
    fn marked_projects(&self) -> Vec<String> {
        let mark = self.state.as_deref().map(|state| mark_file(state, &self.tree));
        let text = mark.and_then(|file| fs::read_to_string(file).ok()).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// The open goals that were given in this work tree.
    pub(crate) fn goals_of_tree(&mut self) -> Result<Vec<Goal>, Failure> {
        let mut goals = self.goals()?;
        goals.retain(|goal| goal.tree == self.tree);
        Ok(goals)
    }

    /// The open goals for the work of an asker.
    pub(crate) fn goals_for(&mut self, asker: &Asker) -> Result<Vec<Goal>, Failure> {
        let mut goals = self.goals()?;
        goals.retain(|goal| goal.concerns(asker, &self.tree));
        Ok(goals)
    }

    fn names_to_mark(&self) -> String {
        let mut projects = self.marked_projects();
        if !projects.contains(&self.project) {
            projects.push(self.project.clone());
        }
        projects.join("\n")
    }

    fn mark_goals(&self, has_goals: bool) {
        let Some(state) = &self.state else { return };
        let file = mark_file(state, &self.tree);
        // Without the mark a project without settings, or with another name, is not judged.
        let _ = match has_goals {
            true => mark(&file, &self.names_to_mark()),
            false => fs::remove_file(&file),
        };
    }
}

/// A goal was given for the work tree of this folder, and may be open.
pub(crate) fn may_have_goal(state: Option<&Path>, folder: &Path) -> bool {
    state.is_some_and(|state| mark_file(state, &super::naming::tree_name(folder)).exists())
}

fn mark_file(state: &Path, tree: &str) -> PathBuf {
    state.join("goals").join(tree)
}

fn mark(file: &Path, projects: &str) -> std::io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new(""));
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    fs::write(file, projects)
}

/// `None` for a record that this version cannot read.
fn parse(sealed: &Sealed) -> Option<Act> {
    let value = serde_json::to_value(&sealed.record.body).ok()?;
    serde_json::from_value(value).ok()
}

/// The goals that are open after these acts.
fn open_goals(acts: impl Iterator<Item = Act>) -> Vec<Goal> {
    let mut open: Vec<Goal> = Vec::new();
    for Act { act, goals } in acts {
        for goal in goals {
            match act {
                Step::Given => {
                    open.retain(|earlier| !goal.replaces(earlier));
                    open.push(goal);
                }
                Step::Dropped | Step::Reached => open.retain(|earlier| *earlier != goal),
            }
        }
    }
    open
}

#[cfg(test)]
mod tests {
    use super::*;

    fn goal(text: &str, command: &str) -> Goal {
        let command = command.split_whitespace().map(str::to_owned).collect();
        Goal { text: text.to_owned(), command, scope: Scope::Tree, tree: "t".to_owned() }
    }

    fn given(goal: Goal) -> Act {
        Act { act: Step::Given, goals: vec![goal] }
    }

    #[test]
    fn a_goal_is_open_until_it_is_dropped_or_reached() {
        let (tax, label) = (goal("tax", "pytest -k tax"), goal("label", ""));
        let both = || vec![given(tax.clone()), given(label.clone())];
        assert_eq!(open_goals(both().into_iter()), [tax.clone(), label.clone()]);
        for act in [Step::Dropped, Step::Reached] {
            let end = Act { act, goals: vec![tax.clone()] };
            assert_eq!(open_goals(both().into_iter().chain([end])), std::slice::from_ref(&label));
        }
    }

    #[test]
    fn the_same_words_again_replace_the_command() {
        let mended = goal("tax", "pytest -k tax");
        let acts = [given(goal("tax", "pytest -k txa")), given(mended.clone())];
        assert_eq!(open_goals(acts.into_iter()), std::slice::from_ref(&mended));
        // The old goal's end came too late for the new one.
        let late = Act { act: Step::Reached, goals: vec![goal("tax", "pytest -k txa")] };
        assert_eq!(open_goals([given(mended.clone()), late].into_iter()), [mended]);
    }

    #[test]
    fn a_goal_concerns_its_own_work() {
        let asker = |task: Option<&str>, run: Option<&str>| Asker {
            task: task.map(str::to_owned),
            run: run.map(str::to_owned),
            ..Asker::default()
        };
        let of_tree = goal("tax", "");
        assert!(of_tree.concerns(&asker(Some("7"), Some("s")), "t"));
        assert!(!of_tree.concerns(&asker(None, None), "other"));
        let of_task = Goal { scope: Scope::Task("7".to_owned()), ..of_tree.clone() };
        assert!(of_task.concerns(&asker(Some("7"), None), "other"));
        assert!(!of_task.concerns(&asker(Some("8"), Some("7")), "t"));
        let of_session = Goal { scope: Scope::Session("s".to_owned()), ..of_tree };
        assert!(of_session.concerns(&asker(None, Some("s")), "t"));
        assert!(!of_session.concerns(&asker(None, Some("r")), "t"));
    }

    #[test]
    fn a_line_with_signs_for_a_shell_is_a_script() {
        assert_eq!(command_words("pytest -k 'tax rate'"), ["pytest", "-k", "tax rate"]);
        let script = command_words("make build && pytest");
        assert_eq!(script, ["bash", "-euo", "pipefail", "-c", "make build && pytest"]);
        let with_variable = command_of_words(&["CI=1".to_owned(), "pytest".to_owned()]);
        assert_eq!(with_variable.last().map(String::as_str), Some("CI=1 pytest"));
        assert_eq!(with_variable.first().map(String::as_str), Some("bash"));
        let goal = Goal { command: script, ..goal("tax", "") };
        assert_eq!(goal.command_line().as_deref(), Some("make build && pytest"));
    }
}

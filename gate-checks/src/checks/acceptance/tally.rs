//! Counts open and done criteria.

use gate_core::decide::policy::CheckPolicy;
use serde_json::{Value, json};

use super::criteria::{Criteria, Criterion};
use super::label;
use super::pattern::Named;
use super::plan::{Item, Plan, PlanError, shown};
use super::read;

/// The criteria of all files.
#[derive(Debug, Default)]
pub(in crate::checks) struct Tally {
    files: Vec<String>,
    plans: Vec<Plan>,
    problems: Vec<String>,
    task: Option<String>,
}

impl Tally {
    pub(in crate::checks) fn new(task: Option<&str>) -> Self {
        Self { task: task.map(str::to_owned), ..Self::default() }
    }

    /// Something that could not be found out.
    pub(in crate::checks) fn problem(&mut self, error: &PlanError) {
        self.problems.push(shown(&error.to_string()));
    }

    /// Reads a file, once.
    pub(in crate::checks) fn read(&mut self, named: &Named, rules: &CheckPolicy) {
        if self.files.contains(&named.shown) {
            return;
        }
        match read(&named.path, &named.shown, rules) {
            Ok(plan) => {
                self.files.push(named.shown.clone());
                self.plans.push(plan);
            }
            Err(error) => self.problem(&error),
        }
    }

    /// The criteria of the files. Commands are those that the baseline's files give them: a
    /// command that the agent wrote shows nothing. A criterion of the baseline that is not there
    /// any more is open.
    pub(in crate::checks) fn finish(mut self, baseline: &[(String, Plan)]) -> Criteria {
        for (file, before) in baseline {
            let now = self.files.iter().position(|known| known == file);
            for item in before.items.iter().filter(|item| item.verify.is_some()) {
                let Some(plan) = now.map(|at| &mut self.plans[at]) else { continue };
                match plan.items.iter_mut().find(|known| known.text == item.text) {
                    Some(known) => known.trusted.clone_from(&item.verify),
                    None => plan.items.push(Item {
                        done: false,
                        trusted: item.verify.clone(),
                        ..item.clone()
                    }),
                }
            }
        }
        self.select();
        let all = self.items().map(|(file, item)| Criterion {
            text: item.text.clone(),
            place: Some((file.to_owned(), item.line)),
            done: item.done,
            mark: item.mark.clone(),
            optional: item.optional,
            verify: item.trusted.clone(),
            ..Criterion::default()
        });
        Criteria { all: all.collect(), files: self.details(), problems: self.problems }
    }

    /// Keeps what belongs to the task; without one, a file without any item is
    /// a problem.
    fn select(&mut self) {
        let selection = self.task.as_deref().map(|id| select(&self.plans, id));
        match (selection, &self.task) {
            (Some(Selection::These(chosen)), _) => {
                self.plans.iter_mut().zip(chosen).for_each(|(plan, items)| plan.items = items);
            }
            (Some(Selection::Nobody), Some(id)) => {
                let files = self.files.join(", ");
                self.problems.push(shown(&format!("no criterion of task {id} in {files}")));
                self.plans.iter_mut().for_each(|plan| plan.items.clear());
            }
            _ => self.empty_files(),
        }
    }

    fn empty_files(&mut self) {
        let files = self.files.iter().zip(&self.plans).filter(|(_, plan)| plan.items.is_empty());
        let problems = files.map(|(file, plan)| {
            let expected = if plan.format == "markdown" { "task list" } else { "issues" };
            PlanError::Empty { file: file.clone(), expected }.to_string()
        });
        self.problems.extend(problems);
    }

    fn items(&self) -> impl Iterator<Item = (&str, &Item)> {
        let files = self.files.iter().zip(&self.plans);
        files.flat_map(|(file, plan)| plan.items.iter().map(move |item| (file.as_str(), item)))
    }

    fn details(&self) -> Vec<Value> {
        let files = self.files.iter().zip(&self.plans).map(|(file, plan)| {
            json!({
                "file": shown(file),
                "format": plan.format,
                "open": plan.count(Item::blocks),
                "done": plan.count(|item| !item.optional && item.done),
                "optional": plan.count(|item| item.optional),
            })
        });
        files.collect()
    }
}

impl Plan {
    fn count(&self, matches: fn(&Item) -> bool) -> usize {
        self.items.iter().filter(|item| matches(item)).count()
    }
}

impl Item {
    fn blocks(&self) -> bool {
        !self.done && !self.optional
    }
}

/// The items that a task's id selects.
#[derive(Debug, PartialEq, Eq)]
enum Selection {
    /// The items with this id, and those within or below something with this id.
    These(Vec<Vec<Item>>),
    /// Nothing has this id, and nothing here is called by ids.
    All,
    /// Nothing has this id, though things here are called by ids.
    Nobody,
}

/// Looks for a task in plans.
fn select(plans: &[Plan], id: &str) -> Selection {
    let chosen = plans.iter().map(|plan| plan.items.iter().filter_map(|item| chosen(item, id)));
    let chosen: Vec<Vec<Item>> = chosen.map(Iterator::collect).collect();
    if chosen.iter().any(|items| !items.is_empty()) {
        Selection::These(chosen)
    } else if plans.iter().any(|plan| plan.by_ids) {
        Selection::Nobody
    } else {
        Selection::All
    }
}

/// The item, if it belongs to the task. An item that has the id itself is not optional.
fn chosen(item: &Item, id: &str) -> Option<Item> {
    if label::is_called(&item.text, id) {
        return Some(Item { optional: false, ..item.clone() });
    }
    let within = item.within.iter().any(|text| label::is_called(text, id));
    let below = item.headings.iter().any(|heading| label::holds_word(heading, id));
    (within || below).then(|| item.clone())
}

//! The criteria of all files together: those of the task, with the commands of the baseline.

use gate_core::decide::policy::CheckPolicy;
use serde_json::{Value, json};

use super::criteria::{Criteria, Criterion, Place};
use super::label;
use super::pattern::NamedFile;
use super::plan::{Item, Plan, PlanError, shown};
use super::read_plan;

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

    /// Adds an error that leaves criteria unknown.
    pub(in crate::checks) fn add_problem(&mut self, error: &PlanError) {
        self.problems.push(shown(&error.to_string()));
    }

    /// Reads a file, once.
    pub(in crate::checks) fn read_file(&mut self, file: &NamedFile, rules: &CheckPolicy) {
        if self.files.contains(&file.shown) {
            return;
        }
        match read_plan(file, rules) {
            Ok(plan) => {
                self.files.push(file.shown.clone());
                self.plans.push(plan);
            }
            Err(error) => self.add_problem(&error),
        }
    }

    /// The criteria of the files. Commands are those that the baseline's files give them: a
    /// command that the agent wrote shows nothing. A criterion of the baseline that is not there
    /// any more is open.
    pub(in crate::checks) fn finish(mut self, baseline_plans: &[(String, Plan)]) -> Criteria {
        for (file, baseline_plan) in baseline_plans {
            let Some(index) = self.files.iter().position(|name| name == file) else { continue };
            let items = &mut self.plans[index].items;
            for old_item in baseline_plan.items.iter().filter(|item| item.verify.is_some()) {
                match items.iter_mut().find(|item| item.text == old_item.text) {
                    Some(item) => item.baseline_verify.clone_from(&old_item.verify),
                    None => items.push(Item {
                        done: false,
                        baseline_verify: old_item.verify.clone(),
                        ..old_item.clone()
                    }),
                }
            }
        }
        self.select_task();
        let criteria = self.files.iter().zip(&self.plans).flat_map(|(file, plan)| {
            plan.items.iter().map(|item| Criterion {
                text: item.text.clone(),
                place: Some(Place { file: file.clone(), line: item.line }),
                done: item.done,
                mark: item.mark.clone(),
                optional: item.optional,
                verify: item.baseline_verify.clone(),
                ..Criterion::default()
            })
        });
        Criteria { list: criteria.collect(), files: self.file_details(), problems: self.problems }
    }

    /// Keeps the items of the task. Without a task, a file without any item is a problem.
    fn select_task(&mut self) {
        let selection = self.task.as_deref().map(|id| select(&self.plans, id));
        match (selection, &self.task) {
            (Some(Selection::Items(items_of_plans)), _) => {
                for (plan, items) in self.plans.iter_mut().zip(items_of_plans) {
                    plan.items = items;
                }
            }
            (Some(Selection::Nothing), Some(id)) => {
                let files = self.files.join(", ");
                self.problems.push(shown(&format!("no criterion of task {id} in {files}")));
                self.plans.iter_mut().for_each(|plan| plan.items.clear());
            }
            _ => self.report_empty_files(),
        }
    }

    fn report_empty_files(&mut self) {
        let files = self.files.iter().zip(&self.plans).filter(|(_, plan)| plan.items.is_empty());
        let problems = files.map(|(file, plan)| {
            let expected = if plan.format == "markdown" { "task list" } else { "issues" };
            PlanError::Empty { file: file.clone(), expected }.to_string()
        });
        self.problems.extend(problems);
    }

    fn file_details(&self) -> Vec<Value> {
        let details = self.files.iter().zip(&self.plans).map(|(file, plan)| {
            json!({
                "file": shown(file),
                "format": plan.format,
                "open": plan.count(|item| !item.optional && !item.done),
                "done": plan.count(|item| !item.optional && item.done),
                "optional": plan.count(|item| item.optional),
            })
        });
        details.collect()
    }
}

impl Plan {
    fn count(&self, is_counted: fn(&Item) -> bool) -> usize {
        self.items.iter().filter(|item| is_counted(item)).count()
    }
}

/// The items that a task's id selects.
#[derive(Debug, PartialEq, Eq)]
enum Selection {
    /// The items with this id, and those within or below an item or a heading with this id, plan by
    /// plan.
    Items(Vec<Vec<Item>>),
    /// No item has this id, and no plan calls its items by ids.
    Everything,
    /// No item has this id, although a plan calls its items by ids.
    Nothing,
}

/// Looks for a task in plans.
fn select(plans: &[Plan], id: &str) -> Selection {
    let items_of_plans: Vec<Vec<Item>> = plans
        .iter()
        .map(|plan| plan.items.iter().filter_map(|item| item_of_task(item, id)).collect())
        .collect();
    if items_of_plans.iter().any(|items| !items.is_empty()) {
        Selection::Items(items_of_plans)
    } else if plans.iter().any(|plan| plan.has_ids) {
        Selection::Nothing
    } else {
        Selection::Everything
    }
}

/// The item, if it belongs to the task. An item that has the id itself is not optional.
fn item_of_task(item: &Item, id: &str) -> Option<Item> {
    if label::is_called(&item.text, id) {
        return Some(Item { optional: false, ..item.clone() });
    }
    let is_within = item.within.iter().any(|text| label::is_called(text, id));
    let is_below = item.headings.iter().any(|heading| label::has_word(heading, id));
    (is_within || is_below).then(|| item.clone())
}

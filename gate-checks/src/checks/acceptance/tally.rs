//! Counts open and done criteria.

use gate_core::decide::evidence::Outcome;
use serde_json::{Value, json};

use super::pattern::Named;
use super::plan::{Item, Plan, PlanError, shown};
use super::read;
use super::selection::{Selection, select};

/// So many open items are named in the summary, and so many in the detail.
const NAMED: usize = 5;
const DETAILED: usize = 50;

/// The criteria of all files.
#[derive(Debug, Default)]
pub(in crate::checks) struct Tally {
    files: Vec<String>,
    plans: Vec<Plan>,
    problems: Vec<String>,
    task: Option<String>,
}

/// A tally's end.
#[derive(Debug, PartialEq)]
pub(in crate::checks) struct Verdict {
    pub(in crate::checks) outcome: Outcome,
    pub(in crate::checks) summary: String,
    pub(in crate::checks) detail: Value,
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
    pub(in crate::checks) fn read(&mut self, named: &Named, optional: &[String]) {
        if self.files.contains(&named.shown) {
            return;
        }
        match read(&named.path, &named.shown, optional) {
            Ok(plan) => {
                self.files.push(named.shown.clone());
                self.plans.push(plan);
            }
            Err(error) => self.problem(&error),
        }
    }

    /// The verdict. An open item is certain, even if a file could not be read. That all is done is
    /// certain only if every file could be read.
    pub(in crate::checks) fn verdict(mut self) -> Verdict {
        self.select();
        let open: Vec<(&str, &Item)> = self.items().filter(|(_, item)| item.blocks()).collect();
        let counting = self.items().filter(|(_, item)| !item.optional).count();
        let (outcome, summary) = if !open.is_empty() {
            (Outcome::Fail, format!("{} of {}: {}", open.len(), are_open(counting), names(&open)))
        } else if let Some(problem) = self.problems.first() {
            (Outcome::Inconclusive, problem.clone())
        } else if counting == 0 {
            (Outcome::Inconclusive, "no criteria were found that count".to_owned())
        } else {
            (Outcome::Pass, format!("{} as done", are_marked(counting)))
        };
        Verdict { outcome, summary, detail: self.detail(&open) }
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

    fn detail(&self, open: &[(&str, &Item)]) -> Value {
        let files = self.files.iter().zip(&self.plans).map(|(file, plan)| {
            json!({
                "file": shown(file),
                "format": plan.format,
                "open": plan.count(Item::blocks),
                "done": plan.count(|item| !item.optional && item.done),
                "optional": plan.count(|item| item.optional),
            })
        });
        let open = open.iter().take(DETAILED).map(|(file, item)| {
            json!({ "file": shown(file), "line": item.line, "text": shown(&item.text) })
        });
        let mut detail = json!({
            "files": files.collect::<Vec<_>>(),
            "open": open.collect::<Vec<_>>(),
        });
        if !self.problems.is_empty() {
            detail["problems"] = json!(self.problems);
        }
        detail
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

fn are_open(all: usize) -> String {
    if all == 1 { "1 criterion is open".to_owned() } else { format!("{all} criteria are open") }
}

fn are_marked(all: usize) -> String {
    if all == 1 {
        "the only criterion is marked".to_owned()
    } else {
        format!("all {all} criteria are marked")
    }
}

fn names(open: &[(&str, &Item)]) -> String {
    let mut names = Vec::new();
    for (file, item) in open.iter().take(NAMED) {
        let text = shown(&item.text);
        names.push(if text.is_empty() { format!("{}:{}", shown(file), item.line) } else { text });
    }
    if open.len() > NAMED {
        names.push(format!("and {} more", open.len() - NAMED));
    }
    names.join("; ")
}

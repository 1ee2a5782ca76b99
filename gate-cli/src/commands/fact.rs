//! `gate fact`: what was found out, written down.

mod args;

use gate_fleet::fact::{Fact as Found, Scope, slug};
use gate_fleet::run::RunInfo;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::json;

pub(crate) use self::args::{Add, Fact, FactOwner, Promote};
use super::bus::{body_text, project};
use super::common::DONE;
use crate::context::Here;
use crate::failure::Failure;
use crate::governance::{self, Caller, Project, Promoted, Promotion, Source, Task};
use crate::render::{self, print};

pub(super) fn run(here: &Here, args: &Fact) -> Result<u8, Failure> {
    match args {
        Fact::Add(args) => add(here, args),
        Fact::Promote(args) => promote(here, args),
    }
}

/// The project and the task that a fact is about, and the caller.
struct FactContext {
    project: Project,
    task: Option<Task>,
    caller: Caller,
    /// The record of the run that the caller names.
    named: Option<RunInfo>,
}

impl FactContext {
    fn new(here: &Here, owner: &FactOwner) -> Result<Self, Failure> {
        let project = project(here, owner.root.as_deref(), owner.project.as_deref())?;
        let caller = Caller::from_process(&project)?;
        let own = caller.run.as_ref().map(|info| info.task_id.as_str());
        let task = owner.task.as_deref().or(own).map(|id| project.task(id)).transpose()?;
        let named = owner.run.as_deref().map(|id| project.run(id)).transpose()?.flatten();
        let named = named.and_then(|run| run.info().ok());
        Ok(Self { project, task, caller, named })
    }

    fn may_promote(&self) -> Result<(), Failure> {
        self.caller.may_promote(self.named.as_ref())
    }
}

fn add(here: &Here, args: &Add) -> Result<u8, Failure> {
    slug(&args.name).map_err(|error| Failure::usage("fact-name-invalid", error.to_string()))?;
    let context = FactContext::new(here, &args.owner)?;
    let known = if context.task.is_some() { Scope::Task } else { Scope::Project };
    let scope = args.scope.unwrap_or(known);
    let folder = match (scope, &context.task) {
        (Scope::Task, Some(task)) => task.folder(),
        (Scope::Task, None) => {
            return Err(Failure::usage("usage", "--scope task: --task has to say which"));
        }
        (Scope::Project, _) => context.project.folder(),
        (Scope::Global, _) => context.project.runs().global(),
    };
    if scope != Scope::Task {
        context.may_promote()?;
    }
    let title = gate_core::text::clean(args.title.as_deref().unwrap_or(&args.name));
    let mut fact =
        Found::new(Timestamp::now(), scope, &title, &body_text(args.body.as_deref(), "fact")?);
    fact.run_id = context.caller.speaks_for(args.owner.run.as_deref())?;
    let found = governance::add(&folder, fact, &args.name)?;
    let file = found.path.display().to_string();
    print(&if args.json {
        render::json(&json!({ "file": file, "scope": scope.name(), "title": title }))?
    } else {
        format!("{file}\n")
    })?;
    Ok(DONE)
}

fn promote(here: &Here, args: &Promote) -> Result<u8, Failure> {
    let context = FactContext::new(here, &args.owner)?;
    context.may_promote()?;
    let tasks = match &args.owner.task {
        Some(_) => context.task.iter().cloned().collect(),
        None => context.project.tasks()?,
    };
    let chosen = if args.all { Promotion::all(&tasks)? } else { chosen(&tasks, &args.what)? };
    let mut outcomes = Vec::new();
    for promotion in chosen {
        let source = source_name(&promotion.source);
        let title = promotion.fact.title.clone();
        let promoted = promotion.promote(&context.project, args.name.as_deref(), args.dry_run)?;
        let (outcome, file) = match promoted {
            Promoted::Written(path) => ("promoted", Some(path.display().to_string())),
            Promoted::Would => ("would-promote", None),
            Promoted::Known(path) => ("known", Some(path.display().to_string())),
        };
        outcomes.push(Outcome { source, title, outcome, file });
    }
    print(&if args.json {
        render::json(&json!({ "facts": outcomes }))?
    } else if outcomes.is_empty() {
        "nothing to promote\n".to_owned()
    } else {
        outcomes.iter().map(Outcome::line).collect()
    })?;
    Ok(DONE)
}

/// The facts that these words name, all of them or none.
fn chosen(tasks: &[Task], what: &[String]) -> Result<Vec<Promotion>, Failure> {
    let mut all = Promotion::all(tasks)?;
    let mut chosen = Vec::new();
    for named in what {
        let at = all.iter().position(|promotion| promotion.is(named)).ok_or_else(|| {
            let message = format!("{named}: no message of type FACT and no file of a fact here");
            Failure::usage("unknown-fact", message)
                .hint("`gate fact promote --all --dry-run` lists what there is")
        })?;
        chosen.push(all.swap_remove(at));
    }
    Ok(chosen)
}

fn source_name(source: &Source) -> String {
    match source {
        Source::Message(id) => id.clone(),
        Source::File(path) => path.display().to_string(),
    }
}

/// A fact with what became of it.
#[derive(Serialize)]
struct Outcome {
    source: String,
    title: String,
    outcome: &'static str,
    /// The project's file; none in a dry run.
    file: Option<String>,
}

impl Outcome {
    fn line(&self) -> String {
        let Self { source, title, outcome, file } = self;
        match file {
            None => format!("would promote {source}: {title}\n"),
            Some(file) if *outcome == "known" => format!("known {source}, from {file}\n"),
            Some(file) => format!("promoted {source} to {file}\n"),
        }
    }
}

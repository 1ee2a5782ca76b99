//! `gate fact`: what was found out, written down.

use gate_core::protocol::fact::{Fact as Found, Scope, slug};
use gate_core::protocol::run::RunInfo;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::bus::{project, said};
use super::common::DONE;
use crate::args::{Add, Fact, Promote, ScopeName, Whose};
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

/// Who asks, and about what.
struct Asked {
    project: Project,
    task: Option<Task>,
    caller: Caller,
    /// The record of the run that the caller names.
    named: Option<RunInfo>,
}

impl Asked {
    fn of(here: &Here, whose: &Whose) -> Result<Self, Failure> {
        let project = project(here, whose.root.as_deref(), whose.project.as_deref())?;
        let caller = Caller::of_process(&project)?;
        let own = caller.run.as_ref().map(|info| info.task_id.as_str());
        let task = whose.task.as_deref().or(own).map(|id| project.task(id)).transpose()?;
        let named = whose.run.as_deref().map(|id| project.run(id)).transpose()?.flatten();
        let named = named.and_then(|run| run.info().ok());
        Ok(Self { project, task, caller, named })
    }

    fn may_promote(&self) -> Result<(), Failure> {
        self.caller.may_promote(self.named.as_ref())
    }
}

fn add(here: &Here, args: &Add) -> Result<u8, Failure> {
    slug(&args.name).map_err(|error| Failure::usage("fact-name-invalid", error.to_string()))?;
    let asked = Asked::of(here, &args.whose)?;
    let known = if asked.task.is_some() { Scope::Task } else { Scope::Project };
    let scope = args.scope.map_or(known, ScopeName::into);
    let folder = match (scope, &asked.task) {
        (Scope::Task, Some(task)) => task.folder(),
        (Scope::Task, None) => {
            return Err(Failure::usage("usage", "--scope task: --task has to say which"));
        }
        (Scope::Project, _) => asked.project.folder(),
        (Scope::Global, _) => asked.project.runs().global(),
    };
    if scope != Scope::Task {
        asked.may_promote()?;
    }
    let title = gate_core::text::clean(args.title.as_deref().unwrap_or(&args.name));
    let mut fact =
        Found::new(Timestamp::now(), scope, &title, &said(args.body.as_deref(), "fact")?);
    fact.run_id = asked.caller.speaks_for(args.whose.run.as_deref())?;
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
    let asked = Asked::of(here, &args.whose)?;
    asked.may_promote()?;
    let tasks = match &args.whose.task {
        Some(_) => asked.task.iter().cloned().collect(),
        None => asked.project.tasks()?,
    };
    let chosen = if args.all { Promotion::all(&tasks)? } else { chosen(&tasks, &args.what)? };
    let mut told = Vec::new();
    for promotion in chosen {
        let source = shown(&promotion.source);
        let title = promotion.fact.title.clone();
        let promoted = promotion.promote(&asked.project, args.name.as_deref(), args.dry_run)?;
        told.push((source, title, promoted));
    }
    print(&if args.json { render::json(&as_json(&told))? } else { as_text(&told) })?;
    Ok(DONE)
}

/// The facts that these words name, all of them or none.
fn chosen(tasks: &[Task], what: &[String]) -> Result<Vec<Promotion>, Failure> {
    let mut all = Promotion::all(tasks)?;
    let mut chosen = Vec::new();
    for named in what {
        let at = all.iter().position(|it| it.is(named)).ok_or_else(|| {
            let message = format!("{named}: no message of type FACT and no file of a fact here");
            Failure::usage("unknown-fact", message)
                .hint("`gate fact promote --all --dry-run` lists what there is")
        })?;
        chosen.push(all.swap_remove(at));
    }
    Ok(chosen)
}

fn shown(source: &Source) -> String {
    match source {
        Source::Message(id) => id.clone(),
        Source::File(path) => path.display().to_string(),
    }
}

fn as_text(told: &[(String, String, Promoted)]) -> String {
    let line = |(source, title, promoted): &(String, String, Promoted)| match promoted {
        Promoted::Written(path) => format!("promoted {source} to {}\n", path.display()),
        Promoted::Would => format!("would promote {source}: {title}\n"),
        Promoted::Known(path) => format!("known {source}, from {}\n", path.display()),
    };
    if told.is_empty() {
        "nothing to promote\n".to_owned()
    } else {
        told.iter().map(line).collect()
    }
}

fn as_json(told: &[(String, String, Promoted)]) -> Value {
    let fact = |(source, title, promoted): &(String, String, Promoted)| {
        let (outcome, file) = match promoted {
            Promoted::Written(path) => ("promoted", Some(path.display().to_string())),
            Promoted::Would => ("would-promote", None),
            Promoted::Known(path) => ("known", Some(path.display().to_string())),
        };
        json!({ "source": source, "title": title, "outcome": outcome, "file": file })
    };
    json!({ "facts": told.iter().map(fact).collect::<Vec<_>>() })
}

impl Fact {
    /// Whether the answer is JSON.
    pub(super) fn json(&self) -> bool {
        match self {
            Self::Add(args) => args.json,
            Self::Promote(args) => args.json,
        }
    }
}

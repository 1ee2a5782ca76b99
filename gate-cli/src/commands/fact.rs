//! `gate fact`: facts about a task or a project, written down for later agents.

mod args;

use gate_fleet::disk::{AddFact, Finder, PromotionRecord, Task};
use gate_fleet::fact::{self, Scope};
use jiff::Timestamp;
use serde_json::json;

pub(crate) use self::args::{Add, Fact, FactOwner, Promote};
use super::bus::{body_text, project, shared_memory};
use super::common::DONE;
use crate::failure::Failure;
use crate::governance::{self, Promotion};
use crate::invocation::Invocation;
use crate::render::{self, print};
use crate::secrets;

pub(super) fn run(invocation: &Invocation, args: &Fact) -> Result<u8, Failure> {
    match args {
        Fact::Add(args) => add(invocation, args),
        Fact::Promote(args) => promote(invocation, args),
    }
}

fn finder(invocation: &Invocation, owner: &FactOwner) -> Result<Finder, Failure> {
    let project = project(invocation, owner.root.as_deref(), owner.project.as_deref())?;
    let caller = governance::caller(&project)?;
    Finder::new(project, caller, owner.task.as_deref(), owner.run.as_deref())
}

fn add(invocation: &Invocation, args: &Add) -> Result<u8, Failure> {
    fact::slug(&args.name)
        .map_err(|error| Failure::usage("fact-name-invalid", error.to_string()))?;
    let finder = finder(invocation, &args.owner)?;
    let scope = args.scope.unwrap_or_else(|| finder.usual_scope());
    let folder = finder.folder(scope)?;
    let title = gate_core::text::clean(args.title.as_deref().unwrap_or(&args.name));
    let body = body_text(args.body.as_deref(), "fact")?;
    let mut fact = fact::Fact::new(Timestamp::now(), scope, &title, &body);
    fact.run_id = finder.caller.speaks_for(args.owner.run.as_deref())?;
    let memory = match scope {
        Scope::Global => None,
        Scope::Task | Scope::Project => shared_memory(invocation, &finder.project)?,
    };
    let file = match memory {
        Some(mut memory) => {
            let task = finder.task.as_ref().map(Task::id);
            memory.add_fact(&finder.project, task, fact, &args.name)?
        }
        None => governance::add(&folder, fact, &args.name)?.path,
    };
    let file = file.display().to_string();
    print(&if args.json {
        render::json(&json!({ "file": file, "scope": scope.name(), "title": title }))?
    } else {
        format!("{file}\n")
    })?;
    Ok(DONE)
}

fn promote(invocation: &Invocation, args: &Promote) -> Result<u8, Failure> {
    let finder = finder(invocation, &args.owner)?;
    finder.may_promote()?;
    let mut memory = shared_memory(invocation, &finder.project)?;
    if let Some(memory) = &mut memory {
        memory.pull_notices(&finder.project)?;
    }
    let tasks = match &args.owner.task {
        Some(_) => finder.task.iter().cloned().collect(),
        None => finder.project.tasks()?,
    };
    let promotions = match args.all {
        true => Promotion::all(&tasks)?,
        false => Promotion::chosen(&tasks, &args.what)?,
    };
    let mut records = Vec::new();
    for promotion in promotions {
        let (source, title) = (promotion.source.clone(), promotion.fact.title.clone());
        let name = args.name.as_deref();
        let mut add = |fact, name: &str| match &mut memory {
            Some(memory) => memory.add_fact(&finder.project, None, fact, name),
            None => Ok(governance::add(&finder.project.folder(), fact, name)?.path),
        };
        let add: Option<AddFact<'_>> = if args.dry_run { None } else { Some(&mut add) };
        let promoted = promotion.promote(&finder.project, name, secrets::masker(), add)?;
        records.push(PromotionRecord::new(&source, title, &promoted));
    }
    print(&if args.json {
        render::json(&json!({ "facts": records }))?
    } else if records.is_empty() {
        "nothing to promote\n".to_owned()
    } else {
        records.iter().map(PromotionRecord::line).collect()
    })?;
    Ok(DONE)
}

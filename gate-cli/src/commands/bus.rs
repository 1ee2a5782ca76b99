//! `gate bus`: messages between runs and agents.

mod args;
mod read;

use std::io::{self, IsTerminal, Read as _};
use std::path::Path;

use gate_fleet::bus::{Link, Message, Parent, is_runner_type};
use gate_fleet::disk::{self, BusSearch, BusTarget, named_project};
use gate_fleet::run;

pub(crate) use self::args::{Bus, BusArgs, Poll, Post, Read};
use super::common::DONE;
use crate::failure::Failure;
use crate::governance::{self, Caller, Project, project_here};
use crate::invocation::Invocation;
use crate::memory::Memory;
use crate::render::{self, print};
use crate::settings::{self, Selection};

/// The most bytes that are read from the standard input. It is more than a body may have, so
/// that a body that is too long is refused as such.
const MAX_INPUT_BYTES: u64 = 2 << 20;

pub(super) fn run(invocation: &Invocation, args: &Bus) -> Result<u8, Failure> {
    match args {
        Bus::Post(args) => post(invocation, args),
        Bus::Read(args) => read::run(invocation, args),
        Bus::Poll(args) => read::poll(invocation, args),
        Bus::Discover { place, json } => discover(invocation, place, *json),
    }
}

fn post(invocation: &Invocation, args: &Post) -> Result<u8, Failure> {
    refuse_runner_type(&args.kind)?;
    let Addressee { target, caller } = addressee(invocation, &args.place)?;
    check_project_id(&target.project_id)?;
    let draft = Message {
        task_id: target.task_id,
        run_id: caller.speaks_for(args.run.as_deref())?,
        parents: args.parents.iter().map(|id| Parent::new(id)).collect(),
        links: args.links.iter().map(|url| Link { url: url.clone(), ..Link::default() }).collect(),
        meta: args.meta.clone(),
        body: body_text(args.body.as_deref(), "text to post")?,
        ..Message::new(&args.kind, &target.project_id)
    };
    let message = match shared_bus(invocation, &target.bus)? {
        Some(mut shared) => shared.memory.post_message(&shared.project, &shared.task, draft)?,
        None => target.bus.append(draft)?,
    };
    print(&if args.json {
        let bus = target.bus.path().display().to_string();
        render::json(
            &serde_json::json!({ "msg_id": message.msg_id, "bus": bus, "message": message }),
        )?
    } else {
        format!("msg_id: {}\n", message.msg_id)
    })?;
    Ok(DONE)
}

/// Fails on a type that only the runner may post.
fn refuse_runner_type(kind: &str) -> Result<(), Failure> {
    if !is_runner_type(kind) {
        return Ok(());
    }
    let message =
        format!("--type {kind}: only the runner says when a run starts, stops or crashes");
    Err(Failure::usage("runners-type", message).hint("say it with --type INFO or PROGRESS"))
}

/// The bus that the arguments mean, and who calls.
struct Addressee {
    target: BusTarget,
    /// The run whose agent calls, if any.
    caller: Caller,
}

fn addressee(invocation: &Invocation, place: &BusArgs) -> Result<Addressee, Failure> {
    let folder = &invocation.places.folder;
    let name = place.name(folder);
    let search =
        BusSearch { name: &name, folder, project_here: &|| project_here(&invocation.places) };
    let caller = match search.project_of_caller()? {
        Some(project) => governance::caller(&project)?,
        None => Caller::default(),
    };
    Ok(Addressee { target: search.target(&caller)?, caller })
}

/// A bus of the project that gate was called in, whose machines share it in a database.
struct SharedBus {
    memory: Memory,
    project: Project,
    /// The task's id; empty for the project's bus.
    task: String,
}

/// The bus in the database; `None` if it is a file of this machine alone.
fn shared_bus(invocation: &Invocation, bus: &disk::Bus) -> Result<Option<SharedBus>, Failure> {
    if !invocation.places.names_database() {
        return Ok(None);
    }
    let project = project_here(&invocation.places)?;
    let Some(task) = project.task_of_bus(bus) else { return Ok(None) };
    Ok(shared_memory(invocation, &project)?.map(|memory| SharedBus { memory, project, task }))
}

/// The database in which machines share this project; `None` without such a database, or if gate was
/// called in another project.
pub(super) fn shared_memory(
    invocation: &Invocation,
    project: &Project,
) -> Result<Option<Memory>, Failure> {
    if !invocation.places.names_database() || project_here(&invocation.places)? != *project {
        return Ok(None);
    }
    let policy = settings::resolve(&invocation.places, &Selection::default())?.policy;
    let memory = invocation.memory(&policy)?;
    Ok(memory.shares(project).then_some(memory))
}

/// The project with this id, or the one that gate was called in.
pub(super) fn project(
    invocation: &Invocation,
    root: Option<&Path>,
    id: Option<&str>,
) -> Result<Project, Failure> {
    let root = root.map(|root| invocation.places.folder.join(root));
    named_project(root.as_deref(), id, &|| project_here(&invocation.places))
}

/// A project's id names its folder as well, so not every text is one.
fn check_project_id(id: &str) -> Result<(), Failure> {
    match run::folder_name(id) {
        Ok(_) => Ok(()),
        Err(error) => Err(Failure::usage("project-invalid", error.to_string())),
    }
}

fn discover(invocation: &Invocation, place: &BusArgs, json: bool) -> Result<u8, Failure> {
    let Addressee { target, .. } = addressee(invocation, place)?;
    let exists = target.bus.path().is_file();
    let path = target.bus.path().display();
    print(&if json {
        render::json(&serde_json::json!({
            "bus": path.to_string(), "exists": exists,
            "project_id": target.project_id, "task_id": target.task_id,
        }))?
    } else {
        format!("{path}{}\n", if exists { "" } else { " (nothing was posted there yet)" })
    })?;
    Ok(DONE)
}

/// The text of `--body`, else of the standard input. `noun` names the text in a failure.
pub(super) fn body_text(flag: Option<&str>, noun: &str) -> Result<String, Failure> {
    if let Some(text) = flag {
        return Ok(text.to_owned());
    }
    let missing = Failure::usage("usage", format!("there is no {noun}"))
        .hint("give it with --body, or on the standard input");
    if io::stdin().is_terminal() {
        return Err(missing);
    }
    let mut text = String::new();
    io::stdin().lock().take(MAX_INPUT_BYTES).read_to_string(&mut text).map_err(|error| {
        Failure::usage("input-unreadable", format!("the {noun} on the standard input: {error}"))
    })?;
    if text.trim().is_empty() { Err(missing) } else { Ok(text) }
}

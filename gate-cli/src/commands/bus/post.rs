//! `gate bus post`: a message from an agent or a person.

use gate_fleet::bus::{Draft, Link, Parent, is_runners};
use gate_fleet::run;

use super::super::common::DONE;
use super::Post;
use super::{body_text, target};
use crate::context::Here;
use crate::failure::Failure;
use crate::render::{self, print};

pub(super) fn run(here: &Here, args: &Post) -> Result<u8, Failure> {
    allowed(&args.kind)?;
    let caller = target::caller(here, &args.place)?;
    let destination = target::resolve(here, &args.place, &caller)?;
    known_project(&destination.project_id)?;
    let draft = Draft {
        task_id: destination.task_id,
        run_id: caller.speaks_for(args.run.as_deref())?,
        parents: args.parents.iter().map(|id| Parent::new(id)).collect(),
        links: args.links.iter().map(|url| Link { url: url.clone(), ..Link::default() }).collect(),
        meta: args.meta.clone(),
        body: body_text(args.body.as_deref(), "text to post")?,
        ..Draft::new(&args.kind, &destination.project_id)
    };
    let message = destination.bus.append(draft)?;
    print(&if args.json {
        let bus = destination.bus.path().display().to_string();
        render::json(
            &serde_json::json!({ "msg_id": message.msg_id, "bus": bus, "message": message }),
        )?
    } else {
        format!("msg_id: {}\n", message.msg_id)
    })?;
    Ok(DONE)
}

/// Fails on a type that only the runner may post.
fn allowed(kind: &str) -> Result<(), Failure> {
    if !is_runners(kind) {
        return Ok(());
    }
    let message =
        format!("--type {kind}: only the runner says when a run starts, stops or crashes");
    Err(Failure::usage("runners-type", message).hint("say it with --type INFO or PROGRESS"))
}

fn known_project(id: &str) -> Result<(), Failure> {
    match run::folder_name(id) {
        Ok(_) => Ok(()),
        Err(error) => Err(Failure::usage("project-invalid", error.to_string())),
    }
}

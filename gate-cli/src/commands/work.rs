//! `gate work`: work items, and who has them.

mod args;
mod ci;

use std::io::{self, Read};
use std::path::Path;

use gate_core::text;
use gate_fleet::work::{
    LeaseRecord, LeaseState, MAX_DESCRIPTION, WorkItem, WorkList, WorkRecord, held_again,
    work_card, work_list,
};
use serde_json::json;

pub(super) use ci::checked;

pub(crate) use self::args::{AddWork, Ci, CiResult, ClaimWork, LeaseArgs, ListWork, Unblock, Work};
use super::common::DONE;
use super::log;
use crate::failure::Failure;
use crate::governance::project_here;
use crate::invocation::Invocation;
use crate::memory::{Claim, LeaseRef, Memory};
use crate::render::{self, print};
use crate::store::{Claimable, Item};

/// Exit code if nothing can be claimed, or if CI failed.
const NEGATIVE: u8 = 1;

pub(super) fn run(invocation: &Invocation, args: &Work) -> Result<u8, Failure> {
    match args {
        Work::Add(args) => add(invocation, &mut log::opened(invocation)?, args),
        Work::Claim(args) => claim(invocation, &mut log::opened(invocation)?, args),
        Work::Renew { lease, ttl } => answer(&mut log::opened(invocation)?, lease.json, |memory| {
            memory.renew(lease.handed(), *ttl)
        }),
        Work::Release(lease) => answer(&mut log::opened(invocation)?, lease.json, |memory| {
            memory.release(lease.handed())
        }),
        Work::Unblock(args) => unblock(&mut log::opened(invocation)?, args),
        Work::Ci(args) => ci::run(invocation, args),
        Work::Show(args) => {
            answer(&mut log::opened(invocation)?, args.json, |memory| memory.work(&args.id))
        }
        Work::List(args) => list(&mut log::opened(invocation)?, args),
    }
}

fn add(invocation: &Invocation, memory: &mut Memory, args: &AddWork) -> Result<u8, Failure> {
    let file = args.file.as_deref().map(|file| read_description(&invocation.places.folder, file));
    let description = file.transpose()?.unwrap_or_default();
    let work = WorkItem::new(&args.id, &args.title, &description, args.phase)?;
    answer(memory, args.json, |memory| memory.add_work(&work, args.actor.as_deref()))
}

/// A description from a file. Of one that is too long, only one byte more than allowed is
/// read: enough to refuse it.
fn read_description(folder: &Path, file: &Path) -> Result<String, Failure> {
    let most = MAX_DESCRIPTION as u64 + 1;
    let mut text = String::new();
    let read = if file == Path::new("-") {
        io::stdin().lock().take(most).read_to_string(&mut text)
    } else {
        let opened = std::fs::File::open(folder.join(file));
        opened.and_then(|opened| opened.take(most).read_to_string(&mut text))
    };
    read.map_err(|error| Failure::file("input-unreadable", "read", file, &error))?;
    Ok(text)
}

fn claim(invocation: &Invocation, memory: &mut Memory, args: &ClaimWork) -> Result<u8, Failure> {
    let which = Claimable { phase: args.phase, id: args.id.as_deref() };
    let (wait, request) = (args.wait.unwrap_or_default(), args.request.as_deref());
    let claim = Claim { actor: &args.actor, which, ttl: args.ttl, wait, request };
    let began = memory.lease_time()?;
    let Some(item) = memory.claim(&claim, &|| false)? else {
        let why = args.id.as_deref().map(|id| memory.unclaimable(id)).transpose()?.flatten();
        let why = why.map(|why| why.to_string());
        print(&if args.json {
            render::json(&json!({ "work": null, "error": why }))?
        } else {
            let why = why.unwrap_or_else(|| "there is nothing to claim".to_owned());
            format!("{}\n", text::clean(&why))
        })?;
        return Ok(NEGATIVE);
    };
    let handoff = handoff(invocation, memory, &item.work.id);
    print(&if args.json {
        render::json(&LeaseRecord::new(&item).map(|lease| lease.with_handoff(handoff)))?
    } else {
        let issued = item.lease.as_ref().map(|lease| lease.issued_at.as_millisecond());
        let is_older = issued.is_some_and(|issued| issued < began.as_millisecond());
        let again = if is_older { held_again(&item) } else { String::new() };
        again + &work_card(&item, LeaseState::Active, handoff.as_deref())
    })?;
    Ok(DONE)
}

/// The file of the latest handoff of a work item, where machines share the project. The item is
/// claimed already, so a handoff that cannot be had is only a remark.
pub(super) fn handoff(invocation: &Invocation, memory: &mut Memory, work: &str) -> Option<String> {
    if !invocation.places.names_database() {
        return None;
    }
    let project = project_here(&invocation.places).ok().filter(|project| memory.shares(project))?;
    match memory.handoff_of_work(&project, work) {
        Ok(file) => file.map(|file| file.display().to_string()),
        Err(failure) => {
            render::notes(&[format!("no handoff could be looked for: {}", failure.message)]);
            None
        }
    }
}

fn unblock(memory: &mut Memory, args: &Unblock) -> Result<u8, Failure> {
    let by = (args.actor.as_deref(), args.reason.as_deref());
    answer(memory, args.json, |memory| memory.unblock(&args.id, args.phase, by))
}

fn list(memory: &mut Memory, args: &ListWork) -> Result<u8, Failure> {
    let now = memory.lease_time()?;
    let items = memory.works(|item| {
        let holder = item.active_lease(now).map(|lease| &lease.actor_id);
        args.phase.is_none_or(|phase| item.work.state.phase == phase)
            && args.actor.as_ref().is_none_or(|actor| holder == Some(actor))
    })?;
    print(&if args.json {
        render::json(&WorkList::new(&items, now))?
    } else {
        render::fitted(&work_list(&items, now))
    })?;
    Ok(DONE)
}

/// Does the work, and shows the item afterwards.
fn answer(
    memory: &mut Memory,
    json: bool,
    work: impl FnOnce(&mut Memory) -> Result<Item, Failure>,
) -> Result<u8, Failure> {
    let item = work(memory)?;
    let now = memory.lease_time()?;
    print(&if json {
        render::json(&WorkRecord::new(&item, now))?
    } else {
        let state = item.lease.as_ref().map_or(LeaseState::Released, |lease| lease.state(now));
        work_card(&item, state, None)
    })?;
    Ok(DONE)
}

impl LeaseArgs {
    fn handed(&self) -> LeaseRef<'_> {
        LeaseRef { work: &self.id, lease: self.lease.as_deref(), actor: &self.actor }
    }
}

//! `gate work`: work items, and the leases on them.

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
        Work::Add(args) => add(invocation, &mut log::open_ledger(invocation)?, args),
        Work::Claim(args) => claim(invocation, &mut log::open_ledger(invocation)?, args),
        Work::Renew { lease, ttl } => {
            answer(&mut log::open_ledger(invocation)?, lease.json, |memory| {
                memory.renew(lease.lease_ref(), *ttl)
            })
        }
        Work::Release(lease) => answer(&mut log::open_ledger(invocation)?, lease.json, |memory| {
            memory.release(lease.lease_ref())
        }),
        Work::Unblock(args) => unblock(&mut log::open_ledger(invocation)?, args),
        Work::Ci(args) => ci::run(invocation, args),
        Work::Show(args) => {
            answer(&mut log::open_ledger(invocation)?, args.json, |memory| memory.work(&args.id))
        }
        Work::List(args) => list(&mut log::open_ledger(invocation)?, args),
    }
}

fn add(invocation: &Invocation, memory: &mut Memory, args: &AddWork) -> Result<u8, Failure> {
    let description = match args.file.as_deref() {
        Some(file) => read_description(&invocation.places.folder, file)?,
        None => String::new(),
    };
    let work = WorkItem::new(&args.id, &args.title, &description, args.phase)?;
    answer(memory, args.json, |memory| memory.add_work(&work, args.actor.as_deref()))
}

/// A description from a file, up to one byte more than it may have: enough to refuse it.
fn read_description(folder: &Path, file: &Path) -> Result<String, Failure> {
    let most_bytes = MAX_DESCRIPTION as u64 + 1;
    let mut text = String::new();
    let outcome = if file == Path::new("-") {
        io::stdin().lock().take(most_bytes).read_to_string(&mut text)
    } else {
        std::fs::File::open(folder.join(file))
            .and_then(|file| file.take(most_bytes).read_to_string(&mut text))
    };
    outcome.map_err(|error| Failure::file("input-unreadable", "read", file, &error))?;
    Ok(text)
}

fn claim(invocation: &Invocation, memory: &mut Memory, args: &ClaimWork) -> Result<u8, Failure> {
    let selection = Claimable { phase: args.phase, id: args.id.as_deref() };
    let (wait, request) = (args.wait.unwrap_or_default(), args.request.as_deref());
    let claim = Claim { actor: &args.actor, selection, ttl: args.ttl, wait, request };
    let start = memory.lease_time()?;
    let Some(item) = memory.claim(&claim, &|| false)? else {
        let obstacle = match args.id.as_deref() {
            Some(id) => memory.unclaimable(id)?.map(|error| error.to_string()),
            None => None,
        };
        print(&if args.json {
            render::json(&json!({ "work": null, "error": obstacle }))?
        } else {
            let message = obstacle.as_deref().unwrap_or("there is nothing to claim");
            format!("{}\n", text::clean(message))
        })?;
        return Ok(NEGATIVE);
    };
    let handoff = handoff(invocation, memory, &item.work.id);
    print(&if args.json {
        render::json(&LeaseRecord::new(&item).map(|lease| lease.with_handoff(handoff)))?
    } else {
        // The holder of a lease gets it again. It is older than this claim then; a lease holds
        // milliseconds.
        let issued = item.lease.as_ref().map(|lease| lease.issued_at.as_millisecond());
        let is_held_again = issued.is_some_and(|issued| issued < start.as_millisecond());
        let note = if is_held_again { held_again(&item) } else { String::new() };
        note + &work_card(&item, LeaseState::Active, handoff.as_deref())
    })?;
    Ok(DONE)
}

/// The file of the latest handoff of a work item, where machines share the project. The item is
/// claimed already, so a failure to get its handoff is only a remark.
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
    let (actor, reason) = (args.actor.as_deref(), args.reason.as_deref());
    answer(memory, args.json, |memory| memory.unblock(&args.id, args.phase, actor, reason))
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

/// Changes or reads an item, and shows it as it is afterwards.
fn answer(
    memory: &mut Memory,
    json: bool,
    act: impl FnOnce(&mut Memory) -> Result<Item, Failure>,
) -> Result<u8, Failure> {
    let item = act(memory)?;
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
    fn lease_ref(&self) -> LeaseRef<'_> {
        LeaseRef { work: &self.id, lease: self.lease.as_deref(), actor: &self.actor }
    }
}

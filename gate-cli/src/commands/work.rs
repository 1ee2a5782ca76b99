//! `gate work`: work items, and who has them.

mod ci;
mod record;

use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;

use gate_core::exit::WorkPhase;
use gate_core::work::{LeaseState, MAX_DESCRIPTION, WorkItem};

pub(super) use ci::checked;
pub use record::{LeaseRecord, WorkList, WorkRecord};

use super::{DONE, Here, print};
use crate::args::{AddWork, ClaimWork, Held, ListWork, Unblock, Work};
use crate::failure::Failure;
use crate::memory::{Claim, Handed, Memory};
use crate::render;
use crate::settings::{self, Selection};
use crate::store::{Claimable, Item};

/// Exit code where nothing can be claimed, and of a CI that failed.
const NOT: u8 = 1;

pub(super) fn run(here: &Here, args: &Work) -> Result<u8, Failure> {
    if let Work::Ci(args) = args {
        return ci::run(here, args);
    }
    let mut memory = opened(here)?;
    match args {
        Work::Add(args) => add(here, &mut memory, args),
        Work::Claim(args) => claim(&mut memory, args),
        Work::Renew { held, ttl } => renew(&mut memory, held, *ttl),
        Work::Release(held) => {
            let item = memory.release(held.handed())?;
            answer(&mut memory, &item, held.json)
        }
        Work::Unblock(args) => unblock(&mut memory, args),
        Work::Show(args) => {
            let item = memory.work(&args.id)?;
            answer(&mut memory, &item, args.json)
        }
        Work::List(args) => list(&mut memory, args),
        Work::Ci(_) => unreachable!("it was looked at before"),
    }
}

/// What the project's work is remembered by.
pub(super) fn opened(here: &Here) -> Result<Memory, Failure> {
    here.memory(&settings::resolve(&here.places, &Selection::default())?.policy)
}

fn add(here: &Here, memory: &mut Memory, args: &AddWork) -> Result<u8, Failure> {
    let file = args.file.as_deref().map(|file| described(&here.places.folder, file));
    let description = file.transpose()?.unwrap_or_default();
    let work = WorkItem::new(&args.id, &args.title, &description, args.phase)?;
    let item = memory.add_work(&work, args.actor.as_deref())?;
    answer(memory, &item, args.json)
}

/// What a file says is to be done. Of a longer one as much is read as is needed to
/// see that it is.
fn described(folder: &Path, file: &Path) -> Result<String, Failure> {
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

fn claim(memory: &mut Memory, args: &ClaimWork) -> Result<u8, Failure> {
    let which = Claimable { phase: args.phase, id: args.id.as_deref() };
    let claim =
        Claim { actor: &args.actor, which, ttl: args.ttl, wait: args.wait.unwrap_or_default() };
    let Some(item) = memory.claim(&claim, &|| false)? else {
        print(if args.json { "{\"work\":null}\n" } else { "there is nothing to claim\n" })?;
        return Ok(NOT);
    };
    let lease = LeaseRecord::of(&item);
    print(&if args.json {
        render::json(&lease)?
    } else {
        render::work_card(&item, LeaseState::Active)
    })?;
    Ok(DONE)
}

fn renew(memory: &mut Memory, held: &Held, ttl: Duration) -> Result<u8, Failure> {
    let item = memory.renew(held.handed(), ttl)?;
    answer(memory, &item, held.json)
}

fn unblock(memory: &mut Memory, args: &Unblock) -> Result<u8, Failure> {
    let by = (args.actor.as_deref(), args.reason.as_deref());
    let item = memory.unblock(&args.id, args.phase, by)?;
    answer(memory, &item, args.json)
}

fn list(memory: &mut Memory, args: &ListWork) -> Result<u8, Failure> {
    let now = memory.lease_time()?;
    let has = |item: &Item, actor: &str| {
        let lease = item.lease.as_ref().filter(|lease| lease.state(now) == LeaseState::Active);
        lease.is_some_and(|lease| lease.actor_id == actor)
    };
    let is_in = |item: &Item, phase: WorkPhase| item.work.standing.phase == phase;
    let items = memory.works(|item| {
        args.phase.is_none_or(|phase| is_in(item, phase))
            && args.actor.as_deref().is_none_or(|actor| has(item, actor))
    })?;
    print(&if args.json {
        render::json(&WorkList::of(&items, now))?
    } else {
        render::work_list(&items, now)
    })?;
    Ok(DONE)
}

/// Shows an item as it is now.
fn answer(memory: &mut Memory, item: &Item, json: bool) -> Result<u8, Failure> {
    let now = memory.lease_time()?;
    print(&if json {
        render::json(&WorkRecord::of(item, now))?
    } else {
        let state = item.lease.as_ref().map_or(LeaseState::Released, |lease| lease.state(now));
        render::work_card(item, state)
    })?;
    Ok(DONE)
}

impl Held {
    fn handed(&self) -> Handed<'_> {
        Handed { work: &self.id, lease: self.lease.as_deref(), actor: &self.actor }
    }
}

//! `gate db copy`: all projects of a store in another place.

use gate_core::ledger::Head;

use super::args::Copy;
use super::{counted, place};
use crate::commands::common::DONE;
use crate::commands::ledger::card::count;
use crate::context::Here;
use crate::failure::Failure;
use crate::memory::{self, Memory};
use crate::render::{Mark, Page, print};
use crate::store::{self, Condition, Copied, CopiedProject, Heads, PATIENCE, Place, is_aside};

pub(super) fn run(here: &Here, args: &Copy) -> Result<u8, Failure> {
    here.operator("gate db copy")?;
    let from = match &args.from {
        Some(from) => place::named(from, &here.places)?,
        None => memory::place(&here.places)?,
    };
    let to = place::named(&args.to, &here.places)?;
    let Condition { projects, problems, .. } = store::upkeep(&from, PATIENCE)?.condition()?;
    if let Some(problem) = problems.first() {
        let message = format!("the store to copy from is not sound: {problem}");
        return Err(Failure::internal("state-corrupt", message).hint("`gate db check` tells all"));
    }
    nothing_is_lost(here, &from, &projects)?;
    let copied = store::copy(&from, &to, &args.rename, PATIENCE)?;
    mark(here, &to, &copied)?;
    print(&card(&to, &copied))?;
    Ok(DONE)
}

/// A ledger that has lost its end here must not become one that has not.
fn nothing_is_lost(here: &Here, from: &Place, projects: &[String]) -> Result<(), Failure> {
    for project in projects {
        let mut memory = Memory::in_place(from, here.places.heads(), project)?;
        memory.read().map(drop).map_err(|error| {
            let failure = Failure::from(error);
            Failure { message: format!("the project `{project}`: {}", failure.message), ..failure }
        })?;
    }
    Ok(())
}

/// Marks the heads in the new place, and reads each ledger there.
fn mark(here: &Here, to: &Place, copied: &Copied) -> Result<(), Failure> {
    let heads = here.places.heads();
    let used =
        copied.projects.iter().filter(|project| !is_aside(&project.to) && project.head.seq > 0);
    for CopiedProject { to: project, .. } in used {
        if let Some(heads) = &heads {
            let mut memory = Memory::in_place(to, None, project)?;
            Heads::new(heads.clone()).adopt(&copied.to, project, &mut *memory.read()?)?;
        }
        Memory::in_place(to, heads.clone(), project)?.read()?;
    }
    Ok(())
}

fn card(to: &Place, copied: &Copied) -> String {
    let Copied { from, to: place, projects } = copied;
    let mut page = Page::new();
    let (aside, used): (Vec<_>, Vec<_>) =
        projects.iter().partition(|project| is_aside(&project.to));
    page.head(Mark::Good, "COPIED", &format!("from {from} to {place}"));
    page.blank();
    for project in &used {
        page.row("project", &described(project));
    }
    if !aside.is_empty() {
        page.row("set aside", &format!("{} ledgers", aside.len()));
    }
    page.row("next", next(to));
    if matches!(to, Place::Database(_)) {
        let ids = "each project needs its name here as `[project] id` in its gate.toml";
        page.row("", ids);
    }
    page.row("", &format!("what is still written to {from} is not copied"));
    page.into_text()
}

fn described(project: &CopiedProject) -> String {
    let CopiedProject { from, to, head: Head { seq, .. }, work_items } = project;
    let name = if from == to { to.clone() } else { format!("{to} (before: {from})") };
    match work_items {
        0 => format!("{name}: {}", count(*seq)),
        items => format!("{name}: {}, {}", count(*seq), counted(*items)),
    }
}

fn next(to: &Place) -> &'static str {
    match to {
        Place::Database(_) => {
            "set GATE_DATABASE_URL, or GATE_DATABASE_URL_FILE, to the address, on each machine"
        }
        Place::Folder(_) => {
            "unset GATE_DATABASE_URL and GATE_DATABASE_URL_FILE, and set GATE_STATE_DIR to the folder"
        }
    }
}

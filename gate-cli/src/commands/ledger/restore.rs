//! `gate ledger restore`: a backup takes the place of the store.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;

use super::accept;
use super::args::Restore;
use super::verify;
use crate::commands::common::DONE;
use crate::commands::log;
use crate::context::Here;
use crate::failure::Failure;
use crate::memory::{self, AcceptedLoss, Memory};
use crate::render::{Mark, Page, print};
use crate::store::{Loss, PATIENCE, Place, Replaced, SqliteStore, Staged, StoreError, is_aside};

pub(super) fn run(here: &Here, args: &Restore) -> Result<u8, Failure> {
    let operator = here.operator("gate ledger restore")?;
    let place = memory::place(&here.places)?;
    let Place::Folder(state) = &place else {
        return Err(elsewhere(&place));
    };
    let file = here.places.folder.join(&args.file);
    File::open(&file).map_err(|error| {
        let failure = Failure::file("input-unreadable", "read the backup", &file, &error);
        Failure { exit_code: 2, ..failure }
    })?;
    let mut memory = log::opened(here)?;
    let mut store = SqliteStore::open(state, PATIENCE)?;
    let staged = store.stage(&file).map_err(|error| {
        let failure = Failure::from(error);
        if failure.lost_state().is_none() {
            return failure;
        }
        failure.hint("it is no sound backup of gate's; nothing was changed")
    })?;
    let projects = verified(&staged, memory.project(), &file)?;
    let replaced = store.replace(&staged)?;
    drop(store);
    let accepted = match loss(&mut memory, &replaced)? {
        Some(loss) => Some(memory.accept_loss(loss, &args.reason, &operator)?),
        None => None,
    };
    let others = others(here, &place, memory.project(), projects, &replaced)?;
    print(&card(&file, &replaced, accepted.as_ref(), &others))?;
    Ok(DONE)
}

fn elsewhere(place: &Place) -> Failure {
    let place = match place {
        Place::Folder(folder) => folder.display().to_string(),
        Place::Database(url) => url.to_string(),
    };
    let task = "restored with PostgreSQL's own tools: `pg_restore`, or `psql` for a plain dump; \
                then `gate ledger accept --reason …` goes on";
    StoreError::OtherTools { place, task }.into()
}

/// The projects in a backup. Fails if one of their ledgers is not sound, or if this project is
/// not one of them.
fn verified(staged: &Staged, own: &str, file: &Path) -> Result<Vec<String>, Failure> {
    let place = Place::Folder(staged.folder().to_owned());
    let projects = Memory::in_place(&place, None, own)?.projects()?;
    for project in &projects {
        let mut memory = Memory::in_place(&place, None, project)?;
        if let Some(problem) = verify::without_mark(&mut memory)?.problem {
            let message = format!("{}: {project}: {}", file.display(), problem.message);
            return Err(Failure::internal("state-corrupt", message)
                .hint("nothing was changed: take another backup"));
        }
    }
    if !projects.iter().any(|project| project == own) {
        let message = format!("{} has no record of this project, {own}", file.display());
        return Err(Failure::usage("backup-foreign", message));
    }
    Ok(projects)
}

/// The end of this project's ledger that the backup lacks.
fn loss(memory: &mut Memory, replaced: &Replaced) -> Result<Option<Loss>, Failure> {
    if let Some(loss) = memory.loss()? {
        return Ok(Some(loss));
    }
    let project = memory.project().to_owned();
    let before = replaced.before.iter().find(|(name, _)| *name == project);
    let Some((_, marked)) = before else { return Ok(None) };
    let mut view = memory.read()?;
    let there = view.entry(marked.seq)?.is_some_and(|entry| entry.hash == marked.hash);
    let found = view.head()?;
    Ok((!there).then_some(Loss { marked: *marked, found }))
}

/// The other projects that have lost the end of their ledgers.
fn others(
    here: &Here,
    place: &Place,
    own: &str,
    projects: Vec<String>,
    replaced: &Replaced,
) -> Result<Vec<String>, Failure> {
    let before = replaced.before.iter().map(|(project, _)| project.clone());
    let all: BTreeSet<_> = projects.into_iter().chain(before).collect();
    let mut lost = Vec::new();
    for project in all.into_iter().filter(|project| project != own && !is_aside(project)) {
        let mut memory = Memory::in_place(place, here.places.heads(), &project)?;
        if memory.loss()?.is_some() {
            lost.push(project);
        }
    }
    Ok(lost)
}

fn card(
    file: &Path,
    replaced: &Replaced,
    accepted: Option<&AcceptedLoss>,
    others: &[String],
) -> String {
    let mut page = Page::new();
    page.head(Mark::Unsure, "RESTORED", &file.display().to_string());
    page.blank();
    match accepted {
        Some(accepted) => {
            page.row("lost", &accept::lost(accepted));
            page.row("recorded", &format!("record {}", accepted.ledger.seq));
        }
        None => page.row("lost", "nothing of this project"),
    }
    if let Some(aside) = &replaced.aside {
        page.row("kept", &format!("the store before: {}", aside.display()));
    }
    for project in others {
        let text = format!(
            "{project}: the end of its ledger is lost too; `gate ledger accept --reason …` in its \
             folder goes on"
        );
        page.marked(Mark::Unsure, "other", &text);
    }
    page.into_text()
}

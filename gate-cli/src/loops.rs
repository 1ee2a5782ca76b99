//! Reads the loops of a store.

use std::path::Path;

use gate_core::ledger::Sealed;
use jiff::Timestamp;

use crate::failure::Failure;
use crate::memory::{Memory, machine};
use crate::render::{local_time, notes};
use crate::runner::{LiveLoop, is_locked_in};
use crate::store::View;
use gate_lens::loops::{LoopRecord, LoopState, fold};

/// Records that are read at once.
const PAGE_RECORDS: usize = 256;

/// The part of a store to read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Window {
    /// Records since this time.
    pub(crate) since: Option<Timestamp>,
    /// All projects of the store, not only the one that is here.
    pub(crate) all_projects: bool,
}

/// The loops in a window, in the order in which they began.
///
/// # Errors
///
/// A store that cannot be read.
pub(crate) fn read(memory: &mut Memory, window: &Window) -> Result<Vec<LoopRecord>, Failure> {
    let mut loops = Vec::new();
    each_ledger(memory, window, |project, view| {
        let records = latest(view, window.since, usize::MAX, |_| true)?;
        loops.extend(fold(project, &records)?);
        Ok(())
    })?;
    loops.iter_mut().for_each(note_death);
    loops.sort_by(|one, other| one.started.cmp(&other.started));
    Ok(loops)
}

/// Marks a loop as dead that began on this machine, recorded no end, and whose gate holds the lock
/// of its task no more. The system gives a lock back with its process, also when power fails.
pub(crate) fn note_death(one: &mut LoopRecord) {
    let Some(folder) = one.folder.as_deref().map(Path::new) else { return };
    if one.unended_on != Some(machine()) || is_locked_in(folder) {
        return;
    }
    let live = LiveLoop::read(folder)
        .filter(|live| live.started.to_string() <= one.started || !one.iterations.is_empty());
    let iteration = live.as_ref().map_or(1, |live| live.iteration.max(1));
    let last_seen = live.map_or_else(|| one.ended.clone(), |live| live.since.to_string());
    one.state = LoopState::Died;
    one.why = format!(
        "iteration {iteration}, last seen {}: gate was killed, or the machine went down; the agent \
         may have worked unjudged",
        local_time(&last_seen)
    );
    one.next = one.resume.as_ref().map(|resume| format!("go on with: `{resume}`"));
    if !one.unreported.contains(&iteration) {
        one.unreported.push(iteration);
    }
}

/// The latest wanted records in a window, each with its project, in the order of their times.
/// `most` bounds their number.
///
/// # Errors
///
/// A store that cannot be read.
pub(crate) fn latest_records(
    memory: &mut Memory,
    window: &Window,
    most: Option<usize>,
    is_wanted: impl Fn(&Sealed) -> bool,
) -> Result<Vec<(String, Sealed)>, Failure> {
    let most = most.unwrap_or(usize::MAX);
    let mut all = Vec::new();
    each_ledger(memory, window, |project, view| {
        let latest = latest(view, window.since, most, &is_wanted)?;
        all.extend(latest.into_iter().map(|sealed| (project.to_owned(), sealed)));
        Ok(())
    })?;
    // The records of one project keep their order: the sort is stable.
    all.sort_by(|(_, one), (_, other)| one.record.time.cmp(&other.record.time));
    Ok(all.split_off(all.len().saturating_sub(most)))
}

/// Reads the ledgers in a window. Of several, one that cannot be trusted is left out and named: it
/// must not hide the others.
fn each_ledger(
    memory: &mut Memory,
    window: &Window,
    mut take: impl FnMut(&str, &mut View<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    if !window.all_projects {
        let project = memory.project().to_owned();
        return take(&project, &mut memory.view_project(&project)?);
    }
    for project in memory.projects()? {
        let view = memory.view_project(&project).map_err(Failure::from);
        match view.and_then(|mut view| take(&project, &mut view)) {
            Err(failure) if failure.lost_state().is_some() => {
                notes(&[format!("the ledger of `{project}` is left out: {}", failure.message)]);
            }
            done => done?,
        }
    }
    Ok(())
}

/// The latest wanted records since a time, ascending. Pages are read from the end, so that a
/// long ledger costs no more than its part that is looked at.
fn latest(
    view: &mut View<'_>,
    since: Option<Timestamp>,
    most: usize,
    is_wanted: impl Fn(&Sealed) -> bool,
) -> Result<Vec<Sealed>, Failure> {
    let mut newest_first = Vec::new();
    let mut before = u64::MAX;
    while newest_first.len() < most {
        let page = view.entries_before(before, PAGE_RECORDS)?;
        let Some(first) = page.first() else { break };
        let is_early = !is_within(first, since);
        before = first.record.seq;
        let wanted = page.into_iter().rev().filter(|one| is_within(one, since) && is_wanted(one));
        newest_first.extend(wanted);
        if is_early {
            break;
        }
    }
    newest_first.truncate(most);
    newest_first.reverse();
    Ok(newest_first)
}

/// A record whose time cannot be read is kept: it hides nothing.
fn is_within(sealed: &Sealed, since: Option<Timestamp>) -> bool {
    match (since, sealed.record.time.parse::<Timestamp>()) {
        (Some(since), Ok(time)) => time >= since,
        _ => true,
    }
}

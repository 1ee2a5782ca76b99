//! Reads the loops of a store.

#[cfg(test)]
mod tests;

use std::path::Path;

use gate_core::history::kind;
use gate_core::ledger::Sealed;
use jiff::Timestamp;

use crate::failure::Failure;
use crate::memory::{Memory, machine};
use crate::render::{local_time, notes};
use crate::runner::{LiveLoop, is_let_go};
use crate::store::View;
use gate_lens::loops::{LoopRecord, LoopState, fold};

/// Records that are read at once.
const PAGE_RECORDS: usize = 256;

/// The latest starts, and the latest ends, that are read of the time before a window.
const EARLIER_BOUNDS: usize = 256;

/// The part of a store to read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Window {
    /// Records since this time.
    pub(crate) since: Option<Timestamp>,
    /// All projects of the store, not only the one that is here.
    pub(crate) all_projects: bool,
}

/// The loops in a window, in the order in which they began, and those that died before it: nobody
/// has gone on with them since.
///
/// # Errors
///
/// A store that cannot be read.
pub(crate) fn read(memory: &mut Memory, window: &Window) -> Result<Vec<LoopRecord>, Failure> {
    let mut loops = Vec::new();
    each_ledger(memory, window, |project, view| {
        let in_window = latest(view, window.since, usize::MAX, |_| true)?;
        let first = in_window.first().map_or(u64::MAX, |sealed| sealed.record.seq);
        let records = [earlier_bounds(view, first)?, in_window].concat();
        loops.extend(fold(project, &records)?);
        Ok(())
    })?;
    loops.retain_mut(|record| {
        let (last_state, is_in_window) = (record.state, is_within(&record.ended, window.since));
        note_death(record);
        is_in_window || record.state != last_state
    });
    loops.sort_by(|one, other| one.started.cmp(&other.started));
    Ok(loops)
}

/// Marks a loop as dead that goes on by its records, began on this machine, and whose gate holds
/// the lock of its task no more.
pub(crate) fn note_death(record: &mut LoopRecord) {
    let (Some(folder), Some(lock)) = (record.folder.as_deref().map(Path::new), &record.lock) else {
        return;
    };
    if record.state != LoopState::Open
        || record.unended_on != Some(machine())
        || !is_let_go(folder, lock.mark.as_deref())
    {
        return;
    }
    let live = LiveLoop::read(folder)
        .filter(|live| live.has_run(&record.run) && live.is_since(&lock.since));
    let next_iteration = record.iterations.last().map_or(1, |last| last.iteration + 1);
    let iteration = live.as_ref().map_or(next_iteration, |live| live.iteration.max(1));
    let last_seen = live.map_or_else(|| record.ended.clone(), |live| live.since.to_string());
    record.state = LoopState::Died;
    record.ended.clone_from(&last_seen);
    record.why = format!(
        "iteration {iteration}, last seen {}: gate was killed, or the machine went down; the agent \
         may have worked unjudged",
        local_time(&last_seen)
    );
    record.next = record.resume.as_ref().map(|resume| format!("go on with: `{resume}`"));
    if !record.unreported.contains(&iteration) {
        record.unreported.push(iteration);
    }
}

/// The starts and ends of loops before a record, and the last decision of each loop without an end:
/// these tell which loops died, however long ago they began. Their number is bounded, so that a
/// long ledger costs no more.
fn earlier_bounds(view: &mut View<'_>, before: u64) -> Result<Vec<Sealed>, Failure> {
    let ends = view.entries_of_type(kind::RUN_ENDED, EARLIER_BOUNDS)?;
    let mut starts = view.entries_of_type(kind::RUN_STARTED, EARLIER_BOUNDS)?;
    // A start whose end was not read must not be taken for a death.
    if let (EARLIER_BOUNDS, Some(oldest)) = (ends.len(), ends.last()) {
        starts.retain(|start| start.record.seq > oldest.record.seq);
    }
    let mut decisions = Vec::new();
    for start in &starts {
        let name = loop_name(start);
        let ended = |end: &Sealed| end.record.seq > start.record.seq && loop_name(end) == name;
        if !ends.iter().any(ended) {
            let last = view.latest_of_loop(name)?;
            decisions.extend(last.filter(|last| last.record.seq > start.record.seq));
        }
    }
    let mut bounds = [starts, ends, decisions].concat();
    bounds.retain(|sealed| sealed.record.seq < before);
    bounds.sort_by_key(|sealed| sealed.record.seq);
    bounds.dedup_by_key(|sealed| sealed.record.seq);
    Ok(bounds)
}

/// The name of a record's loop, without the number of a later run.
fn loop_name(sealed: &Sealed) -> &str {
    let run = sealed.record.run.as_deref().unwrap_or_default();
    run.split_once('#').map_or(run, |(name, _number)| name)
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
        let is_early = !is_within(&first.record.time, since);
        before = first.record.seq;
        let is_in = |one: &Sealed| is_within(&one.record.time, since) && is_wanted(one);
        let wanted = page.into_iter().rev().filter(is_in);
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
fn is_within(time: &str, since: Option<Timestamp>) -> bool {
    match (since, time.parse::<Timestamp>()) {
        (Some(since), Ok(time)) => time >= since,
        _ => true,
    }
}

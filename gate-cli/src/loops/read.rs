//! Reads the loops of a store.

use gate_core::ledger::Sealed;
use jiff::Timestamp;

use super::{LoopRecord, fold};
use crate::failure::Failure;
use crate::memory::Memory;
use crate::store::Reading;

/// Records that are read at once.
const PAGE_RECORDS: u64 = 256;

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
    for project in projects(memory, window)? {
        let records = records_since(&mut *memory.read_project(&project)?, window.since)?;
        loops.extend(fold(&project, &records)?);
    }
    loops.sort_by(|one, other| one.started.cmp(&other.started));
    Ok(loops)
}

/// Hands on each record in a window with its project, in the order of their times.
///
/// # Errors
///
/// A store that cannot be read, and what `take` fails with.
pub(crate) fn each_record(
    memory: &mut Memory,
    window: &Window,
    mut take: impl FnMut(&str, &Sealed) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut all = Vec::new();
    for project in projects(memory, window)? {
        let records = records_since(&mut *memory.read_project(&project)?, window.since)?;
        all.extend(records.into_iter().map(|sealed| (project.clone(), sealed)));
    }
    // The records of one project keep their order: the sort is stable.
    all.sort_by(|(_, one), (_, other)| one.record.time.cmp(&other.record.time));
    all.iter().try_for_each(|(project, sealed)| take(project, sealed))
}

fn projects(memory: &mut Memory, window: &Window) -> Result<Vec<String>, Failure> {
    match window.all_projects {
        true => memory.projects(),
        false => Ok(vec![memory.project().to_owned()]),
    }
}

/// The records since a time, ascending. Pages are read from the end, so that a long ledger
/// costs no more than its new part.
fn records_since(view: &mut dyn Reading, since: Option<Timestamp>) -> Result<Vec<Sealed>, Failure> {
    let mut pages = Vec::new();
    let mut end = view.head()?.seq;
    while end > 0 {
        let from = end.saturating_sub(PAGE_RECORDS - 1).max(1);
        let length = usize::try_from(end - from + 1).unwrap_or(usize::MAX);
        let page = view.entries(from, length)?;
        let is_early = page.first().is_some_and(|first| !is_within(first, since));
        pages.push(page);
        if is_early {
            break;
        }
        end = from - 1;
    }
    let records = pages.into_iter().rev().flatten();
    Ok(records.filter(|sealed| is_within(sealed, since)).collect())
}

/// A record whose time cannot be read is kept: it hides nothing.
fn is_within(sealed: &Sealed, since: Option<Timestamp>) -> bool {
    match (since, sealed.record.time.parse::<Timestamp>()) {
        (Some(since), Ok(time)) => time >= since,
        _ => true,
    }
}

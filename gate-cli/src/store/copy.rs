//! A copy of a whole store in another place, in one transaction there.

use gate_core::ledger::Head;

use super::error::StoreError;
use super::row;
use super::sql::{Cell, SqlValue, texts};
use super::statements;
use super::tables::{COUNTS, Copying, LEDGER, POLICIES, POLICIES_TABLE, Table, Tables, WORK};
use super::view::ASIDE;

/// The rows that are in memory at once.
const PAGE_ROWS: i64 = 200;

/// A project that was copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopiedProject {
    /// Its name before.
    pub from: String,
    /// Its name in the copy.
    pub to: String,
    /// The last record; [`Head::EMPTY`] if there is none.
    pub head: Head,
    /// The number of work items.
    pub work_items: u64,
}

/// A copy of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copied {
    /// The name of the store that was copied.
    pub from: String,
    /// The name of the copy.
    pub to: String,
    /// The projects in it, also those that were set aside.
    pub projects: Vec<CopiedProject>,
}

/// New names of projects, each after the old one.
pub type Renames = [(String, String)];

/// Copies everything that one store holds at one moment to another one, and compares.
pub(super) fn copied(
    from: &mut dyn Copying,
    to: &mut dyn Copying,
    renames: &Renames,
) -> Result<Vec<CopiedProject>, StoreError> {
    let place = to.place().to_owned();
    let mut source = from.snapshot()?;
    let projects = names(&mut *source, renames)?;
    let new: Vec<_> = projects.iter().map(|(_, new)| new.as_str()).collect();
    let mut target = to.fill(&new)?;
    let there = texts(target.read(statements::ALL_PROJECTS, &[])?);
    let taken: Vec<_> = there.into_iter().filter(|name| new.contains(&name.as_str())).collect();
    if !taken.is_empty() {
        return Err(StoreError::Occupied { place, projects: taken.join("`, `") });
    }
    policies(&mut *source, &mut *target)?;
    let mut copied = Vec::new();
    for (old, new) in &projects {
        pages(&mut *source, &mut *target, &LEDGER, (old, new))?;
        pages(&mut *source, &mut *target, &WORK, (old, new))?;
        copied.push(compared(&mut *source, &mut *target, (old, new))?);
    }
    target.commit()?;
    Ok(copied)
}

/// The projects of a store, each with its name in the copy.
fn names(source: &mut dyn Tables, renames: &Renames) -> Result<Vec<(String, String)>, StoreError> {
    let all = texts(source.read(statements::ALL_PROJECTS, &[])?);
    if let Some((old, _)) = renames.iter().find(|(old, _)| !all.contains(old)) {
        let what = format!("names no project of the store: `{old}`");
        return Err(StoreError::Unfit { column: "--rename", what });
    }
    let new = |name: &str| {
        // A ledger that was set aside goes with its project.
        let (project, aside) = name.find(ASIDE).map_or((name, ""), |at| name.split_at(at));
        let rename = renames.iter().find(|(old, _)| old == name || old == project);
        rename.map_or_else(|| name.to_owned(), |(_, new)| format!("{new}{aside}"))
    };
    let pairs: Vec<_> = all.iter().map(|name| (name.clone(), new(name))).collect();
    let twice = pairs
        .iter()
        .enumerate()
        .find(|(at, (_, new))| pairs.iter().take(*at).any(|(_, other)| other == new));
    if let Some((_, (_, new))) = twice {
        let what = format!("gives two projects the name `{new}`");
        return Err(StoreError::Unfit { column: "--rename", what });
    }
    Ok(pairs)
}

/// Copies a table's rows of a project, a page at a time.
fn pages(
    source: &mut dyn Tables,
    target: &mut dyn Tables,
    table: &'static Table,
    (old, new): (&str, &str),
) -> Result<(), StoreError> {
    let mut after = i64::MIN;
    loop {
        let given = [SqlValue::Text(old), SqlValue::Integer(after), SqlValue::Integer(PAGE_ROWS)];
        let rows = source.read(table.select, &given)?;
        let last = rows.last().and_then(|row| row.get(table.position?));
        match last {
            None => return Ok(()),
            Some(Cell::Integer(last)) => after = *last,
            Some(_) => return Err(StoreError::corrupt("a row has no number")),
        }
        target.insert(table, &renamed(rows, new))?;
    }
}

fn renamed(mut rows: Vec<Vec<Cell>>, project: &str) -> Vec<Vec<Cell>> {
    for row in &mut rows {
        row[0] = Cell::Text(project.to_owned());
    }
    rows
}

/// Copies the policies that the target does not have.
fn policies(source: &mut dyn Tables, target: &mut dyn Tables) -> Result<(), StoreError> {
    let mut after = String::new();
    loop {
        let given = [SqlValue::Text(&after), SqlValue::Integer(PAGE_ROWS)];
        let rows = source.read(POLICIES, &given)?;
        let Some(Cell::Text(last)) = rows.last().and_then(|row| row.first()) else {
            return Ok(());
        };
        after = last.clone();
        let mut new = Vec::new();
        for row in rows {
            let Some(Cell::Text(digest)) = row.first() else { continue };
            if target.read(statements::POLICY, &[SqlValue::Text(digest)])?.is_empty() {
                new.push(row);
            }
        }
        target.insert(&POLICIES_TABLE, &new)?;
    }
}

/// The project in the copy, whose last record and numbers are those of the original.
fn compared(
    source: &mut dyn Tables,
    target: &mut dyn Tables,
    (old, new): (&str, &str),
) -> Result<CopiedProject, StoreError> {
    let (before, after) = (end(source, old)?, end(target, new)?);
    if before != after {
        let what = format!("the copy of `{old}` is not what it was copied from");
        return Err(StoreError::corrupt(what));
    }
    let (last, _, work_items) = before;
    let head = last.map(row::read).transpose()?.map_or(Head::EMPTY, |last| last.head());
    Ok(CopiedProject { from: old.to_owned(), to: new.to_owned(), head, work_items })
}

/// The last record of a project, and the numbers of its records and work items.
fn end(
    tables: &mut dyn Tables,
    project: &str,
) -> Result<(Option<Vec<Cell>>, u64, u64), StoreError> {
    let given = [SqlValue::Text(project)];
    let last = tables.read(statements::HEAD, &given)?.pop();
    match tables.read(COUNTS, &given)?.pop().as_deref() {
        Some([Cell::Integer(records), Cell::Integer(items)]) => {
            Ok((last, records.cast_unsigned(), items.cast_unsigned()))
        }
        _ => Err(StoreError::corrupt("the rows cannot be counted")),
    }
}

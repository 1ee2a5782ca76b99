//! One project's ledger inside of a transaction, whatever the database.

mod items;

use gate_core::ledger::{Draft, Head, Record, Sealed};

use gate_fleet::work::{ItemState, WorkItem};
use uuid::Uuid;

use super::error::StoreError;
use super::keys::Keys;
use super::lookup::{Answers, Lookup, Rows};
use super::sql::{Cell, Sql, SqlValue};
use super::{Item, Reading, Writing, row, statements};

/// The longest text that an index of PostgreSQL holds beside another one.
const MAX_NAME_BYTES: usize = 1024;

/// The part of the name of a ledger that was set aside, between the project and an id.
const ASIDE: &str = " (set aside: ";

/// True if a ledger with this name was set aside.
pub(crate) fn is_aside(project: &str) -> bool {
    project.contains(ASIDE)
}

/// One project's ledger inside of a transaction.
pub(super) struct View<'a, S> {
    sql: S,
    project: &'a str,
    /// The head, once it was looked at: nobody else moves it meanwhile.
    head: Option<Head>,
    /// The database's first error. Nothing is kept after one, even if the caller went on
    /// as if nothing had been.
    failed: Option<StoreError>,
    /// True if the schema has tables of work items.
    has_items: bool,
    /// When the transaction began, if that is known and it did not wait for anybody.
    now: Option<i64>,
    /// The answers that were read ahead. The first write drops them.
    ahead: Answers,
}

impl<'a, S: Sql> View<'a, S> {
    /// # Errors
    ///
    /// A project whose name cannot be kept.
    pub(super) fn new(sql: S, project: &'a str) -> Result<Self, StoreError> {
        let project = name("project", project)?;
        Ok(Self {
            sql,
            project,
            head: None,
            failed: None,
            has_items: true,
            now: None,
            ahead: Vec::new(),
        })
    }

    /// The same view, which knows these answers.
    #[cfg(feature = "postgres")]
    pub(super) fn knowing(self, ahead: Answers) -> Self {
        Self { ahead, ..self }
    }

    /// Commits, unless the database has returned an error: its first one.
    pub(super) fn finish(self) -> Result<(), StoreError> {
        self.failed.map_or_else(|| self.sql.commit(), Err)
    }

    /// The rows for a lookup: from the answers known ahead, else from the database.
    fn answers(&mut self, lookup: Lookup<'_>) -> Result<Rows, StoreError> {
        let Some(question) = lookup.question(self.project) else { return Ok(Vec::new()) };
        match self.ahead.iter().position(|(known, _)| *known == question) {
            Some(at) => Ok(self.ahead.swap_remove(at).1),
            None => self.rows(question.statement, &question.given()),
        }
    }

    fn rows(
        &mut self,
        statement: &'static str,
        given: &[SqlValue<'_>],
    ) -> Result<Vec<Vec<Cell>>, StoreError> {
        let rows = self.sql.rows(statement, given);
        rows.inspect_err(|error| note(&mut self.failed, error))
    }

    /// The rows from a number on, or before one.
    fn page(
        &mut self,
        statement: &'static str,
        seq: i64,
        limit: usize,
    ) -> Result<Vec<Vec<Cell>>, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let given =
            [SqlValue::Text(self.project), SqlValue::Integer(seq), SqlValue::Integer(limit)];
        self.rows(statement, &given)
    }

    fn change(&mut self, what: &'static str, given: &[SqlValue<'_>]) -> Result<bool, StoreError> {
        self.ahead.clear();
        let done = self.sql.change(what, given);
        done.inspect_err(|error| note(&mut self.failed, error))
    }

    /// The record that answers, if it is the only one.
    fn one(&mut self, lookup: Lookup<'_>) -> Result<Option<Sealed>, StoreError> {
        only(self.answers(lookup)?)
    }

    /// As [`View::one`], with its hash compared.
    fn proven(&mut self, lookup: Lookup<'_>) -> Result<Option<Sealed>, StoreError> {
        self.one(lookup)?.map(row::proven).transpose()
    }

    /// The only record with this id, or with one that begins so.
    fn by_id(&mut self, statement: &'static str, id: &str) -> Result<Option<Sealed>, StoreError> {
        if name("", id).is_err() {
            return Ok(None);
        }
        let rows = self.rows(statement, &[SqlValue::Text(self.project), SqlValue::Text(id)])?;
        only(rows)?.map(row::proven).transpose()
    }
}

/// None if there are several.
fn only(mut rows: Rows) -> Result<Option<Sealed>, StoreError> {
    let row = rows.pop();
    if rows.is_empty() { row.map(row::read).transpose() } else { Ok(None) }
}

fn note(failed: &mut Option<StoreError>, error: &StoreError) {
    failed.get_or_insert_with(|| error.clone());
}

impl<S: Sql> Reading for View<'_, S> {
    fn head(&mut self) -> Result<Head, StoreError> {
        if let Some(head) = self.head {
            return Ok(head);
        }
        let last = self.one(Lookup::Head)?;
        let head = last.map(row::proven).transpose()?.map_or(Head::EMPTY, |last| last.head());
        Ok(*self.head.insert(head))
    }

    fn projects(&mut self) -> Result<Vec<String>, StoreError> {
        let rows = self.rows(statements::PROJECTS, &[])?;
        let names = rows.into_iter().flatten().filter_map(|cell| match cell {
            Cell::Text(name) if !is_aside(&name) => Some(name),
            _ => None,
        });
        Ok(names.collect())
    }

    fn entry(&mut self, seq: u64) -> Result<Option<Sealed>, StoreError> {
        self.one(Lookup::Entry(seq))
    }

    fn entries(&mut self, from: u64, limit: usize) -> Result<Vec<Sealed>, StoreError> {
        let Ok(from) = i64::try_from(from) else { return Ok(Vec::new()) };
        self.page(statements::ENTRIES, from, limit)?.into_iter().map(row::read).collect()
    }

    fn entries_before(&mut self, before: u64, limit: usize) -> Result<Vec<Sealed>, StoreError> {
        let before = i64::try_from(before).unwrap_or(i64::MAX);
        let rows = self.page(statements::ENTRIES_BEFORE, before, limit)?;
        rows.into_iter().rev().map(row::read).collect()
    }

    fn latest_of_loop(&mut self, name: &str) -> Result<Option<Sealed>, StoreError> {
        self.proven(Lookup::LatestOfLoop(name))
    }

    fn latest_step_of_loop(&mut self, name: &str) -> Result<Option<Sealed>, StoreError> {
        self.proven(Lookup::LatestStepOfLoop(name))
    }

    fn latest_of_task(&mut self, task: &str) -> Result<Option<Sealed>, StoreError> {
        self.proven(Lookup::LatestOfTask(task))
    }

    fn latest_of_type(&mut self, kind: &str) -> Result<Option<Sealed>, StoreError> {
        self.proven(Lookup::LatestOfType(kind, 1))
    }

    fn entries_of_type(&mut self, kind: &str, limit: usize) -> Result<Vec<Sealed>, StoreError> {
        let rows = self.answers(Lookup::LatestOfType(kind, limit))?;
        rows.into_iter().map(|row| row::read(row).and_then(row::proven)).collect()
    }

    fn decision(&mut self, run: &str, iteration: u64) -> Result<Option<Sealed>, StoreError> {
        self.proven(Lookup::Decision(run, iteration))
    }

    fn decision_by_id(&mut self, id: &str) -> Result<Option<Sealed>, StoreError> {
        if id.is_empty() {
            return Ok(None);
        }
        let whole = self.by_id(statements::BY_ID, id)?;
        if whole.is_some() { Ok(whole) } else { self.by_id(statements::BY_BEGINNING, id) }
    }

    fn policy(&mut self, digest: &str) -> Result<Option<String>, StoreError> {
        if name("", digest).is_err() {
            return Ok(None);
        }
        let mut rows = self.rows(statements::POLICY, &[SqlValue::Text(digest)])?;
        match rows.pop().and_then(|mut row| row.pop()) {
            None => Ok(None),
            Some(Cell::Text(text)) => Ok(Some(text)),
            Some(_) => Err(StoreError::corrupt(format!("the policy {digest} is no text"))),
        }
    }
}

impl<S: Sql> Writing for View<'_, S> {
    fn append(&mut self, draft: Draft) -> Result<Sealed, StoreError> {
        let sealed = self.head()?.follow(draft);
        let keys = Keys::new(&sealed.record);
        if !self.insert_row(&sealed, &keys)? {
            return Err(self.taken(&sealed.record, &keys));
        }
        self.head = Some(sealed.head());
        Ok(sealed)
    }

    fn keep_policy(&mut self, digest: &str, text: &str) -> Result<(), StoreError> {
        if text.contains('\0') {
            return Err(StoreError::Unfit { column: "text", what: UNFIT.to_owned() });
        }
        let given = [SqlValue::Text(name("digest", digest)?), SqlValue::Text(text)];
        let is_kept = !self.answers(Lookup::Policy(digest))?.is_empty();
        if is_kept { Ok(()) } else { self.change(statements::KEEP_POLICY, &given).map(drop) }
    }

    fn add_item(&mut self, work: &WorkItem, seq: u64) -> Result<bool, StoreError> {
        self.add(work, seq)
    }

    fn move_item(&mut self, before: &Item, after: &ItemState, seq: u64) -> Result<(), StoreError> {
        self.step(before, after, seq)
    }
}

impl<S: Sql> View<'_, S> {
    /// Moves the project's rows to a name that nobody looks up.
    ///
    /// # Errors
    ///
    /// A store that cannot be written.
    pub(super) fn set_aside(&mut self) -> Result<(), StoreError> {
        let name = format!("{}{ASIDE}{})", self.project, Uuid::now_v7());
        let given = [SqlValue::Text(&name), SqlValue::Text(self.project)];
        self.change(statements::SET_ASIDE, &given)?;
        self.change(statements::SET_ITEMS_ASIDE, &given).map(drop)
    }

    fn insert_row(&mut self, sealed: &Sealed, keys: &Keys) -> Result<bool, StoreError> {
        let Sealed { record, hash } = sealed;
        let (body, prev, hash) =
            (record.body.canonical(), record.prev.to_string(), hash.to_string());
        let iteration = keys.iteration.map(|number| integer("iteration", number)).transpose()?;
        let given = [
            SqlValue::Text(self.project),
            SqlValue::Integer(integer("seq", record.seq)?),
            SqlValue::Integer(i64::from(record.v)),
            SqlValue::Text(name("time", &record.time)?),
            SqlValue::Text(name("type", &record.kind)?),
            SqlValue::MaybeText(maybe_name("run", record.run.as_ref())?),
            SqlValue::Text(name("actor", &record.actor)?),
            SqlValue::Text(&body),
            SqlValue::Text(&prev),
            SqlValue::Text(&hash),
            SqlValue::MaybeText(maybe_name("task", keys.task.as_ref())?),
            SqlValue::MaybeText(maybe_name("loop", keys.in_loop.as_ref())?),
            SqlValue::MaybeInteger(iteration),
            SqlValue::MaybeText(maybe_name("decision_id", keys.decision_id.as_ref())?),
        ];
        self.change(statements::APPEND, &given)
    }

    /// Why a row was not taken: its iteration has a decision, or, against every
    /// lock, somebody else took its number. A database may take nothing more in
    /// this transaction, so that nothing of it is kept.
    fn taken(&mut self, record: &Record, keys: &Keys) -> StoreError {
        let error = match (&record.run, keys.iteration, &keys.decision_id) {
            (Some(run), Some(iteration), Some(_)) => {
                StoreError::Taken { run: run.clone(), iteration }
            }
            _ => StoreError::corrupt(format!("record {} is there already", record.seq)),
        };
        note(&mut self.failed, &error);
        error
    }
}

const UNFIT: &str = "holds a control character, which cannot be kept";

/// A text that both databases can keep, and find again.
pub(super) fn name<'t>(column: &'static str, text: &'t str) -> Result<&'t str, StoreError> {
    if text.chars().any(char::is_control) {
        return Err(StoreError::Unfit { column, what: UNFIT.to_owned() });
    }
    if text.len() > MAX_NAME_BYTES {
        let what = format!("is longer than {MAX_NAME_BYTES} bytes");
        return Err(StoreError::Unfit { column, what });
    }
    Ok(text)
}

fn maybe_name<'t>(
    column: &'static str,
    text: Option<&'t String>,
) -> Result<Option<&'t str>, StoreError> {
    text.map(|text| name(column, text)).transpose()
}

fn integer(column: &'static str, number: u64) -> Result<i64, StoreError> {
    i64::try_from(number)
        .map_err(|_| StoreError::Unfit { column, what: format!("{number} is too large") })
}

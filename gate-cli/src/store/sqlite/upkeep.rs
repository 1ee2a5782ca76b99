//! The upkeep of a file as a whole.

use std::path::PathBuf;

use rusqlite::TransactionBehavior::{Deferred, Immediate};

use super::super::error::StoreError;
use super::super::sql::{Sql, texts};
use super::super::tables::{Copying, Tables};
use super::super::upkeep::{Added, Condition, Migrated, Upkeep, is_current, missing};
use super::super::{addition, migration, statements};
use super::connection::{Opened, Schema};
use super::lock::LockWait;
use super::{INTEGRITY_CHECK, SqliteStore, prepared};

impl Upkeep for SqliteStore {
    fn place(&self) -> &str {
        &self.place
    }

    fn migrate(&mut self) -> Result<Migrated, StoreError> {
        self.folder.make()?;
        let wait = LockWait::new(&self.place, self.patience);
        let opened = Opened::current(&mut self.opened, &self.folder)?;
        let (before, present) = {
            let (running, schema) = opened.begin(Immediate, &wait)?;
            let present = if schema == Schema::Empty { Vec::new() } else { running.additions()? };
            (schema.number(), present)
        };
        prepared(opened, &wait)?.commit()?;
        let (running, _) = opened.begin(Immediate, &wait)?;
        let now = running.additions()?;
        let added = |number| now.contains(&number) && !present.contains(&number);
        let additions = addition::missing(&present).filter(|numbered| added(numbered.number));
        Ok(Migrated {
            before,
            version: migration::VERSION,
            additions: additions.map(Added::from).collect(),
            contradicted: missing(&now),
        })
    }
    fn condition(&mut self) -> Result<Condition, StoreError> {
        let open = self.folder.open_to_others();
        let exists = self.folder.check()?;
        let remark = |path: &PathBuf| {
            format!("others could reach {}: it is closed to them now", path.display())
        };
        let mut condition = Condition {
            database: format!("SQLite {}", rusqlite::version()),
            version: 0,
            additions: Vec::new(),
            missing: Vec::new(),
            bytes: self.folder.bytes(),
            free_bytes: self.folder.free_bytes(),
            problems: Vec::new(),
            remarks: open.iter().map(remark).collect(),
            projects: Vec::new(),
        };
        if !exists {
            return Ok(condition);
        }
        // A backup, or a big transaction, needs as much.
        if condition.free_bytes.is_some_and(|free| free < condition.bytes) {
            condition.remarks.push("the disk has less free space than the store takes".to_owned());
        }
        match self.contents(&mut condition) {
            Err(StoreError::Corrupt { what, .. }) => condition.problems.push(what),
            contents => contents?,
        }
        Ok(condition)
    }
}

impl Copying for SqliteStore {
    fn snapshot(&mut self) -> Result<Box<dyn Tables + '_>, StoreError> {
        if !self.folder.check()? {
            is_current(0, &self.place)?;
        }
        let wait = LockWait::new(&self.place, self.patience);
        let opened = Opened::current(&mut self.opened, &self.folder)?;
        let (running, schema) = opened.begin(Deferred, &wait)?;
        is_current(schema.number(), &self.place)?;
        Ok(Box::new(running))
    }

    /// Whoever writes is alone.
    fn fill(&mut self, _projects: &[&str]) -> Result<Box<dyn Tables + '_>, StoreError> {
        self.folder.make()?;
        let wait = LockWait::new(&self.place, self.patience);
        let opened = Opened::current(&mut self.opened, &self.folder)?;
        Ok(Box::new(prepared(opened, &wait)?))
    }
}

impl SqliteStore {
    /// Fills in what is in the file.
    fn contents(&mut self, condition: &mut Condition) -> Result<(), StoreError> {
        let wait = LockWait::new(&self.place, self.patience);
        let opened = Opened::current(&mut self.opened, &self.folder)?;
        condition.problems = opened.damage(INTEGRITY_CHECK)?;
        let (mut running, schema) = opened.begin(Deferred, &wait)?;
        condition.version = schema.number();
        if schema == Schema::Empty {
            return Ok(());
        }
        migration::from(condition.version)?;
        condition.additions = running.additions()?;
        condition.missing = missing(&condition.additions);
        let rows = if condition.version == migration::VERSION {
            running.rows(statements::ALL_PROJECTS, &[])?
        } else {
            running.rows(statements::PROJECTS, &[])?
        };
        condition.projects = texts(rows);
        Ok(())
    }
}

//! The upkeep of a file as a whole.

use std::path::PathBuf;

use rusqlite::TransactionBehavior::Deferred;

use super::super::error::StoreError;
use super::super::sql::{Sql, texts};
use super::super::upkeep::{Condition, missing};
use super::super::{migration, statements};
use super::SqliteStore;
use super::connection::{LockWait, OpenDatabase};

impl SqliteStore {
    /// As of [`super::super::condition`].
    pub(super) fn examined(&mut self) -> Result<Condition, StoreError> {
        // The check closes them, so they are listed before it.
        let open_paths = self.folder.open_to_others();
        let exists = self.folder.check()?;
        let remark = |path: &PathBuf| {
            format!("others could reach {}: it is closed to them now", path.display())
        };
        let mut condition = Condition {
            place: self.place.clone(),
            database: format!("SQLite {}", rusqlite::version()),
            version: 0,
            additions: Vec::new(),
            missing: Vec::new(),
            bytes: self.folder.bytes(),
            free_bytes: self.folder.free_bytes(),
            problems: Vec::new(),
            remarks: open_paths.iter().map(remark).collect(),
            projects: Vec::new(),
        };
        if !exists {
            return Ok(condition);
        }
        // A backup, or a big transaction, needs as much.
        if condition.free_bytes.is_some_and(|free| free < condition.bytes) {
            condition.remarks.push("the disk has less free space than the store takes".to_owned());
        }
        match self.examine_contents(&mut condition) {
            Err(StoreError::Corrupt { reason, .. }) => condition.problems.push(reason),
            outcome => outcome?,
        }
        Ok(condition)
    }

    /// Fills in the facts that only the open file shows.
    fn examine_contents(&mut self, condition: &mut Condition) -> Result<(), StoreError> {
        let wait = LockWait::new(&self.place, self.patience);
        let database = OpenDatabase::current(&mut self.database, &self.folder)?;
        condition.problems = database.damage()?;
        let mut running = database.begin(Deferred, &wait)?;
        condition.version = running.version;
        if running.version == 0 {
            return Ok(());
        }
        migration::steps_from(condition.version)?;
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

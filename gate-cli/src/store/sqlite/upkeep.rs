//! The upkeep of a file as a whole.

use rusqlite::TransactionBehavior::Immediate;

use super::super::error::StoreError;
use super::super::sql::Sql;
use super::super::upkeep::{Added, Migrated, Upkeep};
use super::super::{addition, migration};
use super::connection::{Opened, Schema};
use super::lock::LockWait;
use super::{SqliteStore, prepared};

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
            contradicted: addition::missing(&now).map(Added::from).collect(),
        })
    }
}

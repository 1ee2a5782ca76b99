//! The upkeep of a database as a whole.

use super::super::error::StoreError;
use super::super::sql::Sql;
use super::super::upkeep::{Added, Migrated, Upkeep};
use super::super::{addition, migration};
use super::{PostgresStore, schema};

impl Upkeep for PostgresStore {
    fn place(&self) -> &str {
        &self.place
    }

    /// An addition that rows contradict is an error: the operator is there to see it.
    fn migrate(&mut self) -> Result<Migrated, StoreError> {
        let patience = self.patience.as_millis().max(1);
        let mut running = self.changing()?;
        running.must_commit();
        running.run(&format!("SET LOCAL lock_timeout = {patience}"))?;
        schema::hold(&running)?;
        let before = running.version()?;
        let present = running.additions()?;
        schema::change(&running, before)?;
        let missing: Vec<_> = addition::missing(&present).collect();
        missing.iter().try_for_each(|numbered| schema::add(&running, *numbered))?;
        running.commit()?;
        Ok(Migrated {
            before,
            version: migration::VERSION,
            additions: missing.into_iter().map(Added::from).collect(),
            contradicted: Vec::new(),
        })
    }
}

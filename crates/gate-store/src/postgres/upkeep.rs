//! The upkeep of a database as a whole.

use super::super::error::StoreError;
use super::super::sql::{Sql, texts};
use super::super::upkeep::{Added, Condition, Migrated, missing};
use super::super::{addition, migration, statements};
use super::{PostgresStore, READING, schema, version_in_view};

impl PostgresStore {
    /// As of [`super::super::migrate`]. An addition that rows contradict is an error: the operator is
    /// there to see it.
    pub(super) fn migrate(&mut self) -> Result<Migrated, StoreError> {
        let patience = self.server.patience.as_millis().max(1);
        let mut running = self.begin_migration()?;
        running.must_commit();
        running.run(&format!("SET LOCAL lock_timeout = {patience}"))?;
        schema::lock_schema(&running)?;
        let old_version = running.version()?;
        let present = running.additions()?;
        schema::take_steps(&running, old_version)?;
        let additions: Vec<_> = addition::missing(&present).collect();
        additions.iter().try_for_each(|numbered| schema::add(&running, *numbered))?;
        Box::new(running).commit(None)?;
        Ok(Migrated {
            place: self.server.place.clone(),
            old_version,
            version: migration::VERSION,
            additions: additions.into_iter().map(Added::from).collect(),
        })
    }

    /// As of [`super::super::condition`].
    pub(super) fn examined(&mut self) -> Result<Condition, StoreError> {
        let place = self.server.place.clone();
        let (mut running, version) = self.start(READING, Vec::new())?;
        let version = version_in_view(&mut running, version)?;
        migration::steps_from(version)?;
        let additions = running.additions()?;
        let mut query = |statement| running.rows(statement, &[]).map(texts);
        let server = query(SERVER)?.concat();
        let mut condition = Condition {
            place,
            database: format!("PostgreSQL {server}"),
            version,
            missing: if version == 0 { Vec::new() } else { missing(&additions) },
            additions,
            bytes: query(BYTES)?.concat().parse().unwrap_or(0),
            free_bytes: None,
            problems: Vec::new(),
            remarks: query(SETTINGS)?,
            projects: Vec::new(),
        };
        condition.problems.extend(query(STANDBY)?);
        if version == 0 {
            return Ok(condition);
        }
        if version < migration::VERSION {
            condition.problems.push(format!(
                "the tables have version {version}, and gate writes version {}: run `gate doctor --fix`",
                migration::VERSION
            ));
        }
        condition.problems.extend(query(INVALID_INDEXES)?.iter().map(|index| {
            format!("the index {index} is not valid: `REINDEX INDEX {index}` builds it anew")
        }));
        condition.problems.extend(query(MISSING_RIGHTS)?);
        if !condition.missing.is_empty() {
            condition.remarks.push("`gate doctor --fix` makes the missing additions".to_owned());
        }
        condition.remarks.extend(query(RIGHTS)?);
        if condition.problems.is_empty() {
            // Older tables may be without work items.
            let is_current = version == migration::VERSION;
            let statement =
                if is_current { statements::ALL_PROJECTS } else { statements::PROJECTS };
            condition.projects = query(statement)?;
        }
        Ok(condition)
    }
}

const SERVER: &str = "SELECT current_setting('server_version')";

const BYTES: &str = "SELECT CAST(coalesce(sum(pg_total_relation_size(oid)), 0) AS TEXT) \
     FROM pg_catalog.pg_class WHERE relname IN ('ledger', 'policies', 'work') \
     AND relkind = 'r' AND pg_catalog.pg_table_is_visible(oid)";

/// Settings that let a crash of the server take records.
const SETTINGS: &str = "SELECT CASE name \
     WHEN 'synchronous_commit' THEN 'synchronous_commit is ' || setting || \
     ': gate switches it on for its own commits' \
     ELSE name || ' is off: a crash of the server can lose or damage records' END \
     FROM pg_catalog.pg_settings \
     WHERE (name IN ('fsync', 'full_page_writes') AND setting = 'off') \
     OR (name = 'synchronous_commit' AND setting IN ('off', 'local')) ORDER BY name";

const STANDBY: &str = "SELECT 'the server is a standby or read-only: nothing can be recorded' \
     WHERE pg_is_in_recovery() OR current_setting('default_transaction_read_only') = 'on'";

const INVALID_INDEXES: &str = "SELECT CAST(i.indexrelid::regclass AS TEXT) \
     FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class t ON t.oid = i.indrelid \
     WHERE t.relname IN ('gate_schema', 'gate_additions', 'ledger', 'policies', 'work') \
     AND pg_catalog.pg_table_is_visible(t.oid) AND NOT (i.indisvalid AND i.indisready) ORDER BY 1";

/// Rights without which gate does not work.
const MISSING_RIGHTS: &str = "SELECT 'this role may not ' || need.act || ' in the table ' || \
     need.relation FROM (VALUES ('gate_schema', 'SELECT'), ('ledger', 'SELECT'), \
     ('ledger', 'INSERT'), ('policies', 'SELECT'), ('policies', 'INSERT'), ('work', 'SELECT')) \
     AS need (relation, act) JOIN pg_catalog.pg_class t ON t.relname = need.relation \
     AND pg_catalog.pg_table_is_visible(t.oid) \
     WHERE NOT has_table_privilege(t.oid, need.act) ORDER BY 1";

/// Rights that a fleet's role should not have, and those that some commands need.
const RIGHTS: &str = "SELECT CASE WHEN need.relation = 'ledger' THEN 'this role may ' || need.act \
     || ' in the table ledger: a role of a fleet should not be able to' \
     ELSE 'this role may not ' || need.act || ' in the table ' || need.relation || need.note END \
     FROM (VALUES ('ledger', 'UPDATE', ''), ('ledger', 'DELETE', ''), \
     ('work', 'INSERT', ': it cannot add work items'), \
     ('work', 'UPDATE', ': it cannot claim work items')) \
     AS need (relation, act, note) JOIN pg_catalog.pg_class t ON t.relname = need.relation \
     AND pg_catalog.pg_table_is_visible(t.oid) \
     WHERE has_table_privilege(t.oid, need.act) = (need.relation = 'ledger') ORDER BY 1";

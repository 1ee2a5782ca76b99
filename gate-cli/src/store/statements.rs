//! The statements, understood by SQLite and PostgreSQL alike. Only SELECT and
//! INSERT: a fleet's role needs no other right, except to set a ledger aside.

/// A ledger's row, from one table, after a condition.
macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT seq, v, time, type, run, actor, body, prev, hash, ",
            "task, loop, iteration, decision_id FROM ledger WHERE project = $1 ",
            $rest
        )
    };
}

pub(super) const VERSION: &str = "SELECT max(version) FROM gate_schema";

pub(super) const HEAD: &str = select!("ORDER BY seq DESC LIMIT 1");

pub(super) const ENTRY: &str = select!("AND seq = $2");

pub(super) const ENTRIES: &str = select!("AND seq >= $2 ORDER BY seq LIMIT $3");

pub(super) const LATEST_OF_LOOP: &str =
    select!("AND loop = $2 AND decision_id IS NOT NULL ORDER BY seq DESC LIMIT 1");

pub(super) const LATEST_OF_TASK: &str = select!("AND task = $2 ORDER BY seq DESC LIMIT 1");

pub(super) const LATEST_OF_TYPE: &str =
    select!("AND type = $2 AND decision_id IS NULL ORDER BY seq DESC LIMIT 1");

pub(super) const DECISION: &str =
    select!("AND run = $2 AND iteration = $3 AND decision_id IS NOT NULL");

/// Found by reading all: people ask for it, not loops.
pub(super) const BY_ID: &str = select!("AND decision_id = $2 ORDER BY seq DESC LIMIT 1");

/// Two rows tell that the beginning is ambiguous. Not `LIKE`: an id may hold
/// its wildcards. Not `>=`: a database's own order of letters is none.
pub(super) const BY_BEGINNING: &str =
    select!("AND substr(decision_id, 1, length($2)) = $2 ORDER BY seq DESC LIMIT 2");

pub(super) const APPEND: &str = "INSERT INTO ledger (project, seq, v, time, type, run, actor, body, \
     prev, hash, task, loop, iteration, decision_id) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)";

pub(super) const POLICY: &str = "SELECT text FROM policies WHERE digest = $1";

pub(super) const KEEP_POLICY: &str = "INSERT INTO policies (digest, text) VALUES ($1, $2) \
     ON CONFLICT (digest) DO NOTHING";

/// The one that changes rows, where a person asks for it.
pub(super) const SET_ASIDE: &str = "UPDATE ledger SET project = $1 WHERE project = $2";

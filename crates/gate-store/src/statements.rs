//! The statements, which SQLite and PostgreSQL understand alike. Of the ledger only SELECT and
//! INSERT: a fleet's role needs no other right, except to set a ledger aside. Work items change:
//! their rows are updated.

/// Selects rows of a project's ledger. `$clauses` go on after the condition on the project.
macro_rules! select {
    ($clauses:literal) => {
        concat!(
            "SELECT seq, v, time, type, run, actor, body, prev, hash, ",
            "task, loop, iteration, decision_id FROM ledger WHERE project = $1 ",
            $clauses
        )
    };
}

pub(super) const VERSION: &str = "SELECT max(version) FROM gate_schema";

/// The names of all projects with records.
pub(super) const PROJECTS: &str = "SELECT DISTINCT project FROM ledger ORDER BY project";

/// The names of all projects with records or work items, also of those that were set aside.
pub(super) const ALL_PROJECTS: &str =
    "SELECT project FROM ledger UNION SELECT project FROM work ORDER BY project";

pub(super) const HEAD: &str = select!("ORDER BY seq DESC LIMIT 1");

pub(super) const ENTRY: &str = select!("AND seq = $2");

pub(super) const ENTRIES: &str = select!("AND seq >= $2 ORDER BY seq LIMIT $3");

/// The newest first.
pub(super) const ENTRIES_BEFORE: &str = select!("AND seq < $2 ORDER BY seq DESC LIMIT $3");

pub(super) const LATEST_OF_LOOP: &str =
    select!("AND loop = $2 AND decision_id IS NOT NULL ORDER BY seq DESC LIMIT 1");

pub(super) const LATEST_STEP_OF_LOOP: &str =
    select!("AND loop = $2 AND decision_id IS NULL ORDER BY seq DESC LIMIT 1");

pub(super) const LATEST_OF_TASK: &str =
    select!("AND task = $2 AND loop IS NULL ORDER BY seq DESC LIMIT 1");

/// The newest first.
pub(super) const LATEST_OF_TYPE: &str =
    select!("AND type = $2 AND decision_id IS NULL ORDER BY seq DESC LIMIT $3");

/// The records of three types, the oldest first.
pub(super) const OF_TYPES: &str =
    select!("AND type IN ($2, $3, $4) AND decision_id IS NULL AND seq > $5 ORDER BY seq LIMIT $6");

pub(super) const DECISION: &str =
    select!("AND run = $2 AND iteration = $3 AND decision_id IS NOT NULL");

/// Reads the whole ledger, for want of an index: people ask for a decision by its id, not loops.
pub(super) const BY_ID: &str = select!("AND decision_id = $2 ORDER BY seq DESC LIMIT 1");

/// Two rows mean that the beginning is ambiguous. Not `LIKE`: an id may hold its wildcards. Not
/// `>=`: databases differ in their order of letters.
pub(super) const BY_BEGINNING: &str =
    select!("AND substr(decision_id, 1, length($2)) = $2 ORDER BY seq DESC LIMIT 2");

pub(super) const APPEND: &str = "INSERT INTO ledger (project, seq, v, time, type, run, actor, body, \
     prev, hash, task, loop, iteration, decision_id) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)";

pub(super) const HAS_POLICY: &str = "SELECT digest FROM policies WHERE digest = $1";

pub(super) const POLICY: &str = "SELECT text FROM policies WHERE digest = $1";

pub(super) const KEEP_POLICY: &str = "INSERT INTO policies (digest, text) VALUES ($1, $2) \
     ON CONFLICT (digest) DO NOTHING";

/// The only statement that changes the ledger's rows. Only a person's command runs it.
pub(super) const SET_ASIDE: &str = "UPDATE ledger SET project = $1 WHERE project = $2";

/// Selects rows of a project's work items. `$clauses` go on after the condition on the project.
macro_rules! items {
    ($clauses:literal) => {
        concat!(
            "SELECT id, title, description, phase, blocked_in, transitions, added, seq, ",
            "lease, actor, issued_at, expires_at, released, renewals FROM work WHERE project = $1 ",
            $clauses
        )
    };
}

/// The phases that agents claim, as the index has them.
macro_rules! claimable {
    () => {
        "phase IN ('DRAFT', 'IMPLEMENTATION', 'READY_FOR_REVIEW', 'REVIEW', 'READY_FOR_MERGE')"
    };
}

/// Items that nobody had in their phase yet come first, in the order of adding; then items that were
/// given back or left, the longest ago first. So an item on which every agent gives up does not hold
/// the queue up.
macro_rules! claim {
    ($lock:literal) => {
        concat!(
            "UPDATE work SET lease = $1, actor = $2, issued_at = $3, expires_at = $4, ",
            "released = 0, renewals = 0 ",
            "WHERE project = $5 AND id = (SELECT id FROM work WHERE project = $5 AND ",
            claimable!(),
            " AND expires_at <= $3 AND ($6 = '' OR phase = $6) AND ($7 = '' OR id = $7) ",
            "ORDER BY expires_at, added LIMIT 1 ",
            $lock,
            ") RETURNING id, title, description, phase, blocked_in, transitions, added, seq, ",
            "lease, actor, issued_at, expires_at, released, renewals"
        )
    };
}

pub(super) const CLAIM: &str = claim!("");

/// An item that another claimer has locked is passed over.
#[cfg(feature = "postgres")]
pub(super) const CLAIM_UNLOCKED: &str = claim!("FOR UPDATE SKIP LOCKED");

pub(super) const ITEM: &str = items!("AND id = $2");

pub(super) const ITEM_WITH_LEASE: &str = items!("AND lease = $2");

/// The first item that an actor holds, by the order of adding; of one phase or id unless `$4` or `$5`
/// is empty.
pub(super) const ITEM_HELD: &str = items!(
    "AND actor = $2 AND released = 0 AND expires_at > $3 AND ($4 = '' OR phase = $4) \
     AND ($5 = '' OR id = $5) ORDER BY added LIMIT 1"
);

pub(super) const ITEMS: &str = items!("AND added > $2 ORDER BY added LIMIT $3");

pub(super) const CLAIMABLE_AT: &str = concat!(
    "SELECT min(expires_at) FROM work WHERE project = $1 AND ",
    claimable!(),
    " AND ($2 = '' OR phase = $2) AND ($3 = '' OR id = $3)"
);

pub(super) const ADD_ITEM: &str = "INSERT INTO work (project, id, title, description, phase, \
     blocked_in, transitions, added, seq, expires_at, released, renewals) \
     VALUES ($1, $2, $3, $4, $5, $6, 0, $7, $8, 0, 0, 0)";

/// A lease ends with the phase.
pub(super) const MOVE_ITEM: &str = "UPDATE work SET phase = $1, blocked_in = $2, transitions = $3, \
     seq = $4, expires_at = 0, released = 1 WHERE project = $5 AND id = $6 AND transitions = $7 \
     AND coalesce(lease, '') = $8 AND (lease IS NULL OR (renewals = $9 AND released = $10)) \
     RETURNING id";

pub(super) const PUT_LEASE: &str = "UPDATE work SET expires_at = $1, renewals = $2, released = $3 \
     WHERE project = $4 AND id = $5 AND lease = $6 AND renewals = $7 AND released = $8 \
     RETURNING id";

pub(super) const SET_ITEMS_ASIDE: &str = "UPDATE work SET project = $1 WHERE project = $2";

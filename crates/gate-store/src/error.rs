//! Why a store could not be read or written.

use gate_core::Failure;
use gate_core::ledger::Head;

/// Why a store could not be read or written. Nothing was kept, unless the variant says
/// otherwise.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A folder or file that cannot be used as it is: it is read-only, a link or another user's,
    /// gate has no permission, or the disk is full.
    #[error("cannot use {path}: {reason}")]
    Unwritable {
        /// The file or folder.
        path: String,
        /// The reason.
        reason: String,
    },
    /// The file that a copy would take the place of.
    #[error("{path} exists already; it was not touched")]
    Exists {
        /// The file.
        path: String,
    },
    /// Rows that somebody else changed, or damage.
    #[error("{}: {reason}", damaged_part(*.seq, .column.as_deref()))]
    Corrupt {
        /// The record, if it is known.
        seq: Option<u64>,
        /// The column, if it is known.
        column: Option<String>,
        /// The contradiction.
        reason: String,
    },
    /// The ledger does not hold the record that is marked as its own.
    #[error("the ledger ends at record {}, and record {} is marked: it was removed, cut or replaced", .ledger_head.seq, .marked_head.seq)]
    Lost {
        /// The head that was recorded once.
        marked_head: Head,
        /// The end of the ledger now.
        ledger_head: Head,
    },
    /// The store was made by a newer gate.
    #[error(
        "the store has version {version}, and this gate knows version {newest_known}: use a newer gate"
    )]
    Newer {
        /// The version of the store's tables.
        version: i64,
        /// The newest version that this gate knows.
        newest_known: i64,
    },
    /// A database whose tables were made by an older gate. No gate changes them by itself.
    #[error("{place} has tables of version {version}, and this gate writes version {written}")]
    Older {
        /// The database's host, port and name.
        place: String,
        /// The version of the tables.
        version: i64,
        /// The version that this gate writes.
        written: i64,
    },
    /// Somebody else held the store for too long.
    #[error("{place} is busy: others write to it without end")]
    Busy {
        /// The store.
        place: String,
    },
    /// The database does not answer.
    #[error("{place} does not answer: {reason}")]
    Unreachable {
        /// The database.
        place: String,
        /// The error that came instead of an answer.
        reason: String,
    },
    /// The database refuses: a wrong password, a missing right, no tables and no right to create
    /// them.
    #[error("{place} refuses: {reason}")]
    Refused {
        /// The database.
        place: String,
        /// The database's message and code.
        reason: String,
    },
    /// The connection broke, or the disk failed, while the work was being kept:
    /// it may have been kept or not.
    #[error("{place}: the commit's outcome is unknown ({reason})")]
    Uncertain {
        /// The store.
        place: String,
        /// The error that came instead of an answer.
        reason: String,
    },
    /// The database's address cannot be used.
    #[error("the database's address {reason}")]
    BadAddress {
        /// The flaw of the address, without credentials.
        reason: String,
    },
    /// A database is configured, and this build has SQLite alone.
    #[error("a PostgreSQL database is configured, and this gate was built without PostgreSQL")]
    NoPostgres,
    /// A task for which a database has tools of its own.
    #[error("{place} is copied with PostgreSQL's own tools: `pg_dump`, or a base backup")]
    OtherTools {
        /// The database's host, port and name.
        place: String,
    },
    /// Text that cannot be kept in a column.
    #[error("`{column}` {reason}")]
    Unfit {
        /// The column.
        column: &'static str,
        /// The flaw of the text.
        reason: String,
    },
    /// There is a decision for this iteration already.
    #[error("run `{run}` has a decision for iteration {iteration} already")]
    Taken {
        /// The run.
        run: String,
        /// The iteration's number.
        iteration: u64,
    },
    /// Somebody else changed the work item after it was read.
    #[error("the work item `{id}` was changed meanwhile")]
    Changed {
        /// The item.
        id: String,
    },
}

impl StoreError {
    /// Damage that is not in one row.
    pub(super) fn corrupt(reason: impl Into<String>) -> Self {
        Self::Corrupt { seq: None, column: None, reason: reason.into() }
    }
}

/// The part of the ledger that is damaged, as a message names it.
fn damaged_part(seq: Option<u64>, column: Option<&str>) -> String {
    match (seq, column) {
        (Some(seq), Some(column)) => format!("record {seq}, column `{column}`"),
        (Some(seq), None) => format!("record {seq}"),
        (None, Some(column)) => format!("column `{column}`"),
        (None, None) => "the ledger".to_owned(),
    }
}

/// Hint for state that cannot be trusted.
const RESET: &str = "find out who changed it; `gate breaker reset --reason …` begins a new ledger";

/// Hint for a ledger whose end is missing.
const ACCEPT: &str = "find out what happened; `gate ledger accept --reason …` goes on with the \
                      records that are there, `gate breaker reset --reason …` begins a new ledger";

/// Hint for a database whose tables are older than this gate.
const MIGRATE: &str = "let the database's owner run `gate doctor --fix`; gates that are older than the tables \
                       stop then, so update them first";

/// Hint for a build that cannot use the configured database.
const POSTGRES: &str = "install it with `cargo install --path gate-cli --features postgres`, or unset \
                        GATE_DATABASE_URL and GATE_DATABASE_URL_FILE to keep state in SQLite";

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        use StoreError::{
            BadAddress, Busy, Changed, Corrupt, Exists, Lost, Newer, NoPostgres, Older, OtherTools,
            Refused, Uncertain, Unfit, Unreachable, Unwritable,
        };
        let message = error.to_string();
        match &error {
            Unwritable { path, .. } => {
                let failure = Self::internal("state-unwritable", message);
                let hint = "make room (`gate prune`) or the folder writable; nothing was recorded";
                Self { file: Some(path.clone()), ..failure.hint(hint) }
            }
            Exists { path } => {
                Self { file: Some(path.clone()), ..Self::usage("file-exists", message) }
            }
            Busy { .. } | Changed { .. } => Self::internal("state-busy", message),
            Unreachable { .. } => Self::internal("state-unreachable", message),
            Refused { .. } => Self::internal("state-refused", message),
            Uncertain { .. } => Self::internal("state-uncertain", message)
                .hint("give the command again: a check with the same --run and --iteration, a claim with the same --request"),
            Corrupt { .. } => Self::internal("state-corrupt", message).hint(RESET),
            Lost { .. } => Self::internal("state-lost", message).hint(ACCEPT),
            Newer { .. } => Self::internal("state-newer", message),
            Older { .. } => Self::internal("state-older", message).hint(MIGRATE),
            BadAddress { .. } => Self::usage("database-address", message),
            NoPostgres => Self::usage("database-unsupported", message).hint(POSTGRES),
            OtherTools { .. } => Self::usage("backup-elsewhere", message),
            Unfit { .. } => Self::usage("usage", message),
            _ => Self::internal("state", message),
        }
    }
}

//! Turns errors of the store and of work items into failures for the user.

use gate_fleet::work::WorkError;

use crate::failure::Failure;
use crate::store::StoreError;

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

impl From<WorkError> for Failure {
    fn from(error: WorkError) -> Self {
        use WorkError::{
            Exists, Invalid, LeaseNotFound, LeaseOver, Leased, NotAllowed, NotClaimable,
            NotExtended, NotFound, NotHolder, Sequence, Unreadable,
        };
        let code = match &error {
            NotFound(_) => "work-unknown",
            Exists(_) => "work-exists",
            Invalid { .. } | NotAllowed { .. } | NotClaimable { .. } | Sequence { .. } => {
                "work-phase"
            }
            Leased { .. } => "work-leased",
            LeaseNotFound(_) | LeaseOver { .. } => "lease-over",
            NotHolder { .. } => "lease-not-yours",
            NotExtended { .. } => "lease-not-extended",
            Unreadable { .. } => return Self::internal("state-corrupt", error.to_string()),
            _ => "usage",
        };
        Self::usage(code, error.to_string())
    }
}

impl Failure {
    /// True if the connection to the store broke, or the store was too busy: nothing was kept.
    pub(crate) fn is_of_connection(&self) -> bool {
        ["state-unreachable", "state-busy"].contains(&self.code.as_str())
    }

    /// The message, if this failure means that the state cannot be trusted.
    pub(crate) fn lost_state(&self) -> Option<&str> {
        let lost = ["state-corrupt", "state-lost", "state-newer"];
        lost.contains(&self.code.as_str()).then_some(self.message.as_str())
    }
}

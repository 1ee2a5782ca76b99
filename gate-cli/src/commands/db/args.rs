//! The arguments of `gate db`.

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum Db {
    /// Check the database, and verify the ledger of each project in it.
    #[command(after_help = CHECK_CODES)]
    Check {
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Bring the tables of the store to this gate's version. For the operator.
    ///
    /// A PostgreSQL database is changed by this command alone, with the role that owns the tables.
    /// Additions leave older gates at work; after a step they stop. A SQLite store is changed by
    /// the first record that a newer gate writes.
    Migrate,
}

const CHECK_CODES: &str = "\
Exit codes: 0 the store is sound, 1 it is not, 2 or 5 that could not be found out";

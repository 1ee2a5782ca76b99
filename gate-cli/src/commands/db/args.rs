//! The arguments of `gate db`.

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum Db {
    /// Bring the tables of the store to this gate's version. For the operator.
    ///
    /// A PostgreSQL database is changed by this command alone, with the role that owns the tables.
    /// Additions leave older gates at work; after a step they stop. A SQLite store is changed by
    /// the first record that a newer gate writes.
    Migrate,
}

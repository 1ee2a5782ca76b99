//! The arguments of `gate db`.

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum Db {
    /// Check the database, and verify the ledger of each project in it.
    #[command(after_help = CHECK_CODES)]
    Check {
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Copy everything to another place: SQLite to PostgreSQL, or back. For the operator.
    ///
    /// Copies all projects as they are at one moment, with their work items and leases, and
    /// compares. The place must not have a project of the same name. The old store stays as it is,
    /// and what is written to it later is not copied: stop your loops first.
    #[command(after_help = PLACES)]
    Copy(Copy),
    /// Bring the tables of the store to this gate's version. For the operator.
    ///
    /// A PostgreSQL database is changed by this command alone, with the role that owns the tables.
    /// Additions leave older gates at work; after a step they stop. A SQLite store is changed by
    /// the first record that a newer gate writes.
    Migrate,
}

const CHECK_CODES: &str = "\
Exit codes: 0 the store is sound, 1 it is not, 2 or 5 that could not be found out";

const PLACES: &str = "\
A place is a state folder, a postgres:// address without a password, @FILE (the file has the
address), or env:NAME (the variable has it). Everybody on a machine can see a command line.
";

#[derive(Debug, Args)]
pub(crate) struct Copy {
    /// The place for the copy.
    #[arg(value_name = "TO")]
    pub(crate) to: String,
    /// The place to copy from; the store in use if not given.
    #[arg(long, value_name = "PLACE")]
    pub(crate) from: Option<String>,
    /// Give a project another name in the copy. PostgreSQL finds a project by `[project] id` in
    /// gate.toml alone. Repeatable.
    #[arg(long, value_name = "OLD=NEW", value_parser = renaming)]
    pub(crate) rename: Vec<(String, String)>,
}

/// An old name and a new one. The old one may hold `=`, as addresses do.
fn renaming(text: &str) -> Result<(String, String), String> {
    match text.rsplit_once('=') {
        Some((old, new)) if !old.is_empty() && !new.is_empty() => {
            Ok((old.to_owned(), new.to_owned()))
        }
        _ => Err("OLD=NEW is expected, two names".to_owned()),
    }
}

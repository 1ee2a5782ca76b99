//! Old decisions, which go from the store to an archive.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::Prune;
use crate::archive::Archive;
use crate::context::Here;
use crate::failure::Failure;
use crate::memory::{ArchivedDecisions, MIN_AGE};
use crate::record::Ledger;
use crate::settings::Selection;
use crate::trust;

/// The decisions of this project that left the store, or that would.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PrunedRecords {
    /// Number of decisions.
    pub(super) count: u64,
    /// Their size in the store, in bytes. New records take that room; the file of a SQLite store
    /// gets no smaller.
    pub(super) bytes: u64,
    /// The archive; null if nothing was archived.
    pub(super) archive: Option<Archive>,
    /// The record about the archive.
    pub(super) ledger: Option<Ledger>,
}

/// Archives the decisions that are older than the time to keep. A dry run only counts them.
///
/// # Errors
///
/// A call of no operator, a time that is too short, a store or a folder that cannot be written, a
/// role that may not delete rows.
pub(super) fn archive(here: &Here, args: &Prune) -> Result<PrunedRecords, Failure> {
    let older = args.older.unwrap_or_default();
    if older < MIN_AGE {
        let message = "--records keeps the records of 30 days at least";
        return Err(Failure::usage("usage", message).hint("--older 90d archives what is older"));
    }
    let before = Timestamp::now().checked_sub(older).unwrap_or(Timestamp::MIN);
    let (settings, trust) = trust::settings_in_force(&here.places, &Selection::default())?;
    let open = || here.memory_under(&trust, &settings.policy);
    let found = if args.dry_run {
        open()?.archivable(before)?
    } else {
        let operator = here.operator("gate prune --records")?;
        let folder = args.to.as_ref().map(|folder| here.places.folder.join(folder));
        open()?.archive(before, folder.as_deref(), &operator)?
    };
    let ArchivedDecisions { count, bytes, archive } = found;
    let (archive, ledger) = archive.unzip();
    Ok(PrunedRecords { count, bytes, archive, ledger })
}

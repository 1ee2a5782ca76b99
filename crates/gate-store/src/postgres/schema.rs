//! The tables of a database: made if there are none, and changed by an operator alone.

use super::super::addition::{self, Numbered};
use super::super::error::StoreError;
use super::super::migration::{self, VERSION};
use super::server::lock;
use super::transaction::Running;

/// Makes the tables if there are none. Older ones are left to `gate doctor --fix`; an addition that
/// is missing is not looked for.
///
/// # Errors
///
/// Tables of another version, a role that may make none.
pub(super) fn ensure(running: &mut Running<'_>) -> Result<(), StoreError> {
    if usable_version(running)? == VERSION {
        return Ok(());
    }
    // One gate at a time makes them; another one may have done so before this one got the lock.
    lock_schema(running)?;
    if usable_version(running)? == VERSION {
        return Ok(());
    }
    take_steps(running, 0)?;
    for numbered in addition::missing(&[]) {
        add(running, numbered)?;
    }
    Ok(())
}

/// The version that this gate writes, or 0 if there are no tables.
fn usable_version(running: &mut Running<'_>) -> Result<i64, StoreError> {
    let version = running.version()?;
    if version == 0 || migration::steps_from(version)?.is_none() {
        return Ok(version);
    }
    Err(StoreError::Older { place: running.place().to_owned(), version, written: VERSION })
}

/// Waits until nobody else changes the schema. No project has the lock of the empty name.
pub(super) fn lock_schema(running: &Running<'_>) -> Result<(), StoreError> {
    running.run(&format!("SELECT pg_advisory_xact_lock({})", lock("")))
}

/// Takes the steps that lead on from a version.
pub(super) fn take_steps(running: &Running<'_>, version: i64) -> Result<(), StoreError> {
    let Some(steps) = migration::steps_from(version)? else { return Ok(()) };
    // Every role that may use the tables has to know their version.
    let statements = format!("{steps}; GRANT SELECT ON gate_schema TO PUBLIC");
    running.run(&statements).map_err(naming_owner)
}

/// Makes an addition.
pub(super) fn add(running: &Running<'_>, numbered: Numbered) -> Result<(), StoreError> {
    let addition = numbered.statements(numbered.addition.postgres);
    running
        .run(&format!("{addition}; GRANT SELECT ON gate_additions TO PUBLIC"))
        .map_err(naming_owner)
}

/// The database's refusal, with a word on the owner, who may make the tables.
fn naming_owner(error: StoreError) -> StoreError {
    match error {
        StoreError::Refused { place, reason } => {
            let reason = format!(
                "{reason}; let the owner of the database run `gate doctor --fix`, which makes the tables"
            );
            StoreError::Refused { place, reason }
        }
        error => error,
    }
}

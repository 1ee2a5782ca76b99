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
    if known(running)? == VERSION {
        return Ok(());
    }
    // One at a time makes them.
    hold(running)?;
    if known(running)? == VERSION {
        return Ok(());
    }
    change(running, 0)?;
    for numbered in addition::missing(&[]) {
        add(running, numbered)?;
    }
    Ok(())
}

/// The version that this gate writes, or 0 if there are no tables.
fn known(running: &mut Running<'_>) -> Result<i64, StoreError> {
    let found = running.version()?;
    if found == 0 || migration::from(found)?.is_none() {
        return Ok(found);
    }
    Err(StoreError::Older { place: running.place().to_owned(), found, known: VERSION })
}

/// Waits until nobody else changes the schema. The lock has no project's name.
pub(super) fn hold(running: &Running<'_>) -> Result<(), StoreError> {
    running.run(&format!("SELECT pg_advisory_xact_lock({})", lock("")))
}

/// Takes the steps that lead on from a version.
pub(super) fn change(running: &Running<'_>, version: i64) -> Result<(), StoreError> {
    let Some(steps) = migration::from(version)? else { return Ok(()) };
    // Everybody who may use the tables has to know what they are.
    let steps = format!("{steps}; GRANT SELECT ON gate_schema TO PUBLIC");
    running.run(&steps).map_err(owners)
}

/// Makes an addition.
pub(super) fn add(running: &Running<'_>, numbered: Numbered) -> Result<(), StoreError> {
    let statements = numbered.statements(numbered.addition.postgres);
    let statements = format!("{statements}; GRANT SELECT ON gate_additions TO PUBLIC");
    running.run(&statements).map_err(owners)
}

/// The database's refusal, with who may do it.
fn owners(error: StoreError) -> StoreError {
    match error {
        StoreError::Refused { place, what } => {
            let what = format!(
                "{what}; let the owner of the database run `gate doctor --fix`, which makes the tables"
            );
            StoreError::Refused { place, what }
        }
        error => error,
    }
}

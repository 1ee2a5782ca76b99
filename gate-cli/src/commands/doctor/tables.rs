//! `gate doctor --fix`: the tables of a PostgreSQL database get what this gate knows.

use crate::failure::Failure;
use crate::invocation::Invocation;
use crate::memory;
use crate::render::print;
use crate::store::{self, Migrated, PATIENCE, Place};

/// Brings the tables of a database up to date, if they are not. What cannot be read is a finding.
pub(super) fn fix(invocation: &Invocation, json: bool) -> Result<(), Failure> {
    let Ok(place) = memory::place(&invocation.places) else { return Ok(()) };
    let Place::Database(url) = &place else { return Ok(()) };
    if !store::condition(&place, PATIENCE).is_ok_and(|condition| condition.is_outdated()) {
        return Ok(());
    }
    invocation.operator("gate doctor --fix")?;
    let migrated = store::migrate(url, PATIENCE)?;
    if json { Ok(()) } else { print(&change_line(&migrated)) }
}

/// The change in words.
fn change_line(migrated: &Migrated) -> String {
    let Migrated { place, old_version, version, additions } = migrated;
    let change = match old_version {
        0 => format!("version {version}, new"),
        old if old == version => format!("version {version}, as before"),
        old => format!("version {old} → {version}: gates that do not know it stop now"),
    };
    let names: Vec<_> =
        additions.iter().map(|addition| format!("{} {}", addition.number, addition.name)).collect();
    let additions =
        if names.is_empty() { String::new() } else { format!("; added {}", names.join(", ")) };
    format!("tables of {place}: {change}{additions}\n")
}

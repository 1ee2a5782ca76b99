//! A place on the command line.

use std::fs;

use crate::failure::Failure;
use crate::settings::Places;
use crate::store::{DatabaseUrl, Place};

/// The place that a text names: a folder, an address, or where an address is.
///
/// # Errors
///
/// A file or a variable without an address, an address with a password on the command line.
pub(super) fn named(text: &str, places: &Places) -> Result<Place, Failure> {
    if let Some(file) = text.strip_prefix('@') {
        let file = places.folder.join(file);
        let url = fs::read_to_string(&file).map_err(|error| {
            Failure::file("database-file", "read the database's address from", &file, &error)
        })?;
        return Ok(Place::Database(url.parse()?));
    }
    if let Some(name) = text.strip_prefix("env:") {
        let url = places.variable(name).ok_or_else(|| {
            Failure::usage("database-address", format!("the variable {name} is not set"))
        })?;
        return Ok(Place::Database(url.parse()?));
    }
    if !["postgres://", "postgresql://"].iter().any(|start| text.starts_with(start)) {
        return Ok(Place::Folder(places.folder.join(text)));
    }
    let url: DatabaseUrl = text.parse()?;
    if url.has_password() {
        let message = "a password on the command line is visible to everybody on this machine";
        return Err(Failure::usage("database-address", message).hint(
            "write the address to a file and name it as @FILE, or name a variable: env:NAME",
        ));
    }
    Ok(Place::Database(url))
}

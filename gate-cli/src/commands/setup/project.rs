//! The folder that `gate setup` sets up.

use gate_checks::project::detect_with_ci;

use super::super::common::{no_home, no_project};
use crate::context::Here;
use crate::failure::Failure;
use crate::settings::Places;

/// The project that the command was called in: the folder whose gate.toml counts; else the
/// folder itself, if something is found to check in it; else the repository's root.
///
/// # Errors
///
/// A home folder, or one in which nothing can be checked.
pub(super) fn find(here: &Here) -> Result<Here, Failure> {
    let places = &here.places;
    if places.project_file()?.is_some() {
        return Ok(Here { places: places.clone() });
    }
    let own = detect_with_ci(&places.folder);
    let folder = match own.proposals.is_empty() {
        true => places.top(),
        false => places.folder.clone(),
    };
    no_home(places, &folder)?;
    if own.proposals.is_empty() && !own.repository {
        let folder = folder.display();
        return Err(no_project(&format!(
            "{folder} is no project: it is in no git repository, and no known tool builds or \
             tests it"
        )));
    }
    Ok(Here { places: Places { folder, ..places.clone() } })
}

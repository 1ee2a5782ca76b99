//! A control for Bats.

use super::draft::Draft;
use super::place::Place;

/// A file in the folder that the command names; where it names files, an
/// addition to the first of them.
pub(super) fn draft(place: &Place<'_>, id: &str) -> Option<Draft> {
    let test = format!("@test \"{id}\" {{\n  false\n}}\n");
    let path = place.paths().into_iter().next()?;
    Some(if path.is_dir() {
        let text = format!("#!/usr/bin/env bats\n\n{test}");
        Draft { file: path.join(format!("{id}.bats")), text }
    } else {
        Draft { file: path, text: format!("\n{test}") }
    })
}

//! A control for Bats.

use super::draft::{Draft, Namer};
use super::kind::Kind;
use super::place::Place;

/// A file in the folder that the command names; if it names files, an addition to the first of
/// them.
pub(super) fn draft(place: &Place<'_>, name: Namer<'_>) -> Option<Draft> {
    let (raise, assertion) = (name(Kind::Raise), name(Kind::Assertion));
    let tests = format!(
        "@test \"{}\" {{\n  false\n}}\n\n@test \"{}\" {{\n  [ \"{}\" = \"{}\" ]\n}}\n",
        raise.snake(),
        assertion.snake(),
        assertion.got(),
        assertion.wanted()
    );
    let path = place.paths().into_iter().next()?;
    let (file, text) = if path.is_dir() {
        let file = path.join(format!("{}.bats", raise.snake()));
        (file, format!("#!/usr/bin/env bats\n\n{tests}"))
    } else {
        (path, format!("\n{tests}"))
    };
    Some(Draft::new(file, text, [raise, assertion]))
}

//! The running program, by a path that will still lead to it.

use std::path::{Path, PathBuf};

use super::roots::Roots;
use crate::failure::Failure;

/// The whole path of the running program. Where PATH has it as `gate`, that
/// path: an update may replace what a link leads to.
///
/// # Errors
///
/// The program's file is not there any more.
pub(crate) fn running_program(roots: &Roots) -> Result<PathBuf, Failure> {
    let running = std::env::current_exe().ok().filter(|program| program.is_file());
    let running = running.ok_or_else(|| {
        Failure::internal("program-unknown", "the path of the running program cannot be found out")
    })?;
    let in_path = roots.in_path("gate").filter(|program| is_same(program, &running));
    Ok(in_path.unwrap_or(running))
}

pub(super) fn is_same(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

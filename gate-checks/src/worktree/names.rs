//! Names of files as git has them: bytes, relative to the root, with slashes.

use std::ffi::OsStr;
use std::path::{Component, Path};

use gate_core::text;
use gate_platform::{OsStrExt, RealPath, git_name};

use super::error::WorktreeError;

/// Bytes as a path.
pub(super) fn path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

/// A name has no `..` and is not absolute.
pub(super) fn is_plain(name: &[u8]) -> bool {
    path(name).components().all(|part| matches!(part, Component::Normal(_)))
}

/// The project's folder relative to the root: empty, or with a slash at the end.
pub(super) fn prefix_of(project: &Path, root: &Path) -> Result<Vec<u8>, WorktreeError> {
    let real = project.real_path().unwrap_or_else(|_| project.to_path_buf());
    let relative = real.strip_prefix(root).or_else(|_| project.strip_prefix(root));
    let Ok(relative) = relative else {
        return Err(WorktreeError::Outside { project: project.into(), root: root.into() });
    };
    let mut prefix = git_name(relative).into_owned();
    if !prefix.is_empty() {
        prefix.push(b'/');
    }
    Ok(prefix)
}

/// A file's name, safe to print: control characters, marks that hide or reorder text and bytes that
/// are no UTF-8 are spelled out.
pub(crate) fn shown(path: &[u8]) -> String {
    let mut name = String::with_capacity(path.len());
    for part in path.utf8_chunks() {
        for letter in part.valid().chars() {
            if letter.is_control() || !letter.is_ascii() && is_removed_when_cleaned(letter) {
                name.extend(letter.escape_default());
            } else {
                name.push(letter);
            }
        }
        name.extend(part.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    name
}

fn is_removed_when_cleaned(letter: char) -> bool {
    text::clean(letter.encode_utf8(&mut [0; 4])).is_empty()
}

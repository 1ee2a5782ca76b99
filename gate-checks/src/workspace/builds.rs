//! Removes cargo's output for the control tests that gate planted: their names are random, so it is
//! never built again.

use std::fs;
use std::path::{Path, PathBuf};

use crate::control::ControlNames;

/// The folders on the way to that of a profile, the target folder among them: `target/<triple>/debug`.
pub(super) const MAX_DEPTH: usize = 3;

/// The folder in that of a profile in which cargo notes what it has built.
const FINGERPRINTS: &str = ".fingerprint";

/// Removes the output for files with these names from a folder of builds. A file that stays costs only
/// room.
pub(super) fn forget(target: &Path, names: &ControlNames) {
    for profile in profiles(target, MAX_DEPTH) {
        for folder in ["deps", "incremental"] {
            for path in entries(&profile.join(folder)).filter(|path| has_name(path, names)) {
                remove(&path);
            }
        }
        // A folder is named after the package, and the files in it after the test or library.
        for fingerprint in entries(&profile.join(FINGERPRINTS)) {
            if entries(&fingerprint).any(|path| has_name(&path, names)) {
                remove(&fingerprint);
            }
        }
    }
}

/// The folders of profiles in and below a folder.
pub(super) fn profiles(folder: &Path, depth: usize) -> Vec<PathBuf> {
    if folder.join(FINGERPRINTS).is_dir() {
        return vec![folder.to_owned()];
    }
    let Some(depth) = depth.checked_sub(1) else { return Vec::new() };
    entries(folder).filter(|path| path.is_dir()).flat_map(|path| profiles(&path, depth)).collect()
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}

fn has_name(path: &Path, names: &ControlNames) -> bool {
    path.file_name().is_some_and(|name| names.occur_in(&name.to_string_lossy()))
}

fn remove(path: &Path) {
    let is_folder = path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir());
    let _ = if is_folder { fs::remove_dir_all(path) } else { fs::remove_file(path) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::FailureKind;

    #[test]
    fn what_has_the_name_goes_and_all_else_stays() {
        let target = tempfile::tempdir().unwrap();
        let files = [
            ("debug/deps/order_101-ab", true),
            ("debug/deps/order_101-ab.d", true),
            ("debug/deps/thing-ab", false),
            ("debug/incremental/order_101-xy/s/a", true),
            ("debug/incremental/thing-xy/s/a", false),
            ("debug/.fingerprint/thing-1/test-integration-test-order_101", true),
            ("debug/.fingerprint/thing-1/invoked.timestamp", true),
            ("debug/.fingerprint/thing-2/lib-thing", false),
            ("x86_64-unknown-linux-gnu/release/.fingerprint/thing-2/lib-thing", false),
            ("x86_64-unknown-linux-gnu/release/deps/order_101-ab", true),
        ];
        for (file, _) in files {
            let file = target.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "").unwrap();
        }
        forget(target.path(), &ControlNames::numbered(&[(FailureKind::Raise, 101)]));
        for (file, goes) in files {
            assert_eq!(target.path().join(file).exists(), !goes, "{file}");
        }
    }
}

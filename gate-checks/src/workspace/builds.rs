//! Removes cargo's output for files with random names, which are never built again.

use std::fs;
use std::path::{Path, PathBuf};

use crate::control::Names;

/// The depth of a profile's folder below the target folder: `target/<triple>/debug`.
pub(super) const MAX_DEPTH: usize = 3;

/// Removes it from a folder of builds. What stays costs only room.
pub(super) fn forget(target: &Path, id: &Names) {
    for profile in profiles(target, MAX_DEPTH) {
        for part in ["deps", "incremental"] {
            for path in entries(&profile.join(part)).filter(|path| is_of(path, id)) {
                remove(&path);
            }
        }
        // A folder is named after the package, and what is in it after the target.
        for fingerprint in entries(&profile.join(FINGERPRINTS)) {
            if entries(&fingerprint).any(|path| is_of(&path, id)) {
                remove(&fingerprint);
            }
        }
    }
}

const FINGERPRINTS: &str = ".fingerprint";

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

fn is_of(path: &Path, id: &Names) -> bool {
    path.file_name().is_some_and(|name| id.occur_in(&name.to_string_lossy()))
}

fn remove(path: &Path) {
    let is_folder = path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir());
    let _ = if is_folder { fs::remove_dir_all(path) } else { fs::remove_file(path) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Kind;

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
        forget(target.path(), &Names::numbered(&[(Kind::Raise, 101)]));
        for (file, goes) in files {
            assert_eq!(target.path().join(file).exists(), !goes, "{file}");
        }
    }
}

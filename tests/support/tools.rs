//! The tools that a program under test finds, and the caches that they share.

use std::path::PathBuf;

use super::{GATE, Run};
use crate::needs::search_path;

impl Run {
    /// With the built gate as the first of PATH.
    #[cfg(unix)]
    pub(crate) fn with_gate_in_path(self) -> Self {
        let bin = self.path("bin");
        std::fs::create_dir(&bin).unwrap();
        std::os::unix::fs::symlink(GATE, bin.join("gate")).unwrap();
        let path = [vec![bin], path_without_gate()].concat();
        self.env("PATH", std::env::join_paths(path).unwrap())
    }

    /// With one build cache of Go for all tests: with a new one, each builds Go's library.
    pub(crate) fn with_go_cache(self) -> Self {
        let (name, folder) = go_cache();
        self.env(name, folder)
    }

    /// With no gate in PATH at all.
    pub(crate) fn without_gate_in_path(self) -> Self {
        self.env("PATH", std::env::join_paths(path_without_gate()).unwrap())
    }
}

/// The variable that names Go's build cache, and the cache that tests share.
pub(crate) fn go_cache() -> (&'static str, String) {
    ("GOCACHE", format!("{}/go-cache", env!("CARGO_TARGET_TMPDIR")))
}

fn path_without_gate() -> Vec<PathBuf> {
    search_path().into_iter().filter(|folder| !folder.join("gate").exists()).collect()
}

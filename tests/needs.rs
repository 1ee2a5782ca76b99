//! What a test needs and what may be absent: the one place that asks. The
//! tests of gate-core take this file in by its path.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The folder that holds the repository's README, crates and tests.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// The folder beside the repository with labelled transcripts.
pub(crate) fn shared() -> PathBuf {
    root().join("../shared")
}

/// Whether something that a test needs is here. If not, the test says that it
/// is skipped; with GATE_CI=1, which .ci/run sets, it fails instead, unless
/// GATE_WITHOUT names it.
pub(crate) fn needs(what: &str) -> bool {
    let (there, why) = match what {
        "shared" => (shared().is_dir(), "there is no folder ../shared beside the repository"),
        "bash" | "python3" => (is_program(what), "it is not in PATH"),
        _ => panic!("{what}: nobody knows how to look for it"),
    };
    if !there {
        let strict = is_set("GATE_CI", "1") && !is_set("GATE_WITHOUT", what);
        assert!(!strict, "{what}: {why}");
        let _ = writeln!(io::stderr(), "SKIPPED {what}: {why}");
    }
    there
}

fn is_set(variable: &str, to: &str) -> bool {
    std::env::var_os(variable).is_some_and(|value| value == to)
}

/// The folders of PATH.
pub(crate) fn search_path() -> Vec<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).collect()
}

fn is_program(name: &str) -> bool {
    search_path().iter().any(|folder| folder.join(name).is_file())
}

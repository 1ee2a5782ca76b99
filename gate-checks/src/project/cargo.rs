//! Cargo.

use toml::Table;

use super::folder::Folder;
use super::proposal::{Aim, Found, Proposal};

/// The file of a project that is tested by nextest.
const NEXTEST: &str = ".config/nextest.toml";

/// Proposes for a folder with a Cargo.toml.
pub(super) fn look(folder: &Folder<'_>) -> Found {
    let mut found = Found::default();
    if folder.has("Cargo.toml") {
        let manifest = Manifest::read(folder, &mut found);
        let tests = manifest.tests(folder, &mut found);
        found.proposes(tests);
        found.proposes(manifest.proposal(Aim::Build, &["build"], &[]));
        let strict = ["--all-targets", "--", "-D", "warnings"];
        let lint = manifest.proposal(Aim::Lint, &["clippy"], &strict);
        found.proposes(lint.needs("cargo-clippy").optional());
    }
    found
}

/// The relevant facts of a manifest: without `--workspace` Cargo takes only the root's own
/// package, or the default members.
struct Manifest {
    workspace: bool,
}

impl Manifest {
    /// A manifest that cannot be read still says that this is a Cargo project;
    /// `--workspace` holds for a single package too.
    fn read(folder: &Folder<'_>, found: &mut Found) -> Self {
        let text = folder.text("Cargo.toml", found);
        let manifest = text.map(|text| text.parse::<Table>());
        if let Some(Err(error)) = &manifest {
            found.notes(format!("Cargo.toml is no valid TOML: {}", error.message()));
        }
        let table = manifest.and_then(Result::ok);
        Self { workspace: table.is_none_or(|table| table.contains_key("workspace")) }
    }

    fn tests(&self, folder: &Folder<'_>, found: &mut Found) -> Proposal {
        if folder.has(NEXTEST) && folder.finds("cargo-nextest") {
            found.notes("nextest runs no documentation tests: `cargo test --doc` does");
            let tests = self.proposal(Aim::Tests, &["nextest", "run"], &[]);
            return Proposal { why: NEXTEST.to_owned(), tool: "nextest", ..tests }
                .needs("cargo-nextest");
        }
        self.proposal(Aim::Tests, &["test"], &[])
    }

    fn proposal(&self, aim: Aim, command: &[&str], after: &[&str]) -> Proposal {
        let all: &[&str] = if self.workspace { &["--workspace"] } else { &[] };
        let words = [&["cargo"], command, all, after].concat();
        let why = if self.workspace { "[workspace] in Cargo.toml" } else { "Cargo.toml" };
        Proposal::new(aim, "cargo", &words, why)
    }
}

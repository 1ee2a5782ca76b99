//! Cargo.

use toml::Table;

use super::folder::Folder;
use super::proposal::{Aim, Findings, Proposal};

/// The file of a project that is tested by nextest.
const NEXTEST: &str = ".config/nextest.toml";

/// Proposes for a folder with a Cargo.toml.
pub(super) fn look(folder: &Folder<'_>) -> Findings {
    let mut findings = Findings::default();
    if folder.has_file("Cargo.toml") {
        let manifest = Manifest::read(folder, &mut findings);
        let tests = manifest.tests(folder, &mut findings);
        findings.propose(tests);
        findings.propose(manifest.proposal(Aim::Build, &["build"], &[]));
        let strict = ["--all-targets", "--", "-D", "warnings"];
        let lint = manifest.proposal(Aim::Lint, &["clippy"], &strict);
        findings.propose(lint.needs("cargo-clippy").optional());
    }
    findings
}

/// The relevant facts of a manifest: without `--workspace` Cargo takes only the root's own
/// package, or the default members.
struct Manifest {
    is_workspace: bool,
}

impl Manifest {
    /// A manifest that cannot be read still says that this is a Cargo project;
    /// `--workspace` holds for a single package too.
    fn read(folder: &Folder<'_>, findings: &mut Findings) -> Self {
        let text = folder.text("Cargo.toml", findings);
        let parsed = text.map(|text| text.parse::<Table>());
        if let Some(Err(error)) = &parsed {
            findings.note(format!("Cargo.toml is no valid TOML: {}", error.message()));
        }
        let table = parsed.and_then(Result::ok);
        Self { is_workspace: table.is_none_or(|table| table.contains_key("workspace")) }
    }

    fn tests(&self, folder: &Folder<'_>, findings: &mut Findings) -> Proposal {
        if folder.has_file(NEXTEST) && folder.has_program("cargo-nextest") {
            findings.note("nextest runs no documentation tests: `cargo test --doc` does");
            let tests = self.proposal(Aim::Tests, &["nextest", "run"], &[]);
            return Proposal { evidence: NEXTEST.to_owned(), tool: "nextest", ..tests }
                .needs("cargo-nextest");
        }
        self.proposal(Aim::Tests, &["test"], &[])
    }

    fn proposal(&self, aim: Aim, command: &[&str], options: &[&str]) -> Proposal {
        let packages: &[&str] = if self.is_workspace { &["--workspace"] } else { &[] };
        let words = [&["cargo"], command, packages, options].concat();
        let evidence = if self.is_workspace { "[workspace] in Cargo.toml" } else { "Cargo.toml" };
        Proposal::new(aim, "cargo", &words, evidence)
    }
}

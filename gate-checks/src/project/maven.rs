//! Maven.

use super::folder::Folder;
use super::proposal::{Aim, Found, Proposal};

/// Options for no prompts, and for a log without downloads. Not `--quiet`: it would also hide how
/// many tests ran.
const CALM: [&str; 2] = ["--batch-mode", "--no-transfer-progress"];

/// Proposes for a folder with a pom.xml: by the project's own Maven if it can be run.
pub(super) fn look(folder: &Folder<'_>) -> Found {
    let mut found = Found::default();
    if folder.has("pom.xml") {
        let (program, needs, why) = program(folder, &mut found);
        let goals: [(_, &[&str]); 2] =
            [(Aim::Tests, &["test"]), (Aim::Build, &["-DskipTests", "package"])];
        for (aim, goals) in goals {
            let words = [&[program], &CALM[..], goals].concat();
            found.proposes(Proposal::new(aim, "maven", &words, why).needs(needs));
        }
    }
    found
}

fn program(folder: &Folder<'_>, found: &mut Found) -> (&'static str, &'static str, &'static str) {
    if folder.runs("mvnw") {
        return ("./mvnw", "java", "pom.xml and mvnw");
    }
    if folder.has("mvnw") {
        found.notes("mvnw may not be executed, so that mvn is taken: chmod +x mvnw");
    }
    ("mvn", "mvn", "pom.xml")
}

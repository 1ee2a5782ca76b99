//! Gradle.

use super::folder::Folder;
use super::proposal::{Aim, Found, Proposal};

const FILES: [&str; 4] =
    ["settings.gradle.kts", "settings.gradle", "build.gradle.kts", "build.gradle"];

/// A daemon would outlive the check, which ends all that it started.
const CALM: [&str; 2] = ["--no-daemon", "--console=plain"];

/// Proposes for a folder with a Gradle build: by the project's own Gradle if it can be run.
///
/// `cleanTest` drops the earlier results: tests that Gradle takes to be up to date would not run.
pub(super) fn look(folder: &Folder<'_>) -> Found {
    let mut found = Found::default();
    if let Some(why) = folder.first(&FILES) {
        let (program, needs) = program(folder, &mut found);
        let tasks: [(_, &[&str]); 2] =
            [(Aim::Tests, &["cleanTest", "test"]), (Aim::Build, &["assemble"])];
        for (aim, tasks) in tasks {
            let words = [&[program], &CALM[..], tasks].concat();
            found.proposes(Proposal::new(aim, "gradle", &words, why).needs(needs));
        }
    }
    found
}

fn program(folder: &Folder<'_>, found: &mut Found) -> (&'static str, &'static str) {
    if folder.runs("gradlew") {
        return ("./gradlew", "java");
    }
    if folder.has("gradlew") {
        found.notes("gradlew may not be executed, so that gradle is taken: chmod +x gradlew");
    }
    ("gradle", "gradle")
}

//! Gradle and Maven, by the project's own wrapper if that can be run.

use super::folder::Folder;
use super::proposal::{Aim, Found, Proposal};

const GRADLE_FILES: [&str; 4] =
    ["settings.gradle.kts", "settings.gradle", "build.gradle.kts", "build.gradle"];

/// A build tool with a wrapper that projects commit.
struct Tool {
    name: &'static str,
    program: &'static str,
    wrapper: &'static str,
    /// Options for every command.
    options: [&'static str; 2],
    tests: &'static [&'static str],
    build: &'static [&'static str],
}

/// A daemon would outlive the check, which ends all that it started. `cleanTest` drops the earlier
/// results: tests that Gradle takes to be up to date would not run.
const GRADLE: Tool = Tool {
    name: "gradle",
    program: "gradle",
    wrapper: "gradlew",
    options: ["--no-daemon", "--console=plain"],
    tests: &["cleanTest", "test"],
    build: &["assemble"],
};

/// No prompts, and a log without downloads. Not `--quiet`: it would also hide how many tests ran.
const MAVEN: Tool = Tool {
    name: "maven",
    program: "mvn",
    wrapper: "mvnw",
    options: ["--batch-mode", "--no-transfer-progress"],
    tests: &["test"],
    build: &["-DskipTests", "package"],
};

/// Proposes for a folder with a Gradle build.
pub(super) fn look_for_gradle(folder: &Folder<'_>) -> Found {
    match folder.first(&GRADLE_FILES) {
        Some(file) => GRADLE.found(folder, file, file),
        None => Found::default(),
    }
}

/// Proposes for a folder with a pom.xml.
pub(super) fn look_for_maven(folder: &Folder<'_>) -> Found {
    if !folder.has("pom.xml") {
        return Found::default();
    }
    MAVEN.found(folder, "pom.xml", "pom.xml and mvnw")
}

impl Tool {
    /// `why` and `why_wrapper` are the evidence for the installed tool and for the wrapper.
    fn found(&self, folder: &Folder<'_>, why: &str, why_wrapper: &str) -> Found {
        let Self { name, program, wrapper, .. } = self;
        let mut found = Found::default();
        let own = format!("./{wrapper}");
        let runs_wrapper = folder.runs(wrapper);
        if !runs_wrapper && folder.has(wrapper) {
            found.notes(format!(
                "{wrapper} may not be executed, so that {program} is taken: chmod +x {wrapper}"
            ));
        }
        let (first, needs, why) = if runs_wrapper {
            (own.as_str(), "java", why_wrapper)
        } else {
            (*program, *program, why)
        };
        for (aim, tasks) in [(Aim::Tests, self.tests), (Aim::Build, self.build)] {
            let words = [&[first], &self.options[..], tasks].concat();
            found.proposes(Proposal::new(aim, name, &words, why).needs(needs));
        }
        found
    }
}

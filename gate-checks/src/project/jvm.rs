//! Gradle and Maven, by the project's own wrapper if that can be run.

use super::folder::Folder;
use super::proposal::{Aim, Findings, Proposal};

const GRADLE_FILES: [&str; 4] =
    ["settings.gradle.kts", "settings.gradle", "build.gradle.kts", "build.gradle"];

/// A build tool with a wrapper that projects commit.
struct BuildTool {
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
const GRADLE: BuildTool = BuildTool {
    name: "gradle",
    program: "gradle",
    wrapper: "gradlew",
    options: ["--no-daemon", "--console=plain"],
    tests: &["cleanTest", "test"],
    build: &["assemble"],
};

/// No prompts, and a log without downloads. Not `--quiet`: it would also hide how many tests ran.
const MAVEN: BuildTool = BuildTool {
    name: "maven",
    program: "mvn",
    wrapper: "mvnw",
    options: ["--batch-mode", "--no-transfer-progress"],
    tests: &["test"],
    build: &["-DskipTests", "package"],
};

/// Proposes for a folder with a Gradle build.
pub(super) fn look_for_gradle(folder: &Folder<'_>) -> Findings {
    match folder.first_file(&GRADLE_FILES) {
        Some(file) => GRADLE.proposals(folder, file, file),
        None => Findings::default(),
    }
}

/// Proposes for a folder with a pom.xml.
pub(super) fn look_for_maven(folder: &Folder<'_>) -> Findings {
    if !folder.has_file("pom.xml") {
        return Findings::default();
    }
    MAVEN.proposals(folder, "pom.xml", "pom.xml and mvnw")
}

impl BuildTool {
    /// Proposes for a folder; with the evidence for the installed tool, and for the wrapper.
    fn proposals(
        &self,
        folder: &Folder<'_>,
        tool_evidence: &str,
        wrapper_evidence: &str,
    ) -> Findings {
        let Self { name, program, wrapper, .. } = self;
        let mut findings = Findings::default();
        let wrapper_path = format!("./{wrapper}");
        let is_wrapper_executable = folder.has_executable(wrapper);
        if !is_wrapper_executable && folder.has_file(wrapper) {
            findings.note(format!(
                "{wrapper} may not be executed, so that {program} is taken: chmod +x {wrapper}"
            ));
        }
        // The wrapper downloads the tool, but not Java.
        let (command, needed_program, evidence) = if is_wrapper_executable {
            (wrapper_path.as_str(), "java", wrapper_evidence)
        } else {
            (*program, *program, tool_evidence)
        };
        for (aim, tasks) in [(Aim::Tests, self.tests), (Aim::Build, self.build)] {
            let words = [&[command], &self.options[..], tasks].concat();
            findings.propose(Proposal::new(aim, name, &words, evidence).needs(needed_program));
        }
        findings
    }
}

//! `gate init --merge`: checks that a gate.toml lacks, added at its end.

use std::fs;
use std::path::Path;

use gate_checks::project::Detected;
use gate_core::config::{Layer, Origin};

use super::{FoundChecks, text};
use crate::approval;
use crate::failure::Failure;
use crate::invocation::Invocation;
use crate::render::{print, print_text};

/// The first line of what is added.
const HEAD: &str = "\n# Added by `gate init --merge`.\n";

/// Keeps what the settings lack. A check of the same name, or with the same command in the same
/// folder, is there already; so is one that a comment names.
pub(super) fn missing_checks(detected: Detected, settings: &str) -> Detected {
    let mut missing = detected;
    missing.proposals.retain(|proposal| {
        let command = text::list(&proposal.command);
        !names_check(settings, &proposal.check)
            && !settings.contains(&format!("command = {command}"))
    });
    missing.repository &=
        !names_check(settings, "clean_git") && !names_check(settings, "integrity");
    if names_check(settings, "acceptance_criteria") {
        missing.criteria.clear();
    }
    missing
}

fn names_check(settings: &str, name: &str) -> bool {
    settings.contains(&format!("[checks.{name}]"))
}

/// The checks of a folder below the settings' own: they run there, under names of their own.
pub(super) fn placed_in(detected: Detected, folder: &Path) -> Detected {
    let folder = folder.display().to_string();
    let suffix = folder.replace(|c: char| !c.is_ascii_alphanumeric() && c != '_', "-");
    let mut placed = detected;
    for proposal in &mut placed.proposals {
        proposal.check = format!("{}-{suffix}", proposal.check);
        proposal.cwd = Some(match &proposal.cwd {
            Some(cwd) => format!("{folder}/{cwd}"),
            None => folder.clone(),
        });
    }
    // Git and the criteria are the whole project's, which has them in its settings if it wants.
    Detected { repository: false, criteria: Vec::new(), ..placed }
}

/// Adds the checks to the file, and says which. Approves the file if it was approved before: what
/// else stands in it has to be the person's own.
pub(super) fn add(
    invocation: &Invocation,
    file: &Path,
    checks: &FoundChecks,
) -> Result<(), Failure> {
    let tables = text::checks(&checks.detected, &checks.runs);
    if tables.is_empty() {
        return print_text(&format!("{} has all that was found\n", file.display()));
    }
    let was_approved = approval::record(invocation)?.approved;
    let settings = fs::read_to_string(file)
        .map_err(|error| Failure::file("file-unreadable", "read", file, &error))?;
    let merged = format!("{}\n{HEAD}{tables}", settings.trim_end());
    // Settings that cannot be read any more must not be written.
    Layer::parse(Origin::Project(file.to_owned()), &merged)?;
    fs::write(file, merged)
        .map_err(|error| Failure::file("file-unwritable", "write", file, &error))?;
    if was_approved {
        approval::approve_written(invocation);
    }
    let mut page = checks.page();
    page.blank();
    page.row("added to", &file.display().to_string());
    if !was_approved {
        page.row("next", "`gate trust` approves it");
    }
    print(&page.into_text())
}

#[cfg(test)]
mod tests {
    use gate_checks::project::{Aim, Proposal};

    use super::*;

    fn detected(checks: &[(&str, &str)]) -> Detected {
        let proposal = |(check, command): &(&str, &str)| Proposal {
            check: (*check).to_owned(),
            aim: Aim::Tests,
            tool: "make",
            command: command.split(' ').map(str::to_owned).collect(),
            evidence: "a file".to_owned(),
            needs_tool: "make".to_owned(),
            cwd: None,
            optional: false,
            is_missing: false,
            ci_minutes: None,
            quick: None,
        };
        let proposals = checks.iter().map(proposal).collect();
        Detected { proposals, repository: true, ..Detected::default() }
    }

    #[track_caller]
    fn check(settings: &str, expected: &[&str]) {
        let detected = detected(&[("tests", "make test"), ("lint", "make lint")]);
        let missing = missing_checks(detected, settings).proposals;
        let names: Vec<_> = missing.iter().map(|proposal| proposal.check.as_str()).collect();
        assert_eq!(names, expected, "{settings}");
    }

    #[test]
    fn a_check_that_is_there_is_not_added_again() {
        check("", &["tests", "lint"]);
        check("[checks.tests]\ncommand = [\"pytest\"]\n", &["lint"]);
        check("# [checks.lint]\n", &["tests"]);
        check("[checks.unit]\ncommand = [\"make\", \"test\"]\n", &["lint"]);
    }

    #[test]
    fn checks_of_a_folder_below_run_there_under_names_of_their_own() {
        let placed = placed_in(detected(&[("tests", "make test")]), Path::new("web/app"));
        assert_eq!(placed.proposals[0].check, "tests-web-app");
        assert_eq!(placed.proposals[0].cwd.as_deref(), Some("web/app"));
        assert!(!placed.repository);
    }
}

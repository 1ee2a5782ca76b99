//! Examinations of state, git and the supervisor, and of checks that lack what they need.

use std::path::PathBuf;

use gate_platform::PermissionsExt;

use super::*;
use crate::doctor::{Finding, examine_surroundings};
use crate::process::Supervisor;
use crate::worktree::no_commit_cause;

/// The finding with one of these codes, as its level, code and message.
#[track_caller]
fn finding(site: &CheckSite, codes: &[&str]) -> (Level, String, String) {
    let found = examine_surroundings(&policy(""), site);
    let is_wanted = |finding: &&Finding| codes.contains(&finding.code.as_str());
    let found: Vec<_> = found.iter().filter(is_wanted).collect();
    let [finding] = found.as_slice() else { panic!("{found:?}") };
    (finding.level, finding.code.clone(), finding.message.clone())
}

const STATE: [&str; 5] =
    ["state", "state-missing", "state-unwritable", "state-not-private", "state-in-tree"];

/// The finding about a state folder beside the project.
#[track_caller]
fn check_state(make: impl FnOnce(&Path) -> PathBuf, level: Level, code: &str, part: &str) {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("project");
    fs::create_dir(&project).unwrap();
    let state = Some(make(folder.path()));
    let site = CheckSite { state, ..site(&project) };
    let (found_level, found, message) = finding(&site, &STATE);
    assert_eq!((found_level, found.as_str()), (level, code), "{message}");
    assert!(message.contains(part), "{message}");
}

fn with_mode(path: PathBuf, mode: u32) -> PathBuf {
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    path
}

#[test]
fn a_state_folder_is_for_this_user_alone_and_can_be_written() {
    let made = |folder: &Path, mode| {
        fs::create_dir(folder.join("state")).unwrap();
        with_mode(folder.join("state"), mode)
    };
    check_state(|folder| made(folder, 0o700), Level::Ok, "state", "is there, for this user alone");
    check_state(
        |folder| made(folder, 0o750),
        Level::Problem,
        "state-not-private",
        "its mode is 0750",
    );
    check_state(|folder| folder.join("new/state"), Level::Ok, "state", "will be made");
    let file = |folder: &Path| {
        fs::write(folder.join("state"), "").unwrap();
        folder.join("state")
    };
    check_state(file, Level::Problem, "state-unwritable", "cannot be written");
}

#[test]
fn a_state_folder_that_will_be_made_in_the_tree_is_a_problem() {
    let project = project(&[("a", "")]);
    let site = CheckSite { state: Some(project.path().join("new/state")), ..site(project.path()) };
    let found = examine_surroundings(&policy(""), &site);
    let inside = found.iter().find(|finding| finding.code == "state-in-tree").unwrap();
    assert_eq!(inside.level, Level::Problem);
    assert_eq!(inside.hint.as_deref(), Some("set GATE_STATE_DIR to a folder outside of it"));
}

#[test]
fn without_a_folder_for_state_nothing_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let (level, code, _) = finding(&site(folder.path()), &STATE);
    assert_eq!((level, code.as_str()), (Level::Note, "state-missing"));
}

const GIT: [&str; 3] = ["git-found", "git-missing", "git-broken"];

#[test]
fn git_is_missed_where_there_is_a_repository() {
    let project = project(&[("a", "")]);
    let without_git = |folder: &Path| CheckSite { environment: Vec::new(), ..site(folder) };
    let (level, code, _) = finding(&without_git(project.path()), &GIT);
    assert_eq!((level, code.as_str()), (Level::Problem, "git-missing"));
    let cause = no_commit_cause(&without_git(project.path()));
    assert_eq!(cause, "git is not in PATH (install it)");
    let plain = tempfile::tempdir().unwrap();
    let (level, code, _) = finding(&without_git(plain.path()), &GIT);
    assert_eq!((level, code.as_str()), (Level::Note, "git-missing"));
    assert_eq!(finding(&site(plain.path()), &GIT).1, "git-found");
}

#[test]
fn a_git_that_fails_is_told_with_its_place() {
    let (folder, bin) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let git = bin.path().join("git");
    fs::write(&git, "#!/bin/sh\nexit 3\n").unwrap();
    with_mode(git.clone(), 0o755);
    let environment = vec![("PATH".to_owned(), bin.path().display().to_string())];
    let site = CheckSite { environment, ..site(folder.path()) };
    let message = format!("{} --version fails", git.display());
    assert_eq!(finding(&site, &GIT), (Level::Problem, "git-broken".to_owned(), message));
}

#[test]
fn a_repository_is_found_from_a_folder_of_it() {
    let project = project(&[("inner/a", "")]);
    let codes = ["repository", "no-repository"];
    let (level, _, message) = finding(&site(&project.path().join("inner")), &codes);
    assert_eq!(level, Level::Ok);
    assert_eq!(message, format!("the repository is {}", project.path().display()));
    let plain = tempfile::tempdir().unwrap();
    let (level, _, message) = finding(&site(plain.path()), &codes);
    let expected = format!("{} is in no git repository", plain.path().display());
    assert_eq!((level, message), (Level::Note, expected));
}

#[test]
fn a_supervisor_that_cannot_be_started_is_a_problem() {
    let folder = tempfile::tempdir().unwrap();
    let codes = ["supervisor", "supervisor-unknown", "supervisor-broken"];
    let (level, code, _) = finding(&site(folder.path()), &codes);
    assert_eq!((level, code.as_str()), (Level::Note, "supervisor-unknown"));
    let supervisor = Supervisor { program: "/no/such/gate".into(), args: Vec::new() };
    let site = CheckSite { supervisor: Some(supervisor), ..site(folder.path()) };
    let (level, code, message) = finding(&site, &codes);
    assert_eq!((level, code.as_str()), (Level::Problem, "supervisor-broken"));
    assert!(message.starts_with("checks cannot be run under /no/such/gate: "), "{message}");
}

/// The findings about checks of a project outside of git, as `code: message` with the hint.
fn findings(settings: &str, files: &[(&str, &str)]) -> Vec<(String, Option<String>)> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let found = examine(&policy(settings), &site(folder.path()));
    let line = |finding: Finding| (format!("{}: {}", finding.code, finding.message), finding.hint);
    found.into_iter().filter(|finding| finding.check.is_some()).map(line).collect()
}

#[track_caller]
fn check_finding(settings: &str, files: &[(&str, &str)], line: &str, hint: Option<&str>) {
    let expected = (line.to_owned(), hint.map(str::to_owned));
    assert!(findings(settings, files).contains(&expected), "{:#?}", findings(settings, files));
}

#[test]
fn checks_of_a_repository_need_one() {
    check_finding(
        "[checks.clean_git]\n",
        &[],
        "no-repository: not in a git repository (`git init`)",
        None,
    );
    check_finding(
        "[checks.integrity]\n",
        &[],
        "no-baseline: there is nothing to compare with: not in a git repository (`git init`)",
        None,
    );
}

#[test]
fn a_command_that_was_found_is_told_with_its_place() {
    let makefile = [("Makefile", "test:\n\ttrue\n")];
    check_finding(
        "[checks.tests]\n",
        &makefile,
        "command-found: `make -s test`, found in target test in Makefile",
        None,
    );
    check_finding(
        "[checks.lint]\n",
        &[("README.md", "")],
        "command-missing: it has no command, and the project shows none",
        Some("write `command` into [checks.lint]"),
    );
}

#[test]
fn a_missing_program_is_looked_for_where_it_was_named() {
    let missing = |command: &str| format!("[checks.a]\ncommand = [{command:?}]\n");
    check_finding(
        &missing("no-such-program"),
        &[],
        "program-missing: no-such-program is not in PATH",
        Some("install no-such-program, or put `command` right"),
    );
    check_finding(
        &missing("ci/run"),
        &[],
        "program-missing: ci/run is not there, or cannot be executed",
        Some("put `command` right"),
    );
    check_finding(
        "[checks.audit]\n",
        &[],
        "program-missing: gate-check-audit is not in PATH",
        Some("give [checks.audit] a `command`, or install gate-check-audit into a folder of PATH"),
    );
}

#[test]
fn globs_are_relative_to_the_project_within_the_tree() {
    let project = project(&[("app/src/a.py", ""), ("b.py", "")]);
    let site = site(&project.path().join("app"));
    let messages = |glob: &str| {
        let settings = format!("[checks.a]\ncommand = [\"true\"]\npaths = [{glob:?}]\n");
        let found = examine(&policy(&settings), &site).into_iter();
        let found = found.filter(|finding| finding.code.starts_with("glob-"));
        found.map(|finding| finding.message).collect::<Vec<_>>()
    };
    assert_eq!(messages("src/*.py"), [""; 0]);
    assert_eq!(messages("app/src/*.py"), ["`app/src/*.py` in `paths` matches no file"]);
    assert_eq!(messages("b.py"), ["`b.py` in `paths` matches no file"]);
}

#[test]
fn a_tree_that_cannot_be_read_is_a_problem_of_no_check() {
    let found =
        examine(&policy("[checks.a]\ncommand = [\"true\"]\n"), &site(Path::new("/no/such")));
    assert_eq!((found[0].check.as_ref(), found[0].code.as_str()), (None, "tree-unreadable"));
    let own = found.iter().filter(|finding| finding.check.as_deref() == Some("a"));
    assert_eq!(own.map(|finding| finding.code.as_str()).collect::<Vec<_>>(), ["folder-missing"]);
}

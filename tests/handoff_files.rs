//! The files that a handoff names, held against those that changed since the work began.

use crate::handoff::WHOLE;
use crate::support::{DONE, Ran, judge};

const SETTINGS: &str = "[checks.tests]\ncommand = [\"sh\", \"-c\", \"true\"]\n";

/// A project whose work is accepted, after these changes.
fn accepted(changes: &str) -> Ran {
    judge("check --all-checks out.log", DONE)
        .settings(SETTINGS)
        .file("app.py", "X = 1\n")
        .file("notes.md", "# notes\n")
        .file("old.py", "Y = 1\n")
        .file(".gitignore", "out.log\nHANDOFF.*\ndist/\n")
        .committed()
        .setup(changes)
        .code(0)
}

/// What is found wrong with the files that a handoff names.
fn found(ran: Ran, files: &str) -> (Ran, Vec<String>) {
    let list: String = files.split_whitespace().map(|file| format!("\n  - {file}")).collect();
    let handoff = WHOLE.replace("\n  - src/importer.rs", &list).replace(
        "  - `cargo test importer` -> PASS (12 of 12)\n  - `cargo clippy` -> FAIL\n    - severity: low\n    - rollback: git revert HEAD\n",
        "  - `sh -c true` -> PASS\n",
    );
    let ran = ran.again("handoff verify --json HANDOFF.md").file("HANDOFF.md", handoff).run();
    let problems = ran.json()["problems"].as_array().unwrap().clone();
    let told = problems.iter().map(|one| {
        let text = |key: &str| one[key].as_str().unwrap().to_owned();
        format!("{}: {}", text("field"), text("message"))
    });
    (ran, told.filter(|told| told.starts_with("changed_files")).collect())
}

#[test]
fn a_changed_file_that_is_left_out_is_named() {
    let ran = accepted("echo 'X = 7' >app.py");
    let (ran, told) = found(ran, "notes.md");
    assert_eq!(
        told,
        [
            "changed_files: changed since the work began, and not named: `app.py`",
            "changed_files[0]: it did not change since the work began",
        ]
    );
    let (ran, told) = found(ran, "none");
    assert!(told.len() == 1 && told[0].contains("`app.py`"), "{told:?}");
    let root = ran.path("").display().to_string();
    for name in ["app.py", "`app.py`", "./app.py", &format!("{root}/app.py"), "app.py dist/x.js"] {
        let (_, told) =
            found(accepted("echo 'X = 7' >app.py; mkdir dist; echo x >dist/x.js"), name);
        assert!(told.is_empty() || name.starts_with(&root), "{name}: {told:?}");
    }
    let (_, told) = found(ran, &format!("{root}/app.py"));
    assert_eq!(told, [""; 0]);
}

#[test]
fn a_new_file_a_removed_one_and_a_renamed_one_are_changes() {
    let (ran, told) = found(accepted("mkdir lib; echo a >lib/a.py; rm old.py"), "app.py");
    assert!(told[0].ends_with("`lib/a.py`, `old.py`"), "{told:?}");
    let (ran, told) = found(ran, "lib/a.py old.py");
    assert_eq!(told, [""; 0]);
    let (_, told) = found(ran, "lib old.py");
    assert_eq!(told, [""; 0], "a folder stands for what it holds");
    for names in ["new.py", "old.py new.py"] {
        let (_, told) = found(accepted("git mv old.py new.py"), names);
        assert_eq!(told, [""; 0], "{names}");
    }
    let (_, told) = found(accepted("git mv old.py new.py"), "old.py");
    assert!(told.len() == 1 && told[0].ends_with("`new.py`"), "{told:?}");
}

#[test]
fn what_is_no_part_of_the_work_need_not_be_named() {
    // Ignored by git or by gate, as nothing changed, and the handoff itself.
    let (_, told) =
        found(accepted("echo 'X = 7' >app.py; mkdir dist; echo x >dist/x.js"), "app.py");
    assert_eq!(told, [""; 0]);
    let (ran, told) = found(accepted("true"), "none");
    assert_eq!(told, [""; 0]);
    // Where all is committed, gate may have come after the work.
    let (_, told) = found(ran, "app.py");
    assert_eq!(told, [""; 0]);
    let ignoring = format!("[tree]\nignore = [\"*.lock\"]\n{SETTINGS}");
    let ran = judge("check --all-checks out.log", DONE)
        .settings(&ignoring)
        .file("app.py", "X = 1\n")
        .file(".gitignore", "out.log\nHANDOFF.*\n")
        .committed()
        .setup("echo 'X = 7' >app.py; echo 1 >x.lock")
        .code(0);
    let (_, told) = found(ran, "app.py");
    assert_eq!(told, [""; 0]);
}

#[test]
fn the_work_begins_at_the_baseline_and_not_at_the_commit() {
    let ran = accepted("true").again("baseline");
    let ran = ran.setup("echo dirty >notes.md").code(0);
    // What a person left uncommitted is not this work's, and what was committed since is.
    let ran = ran.again("check --all-checks out.log");
    let ran = ran.setup("echo 'X = 7' >app.py; git add app.py; git commit -qm app").code(0);
    let (ran, told) = found(ran, "app.py");
    assert_eq!(told, [""; 0]);
    let (_, told) = found(ran, "old.py");
    assert_eq!(
        told,
        [
            "changed_files: changed since the work began, and not named: `app.py`",
            "changed_files[0]: it did not change since the work began",
        ]
    );
}

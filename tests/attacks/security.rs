//! Threats to gate itself: those of `docs/security.md` that no other test holds, and
//! the document's word that there is a test.

use super::exists;
use crate::needs::root;
use crate::support::{DONE, judge};

/// The names of tests in a line: `room::name`.
fn names(line: &str) -> Vec<&str> {
    line.split('`').skip(1).step_by(2).filter(|name| name.contains("::")).collect()
}

#[test]
fn every_threat_has_a_test() {
    let text = std::fs::read_to_string(root().join("docs/security.md")).unwrap();
    let rows: Vec<_> = text.lines().filter(|line| line.starts_with("| ")).skip(2).collect();
    assert_eq!(rows.len(), 16);
    for (at, row) in rows.iter().enumerate() {
        assert!(row.starts_with(&format!("| {} |", at + 1)), "{row}");
        assert!(!names(row).is_empty(), "{row}");
        for name in names(row) {
            assert!(exists(name), "{name}");
        }
    }
}

#[test]
fn no_name_is_a_command() {
    let ran = judge("baseline", DONE)
        .settings("[checks.clean_git]\nmode = \"require\"\n[checks.integrity]\n[checks.tests]\ncommand = [\"true\"]\n")
        .file(".gitignore", "out.log\n")
        .file("-rf", "one\n")
        .file("--output=pwned", "one\n")
        .file("two\nlines.py", "one = 1\n")
        .file("$(touch pwn)/`touch pwn`;touch pwn.py", "one = 1\n")
        .committed()
        .setup("git checkout -q -b '$(touch${IFS}pwn)'")
        .code(0);
    let edit =
        "for each in ./-rf ./--output=pwned *lines.py; do echo 'two = 2' >> \"$each\"; done; \
                echo 'two = 2' >> '$(touch pwn)/`touch pwn`;touch pwn.py'; echo 1 > '-x
y'";
    let ran = ran.again("check --json out.log").setup(edit).code(1);
    let decision = ran.json();
    let summary = decision["evidence"][0]["summary"].as_str().unwrap();
    assert!(summary.starts_with("5 files are not committed"), "{summary}");
    assert!(!summary.contains('\n'), "{summary}");
    let committed = "git add -A; git commit -qm '$(touch pwn)'";
    let ran = ran.again("check --json out.log").setup(committed).code(0);
    let ran = ran.again("check --json -rf").code(2);
    for place in ["pwn", "pwned", "$(touch pwn)/pwn"] {
        assert!(!ran.path(place).exists(), "{place}");
    }
}

#[test]
fn another_gate_that_comes_first_in_path_is_not_asked() {
    let run = judge("check --json out.log", DONE)
        .settings("[checks.tests]\ncommand = [\"sh\", \"-c\", \"exit 1\"]\n")
        .setup("mkdir ../first; printf '#!/bin/sh\\ntouch ../pwned\\nexit 0\\n' > ../first/gate; chmod +x ../first/gate");
    let path = format!("{}:{}", run.at("../first").display(), std::env::var("PATH").unwrap());
    let ran = run.env("PATH", &path).code(1);
    assert_eq!(ran.json()["evidence"][0]["outcome"], "fail");
    assert_ne!(ran.json()["evidence"][0]["supervised"], false);
    assert!(!ran.path("../pwned").exists());
}

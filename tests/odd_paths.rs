//! A project whose folder has a name that is no text.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use crate::support::{DONE, Ran, Run, gate};

/// A check of tests that fails until the file `fixed` is there.
const RED: &str = "[checks.one]\ncommand = [\"sh\", \"-c\", \"test -e fixed\"]\nhermetic = true\n\
                   [checks.clean_git]\n[checks.integrity]\n";

const FOLDER: &[u8] = b"caf\xe9";

/// `gate` in that folder.
fn there(run: Run, words: &str) -> Run {
    let words = words.split_whitespace().map(OsStr::new);
    run.words("").args([OsStr::new("-C"), OsStr::from_bytes(FOLDER)]).args(words)
}

/// The project, whose settings are approved.
fn project() -> Ran {
    let make = "d=$(printf 'caf\\351'); mkdir $d; mv gate.toml $d; cp out.log $d; cd $d; \
                printf 'out.log\\nfixed\\n' >.gitignore; git init -q; git add -A; git commit -qm all";
    let run = gate("").file("gate.toml", RED).file("out.log", DONE).setup(make);
    there(run, "trust").code(0)
}

#[test]
fn a_project_whose_path_is_no_text_could_never_end() {
    let ran = there(project().again(""), "check --json caf/../out.log").run();
    assert_eq!(ran.ended(), Some(2), "it is not there");
    let ran = there(ran.again(""), "check --json out.log").code(1);
    assert!(ran.stdout.contains("one failed: exit code 1"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("gate has a defect"), "{}", ran.stdout);
    let ran = there(ran.again("").setup("cd caf* && touch fixed"), "check --json out.log").code(0);
    assert_eq!(ran.json()["verdict"], "exit");
    there(ran.again(""), "check out.log").code(0);
}

#[test]
fn every_command_answers_in_such_a_project() {
    let mut ran = there(project().again(""), "check out.log").code(1);
    for words in [
        "baseline --reason start",
        "status",
        "last",
        "log",
        "explain",
        "doctor",
        "config show --origin",
        "lock --reason x",
        "ledger verify",
        "breaker status",
        "work list",
        "bus discover",
        "install --project claude-code",
        "uninstall --project claude-code",
        "run --task t --prompt out.log --max-iterations 1 -- cat",
    ] {
        ran = there(ran.again(""), words).run();
        let text = format!("{words}: {:?}\n{}{}", ran.ended(), ran.stdout, ran.stderr);
        assert!(ran.ended().is_some_and(|code| code < 5), "{text}");
        assert!(!text.contains("gate has a defect"), "{text}");
    }
}

#[test]
fn a_hook_answers_in_such_a_project() {
    let event = r#"{"session_id":"s","hook_event_name":"Stop","stop_hook_active":false,"last_assistant_message":"All is done.\n\nEXIT_STATUS: COMPLETE\nEXIT_REASON: x"}"#;
    let ran = there(project().again("").stdin(event), "hook claude-code").code(0);
    assert_eq!((ran.out(), ran.stderr.as_str()), ("", ""), "nothing was changed: nothing is owed");
    let ran = there(ran.again("").setup("cd caf* && echo x >new").stdin(event), "hook claude-code")
        .code(0);
    assert!(!format!("{}{}", ran.stdout, ran.stderr).contains("gate has a defect"));
    let ran = there(ran.again(""), "last --json").run();
    assert!(ran.stdout.contains("one failed"), "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn a_folder_of_programs_that_is_no_text_hid_all_others() {
    let path = std::env::var_os("PATH").unwrap();
    let odd = [b"/opt/caf\xe9:", path.as_bytes()].concat();
    let run =
        gate("check --all-checks --json out.log").settings("[checks.one]\ncommand = [\"true\"]\n");
    let ran = run.file("out.log", DONE).env("PATH", OsStr::from_bytes(&odd)).code(0);
    assert_eq!(ran.json()["evidence"][0]["outcome"], "pass");
}

//! What gate knows of the work: drafted into a handoff, and held against one.

use serde_json::Value;

use crate::handoff::WHOLE;
use crate::support::{DONE, Ran, Run, STUCK, each, gate, judge};

const SETTINGS: &str = "\
[checks.tests]
command = [\"sh\", \"-c\", \"test -e fixed\"]
[checks.lint]
command = [\"test -e a && true\"]
shell = true
cwd = \"sub\"
";

/// A project in which gate has decided once, while the tests were red.
fn decided() -> Run {
    judge("check --all-checks out.log", DONE)
        .settings(SETTINGS)
        .file("sub/a", "")
        .file("old.rs", "")
        .file(".gitignore", "out.log\nHANDOFF.*\n")
        .committed()
}

/// A handoff with this verification and these files.
fn claiming(command: &str, result: &str, file: &str) -> String {
    let whole: String = WHOLE
        .lines()
        .filter(|line| !["clippy", "severity", "rollback"].iter().any(|it| line.contains(it)))
        .map(|line| format!("{line}\n"))
        .collect();
    let blocker = "\n    - severity: low\n    - rollback: none needed";
    let blocker = if result == "FAIL" { blocker } else { "" };
    whole
        .replace(
            "`cargo test importer` -> PASS (12 of 12)",
            &format!("`{command}` -> {result}{blocker}"),
        )
        .replace("src/importer.rs", file)
}

/// What verifying it finds, and the folder to go on in.
fn verified(ran: Ran, handoff: &str) -> (Ran, Vec<(String, String)>) {
    let ran = ran.again("handoff verify --json HANDOFF.md").file("HANDOFF.md", handoff).run();
    let json = ran.json();
    assert_eq!(json["ok"], json["problems"].as_array().unwrap().is_empty());
    let words = |field| each(&json, "problems", field).into_iter().map(str::to_owned);
    let found = words("field").zip(words("message")).collect();
    (ran, found)
}

#[test]
fn claimed_commands_are_held_against_what_gate_has_seen() {
    let mut ran = decided().code(1);
    for (command, result, expected) in [
        ("test -e fixed", "FAIL", None),
        ("sh -c 'test -e fixed'", "PASS", Some("gate saw it fail (record #1, tests)")),
        ("test -e fixed", "PASS", Some("gate saw it fail")),
        ("cd sub && test -e a && true", "PASS", None),
        ("cd sub && test -e a && true", "FAIL", Some("gate saw it pass (record #1, lint)")),
        ("test -e a && true", "PASS", Some("gate has no record of this command")),
        ("cargo test", "PASS", Some("no record")),
        ("cargo test", "FAIL", None),
    ] {
        let found;
        (ran, found) = verified(ran, &claiming(command, result, "old.rs"));
        match (expected, &found[..]) {
            (None, []) => {}
            (Some(words), [(field, message)]) => {
                assert!(
                    field == "verification[0]" && message.contains(words),
                    "{command}: {found:?}"
                );
            }
            _ => panic!("{command} {result}: {found:?}"),
        }
    }
    // What was seen last counts.
    let ran = ran.again("check --all-checks out.log").file("fixed", "").run();
    let (ran, found) = with_commands(ran, &claiming("test -e fixed", "FAIL", "old.rs"));
    assert!(found[0].1.contains("gate saw it pass"), "{found:?}");
    let (ran, found) = with_commands(ran, &claiming("test -e fixed", "PASS", "old.rs"));
    assert_eq!(found, []);
    let ran = ran.again("handoff verify HANDOFF.md");
    let ran = ran.file("HANDOFF.md", claiming("test -e fixed", "PASS", "fixed"));
    ran.code(0).says("HOLDS");
}

/// What is found wrong with the commands alone.
fn with_commands(ran: Ran, handoff: &str) -> (Ran, Vec<(String, String)>) {
    let (ran, mut found) = verified(ran, handoff);
    found.retain(|(field, _)| !field.starts_with("changed_files"));
    (ran, found)
}

/// The claim that the tests pass, and what is found wrong with it.
fn claimed_pass(ran: Ran) -> (Ran, Vec<String>) {
    let (ran, found) = with_commands(ran, &claiming("test -e fixed", "PASS", "old.rs"));
    (ran, found.into_iter().map(|(field, message)| format!("{field}: {message}")).collect())
}

#[test]
fn a_pass_counts_for_the_tree_that_was_checked() {
    let ran = decided().file("fixed", "").setup("git add -A && git commit -qm mended").code(0);
    let (ran, found) = claimed_pass(ran);
    assert_eq!(found, [""; 0]);
    // A commit alone changes no file; one that breaks the work does.
    let ran = ran.again("log").setup("git commit -q --allow-empty -m same").run();
    let (ran, found) = claimed_pass(ran);
    assert_eq!(found, [""; 0]);
    let ran = ran.again("log").setup("git rm -q fixed && git commit -qm broken").run();
    let (ran, found) = claimed_pass(ran);
    let expected = "verification[0]: PASS is claimed, and gate saw that of another tree (record #1";
    assert!(found.len() == 1 && found[0].starts_with(expected), "{found:?}");
    // A pass of another tree says nothing against a failure either.
    let (ran, found) = with_commands(ran, &claiming("test -e fixed", "FAIL", "old.rs"));
    assert_eq!(found, []);
    // The newest record counts, also where an older one is of this very tree.
    let ran = ran.again("check --all-checks out.log").code(1);
    let ran = ran.again("log").file("fixed", "").run();
    let (_, found) = claimed_pass(ran);
    assert!(found.len() == 1 && found[0].contains("gate saw it fail (record #2"), "{found:?}");
}

#[test]
fn the_handoff_and_the_transcript_are_no_part_of_what_was_checked() {
    let whole = claiming("test -e fixed", "PASS", "fixed");
    let here = |words: &str, log: &str| {
        judge(words, DONE)
            .settings(SETTINGS)
            .file("sub/a", "")
            .file("fixed", "")
            .file(".gitignore", log)
    };
    let verify = |ran: Ran, words: &str| {
        ran.again(&format!("handoff verify {words}")).file("HANDOFF.md", &whole)
    };
    let ran = here("check --all-checks out.log", "")
        .committed()
        .setup("git rm -q --cached out.log && git commit -qm log")
        .code(0);
    let ran = verify(ran, "--transcript out.log HANDOFF.md").code(0);
    let ran = verify(ran, "HANDOFF.md").code(1).says("of another tree");
    // What stands beside the handoff is a part of it, whatever its folder is.
    let ran = ran.again("handoff verify --transcript out.log new/HANDOFF.md");
    ran.file("new/HANDOFF.md", &whole).file("new/a.rs", "").code(1).says("of another tree");
    // A handoff that was there already counts as it was.
    let ran = here("check --all-checks out.log", "out.log\n")
        .file("HANDOFF.md", &whole)
        .committed()
        .code(0);
    let ran = verify(ran, "HANDOFF.md").code(0);
    ran.again("handoff verify HANDOFF.md").file("HANDOFF.md", whole.replace("qa", "qb")).code(1);
}

#[test]
fn claimed_files_are_there_or_were() {
    let mut ran = decided().setup("git rm -q old.rs && git commit -qm gone").code(1);
    let root = ran.path("").display().to_string();
    for (file, known) in [
        ("old.rs", true),
        ("sub/a", true),
        ("`sub/a`", true),
        ("never.rs", false),
        ("*.rs", false),
        ("../out", false),
        ("../../../../../../no/such", false),
        (&format!("{root}/sub/a"), true),
        (&format!("{root}/old.rs"), true),
        (&format!("{root}/never"), false),
    ] {
        let found;
        (ran, found) = verified(ran, &claiming("test -e fixed", "FAIL", file));
        let fields: Vec<_> = found.iter().map(|(field, _)| field.as_str()).collect();
        assert_eq!(fields, if known { vec![] } else { vec!["changed_files[0]"] }, "{file}");
    }
}

#[test]
fn what_lacks_something_or_is_none_does_not_hold() {
    let ran = decided().code(1);
    let (ran, found) =
        verified(ran, &claiming("test -e fixed", "FAIL", "old.rs").replace("qa", "?"));
    assert_eq!(found[0].0, "open_risks[0].owner");
    let (_, found) = verified(ran, "nothing");
    assert!(found.len() == 1 && found[0].0.is_empty(), "{found:?}");
}

#[test]
fn a_draft_says_what_gate_knows() {
    let ran = decided().file("new.rs", "").code(1);
    let ran = ran.again("handoff new --json --objective Mend").code(0);
    let json = ran.json();
    assert_eq!(
        (&json["objective"], &json["changed_files"]),
        (&"Mend".into(), &serde_json::json!(["new.rs"]))
    );
    let commands = each(&json, "verification", "command");
    assert_eq!(commands, ["cd sub && test -e a && true", "test -e fixed"]);
    assert_eq!(each(&json, "verification", "result"), ["PASS", "FAIL"]);
    assert!(each(&json, "open_risks", "risk")[0].contains("tests"), "{json}");
    // What it says of commands and files is true, and the rest is to be filled in.
    let text = json.to_string();
    let ran = ran.again("handoff verify --json HANDOFF.json").file("HANDOFF.json", text).code(1);
    let json = ran.json();
    let fields = each(&json, "problems", "field");
    assert!(
        fields.contains(&"in_scope[0]") && fields.contains(&"verification[1].blocker.severity")
    );
    assert!(
        !fields
            .iter()
            .any(|field| ["verification[0]", "verification[1]", "changed_files[0]"].contains(field))
    );
}

#[test]
fn a_draft_names_what_was_committed_since() {
    let run = gate("handoff new --json --since HEAD~1").settings("").file("a", "").committed();
    let json =
        run.file("b", "").setup("git add b && git commit -qm b").file("c", "").code(0).json();
    assert_eq!(json["changed_files"], serde_json::json!(["b", "c"]));
    for format in ["md", "json", "a2a"] {
        let text = gate(&format!("handoff new --format {format}")).code(0).stdout;
        let whole = gate("handoff convert --json -").stdin(text).code(1).json();
        assert_ne!(whole["text"], Value::Null, "{format}");
    }
}

#[test]
fn a_draft_is_of_the_task_that_is_asked_for() {
    let ran = judge("check --task t1 out.log", STUCK).settings("").code(4);
    let ran = ran.again("handoff new --json --task t1").code(0);
    assert!(each(&ran.json(), "open_risks", "risk")[0].contains("sample files"), "{}", ran.stdout);
    let ran = ran.again("handoff new --json --task t2").code(0);
    assert_eq!(each(&ran.json(), "open_risks", "risk"), ["..."]);
}

//! The check `handoff`, around the program.

use serde_json::Value;

use crate::support::{DONE, Ran, Run, judge};

const SETTINGS: &str = "[checks.handoff]\nfiles = [\"HANDOFF.md\"]\n";

const WHOLE: &str = "\
## Handoff
- objective: Read both layouts
- in_scope: The importer
- out_of_scope: The exporter
- changed_files:
  - src/importer.rs
- verification:
  - `cargo test importer` -> PASS
- open_risks:
  - Old archives are untested, they may not load, qa
- next_actions:
  1. Load an old archive
- assumptions:
  - Archives are UTF-8
";

fn with(settings: &str, file: &str, text: impl AsRef<[u8]>) -> Run {
    judge("check --json --no-state out.log", DONE).settings(settings).file(file, text)
}

/// What the check came to: its outcome and its summary.
fn came(ran: &Ran) -> (String, String) {
    let json = ran.json();
    let word = |key: &str| json["evidence"][0][key].as_str().unwrap().to_owned();
    (word("outcome"), word("summary"))
}

#[track_caller]
fn fails(settings: &str, file: &str, text: impl AsRef<[u8]>, summary: &str) -> Value {
    let ran = with(settings, file, text).code(1);
    let (outcome, said) = came(&ran);
    assert!(outcome == "fail" && said.contains(summary), "{outcome}: {said}");
    ran.json()
}

#[test]
fn a_handoff_that_says_everything_passes_and_is_a_claim() {
    let ran = with(SETTINGS, "HANDOFF.md", WHOLE).code(0);
    assert_eq!(came(&ran).0, "pass");
    assert_eq!(ran.json()["evidence"][0]["claim"], true);
    let json = "{\"objective\":\"a\",\"in_scope\":[\"b\"],\"out_of_scope\":[\"c\"],\"changed_files\":[\"d\"],\
                \"verification\":[{\"command\":\"make\",\"result\":\"PASS\"}],\
                \"open_risks\":[{\"risk\":\"e\",\"impact\":\"f\",\"owner\":\"g\"}],\
                \"next_actions\":[\"h\"],\"assumptions\":[\"i\"]}";
    let both = "[checks.handoff]\nfiles = [\"HANDOFF.md\", \"notes/*.json\"]\n";
    let ran = with(both, "HANDOFF.md", WHOLE).file("notes/a.json", json).code(0);
    assert_eq!(came(&ran).1, "all 2 handoffs say all that they have to");
}

#[test]
fn what_it_lacks_is_named() {
    let end =
        fails(SETTINGS, "HANDOFF.md", WHOLE.replace(", qa", ""), "HANDOFF.md, open_risks[0].owner");
    let problem = &end["evidence"][0]["detail"]["problems"][0];
    assert_eq!((&problem["rule"], &problem["file"]), (&3.into(), &"HANDOFF.md".into()));
    assert!(
        end["reasons"][0]["message"].as_str().unwrap().contains("open_risks[0].owner"),
        "{end}"
    );
    fails(SETTINGS, "HANDOFF.md", WHOLE.replace("PASS", "FAIL"), "blocker.severity");
    fails(SETTINGS, "HANDOFF.md", "", "there is no handoff");
    fails(SETTINGS, "HANDOFF.md", b"## Handoff\n- objective: \xff\n", "HANDOFF.md:2 is not UTF-8");
    fails(
        SETTINGS,
        "HANDOFF.md",
        format!("{WHOLE}- next: x\n"),
        "next: line 15: there is no such key",
    );
    fails(SETTINGS, "other.md", WHOLE, "HANDOFF.md: no such file");
    let many = "- objective: ...\n".to_owned();
    fails(SETTINGS, "HANDOFF.md", many, "and 5 more");
}

#[test]
fn what_cannot_be_looked_at_is_no_pass() {
    for settings in ["[checks.handoff]\n", "[checks.handoff]\nfiles = [\"folder\"]\n"] {
        let ran = with(settings, "HANDOFF.md", WHOLE).folder("folder").code(1);
        assert_eq!(came(&ran).0, "inconclusive", "{settings}");
    }
}

//! `gate handoff`: drafted, checked, written in another format.

use std::fs;

use serde_json::Value;

use crate::needs::{needs, root, shared};
use crate::support::{Run, each, gate};

pub(crate) const WHOLE: &str = "\
## Handoff
- objective: Read both layouts
- in_scope:
  - The importer
- out_of_scope:
  - The exporter
- changed_files:
  - src/importer.rs
- verification:
  - `cargo test importer` -> PASS (12 of 12)
  - `cargo clippy` -> FAIL
    - severity: low
    - rollback: git revert HEAD
- open_risks:
  - Old archives are untested, they may not load, qa
- next_actions:
  1. Load an old archive
  2. Mend the warning
- assumptions:
  - Archives are UTF-8
- a2a:
  - protocol_version: 0.3
  - sender:
    - agent_id: builder
    - provider: p
    - model: m-1
  - receiver:
    - agent_id: reviewer
    - provider: q
    - model: n-2
  - capabilities_required:
    - cargo
  - interaction_id: int-7
";

fn with(words: &str, text: impl AsRef<[u8]>) -> Run {
    gate(words).file("HANDOFF.md", text)
}

fn fields(json: &Value) -> Vec<&str> {
    each(json, "problems", "field")
}

#[test]
fn a_handoff_that_says_everything_holds() {
    let ran = with("handoff check HANDOFF.md", WHOLE).code(0).stderr("");
    let ran = ran.stdout("HOLDS  it says all that it has to\n");
    let json = ran.again("handoff check --json HANDOFF.md").code(0).json();
    assert_eq!(json, serde_json::json!({ "ok": true, "problems": [] }));
    gate("handoff check -").stdin(WHOLE).code(0);
    gate("handoff check --format markdown -").stdin(WHOLE).code(0);
}

#[test]
fn what_is_missing_is_named_with_its_rule() {
    for (from, to, rule, field) in [
        ("Read both layouts", "...", 1, "objective"),
        ("cargo test importer", "not run", 2, "verification[0].command"),
        (", qa", "", 3, "open_risks[0].owner"),
        ("severity: low", "severity:", 4, "verification[1].blocker.severity"),
    ] {
        let ran = with("handoff check --json HANDOFF.md", WHOLE.replace(from, to)).code(1);
        let json = ran.json();
        assert_eq!((&json["ok"], fields(&json)), (&false.into(), vec![field]));
        assert_eq!(json["problems"][0]["rule"], rule);
        let ran = ran.again("handoff check HANDOFF.md").code(1).stderr("");
        ran.says("WANTING  1 problem in HANDOFF.md\n").says(&format!("  {field}: "));
    }
    let lost = "severity: low\n    - rollback: git revert HEAD";
    let both = with("handoff check --json HANDOFF.md", WHOLE.replace(lost, "severity: ?")).code(1);
    assert_eq!(fields(&both.json()).len(), 2);
}

#[test]
fn each_format_becomes_each_other_and_nothing_is_lost() {
    let ran = with("handoff convert HANDOFF.md", WHOLE).code(0).stderr("");
    let json: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(json["verification"][1]["blocker"]["rollback"], "git revert HEAD");
    assert_eq!(json["a2a"]["protocol_version"], "0.3");
    for to in ["json", "a2a", "md"] {
        let text = with(&format!("handoff convert --to {to} HANDOFF.md"), WHOLE).code(0).stdout;
        let back = gate("handoff convert --to md -").stdin(text.clone()).code(0).stderr("");
        assert_eq!(back.stdout, WHOLE);
        let told = gate("handoff convert --json --to md -").stdin(text).code(0).json();
        assert_eq!((&told["text"], &told["format"]), (&WHOLE.into(), &"md".into()));
    }
    let message = with("handoff convert --to a2a HANDOFF.md", WHOLE).code(0).json();
    assert_eq!((&message["kind"], &message["role"]), (&"message".into(), &"agent".into()));
    assert_eq!((&message["contextId"], &message["parts"][0]["data"]), (&"int-7".into(), &json));
}

#[test]
fn what_a_message_says_beside_its_handoff_is_named() {
    let text = with("handoff convert --to a2a HANDOFF.md", WHOLE).code(0).stdout;
    let more = text.replacen('{', "{\"taskId\":\"t\",\"metadata\":{},", 1);
    let more =
        more.replacen("\"parts\": [", "\"parts\": [{\"kind\":\"text\",\"text\":\"read me\"},", 1);
    gate("handoff check -").stdin(more.clone()).code(0);
    let json = gate("handoff convert --json --to md -").stdin(more).code(1).json();
    assert_eq!(json["text"], WHOLE);
    let mut named = fields(&json);
    named.sort_unstable();
    assert_eq!(named, ["metadata", "parts[0]", "taskId"]);
}

#[test]
fn a_result_that_is_said_twice_does_not_hold() {
    let torn = WHOLE.replace(
        "`cargo test importer` -> PASS (12 of 12)",
        "cargo test -> FAIL (was -> PASS before)",
    );
    let json = with("handoff check --json HANDOFF.md", torn).code(1).json();
    assert_eq!(
        fields(&json),
        [
            "verification[0].result",
            "verification[0].blocker.severity",
            "verification[0].blocker.rollback"
        ]
    );
}

#[test]
fn what_cannot_be_read_whole_is_not_passed_on() {
    for (text, field) in [
        (WHOLE.replace("in_scope", "in_scop"), "in_scop"),
        (format!("{WHOLE}- objective: another\n"), "objective"),
        ("{\"objective\":".to_owned(), ""),
        ("[".repeat(100_000), ""),
        ("{\"a2a\":".repeat(100_000), ""),
        (String::new(), ""),
    ] {
        let ran = with("handoff convert HANDOFF.md", &text).code(1).stdout("");
        let ran = ran.tells(&format!("gate: HANDOFF.md: {field}"));
        let json = ran.again("handoff convert --json HANDOFF.md").code(1).json();
        assert_eq!((&json["text"], fields(&json)[0]), (&Value::Null, field));
    }
    // What only lacks something is whole.
    let lacking = WHOLE.replace("Archives are UTF-8", "...");
    let ran = with("handoff convert HANDOFF.md", lacking).code(1).says("\"assumptions\"");
    ran.tells("gate: HANDOFF.md: assumptions[0]: ");
}

#[test]
fn notes_are_short() {
    for (length, field) in [(1_000_000, "verification[0].notes"), (3_000_000, "")] {
        let long = WHOLE.replace("12 of 12", &"n".repeat(length));
        let json = with("handoff check --json HANDOFF.md", long).code(1).json();
        assert_eq!(fields(&json), [field]);
        assert!(json["problems"][0]["message"].as_str().unwrap().contains("bytes"), "{json}");
    }
}

#[test]
fn what_is_no_text_is_an_error_with_its_place() {
    let error = with("handoff check --json HANDOFF.md", b"## Handoff\n\xff").code(2).json();
    assert_eq!(
        (&error["schema"], &error["code"]),
        (&"gate.error.v1".into(), &"input-unreadable".into())
    );
    assert_eq!((&error["file"], &error["line"]), (&"HANDOFF.md".into(), &2.into()));
    for verb in ["check", "convert", "verify"] {
        let ran = gate(&format!("handoff {verb} --json gone.md"))
            .code(2)
            .tells("gate: cannot read gone.md");
        assert_eq!(ran.json()["file"], "gone.md");
        gate(&format!("handoff {verb} folder")).folder("folder").code(2);
    }
    gate("handoff check --format yaml x").code(2).tells("md, json, a2a");
    gate("handoff new --json --since gone")
        .file("a", "")
        .committed()
        .code(2)
        .tells("no such commit");
}

#[test]
fn the_books_example_holds() {
    let page = fs::read_to_string(root().join("docs/book/src/concepts/handoffs.md")).unwrap();
    let (_, rest) = page.split_once("```markdown\n## Handoff\n").unwrap();
    let example = rest.split_once("```").unwrap().0;
    gate("handoff check -").stdin(example).code(0);
}

#[test]
fn its_schema_is_printed() {
    let printed = gate("handoff schema").code(0).stdout;
    assert_eq!(gate("config schema handoff").code(0).stdout, printed);
}

#[test]
fn control_characters_are_not_passed_on_to_a_terminal() {
    let text = WHOLE.replace("in_scope", "\u{1b}[31m\u{202e}x");
    let ran = with("handoff check HANDOFF.md", text).code(1);
    assert!(!ran.stdout.contains(['\u{1b}', '\u{202e}']), "{:?}", ran.stdout);
}

#[test]
fn the_protocols_own_examples_are_read() {
    if !needs("shared") {
        return;
    }
    let text = fs::read_to_string(shared().join("seeds/agent-handoff-protocol.md")).unwrap();
    let fence = |language: &str| {
        let (_, rest) = text.split_once(&format!("```{language}\n")).unwrap();
        rest.split_once("```").unwrap().0.to_owned()
    };
    let (example, template) = (fence("json"), fence("md"));
    let ran = gate("handoff convert a.json").file("a.json", &example).code(0);
    let back = gate("handoff convert -").stdin(ran.stdout).code(0);
    let same = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    assert_eq!(same(&back.stdout), same(&example));
    // A template that nobody has filled in is read whole, and lacks every field.
    let ran = gate("handoff convert --json a.md").file("a.md", &template).code(1);
    let json = ran.json();
    for field in [
        "objective",
        "in_scope",
        "out_of_scope",
        "changed_files",
        "verification",
        "open_risks",
        "next_actions",
        "assumptions",
    ] {
        assert!(fields(&json).iter().any(|it| it.starts_with(field)), "{field}: {json}");
    }
    let read = same(json["text"].as_str().unwrap());
    let reason = read["a2a"]["handoff_reason"].as_str().unwrap();
    assert!(!reason.is_empty() && template.contains(reason), "{read}");
    assert!(!fields(&json).iter().any(|field| field.starts_with("a2a")), "{json}");
}

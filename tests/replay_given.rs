//! What a person gives `gate replay` beside transcripts: labels, an earlier
//! replay, a list; and how it complains where that is wrong.

use serde_json::{Value, json};

use crate::support::{DONE, Ran, Run, UNDONE, gate};

const TWO: &str = "=== Iteration 1 of 2 ===\na\n=== Iteration 2 of 2 ===\nb\n";

/// A folder of transcripts.
fn folder(words: &str) -> Run {
    gate(words).file("t/a.log", DONE).file("t/b.log", UNDONE).file("t/two.log", TWO)
}

/// The error, which names this place once.
fn complaint(ran: &Ran, code: &str, file: &str, line: &Value, key: &Value) -> String {
    let error = ran.json();
    let place = (&error["code"], &error["line"], &error["key"]);
    assert_eq!(place, (&json!(code), line, key), "{error}");
    assert!(error["file"].as_str().is_some_and(|error| error.ends_with(file)), "{error}");
    assert_eq!(ran.stderr.matches(file).count(), 1, "{}", ran.stderr);
    ran.stderr.clone()
}

#[test]
fn wrong_labels_are_told_with_their_place() {
    let none = "this is no JSON object; expected an object such as {\"file\":";
    let names = "expected one of exit, claims-done, continue, blocked, unrelated, or null";
    for (line, key, told) in [
        (r#"{"file":"a","label":"done"}"#, json!("label"), format!("is \"done\"; {names}")),
        (r#"{"file":"a","label":7}"#, json!("label"), format!("`label` is 7; {names}")),
        (r#"{"file":"a"}"#, json!("label"), format!("`label` is missing; {names}")),
        (r#"{"label":"exit"}"#, json!("file"), "`file` is missing; expected the name".into()),
        (r#"{"file":[],"label":"exit"}"#, json!("file"), "`file` is []; expected the".into()),
        (
            r#"{"file":"t/b.log","iteration":0,"label":"exit"}"#,
            json!("iteration"),
            "`iteration` is 0; expected a whole number from 1".into(),
        ),
        (
            r#"{"file":"t/b.log","iteration":"2","label":null}"#,
            json!("iteration"),
            "`iteration` is \"2\"; expected a whole number from 1".into(),
        ),
        (
            r#"{"file":"t/b.log","ambiguous":1,"label":null}"#,
            json!("ambiguous"),
            "`ambiguous` is 1; expected true or false".into(),
        ),
        (
            r#"{"file":"t/a.log","label":"blocked"}"#,
            json!("file"),
            "`file` t/a.log has another label in line 1".into(),
        ),
        (r#"{"file":"#, Value::Null, "line 2: the line ends within its object".into()),
        ("[]", Value::Null, none.into()),
        ("exit", Value::Null, none.into()),
    ] {
        let labels = format!("{{\"file\":\"t/a.log\",\"label\":\"exit\"}}\n{line}\n");
        let ran = folder("replay --json --labels l.jsonl t").file("l.jsonl", labels).code(2);
        let said = complaint(&ran, "labels-invalid", "l.jsonl", &json!(2), &key);
        assert!(said.contains("l.jsonl: line 2: ") && said.contains(&told), "{said}");
    }
}

#[test]
fn labels_that_judge_nothing_are_named() {
    let labels = r#"{"file":"t/two.log","iteration":3,"label":"continue"}
{"file":"t/two.log","iteration":2,"label":"continue"}
{"file":"t/two.log","label":"continue"}
{"file":"t","label":"continue"}
{"file":"t/gone.log","label":"continue"}
{"file":"t/gone.log","label":null}
"#;
    let told = "\
gate: l.jsonl: line 1: judges nothing: t/two.log has no iteration 3
gate: l.jsonl: line 4: judges nothing: t is a folder
gate: l.jsonl: line 5: judges nothing: t/gone.log is not there
";
    let ran = folder("replay --labels l.jsonl t").file("l.jsonl", labels).code(0).stderr(told);
    let ran = ran.says("\nall             4      1      1           0            0        0\n");
    let ran = ran.says("\n3 labels judge nothing\n");
    let ran = ran.again("replay --json --labels l.jsonl t").code(0).stderr(told);
    // Of a file that is not replayed nothing is known.
    let ran = ran.again("replay --labels l.jsonl t/a.log").code(0);
    let ran = ran.says("\n2 labels judge nothing\n");
    let gone = |it: u32| format!("{{\"file\":\"{it}.log\",\"label\":\"exit\"}}\n");
    let ran = ran
        .again("replay --labels m.jsonl t")
        .file("m.jsonl", (0..12).map(gone).collect::<String>());
    let ran = ran.code(0).tells("line 10: judges nothing: 9.log is not there\n");
    let ran = ran.tells("gate: m.jsonl: 2 more that judge nothing\n");
    assert_eq!(ran.stderr.lines().count(), 11, "{}", ran.stderr);
}

#[test]
fn what_is_no_earlier_replay_is_told_with_its_place() {
    let row = |rest: &str| format!("{{\"schema\":\"gate.replay.v1\",\"file\":\"a\"{rest}}}\n");
    for (old, line, key, told) in [
        (
            row(",\"iteration\":\"1\""),
            json!(1),
            json!("iteration"),
            "`iteration` is \"1\"; expected",
        ),
        (row(",\"iteration\":1"), json!(1), json!("verdict"), "`verdict` is missing; expected"),
        (
            row(",\"iteration\":1,\"verdict\":\"done\""),
            json!(1),
            json!("verdict"),
            "`verdict` is \"done\"; expected a verdict or null",
        ),
        (
            "\n{\"schema\":\"gate.replay.group.v1\"}".into(),
            json!(2),
            json!("schema"),
            "`schema` is \"gate.replay.group.v1\"; expected \"gate.replay.v1\"",
        ),
        ("{}".into(), json!(1), json!("schema"), "`schema` is missing; expected gate.replay.v1"),
        (
            "file,iteration\n".into(),
            json!(1),
            Value::Null,
            "line 1: this is no JSON object; expected a row",
        ),
        ("{\"schema\":".into(), json!(1), Value::Null, "line 1: the line ends within its object"),
        ("\n".into(), Value::Null, Value::Null, "no row in it; expected the output of `gate"),
    ] {
        let ran = folder("replay --json --compare old.jsonl t").file("old.jsonl", old).code(2);
        let said = complaint(&ran, "comparison-invalid", "old.jsonl", &line, &key);
        assert!(said.contains(told), "{said}");
    }
}

#[test]
fn a_list_that_is_none_is_one_error() {
    let ran = folder("replay -").stdin("t/a.log\0t/b.log\0").code(2);
    let ran = ran.tells("separated by NUL\n  hint: add -0 (--null)\n");
    for text in [UNDONE, DONE, "{\"type\":\"result\"}\n{\"type\":\"result\"}\n"] {
        let ran = folder("replay -").stdin(text).code(2).stdout("");
        ran.tells("gate: the standard input is no list of files: none of its lines names one\n");
    }
    // Files that are not there are rows, and so is a name with a space beside others.
    let ran = ran.again("replay -").stdin("a.log\nb.log\n").code(2).says("  2 unread\n");
    let ran = ran.again("replay -").stdin("t/a.log\nno such.log\n").code(2);
    ran.says("no such.log  No such file or directory").says("  1 exit, 1 unread\n");
}

#[test]
fn nothing_to_replay_is_said() {
    let ran = gate("replay t").folder("t").code(0).stderr("gate: no transcripts found\n");
    let ran = ran.says("0 iterations in 0 files");
    let ran = ran.again("replay --json t").file("t/main.rs", "x").code(0).stdout("");
    let ran = ran.tells("gate: no transcripts found\n").again("replay -").stdin("").code(0);
    ran.tells("gate: no transcripts found\n").again("replay nothing").code(2).stderr("");
}

#[test]
fn a_log_that_an_agent_shows_is_not_cut() {
    let shown = |text: &str| format!("=== Iteration 1 of 4 ===\n{text}");
    let quoted = "=== Iteration 2 of 4 ===\nAll done.\nEXIT_STATUS: COMPLETE\n";
    for text in [
        format!("I tail it:\n\n```\n{quoted}"),
        format!("So it is.\n~~~~\n```\n{quoted}~~~~\nI go on.\n"),
        format!("The log says:\n{quoted}\nso I fix it.\n"),
    ] {
        let ran = gate("replay --json a.log").file("a.log", shown(&text)).code(0);
        assert_eq!(ran.json_lines().len(), 1, "{text}");
    }
    let again = format!("{}{quoted}\n{}", shown("a\n"), shown("b\n"));
    let ran = gate("replay --json a.log").file("a.log", again).code(0);
    assert_eq!(ran.json_lines().len(), 3);
}

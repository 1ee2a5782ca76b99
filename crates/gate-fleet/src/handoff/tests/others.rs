//! Messages, drafts, and claims held against records.

use super::super::claims::unknown_files;
use super::super::draft::draft;
use super::super::*;
use super::{read_md, whole, wrong};

#[test]
fn a_message_holds_the_whole_handoff() {
    let mut handoff = whole();
    let plain = handoff.to_message();
    assert_eq!(Format::detect(&plain), Format::A2a);
    assert!(!plain.contains("contextId"));
    assert_eq!(
        read(&plain, Format::A2a),
        ParsedHandoff { handoff: Some(handoff.clone()), ..ParsedHandoff::default() }
    );
    let agent = |id: &str| Agent {
        agent_id: id.to_owned(),
        provider: "p".to_owned(),
        model: "m".to_owned(),
    };
    handoff.a2a = Some(A2a {
        protocol_version: PROTOCOL_VERSION.to_owned(),
        sender: agent("a"),
        receiver: agent("b"),
        interaction_id: "int-1".to_owned(),
        ..A2a::default()
    });
    let message = handoff.to_message();
    assert_eq!(message, handoff.to_message());
    let told = |text: &str| {
        let read = read(text, Format::A2a);
        read.all_problems().iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(told(&message), [""; 0]);
    let json: serde_json::Value = serde_json::from_str(&message).unwrap();
    assert_eq!(
        (&json["contextId"], &json["kind"], &json["role"]),
        (&"int-1".into(), &"message".into(), &"agent".into())
    );
    assert_eq!(json["parts"].as_array().map(Vec::len), Some(1));
    let with = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut json = json.clone();
        change(&mut json);
        told(&json.to_string())
    };
    let inner = |json: &mut serde_json::Value, to: &str| {
        json["parts"][0]["data"]["a2a"]["interaction_id"] = to.into();
    };
    assert_eq!(with(&|it| inner(it, "")), [""; 0]);
    assert_eq!(
        with(&|it| inner(it, "int-2")),
        ["contextId: the message says `int-1`, and its handoff another interaction_id"]
    );
    assert_eq!(with(&|it| it["role"] = "agnet".into()), ["role: user or agent is expected"]);
    assert_eq!(
        with(&|it| it["parts"][0]["kind"] = "text".into())[0],
        "parts: one data part is expected, and there is none"
    );
    let two = |it: &mut serde_json::Value| {
        let part = it["parts"][0].clone();
        it["parts"] = serde_json::json!([{ "kind": "text", "text": "hello" }, part, part]);
    };
    assert_eq!(with(&two)[0], "parts[2]: one data part is expected, and this is another");
    assert_eq!(told("{\"kind\":\"message\"}").len(), 3);
}

#[test]
fn a_draft_says_what_is_known_and_does_not_hold() {
    let ran = |command: &str, result, notes: Option<&str>| Verification {
        command: command.to_owned(),
        result,
        notes: notes.map(str::to_owned),
        blocker: None,
    };
    let drafted = draft(Handoff {
        objective: "Ship".to_owned(),
        changed_files: vec!["src/a.rs".to_owned()],
        verification: vec![
            ran("cargo test 'a b'", Outcome::Pass, None),
            ran("make && make lint", Outcome::Fail, Some("1 failed")),
        ],
        open_risks: vec![Risk { risk: "tests failed: 1 of 3".to_owned(), ..Risk::default() }],
        ..Handoff::default()
    });
    let text = drafted.to_markdown();
    assert!(text.contains("  - `cargo test 'a b'` -> PASS\n  - `make && make lint` -> FAIL (1 failed)\n    - severity: ...\n"), "{text}");
    assert_eq!(
        read_md(&text),
        ParsedHandoff { handoff: Some(drafted), ..ParsedHandoff::default() }
    );
    let missing = wrong(&text);
    assert!(missing.contains(&"open_risks[0].owner".to_owned()), "{missing:?}");
    assert!(!missing.contains(&"objective".to_owned()), "{missing:?}");
    assert_eq!(wrong(&draft(Handoff::default()).to_markdown()).len(), 11);
}

#[test]
fn a_file_that_never_was_is_no_changed_file() {
    let names = ["src/a.rs", "`src/b.rs`", "gone", "...", ""].map(str::to_owned);
    let handoff = Handoff { changed_files: names.to_vec(), ..Handoff::default() };
    let known = |name: &str| Ok::<_, ()>(name.starts_with("src/") && name.ends_with(".rs"));
    let fields: Vec<_> = unknown_files(&handoff, known)
        .unwrap()
        .into_iter()
        .map(|unknown_file| unknown_file.field)
        .collect();
    assert_eq!(fields, ["changed_files[2]"]);
    assert_eq!(unknown_files(&handoff, |_| Err("lost")), Err("lost"));
}

#[test]
fn claims_are_held_against_what_was_seen() {
    let argv = |line: &str| words(line).unwrap();
    let seen = |argvs: Vec<Vec<String>>, passed| SeenCommand {
        argvs,
        passed,
        record: "#7".to_owned(),
        is_of_this_tree: true,
    };
    let script = |line: &str| vec!["bash".to_owned(), "-c".to_owned(), line.to_owned()];
    let seen = [
        seen(vec![argv("cargo test --report x"), argv("cargo test")], Some(true)),
        seen(vec![argv("cargo test")], Some(false)),
        seen(vec![script("cd a && make")], Some(false)),
        seen(vec![argv("lint")], None),
    ];
    let held = |command: &str, result: Outcome| {
        let one = Verification { command: command.to_owned(), result, ..Verification::default() };
        contradicted_claims(&Handoff { verification: vec![one], ..Handoff::default() }, &seen)
            .first()
            .map(ToString::to_string)
    };
    assert_eq!(held("cargo  'test'", Outcome::Pass), None);
    assert_eq!(
        held("cargo test", Outcome::Fail).unwrap(),
        "verification[0]: FAIL is claimed, and gate saw it pass (#7): `cargo test` (rule 2)"
    );
    assert_eq!(
        held("cd a && make", Outcome::Pass).unwrap(),
        "verification[0]: PASS is claimed, and gate saw it fail (#7): `cd a && make` (rule 2)"
    );
    assert_eq!(held("cd a && make", Outcome::Fail), None);
    assert!(held("lint", Outcome::Pass).unwrap().contains("could not find that out"));
    let of = |lines: &[&str]| Handoff {
        verification: lines
            .iter()
            .map(|line| Verification { command: (*line).to_owned(), ..Verification::default() })
            .collect(),
        ..Handoff::default()
    };
    assert!(all_seen(&of(&["lint", "cargo test"]), &seen));
    assert!(!all_seen(&of(&["lint", "make"]), &seen));
    for unknown in ["cargo", "cargo test --all", "", "cargo 'test"] {
        assert!(held(unknown, Outcome::Pass).unwrap().contains("no record"), "{unknown}");
        assert_eq!(held(unknown, Outcome::Fail), None);
    }
}

#[test]
fn a_pass_of_another_tree_is_no_evidence() {
    let seen = |is_of_this_tree, passed| SeenCommand {
        argvs: vec![vec!["make".to_owned()]],
        passed: Some(passed),
        record: "#7".to_owned(),
        is_of_this_tree,
    };
    let held = |result: Outcome, seen: &[SeenCommand]| {
        let command = "make".to_owned();
        let one = Verification { command, result, ..Verification::default() };
        contradicted_claims(&Handoff { verification: vec![one], ..Handoff::default() }, seen)
    };
    assert_eq!(held(Outcome::Pass, &[seen(true, true)]), []);
    assert_eq!(held(Outcome::Fail, &[seen(true, true)]).len(), 1);
    let told = held(Outcome::Pass, &[seen(false, true), seen(true, true)]);
    assert!(told[0].message.contains("of another tree (#7)"), "{told:?}");
    assert_eq!(held(Outcome::Fail, &[seen(false, true)]), []);
}

#[test]
fn what_a_message_holds_beside_the_handoff_is_named() {
    let message = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut json = serde_json::from_str(&whole().to_message()).unwrap();
        change(&mut json);
        read(&json.to_string(), Format::A2a)
    };
    let read = message(&|it| {
        it["taskId"] = "t-1".into();
        it["contextId"] = "int-1".into();
        it["metadata"] = serde_json::json!({ "a": 1 });
        it["parts"][0]["metadata"] = serde_json::json!({});
        let part = it["parts"][0].clone();
        it["parts"] = serde_json::json!([{ "kind": "text", "text": "hello" }, part]);
    });
    assert_eq!((read.handoff.as_ref(), read.all_problems()), (Some(&whole()), Vec::new()));
    let mut beside: Vec<_> = read.lost_members.iter().map(|lost| lost.field.as_str()).collect();
    beside.sort_unstable();
    assert_eq!(beside, ["contextId", "metadata", "parts[0]", "parts[1].metadata", "taskId"]);
    let many = message(&|it| (0..200).for_each(|at| it[format!("k{at}")] = 1.into()));
    assert_eq!(many.lost_members.len(), 101);
}

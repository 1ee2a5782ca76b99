//! The ledger as its users see it: verified, exported, shown. A change is found at its record.

use std::io::Write;

use gate_core::ledger::{Body, Draft, Head, Sealed};
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::support::{DONE, Ran, Run, UNDONE, gate, judge, keys};

/// A ledger of four decisions.
fn recorded() -> Ran {
    let mut ran = judge("check out.log --run nightly", UNDONE).code(1);
    for _ in 0..2 {
        ran = ran.again("check out.log --run nightly").code(1);
    }
    ran.again("check out.log --run nightly").file("out.log", DONE).code(0)
}

/// Four decisions, exported.
fn exported() -> Vec<String> {
    let export = recorded().again("ledger export").code(0).stderr("");
    export.stdout.lines().map(str::to_owned).collect()
}

/// The line with another value of one member.
fn edited(line: &str, member: &str, from: &str, to: &str) -> String {
    let (from, to) = (format!("\"{member}\":{from}"), format!("\"{member}\":{to}"));
    assert!(line.contains(&from), "{line}");
    line.replacen(&from, &to, 1)
}

/// The record in a line, edited, with a hash of its own that fits.
fn resealed(line: &str) -> String {
    let mut sealed = Sealed::from_line(line.as_bytes()).unwrap();
    sealed.record.actor.push_str("-else");
    sealed.record.seal().to_line()
}

/// `gate ledger verify` over these lines.
fn verify(words: &str, lines: &[String]) -> Run {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    gate(&format!("ledger verify ledger.jsonl {words}")).file("ledger.jsonl", text)
}

#[track_caller]
fn broken(words: &str, lines: &[String], seq: u64, message: &str) {
    let report = verify(&format!("--json {words}"), lines).code(1).stderr("").json();
    let problem = json!({ "seq": seq, "message": message });
    assert_eq!((&report["ok"], &report["problem"]), (&json!(false), &problem));
    assert_eq!(report["records"], seq - 1, "the earlier records hold");
}

#[test]
fn what_gate_recorded_holds() {
    let ran = recorded().again("ledger verify").code(0).stderr("").says("HOLDS  4 records\n");
    let ran = ran.again("ledger verify --json").code(0).stderr("");
    let report = ran.json();
    assert_eq!(
        keys(&report),
        [
            "archived",
            "archived_before",
            "head",
            "known",
            "ok",
            "problem",
            "records",
            "store",
            "undecided"
        ]
        .into()
    );
    assert_eq!((&report["ok"], &report["records"]), (&json!(true), &json!(4)));
    assert_eq!(report["problem"], Value::Null);
    let ran = ran.again("ledger head").code(0);
    assert_eq!(report["known"], ran.stdout.trim_end(), "gate marks the head");
    let (seq, hash) = ran.stdout.trim_end().split_once(':').unwrap();
    assert_eq!((seq, hash), ("4", report["head"].as_str().unwrap()));
    let head = ran.again("ledger head --json").code(0).json();
    assert_eq!(head, json!({ "seq": 4, "hash": report["head"] }));
}

#[test]
fn a_forged_record_with_fitting_hashes_is_not_what_gate_would_have_said() {
    let ran = recorded();
    std::fs::remove_file(ran.mark()).unwrap();
    let database = Connection::open(ran.database()).unwrap();
    let body: String =
        database.query_row("SELECT body FROM ledger WHERE seq = 4", [], |row| row.get(0)).unwrap();
    for (from, to) in [
        ("\"ended\":true", "\"ended\":false"),
        ("\"verdict\":\"exit\"", "\"verdict\":\"continue\""),
        ("\"score\":1", "\"score\":3"),
    ] {
        assert!(body.contains(from), "{from} in {body}");
        let forged = body.replace(from, to);
        let line = ran.beside("ledger export").output().unwrap().stdout;
        let last = line.split(|byte| *byte == b'\n').nth(3).unwrap();
        let mut record = Sealed::from_line(last).unwrap().record;
        record.body = serde_json::from_str(&forged).unwrap();
        let hash = record.hash().to_string();
        let forge = "UPDATE ledger SET body = ?1, hash = ?2 WHERE seq = 4";
        database.execute(forge, [&forged, &hash]).unwrap();
        let output = ran.beside("ledger verify --json").output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(1), "{from}: {report}");
        assert_eq!((&report["problem"]["seq"], &report["records"]), (&json!(4), &json!(3)));
    }
}

#[test]
fn a_policy_that_was_changed_is_found() {
    let ran = recorded();
    let database = Connection::open(ran.database()).unwrap();
    database.execute("UPDATE policies SET text = text || ' '", []).unwrap();
    let report = ran.again("ledger verify --json").code(1).json();
    assert_eq!((&report["problem"]["seq"], &report["records"]), (&json!(1), &json!(0)));
    assert!(report["problem"]["message"].as_str().unwrap().ends_with("was changed in the store"));
}

#[test]
fn an_export_holds_wherever_it_is_read() {
    let lines = exported();
    assert_eq!(lines.len(), 4);
    let members: Value = serde_json::from_str(&lines[3]).unwrap();
    let expected = ["actor", "body", "hash", "prev", "run", "seq", "time", "type", "v"];
    assert_eq!(keys(&members), expected.into());
    assert_eq!(
        (&members["type"], &members["run"]),
        (&json!("exit_gate_passed"), &json!("nightly"))
    );
    assert_eq!(members["body"]["decision"]["verdict"], "exit");
    let unseen = "records that are missing at the end cannot be seen";
    verify("", &lines).code(0).says("HOLDS  4 records\n").says(unseen);
    gate("ledger verify -").stdin(lines.join("\n")).code(0).says(unseen);
    let head = format!("--head 4:{}", members["hash"].as_str().unwrap());
    verify(&head, &lines).code(0).says("the last head that is known is in it");
}

#[test]
fn an_edit_is_named() {
    for (member, from, to) in [
        ("actor", "\"gate\"", "\"gale\""),
        ("time", "\"2", "\"3"),
        ("type", "\"exit_gate_blocked\"", "\"exit_gate_passed\""),
        ("run", "\"nightly\"", "null"),
        ("verdict", "\"continue\"", "\"exit\""),
    ] {
        let mut lines = exported();
        lines[1] = edited(&lines[1], member, from, to);
        broken("", &lines, 2, "record 2: its hash does not fit what it says");
    }
    let mut lines = exported();
    lines[1] = resealed(&lines[1]);
    broken("", &lines, 3, "record 3 does not follow record 2");
}

#[test]
fn what_is_missing_or_in_another_order_is_named() {
    let lines = exported();
    let export = |numbers: &[usize]| {
        numbers.iter().map(|number| lines[number - 1].clone()).collect::<Vec<_>>()
    };
    broken("", &export(&[1, 3, 4]), 2, "record 2 is missing: after 1 comes 3");
    broken("", &export(&[2, 3, 4]), 1, "record 1 is missing: the ledger begins with 2");
    broken("", &export(&[1, 3, 2, 4]), 2, "record 2 is missing: after 1 comes 3");
    broken("", &export(&[1, 2, 2, 3, 4]), 3, "after record 2 comes record 2 again");
    let mut edited = lines.clone();
    edited[2].push(' ');
    let column = lines[2].len() + 1;
    let reason = format!(
        "line 3 is no record: column {column}: from here on it is not the canonical spelling of \
         its record"
    );
    broken("", &edited, 3, &reason);
    edited[2].clear();
    broken("", &edited, 3, "line 3 is no record: it is empty");
}

#[test]
fn a_cut_or_replaced_end_is_seen_where_the_head_is_known() {
    let mut lines = exported();
    let head = Sealed::from_line(lines[3].as_bytes()).unwrap().head();
    let known = format!("--head {head}");
    broken(&known, &lines[..3], 4, "the ledger ends at record 3, and 4 is known");
    broken(&known, &[], 1, "the ledger is empty, and record 4 is known");
    lines[3] = resealed(&lines[3]);
    verify("", &lines).code(0);
    broken(&known, &lines, 4, "record 4 is not the one that is known");
    verify("--head 4", &lines).code(2).tells("SEQ:HASH is expected");
}

#[test]
fn a_file_that_cannot_be_read_is_a_wrong_call() {
    for words in ["missing.jsonl", "folder", "--json missing.jsonl"] {
        let ran = gate(&format!("ledger verify {words}")).folder("folder").code(2);
        ran.tells("cannot read the ledger");
    }
    let failure = gate("ledger verify --json missing.jsonl").code(2).json();
    assert_eq!(failure["code"], "input-unreadable");
}

#[test]
fn an_edit_in_the_store_is_named() {
    for (sql, seq, message) in [
        ("update ledger set actor = 'else' where seq = 2", 2, "record 2: its hash does not fit"),
        ("update ledger set actor = 'else' where seq = 4", 4, "record 4: its hash does not fit"),
        ("update ledger set body = '{}' where seq = 2", 2, "record 2, column "),
        (
            "update ledger set body = '{}' where seq = 3; delete from ledger where seq = 2",
            2,
            "record 2 is missing: after 1 comes 3",
        ),
        ("delete from ledger where seq = 2", 2, "record 2 is missing: after 1 comes 3"),
        ("delete from ledger where seq = 4", 4, "the ledger ends at record 3, and 4 is known"),
        ("delete from ledger", 1, "the ledger is empty, and record 4 is known"),
    ] {
        let ran = recorded();
        store(&ran).execute_batch(sql).unwrap();
        found_in_the_store(ran, seq, message);
    }
}

#[test]
fn a_ledger_whose_last_record_was_replaced_is_not_the_marked_one() {
    let ran = recorded().again("ledger export").code(0);
    let sealed = resealed(ran.stdout.lines().last().unwrap());
    let sealed = Sealed::from_line(sealed.as_bytes()).unwrap();
    let row = [sealed.record.actor.clone(), sealed.hash.to_string()];
    store(&ran).execute("update ledger set actor = ?, hash = ? where seq = 4", row).unwrap();
    found_in_the_store(ran, 4, "record 4 is not the one that is known");
}

fn store(ran: &Ran) -> Connection {
    Connection::open(ran.path("../home/.local/state/gate/gate.db")).unwrap()
}

#[track_caller]
fn found_in_the_store(ran: Ran, seq: u64, message: &str) {
    let ran = ran.again("ledger verify").code(1).stderr("").says("BROKEN  ").says(message);
    let report = ran.again("ledger verify --json").code(1).json();
    assert_eq!((&report["ok"], &report["problem"]["seq"]), (&json!(false), &json!(seq)));
    assert!(report["problem"]["message"].as_str().unwrap().contains(message), "{report}");
}

#[test]
fn a_ledger_of_any_length_is_verified_in_the_same_memory() {
    let peak = |records| verified(records).peak.unwrap_or_default();
    let (short, long) = (peak(1_000), peak(8_000));
    assert!(long < short + (4 << 10), "{long} KiB for 27 MB, {short} KiB for 3 MB");
}

/// `gate ledger verify` over so many records of 3 KB each.
fn verified(records: u64) -> Ran {
    let ran = gate("ledger verify - --json").feed(move |pipe| {
        let body = Body::new(&json!({ "text": "some words\n".repeat(300) })).unwrap();
        let mut head = Head::EMPTY;
        for _ in 0..records {
            let draft = Draft {
                time: "2026-11-02T10:00:00Z".to_owned(),
                kind: "exit_gate_blocked".to_owned(),
                run: None,
                actor: "gate".to_owned(),
                body: body.clone(),
            };
            let sealed = head.follow(draft);
            head = sealed.head();
            writeln!(pipe, "{}", sealed.to_line())?;
        }
        Ok(())
    });
    let ran = ran.code(0);
    assert_eq!(ran.json()["records"], records);
    ran
}

#[test]
fn a_line_without_end_is_no_record() {
    let line = gate("ledger verify -").feed(|pipe| {
        let block = vec![b'a'; 1 << 20];
        (0..80).try_for_each(|_| pipe.write_all(&block))
    });
    line.code(1).says("BROKEN  line 1 is no record: it is longer than 64 MiB\n");
}

#[test]
fn where_nothing_is_recorded_nothing_is_wrong() {
    let ran = gate("ledger verify").code(0).stderr("").says("HOLDS  no records\n");
    let ran = ran.again("ledger export").code(0).stdout("").again("log").code(0).stdout("");
    let ran = ran.again("ledger head").code(0).stdout(&format!("{}\n", Head::EMPTY));
    ran.again("ledger show 1").code(2).tells("there is no record 1");
}

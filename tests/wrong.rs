//! `gate wrong`: a person says that a decision was a false refusal or a false exit.

use serde_json::Value;

use crate::support::{DONE, Ran, UNDONE, gate, judge};

/// A finished project whose agent said so in words that gate does not take for a signal.
const SAID: &str = "Tudo pronto.\n";

fn refused() -> Ran {
    gate("check --json out.log").settings("").file("out.log", SAID).code(1)
}

fn number(ran: &Ran) -> u64 {
    ran.json()["ledger"]["seq"].as_u64().unwrap()
}

/// The last record of the ledger.
fn last_record(ran: &Ran) -> Value {
    let export = ran.beside("ledger export").output().unwrap().stdout;
    let export = String::from_utf8(export).unwrap();
    serde_json::from_str(export.lines().last().unwrap()).unwrap()
}

#[test]
fn a_refusal_that_was_wrong_is_marked_shown_and_recorded() {
    let ran = refused();
    let seq = number(&ran);
    let ran = ran.again(&format!("wrong {seq} --reason finished --json")).code(0);
    let marked = ran.json();
    assert_eq!(marked["schema"], "gate.wrong.v1");
    assert_eq!((&marked["mistake"], &marked["label"]), (&"false-refusal".into(), &"exit".into()));
    assert_eq!((&marked["decision"], &marked["verdict"]), (&seq.into(), &"continue".into()));
    assert_eq!(marked["reason"], "finished");
    let record = last_record(&ran);
    assert_eq!((&record["type"], &record["seq"]), (&"decision_wrong".into(), &(seq + 1).into()));
    assert_eq!(record["body"]["marked"]["seq"], seq);
    assert!(record["body"]["by"]["uid"].is_u64(), "{record}");
    let ran = ran.again("last --json").code(1);
    assert_eq!(ran.json()["wrong"]["mistake"], "false-refusal");
    assert_eq!(ran.json()["ledger"]["seq"], seq, "the decision is the latest, not the mark");
    let ran = ran.again("last").code(1).says("false refusal: finished");
    let ran = ran.again("explain --json").code(0);
    assert_eq!(ran.json()["decision"]["wrong"]["reason"], "finished");
    assert_eq!(ran.json()["same"], true);
    let ran = ran.again("explain").code(0).says("false refusal: finished");
    let ran = ran.again("log").code(0).says("false refusal");
    ran.again("ledger verify").code(0);
}

#[test]
fn an_exit_that_was_wrong_is_a_false_exit() {
    let ran = judge("check --json out.log", DONE).code(0);
    let id = ran.json()["decision_id"].as_str().unwrap().to_owned();
    let ran = ran.again(&format!("wrong {id} --reason broken")).code(0);
    let ran = ran.says("marked as a false exit").says("`continue`");
    ran.again("last --json").code(0).says("false-exit");
}

#[test]
fn what_cannot_be_marked_is_refused_and_leaves_no_record() {
    let ran = refused();
    let seq = number(&ran);
    let ran = ran.again(&format!("wrong #{seq} --reason finished")).code(0);
    let before = last_record(&ran)["seq"].clone();
    for (words, why) in [
        (format!("wrong {seq} --reason again"), "is marked already: finished"),
        ("wrong 99 --reason finished".to_owned(), "no decision is called `99`"),
        (format!("wrong {} --reason finished", seq + 1), "no decision is called"),
        (format!("wrong {seq}"), "--reason"),
        ("wrong --reason finished".to_owned(), "DECISION"),
    ] {
        let refused = ran.beside(&words).output().unwrap();
        let stderr = String::from_utf8(refused.stderr).unwrap();
        assert_eq!(refused.status.code(), Some(2), "{words}: {stderr}");
        assert!(stderr.contains(why), "{words}: {stderr}");
    }
    let blank = ran.beside(&format!("wrong {seq} --reason")).arg(" ").output().unwrap();
    assert_eq!(blank.status.code(), Some(2));
    assert!(String::from_utf8(blank.stderr).unwrap().contains("words are expected"));
    assert_eq!(last_record(&ran)["seq"], before);
}

#[test]
fn a_replay_knows_which_verdicts_a_person_has_called_wrong() {
    let ran = refused();
    let seq = number(&ran);
    let ran = ran.again("replay --json out.log").file("other.log", UNDONE).code(0);
    assert_eq!(ran.json()["label"], Value::Null);
    let ran = ran.again(&format!("wrong {seq} --reason finished")).code(0);
    // The mark is about the transcript, not about its name.
    std::fs::copy(ran.path("out.log"), ran.path("copy.log")).unwrap();
    let ran = ran.again("replay --json copy.log other.log").code(1);
    let rows = ran.json_lines();
    assert_eq!((&rows[0]["label"], &rows[0]["judged"]), (&"exit".into(), &"missed-exit".into()));
    assert_eq!(rows[1]["label"], Value::Null);
    let ran = ran.again("replay --only wrong --json out.log other.log").code(1);
    assert_eq!(ran.json()["file"], "out.log");
    // What a person wrote down about the file goes before the mark.
    let labels = r#"{"file":"out.log","label":"continue"}"#;
    let words = "replay --json --labels labels.jsonl out.log";
    let ran = ran.again(words).file("labels.jsonl", labels).code(0);
    assert_eq!(ran.json()["judged"], "right");
    // A transcript that has grown since is another one.
    let ran = ran.again("replay --json out.log").file("out.log", format!("{SAID}And more.\n"));
    assert_eq!(ran.code(0).json()["label"], Value::Null);
}

#[test]
fn a_mark_on_a_large_session_is_found_by_a_replay() {
    let record = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"I look."}]},"session_id":"s"}"#;
    let log = format!("{record}\n").repeat(16_000);
    let ran = gate("check --json out.jsonl").settings("").file("out.jsonl", &log).code(1);
    let seq = number(&ran);
    let ran = ran.again(&format!("wrong {seq} --reason finished")).code(0);
    assert_eq!(ran.again("replay --json out.jsonl").code(1).json()["label"], "exit");
}

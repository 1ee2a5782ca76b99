//! The deaths of loops.

use std::fs::{self, File};
use std::path::Path;

use gate_core::history::kind;
use gate_core::ledger::{Body, Draft, Head};
use gate_lens::loops::{LoopRecord, LoopState, fold};
use serde_json::{Value, json};

use super::note_death;
use crate::memory::machine;

const LOCK: &str = ".gate-loop.lock";

/// A loop without an end in this folder, whose lock has the mark `m`, with these fields instead.
fn started(folder: &Path, changes: &Value) -> LoopRecord {
    let mut body = json!({ "machine": machine(), "folder": folder, "lock": "m", "resume": "go" });
    body.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    let start = Head::EMPTY.follow(Draft {
        time: "2026-11-02T10:00:00Z".to_owned(),
        kind: kind::RUN_STARTED.to_owned(),
        run: Some("shop-a".to_owned()),
        actor: "gate".to_owned(),
        body: Body::new(&body).unwrap(),
    });
    fold("shop", &[start]).unwrap().remove(0)
}

fn noted(mut record: LoopRecord) -> LoopRecord {
    note_death(&mut record);
    record
}

#[test]
fn only_its_own_lock_opened_and_free_says_that_a_loop_died() {
    let folder = tempfile::tempdir().unwrap();
    let state = |changes: Value| noted(started(folder.path(), &changes)).state;
    assert_eq!(state(json!({})), LoopState::Open, "there is no lock");
    fs::write(folder.path().join(LOCK), "m").unwrap();
    let lock = File::open(folder.path().join(LOCK)).unwrap();
    lock.lock().unwrap();
    assert_eq!(state(json!({})), LoopState::Open, "the lock is held");
    drop(lock);
    assert_eq!(state(json!({})), LoopState::Died);
    assert_eq!(state(json!({ "lock": "" })), LoopState::Died, "its mark is not known");
    assert_eq!(state(json!({ "lock": "n" })), LoopState::Open, "the lock is another one");
    assert_eq!(state(json!({ "machine": "elsewhere" })), LoopState::Open);
    assert_eq!(state(json!({ "folder": folder.path().join("moved") })), LoopState::Open);
    let mut decided = started(folder.path(), &json!({}));
    decided.state = LoopState::Done;
    assert_eq!(noted(decided).state, LoopState::Done, "its last decision ended it");
}

#[test]
fn a_loop_was_last_seen_by_its_own_account() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(LOCK), "m").unwrap();
    for (started_at, since, run, iteration) in [
        ("2026-11-02T09:59:59.5Z", "2026-11-02T10:00:00.5Z", "shop-a", 7),
        ("2026-11-02T10:00:00.5Z", "2026-11-02T10:09:00Z", "shop-a", 1),
        ("2026-11-02T09:00:00Z", "2026-11-02T09:30:00Z", "shop-a", 1),
        ("2026-11-02T09:59:59.5Z", "2026-11-02T10:00:00.5Z", "shop-b", 1),
    ] {
        let live = json!({ "run": run, "started": started_at, "since": since, "iteration": 7 });
        fs::write(folder.path().join(gate_fleet::run::layout::LIVE), live.to_string()).unwrap();
        let record = noted(started(folder.path(), &json!({})));
        assert!(record.why.starts_with(&format!("iteration {iteration}, ")), "{}", record.why);
    }
}

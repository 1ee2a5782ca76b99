//! Many gates at once: one decision an iteration, and nothing is lost.

use std::collections::BTreeSet;
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

use crate::support::postgres::Database;
use crate::support::{Ran, UNDONE, gate};

const MANY: u64 = 64;

/// The project on every machine. No breaker ends its loops.
const SETTINGS: &str = "[project]\nid = \"shop\"\n[breaker]\nno_exit = 0\nno_progress = 0\n";

/// A machine on which nothing was decided.
fn machine() -> Ran {
    gate("prompt").settings(SETTINGS).file("out.log", UNDONE).code(0)
}

/// What so many gates say that run at once.
fn at_once(gates: impl Iterator<Item = Command>) -> Vec<Value> {
    let start =
        |mut gate: Command| gate.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let started: Vec<_> = gates.map(start).collect();
    let ended = started.into_iter().map(Child::wait_with_output).map(Result::unwrap);
    ended.map(|output| decision(&output)).collect()
}

#[track_caller]
fn decision(output: &Output) -> Value {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert_eq!(said, "");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The numbers at a place in these decisions, each once.
fn numbers(decisions: &[Value], pointer: &str) -> BTreeSet<u64> {
    decisions.iter().map(|decision| decision.pointer(pointer).unwrap().as_u64().unwrap()).collect()
}

/// Each of these decisions is another iteration's, and stands where it says.
fn all_apart(decisions: &[Value], exported: &[Value]) {
    let all: BTreeSet<_> = (1..=MANY).collect();
    assert_eq!(decisions.len(), all.len());
    for pointer in ["/iteration", "/ledger/seq", "/breaker/counters/no_exit"] {
        assert_eq!(numbers(decisions, pointer), all, "{pointer}");
    }
    assert_eq!(exported.len(), decisions.len());
    for decision in decisions {
        assert_eq!(decision["repeated"], false);
        assert_eq!(decision["run"], "r");
        let seq = decision["ledger"]["seq"].as_u64().unwrap();
        let record = &exported[usize::try_from(seq).unwrap() - 1];
        assert_eq!(
            (record["seq"].as_u64(), &record["hash"]),
            (Some(seq), &decision["ledger"]["hash"])
        );
        assert_eq!(record["body"]["decision"]["decision_id"], decision["decision_id"]);
        assert_eq!(decision["iteration"], seq, "in the order of the ledger");
    }
}

/// All these are one decision, made by one of them.
fn all_one(decisions: &[Value], exported: &[Value]) {
    assert_eq!((decisions.len() as u64, exported.len()), (MANY, 1));
    let made = decisions.iter().filter(|decision| decision["repeated"] == false).count();
    assert_eq!(made, 1);
    for decision in decisions {
        assert_eq!(decision["iteration"], 7);
        assert_eq!(decision["decision_id"], exported[0]["body"]["decision"]["decision_id"]);
        assert_eq!(decision["ledger"]["hash"], exported[0]["hash"]);
    }
}

/// The records, of a ledger that holds.
fn exported(gate: impl Fn(&str) -> Command) -> Vec<Value> {
    let verified = gate("ledger verify").output().unwrap();
    assert_eq!(verified.status.code(), Some(0), "{}", String::from_utf8_lossy(&verified.stdout));
    let exported = gate("ledger export").output().unwrap().stdout;
    let lines = String::from_utf8(exported).unwrap();
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
#[ignore = "minutes: many processes, killed at any step"]
fn each_of_many_gates_makes_a_decision_of_its_own() {
    let ran = machine();
    let decisions = at_once((0..MANY).map(|_| ran.beside("check out.log --run r --json")));
    all_apart(&decisions, &exported(|words| ran.beside(words)));
}

#[test]
fn many_gates_make_one_decision_of_one_iteration() {
    let ran = machine();
    let words = "check out.log --run r --iteration 7 --json";
    let decisions = at_once((0..MANY).map(|_| ran.beside(words)));
    all_one(&decisions, &exported(|words| ran.beside(words)));
}

#[test]
fn numbered_by_their_callers_they_are_all_there() {
    let ran = machine();
    let words = |number| format!("check out.log --run r --iteration {number} --json");
    let decisions = at_once((1..=MANY).rev().map(|number| ran.beside(&words(number))));
    let all: BTreeSet<_> = (1..=MANY).collect();
    assert_eq!(numbers(&decisions, "/iteration"), all);
    assert_eq!(numbers(&decisions, "/ledger/seq"), all);
    assert_eq!(exported(|words| ran.beside(words)).len(), decisions.len());
}

/// Machines that have nothing in common but the database.
fn fleet(words: &str, check: impl Fn(&[Value], &[Value])) {
    let Some(database) = Database::new() else { return };
    let machines: Vec<_> = (0..4).map(|_| machine()).collect();
    let gate = |machine: &Ran, words: &str| {
        let mut gate = machine.beside(words);
        gate.env("GATE_DATABASE_URL", &database.url);
        gate.env("GATE_STATE_DIR", machine.state().join("of-this-machine"));
        gate
    };
    let each = usize::try_from(MANY).unwrap() / machines.len();
    let all = machines.iter().cycle().take(each * machines.len());
    let decisions = at_once(all.map(|machine| gate(machine, words)));
    for machine in &machines {
        check(&decisions, &exported(|words| gate(machine, words)));
    }
}

#[test]
#[ignore = "minutes: many processes, killed at any step"]
fn many_gates_of_a_fleet_make_decisions_of_their_own() {
    fleet("check out.log --run r --json", all_apart);
}

#[test]
fn a_fleet_makes_one_decision_of_one_iteration() {
    fleet("check out.log --run r --iteration 7 --json", all_one);
}

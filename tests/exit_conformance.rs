//! The agent exit protocol's own examples, and the cases that say what is
//! expected of whoever implements it.

use std::fs;

use gate_core::exit::{AgentExitConfig, ExitReason, Flag, Session, WorkPhase};
use jiff::Timestamp;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::exit::{FLAG, done, parse};
use crate::needs::{needs, shared};
use crate::run::project;
use crate::support::{gate, judge};

pub(crate) fn cases(system: &str) -> Vec<Value> {
    let text = fs::read_to_string(shared().join("conformance/cases.jsonl")).unwrap();
    let cases = text.lines().map(|line| serde_json::from_str::<Value>(line).expect(line));
    cases.filter(|case| case["system"] == system).collect()
}

pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text"))
}

/// What the program says is as a case expects it.
#[track_caller]
fn agrees(parsed: &Value, expect: &Value, case: &Value) {
    let error = parsed["error"].as_str().unwrap_or_default();
    for (name, expected) in expect.as_object().unwrap() {
        let is_so = match name.as_str() {
            "ok" | "next_phase" | "error" => parsed[name] == *expected,
            "error_prefix" => error.starts_with(text(expected)),
            "error_contains" => error.contains(text(expected)),
            _ => panic!("{name}: nobody knows what that expects: {case}"),
        };
        assert!(is_so, "{name}: {parsed:#}\n{case:#}");
    }
}

/// Somebody who keeps one work item, as whoever takes a session's signals has to.
struct Desk {
    session: Session,
    phase: WorkPhase,
    ledger: Vec<String>,
}

impl Desk {
    fn new(phase: WorkPhase) -> Self {
        let (session_id, actor_id) = ("session-1".to_owned(), "actor-1".to_owned());
        let session = Session { session_id, actor_id, active_phase: Some(phase) };
        Self { session, phase, ledger: Vec::new() }
    }

    fn takes(&mut self, json: &str) -> bool {
        let on = AgentExitConfig::enabled();
        match self.session.exit(json, &on, Timestamp::UNIX_EPOCH, Uuid::nil()) {
            Ok(result) => {
                self.ledger.push(result.event.event_type);
                self.phase = result.next_phase;
                self.session.active_phase = None;
                true
            }
            Err(_) => false,
        }
    }
}

fn handled(case: &Value) {
    let (input, expect) = (&case["input"], &case["expect"]);
    let phase = WorkPhase::parse(text(&input["active_phase"])).unwrap();
    let mut desk = Desk::new(phase);
    if desk.takes(text(&input["json"])) {
        assert_eq!(json!(desk.ledger), expect["events_appended"], "{case}");
        assert_eq!(desk.phase.as_str(), text(&expect["work_phase"]), "{case}");
        assert_eq!(desk.session.active_phase.is_none(), expect["lease"] == "released", "{case}");
    } else {
        assert_eq!(expect["ok"], false, "{case}");
        assert_eq!((desk.phase, desk.ledger.len()), (phase, 0), "{case}");
        assert_eq!(desk.session.active_phase, Some(phase), "{case}");
    }
}

fn phases(terminal: bool) -> Vec<&'static str> {
    let all = WorkPhase::ALL.iter().filter(|phase| phase.is_terminal() == terminal);
    all.map(WorkPhase::as_str).collect()
}

fn conforms(case: &Value) {
    let (input, expect) = (&case["input"], &case["expect"]);
    let given = |name: &str| text(&input[name]);
    match given("op") {
        "exit_signal.parse" => agrees(&parse(given("json")).run().json(), expect, case),
        "exit_signal.parse_if_enabled" => {
            let run = gate("exit parse --json").env(FLAG, given(FLAG)).stdin(given("json"));
            agrees(&run.run().json(), expect, case);
        }
        "exit_signal.serialize" => {
            let words = format!("--phase {} --reason {}", given("phase"), given("reason"));
            let line = gate(&format!("exit emit {words}")).code(0).stdout;
            assert_eq!(line.trim_end(), text(&expect["json"]), "{case}");
        }
        "exit_protocol.flag" => {
            let ran = gate("exit parse --json").env(FLAG, given(FLAG)).stdin(done()).run();
            assert_eq!(ran.json()["ok"], expect["enabled"], "{case}");
        }
        "flag.cached" => {
            let flag = Flag::new();
            let reads = [Some("true"), None].map(|set| flag.is_enabled(|| set.map(str::to_owned)));
            assert_eq!(json!(reads), expect["reads"], "{case}");
        }
        "phase.parse" => {
            let parsed = WorkPhase::parse(given("text"));
            assert_eq!(json!(parsed.is_ok()), expect["ok"], "{case}");
            assert_eq!(json!(parsed.ok().map(|phase| phase.as_str())), expect["phase"], "{case}");
        }
        "phase.terminal" => {
            assert_eq!(json!(phases(true)), expect["terminal"], "{case}");
            assert_eq!(json!(phases(false)), expect["not_terminal"], "{case}");
        }
        "exit_signal.scan" => {
            assert_eq!(expect["found"], 0, "only such a case is known here: {case}");
            assert_eq!(parse(given("stdout")).code(1).json()["ok"], false, "{case}");
            let ran = judge("check --json out.log", given("stdout")).env(FLAG, "true").code(1);
            assert_eq!(ran.json()["signal"]["status"], "absent", "{case}");
        }
        "exit.handle" => handled(case),
        "exit.handle twice" => {
            let mut desk = Desk::new(WorkPhase::Implementation);
            let told = |took| if took { "ok" } else { "rejected" };
            let first = told(desk.takes(given("json")));
            assert_eq!(first, text(&expect["first"]), "{case}");
            assert_eq!(told(desk.takes(given("json"))), text(&expect["second"]), "{case}");
            assert_eq!(json!(desk.ledger.len()), expect["events_appended"], "{case}");
        }
        other => panic!("{other}: nobody knows how to do that: {case}"),
    }
}

#[test]
fn each_case_comes_out_as_expected() {
    if !needs("shared") {
        return;
    }
    let cases = cases("apm2-exit");
    assert!(cases.len() >= 40, "{} cases", cases.len());
    cases.iter().for_each(conforms);
}

#[cfg(unix)]
#[test]
fn a_blocked_signal_ends_the_loop_without_success() {
    if !needs("shared") {
        return;
    }
    let cases = cases("cross");
    let about = |case: &&Value| case["input"].get("exit_signal").is_some();
    let about: Vec<_> = cases.iter().filter(about).collect();
    assert!(!about.is_empty());
    for case in about {
        let (input, expect) = (&case["input"], &case["expect"]);
        let reason = text(&input["exit_signal"]).trim_start_matches("valid ");
        let words = format!("exit emit --phase IMPLEMENTATION --reason {reason}");
        let signal = gate(&words).code(0).stdout;
        let agent = format!("echo '{}'\n", signal.trim_end());
        let ran = project(&agent).env(FLAG, text(&input["flag"])).code(1);
        let end = ran.json();
        assert_eq!(json!(end["iterations"] == 1), expect["loop_ends"], "{end}");
        assert_eq!((&end["verdict"], &end["success"]), (&json!("blocked"), &expect["success"]));
        let next = &parse(&signal).code(0).json()["next_phase"];
        assert_eq!(*next, expect["work_phase"], "{case}");
    }
}

/// What stands in the document's fences of a language.
fn fences(document: &str, language: &str) -> Vec<String> {
    let begin = format!("\n```{language}\n");
    let fences = document.split(&begin).skip(1);
    fences.map(|rest| rest.split("\n```").next().unwrap().to_owned()).collect()
}

#[test]
fn the_protocols_own_examples_hold() {
    if !needs("shared") {
        return;
    }
    let document = fs::read_to_string(shared().join("seeds/agent-exit-protocol.md")).unwrap();
    let examples = fences(&document, "json");
    assert_eq!(examples.len(), 5);
    for example in examples {
        let parsed = parse(&example).code(0).stderr("").json();
        assert_eq!(parsed["signal"], serde_json::from_str::<Value>(&example).unwrap());
        let failed = parsed["signal"]["exit_reason"] != ExitReason::Completed.as_str();
        assert_eq!(parsed["next_phase"] == "BLOCKED", failed, "{parsed}");
        let said = format!("It is ready for review.\n\n```json\n{example}\n```\n");
        let ran = judge("check --json out.log", &said).env(FLAG, "true");
        ran.code(if failed { 4 } else { 0 });
    }
}

#[test]
fn the_table_of_transitions_holds() {
    if !needs("shared") {
        return;
    }
    let document = fs::read_to_string(shared().join("seeds/agent-exit-protocol.md")).unwrap();
    let table =
        document.split("## Phase Transitions").nth(1).unwrap().split("\n## ").next().unwrap();
    let rows: Vec<Vec<&str>> = table
        .lines()
        .filter(|line| line.starts_with('|') && line.contains('`'))
        .map(|line| line.split('|').map(|cell| cell.trim().trim_matches('`')).collect())
        .collect();
    assert_eq!(rows.len(), 7);
    for row in rows {
        let [_, phase, reason, next, _] = row[..] else { panic!("{row:?}") };
        let phases = if phase == "Any" { WorkPhase::NAMES.to_vec() } else { vec![phase] };
        for phase in phases {
            let emit = format!("exit emit --phase {phase} --reason {reason}");
            let signal = gate(&emit).code(0).stdout;
            assert_eq!(parse(&signal).code(0).json()["next_phase"], next, "{phase} {reason}");
        }
    }
}

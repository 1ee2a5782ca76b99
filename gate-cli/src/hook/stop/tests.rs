//! One reply for several projects, and the debt that a stop leaves behind.

use serde_json::{Value, json};

use super::*;
use crate::tests::decision;

fn notice(text: &str) -> StopReply {
    StopReply::Notice(text.to_owned())
}

fn refuse(text: &str) -> StopReply {
    StopReply::Refuse(text.to_owned())
}

fn let_go(text: &str) -> StopReply {
    StopReply::LetGo(text.to_owned())
}

/// The reply with its text.
fn shown(reply: StopReply) -> (&'static str, String) {
    match reply {
        StopReply::Allow => ("allow", String::new()),
        StopReply::Notice(text) => ("notice", text),
        StopReply::Refuse(text) => ("refuse", text),
        StopReply::LetGo(text) => ("let go", text),
    }
}

#[track_caller]
fn check(replies: Vec<StopReply>, kind: &'static str, text: &str) {
    assert_eq!(shown(StopReply::combine(replies)), (kind, text.to_owned()));
}

#[test]
fn a_refusal_wins_and_unfinished_work_comes_before_notices() {
    let all = || vec![StopReply::Allow, notice("n"), let_go("l"), refuse("r"), refuse("s")];
    check(all(), "refuse", "r\n\ns");
    check(all().into_iter().take(3).chain([let_go("m")]).collect(), "let go", "l\nm");
    check(vec![notice("n"), StopReply::Allow, notice("o")], "notice", "n\no");
    check(vec![StopReply::Allow, StopReply::Allow], "allow", "");
    check(Vec::new(), "allow", "");
}

#[test]
fn a_notice_joins_every_reply_but_a_refusal() {
    let joined = |reply: StopReply| shown(reply.with_notice("changed"));
    assert_eq!(joined(StopReply::Allow), ("notice", "changed".to_owned()));
    assert_eq!(joined(notice("n")), ("notice", "n\nchanged".to_owned()));
    assert_eq!(joined(let_go("l")), ("let go", "l\nchanged".to_owned()));
    assert_eq!(joined(refuse("r")), ("refuse", "r".to_owned()));
}

/// A decision about a stop whose checks failed, with the failures' owners.
fn red(failures: &Value) -> Decision {
    decision(&json!({
        "released": "red",
        "evidence": [
            { "check": "tests", "mode": "require", "outcome": "fail" },
            { "check": "lint", "mode": "require", "outcome": "pass" },
            { "check": "build", "mode": "require", "outcome": "fail" },
        ],
        "observed": { "stop": { "agent": "codex", "situation": { "failures": failures } } },
    }))
}

#[test]
fn the_agents_own_tests_are_owed_and_else_the_failed_checks() {
    let failures = json!([
        { "check": "tests", "own": ["a", "b"], "before": ["c"], "others": ["d"] },
        { "check": "build", "own": ["build"] },
    ]);
    assert_eq!(red_names(&red(&failures)), ["a", "b", "build"]);
    let others = json!([{ "check": "tests", "before": ["c"] }]);
    assert_eq!(red_names(&red(&others)), ["tests", "build"]);
    assert_eq!(red_names(&red(&json!([]))), ["tests", "build"]);
}

/// Compares the checks that `/w` owes after this decision, if it owed a red `old` before.
#[track_caller]
fn check_owed(decision: &Decision, expected: Option<&[&str]>) {
    let state = tempfile::tempdir().unwrap();
    let named = (Agent::Codex, Some("a"));
    let mut session = Session::open(Some(state.path()), Path::new("/w"), named).unwrap();
    session.state.owed.insert("/w".into(), vec!["old".to_owned()]);
    session.state.owed.insert("/v".into(), Vec::new());
    update_owed(&mut session, Path::new("/w"), decision);
    let owed = session.state.owed.get(Path::new("/w"));
    let owed = owed.map(|names| names.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(owed.as_deref(), expected);
    assert!(session.state.owed.contains_key(Path::new("/v")), "that is another project");
}

#[test]
fn a_debt_ends_with_green_checks_or_an_exit_alone() {
    let passed = json!([{ "check": "tests", "mode": "require", "outcome": "pass" }]);
    let exit = json!({ "verdict": "exit", "exit_code": 0, "evidence": passed });
    check_owed(&decision(&exit), None);
    check_owed(&decision(&json!({ "released": "green", "evidence": passed })), None);
    check_owed(&red(&json!([{ "own": ["a"] }])), Some(&["a"]));
    // A look that was cut short has found nothing red, and nothing green.
    check_owed(&decision(&json!({ "released": "not-run", "evidence": passed })), Some(&[]));
    // Without a look the older debt stays, whatever the turn changed.
    check_owed(&decision(&json!({ "released": "not-run" })), Some(&["old"]));
    let situation = json!({ "work": "changed" });
    let stop = json!({ "stop": { "agent": "codex", "situation": situation } });
    check_owed(&decision(&json!({ "observed": stop })), Some(&["old"]));
}

#[test]
fn changed_work_that_nobody_looked_at_is_owed() {
    let state = tempfile::tempdir().unwrap();
    for (work, expected) in [("changed", Some(Vec::new())), ("prose", None), ("none", None)] {
        let named = (Agent::Codex, Some(work));
        let mut session = Session::open(Some(state.path()), Path::new("/w"), named).unwrap();
        let situation = json!({ "stop": { "agent": "codex", "situation": { "work": work } } });
        let unseen = decision(&json!({ "released": "not-run", "observed": situation }));
        update_owed(&mut session, Path::new("/w"), &unseen);
        assert_eq!(session.state.owed.get(Path::new("/w")), expected.as_ref(), "{work}");
    }
}

#[test]
fn a_message_is_the_transcripts_whatever_its_white_space() {
    assert!(same_words("All is\n\ndone. ", "All is done."));
    assert!(!same_words("All is done.", "All is done. Or not."));
    assert!(!same_words("", "done") && same_words(" ", ""));
}

/// A stop whose hook may take so long.
fn stop(payload: &Value, deadline: Duration) -> (Duration, Duration) {
    let payload = Payload::new(payload, &[]);
    let event = client(Agent::Codex).event(&payload);
    let hook_called_at = Instant::now();
    let stop = AgentStop { agent: Agent::Codex, payload, event, hook_called_at, deadline };
    (stop.time_left(), stop.store_timeout())
}

#[test]
fn checks_leave_time_for_the_answer() {
    let second = Duration::from_secs(1);
    for (deadline, most, store) in [
        (540 * second, 538 * second, 10 * second),
        (80 * second, 78 * second, 10 * second),
        (4 * second, 3 * second, second / 2),
        (Duration::ZERO, Duration::ZERO, Duration::ZERO),
    ] {
        let (left, timeout) = stop(&json!({}), deadline);
        assert!(left <= most && left + second >= most, "{deadline:?}: {left:?}");
        assert_eq!(timeout, store, "{deadline:?}");
    }
}

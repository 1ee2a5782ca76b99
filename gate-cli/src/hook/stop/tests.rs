//! One reply for several projects, and the debt that a stop leaves behind.

use serde_json::{Value, json};

use gate_core::decide::situation::Presence;

use super::*;
use crate::hook::client;

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
        StopReply::Pause => ("pause", String::new()),
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
    check(vec![StopReply::Allow, StopReply::Pause], "pause", "");
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

/// A stop whose hook may take so long.
fn stop(payload: &Value, deadline: Duration) -> (Duration, Duration) {
    let payload = Payload::new(payload, &[]);
    let event = client(Agent::Codex).event(&payload);
    let hook_called_at = Instant::now();
    let presence = Presence::Unknown;
    let start = ClientStart { outer_agent: None, presence, unknown_entry: None };
    let stop = AgentStop { agent: Agent::Codex, payload, event, start, hook_called_at, deadline };
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

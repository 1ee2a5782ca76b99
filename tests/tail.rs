//! `gate check` reads of a large transcript what its verdict needs, and comes to
//! the verdict that all of it leads to.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::support::{Run, gate};

/// Lines of a Claude Code session.
struct Session(String);

impl Session {
    fn new() -> Self {
        Self(String::new())
    }

    fn record(mut self, kind: &str, message: &Value) -> Self {
        let id = self.0.len();
        let record = json!({"parentUuid": null, "isSidechain": false, "sessionId": "s-1",
            "type": kind, "message": message, "uuid": format!("u{id}")});
        writeln!(self.0, "{record}").unwrap();
        self
    }

    fn prompt(self, text: &str) -> Self {
        self.record("user", &json!({"role": "user", "content": text}))
    }

    fn says(self, text: &str) -> Self {
        let id = format!("msg_{}", self.0.len());
        let content = json!([{"type": "text", "text": text}]);
        let usage = json!({"input_tokens": 10, "output_tokens": 5});
        let message = json!({"id": id, "model": "m", "content": content, "usage": usage});
        self.record("assistant", &message)
    }

    /// Tools answer until so many more bytes are there.
    fn works(mut self, bytes: usize) -> Self {
        let end = self.0.len() + bytes;
        while self.0.len() < end {
            let text = "a line of a file\n".repeat(200);
            let content = json!([{"type": "tool_result", "tool_use_id": "t", "content": text}]);
            self = self.record("user", &json!({"role": "user", "content": content}));
        }
        self
    }
}

const MIB: usize = 1 << 20;

/// A signal with two indicators beside it, and one with none.
const DONE: &str =
    "All tasks are completed, and this is ready for review.\n\n<promise>COMPLETE</promise>";
const BARE: &str = "<promise>COMPLETE</promise>";

const CHECK: &str = "check --no-checks --json --exit-threshold 2";

fn check(words: &str, session: &Session) -> Run {
    gate(&format!("{CHECK} {words}")).file("session.jsonl", &session.0)
}

/// The verdict on the file is that on the same bytes from a pipe. How many bytes
/// were skipped to come to it.
#[track_caller]
fn skipped(session: &Session, verdict: &str, code: i32) -> usize {
    let of_file = check("--no-state session.jsonl", session).code(code).json();
    let of_pipe = check("--no-state -", session).stdin(session.0.as_str()).code(code).json();
    for key in ["verdict", "reasons", "feedback"] {
        assert_eq!(of_file[key], of_pipe[key], "{key}");
    }
    assert_eq!(of_file["signal"]["status"], of_pipe["signal"]["status"]);
    assert_eq!(of_file["verdict"], verdict);
    assert_eq!(of_file["transcript"]["bytes"], session.0.len());
    assert_eq!(of_pipe["transcript"]["skipped"], 0);
    let skipped = of_file["transcript"]["skipped"].as_u64().unwrap();
    assert_eq!(of_file["usage"]["partial"], skipped > 0);
    usize::try_from(skipped).unwrap()
}

#[test]
fn the_end_suffices_where_it_holds_the_turn_or_enough_of_it() {
    let long = || Session::new().prompt("do it").says("I begin.").works(3 * MIB);
    let whole_turn = long().prompt("go on").says(DONE);
    assert!(skipped(&whole_turn, "exit", 0) > 2 * MIB);
    let enough = long().says(DONE);
    assert!(skipped(&enough, "exit", 0) > 2 * MIB);
    let undone = long().says("EXIT_STATUS: CONTINUE");
    assert!(skipped(&undone, "continue", 1) > 2 * MIB);
    let silent = long().says("The parser is next.");
    assert!(skipped(&silent, "continue", 1) > 2 * MIB);
}

#[test]
fn all_is_read_where_more_could_change_the_verdict() {
    let begun = || Session::new().prompt("do it").says("All tasks are completed.");
    let claims_long_ago = begun().says("It is ready for review.").works(3 * MIB).says(BARE);
    assert_eq!(skipped(&claims_long_ago, "exit", 0), 0);
    let no_claims = Session::new().prompt("do it").works(3 * MIB).says(BARE);
    assert_eq!(skipped(&no_claims, "continue", 1), 0);
    let no_word_at_the_end = begun().says(DONE).works(3 * MIB);
    assert_eq!(skipped(&no_word_at_the_end, "exit", 0), 0);
}

#[test]
fn a_stale_claim_before_the_last_turn_stays_stale() {
    let stale = Session::new().prompt("do it").says(DONE).works(3 * MIB).prompt("and the docs");
    assert!(skipped(&stale.says("Those come next."), "continue", 1) > 2 * MIB);
}

#[test]
fn a_budget_of_tokens_has_all_of_them_counted() {
    let session = Session::new().prompt("do it").says("I begin.").works(3 * MIB).says(DONE);
    let run = check("--no-state session.jsonl", &session).settings("[budget]\ntokens = 1000\n");
    let decision = run.code(0).json();
    assert_eq!(decision["transcript"]["skipped"], 0);
    assert_eq!(decision["usage"]["tokens"], 30);
}

#[test]
fn what_is_new_is_read_whole_as_it_is_remembered_or_said() {
    let mut session = Session::new().prompt("do it").works(3 * MIB).says("The parser is next.");
    let known = session.0.len();
    let ran = check("session.jsonl", &session).code(1);
    session = session.prompt("go on").works(2 * MIB).says("And then the docs.");
    let new = session.0.len() - known;
    let before = |decision: &Value| {
        let skipped = decision["transcript"]["skipped"].as_u64().unwrap();
        usize::try_from(skipped).unwrap()
    };
    let again = ran.again(&format!("{CHECK} session.jsonl")).file("session.jsonl", &session.0);
    let remembered = again.code(1).json();
    assert!(before(&remembered) <= known && before(&remembered) > MIB, "{remembered}");
    assert_eq!(remembered["transcript"]["turns"], 2, "the first one, and the one that is new");
    let said = check(&format!("--no-state --since {known} session.jsonl"), &session).code(1).json();
    assert_eq!(before(&said), before(&remembered));
    let unsaid = check("--no-state session.jsonl", &session).code(1).json();
    assert!(before(&unsaid) > known + new / 2);
    let wrong = check("--no-state --since 999999999 session.jsonl", &session).code(1).json();
    assert_eq!(before(&wrong), before(&unsaid));
}

#[test]
fn a_large_file_is_replayed_the_same_with_one_job_and_with_more() {
    let session = Session::new().prompt("do it").says("All tasks are completed.").works(5 * MIB);
    let session = session.prompt("and the docs").works(2 * MIB).says(DONE);
    let row = |jobs: usize| {
        let run = gate(&format!("replay --json --jobs {jobs} session.jsonl"));
        let mut row = run.file("session.jsonl", &session.0).code(0).json();
        row["duration_ms"] = 0.into();
        row
    };
    let alone = row(1);
    assert_eq!(alone["verdict"], "exit");
    assert_eq!(alone["transcript"]["turns"], 2);
    assert_eq!(alone["transcript"]["bytes"], session.0.len());
    assert_eq!(row(3), alone);
}

//! A decision with all that it rests on.

use gate_core::Policy;
use serde_json::{Value, json};

use super::{CardOptions, explained, last_card};
use crate::memory::ReplayedDecision;
use crate::render::card;
use crate::render::tests::plain;
use crate::render::text::local_time;
use crate::tests::{decision, record};

/// The rows of a decision's page below its card.
fn rows(changes: &Value, policy: Option<Policy>, again: Option<&Value>) -> Vec<String> {
    let record = record(changes);
    let options = CardOptions { verbose: true, policy: policy.as_ref() };
    let below = plain(&card(&record, options)).lines().count() + 1;
    let again = again.map(decision);
    let page = plain(&explained(&ReplayedDecision { record, policy, again }));
    page.lines().skip(below).map(str::to_owned).collect()
}

#[test]
fn time_and_place_stand_below_the_card() {
    let changes = json!({
        "run": "nightly#2", "iteration": 7, "task": "42",
        "ledger": { "seq": 12, "hash": "ab12" },
    });
    let page = plain(&last_card(&record(&changes), false));
    let decided = format!("\n    decided     {}\n", local_time("2026-11-02T10:00:00Z"));
    let rows = "    run         nightly#2, iteration 7\n    task        42\n    \
                ledger      record 12, ab12\n";
    assert!(page.ends_with(&format!("\n{decided}{rows}")), "{page}");
    let unnamed = plain(&last_card(&record(&json!({ "run": "nightly" })), false));
    assert!(unnamed.ends_with(&decided), "{unnamed}");
}

#[test]
fn without_its_policy_a_decision_cannot_be_made_again() {
    let rows = rows(&json!({}), None, None);
    let expected = [
        &format!("    decided     {}", local_time("2026-11-02T10:00:00Z")),
        "    decision    0195-a, gate 0.2.0",
        "    policy      blake3:aa",
        "    transcript  text",
        "    replay      not possible: the settings of this decision are not stored",
    ];
    assert_eq!(rows, expected);
}

#[test]
fn a_decision_that_comes_out_otherwise_is_shown() {
    let again =
        |changes: &Value| rows(&json!({}), Some(Policy::default()), Some(changes)).pop().unwrap();
    assert_eq!(again(&json!({})), "    replay      same decision");
    assert_eq!(again(&json!({ "verdict": "exit" })), "    replay      ANOTHER verdict: exit");
    let same_verdict = again(&json!({ "feedback": "other words" }));
    assert!(
        same_verdict.ends_with("ANOTHER decision, with the same verdict, continue"),
        "{same_verdict}"
    );
}

#[test]
fn what_was_observed_is_listed() {
    let command =
        |line: u64| json!({ "command": format!("c{line}"), "exit_code": 1, "line": line });
    let changes = json!({
        "transcript": {
            "format": "codex", "model": "m", "session": "s", "tokens": 12,
            "commands": [command(1), command(2), command(3), command(4)],
        },
        "observed": {
            "tree": { "before": { "digest": "t1", "head": "c0ffee" }, "after": { "digest": "t2" } },
            "signature": "error: no such file",
            "denied": ["Bash", "Edit"],
            "limited": { "text": "limit reached", "resets_at": null },
        },
        "lost": "record 3 is gone",
    });
    let rows = rows(&changes, None, None);
    let expected = [
        "    transcript  codex, m, session s, 12 tokens",
        "                line 4: c4 ended with 1",
        "                line 3: c3 ended with 1",
        "                line 2: c2 ended with 1",
        "    tree        t1 before the checks",
        "                on commit c0ffee",
        "    error       error: no such file",
        "    denied      Bash, Edit",
        "    limit       limit reached",
        "    before      the state was lost: record 3 is gone",
    ];
    assert_eq!(rows[3..rows.len() - 1], expected);
}

#[test]
fn the_policys_checks_are_named_with_their_commands() {
    let layer = gate_core::config::Layer::parse(
        gate_core::config::Origin::Project("gate.toml".into()),
        "[checks.tests]\ncommand = [\"cargo\", \"test\"]\n[checks.clean_git]\n",
    );
    let policy = gate_core::config::resolve(&[layer.unwrap()], None).unwrap().policy;
    let patterns = policy.patterns.len();
    let rows = rows(&json!({}), Some(policy), None);
    let expected = [
        format!("                threshold 2, {patterns} patterns"),
        "                check clean_git (adds an indicator)".to_owned(),
        "                check tests (required): cargo test".to_owned(),
    ];
    assert_eq!(rows[3..6], expected);
}

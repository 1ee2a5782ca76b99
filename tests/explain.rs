//! `gate explain`: every code that a decision can carry is explained.

use gate_core::decide::reason::{ReasonCode, WarningCode};

use crate::support::{DONE, UNDONE, each, gate, judge};

fn codes() -> Vec<&'static str> {
    let reasons = ReasonCode::ALL.iter().map(|code| code.code());
    reasons.chain(WarningCode::ALL.iter().map(|code| code.code())).collect()
}

#[test]
fn every_code_is_explained() {
    for code in codes() {
        let text = gate(&format!("explain {code}")).code(0).stderr("").stdout;
        let explanation = text.strip_prefix(&format!("{code}\n\n")).expect(&text);
        assert!(explanation.trim_end().ends_with('.'), "{explanation}");
        let labels: Vec<_> =
            explanation.lines().skip(2).filter_map(|line| line.split_whitespace().next()).collect();
        assert_eq!(labels, ["why", "example", "next"], "{explanation}");
    }
}

#[test]
fn codes_are_kebab_case_and_different() {
    let mut codes = codes();
    for code in &codes {
        let kebab = |c: char| c.is_ascii_lowercase() || c == '-';
        assert!(code.chars().all(kebab) && !code.starts_with('-'), "{code}");
    }
    let all = codes.len();
    codes.sort_unstable();
    codes.dedup();
    assert_eq!(codes.len(), all);
}

#[test]
fn all_codes_are_listed_once_also_where_nothing_was_decided_yet() {
    let text = gate("explain --codes").code(0).stderr("").stdout;
    let yet = gate("explain").code(0).tells("nothing was decided here yet");
    assert_eq!(yet.stdout, text);
    for code in codes() {
        let rows = text.lines().filter(|line| line.split_whitespace().next() == Some(code));
        assert_eq!(rows.count(), 1, "{code}\n{text}");
    }
}

#[test]
fn an_error_that_needs_more_than_its_message_is_explained() {
    for code in ["config-not-trusted", "under-an-agent", "under-a-check", "trust-value"] {
        gate(&format!("explain {code}")).code(0).says(&format!("{code}\n\n"));
        gate("explain --codes").code(0).says(&format!("\n    {code} "));
    }
}

#[test]
fn an_unknown_code_is_a_usage_error_with_advice() {
    for code in ["signal-absnt", "SIGNAL-ABSENT"] {
        gate(&format!("explain {code}")).code(2).stdout("").tells("did you mean `signal-absent`?");
    }
    for code in ["''", "-"] {
        gate(&format!("explain {code}")).code(2).stdout("").tells("hint: ");
    }
}

#[test]
fn what_a_decision_says_can_be_looked_up() {
    for output in [DONE, UNDONE, ""] {
        let words = "check --json --exit-threshold 900 --agent-exit-code 3 out.log";
        let decision = judge(words, output).code(1).json();
        for list in ["reasons", "warnings"] {
            for code in each(&decision, list, "code") {
                gate(&format!("explain {code}")).code(0);
            }
        }
    }
}

#[test]
fn a_decision_is_explained_with_its_inputs_and_decided_again() {
    let ran = judge("check --task 7 --json out.log", UNDONE).code(1);
    let decision = ran.json();
    let (id, text) =
        (decision["decision_id"].as_str().unwrap().to_owned(), "replay      same decision");
    let ran = ran.again("explain").code(0).says(&id).says("7-").says("blake3:").says(text);
    let ran = ran.again("explain #1").code(0).says(&id);
    let ran = ran.again(&format!("explain {}", &id[..30])).code(0).says(&id);
    let ran = ran.again("explain --json 1").code(0);
    let explained = ran.json();
    assert_eq!(explained["same"], true);
    assert_eq!(explained["decision"]["memory"]["run"]["iteration"], 0);
    assert_eq!(explained["again"]["verdict"], "continue");
    assert_eq!(explained["policy"]["breaker"]["refused"], 5);
    ran.again("explain #2").code(2).tells("no decision, record or code");
}

#[test]
fn a_decision_is_replayed_under_the_settings_that_it_was_made_under() {
    let settings = "[[patterns.custom]]\nid = \"mine\"\nliteral = \"both layouts\"\n";
    let ran = judge("check out.log", DONE).settings(settings).code(0);
    let run = ran.again("explain --json").settings("[exit_gate]\nindicator_threshold = 9\n");
    let explained = run.code(0).json();
    assert_eq!(
        (&explained["same"], &explained["again"]["verdict"]),
        (&true.into(), &"exit".into())
    );
}

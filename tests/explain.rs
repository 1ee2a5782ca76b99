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
        assert!(explanation.len() > 40, "{code}: {explanation}");
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
fn without_a_code_all_are_listed_once() {
    let text = gate("explain").code(0).stderr("").stdout;
    for code in codes() {
        let rows = text.lines().filter(|line| line.split_whitespace().next() == Some(code));
        assert_eq!(rows.count(), 1, "{code}\n{text}");
    }
}

#[test]
fn an_unknown_code_is_a_usage_error_with_advice() {
    for code in ["signal-absnt", "SIGNAL-ABSENT", "''", "-"] {
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

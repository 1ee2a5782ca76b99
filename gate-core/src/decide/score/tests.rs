//! What adds up to the indicators, and what does not.

use super::*;
use crate::decide::evidence::{Evidence, Outcome};
use crate::decide::policy::Mode;
use crate::decide::signal::Signal;

fn hit(weight: u32) -> Hit {
    Hit {
        pattern: "p".to_owned(),
        pack: "custom".to_owned(),
        weight,
        line: 1,
        column: 1,
        excerpt: String::new(),
        same_words_as: None,
        matched: String::new(),
    }
}

/// Score, patterns, checks, fields and plan.
#[track_caller]
fn check(status: Status, agrees: bool, weights: &[u32], evidence: &[Evidence], expected: [u32; 5]) {
    let signal = Signal { status, fields_agree: agrees, ..Signal::absent() };
    let mut input = Input::new(signal, weights.iter().copied().map(hit).collect());
    input.evidence = evidence.to_vec();
    let Indicators { score, patterns, checks, fields, plan, .. } =
        Indicators::count(&input, &Policy::default());
    assert_eq!([score, patterns, checks, fields, plan], expected);
}

#[test]
fn each_source_counts_once_and_a_claim_of_the_agent_apart() {
    let record = |check: &str, mode, outcome| Evidence::new(check, mode, outcome);
    let pass = |check: &str| record(check, Mode::Count, Outcome::Pass);
    let ticked = Evidence { claim: true, ..pass("plan") };
    check(Status::Complete, true, &[2, 0, 1], &[pass("a"), ticked], [5, 3, 1, 0, 1]);
    check(Status::Continue, true, &[], &[], [0; 5]);
    check(Status::Complete, false, &[], &[], [0; 5]);
    check(Status::Absent, false, &[], &[pass("a"), pass("a"), pass("b")], [2, 0, 2, 0, 0]);
    let red = [pass("a"), record("a", Mode::Count, Outcome::Fail)];
    check(Status::Absent, false, &[], &red, [0; 5]);
    let shown = [record("a", Mode::Warn, Outcome::Pass), record("b", Mode::Require, Outcome::Pass)];
    check(Status::Absent, false, &[], &shown, [1, 0, 1, 0, 0]);
    check(Status::Absent, false, &[u32::MAX, 7], &[pass("a")], [u32::MAX, u32::MAX, 1, 0, 0]);
}

/// Score, fields, word and threshold without a check, where nobody set the threshold.
#[track_caller]
fn check_word(signal: Signal, change: impl Fn(&mut Policy), expected: [u32; 4]) {
    let mut policy = Policy::default();
    policy.exit_gate.threshold = Threshold::Reachable;
    change(&mut policy);
    let input = Input::new(signal, Vec::new());
    let Indicators { score, fields, word, threshold, .. } = Indicators::count(&input, &policy);
    assert_eq!([score, fields, word, threshold], expected);
}

#[test]
fn without_a_check_the_signals_own_tag_or_fields_are_the_one() {
    use crate::decide::policy::Spelling;
    let complete =
        |source| Signal { status: Status::Complete, source: Some(source), ..Signal::absent() };
    let tag = || complete(Spelling::Promise);
    check_word(tag(), |_| {}, [1, 0, 1, 1]);
    check_word(complete(Spelling::RalphStatus), |_| {}, [1, 0, 1, 1]);
    check_word(complete(Spelling::ExitStatus), |_| {}, [0, 0, 0, 1]);
    let reason = Some("the tax is added".to_owned());
    check_word(Signal { reason, ..complete(Spelling::ExitStatus) }, |_| {}, [1, 0, 1, 1]);
    check_word(Signal { fields_agree: true, ..tag() }, |_| {}, [1, 1, 0, 1]);
    check_word(Signal { status: Status::Continue, ..tag() }, |_| {}, [0, 0, 0, 1]);
    let set = |policy: &mut Policy| policy.exit_gate.threshold = Threshold::Fixed(1);
    check_word(Signal { fields_agree: true, ..tag() }, set, [0, 0, 0, 1]);
    check_word(tag(), |policy| policy.exit_gate.require_explicit_signal = false, [0, 0, 0, 1]);
}

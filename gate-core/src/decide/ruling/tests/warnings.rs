//! Remarks on a decision that do not change it.

use super::*;
use crate::decide::breaker::Breaker;
use crate::decide::policy::{AgentOverride, Threshold};
use crate::decide::reason::{Warning, WarningCode};
use crate::decide::run_state::{LoopState, RunState};

fn warnings(input: &Input, policy: &Policy) -> Vec<String> {
    let all = decide(input, policy).input.warnings;
    all.iter().map(|warning| format!("{}: {}", warning.code.code(), warning.message)).collect()
}

#[track_caller]
fn warns(input: &Input, policy: &Policy, expected: &[&str]) {
    assert_eq!(warnings(input, policy), expected, "{input:?}");
}

#[test]
fn an_exit_on_the_agents_word_alone_says_so_in_the_words_of_its_case() {
    let claims = Evidence { claim: true, ..tests(Outcome::Pass) };
    let shown = policy("[checks.tests]\ncommand = [\"true\"]\nmode = \"warn\"\n");
    warns(&claim(&[]), &policy(""), &["no-evidence: threshold 0: no checks configured"]);
    warns(
        &claim(&[claims]),
        &checked(),
        &["no-evidence: all that passes is what the agent itself ticked or wrote"],
    );
    warns(
        &Input { checks_left_out: true, ..claim(&[]) },
        &checked(),
        &["checks-not-run: the configured checks did not run"],
    );
    warns(
        &claim(&[record("tests", Mode::Warn, Outcome::Pass, "")]),
        &shown,
        &["no-evidence: no check that counts has passed, so this rests on what the agent wrote"],
    );
    warns(&claim(&[tests(Outcome::Pass)]), &checked(), &[]);
    warns(&claim(&[tests(Outcome::Fail)]), &checked(), &[]);
    let forced = Input { force_reason: Some("ship".to_owned()), ..claim(&[tests(Outcome::Fail)]) };
    warns(&forced, &checked(), &[]);
}

#[test]
fn a_gate_that_can_never_pass_is_told() {
    let mut policy = checked();
    let most = policy.most_indicators();
    policy.exit_gate.threshold = Threshold::Fixed(most);
    warns(&claim(&[tests(Outcome::Pass)]), &policy, &[]);
    policy.exit_gate.threshold = Threshold::Fixed(most + 1);
    let told = format!(
        "threshold-unreachable: the threshold is {}, and all sources add up to {most}",
        most + 1
    );
    warns(&claim(&[tests(Outcome::Pass)]), &policy, &[&told]);
    policy.exit_gate.enabled = false;
    warns(&claim(&[tests(Outcome::Pass)]), &policy, &[]);
    let mut twice = checked();
    twice.exit_gate.consecutive = 2.try_into().unwrap();
    let told = "streak-not-counted: 2 passing iterations in a row are asked for, \
                and no state is kept to count them";
    warns(&claim(&[tests(Outcome::Pass)]), &twice, &[told]);
    let stateful = Input { stateful: true, ..claim(&[tests(Outcome::Pass)]) };
    warns(&stateful, &twice, &[]);
}

#[test]
fn an_override_is_told_whether_it_was_granted_or_not() {
    let mut input = claim(&[tests(Outcome::Pass)]);
    input.signal.override_requested = true;
    input.signal.confidence = Some("high".to_owned());
    let mut policy = checked();
    let ignored = "override-ignored: the agent asked to bypass the threshold; that was not granted";
    warns(&input, &policy, &[ignored]);
    policy.signal.agent_override = AgentOverride::HighConfidence;
    warns(&input, &policy, &["override-granted: the agent's override lifted the threshold"]);
}

#[test]
fn checks_that_do_not_decide_are_shown_by_their_mode() {
    let policy = checked();
    let with = |more: &[Evidence]| claim(&[&[tests(Outcome::Pass)], more].concat());
    let one = |mode, outcome| record("lint", mode, outcome, "3 warnings");
    for (record, expected) in [
        (
            one(Mode::Count, Outcome::Fail),
            &["check-did-not-count: lint did not pass: 3 warnings"][..],
        ),
        (one(Mode::Warn, Outcome::Inconclusive), &["check-warning: lint did not pass: 3 warnings"]),
        (one(Mode::Warn, Outcome::Skipped), &["check-warning: lint did not pass: 3 warnings"]),
        (one(Mode::Warn, Outcome::Pass), &[]),
        (one(Mode::Require, Outcome::Fail), &[]),
        (one(Mode::Warn, Outcome::Tamper), &[]),
    ] {
        warns(&with(&[record]), &policy, expected);
    }
    let skipped = one(Mode::Count, Outcome::Skipped);
    warns(&claim(&[tests(Outcome::Fail), skipped]), &policy, &[]);
    let flaky = |outcome| Evidence { flaky: strings(&["a", "b::c"]), ..tests(outcome) };
    let told = "flaky: tests passed only when it was run again: a, b::c";
    warns(&claim(&[flaky(Outcome::Pass)]), &policy, &[told]);
    warns(&claim(&[flaky(Outcome::Fail)]), &policy, &[]);
}

#[test]
fn what_happened_beside_the_work_is_told() {
    let mut input = claim(&[tests(Outcome::Pass)]);
    input.agent_exit_code = Some(3);
    input.observed.denied = strings(&["Bash", "WebFetch"]);
    warns(
        &input,
        &checked(),
        &[
            "agent-exit-code: the agent's program ended with code 3 after a complete signal",
            "tool-denied: the agent was not allowed to use: Bash, WebFetch",
        ],
    );
    let mut changed = claim(&[tests(Outcome::Fail)]);
    changed.settings_changed = Some("gate.toml changed".to_owned());
    warns(&changed, &checked(), &["settings-differ: gate.toml changed"]);
    changed.evidence = vec![tests(Outcome::Pass)];
    warns(&changed, &checked(), &[]);
}

#[test]
fn settings_of_the_user_are_compared_with_those_of_the_runs_beginning() {
    let mut input = claim(&[tests(Outcome::Pass)]);
    let named = |name: &str| Some(name.to_owned());
    let run = RunState { user_settings: named("none"), ..RunState::default() };
    input.stateful = true;
    input.memory = Some(LoopState { breaker: Breaker::default(), hold: None, run });
    let told = |input: &Input| {
        let warnings = decide(input, &checked()).input.warnings;
        warnings.iter().any(|warning| warning.code == WarningCode::SettingsOfUserChanged)
    };
    for (now, expected) in [(named("none"), false), (named("digest"), true), (None, false)] {
        input.observed.user_settings = now;
        assert_eq!(told(&input), expected);
    }
}

#[test]
fn a_decision_made_again_repeats_none_of_its_warnings() {
    let given = [
        Warning::new(WarningCode::AgentError, "API Error: 500"),
        Warning::new(WarningCode::CheckElsewhere, "deploy runs in gate run"),
    ];
    let input = Input { warnings: given.to_vec(), ..claim(&[]) };
    let decision = decide(&input, &policy(""));
    assert_eq!(decision.input.warnings.len(), 3);
    assert_eq!(decision.input.warnings[..2], given);
    assert_eq!(decide(&decision.input, &policy("")), decision);
}

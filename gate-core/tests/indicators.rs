//! What counts as an indicator, and what an exit without evidence comes to.
#![allow(clippy::expect_used, reason = "a test says what it expects")]

use gate_core::config::{self, Layer, Origin};
use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::policy::Mode;
use gate_core::decide::reason::{ReasonCode, WarningCode};
use gate_core::{Decision, Input, Policy, Verdict, decide, scan};

const SEED: &str = "[patterns]\npacks = [\"seed\"]\n";

/// The sentences of the seed's six patterns.
const SENTENCES: [&str; 5] = [
    "The implementation is finished.",
    "All tasks are completed.",
    "There is no remaining work.",
    "All acceptance criteria are met.",
    "All features are done.",
];

fn policy(settings: &str) -> Policy {
    let layer = Layer::parse(Origin::Flag("test".to_owned()), settings).expect("valid settings");
    config::resolve(&[layer], None).expect("valid settings").policy
}

fn read(text: &str, policy: &Policy) -> Input {
    let scan = scan(text.as_bytes(), policy).expect("the shipped patterns are right");
    Input::new(scan.signal, scan.hits)
}

fn decided(text: &str, settings: &str) -> Decision {
    let policy = policy(settings);
    decide(&read(text, &policy), &policy)
}

fn patterns(text: &str, settings: &str) -> u32 {
    decided(text, settings).input.indicators.patterns
}

fn warns(decision: &Decision, code: WarningCode) -> bool {
    decision.input.warnings.iter().any(|warning| warning.code == code)
}

#[test]
fn one_sentence_does_not_reach_a_threshold_of_two() {
    for sentence in SENTENCES {
        let text = format!("{sentence}\n\nEXIT_STATUS: COMPLETE\nEXIT_REASON: r\n");
        let decision = decided(&text, "[exit_gate]\nindicator_threshold = 2\n");
        assert_eq!(
            decision.input.indicators.patterns, 1,
            "{sentence} {:#?}",
            decision.input.indicators
        );
        assert_eq!(decision.verdict, Verdict::Continue, "{sentence}");
    }
}

#[test]
fn a_hit_that_does_not_count_names_the_one_that_does() {
    let decision = decided("All tasks are completed.", "");
    let silent: Vec<_> =
        decision.input.indicators.hits.iter().filter(|hit| hit.weight == 0).collect();
    assert!(silent.len() >= 2, "{:#?}", decision.input.indicators.hits);
    let counting =
        decision.input.indicators.hits.iter().find(|hit| hit.weight == 1).expect("one counts");
    assert!(silent.iter().all(|hit| hit.same_words_as.as_ref() == Some(&counting.pattern)));
}

#[test]
fn the_pack_seed_counts_each_pattern() {
    let text = "All tasks: the implementation is finished and completed.";
    assert_eq!(patterns(text, SEED), 2);
    assert_eq!(patterns(text, ""), 1);
}

#[test]
fn two_claims_count_twice_wherever_they_stand() {
    let lines = "All tasks are completed.\nIt is ready for review.\n";
    assert_eq!(patterns(lines, ""), 2);
    assert_eq!(patterns(&lines.replace('\n', " "), ""), 2);
    let text = lines.replace('\n', "\\n");
    let record = format!(
        "{{\"type\":\"assistant\",\"message\":{{\"id\":\"m\",\"role\":\"assistant\",\"content\":\
         [{{\"type\":\"text\",\"text\":\"{text}\"}}]}},\"session_id\":\"s\"}}\n"
    );
    assert_eq!(patterns(&record, ""), 2);
}

#[test]
fn a_pattern_that_spans_the_line_does_not_swallow_its_claims() {
    let text = "The implementation of the cache is ready for review, and it is finished.";
    let decision = decided(text, "");
    let counting = decision.input.indicators.hits.iter().filter(|hit| hit.weight > 0);
    let counting: Vec<_> = counting.map(|hit| hit.pattern.as_str()).collect();
    assert!(counting.contains(&"ready-for-review"), "{counting:?}");
}

#[test]
fn a_prompt_that_asks_for_the_tag_alone_is_no_endless_loop() {
    for text in [
        "<promise>COMPLETE</promise>",
        "**<promise>COMPLETE</promise>**\n",
        "```\n<promise>COMPLETE</promise>\n```",
        "EXIT_STATUS: COMPLETE\nEXIT_REASON: the parser reads every file",
        "EXIT_STATUS: COMPLETE\n\n<promise>COMPLETE</promise>",
    ] {
        let decision = decided(text, "");
        assert_eq!(decision.input.indicators.threshold, 1, "{text}");
        assert_eq!(decision.verdict, Verdict::Exit, "{text}");
        assert!(!decision.verified && warns(&decision, WarningCode::NoEvidence), "{text}");
    }
}

#[test]
fn a_bare_status_beside_other_words_still_needs_an_indicator() {
    for text in [
        "I looked around.\n\nEXIT_STATUS: COMPLETE",
        "EXIT_STATUS: COMPLETE\n\nI looked around.",
        "EXIT_STATUS: CONTINUE\n\nEXIT_STATUS: COMPLETE",
    ] {
        let decision = decided(text, "");
        assert_eq!(decision.input.indicators.threshold, 1, "{text}");
        assert_eq!(decision.verdict, Verdict::Continue, "{text}");
    }
}

#[test]
fn the_threshold_is_not_lowered_by_a_signal_that_nobody_asked_for() {
    let settings = "[exit_gate]\nrequire_explicit_signal = false\n";
    assert_eq!(decided("<promise>COMPLETE</promise>", settings).input.indicators.threshold, 1);
    let checks = "[checks.tests]\ncommand = [\"true\"]\n";
    assert_eq!(decided("<promise>COMPLETE</promise>", checks).input.indicators.threshold, 1);
}

#[test]
fn who_asks_for_evidence_is_not_let_go_on_the_agents_word() {
    let settings = "[exit_gate]\nunverified = \"continue\"\n";
    let decision = decided("All tasks are completed.\n\nEXIT_STATUS: COMPLETE", settings);
    assert_eq!(decision.verdict, Verdict::Continue);
    assert_eq!(decision.reasons[0].code, ReasonCode::EvidenceRequired);
    assert!(decision.verified && !decision.feedback.is_empty());
}

#[test]
fn a_decision_does_not_say_that_checks_pass_where_none_is_required() {
    let decision = decided("All tasks are completed.\n\nEXIT_STATUS: COMPLETE", "");
    assert!(decision.reasons[0].message.ends_with("no checks"), "{:?}", decision.reasons);
    let settings = "[checks.tests]\ncommand = [\"false\"]\nmode = \"count\"\n";
    let policy = policy(settings);
    let failed = Evidence::new("tests", Mode::Count, Outcome::Fail);
    let mut input = read("All tasks are completed.\n\nEXIT_STATUS: COMPLETE", &policy);
    input.evidence.push(failed);
    let decision = decide(&input, &policy);
    assert_eq!(decision.verdict, Verdict::Exit);
    assert!(decision.reasons[0].message.ends_with("no check is required"));
    assert!(!decision.verified && warns(&decision, WarningCode::NoEvidence));
}

#[test]
fn an_exit_is_verified_by_a_passing_check_and_by_nothing_less() {
    let policy = policy("[checks.tests]\ncommand = [\"true\"]\n");
    let mut input = read("All tasks are completed.\n\nEXIT_STATUS: COMPLETE", &policy);
    let with = |record: Evidence| {
        let mut input = input.clone();
        input.evidence.push(record);
        input
    };
    let mut pass = Evidence::new("tests", Mode::Require, Outcome::Pass);
    assert!(decide(&with(pass.clone()), &policy).verified);
    pass.claim = true;
    let claimed = decide(&with(pass), &policy);
    assert_eq!((claimed.verdict, claimed.verified), (Verdict::Exit, false));
    let mut failed = with(Evidence::new("tests", Mode::Require, Outcome::Fail));
    failed.force_reason = Some("by hand".to_owned());
    let forced = decide(&failed, &policy);
    assert_eq!((forced.verdict, forced.verified), (Verdict::Exit, false));
    input.checks_left_out = true;
    let left_out = decide(&input, &policy);
    assert_eq!((left_out.verdict, left_out.verified), (Verdict::Exit, false));
}

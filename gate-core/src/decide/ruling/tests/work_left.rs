//! A claim beside a sentence about open work: refused once on the same files.

use super::*;
use crate::decide::breaker::Breaker;
use crate::decide::decision::judge;
use crate::decide::iteration_facts::{TreeSeen, TreeState};
use crate::decide::run_state::{LoopState, RunState};
use crate::decide::signal::WorkLeft;

const LEFT: &str = "work-left: the final message says that work is left: \"the tax I do later\"";

fn claims(sentences: &[&str], files: Option<&str>, run: RunState) -> Input {
    let left = sentences
        .iter()
        .map(|text| WorkLeft { sentence: (*text).to_owned(), digest: (*text).to_owned() });
    let mut input = claim(&[tests(Outcome::Pass)]);
    input.signal.work_left = left.collect();
    let tree = |digest: &str| TreeState { digest: digest.to_owned(), head: None, branches: None };
    input.observed.tree = files.map(|digest| TreeSeen {
        before: tree(digest),
        after: tree(digest),
        uncommitted: None,
        changed_files: None,
        since_beginning: None,
    });
    let memory = LoopState { breaker: Breaker::default(), hold: None, run };
    Input { stateful: true, memory: Some(memory), ..input }
}

/// The run after a first claim with these sentences.
fn refused(sentences: &[&str], files: Option<&str>) -> RunState {
    let judged = judge(&claims(sentences, files, RunState::default()), &checked());
    assert_eq!(judged.decision.verdict, Verdict::Continue);
    judged.memory.unwrap().run
}

#[test]
fn a_sentence_about_open_work_refuses_once_on_the_same_files() {
    let tax = &["the tax I do later"];
    check(&claims(tax, Some("a"), RunState::default()), &checked(), Verdict::Continue, &[LEFT]);
    let exits = |input: &Input| decide(input, &checked()).verdict == Verdict::Exit;
    assert!(exits(&claims(tax, Some("a"), refused(tax, Some("a")))));
    assert!(exits(&claims(&[], Some("b"), refused(tax, Some("a")))));
    assert!(!exits(&claims(tax, Some("b"), refused(tax, Some("a")))), "a file changed");
    assert!(!exits(&claims(tax, None, refused(tax, Some("a")))), "nobody looked at the files");
    let other = &["the tax I do later", "the docs follow"];
    assert!(!exits(&claims(other, Some("a"), refused(tax, Some("a")))), "another sentence");
    assert!(exits(&claims(tax, Some("a"), refused(other, Some("a")))));
}

#[test]
fn an_iteration_that_goes_on_between_does_not_lift_the_refusal() {
    let tax = &["the tax I do later"];
    let run = refused(tax, Some("a"));
    let on = Input { signal: said(Status::Continue).signal, ..claims(&[], Some("b"), run) };
    let run = judge(&on, &checked()).memory.unwrap().run;
    assert_eq!(decide(&claims(tax, Some("b"), run.clone()), &checked()).verdict, Verdict::Continue);
    assert_eq!(decide(&claims(tax, Some("a"), run), &checked()).verdict, Verdict::Exit);
}

#[test]
fn a_claim_that_is_none_is_refused_for_its_own_reason() {
    let mut input = claims(&["the tax I do later"], Some("a"), RunState::default());
    input.signal.status = Status::Continue;
    check(
        &input,
        &checked(),
        Verdict::Continue,
        &["signal-continue: the agent says that work remains"],
    );
}

#[test]
fn feedback_names_the_sentence_and_what_to_do() {
    let decision = decide(&claims(&["the tax I do later"], None, RunState::default()), &checked());
    assert!(
        decision.feedback.contains("your final message says that work is left"),
        "{}",
        decision.feedback
    );
    assert!(decision.feedback.contains("the tax I do later"), "{}", decision.feedback);
    assert!(decision.next.is_some_and(|next| next.contains("finish the work")));
}

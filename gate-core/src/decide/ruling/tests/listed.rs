//! Turns that list what their task leaves open.

use super::{check, checked, claim, policy, said};
use crate::decide::breaker::{Breaker, Counters};
use crate::decide::decision::{decide, judge};
use crate::decide::input::Input;
use crate::decide::open_decisions::Listing;
use crate::decide::run_state::{LoopState, RunState};
use crate::decide::signal::Status;
use crate::decide::verdict::Verdict;

fn lists(mut input: Input, listing: Listing) -> Input {
    input.observed.listing = Some(listing);
    input
}

fn open() -> Listing {
    let file = Some("/state/t1.md".to_owned());
    Listing { file, ..Listing::read("DECISION: name => tax\nDECISION: default => 0") }
}

#[test]
fn open_decisions_wait_for_a_person_whatever_the_agent_claims() {
    let says = ["decisions-open: 2 decisions are open: name (tax), default (0)"];
    for input in [said(Status::Absent), said(Status::Blocked), claim(&[])] {
        check(&lists(input, open()), &checked(), Verdict::Blocked, &says);
    }
    let decision = decide(&lists(said(Status::Absent), open()), &checked());
    let next = "confirm or edit each decision in /state/t1.md, then start the loop again";
    assert_eq!((decision.next.as_deref(), decision.feedback.as_str()), (Some(next), ""));
    let nothing = Listing::read("DECISION: none");
    let says = ["decisions-open: the task leaves nothing open"];
    check(&lists(claim(&[]), nothing), &policy(""), Verdict::Continue, &says);
}

#[test]
fn a_turn_that_did_more_or_less_is_told_so() {
    let changed = Listing { changed: vec!["a.py".to_owned()], ..open() };
    let decision = decide(&lists(claim(&[]), changed), &checked());
    let asks = "undo the changes of a.py (decisions-unlisted)\nLeave each file as it was before, and \
                end your final message with the list";
    assert!(decision.feedback.contains(asks), "{}", decision.feedback);
    let next = "undo the changes, then start the loop again; without `--decide-first` the work \
                begins at once";
    assert_eq!((decision.verdict, decision.next.as_deref()), (Verdict::Continue, Some(next)));
    // An agent that cannot begin says why.
    let silent = lists(said(Status::Blocked), Listing::read(""));
    let says = ["signal-blocked: the agent says that it cannot go on: it gives no reason"];
    check(&silent, &checked(), Verdict::Blocked, &says);
}

#[test]
fn a_list_counts_for_what_it_costs_and_as_no_iteration() {
    let mut input = lists(said(Status::Absent), open());
    let (breaker, run) = (Breaker::default(), RunState::default());
    input.memory = Some(LoopState { breaker, hold: None, run });
    input.stateful = true;
    input.observed.tokens = Some(700);
    let run = judge(&input, &checked()).memory.unwrap().run;
    assert_eq!((run.spent.iterations, run.spent.tokens), (0, 700));
    assert_eq!(run.counters, Counters::default());
}

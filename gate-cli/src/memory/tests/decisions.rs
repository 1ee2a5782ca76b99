//! A decision, from its first look at the ledger to its record.

use gate_core::Verdict;
use gate_core::decide::breaker::{Act, Admission};
use gate_core::history::kind;

use super::super::{BreakerSelector, DecisionRequest, Operation};
use super::*;

#[test]
fn iterations_are_numbered_within_their_run() {
    let (shop, ask) = (Shop::new(), Ask::under(""));
    let mut memory = shop.memory();
    let request = ask.request();
    let first = decide(&mut memory, &request, &goes_on()).unwrap();
    assert_eq!((place(&first), first.decision.verdict), (("nightly", 1), Verdict::Continue));
    assert_eq!(first.ledger.as_ref().map(|ledger| ledger.seq), Some(1));
    assert_eq!(place(&decide(&mut memory, &request, &goes_on()).unwrap()), ("nightly", 2));
    let anew =
        DecisionRequest { asker: &Asker { new_run: true, ..ask.asker() }, ..request.clone() };
    assert_eq!(place(&decide(&mut memory, &anew, &goes_on()).unwrap()), ("nightly#2", 1));
    assert_eq!(place(&decide(&mut shop.memory(), &request, &goes_on()).unwrap()), ("nightly#2", 2));
    let named = DecisionRequest {
        asker: &Asker { run: None, task: Some("42".to_owned()), ..ask.asker() },
        ..request
    };
    let of_task = decide(&mut memory, &named, &goes_on()).unwrap();
    assert_eq!(of_task.run, Some(format!("42-{}", memory.tree)));
    assert_eq!(of_task.iteration, Some(1));
}

#[test]
fn a_name_that_is_none_decides_nothing() {
    let (shop, ask) = (Shop::new(), Ask::under(""));
    let mut memory = shop.memory();
    let request = DecisionRequest {
        asker: &Asker { run: Some("nightly#2".to_owned()), ..ask.asker() },
        ..ask.request()
    };
    let failure = decide(&mut memory, &request, &done()).unwrap_err();
    assert_eq!(failure.message, "--run nightly#2: a run's name is not empty and has no `#`");
    assert_eq!(count(&mut memory), 0);
}

#[test]
fn a_caller_that_lost_the_answer_gets_it_again() {
    let (shop, ask) = (Shop::new(), Ask::under(""));
    let mut memory = shop.memory();
    let numbers = (0..10).map(|number| Asker { iteration: Some(number), ..ask.asker() });
    let askers: Vec<_> = numbers.collect();
    let numbered = |iteration: usize, input| DecisionRequest {
        asker: &askers[iteration],
        input: Some(input),
        ..ask.request()
    };
    let first = decide(&mut memory, &numbered(1, "a"), &goes_on()).unwrap();
    let second = decide(&mut memory, &numbered(2, "b"), &goes_on()).unwrap();
    for (request, earlier) in
        [(numbered(2, "b"), &second), (numbered(2, "c"), &second), (numbered(1, "a"), &first)]
    {
        let again = decide(&mut memory, &request, &done()).unwrap();
        assert!(again.repeated);
        assert_eq!(again.decision_id, earlier.decision_id);
        assert_eq!(again.ledger, earlier.ledger);
    }
    let anew = decide(&mut memory, &numbered(1, "c"), &goes_on()).unwrap();
    assert_eq!((place(&anew), anew.repeated), (("nightly#2", 1), false));
    let skipped = decide(&mut memory, &numbered(9, "d"), &goes_on()).unwrap();
    assert_eq!(place(&skipped), ("nightly#2", 9));
    assert_eq!(count(&mut memory), 4);
}

#[test]
fn an_exit_is_repeated_only_for_the_same_output_under_the_same_policy() {
    let (shop, ask) = (Shop::new(), Ask::under(""));
    let mut memory = shop.memory();
    let request = DecisionRequest {
        asker: &Asker { iteration: Some(1), ..ask.asker() },
        input: Some("a"),
        ..ask.request()
    };
    let exit = decide(&mut memory, &request, &done()).unwrap();
    assert_eq!(exit.decision.verdict, Verdict::Exit);
    assert!(decide(&mut memory, &request, &goes_on()).unwrap().repeated);
    let other = Ask::under("breaker.no_exit = 7\n");
    for changed in [
        DecisionRequest { input: Some("b"), ..request.clone() },
        DecisionRequest { input: None, ..request.clone() },
        DecisionRequest { policy_text: &other.text, ..request.clone() },
    ] {
        let pending = pending(&mut memory, &changed);
        assert!(pending.earlier_decision.is_none());
        assert_eq!(pending.run_and_iteration(), Some(("nightly#2", 1)));
    }
}

#[test]
fn a_dry_run_looks_and_leaves_no_trace() {
    let (shop, ask) = (Shop::new(), Ask::under(""));
    let mut memory = shop.memory();
    let dry = DecisionRequest { asker: &Asker { dry_run: true, ..ask.asker() }, ..ask.request() };
    let previewed = decide(&mut memory, &dry, &done()).unwrap();
    assert_eq!((place(&previewed), &previewed.ledger), (("nightly", 1), &None));
    assert_eq!(previewed.decision.verdict, Verdict::Exit);
    assert_eq!(count(&mut memory), 0);
    let recorded = decide(&mut memory, &ask.request(), &goes_on()).unwrap();
    assert_eq!(place(&recorded), ("nightly", 1));
    let next = decide(&mut memory, &dry, &goes_on()).unwrap();
    assert_eq!((place(&next), count(&mut memory)), (("nightly", 2), 1));
}

#[test]
fn a_look_up_leaves_no_trace() {
    let (shop, ask) = (Shop::new(), Ask::under("breaker.no_exit = 1\nbreaker.cooldown = \"0s\"\n"));
    let mut memory = shop.memory();
    decide(&mut memory, &ask.request(), &goes_on()).unwrap();
    let before = count(&mut memory);
    for _ in 0..2 {
        match memory.look_up(&ask.request()).unwrap() {
            LookUp::Pending(pending) => assert_eq!(pending.admission, Admission::Probe),
            LookUp::Repeated(record) => panic!("repeated: {}", record.decision_id),
        }
        assert_eq!(count(&mut memory), before);
    }
    let forced = DecisionRequest { asker: &ask.forced(), ..ask.request() };
    assert!(decide(&mut memory, &forced, &goes_on()).unwrap().decision.forced);
}

#[test]
fn of_two_gates_one_decides_a_numbered_iteration() {
    let (shop, ask) = (Shop::new(), Ask::under(""));
    let (mut one, mut other) = (shop.memory(), shop.memory());
    let request = DecisionRequest {
        asker: &Asker { iteration: Some(1), ..ask.asker() },
        input: Some("a"),
        ..ask.request()
    };
    let turns = [pending(&mut one, &request), pending(&mut other, &request)];
    let first = record_decision(&mut one, &turns[0], &request, &goes_on()).unwrap();
    let second = record_decision(&mut other, &turns[1], &request, &goes_on()).unwrap();
    assert!(second.repeated && !first.repeated);
    assert_eq!(second.decision_id, first.decision_id);
    assert_eq!(count(&mut one), 1);
}

#[test]
fn of_two_gates_each_has_an_iteration_where_nobody_counts() {
    let (shop, ask) = (Shop::new(), Ask::under(""));
    let (mut one, mut other) = (shop.memory(), shop.memory());
    let request = ask.request();
    let turns = [pending(&mut one, &request), pending(&mut other, &request)];
    assert_eq!(turns[0].run_and_iteration(), turns[1].run_and_iteration());
    let first = record_decision(&mut one, &turns[0], &request, &goes_on()).unwrap();
    let second = record_decision(&mut other, &turns[1], &request, &goes_on()).unwrap();
    assert_eq!((place(&first), place(&second)), (("nightly", 1), ("nightly", 2)));
}

#[test]
fn what_a_decision_changes_is_recorded_with_it() {
    let (shop, ask) = (Shop::new(), Ask::under("breaker.no_exit = 2\n"));
    let mut memory = shop.memory();
    decide(&mut memory, &ask.request(), &goes_on()).unwrap();
    let acts = vec![("no_checks", None), ("exit_threshold", Some("3".to_owned()))];
    let request = DecisionRequest { asker: &Asker { acts, ..ask.asker() }, ..ask.request() };
    let tripped = decide(&mut memory, &request, &goes_on()).unwrap();
    assert_eq!(tripped.decision.verdict, Verdict::Tripped);
    let expected = [kind::BLOCKED, kind::ACT, kind::ACT, kind::BLOCKED, kind::TRANSITION];
    assert_eq!(kinds(&mut memory), expected);
    assert_eq!(tripped.ledger.unwrap().seq, 4);
    assert_eq!(pending(&mut memory, &request).admission, Admission::Held);
    let forced = DecisionRequest { asker: &ask.forced(), ..request.clone() };
    assert_eq!(pending(&mut memory, &forced).admission, Admission::Free);
    let elsewhere = DecisionRequest {
        asker: &Asker { run: Some("daily".to_owned()), ..ask.asker() },
        ..request
    };
    assert_eq!(pending(&mut memory, &elsewhere).admission, Admission::Free);
}

#[test]
fn a_cooled_breaker_lets_one_gate_try() {
    let (shop, ask) = (Shop::new(), Ask::under("breaker.no_exit = 1\nbreaker.cooldown = \"0s\"\n"));
    let mut memory = shop.memory();
    let request = ask.request();
    decide(&mut memory, &request, &goes_on()).unwrap();
    let dry = DecisionRequest { asker: &Asker { dry_run: true, ..ask.asker() }, ..request.clone() };
    assert_eq!(pending(&mut memory, &dry).admission, Admission::Probe);
    assert_eq!(pending(&mut memory, &request).admission, Admission::Probe);
    assert_eq!(pending(&mut shop.memory(), &request).admission, Admission::Held);
    let expected = [kind::BLOCKED, kind::TRANSITION, kind::TRANSITION];
    assert_eq!(kinds(&mut memory), expected);
}

#[test]
fn without_its_state_a_loop_neither_passes_nor_is_forced() {
    let (shop, ask) = (Shop::new(), Ask::under(""));
    decide(&mut shop.memory(), &ask.request(), &goes_on()).unwrap();
    shop.lose_state();
    let mut memory = shop.memory();
    let lost = decide(&mut memory, &ask.request(), &done()).unwrap();
    assert_eq!(lost.decision.verdict, Verdict::Tripped);
    assert_eq!((lost.run, lost.iteration, lost.ledger), (None, None, None));
    assert!(lost.decision.input.lost.unwrap().contains("it was removed, cut or replaced"));
    let forced = DecisionRequest { asker: &ask.forced(), ..ask.request() };
    assert_eq!(decide(&mut memory, &forced, &done()).unwrap_err().code, "state-lost");
    let again = decide(&mut shop.memory(), &ask.request(), &done()).unwrap();
    assert_eq!(again.decision.verdict, Verdict::Tripped, "it does not begin anew by itself");
}

#[test]
fn a_reset_ends_the_run() {
    let (shop, ask) = (Shop::new(), Ask::under(""));
    let mut memory = shop.memory();
    decide(&mut memory, &ask.request(), &goes_on()).unwrap();
    let reset = Operation {
        selector: BreakerSelector::Run("nightly"),
        act: Act::Reset,
        reason: "new plan",
    };
    let status = memory.operate(reset, &ask.policy).unwrap();
    assert_eq!((status.closed, status.ledger.unwrap().seq), (Some(0), 2));
    assert_eq!(place(&decide(&mut memory, &ask.request(), &goes_on()).unwrap()), ("nightly#2", 1));
}

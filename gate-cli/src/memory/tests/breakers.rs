//! Breakers that an operator operates, and those that a prompt closes.

use gate_core::decide::breaker::{Act, BreakerState};
use gate_core::history::Owner;

use super::super::{BreakerSelector, BreakerStatus, Operation};
use super::*;

fn operate(
    memory: &mut Memory,
    selector: BreakerSelector<'_>,
    act: Act,
) -> Result<BreakerStatus, Failure> {
    memory.operate(Operation { selector, act, reason: "lunch" }, &policy(""))
}

/// The loops over these tasks that are stopped; "" is the loop without a task.
fn stopped<'t>(memory: &mut Memory, tasks: &[&'t str]) -> Vec<&'t str> {
    let policy = policy("");
    let mut is_stopped = |task: &str| {
        let task = Some(task).filter(|task| !task.is_empty());
        memory.stops(None, task, &policy).unwrap()
    };
    tasks.iter().copied().filter(|task| is_stopped(task)).collect()
}

#[test]
fn what_is_held_here_is_all_work_without_a_task() {
    let shop = Shop::new();
    let mut memory = shop.memory();
    let closed = memory.breaker(BreakerSelector::ThisTree, &policy("")).unwrap();
    assert_eq!((closed.state, closed.open.len()), (BreakerState::Closed, 0));
    let status = operate(&mut memory, BreakerSelector::ThisTree, Act::Isolate).unwrap();
    assert_eq!((status.state, status.trip.as_deref()), (BreakerState::Isolated, Some("operator")));
    assert_eq!((status.closed, status.ledger.as_ref().unwrap().seq), (None, 1));
    let open = &status.open[0];
    assert_eq!((open.owner, open.name.as_deref(), open.is_of_this_tree), (Owner::Task, None, true));
    assert_eq!(open.whose, "all work without a task, by an operator");
    assert_eq!(open.reset, "gate breaker reset --reason …");
    assert_eq!((open.probe_at.as_deref(), status.stops()), (None, true));
    assert_eq!(stopped(&mut memory, &["", "42"]), [""]);
}

#[test]
fn a_task_is_held_for_all_of_its_loops() {
    let shop = Shop::new();
    let mut memory = shop.memory();
    let status = operate(&mut memory, BreakerSelector::Task("it's"), Act::Trip).unwrap();
    assert_eq!((status.task.as_str(), status.state), ("it's", BreakerState::Open));
    assert_eq!(status.open[0].whose, "the task it's, by an operator");
    assert_eq!(status.open[0].reset, r"gate breaker reset --task 'it'\''s' --reason …");
    assert_eq!(stopped(&mut memory, &["", "it's", "its"]), ["it's"]);
    let status = memory.breaker(BreakerSelector::ThisTree, &policy("")).unwrap();
    assert_eq!(status.state, BreakerState::Closed);
    assert_eq!(status.open.len(), 1, "it is shown to whoever looks");
    let reset = operate(&mut memory, BreakerSelector::Task("it's"), Act::Reset).unwrap();
    assert_eq!((reset.closed, reset.open.len()), (Some(1), 0));
    assert_eq!(stopped(&mut memory, &["it's"]), [""; 0]);
}

#[test]
fn a_run_that_nobody_knows_is_not_reset() {
    let shop = Shop::new();
    let mut memory = shop.memory();
    let failure = operate(&mut memory, BreakerSelector::Run("nigthly"), Act::Reset).unwrap_err();
    assert_eq!((failure.exit_code, failure.code.as_str()), (2, "run-unknown"));
    assert_eq!(failure.message, "no run, loop or session is called nigthly");
    assert_eq!(count(&mut memory), 0);
    let status = operate(&mut memory, BreakerSelector::ThisTree, Act::Reset).unwrap();
    assert_eq!((status.closed, count(&mut memory)), (Some(0), 1));
    assert!(operate(&mut memory, BreakerSelector::Run("a#2"), Act::Trip).is_err());
}

#[test]
fn a_loop_that_tripped_is_listed_with_the_time_of_its_probe() {
    let (shop, ask) = (Shop::new(), Ask::under("breaker.no_exit = 1\n"));
    let mut memory = shop.memory();
    let request = DecisionRequest {
        asker: &Asker { task: Some("42".to_owned()), ..ask.asker() },
        ..ask.request()
    };
    decide(&mut memory, &request, &goes_on()).unwrap();
    let status = memory.breaker(BreakerSelector::Run("nightly"), &ask.policy).unwrap();
    assert_eq!((status.state, status.trip.as_deref()), (BreakerState::Open, Some("no_exit")));
    let open = &status.open[0];
    assert_eq!(
        (open.whose.as_str(), open.owner),
        ("the loop nightly over the task 42", Owner::Loop)
    );
    assert!(open.probe_at.is_some() && open.probe_at == status.probe_at);
    assert_eq!(open.reset, "gate breaker reset --run nightly --reason …");
    assert_eq!(memory.breaker(BreakerSelector::Task("42"), &ask.policy).unwrap().open.len(), 1);
    assert_eq!(memory.breaker(BreakerSelector::Task("7"), &ask.policy).unwrap().open.len(), 0);
    let elsewhere = Memory { tree: "other".to_owned(), ..shop.memory() };
    let mut elsewhere = elsewhere;
    let there = elsewhere.breaker(BreakerSelector::ThisTree, &ask.policy).unwrap();
    assert_eq!((there.state, there.open[0].is_of_this_tree), (BreakerState::Closed, false));
}

#[test]
fn the_counters_of_a_closed_breaker_are_shown() {
    let (shop, ask) = (Shop::new(), Ask::under(""));
    let mut memory = shop.memory();
    for _ in 0..2 {
        decide(&mut memory, &ask.request(), &goes_on()).unwrap();
    }
    let status = memory.breaker(BreakerSelector::Run("nightly"), &ask.policy).unwrap();
    assert_eq!(status.counters.map(|counters| counters.no_exit), Some(2));
    let other = memory.breaker(BreakerSelector::Run("daily"), &ask.policy).unwrap();
    assert_eq!(other.counters, None);
}

#[test]
fn a_persons_prompt_closes_what_tripped_and_not_what_an_operator_holds() {
    let (shop, ask) = (Shop::new(), Ask::under("breaker.no_exit = 1\n"));
    let mut memory = shop.memory();
    let session = DecisionRequest {
        asker: &Asker { run: Some("s-1".to_owned()), ..ask.asker() },
        ..ask.request()
    };
    assert_eq!(memory.close_at_prompt("s-1"), Ok(false));
    decide(&mut memory, &session, &goes_on()).unwrap();
    assert_eq!(memory.close_at_prompt("s-2"), Ok(false));
    assert_eq!(memory.close_at_prompt("s-1"), Ok(true));
    let before = count(&mut memory);
    assert_eq!(memory.close_at_prompt("s-1"), Ok(false));
    assert_eq!(count(&mut memory), before, "a prompt that closes nothing records nothing");
    operate(&mut memory, BreakerSelector::Run("s-1"), Act::Isolate).unwrap();
    assert_eq!(memory.close_at_prompt("s-1"), Ok(false));
    let status = memory.breaker(BreakerSelector::Run("s-1"), &ask.policy).unwrap();
    assert_eq!(status.state, BreakerState::Isolated);
}

#[test]
fn lost_state_is_an_open_breaker_until_somebody_resets_it() {
    let (shop, ask) = (Shop::new(), Ask::under(""));
    for _ in 0..3 {
        decide(&mut shop.memory(), &ask.request(), &goes_on()).unwrap();
    }
    shop.lose_state();
    let mut memory = shop.memory();
    let lost = memory.breaker(BreakerSelector::ThisTree, &ask.policy).unwrap();
    assert_eq!((lost.state, lost.trip.as_deref()), (BreakerState::Open, Some("state")));
    assert_eq!((lost.open.len(), lost.stops()), (0, true));
    assert_eq!(
        operate(&mut memory, BreakerSelector::ThisTree, Act::Trip).unwrap_err().code,
        "state-lost"
    );
    let reset = operate(&mut memory, BreakerSelector::ThisTree, Act::Reset).unwrap();
    assert_eq!(reset.state, BreakerState::Closed);
    assert_eq!(reset.set_aside.unwrap().records, Some(0), "nothing was left of it");
    let sealed = memory.view().unwrap().entry(1).unwrap().unwrap();
    let named = sealed.record.body.get("lost").and_then(serde_json::Value::as_str).unwrap();
    assert!(named.contains("record 3 is marked"), "{named}");
    assert_eq!(decide(&mut memory, &ask.request(), &goes_on()).unwrap().iteration, Some(1));
}

#[test]
fn hooks_stay_off_for_the_given_time() {
    let shop = Shop::new();
    let mut memory = shop.memory();
    assert!(!memory.switch().unwrap().off);
    let set = memory.set_switch(true, None).unwrap();
    assert_eq!((set.off, set.until.as_deref()), (true, None));
    assert!(memory.switch().unwrap().off && shop.memory().switch().unwrap().off);
    assert!(memory.set_switch(true, Some(60_000)).unwrap().until.is_some());
    assert!(memory.switch().unwrap().off);
    memory.set_switch(true, Some(0)).unwrap();
    assert!(!memory.switch().unwrap().off, "its time is over");
    memory.set_switch(false, None).unwrap();
    assert!(!memory.switch().unwrap().off);
}

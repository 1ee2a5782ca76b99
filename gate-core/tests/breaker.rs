//! The breaker as its users meet it: loops under the shipped settings.
#![allow(clippy::expect_used, reason = "a test says what it expects")]

use gate_core::config::{self, Layer, Origin};
use gate_core::decide::breaker::{Act, Admission, Admitted, Breaker, BreakerState};
use gate_core::decide::decision::judge;
use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::iteration_facts::{
    IterationFacts, Outage, OutageCause, TreeSeen, TreeState,
};
use gate_core::decide::policy::Mode;
use gate_core::decide::reason::ReasonCode;
use gate_core::decide::run_state::{LoopState, RunState};
use gate_core::decide::signal::{Signal, Status};
use gate_core::decide::timestamp::Timestamp;
use gate_core::{Decision, Input, Policy, Verdict};

const MINUTE: u64 = 60_000;

fn shipped(settings: &str) -> Policy {
    let tests = format!("[checks.tests]\ncommand = [\"true\"]\n{settings}");
    let layer = Layer::parse(Origin::Default, &tests).expect("valid settings");
    config::resolve(&[layer], None).expect("valid settings").policy
}

fn at(minutes: u64) -> Timestamp {
    let millis = 1_000_000_000 + minutes * MINUTE;
    Timestamp { boot: "boot".to_owned(), uptime_ms: millis, wall_ms: millis }
}

fn start() -> LoopState {
    let breaker = Breaker::default();
    LoopState { run: RunState::begins(&at(0), 0), hold: None, breaker }
}

fn said(status: Status) -> Input {
    let mut input = Input::new(Signal::absent(), Vec::new());
    input.signal.status = status;
    input
}

fn tested(status: Status, outcome: Outcome) -> Input {
    let mut input = said(status);
    input.evidence.push(Evidence::new("tests", Mode::Require, outcome));
    input
}

/// The iteration with this number: it leaves this commit, and this error.
fn iteration(mut input: Input, memory: &LoopState, commit: u64, error: Option<&str>) -> Input {
    let number = memory.run.iteration + 1;
    let tree =
        TreeState { digest: "tree".to_owned(), head: Some(commit.to_string()), branches: None };
    let seen = TreeSeen {
        before: tree.clone(),
        after: tree,
        uncommitted: Some(false),
        changed_files: None,
        since_beginning: None,
    };
    input.observed = IterationFacts::default();
    input.observed.at = at(number * 3);
    input.observed.iteration = number;
    input.observed.tree = Some(seen);
    input.observed.signature = error.map(str::to_owned);
    input.observed.output = 400;
    input.stateful = true;
    input.memory = Some(memory.clone());
    input
}

fn step(input: &Input, memory: &mut LoopState, policy: &Policy) -> Decision {
    let judged = judge(input, policy);
    *memory = judged.memory.expect("state is kept");
    judged.decision
}

#[test]
fn an_honest_loop_of_thirty_commits_does_not_trip() {
    for policy in [Policy::default(), shipped("")] {
        let mut memory = start();
        for number in 1..=30 {
            let error = (number % 3 == 0).then(|| format!("error {}", number / 2));
            let input = said(Status::Continue);
            let input = iteration(input, &memory, number, error.as_deref());
            assert_eq!(step(&input, &mut memory, &policy).verdict, Verdict::Continue, "{number}");
        }
        assert_eq!(memory.breaker, Breaker { calm: 30, ..Breaker::default() });
    }
}

#[test]
fn five_claims_with_the_same_red_test_trip_and_say_what_is_stuck() {
    let policy = shipped("");
    let mut memory = start();
    let red = || tested(Status::Complete, Outcome::Fail);
    for number in 1..=5 {
        let input = iteration(red(), &memory, number, Some("tests: auth::expired_token"));
        let decision = step(&input, &mut memory, &policy);
        let expected = if number == 5 { Verdict::Tripped } else { Verdict::Continue };
        assert_eq!(decision.verdict, expected, "{number}");
        if number == 5 {
            assert_eq!(decision.breaker.trip.as_deref(), Some("refused"));
            let told: Vec<_> =
                decision.reasons.iter().map(|reason| (reason.code, &*reason.message)).collect();
            assert_eq!(told[0].0, ReasonCode::BreakerTripped);
            assert!(told[0].1.starts_with("5 claims"));
            assert_eq!(told[1].0, ReasonCode::BreakerTripped);
            assert!(told[1].1.contains("the same error"));
            assert!(told.iter().any(|(code, _)| *code == ReasonCode::RequiredCheckFailed));
            assert_eq!((decision.exit_code, decision.success, decision.stop), (3, false, true));
            assert_eq!(decision.feedback, "");
        }
    }
}

#[test]
fn the_seeds_rule() {
    let policy = shipped("[breaker]\nno_exit = 4\nno_progress = 0\n");
    let mut memory = start();
    for number in 1..=4 {
        let input = iteration(said(Status::Absent), &memory, 1, None);
        let decision = step(&input, &mut memory, &policy);
        assert_eq!(decision.verdict == Verdict::Tripped, number == 4);
        let named = decision.reasons[0].message.contains("Exit gate not passing");
        assert_eq!(named, number == 4);
    }
}

/// The seed's pseudo-code: what passes resets nothing, for the loop ends.
fn seeds(gates: &[bool], threshold: usize) -> Option<usize> {
    let mut count = 0;
    for (index, passes) in gates.iter().enumerate() {
        if *passes {
            return None;
        }
        count += 1;
        if count >= threshold {
            return Some(index);
        }
    }
    None
}

#[test]
fn every_short_loop_ends_as_the_seed_says() {
    for length in 0..7_u32 {
        for bits in 0..2_u32.pow(length) {
            let gates: Vec<_> = (0..length).map(|bit| bits >> bit & 1 == 1).collect();
            let policy = shipped("[breaker]\nno_exit = 3\nrefused = 0\n");
            let mut memory = start();
            let mut tripped = None;
            for (index, passes) in gates.iter().enumerate() {
                let outcome = if *passes { Outcome::Pass } else { Outcome::Fail };
                let input = tested(Status::Complete, outcome);
                let input = iteration(input, &memory, index as u64, None);
                match step(&input, &mut memory, &policy).verdict {
                    Verdict::Exit => break,
                    Verdict::Tripped => {
                        tripped = Some(index);
                        break;
                    }
                    Verdict::Continue | Verdict::Blocked => {}
                }
            }
            assert_eq!(tripped, seeds(&gates, 3), "{gates:?}");
        }
    }
}

#[test]
fn a_gate_that_passes_at_last_ends_the_loop_below_the_limit() {
    let policy = shipped("[breaker]\nno_exit = 3\n");
    let mut memory = start();
    for outcome in [Outcome::Fail, Outcome::Fail, Outcome::Pass] {
        let number = memory.run.iteration;
        let input = iteration(tested(Status::Complete, outcome), &memory, number, None);
        let verdict = step(&input, &mut memory, &policy).verdict;
        assert_eq!(verdict == Verdict::Exit, outcome == Outcome::Pass);
    }
    assert!(memory.breaker.is_closed() && memory.run.ended);
}

#[test]
fn three_loops_without_progress_open_it() {
    let mut memory = start();
    let policy = shipped("");
    for number in 1..=3 {
        // What the agent says of its work is not asked.
        let mut input = said(Status::Continue);
        input.signal.reason = Some("FILES_MODIFIED: 12".to_owned());
        let decision = step(&iteration(input, &memory, 7, None), &mut memory, &policy);
        assert_eq!(decision.verdict == Verdict::Tripped, number == 3);
    }
    assert_eq!(memory.breaker.trip.as_ref().map(|trip| trip.cause.name()), Some("no_progress"));
    let opened = memory.breaker.snapshot.clone().expect("it is open").at;
    let says = |minutes: u64| {
        let later = opened.wall_ms + minutes * MINUTE;
        let now = Timestamp { uptime_ms: later, wall_ms: later, ..opened.clone() };
        memory.breaker.admit(&now, &policy, "probe")
    };
    assert_eq!((says(29).admission, says(29).breaker.state), (Admission::Held, BreakerState::Open));
    assert_eq!(
        (says(30).admission, says(30).breaker.state),
        (Admission::Probe, BreakerState::HalfOpen)
    );
}

#[test]
fn the_same_error_five_times_opens_it() {
    let mut memory = start();
    let policy = shipped("[breaker]\nno_progress = 0\n");
    for number in 1..=5 {
        let input = iteration(said(Status::Continue), &memory, 1, Some("E0382"));
        let decision = step(&input, &mut memory, &policy);
        assert_eq!(decision.verdict == Verdict::Tripped, number == 5);
    }
    assert_eq!(memory.breaker.trip.as_ref().map(|trip| trip.cause.name()), Some("same_error"));
}

#[test]
fn of_many_gates_at_a_cool_breaker_one_is_the_probe() {
    let policy = shipped("[breaker]\nrefused = 1\n");
    let mut memory = start();
    let red = tested(Status::Complete, Outcome::Fail);
    step(&iteration(red, &memory, 1, None), &mut memory, &policy);
    let later = at(100_000);
    let mut let_in = Vec::new();
    for gate in 0..64 {
        let Admitted { admission, breaker, .. } =
            memory.breaker.admit(&later, &policy, &gate.to_string());
        memory.breaker = breaker;
        let_in.extend((admission == Admission::Probe).then_some(gate));
    }
    assert_eq!(let_in, [0]);
    for gate in (0..64).rev() {
        let mut input = iteration(tested(Status::Complete, Outcome::Pass), &memory, 1, None);
        input.observed.at.clone_from(&later);
        input.observed.probe = Some(gate.to_string());
        let decision = step(&input, &mut memory, &policy);
        let expected = if gate == 0 { Verdict::Exit } else { Verdict::Tripped };
        assert_eq!(decision.verdict, expected, "gate {gate}");
    }
}

#[test]
fn an_outage_fails_the_probe_of_an_operators_hold() {
    let policy = shipped("");
    let mut memory = start();
    memory.hold = Some(Breaker::default().operated(Act::Trip, "lunch", &at(0)).0);
    let later = at(100_000);
    let Admitted { admission, breaker: hold, .. } = memory.governing().admit(&later, &policy, "me");
    assert_eq!(admission, Admission::Probe);
    memory.hold = Some(hold);
    let mut input = iteration(said(Status::Continue), &memory, 1, None);
    input.observed.at = later;
    input.observed.probe = Some("me".to_owned());
    input.observed.outage = Some(Outage {
        cause: OutageCause::Limit,
        text: "too many requests".to_owned(),
        stderr: String::new(),
        count: 1,
        gives_up: None,
    });
    step(&input, &mut memory, &policy);
    assert_eq!(memory.governing().state, BreakerState::Open);
    assert!(memory.breaker.is_closed());
}

#[test]
fn an_error_that_is_only_told_stops_nobody_who_commits() {
    let policy = shipped("");
    let mut memory = start();
    for number in 1..=30 {
        let input = iteration(said(Status::Continue), &memory, number, Some("no docker daemon"));
        assert_eq!(step(&input, &mut memory, &policy).verdict, Verdict::Continue);
    }
    // Failing evidence counts all the same.
    let mut memory = start();
    for number in 1..=5 {
        let red = tested(Status::Continue, Outcome::Fail);
        let input = iteration(red, &memory, number, Some("tests: auth::expired_token"));
        let decision = step(&input, &mut memory, &policy);
        assert_eq!(decision.verdict == Verdict::Tripped, number == 5);
    }
}

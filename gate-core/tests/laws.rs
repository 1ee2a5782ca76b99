//! Laws that hold whatever the input.
#![allow(clippy::expect_used, reason = "a test says what it expects")]

use std::num::NonZeroU32;
use std::sync::LazyLock;

use gate_core::decide::breaker::{Breaker, BreakerState, Cause, Counters, Trip, TripSnapshot};
use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::indicator::{Hit, PatternSet};
use gate_core::decide::iteration_facts::{IterationFacts, LimitNotice, TreeSeen, TreeState};
use gate_core::decide::policy::{AgentOverride, CheckPolicy, Mode, Policy, Spelling, Threshold};
use gate_core::decide::run_state::{LoopState, RunState};
use gate_core::decide::signal::{Signal, Status};
use gate_core::{Decision, Input, Scan, Scanner, Verdict, config, decide};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Pieces from which outputs are put together: signals, claims, noise, of
/// plain text and of JSON lines.
const TEXT: [&str; 16] = [
    "All tasks are completed.\n",
    "It is ready for review.\r\n",
    "EXIT_STATUS: COMPLETE\n",
    "EXIT_STATUS: CONTINUE\n",
    "REMAINING_WORK: none\n",
    "<promise>COMPLETE</promise>\n",
    "---RALPH_STATUS---\nSTATUS: COMPLETE\nEXIT_SIGNAL: true\n---END_RALPH_STATUS---\n",
    "```\n",
    "\u{1b}[1mbold\u{1b}[0m é 漢字\n",
    "\n",
    "@@ -1,2 +1,2 @@\n",
    "+ added\n- removed\n",
    "If all is done, reply with:\n",
    "Error: cannot find module './a'\n",
    "You've hit your limit · resets 5pm\n",
    "no line end",
];

/// Pieces of a log of Codex.
const LOG: [&str; 9] = [
    "OpenAI Codex v0.169.0\n--------\nmodel: m\n--------\n",
    "user\nGo on.\n",
    "codex\n",
    "Now the tests: ü.\n",
    "\n",
    "ERROR: You've hit your usage limit.\n",
    "ERROR: unexpected status 401 Unauthorized\n",
    "exec\nmake in /w\n exited 2 in 5ms:\nmake: *** No rule to make target 'x'.\n",
    "tokens used\n1,234\n",
];

/// Ways to say that the work goes on, each as the last thing said of it.
const GOES_ON: [&str; 5] = [
    "EXIT_STATUS: CONTINUE",
    "EXIT_STATUS: CONTINUE\nREMAINING_WORK: the login page",
    "---RALPH_STATUS---\nSTATUS: IN_PROGRESS\nEXIT_SIGNAL: false\n---END_RALPH_STATUS---",
    "EXIT_SIGNAL: false",
    "RALPH_STATUS:\n  EXIT_SIGNAL: false",
];

/// What may stand before it without making an example of it.
const SAID: [&str; 6] = [
    "All tasks are completed.\n",
    "It is ready for review.\r\n",
    "EXIT_STATUS: COMPLETE\nREMAINING_WORK: none\n",
    "<promise>COMPLETE</promise>\n",
    "---RALPH_STATUS---\nSTATUS: COMPLETE\nEXIT_SIGNAL: true\n---END_RALPH_STATUS---\n",
    "\n",
];

/// What may stand behind it without taking it back.
const AFTER: [&str; 4] =
    ["A closing sentence.\n", "\n", "## Notes\n\n- one\n", "All tasks are completed.\n"];

const RECORDS: [&str; 14] = [
    r#"{"type":"system","subtype":"init","session_id":"s1","model":"m"}"#,
    r#"{"type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"All tasks are completed.\n\nEXIT_STATUS: COMPLETE"}]},"session_id":"s1"}"#,
    r#"{"type":"assistant","message":{"id":"m2","role":"assistant","content":[{"type":"text","text":"Now the tests."}]},"session_id":"s1"}"#,
    r#"{"type":"assistant","message":{"id":"m2","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]},"session_id":"s1"}"#,
    r#"{"type":"user","message":{"role":"user","content":[{"tool_use_id":"t1","type":"tool_result","content":"<promise>COMPLETE</promise>"}]},"session_id":"s1"}"#,
    r#"{"type":"user","message":{"role":"user","content":[{"type":"text","text":"Go on."}]},"session_id":"s1"}"#,
    r#"{"type":"result","subtype":"success","is_error":false,"result":"<promise>COMPLETE</promise>","session_id":"s1"}"#,
    r#"{"type":"user","message":{"role":"user","content":[{"tool_use_id":"t1","type":"tool_result","is_error":true,"content":"Exit code 1\nsrc/a.rs:12:5: error: no x"}]},"session_id":"s1"}"#,
    r#"{"type":"user","message":{"role":"user","content":[{"tool_use_id":"t1","type":"tool_result","is_error":true,"content":"This command requires approval"}]},"session_id":"s1"}"#,
    r#"{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1774026000},"session_id":"s1"}"#,
    r#"{"type":"assistant","message":{"id":"m4","content":[{"type":"text","text":"You've hit your limit · resets 5pm"}]},"session_id":"s1"}"#,
    r#"{"type":"result","subtype":"success","is_error":true,"result":"API Error: 401 no key","session_id":"s1","permission_denials":[{"tool_name":"Bash","tool_use_id":"t1"}]}"#,
    "noise between the records",
    r#"{"type":"assistant","message":{"id":"m3","role":"assist"#,
];

fn output() -> impl Strategy<Value = Vec<u8>> {
    let text = vec(select(&TEXT[..]), 0..12).prop_map(|pieces| pieces.concat().into_bytes());
    let records = vec(select(&RECORDS[..]), 0..12).prop_map(|lines| lines.join("\n").into_bytes());
    let log = vec(select(&LOG[..]), 0..12).prop_map(|pieces| pieces.concat().into_bytes());
    let bytes = vec(any::<u8>(), 0..400);
    prop_oneof![4 => text, 4 => records, 2 => log, 1 => bytes]
}

static POLICY: LazyLock<Policy> =
    LazyLock::new(|| config::resolve(&[], None).expect("the embedded default is right").policy);

static CHECK: LazyLock<CheckPolicy> = LazyLock::new(|| {
    let tests = "[checks.tests]\ncommand = [\"true\"]";
    let layer = config::Layer::parse(config::Origin::Default, tests).expect("valid settings");
    let resolved = config::resolve(&[layer], None).expect("valid settings");
    resolved.policy.checks["tests"].clone()
});

static PATTERNS: LazyLock<PatternSet> =
    LazyLock::new(|| PatternSet::new(&POLICY.patterns).expect("the shipped patterns are right"));

fn scan<'b>(pieces: impl Iterator<Item = &'b [u8]>) -> Scan {
    let mut scanner = Scanner::new(&PATTERNS, None);
    pieces.for_each(|piece| scanner.push(piece));
    scanner.finish(&POLICY.signal).without_token()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_chunking_gives_the_same_scan(bytes in output(), cuts in vec(any::<Index>(), 0..8)) {
        let mut at: Vec<_> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        at.extend([0, bytes.len()]);
        at.sort_unstable();
        let whole = scan([&bytes[..]].into_iter());
        let cut = scan(at.windows(2).map(|pair| &bytes[pair[0]..pair[1]]));
        let single = scan(bytes.chunks(1));
        prop_assert_eq!(&whole, &cut);
        prop_assert_eq!(&whole, &single);
    }

    #[test]
    fn what_is_dropped_never_helps((input, policy) in case()) {
        let decision = decide(&input, &policy);
        if decision.verdict == Verdict::Exit {
            return Ok(());
        }
        for poorer in poorer(&input) {
            prop_assert_ne!(decide(&poorer, &policy).verdict, Verdict::Exit, "{:#?}", poorer);
        }
    }

    #[test]
    fn a_decision_decided_again_from_its_json_is_the_same((input, policy) in case()) {
        let decision = decide(&input, &policy);
        let json = serde_json::to_string(&decision).expect("a decision is plain data");
        let read: Decision = serde_json::from_str(&json).expect("its own JSON");
        prop_assert_eq!(&read, &decision);
        prop_assert_eq!(decide(&read.input, &policy), decision);
    }

    #[test]
    fn what_forbids_never_exits_unforced((input, policy) in case()) {
        let mut unforced = input.clone();
        unforced.force_reason = None;
        let decision = decide(&unforced, &policy);
        unforced.settings_changed = Some("it changed".to_owned());
        prop_assert_ne!(decide(&unforced, &policy).verdict, Verdict::Exit);
        let forbids = matches!(input.signal.status, Status::Continue | Status::Blocked | Status::Invalid);
        let closed = |memory: &LoopState| memory.breaker.is_closed();
        let open = input.stateful && !input.memory.as_ref().is_some_and(closed);
        let tampered = input.evidence.iter().any(|evidence| evidence.outcome == Outcome::Tamper);
        if forbids || open || tampered {
            prop_assert_ne!(decision.verdict, Verdict::Exit);
        }
    }

    #[test]
    fn that_the_work_goes_on_forbids_wherever_it_stands(
        before in vec(select(&SAID[..]), 0..6),
        after in vec(select(&AFTER[..]), 0..4),
        goes_on in select(&GOES_ON[..]),
        accept in select(&[Spelling::ExitStatus, Spelling::RalphStatus, Spelling::Promise][..]),
        explicit in any::<bool>(),
    ) {
        let text = format!("{}\n\nIn the end:\n\n{goes_on}\n\n{}", before.concat(), after.concat());
        let mut policy = POLICY.clone();
        policy.signal.accept = vec![accept];
        policy.exit_gate.require_explicit_signal = explicit;
        let mut scanner = Scanner::new(&PATTERNS, None);
        scanner.push(text.as_bytes());
        let scan = scanner.finish(&policy.signal).without_token();
        let decision = decide(&Input::new(scan.signal, scan.hits), &policy);
        prop_assert_ne!(decision.verdict, Verdict::Exit, "{}", text);
    }

    #[test]
    fn every_verdict_but_exit_says_what_would_change_it((input, policy) in case()) {
        let decision = decide(&input, &policy);
        prop_assert!(!decision.reasons.is_empty());
        prop_assert_eq!(decision.next.is_none(), decision.verdict == Verdict::Exit);
        prop_assert!(decision.feedback.chars().count() <= 1_500);
    }
}

fn case() -> impl Strategy<Value = (Input, Policy)> {
    let flags = any::<(bool, bool, bool, bool)>();
    (checks(), signal(), 0..3_u32, memory(), observed(), flags, forced()).prop_map(
        |(
            checks,
            signal,
            hits,
            (stateful, memory),
            observed,
            (required, explicit, failed, changed),
            forced,
        )| {
            let policy = policy(&checks, explicit, required);
            let mut input = Input::new(signal, (0..hits).map(hit).collect());
            input.evidence = evidence(&checks);
            input.stateful = stateful;
            input.memory = memory;
            input.observed = observed;
            input.agent_exit_code = failed.then_some(1);
            input.settings_changed = changed.then(|| "gate.toml changed".to_owned());
            input.force_reason = forced;
            (input, policy)
        },
    )
}

type Check = (Mode, Outcome);

fn checks() -> impl Strategy<Value = Vec<Check>> {
    let mode = select(&[Mode::Require, Mode::Count, Mode::Warn][..]);
    let outcome = prop_oneof![
        4 => Just(Outcome::Pass),
        1 => select(&[Outcome::Fail, Outcome::Inconclusive, Outcome::Tamper, Outcome::Skipped][..]),
    ];
    vec((mode, outcome), 0..4)
}

fn policy(checks: &[Check], explicit: bool, consecutive: bool) -> Policy {
    let mut policy = POLICY.clone();
    for (index, (mode, _)) in checks.iter().enumerate() {
        let mut check = CHECK.clone();
        check.mode = *mode;
        policy.checks.insert(name(index), check);
    }
    policy.exit_gate.require_explicit_signal = explicit;
    policy.exit_gate.threshold = Threshold::Reachable;
    policy.signal.agent_override = AgentOverride::HighConfidence;
    policy.exit_gate.consecutive =
        NonZeroU32::new(if consecutive { 2 } else { 1 }).expect("not zero");
    policy
}

fn name(index: usize) -> String {
    format!("check-{index}")
}

fn evidence(checks: &[Check]) -> Vec<Evidence> {
    let record = |(index, (mode, outcome)): (usize, &Check)| {
        let record = Evidence::new(name(index), *mode, *outcome);
        let mut record = record.with_summary("one line");
        record.exit_code = Some(1);
        record.log = Some("log".to_owned());
        record
    };
    checks.iter().enumerate().map(record).collect()
}

fn signal() -> impl Strategy<Value = Signal> {
    let status = prop_oneof![
        3 => Just(Status::Complete),
        2 => Just(Status::Absent),
        1 => select(&[Status::Continue, Status::Blocked, Status::Invalid][..]),
    ];
    (status, any::<[bool; 3]>()).prop_map(|(status, [over, agree, whole])| {
        let mut signal = Signal::absent();
        signal.status = status;
        signal.override_requested = over;
        signal.confidence = over.then(|| "high".to_owned());
        signal.fields_agree = agree;
        signal.whole_message = whole;
        signal
    })
}

fn hit(index: u32) -> Hit {
    Hit {
        pattern: format!("pattern-{index}"),
        pack: "completion".to_owned(),
        weight: 1,
        line: 1,
        column: 1,
        excerpt: String::new(),
        same_words_as: None,
        matched: String::new(),
    }
}

fn memory() -> impl Strategy<Value = (bool, Option<LoopState>)> {
    use BreakerState::{Closed, HalfOpen, Isolated, Open};
    let state = prop_oneof![4 => Just(Closed), 1 => select(&[HalfOpen, Open, Isolated][..])];
    let memory = (state, run()).prop_map(|(state, run)| {
        let trip = Trip { cause: Cause::Refused, message: "refused".to_owned() };
        let snapshot = Some(TripSnapshot::default());
        let breaker = Breaker { state, trip: Some(trip), snapshot, ..Breaker::default() };
        LoopState { breaker, hold: None, run }
    });
    (any::<bool>(), proptest::option::weighted(0.8, memory))
        .prop_map(|(stateful, memory)| (stateful, memory.filter(|_| stateful)))
}

/// A run, often shortly before one of the limits.
fn run() -> impl Strategy<Value = RunState> {
    (0..5_u32, 0..4_u32, 0..3_u32).prop_map(|(refused, idle, passed_in_a_row)| {
        let mut run = RunState::default();
        run.counters =
            Counters { refused, no_progress: idle, same_error: refused, ..Counters::default() };
        run.passed_in_a_row = passed_in_a_row;
        run.signature = Some("error".to_owned());
        run.tree = Some(tree(1));
        run
    })
}

fn tree(digest: u8) -> TreeState {
    TreeState { digest: digest.to_string(), head: None, branches: None }
}

fn observed() -> impl Strategy<Value = IterationFacts> {
    let seen = (1..3_u8).prop_map(|digest| TreeSeen {
        before: tree(digest),
        after: tree(digest),
        uncommitted: None,
        changed_files: None,
        since_beginning: None,
    });
    let limited = LimitNotice { text: "limit".to_owned(), resets_at: None };
    let limited = proptest::option::weighted(0.1, Just(limited));
    (proptest::option::of(seen), any::<(bool, bool)>(), limited).prop_map(
        |(tree, (error, denied), limited)| {
            let mut facts = IterationFacts::default();
            facts.iteration = 7;
            facts.tree = tree;
            facts.signature = error.then(|| "error".to_owned());
            facts.denied.extend(denied.then(|| "Bash".to_owned()));
            facts.limited = limited;
            facts
        },
    )
}

fn forced() -> impl Strategy<Value = Option<String>> {
    proptest::option::weighted(0.1, Just("the operator said so".to_owned()))
}

/// The input without one record, or without one optional field of a record.
fn poorer(input: &Input) -> Vec<Input> {
    let mut all = vec![input.clone()];
    all[0].memory = None;
    for index in 0..input.evidence.len() {
        let mut without = input.clone();
        without.evidence.remove(index);
        all.push(without);
    }
    let whole = serde_json::to_value(input).expect("an input is plain data");
    for pointer in optional_fields(&whole) {
        let mut value = whole.clone();
        let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
        let parent =
            value.pointer_mut(parent).and_then(|value| value.as_object_mut()).expect("an object");
        parent.remove(key);
        all.extend(serde_json::from_value::<Input>(value));
    }
    all
}

/// The fields of all evidence, of what is remembered and of what was observed. Dropping one that is not
/// optional makes the record unreadable, which is no input at all.
fn optional_fields(input: &serde_json::Value) -> Vec<String> {
    let records = input["evidence"].as_array().into_iter().flatten().enumerate();
    let mut places: Vec<_> =
        records.map(|(index, value)| (format!("/evidence/{index}"), value)).collect();
    for at in ["/memory/breaker", "/memory/run", "/observed"] {
        places.extend(input.pointer(at).map(|value| (at.to_owned(), value)));
    }
    places
        .into_iter()
        .flat_map(|(at, value)| {
            let keys = value.as_object().into_iter().flat_map(|object| object.keys().cloned());
            keys.map(move |key| format!("{at}/{key}")).collect::<Vec<_>>()
        })
        .collect()
}

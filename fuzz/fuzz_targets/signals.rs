//! Last words: the same scan however the input is cut, and no exit for an agent that says that
//! the work goes on.
#![no_main]

use std::sync::LazyLock;

use gate_core::decide::indicator::PatternSet;
use gate_core::decide::policy::{AgentOverride, Policy, Spelling};
use gate_core::decide::signal::Status;
use gate_core::{Decision, Input, Scan, Scanner, Verdict, config, decide};
use gate_fuzz::{choices, pieces};
use libfuzzer_sys::fuzz_target;

/// Ways to say that the work goes on.
const GOES_ON: [&str; 4] = [
    "EXIT_STATUS: CONTINUE",
    "EXIT_STATUS: CONTINUE\nREMAINING_WORK: the login page",
    "---RALPH_STATUS---\nSTATUS: IN_PROGRESS\nEXIT_SIGNAL: false\n---END_RALPH_STATUS---",
    "EXIT_SIGNAL: false",
];

/// The default settings, and some that are easier to satisfy.
static POLICIES: LazyLock<[Policy; 3]> = LazyLock::new(|| {
    let policy = config::resolve(&[], None).expect("the embedded default is right").policy;
    let mut easy = policy.clone();
    easy.exit_gate.require_explicit_signal = false;
    easy.signal.agent_override = AgentOverride::HighConfidence;
    let mut narrow = easy.clone();
    narrow.signal.accept = vec![Spelling::Promise];
    [policy, easy, narrow]
});

static PATTERNS: LazyLock<PatternSet> = LazyLock::new(|| {
    PatternSet::new(&POLICIES[0].patterns).expect("the shipped patterns are right")
});

fn scan(input: &[&[u8]], policy: &Policy) -> Scan {
    let mut scanner = Scanner::new(&PATTERNS, None);
    input.iter().for_each(|piece| scanner.push(piece));
    scanner.finish(&policy.signal).without_token()
}

fn decided(text: &[u8], policy: &Policy) -> (Scan, Decision) {
    let scan = scan(&[text], policy);
    let decision = decide(&Input::new(scan.signal.clone(), scan.hits.clone()), policy);
    (scan, decision)
}

/// Prose of the agent's: no markup that could make an example of what follows.
fn prose(text: &[u8]) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b" .,'\n".contains(byte);
    text.iter().filter(|byte| plain(byte)).map(|byte| char::from(*byte)).collect()
}

fuzz_target!(|input: &[u8]| {
    let Some(([choice, cut], text)) = choices(input) else { return };
    let policy = &POLICIES[usize::from(choice) % POLICIES.len()];
    let goes_on = GOES_ON[usize::from(choice / 8) % GOES_ON.len()];
    let (found, decision) = decided(text, policy);
    assert_eq!(scan(&pieces(text, cut), policy), found);

    let denies =
        matches!(found.signal.status, Status::Continue | Status::Blocked | Status::Invalid);
    if denies {
        assert_ne!(decision.verdict, Verdict::Exit);
    }
    assert!(!decision.reasons.is_empty());
    assert_eq!(decision.next.is_none(), decision.verdict == Verdict::Exit);
    if found.signal.status == Status::Complete {
        assert_eq!(found.signal.problems, [""; 0]);
    }
    let json = serde_json::to_string(&decision).expect("a decision is plain data");
    let read: Decision = serde_json::from_str(&json).expect("its own JSON");
    assert_eq!(serde_json::to_string(&read).ok(), Some(json));
    assert_eq!(decide(&read.input, policy), read);

    // Where all is prose, nothing makes an example of what stands behind it.
    let said = format!("{}\n\nThat is all.\n\n{goes_on}\n", prose(text));
    assert_ne!(decided(said.as_bytes(), policy).1.verdict, Verdict::Exit, "{said}");

    // Where it is an example, it says nothing; it never helps.
    if decision.verdict != Verdict::Exit {
        let more = [text, b"\n\n", goes_on.as_bytes(), b"\n"].concat();
        let (more_found, again) = decided(&more, policy);
        // With another end, the text may be of another format, with other words of the agent's.
        if more_found.transcript.format == found.transcript.format {
            assert_ne!(again.verdict, Verdict::Exit, "{}", String::from_utf8_lossy(&more));
        }
    }
});

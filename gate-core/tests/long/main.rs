//! A long input has a tail, whatever the pieces in which it comes.
#![allow(clippy::expect_used, reason = "a test says what it expects")]

mod claude;
mod codex;
mod lines;
mod torn;
mod ways;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use ways::{passed_over_lines_say_nothing, pieces_agree, transcript};

/// What the agent says, or somebody else: claims and near misses, signals in
/// all spellings, what has to be escaped, what is nothing.
pub(crate) const TEXTS: &[&str] = &[
    "Looking at the parser now.",
    "Let me check.",
    "All tasks completed.",
    "Not all tasks completed yet.",
    "The build is not complete yet.",
    "Implementation finished.\nready for review",
    "All tests pass \"now\" \\ really: 12 of 12 tests passed.",
    "Everything works.\r\nDone\r\nall tasks are\ndone",
    "First this.\r\ndone\r\nthen that.",
    "done",
    "so it is done",
    "EXIT_STATUS: COMPLETE\nREMAINING_WORK: none",
    "EXIT_STATUS: CONTINUE\nREMAINING_WORK: the parser",
    "EXIT_STATUS: BLOCKED\nEXIT_REASON: no access",
    "---RALPH_STATUS---\nSTATUS: COMPLETE\nEXIT_SIGNAL: true\n---END_RALPH_STATUS---",
    "---RALPH_STATUS---\nSTATUS: IN_PROGRESS\nEXIT_SIGNAL: false\n---END_RALPH_STATUS---",
    "<promise>COMPLETE</promise>",
    "I will say <promise>COMPLETE</promise> when it is done.",
    "<promise>BLOCKED</promise>",
    "{\"protocol\":\"apm2_agent_exit\",\"version\":\"1.0.0\",\"phase_completed\":\"REVIEW\",\"exit_reason\":\"completed\"}",
    "{\n  \"protocol\": \"apm2_agent_exit\",\n  \"version\": \"2.0.0\"\n}",
    "\u{1b}[1mAll tasks \u{1b}[32mcompleted\u{1b}[0m",
    "No remain\u{7f}ing work.",
    "All acceptance criteria are met ✅ ünïcödé",
    "You've hit your usage limit. Try again at 5pm.",
    "Claude AI usage limit reached|1767225600",
    "The user doesn't want to proceed with this tool use.",
    "Is it ready? The other goal is met, a commit is pushed; that issue is not closed.",
    "Commit this, no more. Then it was pu\u{17f}hed.",
    "Exit code 1\nerror: cannot find value `x` in this scope",
    "",
    " \n\t\n",
    "\u{3000}\n",
    "\u{b}\u{c} ",
    "\u{9b}0m",
    "Command running in background with ID: b1",
    "Async agent launched successfully.",
    "It is in C:\\n",
    "It is in C:\\\n",
    "It is in C:",
    "\\",
    "{\"type\":\"assistant\",\"message\":\"all tasks completed\"}",
    "Stop hook feedback:\ngo on",
    "<task-notification>a build ended</task-notification>",
    "This session is being continued from a previous conversation: all tasks completed",
];

/// How a text is written in JSON.
pub(crate) fn json(text: &str, spelling: usize) -> String {
    let quoted = serde_json::to_string(text).expect("text");
    let escape = |c: char| match c {
        'a' | 'E' | '<' => format!("\\u{:04x}", c as u32),
        '/' => "\\/".to_owned(),
        c => c.to_string(),
    };
    if spelling == 0 { quoted.chars().map(escape).collect() } else { quoted }
}

/// One of the things that stand in a transcript: what it is, what is said in
/// it, and some numbers that vary it.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) kind: usize,
    pub(crate) text: &'static str,
    pub(crate) more: &'static str,
    pub(crate) id: usize,
    pub(crate) vary: usize,
    pub(crate) times: usize,
}

fn item() -> impl Strategy<Value = Item> {
    let times = prop_oneof![8 => Just(1_usize), 1 => 2_usize..6];
    (0_usize..64, select(TEXTS), select(TEXTS), 0_usize..3, 0_usize..12, times)
        .prop_map(|(kind, text, more, id, vary, times)| Item { kind, text, more, id, vary, times })
}

/// How much more than the last mebibyte there is, in kibibytes, and how it is cut.
fn cut() -> impl Strategy<Value = (usize, u64)> {
    (prop_oneof![3 => 0_usize..40, 1 => 900_usize..1400], any::<u64>())
}

/// How many transcripts of each format are read: each has a mebibyte or more.
const CASES: u32 = 12;

fn cases() -> ProptestConfig {
    ProptestConfig {
        max_shrink_iters: 400,
        failure_persistence: None,
        ..ProptestConfig::with_cases(CASES)
    }
}

macro_rules! formats {
    ($($name:ident: $format:expr;)*) => {
        proptest! {
            #![proptest_config(cases())]
            $(#[test]
            fn $name(before in vec(item(), 1..40), tail in vec(item(), 0..6), cut in cut()) {
                let format = $format;
                let input = transcript(&format, &before, &tail, cut.0);
                pieces_agree(&input, cut.1)?;
                if let Ok(input) = std::str::from_utf8(&input) {
                    passed_over_lines_say_nothing(input)?;
                }
            })*
        }
    };
}

formats! {
    plain_text: lines::TEXT;
    streams_of_claude_code: claude::STREAM;
    sessions_of_claude_code: claude::SESSION;
    streams_of_qwen_code: claude::QWEN;
    streams_of_amp: claude::AMP;
    codex_exec: codex::EXEC;
    rollouts_of_codex: codex::ROLLOUT;
}

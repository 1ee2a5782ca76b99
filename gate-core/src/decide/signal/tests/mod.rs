//! What is a signal and what is none, spelling by spelling.

mod agent_exit;
mod context;
mod exit_status;
mod other_spellings;
mod promise;
mod prompts;
mod ralph_status;
mod token;
mod work_left;

use super::*;
use crate::decide::language::Language;
use crate::decide::pattern::Matcher;
use crate::decide::policy::{AgentOverride, CustomSignal};
use gate_transcript::{Event, Role, Text};

fn policy() -> SignalPolicy {
    use Spelling::{AgentExit, ExitStatus, Promise, RalphStatus};
    SignalPolicy {
        accept: vec![ExitStatus, RalphStatus, Promise, AgentExit],
        phrases: vec!["COMPLETE".to_owned()],
        token: TokenMode::Off,
        agent_override: AgentOverride::Never,
        custom: Vec::new(),
        language: Language::default(),
        exit_protocol: true,
    }
}

fn turn(texts: &[&str]) -> FinalTurn {
    let mut turn = FinalTurn::default();
    for text in texts {
        turn.event(&Event::Text(Text {
            role: Role::Assistant,
            text,
            line: 1,
            multiline: true,
            continues: false,
        }));
    }
    turn
}

fn read_with(text: &str, policy: &SignalPolicy) -> Signal {
    Signal::read(&turn(&[text]), policy).without_token()
}

fn read(text: &str) -> Signal {
    read_with(text, &policy())
}

#[track_caller]
fn check(text: &str, status: Status) -> Signal {
    let signal = read(text);
    assert_eq!(signal.status, status, "{text}\n{signal:#?}");
    signal
}

#[track_caller]
fn complete(text: &str) -> Signal {
    check(text, Status::Complete)
}

/// Nothing is found, and the near miss says why.
#[track_caller]
fn near_miss(text: &str, reason: &str) {
    let signal = check(text, Status::Absent);
    let is_named = signal.near_misses.iter().any(|miss| miss.why.contains(reason));
    assert!(is_named, "no near miss says {reason:?}:\n{text}\n{:#?}", signal.near_misses);
}

/// The signal contradicts itself in this way.
#[track_caller]
fn contradicts(text: &str, problem: &str) {
    let signal = check(text, Status::Continue);
    assert!(
        signal.problems.iter().any(|problem_text| problem_text.contains(problem)),
        "{:#?}",
        signal.problems
    );
}

/// A signal is found that cannot be read, for this reason.
#[track_caller]
fn mangled(text: &str, reason: &str) {
    let signal = check(text, Status::Invalid);
    assert!(
        signal.problems.iter().any(|problem_text| problem_text.contains(reason)),
        "{:#?}",
        signal.problems
    );
}

fn ralph(fields: &str) -> String {
    format!("---RALPH_STATUS---\n{fields}\n---END_RALPH_STATUS---\n")
}

#[test]
fn spellings_that_disagree() {
    contradicts("EXIT_STATUS: CONTINUE\n\n<promise>COMPLETE</promise>", "contradicts");
    contradicts(
        &format!("<promise>COMPLETE</promise>\n{}", ralph("EXIT_SIGNAL: false")),
        "contradicts",
    );
    complete(&format!("<promise>COMPLETE</promise>\n{}", ralph("EXIT_SIGNAL: true")));
}

#[test]
fn of_several_spellings_the_one_that_forbids_most_stands_for_all() {
    use Spelling::{ExitStatus, RalphStatus};
    let (tag, goes_on) = ("<promise>COMPLETE</promise>\n", ralph("EXIT_SIGNAL: false"));
    for (strong, weak, status, source) in [
        ("EXIT_STATUS: BLOCKED\n", tag, Status::Blocked, ExitStatus),
        (&goes_on, "EXIT_STATUS: BLOCKED\n", Status::Continue, RalphStatus),
        ("EXIT_STATUS: FINISHED\n", &goes_on, Status::Invalid, ExitStatus),
        ("EXIT_STATUS: COMPLETE\nREMAINING_WORK: the docs\n", tag, Status::Continue, ExitStatus),
    ] {
        for text in [format!("{strong}\n{weak}"), format!("{weak}\n{strong}")] {
            assert_eq!(check(&text, status).source, Some(source), "{text}");
        }
    }
}

#[test]
fn a_message_that_is_the_signal_and_nothing_else() {
    let signal = complete("**EXIT_STATUS:** COMPLETE\n");
    assert!(signal.whole_message && !signal.fields_agree);
    assert!(!complete("The parser is done.\n\nEXIT_STATUS: COMPLETE").whole_message);
    assert!(!check("EXIT_STATUS: CONTINUE", Status::Continue).whole_message);
    let with_token = "<promise>COMPLETE</promise>\nEXIT_TOKEN: k7mq";
    assert!(!complete(with_token).whole_message, "no token was asked for");
}

#[test]
fn of_a_message_that_was_cut_it_is_told_that_no_more_was_searched() {
    let problems = |text: &str| {
        let word = Word { clipped: true, ..Word::whole(text) };
        Signal::from_message(&word, &policy()).without_token().problems
    };
    assert!(problems("I go on.")[0].contains("only its end was searched"));
    assert_eq!(problems("EXIT_STATUS: COMPLETE"), [""; 0]);
    assert_eq!(read("I go on.").problems, [""; 0]);
}

#[test]
fn lines_that_say_a_signal_or_a_part_of_one() {
    let custom = CustomSignal {
        matcher: Matcher::Literal("ALL_DONE".to_owned()),
        value: SignalValue::Complete,
    };
    let policy = SignalPolicy { custom: vec![custom], ..policy() };
    for line in ["exit_status", "</ralph_status>", "<promise>", "apm2_agent_exit", "ALL_DONE"] {
        assert!(says_signal(line, &policy), "{line}");
    }
    assert!(!says_signal("All is done.", &policy));
}

#[test]
fn not_done_after_a_completion_counts_in_any_dress() {
    let completion = "EXIT_STATUS: COMPLETE\nREMAINING_WORK: none\n\nThen I looked again.\n\n";
    for not_done in [
        "EXIT_STATUS: CONTINUE",
        "EXIT_STATUS: continue",
        "EXIT_STATUS: IN_PROGRESS",
        "EXIT_STATUS: CONTINUE\nEXIT_REASON: [blocked on x]",
        "EXIT_SIGNAL: false",
        "```bash\nEXIT_STATUS: CONTINUE\n```",
        "REMAINING_WORK: the login page\nEXIT_STATUS: CONTINUE",
    ] {
        let text = format!("{completion}{not_done}\n");
        assert_ne!(read(&text).status, Status::Complete, "{text}");
    }
    let block = ralph("STATUS: COMPLETE\nEXIT_SIGNAL: true");
    for not_done in [ralph("EXIT_SIGNAL: false\nNOTES: [todo]"), "EXIT_SIGNAL: false\n".to_owned()]
    {
        let text = format!("{block}\nAgain:\n\n{not_done}");
        assert_ne!(read(&text).status, Status::Complete, "{text}");
    }
}

#[test]
fn not_done_on_the_line_of_a_completion_is_doubt_enough() {
    let line = "EXIT_STATUS: CONTINUE. <promise>COMPLETE</promise>\n";
    contradicts(&format!("For example:\n\nREMAINING_WORK: the docs\n{line}"), "follows");
}

#[test]
fn that_the_work_goes_on_counts_below_a_list_of_next_steps() {
    let steps = "The parser is complete.\n\nRun the migration\nWrite tests for the lexer\n\
                 Use the new table\nKeep the old flag\nCompare both outputs\n\n";
    for goes_on in ["EXIT_STATUS: CONTINUE\n", "EXIT_SIGNAL: false\n", &ralph("EXIT_SIGNAL: false")]
    {
        assert_eq!(read(&format!("{steps}{goes_on}")).status, Status::Continue, "{goes_on}");
    }
    assert_eq!(read(&format!("{steps}EXIT_STATUS: COMPLETE\n")).status, Status::Absent);
}

#[test]
fn that_the_work_goes_on_counts_in_a_spelling_that_is_not_accepted() {
    let only = SignalPolicy { accept: vec![Spelling::Promise], ..policy() };
    for text in [
        "EXIT_STATUS: CONTINUE\n\n<promise>COMPLETE</promise>",
        "<promise>COMPLETE</promise>\nEXIT_SIGNAL: false",
    ] {
        assert_eq!(read_with(text, &only).status, Status::Continue, "{text}");
    }
}

#[test]
fn the_agent_s_texts_are_cut() {
    let signal = complete(&format!("EXIT_STATUS: COMPLETE\nEXIT_REASON: {}", "x".repeat(9_000)));
    assert_eq!(signal.reason.map(|reason| reason.chars().count()), Some(2_001));
}

#[test]
fn a_spelling_that_is_not_accepted_is_a_near_miss() {
    let only = SignalPolicy { accept: vec![Spelling::ExitStatus], ..policy() };
    let signal = read_with("<promise>COMPLETE</promise>", &only);
    assert_eq!(signal.status, Status::Absent);
    assert_eq!(signal.near_misses[0].why, "`promise` is not in signal.accept");
}

#[test]
fn custom_signals() {
    let custom =
        |matcher, value| SignalPolicy { custom: vec![CustomSignal { matcher, value }], ..policy() };
    let completion = custom(Matcher::Literal("<<<DONE>>>".to_owned()), SignalValue::Complete);
    assert_eq!(read_with("Finished.\n<<<done>>>", &completion).status, Status::Complete);
    assert_eq!(read_with("I will not print <<<DONE>>> yet", &completion).status, Status::Absent);
    assert_eq!(read_with("<<<DONE>>>\n\nor shall I go on?", &completion).status, Status::Absent);
    assert!(!read_with("Finished.\n<<<DONE>>>", &completion).whole_message);
    let stuck = custom(Matcher::Regex("^STUCK: .+".to_owned()), SignalValue::Blocked);
    assert_eq!(read_with("STUCK: no network", &stuck).status, Status::Blocked);
}

#[test]
fn answers_to_notifications_give_way() {
    let mut turn = turn(&["<promise>COMPLETE</promise>"]);
    turn.event(&Event::Boundary(gate_transcript::Boundary::Notification, 2));
    let answer = |text| {
        Event::Text(Text {
            role: Role::Assistant,
            text,
            line: 3,
            multiline: true,
            continues: false,
        })
    };
    turn.event(&answer("The background task has finished."));
    assert_eq!(Signal::read(&turn, &policy()).status(), Status::Complete);
    turn.event(&answer("EXIT_STATUS: CONTINUE"));
    assert_eq!(Signal::read(&turn, &policy()).status(), Status::Continue);
}

#[test]
fn near_misses_in_answers_to_notifications_are_kept() {
    let mut turn = FinalTurn::default();
    turn.event(&Event::Boundary(gate_transcript::Boundary::Notification, 1));
    let text = Text {
        role: Role::Assistant,
        text: "EXIT_STATUS: {COMPLETE|CONTINUE}",
        line: 2,
        multiline: true,
        continues: false,
    };
    turn.event(&Event::Text(text));
    let signal = Signal::read(&turn, &policy()).without_token();
    assert_eq!((signal.status, signal.near_misses.len()), (Status::Absent, 1));
}

#[test]
fn a_signal_in_an_earlier_message_of_the_turn_is_a_near_miss() {
    let signal = Signal::read(&turn(&["<promise>COMPLETE</promise>", "Committed."]), &policy())
        .without_token();
    assert_eq!(signal.status, Status::Absent);
    assert!(signal.near_misses[0].why.contains("earlier message"), "{:?}", signal.near_misses);
}

#[test]
fn the_line_of_a_signal_is_the_input_s() {
    assert_eq!(complete("one\ntwo\n\nEXIT_STATUS: COMPLETE").line, Some(4));
    near_miss("a\nb\nEXIT_STATUS: {COMPLETE|CONTINUE}", "placeholder");
    assert_eq!(read("a\nb\nEXIT_STATUS: {COMPLETE|CONTINUE}").near_misses[0].line, 3);
}

#[test]
fn the_seed_s_prompt_is_no_signal() {
    near_miss(
        "## Completion Protocol\n\n4. Output your completion status as:\n\nEXIT_STATUS: {COMPLETE|CONTINUE}\n\
         EXIT_REASON: {explanation}\nREMAINING_WORK: {none|description of what's left}\n",
        "example",
    );
}

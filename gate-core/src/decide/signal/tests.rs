//! What is a signal and what is none, spelling by spelling.

use super::*;
use crate::decide::pattern::Matcher;
use crate::decide::policy::{AgentOverride, CustomSignal};
use crate::read::{Event, Role, Text};

fn policy() -> SignalPolicy {
    use Spelling::{AgentExit, ExitStatus, Promise, RalphStatus};
    SignalPolicy {
        accept: vec![ExitStatus, RalphStatus, Promise, AgentExit],
        phrases: vec!["COMPLETE".to_owned()],
        token: TokenMode::Off,
        agent_override: AgentOverride::Never,
        custom: Vec::new(),
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
    Signal::read(&turn(&[text]), policy, None)
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
fn none(text: &str, why: &str) {
    let signal = check(text, Status::Absent);
    let found = signal.near_misses.iter().any(|miss| miss.why.contains(why));
    assert!(found, "no near miss says {why:?}:\n{text}\n{:#?}", signal.near_misses);
}

/// The signal contradicts itself in this way.
#[track_caller]
fn contradicts(text: &str, problem: &str) {
    let signal = check(text, Status::Continue);
    assert!(signal.problems.iter().any(|said| said.contains(problem)), "{:#?}", signal.problems);
}

/// A signal is found that cannot be read, for this reason.
#[track_caller]
fn mangled(text: &str, why: &str) {
    let signal = check(text, Status::Invalid);
    assert!(signal.problems.iter().any(|said| said.contains(why)), "{:#?}", signal.problems);
}

fn ralph(fields: &str) -> String {
    format!("---RALPH_STATUS---\n{fields}\n---END_RALPH_STATUS---\n")
}

mod exit_status {
    use super::*;

    #[test]
    fn the_seed_s_block_with_all_keys() {
        let signal = complete(
            "EXIT_STATUS: COMPLETE\nEXIT_REASON: all criteria verified\nREMAINING_WORK: none\n\
             EXIT_CONFIDENCE: HIGH\nEXIT_OVERRIDE: true",
        );
        assert_eq!(signal.reason.as_deref(), Some("all criteria verified"));
        assert_eq!(signal.confidence.as_deref(), Some("high"));
        assert!(signal.override_requested && signal.fields_agree);
        assert_eq!((signal.source, signal.line), (Some(Spelling::ExitStatus), Some(1)));
    }

    #[test]
    fn white_space_and_marks_around_the_key() {
        complete("EXIT_STATUS:COMPLETE");
        complete("EXIT_STATUS:\t COMPLETE");
        complete("- **EXIT_STATUS:** COMPLETE");
        complete("**EXIT_STATUS**: `COMPLETE`");
        complete("1. EXIT_STATUS: COMPLETE");
        complete("```\nEXIT_STATUS: COMPLETE\n```");
        complete("EXIT_STATUS: COMPLETE\r\nEXIT_REASON: done\r\n");
    }

    #[test]
    fn the_other_values() {
        check("EXIT_STATUS: CONTINUE", Status::Continue);
        let signal = check("EXIT_STATUS: BLOCKED\nEXIT_REASON: no credentials", Status::Blocked);
        assert_eq!(signal.reason.as_deref(), Some("no credentials"));
    }

    #[test]
    fn values_that_are_none() {
        none("EXIT_STATUS:", "no value");
        mangled("EXIT_STATUS: complete", "`COMPLETE` would be accepted");
        mangled("EXIT_STATUS: COMPLETED", "is no status");
        none("Then EXIT_STATUS: COMPLETE was printed", "within a line");
    }

    #[test]
    fn placeholders() {
        none("EXIT_STATUS: {COMPLETE|CONTINUE}", "placeholder");
        none("EXIT_STATUS: COMPLETE|CONTINUE", "placeholder");
        none("EXIT_STATUS: COMPLETE or CONTINUE", "placeholder");
        none("EXIT_STATUS: <status>", "placeholder");
        none("EXIT_STATUS: COMPLETE\nEXIT_REASON: {explanation}", "placeholder");
    }

    #[test]
    fn remaining_work_contradicts() {
        contradicts("EXIT_STATUS: COMPLETE\nREMAINING_WORK: the docs", "REMAINING_WORK: the docs");
        contradicts("EXIT_STATUS: COMPLETE\nREMAINING_WORK:\n- the docs\n- the tests", "the docs");
        contradicts(
            "EXIT_STATUS: COMPLETE\nREMAINING_WORK: none, except the docs",
            "except the docs",
        );
        for nothing in [
            "none",
            "None.",
            "nothing",
            "N/A",
            "n/a",
            "",
            "none (all criteria met)",
            "None remaining",
        ] {
            complete(&format!("EXIT_STATUS: COMPLETE\nREMAINING_WORK: {nothing}\n"));
        }
    }

    #[test]
    fn one_key_twice_in_one_block() {
        contradicts("EXIT_STATUS: COMPLETE\nEXIT_STATUS: CONTINUE", "stands twice");
        contradicts("EXIT_STATUS: CONTINUE\nEXIT_STATUS: COMPLETE", "stands twice");
        complete("EXIT_STATUS: COMPLETE\nEXIT_STATUS: COMPLETE");
    }

    #[test]
    fn whole_blocks_are_a_history() {
        let text = |first, second| {
            format!("EXIT_STATUS: {first}\n\nThen I went on.\n\nEXIT_STATUS: {second}\n")
        };
        complete(&text("CONTINUE", "COMPLETE"));
        check(&text("COMPLETE", "CONTINUE"), Status::Continue);
    }

    #[test]
    fn a_qualified_value_is_no_completion() {
        contradicts("EXIT_STATUS: COMPLETE once the tests pass", "qualified");
        contradicts("EXIT_STATUS: COMPLETE (not verified)", "qualified");
        complete("EXIT_STATUS: COMPLETE (everything verified)");
    }
}

mod ralph_status {
    use super::*;

    #[test]
    fn the_block() {
        let signal = complete(&ralph("STATUS: COMPLETE\nTESTS_STATUS: PASSING\nEXIT_SIGNAL: true"));
        assert!(signal.fields_agree);
        check(&ralph("STATUS: COMPLETE\nEXIT_SIGNAL: false"), Status::Continue);
        check(&ralph("STATUS: BLOCKED\nEXIT_SIGNAL: false"), Status::Blocked);
        check(&ralph("STATUS: IN_PROGRESS"), Status::Continue);
        complete(&ralph("STATUS: COMPLETE"));
    }

    #[test]
    fn headers_and_marks() {
        complete("RALPH_STATUS:\n  EXIT_SIGNAL: true\n  reason: \"all tasks\"\n");
        complete("**RALPH_STATUS**\nSTATUS: COMPLETE\nEXIT_SIGNAL: true\n**END_RALPH_STATUS**");
        complete(
            "--- RALPH_STATUS ---\n**STATUS:** COMPLETE\n**EXIT_SIGNAL:** True\n--- END_RALPH_STATUS ---",
        );
        complete(&ralph(
            "STATUS: COMPLETE   # whole project\r\nEXIT_SIGNAL: TRUE   # nothing left",
        ));
        complete(&format!("```\n{}```\n", ralph("EXIT_SIGNAL: true")));
        complete("---RALPH_STATUS---\nSTATUS: COMPLETE\nEXIT_SIGNAL: true");
    }

    #[test]
    fn contradictions() {
        contradicts(&ralph("STATUS: IN_PROGRESS\nEXIT_SIGNAL: true"), "STATUS: IN_PROGRESS");
        contradicts(&ralph("STATUS: NEAR_COMPLETE\nEXIT_SIGNAL: true"), "NEAR_COMPLETE");
        contradicts(&ralph("STATUS: BLOCKED\nEXIT_SIGNAL: true"), "BLOCKED");
        contradicts(
            &ralph("STATUS: COMPLETE\nTESTS_STATUS: FAILING\nEXIT_SIGNAL: true"),
            "FAILING",
        );
        contradicts(
            &ralph("EXIT_SIGNAL: true\nRECOMMENDATION: go on with the remaining 7 items"),
            "remaining 7",
        );
        contradicts(&ralph("EXIT_SIGNAL: true\nEXIT_SIGNAL: false"), "stands twice");
        complete(&ralph("EXIT_SIGNAL: true\nRECOMMENDATION: Continue with the next task"));
        complete(&ralph("EXIT_SIGNAL: true\nEXIT_SIGNAL: true"));
    }

    #[test]
    fn a_cut_block_is_no_signal() {
        check("---RALPH_STATUS---\nSTATUS: IN_PROGRESS\nEXIT_SIGNAL: t", Status::Invalid);
        check("---RALPH_STATUS---\nSTATUS: COMPLETE", Status::Invalid);
        let text =
            format!("{}\nAgain:\n---RALPH_STATUS---\nEXIT_SIGNAL: fa", ralph("EXIT_SIGNAL: true"));
        check(&text, Status::Invalid);
    }

    #[test]
    fn placeholders() {
        none(
            &ralph("STATUS: IN_PROGRESS | COMPLETE | BLOCKED\nEXIT_SIGNAL: false | true"),
            "placeholder",
        );
        none(&ralph("STATUS: COMPLETE\nTASKS: <number>\nEXIT_SIGNAL: true"), "placeholder");
        complete(&ralph("STATUS: COMPLETE\nWORK_TYPE: TESTING | DOCUMENTATION\nEXIT_SIGNAL: true"));
    }

    #[test]
    fn sections_of_examples() {
        let example = ralph("STATUS: COMPLETE\nEXIT_SIGNAL: true");
        none(
            &format!("### Status Examples\n\n**All done:**\n```\n{example}```\n"),
            "section of examples",
        );
        none(&format!("**Example 2: complete**\n```\n{example}```\n"), "example");
        complete(&format!("### Usage examples\n\nRun `app --help`.\n\n{example}"));
    }

    #[test]
    fn outside_of_a_block() {
        none("The loop ends on `EXIT_SIGNAL: true` in the block.", "outside");
        none("All is done.\n\nEXIT_SIGNAL: true", "outside");
    }

    #[test]
    fn the_agent_corrects_itself() {
        let text = format!(
            "Committing.\n{}Wait, the fixes need a review.\n{}",
            ralph("STATUS: COMPLETE\nEXIT_SIGNAL: true"),
            ralph("STATUS: IN_PROGRESS\nEXIT_SIGNAL: false")
        );
        check(&text, Status::Continue);
        none(
            &format!("{}I should not have said that.", ralph("EXIT_SIGNAL: true")),
            "takes it back",
        );
    }

    #[test]
    fn prose_behind_the_block_does_not_matter() {
        complete(&format!(
            "{}\n## Summary\n\nNext steps for you: run it.",
            ralph("EXIT_SIGNAL: true")
        ));
    }
}

mod promise {
    use super::*;

    const TAG: &str = "<promise>COMPLETE</promise>";

    fn with(text: &str) -> String {
        text.replace('@', TAG)
    }

    #[track_caller]
    fn stated(text: &str) {
        complete(&with(text));
    }

    #[track_caller]
    fn mentioned(text: &str, why: &str) {
        none(&with(text), why);
    }

    #[test]
    fn on_a_line_of_its_own() {
        stated("@");
        stated("All stories are implemented.\n\n@\n");
        stated("**@**");
        stated("`@`");
        stated("- @");
        stated("```\n@\n```");
        stated("<promise>\n  COMPLETE\n</promise>");
        stated("<promise>complete</promise>");
        stated("- Pushed to main\n@\n\nTokens: 1,234");
    }

    #[test]
    fn glued_to_other_text() {
        stated("@Perfect! Everything works.");
        stated("All tests pass. @");
        stated("Everything is done @");
        stated("✅ @");
        stated("Final status: @");
        stated("@\n\n## Summary\n\nLet me provide a summary of the work.");
    }

    #[test]
    fn mentions() {
        mentioned("I cannot output `@`. Two tasks remain.", "sentence");
        mentioned("so the `@` signal should NOT be output.", "sentence");
        mentioned("`@` should not be output yet.", "goes on");
        mentioned("The loop ends on @", "sentence");
        mentioned("The runner looks for \"@\"", "quoted");
        mentioned("I will reply with @ when the work is done.", "sentence");
        mentioned("echo '@'", "quoted");
    }

    #[test]
    fn examples() {
        mentioned("## Stop Condition\n\nIf ALL stories pass, reply with:\n@\n", "condition");
        mentioned("The stop condition is:\n\n```\n@\n```", "example");
        mentioned("The protocol:\n\n@", "example");
        mentioned("I added this to PROMPT.md:\n\n@", "example");
        mentioned("Reply with:\n@", "example");
        mentioned("Work on the plan. When everything is finished print:\n@", "condition");
        mentioned("Three tests fail. Later I will emit:\n\n    @", "condition");
        mentioned("I must not output this yet:\n@", "denies");
        mentioned("> @", "quoted");
        mentioned("@\n\nOtherwise, end normally.", "example");
    }

    #[test]
    fn introductions_that_are_none() {
        stated("Let me provide the final status report:\n\n@");
        stated("Now let me signal completion:\n@");
        stated("I'll output the completion signal now:\n\n```\n@\n```");
        stated("- Updated prd.json\n@");
        stated("## Final Status\n\n@");
    }

    #[test]
    fn diffs_and_code() {
        mentioned("+@", "diff");
        none(&format!("@@ -1,1 +1,2 @@\n a\n+{TAG}"), "diff");
        none(&format!("@@ -1,2 +1,2 @@\n {TAG}\n-a\n+b"), "diff");
        mentioned("```bash\n@\n```", "code");
    }

    #[test]
    fn the_sentence_goes_on_around_it() {
        mentioned("I almost wrote\n\n@\n\nbut then saw that one story is open.", "open work");
        mentioned("Do you want me to emit\n\n@\n\nor go on with the docs?", "sentence");
        mentioned("Plan:\n\n1. Mend the tests\n2. @\n", "example");
        mentioned("<example>\n@\n</example>", "example");
        stated("All 12 stories are in place. (@)");
        stated("Since all stories pass, @");
    }

    #[test]
    fn one_log_of_several_iterations() {
        mentioned(
            "US-1 is done.\n\n@\n\n=== Iteration 2 ===\n\nThe parser is half written.",
            "later iteration",
        );
        stated("=== Iteration 2 ===\n\nUS-1 is done.\n\n@\n\n=== COMPLETE ===");
    }

    #[test]
    fn the_next_work_follows() {
        mentioned("@\n\nNow let me start with task 4.", "next work");
        mentioned("@Next, I'll implement the parser.", "next work");
        mentioned("@\nThere are still two stories open.", "next work");
    }

    #[test]
    fn phrases_and_placeholders() {
        check("<promise>BLOCKED</promise>", Status::Blocked);
        none("<promise>DONE</promise>", "signal.promise.phrases");
        none("<promise>{phrase}</promise>", "placeholder");
        let phrases = SignalPolicy { phrases: vec!["DONE".to_owned()], ..policy() };
        assert_eq!(read_with("<promise>DONE</promise>", &phrases).status, Status::Complete);
    }

    #[test]
    fn reasoning_in_the_message_is_not_the_agent_s_word() {
        mentioned("<think>\n@\n</think>\nStill two tests to mend.", "reasoning");
    }
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
fn not_done_after_a_completion_counts_in_any_dress() {
    let done = "EXIT_STATUS: COMPLETE\nREMAINING_WORK: none\n\nThen I looked again.\n\n";
    for not_done in [
        "EXIT_STATUS: CONTINUE",
        "EXIT_STATUS: continue",
        "EXIT_STATUS: IN_PROGRESS",
        "EXIT_STATUS: CONTINUE\nEXIT_REASON: [blocked on x]",
        "EXIT_SIGNAL: false",
        "```bash\nEXIT_STATUS: CONTINUE\n```",
        "REMAINING_WORK: the login page\nEXIT_STATUS: CONTINUE",
    ] {
        let text = format!("{done}{not_done}\n");
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
fn a_required_token() {
    let required = SignalPolicy { token: TokenMode::Required, ..policy() };
    let text = turn(&["EXIT_STATUS: COMPLETE\nEXIT_TOKEN: a1b2"]);
    assert_eq!(Signal::read(&text, &required, Some("a1b2")).status, Status::Complete);
    assert_eq!(Signal::read(&text, &required, Some("other")).status, Status::Continue);
    assert_eq!(Signal::read(&text, &required, None).status, Status::Continue);
}

#[test]
fn custom_signals() {
    let custom =
        |matcher, value| SignalPolicy { custom: vec![CustomSignal { matcher, value }], ..policy() };
    let done = custom(Matcher::Literal("<<<DONE>>>".to_owned()), SignalValue::Complete);
    assert_eq!(read_with("Finished.\n<<<done>>>", &done).status, Status::Complete);
    assert_eq!(read_with("I will not print <<<DONE>>> yet", &done).status, Status::Absent);
    let stuck = custom(Matcher::Regex("^STUCK: .+".to_owned()), SignalValue::Blocked);
    assert_eq!(read_with("STUCK: no network", &stuck).status, Status::Blocked);
}

#[test]
fn answers_to_notifications_give_way() {
    let mut turn = turn(&["<promise>COMPLETE</promise>"]);
    turn.event(&Event::Boundary(crate::read::Boundary::Notification, 2));
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
    assert_eq!(Signal::read(&turn, &policy(), None).status, Status::Complete);
    turn.event(&answer("EXIT_STATUS: CONTINUE"));
    assert_eq!(Signal::read(&turn, &policy(), None).status, Status::Continue);
}

#[test]
fn a_signal_in_an_earlier_message_of_the_turn_is_a_near_miss() {
    let signal =
        Signal::read(&turn(&["<promise>COMPLETE</promise>", "Committed."]), &policy(), None);
    assert_eq!(signal.status, Status::Absent);
    assert!(signal.near_misses[0].why.contains("earlier message"), "{:?}", signal.near_misses);
}

#[test]
fn the_line_of_a_signal_is_the_input_s() {
    assert_eq!(complete("one\ntwo\n\nEXIT_STATUS: COMPLETE").line, Some(4));
    none("a\nb\nEXIT_STATUS: {COMPLETE|CONTINUE}", "placeholder");
    assert_eq!(read("a\nb\nEXIT_STATUS: {COMPLETE|CONTINUE}").near_misses[0].line, 3);
}

#[test]
fn the_seed_s_prompt_is_no_signal() {
    none(
        "## Completion Protocol\n\n4. Output your completion status as:\n\nEXIT_STATUS: {COMPLETE|CONTINUE}\n\
         EXIT_REASON: {explanation}\nREMAINING_WORK: {none|description of what's left}\n",
        "example",
    );
}

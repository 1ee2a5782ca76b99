//! The tag.

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
fn mentioned(text: &str, reason: &str) {
    near_miss(&with(text), reason);
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
    stated("[US-7] @");
    stated("1. @");
    for brackets in ["[x]", "[ ]", "[]", "[the 7 docs]", "[US-7-of-the-second-milestone]"] {
        mentioned(&format!("{brackets} @"), "sentence");
    }
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
    mentioned("\"@ ends the loop", "quoted");
    mentioned("@\" ends the loop", "quoted");
    mentioned("It prints; @", "sentence");
    mentioned("See the résumé @", "sentence");
    mentioned("For example: @", "example");
    mentioned("12 @", "sentence");
}

#[test]
fn examples() {
    mentioned("## Stop Condition\n\nIf ALL stories pass, reply with:\n@\n", "condition");
    mentioned("The stop condition is:\n\n```\n@\n```", "example");
    mentioned("The protocol:\n\n@", "example");
    mentioned("I added this to PROMPT.md:\n\n@", "example");
    mentioned("Reply with:\n@", "example");
    mentioned("Commit message:\n\n```\ndocs: the tag\n\n@\n```", "example");
    mentioned("Work on the plan. When everything is finished print:\n@", "condition");
    mentioned("Three tests fail. Later I will emit:\n\n    @", "condition");
    mentioned("I must not output this yet:\n@", "denies");
    mentioned("> @", "quoted");
    mentioned("@\n\nOne.\nTwo.\nOtherwise, end normally.", "example");
    stated("@\n\nOne.\nTwo.\nThree.\nOtherwise, end normally.");
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
    near_miss(&format!("@@ -1,1 +1,2 @@\n a\n+{TAG}"), "diff");
    near_miss(&format!("@@ -1,2 +1,2 @@\n {TAG}\n-a\n+b"), "diff");
    mentioned("```bash\n@\n```", "code");
}

#[test]
fn the_sentence_goes_on_around_it() {
    mentioned("I almost wrote\n\n@\n\nbut then saw that one story is open.", "open work");
    mentioned("Do you want me to emit\n\n@\n\nor go on with the docs?", "sentence");
    mentioned("All is in place.\n\n@\n\nor shall I go on?", "goes on after it");
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
    near_miss("<promise>DONE</promise>", "signal.promise.phrases");
    near_miss("<promise>{phrase}</promise>", "placeholder");
    complete("<promise>✅ COMPLETE</promise>");
    for marked in ["(COMPLETE)", "«COMPLETE»", "完COMPLETE"] {
        near_miss(&format!("<promise>{marked}</promise>"), "signal.promise.phrases");
    }
    let phrases = SignalPolicy { phrases: vec!["DONE".to_owned()], ..policy() };
    assert_eq!(read_with("<promise>DONE</promise>", &phrases).status, Status::Complete);
}

#[test]
fn reasoning_in_the_message_is_not_the_agent_s_word() {
    mentioned("<think>\n@\n</think>\nStill two tests to mend.", "reasoning");
}

#[test]
fn a_list_of_what_was_done_does_not_hide_the_signal_at_its_end() {
    stated("- Tests: `cargo test` passes\n- Status: `@`\n");
    stated("<task-finished>STORY-4</task-finished>\n@\n");
    mentioned("- Stuck: `<task-stuck>why</task-stuck>`\n- Finished: `@`\n", "one of a list");
    mentioned("- Finished: `@`\n- Stuck: `<task-stuck>why</task-stuck>`\n", "one of a list");
    mentioned("@   # all stories are finished\n", "a comment explains it");
}

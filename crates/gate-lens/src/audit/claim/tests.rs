//! Last messages that are claims, and those that are none.

use super::*;

/// The line that makes a last message a claim.
fn claim_line(message: &str, goes_on: bool) -> Option<u64> {
    let policy = Policy::default();
    let finder = ClaimFinder::new(&policy).unwrap();
    finder.report(message, goes_on).map(|sentence| sentence.number)
}

#[track_caller]
fn check(message: &str, expected: Option<u64>) {
    assert_eq!(claim_line(message, false), expected, "{message}");
}

#[test]
fn finished_work_is_claimed_in_many_words() {
    for message in [
        "Done.",
        "All done — the footer reads the new key.",
        "Renamed both tables and the view.",
        "I've moved the parser into its own file.",
        "The old cache is gone.",
        "Good. Now the list loads at once.",
        "All 14 tests pass.",
        "Clean build. The warning came from the old header.",
        "### Summary\n- a new flag for the loader",
        "Step 4 done. Shall I go on with step 5?",
        "Fertig, die Liste hat einen Filter.",
        "C'est corrigé.",
        "已修复。",
        "필터를 추가했습니다.",
        "フィルターを追加しました。",
        "Готово.",
        "Hover is blue, focus is white.",
        "```\n✅ saved\n```",
    ] {
        let line = if message.starts_with('`') { 2 } else { 1 };
        check(message, Some(line));
    }
}

#[test]
fn plans_questions_and_cut_messages_are_none() {
    for message in [
        "",
        "I looked at the loader. Now let me change it:",
        "The loader is fixed. Next, I'll update the tests.",
        "Shall I change the loader?",
        "Run it again, please.",
        "The loader is not done yet.",
        "Part 2 is committed. Now checking the budget before starting part 3.",
        "Lint clean. Waiting for the nightly run before I commit.",
        "让我修改：",
    ] {
        check(message, None);
    }
}

#[test]
fn work_that_remains_takes_a_claim_back() {
    check("The reader is done.\n\n**Remaining:**\n- the writer", None);
    check("Good progress! Added the reader. Shall I go on with the writer?", None);
    check("I created the script. I cannot install it, you will need to run it manually.", None);
    check("Good progress so far.\nAdded the writer too. The port is complete.", Some(2));
}

#[test]
fn a_message_that_begins_with_what_was_done_may_leave_something_open() {
    check("Implemented the reader.\nThe release is not done: the registry is down.", Some(1));
    check("The reader reads both forms.\nThe release is not done: the registry is down.", None);
}

#[test]
fn a_table_and_a_heading_alone_claim_nothing() {
    check("| Step | Completed |\n|---|---|\n| reader | 3 |\n\nReady to execute the tasks.", None);
    check("### 7. Push the report", None);
    check("The fonts are larger. Let me now rework the list.\n\n**Step 3: the list**", None);
}

#[test]
fn a_label_or_a_question_alone_is_none() {
    check("The new order:\n```\na b\n```", None);
    check("Sorted. The new order:\n```\na b\n```", Some(1));
    check("Now run it once more.\nIt should print the date.", None);
    check("The table is sorted.\nNow run it once more.", Some(1));
}

#[test]
fn a_doubt_outweighs_a_list_and_no_word_of_completion() {
    check("Removed the header. Does this look right to you?", None);
    check("Updated the pin. Build it and let me know if it works.", None);
    check("Done. Build it and let me know if it works.", Some(1));
}

#[test]
fn a_signal_that_goes_on_needs_the_word_of_completion() {
    assert_eq!(claim_line("- added the reader\n- added the writer", true), None);
    assert_eq!(claim_line("- added the reader\n\nThe task is complete.", true), Some(3));
}

#[test]
fn code_and_quotations_claim_nothing() {
    check("```\nDone.\n```\nShall I run this?", None);
    check("> Done.\n\nIs that your message?", None);
}

#[track_caller]
fn check_quote(message: &str, expected: Option<&str>) {
    let policy = Policy::default();
    let finder = ClaimFinder::new(&policy).unwrap();
    let mut last = FinalTurn::default();
    let text =
        Text { role: Role::Assistant, text: message, line: 1, multiline: true, continues: false };
    last.event(&Event::Text(text));
    last.finish();
    let claim = finder.find(&last).expect("a claim");
    assert_eq!(claim.quote.as_deref(), expected, "{message}");
}

#[test]
fn the_sentence_that_claims_is_quoted_whole() {
    let signal = "<promise>COMPLETE</promise>";
    check_quote(
        &format!("Excellent! All acceptance criteria have been met:\n\n- a route\n\n{signal}"),
        Some("Excellent! All acceptance criteria have been met"),
    );
    check_quote(
        "I looked at all callers of the old loader first. I have successfully moved **the loader** \
         to v1.2. It is faster.",
        Some("I have successfully moved **the loader** to v1.2."),
    );
    check_quote("## Port complete\nIt was long.", Some("Port complete"));
    check_quote(signal, None);
    check_quote("EXIT_STATUS: COMPLETE\nREMAINING_WORK: none", None);
}

#[test]
fn what_asks_for_a_go_ahead_is_no_claim() {
    check("The tests missed it: the form is mocked there.\n\nShould I add these tests now?", None);
    check("The file stands above. Say `next` when you want the next file.", None);
    check("The form is fixed.\n\nShould I add a test?", Some(1));
}

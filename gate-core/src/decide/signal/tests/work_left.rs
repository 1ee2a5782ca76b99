//! The agent's own words about work that is left, beside its claim.

use serde::Deserialize;

use super::*;

/// The least number of texts that have to be understood of those that say that work is left, and
/// the most of the honest ones that may be taken for such.
const LEAST_CAUGHT: usize = 24;
const MOST_REFUSED: usize = 1;

#[derive(Deserialize)]
struct Texts {
    open: Vec<String>,
    honest: Vec<String>,
}

const CLAIM: &str = "EXIT_STATUS: COMPLETE\nEXIT_REASON: the task is finished\n";

/// The sentences about open work in a message, whatever its status.
fn left(text: &str) -> Vec<String> {
    read(text).work_left.into_iter().map(|left| left.sentence).collect()
}

#[track_caller]
fn is_left(text: &str, sentence: &str) {
    for claim in [CLAIM, "<promise>COMPLETE</promise>\n"] {
        assert_eq!(left(&format!("{text}\n\n{claim}")), [sentence], "{text}");
    }
}

#[track_caller]
fn is_done(text: &str) {
    let signal = check(&format!("{text}\n\n{CLAIM}"), Status::Complete);
    assert_eq!(signal.work_left, [], "{text}");
}

#[track_caller]
fn contradicts(text: &str, problem: &str) {
    let signal = check(&format!("{text}\n\n{CLAIM}"), Status::Continue);
    assert!(signal.problems.iter().any(|known| known.contains(problem)), "{signal:#?}");
}

#[test]
fn open_work_is_understood_in_many_languages_and_honest_words_pass() {
    let texts: Texts = toml::from_str(include_str!("work_left.toml")).unwrap();
    let is_open = |text: &&String| {
        let signal = read(&format!("{text}\n\n{CLAIM}"));
        signal.status != Status::Complete || !signal.work_left.is_empty()
    };
    let caught = texts.open.iter().filter(is_open).count();
    let refused: Vec<_> = texts.honest.iter().filter(is_open).collect();
    assert!(caught >= LEAST_CAUGHT, "{caught} of {} are caught", texts.open.len());
    assert!(refused.len() <= MOST_REFUSED, "{refused:#?}");
}

#[test]
fn a_sentence_is_quoted_whole() {
    is_left("All green. The other two I do\nnext time.", "The other two I do next time.");
    is_left("- list\n- The tax is not written yet", "The tax is not written yet");
    is_left(
        "The list is done, but the tax is still missing.",
        "The list is done, but the tax is still missing.",
    );
    is_left("Remaining work:\n\n- the tax", "Remaining work: the tax");
    is_left("Next I will add the tax.", "Next I will add the tax.");
}

#[test]
fn a_block_of_fields_hides_no_next_work_behind_it() {
    let block = "---RALPH_STATUS---\nSTATUS: COMPLETE\nEXIT_SIGNAL: true\n---END_RALPH_STATUS---\n";
    for next in [
        "Next I will add the tax.",
        "The tax follows in the next session.",
        "Als Nächstes baue ich die Steuer ein.",
    ] {
        assert_eq!(left(&format!("All done.\n\n{block}\n{next}\n")), [next]);
    }
    for end in
        ["Let me provide a summary.", "The next step for you is to deploy.", "All tests pass."]
    {
        assert_eq!(left(&format!("All done.\n\n{block}\n{end}\n")), [""; 0]);
    }
}

#[test]
fn what_is_announced_on_the_way_is_no_open_work() {
    is_done("I will add the endpoint. Let me look first.\nLet me run the tests again:");
    is_done("Next, I'll write the docs.\n\nThe docs are written. All tests pass.");
    let steps = "Next I will add the tax.\n".repeat(3) + &"The tax is there.\n\n".repeat(50);
    is_done(&steps);
}

#[test]
fn marks_of_open_work_contradict_the_claim() {
    contradicts("- [x] list\n- [ ] tax", "- [ ] tax");
    contradicts("1. [x] list\n2. [~] tax", "2. [~] tax");
    contradicts("☐ tax", "☐ tax");
    contradicts("- list ✅\n- tax ⏳", "- tax ⏳");
    contradicts("- 🚧 tax", "- 🚧 tax");
    contradicts("- tax: not started", "- tax: not started");
    contradicts("- tax (to do)", "- tax (to do)");
    let table = |heading: &str, state: &str| {
        format!("| part | {heading} |\n|---|:---:|\n| list | done |\n| tax | {state} |")
    };
    for state in
        ["not started", "⏳", "🚧 WIP", "**to do**", "in progress", "offen", "未完成", "❌"]
    {
        contradicts(&table("Status", state), state);
    }
    contradicts(&table("Done?", "not done"), "not done");
}

#[test]
fn marks_of_other_things_contradict_nothing() {
    is_done("- [x] list\n- [X] tax\n- ✅ docs");
    is_done("## Plan\n- [ ] tax\n\n## Result\n- [x] tax");
    is_done("- [x] list\n\n## Out of scope\n\n- [ ] dark mode\n- ⏳ export to PDF");
    is_done("Follow-up ideas (not part of this task):\n- [ ] dark mode");
    is_done("1. [x] list\n2. ⏳ comments, stubbed for US-008");
    is_done("> - [ ] tax");
    is_done("```\n- [ ] tax\n```");
    is_done("| state | meaning |\n|---|---|\n| pending | the payment waits |");
    is_done("| name | value |\n|---|---|\n| default | not started |");
    is_done("- new orders begin with the state: pending");
    is_done("- [the plan](PLAN.md) is ticked");
}

#[test]
fn a_reason_that_says_that_work_is_left_contradicts_its_status() {
    for reason in [
        "two lists are left for next time",
        "the list is done, the tax is not implemented yet",
        "still to do: the tax",
        "der Steuersatz fehlt noch",
        "next I will add the tax",
    ] {
        let signal =
            check(&format!("EXIT_STATUS: COMPLETE\nEXIT_REASON: {reason}\n"), Status::Continue);
        assert_eq!(signal.problems, [format!("EXIT_STATUS: COMPLETE, but EXIT_REASON: {reason}")]);
    }
    for reason in [
        "the remaining two lists are added",
        "nothing is left",
        "the list of pending payments works",
        "no open items",
    ] {
        check(&format!("EXIT_STATUS: COMPLETE\nEXIT_REASON: {reason}\n"), Status::Complete);
    }
}

#[test]
fn a_quotation_and_a_section_about_other_work_say_nothing() {
    is_done("The badge says \"2 tasks are still missing\" until all are ticked.");
    is_done("> The tax is not written yet.");
    is_done("```text\nThe tax is not written yet.\n```");
    is_done("## Out of scope\n\nThe old page is not translated yet.");
    is_done("Changelog:\n- the tax is still missing in 1.0");
    is_done("Two snapshots are still missing on main. Both are unrelated to this change.");
}

//! The block.

use super::*;

#[test]
fn the_block() {
    let signal = complete(&ralph("STATUS: COMPLETE\nTESTS_STATUS: PASSING\nEXIT_SIGNAL: true"));
    assert!(signal.fields_agree);
    check(&ralph("STATUS: COMPLETE\nEXIT_SIGNAL: false"), Status::Continue);
    check(&ralph("STATUS: BLOCKED\nEXIT_SIGNAL: false"), Status::Blocked);
    check(&ralph("STATUS: BLOCKED"), Status::Blocked);
    assert_eq!(check(&ralph("STATUS: IN_PROGRESS"), Status::Continue).problems, [""; 0]);
    complete(&ralph("STATUS: COMPLETE"));
}

#[test]
fn headers_and_marks() {
    complete("RALPH_STATUS:\n  EXIT_SIGNAL: true\n  reason: \"all tasks\"\n");
    complete("**RALPH_STATUS**\nSTATUS: COMPLETE\nEXIT_SIGNAL: true\n**END_RALPH_STATUS**");
    complete(
        "--- RALPH_STATUS ---\n**STATUS:** COMPLETE\n**EXIT_SIGNAL:** True\n--- END_RALPH_STATUS ---",
    );
    complete(&ralph("STATUS: COMPLETE   # whole project\r\nEXIT_SIGNAL: TRUE   # nothing left"));
    complete(&format!("```\n{}```\n", ralph("EXIT_SIGNAL: true")));
    complete("---RALPH_STATUS---\nSTATUS: COMPLETE\nEXIT_SIGNAL: true");
}

#[test]
fn contradictions() {
    contradicts(&ralph("STATUS: IN_PROGRESS\nEXIT_SIGNAL: true"), "STATUS: IN_PROGRESS");
    contradicts(&ralph("STATUS: NEAR_COMPLETE\nEXIT_SIGNAL: true"), "NEAR_COMPLETE");
    contradicts(&ralph("STATUS: BLOCKED\nEXIT_SIGNAL: true"), "BLOCKED");
    contradicts(&ralph("STATUS: COMPLETE\nTESTS_STATUS: FAILING\nEXIT_SIGNAL: true"), "FAILING");
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
    near_miss(
        &ralph("STATUS: IN_PROGRESS | COMPLETE | BLOCKED\nEXIT_SIGNAL: false | true"),
        "placeholder",
    );
    near_miss(&ralph("STATUS: COMPLETE\nTASKS: <number>\nEXIT_SIGNAL: true"), "placeholder");
    complete(&ralph("STATUS: COMPLETE\nWORK_TYPE: TESTING | DOCUMENTATION\nEXIT_SIGNAL: true"));
}

#[test]
fn sections_of_examples() {
    let example = ralph("STATUS: COMPLETE\nEXIT_SIGNAL: true");
    near_miss(
        &format!("### Status Examples\n\n**All done:**\n```\n{example}```\n"),
        "section of examples",
    );
    near_miss(&format!("**Example 2: complete**\n```\n{example}```\n"), "example");
    complete(&format!("### Usage examples\n\nRun `app --help`.\n\n{example}"));
}

#[test]
fn outside_of_a_block() {
    near_miss("The loop ends on `EXIT_SIGNAL: true` in the block.", "outside");
    near_miss("All is done.\n\nEXIT_SIGNAL: true", "outside");
}

#[test]
fn the_agent_corrects_itself() {
    let text = format!(
        "Committing.\n{}Wait, the fixes need a review.\n{}",
        ralph("STATUS: COMPLETE\nEXIT_SIGNAL: true"),
        ralph("STATUS: IN_PROGRESS\nEXIT_SIGNAL: false")
    );
    check(&text, Status::Continue);
    near_miss(
        &format!("{}I should not have said that.", ralph("EXIT_SIGNAL: true")),
        "takes it back",
    );
}

#[test]
fn prose_behind_the_block_does_not_matter() {
    complete(&format!("{}\n## Summary\n\nNext steps for you: run it.", ralph("EXIT_SIGNAL: true")));
}

#[test]
fn a_block_that_is_a_json_object() {
    let object =
        "{\n  \"STATUS\": \"COMPLETE\",\n  \"REMAINING_WORK\": [],\n  \"EXIT_SIGNAL\": true\n}\n";
    for message in [
        format!("All stories pass.\n\nRALPH_STATUS:\n{object}"),
        format!("All stories pass.\n\nRALPH_STATUS:\n```json\n{object}```\n"),
        format!("All stories pass.\n\n**RALPH_STATUS:** {}", object.replace('\n', " ")),
    ] {
        let signal = read(&message);
        assert_eq!(signal.status, Status::Complete, "{message}: {:?}", signal.near_misses);
    }
    let open = object.replace("[]", "[\"the export\"]");
    assert_eq!(read(&format!("RALPH_STATUS:\n{open}")).status, Status::Continue);
    let goes_on = object.replace("true", "false");
    assert_eq!(read(&format!("RALPH_STATUS:\n{goes_on}")).status, Status::Continue);
    let form = object.replace("true", "\"true | false\"");
    assert_eq!(read(&format!("RALPH_STATUS:\n{form}")).status, Status::Absent);
}

#[test]
fn other_fields_confirm_the_signal_and_are_told() {
    let agree = |fields: &str| complete(&ralph(fields)).fields_agree;
    assert!(!agree("EXIT_SIGNAL: true"));
    assert!(agree("STATUS: COMPLETE\nEXIT_SIGNAL: true"));
    assert!(agree("TESTS_STATUS: PASSING\nEXIT_SIGNAL: true"));
    let fields = "EXIT_SIGNAL: true\nREMAINING_WORK: none\nRECOMMENDATION: merge";
    let signal = complete(&ralph(fields));
    assert_eq!(signal.texts, ["EXIT_SIGNAL: true", "REMAINING_WORK: none"]);
    assert_eq!(signal.reason.as_deref(), Some("merge"));
    assert_eq!(signal.remaining_work.as_deref(), Some("none"));
}

#[test]
fn a_block_without_an_end_line_is_the_run_of_fields_below_its_header() {
    const OPEN: &str = "---RALPH_STATUS---\nSTATUS: COMPLETE\nEXIT_SIGNAL: true\n";
    complete(&format!("{OPEN}\nThe log of the old run says\nTESTS_STATUS: FAILING\n"));
    complete(&format!("{OPEN}The old run said: this\nTESTS_STATUS: FAILING\n"));
    contradicts(&format!("{OPEN}TESTS_STATUS: FAILING\n"), "FAILING");
    near_miss(&format!("{OPEN}\nI should not have said that."), "takes it back");
    near_miss(&format!("{OPEN}\nor shall I go on?"), "goes on");
    complete("---RALPH_STATUS---\n\nSTATUS: COMPLETE\nEXIT_SIGNAL: true");
    contradicts(&ralph("EXIT_SIGNAL: true\n\nTESTS_STATUS: FAILING"), "FAILING");
    complete(&format!("---RALPH_STATUS---\nEXIT_SIGNAL: false\n{}", ralph("EXIT_SIGNAL: true")));
}

#[test]
fn a_denial_right_below_a_block_counts() {
    let completion = ralph("EXIT_SIGNAL: true");
    check(&format!("{completion}EXIT_SIGNAL: false"), Status::Continue);
    check(&format!("{completion}or so I thought"), Status::Absent);
    check("EXIT_SIGNAL: false\n\nor so I thought.", Status::Absent);
}

#[test]
fn only_a_denial_is_doubt_where_it_is_shown() {
    let completion = ralph("EXIT_SIGNAL: true");
    let quoted = |fields: &str| -> String {
        ralph(fields).lines().map(|line| format!("> {line}\n")).collect()
    };
    for (fields, status) in [
        ("EXIT_SIGNAL: false", Status::Continue),
        ("STATUS: IN_PROGRESS", Status::Continue),
        ("EXIT_SIGNAL: true", Status::Complete),
        ("STATUS: COMPLETE", Status::Complete),
        ("EXIT_SIGNAL: false | true", Status::Complete),
    ] {
        check(&format!("{completion}\nThe file says:\n\n{}", quoted(fields)), status);
    }
}

#[test]
fn a_message_ends_with_its_block_also_above_a_mention() {
    let block = ralph("EXIT_SIGNAL: true");
    let shown = format!("For example:\n\n```\n{block}```\n\nAll is there.\n\n");
    complete(&format!("{shown}{block}\nSo `EXIT_SIGNAL: true` it is."));
}

#[test]
fn numbers_that_are_none_and_orders_in_comments_make_a_form() {
    for fields in [
        "TASKS_COMPLETED: N",
        "FILES_MODIFIED: N",
        "RECOMMENDATION: {one sentence}",
        "STATUS: COMPLETE # only if all pass",
    ] {
        near_miss(&ralph(&format!("{fields}\nEXIT_SIGNAL: true")), "placeholder");
    }
    complete(&ralph("TASKS_COMPLETED: 3\nEXIT_SIGNAL: true # all pass"));
}

#[test]
fn a_recommendation_that_counts_tasks_to_the_last_is_no_open_work() {
    contradicts(&ralph("EXIT_SIGNAL: true\nRECOMMENDATION: story 2 of 5 is merged"), "2 of 5");
    complete(&ralph("EXIT_SIGNAL: true\nRECOMMENDATION: story 5 of 5 is merged"));
    complete(&ralph("EXIT_SIGNAL: true\nRECOMMENDATION: read 2 of 5 pages"));
}

#[test]
fn what_follows_a_json_object_is_read() {
    let object = "RALPH_STATUS:\n{\n  \"STATUS\": \"COMPLETE\",\n  \"EXIT_SIGNAL\": true\n}\n";
    for head in ["", "All stories pass.\n\n"] {
        complete(&format!("{head}{object}"));
        near_miss(&format!("{head}{object}\nI should not have said that."), "takes it back");
        near_miss(&format!("{head}{object}\nor shall I go on?"), "goes on");
    }
}

//! The lines around a signal: what introduces it, and what does not.

use super::*;
use crate::decide::language::LanguageChange;

#[test]
fn a_mark_before_its_line_makes_it_another_s() {
    for (line, reason) in [
        ("+EXIT_STATUS: COMPLETE", "diff"),
        ("-EXIT_STATUS: COMPLETE", "diff"),
        ("-<promise>COMPLETE</promise>", "diff"),
        ("```\n> EXIT_STATUS: COMPLETE\n```", "quoted"),
    ] {
        near_miss(line, reason);
    }
    complete("- EXIT_STATUS: COMPLETE");
}

#[test]
fn what_a_terminal_shows_of_a_tool_is_not_the_agent_s() {
    let shown = "⏺ Bash(tail -2 PROMPT.md)\n  ⎿  # Rules\n     EXIT_STATUS: COMPLETE\n\n";
    near_miss(&format!("{shown}⏺ I have read the prompt."), "a tool's output");
    complete(&format!("{shown}⏺ All is done.\n\n  EXIT_STATUS: COMPLETE"));
}

#[test]
fn a_rule_hides_no_introduction() {
    near_miss("For example:\n\n---\n\nEXIT_STATUS: COMPLETE", "example");
}

#[test]
fn what_a_tool_or_a_program_wrote_introduces_nothing() {
    const ORDER: &str = "If all stories pass, reply with:";
    complete(&format!("```rust\n// {ORDER}\n```\n\nEXIT_STATUS: COMPLETE"));
    complete(&format!("[Bash] {ORDER}\n\nEXIT_STATUS: COMPLETE"));
    near_miss(&format!("```\n{ORDER}\nEXIT_STATUS: COMPLETE\n```"), "condition");
}

#[test]
fn a_sentence_that_runs_on_introduces_what_follows() {
    for sentence in ["The loop ends with", "2 runs are over, and the loop ends with"] {
        near_miss(&format!("{sentence}\nEXIT_STATUS: COMPLETE"), "something else speak");
    }
    near_miss("The loop ends with \"\nEXIT_STATUS: COMPLETE", "something else speak");
    complete("The loop ends with \"this\"\nEXIT_STATUS: COMPLETE");
    complete("**The docs hold an example.**\n\nEXIT_STATUS: COMPLETE");
}

#[test]
fn a_near_miss_quotes_the_sentence_that_refused_it() {
    near_miss("For example:\n\nEXIT_STATUS: COMPLETE", "(\"For example:\"");
}

#[test]
fn what_is_quoted_around_a_signal_is_not_the_agent_s() {
    complete("EXIT_STATUS: COMPLETE\n\n> Now let me start with task 4.");
    complete("> For example:\n\nEXIT_STATUS: COMPLETE");
}

#[test]
fn a_fence_with_a_command_or_a_diff_shows_a_file() {
    near_miss("```\n$ cat status.txt\nEXIT_STATUS: COMPLETE\n```", "code example");
    near_miss("```diff\nEXIT_STATUS: COMPLETE\n```", "diff");
}

#[test]
fn rules_of_language_are_those_of_the_settings() {
    let off = LanguageChange { id: "sample-en".to_owned(), rule: None };
    let policy = SignalPolicy { language: vec![off].into(), ..policy() };
    let text = "For example:\n\nEXIT_STATUS: COMPLETE";
    assert_eq!(read_with(text, &policy).status, Status::Complete);
}

#[test]
fn an_iteration_that_begins_later_makes_a_signal_stale_if_something_is_said_in_it() {
    const DONE: &str = "EXIT_STATUS: COMPLETE\n\nAll is well so far.\n\n";
    near_miss(&format!("{DONE}=== Iteration 2 ===\n\nThe parser is written."), "later iteration");
    complete(&format!("{DONE}=== Iteration 2 ===\n\nDone."));
    complete(&format!("{DONE}The first iteration was long.\nAll of it went well."));
    let two =
        "EXIT_STATUS: COMPLETE\n\n=== Iteration 2 ===\n\nEXIT_STATUS: COMPLETE\n\nAll is well.";
    assert_eq!(complete(two).line, Some(5));
}

#[test]
fn an_item_is_introduced_by_what_stands_above_its_list() {
    for mark in ["-", "*", "•", "1.", "2)"] {
        let list = format!("{mark} All stories pass.\n{mark} EXIT_STATUS: COMPLETE");
        near_miss(&format!("For example:\n\n{list}"), "example");
        complete(&format!("Final status:\n\n{list}"));
    }
}

#[test]
fn only_a_line_that_is_marked_as_a_whole_is_a_label() {
    for label in ["**An example**", "(an example)", "<example>", "# An example"] {
        near_miss(&format!("{label}\n\nEXIT_STATUS: COMPLETE"), "example");
    }
    for sentence in [
        "**Docs** hold an example",
        "An example is in the **docs**",
        "(Docs) hold an example",
        "An example is there (in Rust)",
        "<b>Docs</b> hold an example",
        "The docs hold an example <here>",
        "(An example of the new format is in the docs folder)",
    ] {
        complete(&format!("{sentence}\n\nEXIT_STATUS: COMPLETE"));
    }
}

#[test]
fn samples_do_not_end_a_section_of_examples() {
    near_miss(
        "### Status examples\n\n```rust\nlet work = 1;\n```\n\n**All done:**\n```\nEXIT_STATUS: COMPLETE\n```\n",
        "section of examples",
    );
}

#[test]
fn more_orders_than_statements_are_a_prompt() {
    let orders = "Run the migration\nWrite tests for the lexer\nUse the new table\n\
                  Keep the old flag\n";
    let last = "\nEXIT_STATUS: COMPLETE\n";
    near_miss(&format!("{orders}{last}"), "reads as a prompt");
    let few = orders.lines().skip(1).collect::<Vec<_>>().join("\n");
    complete(&format!("{few}\n{last}"));
    let statement = "The parser reads both layouts.\n";
    near_miss(&format!("{}{orders}{last}", statement.repeat(3)), "reads as a prompt");
    complete(&format!("{}{orders}{last}", statement.repeat(4)));
    // A line of two words is neither.
    near_miss(&format!("{}{orders}{last}", "Both layouts.\n".repeat(9)), "reads as a prompt");
}

const EXAMPLE: &str = "For example:\n\n```\nEXIT_STATUS: COMPLETE\n```\n\n";

#[test]
fn below_an_example_a_block_with_a_heading_is_another_one() {
    complete(&format!("{EXAMPLE}All items are there.\n\nEXIT_STATUS: COMPLETE\n"));
    for titled in [
        "## Final status\n\nEXIT_STATUS: COMPLETE\n",
        "## Final status\n\n```\nEXIT_STATUS: COMPLETE\n```\n",
        "## Final status\n\nREMAINING_WORK: none\nEXIT_STATUS: COMPLETE\n",
    ] {
        near_miss(&format!("{EXAMPLE}{titled}"), "this is an example too");
    }
    let tag = "<promise>COMPLETE</promise>";
    complete(&format!("For example:\n\n```\n{tag}\n```\n\n## Final status\n\n{tag}\n"));
}

#[test]
fn what_is_quoted_makes_no_example_of_the_rest() {
    let tag = "<promise>COMPLETE</promise>";
    complete(&format!("> {tag}\n\n{tag}\n\nThe tag ends the loop.\n"));
}

//! Marks in boxes: done, open, and brackets that are no box.

use super::*;

#[test]
fn every_mark_but_x_is_open_unless_settings_name_it() {
    for mark in [
        "-",
        "!",
        "?",
        ">",
        "<",
        "*",
        "o",
        ".",
        "S",
        "R",
        "  ",
        "\u{a0}",
        "\t ",
        " x",
        "v",
        "✓",
        "✅",
        "❌",
        "⏳",
        "🚧",
        "⚠️",
        "--",
        "->",
        "todo",
        "To-Do",
        "To do",
        "to-do",
        "WIP",
        "in_progress",
        "N/A",
        "skip",
        "done",
        "50%",
        "100%",
        "offen",
        "未完成",
        "完",
        "won’t fix",
    ] {
        let text = format!("# Plan\n\n- [x] a\n- [X] b\n- [{mark}] c\n");
        markdown(&text, 2, &["5 c"]);
        let case = Case::of(&[("plan.md", &text)]).done_marks(&[mark]);
        let is_blank = mark.trim().is_empty();
        assert_eq!(case.verdict().outcome == Outcome::Pass, !is_blank, "{mark:?}");
    }
}

#[test]
fn the_refusal_names_the_mark_and_the_key() {
    let text = "- [x] a\n- [-] b\n- [WIP] c\n- [ ] d\n";
    Case::of(&[("plan.md", text)]).fails(
        "3 of 4 criteria are open: [-] b; [WIP] c; d (done is [x], and a mark that \
         `checks.acceptance_criteria.done_marks` names)",
    );
    let case = Case::of(&[("plan.md", text)]).done_marks(&["-", "wip"]);
    case.fails("1 of 4 criteria are open: d");
}

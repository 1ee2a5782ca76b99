//! Judges the text after a candidate: the agent may take the candidate back, show it to
//! be an example, or go on with other work.

use super::marker::Marker;
use super::objection::Objection;
use super::value::{has_digit, has_open_fraction};
use crate::decide::expression::Expression;
use crate::decide::language::{Kind, Language};
use crate::decide::sentence::sentences;

/// The lines after a candidate that are read.
const MAX_LINES_AFTER: usize = 200;

/// The distance in lines within which a text can still explain an example.
const EXAMPLE_LINES: usize = 3;

/// The objection of the lines after a candidate, whatever its spelling.
pub(super) fn objection<'t>(
    language: &Language,
    lines: impl Iterator<Item = &'t str>,
) -> Option<Objection> {
    // "Wait" or "Oops" alone takes nothing back: agents think aloud and then find that all
    // is well. Only with open work in the same or a later line does it. "But" and "Note" are
    // weaker still, and count with open work on their own line alone.
    let mut waver_rule = None;
    for (distance, line) in lines.take(MAX_LINES_AFTER).enumerate() {
        if distance == 0 && CONTINUES_SENTENCE.is_match(line) {
            return Some(Objection::new("the sentence around it goes on after it"));
        }
        let kinds: &[Kind] = match distance < EXAMPLE_LINES {
            true => &[Kind::Otherwise, Kind::Retraction],
            false => &[Kind::Retraction],
        };
        if let Some(rule) = language.first_in(kinds, line) {
            return Some(Objection::from_rule(rule));
        }
        waver_rule = waver_rule.or_else(|| language.rule_in(Kind::Waver, line));
        if let Some(rule) = waver_rule.or_else(|| language.rule_in(Kind::Stumble, line))
            && is_open_work(language, line)
        {
            return Some(Objection::from_rule(rule));
        }
    }
    None
}

/// A line is about the next work, or about work that is still open.
pub(super) fn is_about_work<'t>(language: &Language, lines: impl Iterator<Item = &'t str>) -> bool {
    let mut is_below_heading = false;
    for line in lines.take(MAX_LINES_AFTER) {
        if is_next_work(language, line)
            || is_open_work(language, line)
            || (is_below_heading && ITEM.is_match(line) && !language.matches(Kind::NoItem, line))
        {
            return true;
        }
        is_below_heading = language.matches(Kind::RemainingHeading, line);
    }
    false
}

fn is_next_work(language: &Language, text: &str) -> bool {
    language.matches(Kind::NextWork, text)
        && !language.matches(Kind::Summary, text)
        && !language.matches(Kind::NotOpen, text)
        && !language.matches(Kind::OtherWork, text)
}

/// A text says that work is open or that something fails.
pub(super) fn is_open_work(language: &Language, text: &str) -> bool {
    // A quoted label such as "2 tasks left" belongs to the product. It counts only if the
    // text says the same outside of the quotation.
    has_open_work(language, text)
        && (!text.contains(['"', '“']) || has_open_work(language, &QUOTED.without(text)))
}

fn has_open_work(language: &Language, text: &str) -> bool {
    // "No blockers. Two tests fail." says that nothing is open, and then that something is.
    let mut sentences = sentences(text).peekable();
    while let Some(sentence) = sentences.next() {
        let excuses = [Kind::NotOpen, Kind::OtherWork, Kind::Product];
        if (language.matches(Kind::OpenWork, sentence) || is_partly_done(sentence))
            && language.first_in(&excuses, sentence).is_none()
            && !sentences.peek().is_some_and(|next| language.matches(Kind::OtherWorkBefore, next))
        {
            return true;
        }
    }
    false
}

/// `3 of 7 stories are done`.
fn is_partly_done(sentence: &str) -> bool {
    has_digit(sentence)
        && PROGRESS.find_iter(sentence).any(|progress| has_open_fraction(&sentence[progress]))
}

/// The line on which a runner begins another iteration in one log.
pub(super) fn begins_iteration(line: &str) -> bool {
    // Most lines do not even name an iteration, and a separator is short.
    line.len() <= 160
        && ITERATION_NAMES.iter().any(|name| name.stands_in(line))
        && (START.is_match(line) || (ITERATION.is_match(line) && !is_commit_subject(line)))
}

/// `iteration 3` is the subject of a commit: drivers write more around it, or begin it in
/// upper case.
fn is_commit_subject(line: &str) -> bool {
    let line = line.trim();
    let words: Vec<_> = line.strip_prefix("- ").unwrap_or(line).split(' ').collect();
    matches!(words[..], ["iteration" | "loop", _])
}

/// The offsets at which a text names an iteration or a speaker, in order.
pub(super) fn iteration_names(text: &str) -> Vec<usize> {
    let mut offsets: Vec<_> = ITERATION_NAMES.iter().flat_map(|name| name.offsets(text)).collect();
    offsets.sort_unstable();
    offsets
}

/// Texts of which each line that begins an iteration contains one.
const ITERATION_NAMES: [Marker; 6] = [
    Marker::new("iteration", 3),
    Marker::new("loop", 3),
    Marker::new("cycle", 1),
    Marker::new("round", 2),
    Marker::new("human:", 5),
    Marker::new("user:", 4),
];

/// A line that goes on with the sentence above what it follows.
static CONTINUES_SENTENCE: Expression =
    Expression::new(r"^(?-i:but|or|and|when|where|which|because|is|was|as soon as)\s");

static QUOTED: Expression = Expression::new(r"\x22[^\x22]*\x22|“[^”]*”");

/// A number of tasks or tests, out of all of them.
static PROGRESS: Expression = Expression::new(
    r"\b\d+\s*(?:/|of)\s*\d+\s+(?:tasks?|stor(?:y|ies)|items?|tests?|criteria|checks?)\b[^.;]{0,20}\b(?:done|pass\w*|complete\w*|finished|implemented|met|green)\b|^\W*(?:tests?|tasks?|stories|progress)\W*\d+\s*(?:/|of)\s*\d+\b",
);

static ITEM: Expression = Expression::new(r"^\s*(?:[-*•]|\d+[.)])\s+(?:\[ \]\s+)?\w");

static ITERATION: Expression = Expression::new(
    r"^[^\w\n#*\[]*(?:\[(?:[a-z]+|[\d:.tz+ /-]+)\][^\w\n#*\[]*)*(?:(?:starting|running|beginning|ralph|executing)\s+)*(?:iteration|loop)\s*#?\d+(?:\s*(?:of|/)\s*\d+)?[^\w\n]*(?:\([^)]*\)|\|\s*\d\d:\d\d\S*|\.\.\.)?[^\w\n]*$|^(?:starting|running|ralph)[^\w\n]*(?:iteration|loop)\s*#?\d+.*$|^(?:[=~═━─—-]{2,}|\*{3,})[^\w\n]*(?:\w+\s+){0,3}(?:iteration|loop|cycle|round)\s*[#:]?\s*\d+.*$|^# iteration \d+ log$|^(?:human|user):\s+\S+\s+\S+\s+\S+",
);

/// The line on which a driver starts its loop.
static START: Expression = Expression::new(
    r"^[^\w\n#*\[]*(?:\[[^\]]*\][^\w\n#*\[]*)*(?:ralph loop (?:is )?(?:starting|started|begins)|(?:starting|launching) (?:the )?ralph(?: \w+)? loop)\b",
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taken_back() {
        for text in [
            "Wait, US-009 still fails. Let me fix that.",
            "Oops, one test is red.",
            "Sorry, that was premature.",
            "Ignore the above.",
            "I spoke too soon: one test is red.",
            "I should not have signalled.",
            "Actually, I see that two tasks are still unchecked.",
            "Otherwise, end normally.",
        ] {
            assert!(objection(&Language::default(), [text].into_iter()).is_some(), "{text}");
        }
        for text in [
            "Actually, everything was already in place.",
            "Wait times are shorter now.",
            "But first, a summary:",
        ] {
            assert_eq!(objection(&Language::default(), [text].into_iter()), None, "{text}");
        }
    }

    #[test]
    fn the_next_work_or_open_work() {
        for text in [
            "Now let me start with task 4.",
            "Next, I'll implement the parser.",
            "There are still two stories open.",
            "5 stories remain.",
            "Next story: US-010",
            "The overall project is not complete.",
            "Tests: 45 passed, 3 failed",
            "Remaining: US-010, US-011",
            "The e2e suite still fails.",
            "剩余任务：3",
            "3 tests still fail because the fixture is missing.",
            "3 tests fail when they run in parallel.",
            "Lint: 0 errors. Tests: 3 failed.",
            "3 tests still fail; the optional ones are skipped.",
            "2 tasks are still open, no longer blocked.",
            "Tests: 412 failed.",
            "3 of 7 stories are done.",
            "Progress: 3/7",
            "Fixed 2 of 5 failing tests; 3 tests still fail.",
            "In the next iteration I will implement the export.",
            "The next story is US-004.",
            "Todo: e2e tests",
            "Stories left: US-004, US-005",
            "US-004 is still to be implemented.",
            "Es fehlen noch die e2e-Tests.",
            "Reste à faire : tests e2e.",
            "Falta implementar a exportação.",
            "Осталось: e2e-тесты.",
            "下一步：实现导出。",
        ] {
            assert!(is_about_work(&Language::default(), [text].into_iter()), "{text}");
        }
        assert!(is_about_work(
            &Language::default(),
            ["What is left for the next iteration:", "- e2e tests"].into_iter()
        ));
    }

    #[test]
    fn open_work_counts_outside_of_a_quotation_and_below_its_heading() {
        let language = Language::default();
        assert!(is_open_work(&language, "The label \"tasks\" is right, but 3 tests fail."));
        assert!(!is_about_work(&language, ["Remaining work:", "all is merged"].into_iter()));
    }

    #[test]
    fn closings_of_this_work() {
        for text in [
            "Let me provide a summary of the work.",
            "I'll be here if you need anything else.",
            "I will now stop.",
            "Let me know if you want changes.",
            "Next steps: deploy",
            "Remaining: none",
            "Todo: none",
            "All 7 of 7 stories are done.",
            "At first 12 tests failed; now they all pass.",
            "Reste à faire : rien",
            "The badge shows how many items remain open.",
            "2 tests fail. Both are unrelated to this change.",
            "Total remaining stories: 0",
            "Tests: 312 passed, 0 failed",
            "All tests pass (2 failing are pre-existing).",
            "- the parser reads both layouts",
            "The label says \"2 tasks left\".",
        ] {
            assert!(!is_about_work(&Language::default(), [text].into_iter()), "{text}");
        }
    }

    #[test]
    fn a_runner_begins_another_iteration() {
        for line in [
            "===== Iteration 2 =====",
            "--- Iteration 2 of 10 ---",
            "🔄 Loop #2",
            "Starting iteration 2...",
            "Iteration 3",
            "[INFO] Loop #2",
            "--- Round 2 ---",
            "=== Cycle 2 of 10 ===",
            "=== My Iteration 2/10 ===",
            "══ Iteration 2 — 2026-11-20 ══",
            "*** Iteration 2 ***",
            "  Iteration 2 of 10 | 10:00",
            "# Iteration 2 Log",
            "[2026-05-02 10:11:12] [SUCCESS] 🚀 Ralph loop starting with Claude Code",
            "Starting the Ralph loop",
        ] {
            assert!(begins_iteration(line), "{line}");
        }
        for line in [
            "The loop ran 2 times",
            "Iteration 2 added the parser and its tests",
            "=== COMPLETE: Thu Jan 8 ===",
            "[main 1f0c9a2] iteration 3",
            "[main 1f0c9a2] Iteration 3",
            "    iteration 3",
            "- iteration 3",
            "**Iteration 2** of the parser",
            "| Iteration 2 | done |",
            "Round 2",
            "The Ralph loop starting today uses the new prompt",
        ] {
            assert!(!begins_iteration(line), "{line}");
        }
    }
}

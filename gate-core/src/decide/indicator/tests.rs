//! Hits of patterns: their places, how long they are kept, and which of them count.

use super::*;
use crate::decide::pattern::Guard;

fn pattern(id: &str, regex: &str) -> Pattern {
    Pattern {
        id: id.to_owned(),
        pack: COMPLETION.to_owned(),
        matcher: Matcher::Regex(regex.to_owned()),
        weight: 1,
        scope: Scope::Final,
        unless: Vec::new(),
        keywords: Vec::new(),
    }
}

fn heavy(id: &str, regex: &str) -> Pattern {
    Pattern { weight: 2, ..pattern(id, regex) }
}

/// Plain text of the agent, which begins on line 7 of the input.
fn says(text: &str) -> Event<'_> {
    let role = Role::Assistant;
    Event::Text(Text { role, text, line: 7, multiline: true, continues: false })
}

/// The hits in these events, one after the other.
fn hits(patterns: &[Pattern], events: &[Event<'_>]) -> Vec<Hit> {
    let set = PatternSet::new(patterns).unwrap();
    let mut counter = Counter::new(&set);
    events.iter().for_each(|event| counter.event(event));
    counter.finish(|_| true)
}

/// Each hit as its pattern, its place, and its weight.
fn found(patterns: &[Pattern], events: &[Event<'_>]) -> Vec<(String, u64, u32, u32)> {
    let hits = hits(patterns, events).into_iter();
    hits.map(|hit| (hit.pattern, hit.line, hit.column, hit.weight)).collect()
}

#[track_caller]
fn check(patterns: &[Pattern], text: &str, expected: &[(&str, u64, u32, u32)]) {
    let expected: Vec<_> = expected
        .iter()
        .map(|(id, line, column, weight)| ((*id).to_owned(), *line, *column, *weight))
        .collect();
    assert_eq!(found(patterns, &[says(text)]), expected, "{text}");
}

#[test]
fn a_hit_tells_its_line_and_its_column_in_characters() {
    let two_patterns = [pattern("word", "done"), pattern("digit", "[0-9]")];
    check(&two_patterns, "done\n\nié 3", &[("word", 7, 1, 1), ("digit", 9, 4, 1)]);
    check(&two_patterns, "4\n\né done", &[("word", 9, 3, 1), ("digit", 7, 1, 1)]);
    let lines = [pattern("a", "first"), pattern("b", "second"), pattern("c", "third")];
    check(&lines, "first\n\nsecond\n\nthird", &[("a", 7, 1, 1), ("b", 9, 1, 1), ("c", 11, 1, 1)]);
}

#[test]
fn the_lines_of_a_record_are_one_line_of_the_input() {
    let role = Role::Assistant;
    let text = "a\n3\ndone";
    let record = Event::Text(Text { role, text, line: 7, multiline: false, continues: false });
    let two_patterns = [pattern("word", "done"), pattern("digit", "[0-9]")];
    let lines: Vec<_> = hits(&two_patterns, &[record]).iter().map(|hit| hit.line).collect();
    assert_eq!(lines, [7, 7]);
}

#[test]
fn words_that_touch_are_not_the_same_words() {
    check(
        &[pattern("a", "all"), pattern("b", "done")],
        "alldone",
        &[("a", 7, 1, 1), ("b", 7, 4, 1)],
    );
    check(&[pattern("a", "all"), heavy("b", "done")], "alldone", &[("a", 7, 1, 1), ("b", 7, 4, 2)]);
    check(
        &[pattern("a", "alld"), heavy("b", "done")],
        "alldone",
        &[("a", 7, 1, 0), ("b", 7, 4, 2)],
    );
}

#[test]
fn a_hit_without_a_literal_covers_its_own_words_on_every_line() {
    let two_patterns = [pattern("word", "done"), pattern("digit", "[0-9]")];
    check(&two_patterns, "a first line\ndone3", &[("word", 8, 1, 1), ("digit", 8, 5, 1)]);
    let overlapping = [heavy("word", "done 3"), pattern("digit", "[0-9]")];
    check(&overlapping, "a first line\ndone 3", &[("word", 8, 1, 2), ("digit", 8, 6, 0)]);
}

#[test]
fn the_same_place_of_another_text_holds_other_words() {
    let two_patterns = [pattern("a", "all done"), pattern("b", "we are")];
    let expected = [("a".to_owned(), 7, 1, 1), ("b".to_owned(), 7, 1, 1)];
    assert_eq!(found(&two_patterns, &[says("all done"), says("we are")]), expected);
}

#[test]
fn a_new_turn_forgets_what_counts_in_the_last_one_alone() {
    let patterns = [
        pattern("final", "done"),
        Pattern { scope: Scope::Assistant, ..pattern("any-turn", "ready") },
    ];
    let ids = |boundary| {
        let events = [says("done and ready"), Event::Boundary(boundary, 8)];
        let hits = hits(&patterns, &events);
        hits.into_iter().map(|hit| hit.pattern).collect::<Vec<_>>()
    };
    assert_eq!(ids(Boundary::Prompt), ["any-turn"]);
    assert_eq!(ids(Boundary::HookFeedback), ["any-turn"]);
    assert_eq!(ids(Boundary::Notification), ["final", "any-turn"]);
    let set = PatternSet::new(&patterns).unwrap();
    let mut counter = Counter::new(&set);
    counter.event(&says("done and ready"));
    counter.forget();
    assert_eq!(counter.finish(|_| true), []);
}

#[test]
fn only_a_pattern_for_all_roles_looks_at_what_others_write() {
    let patterns =
        [pattern("own", "done"), Pattern { scope: Scope::Any, ..pattern("all", "done") }];
    let reads_all_roles =
        |patterns| Counter::new(&PatternSet::new(patterns).unwrap()).reads_all_roles();
    assert!(reads_all_roles(&patterns) && !reads_all_roles(&patterns[..1]));
    let (role, text) = (Role::User, "done");
    let question = Event::Text(Text { role, text, line: 7, multiline: true, continues: false });
    let set = PatternSet::new(&patterns[..1]).unwrap();
    let mut counter = Counter::new(&set);
    counter.event(&question);
    assert_eq!(counter.searched_bytes, 0, "nobody looks for anything there");
    let ids: Vec<_> = hits(&patterns, &[question]).into_iter().map(|hit| hit.pattern).collect();
    assert_eq!(ids, ["all"]);
}

#[test]
fn four_hits_of_a_pattern_are_kept_and_the_others_are_still_looked_for() {
    let set = PatternSet::new(&[pattern("a", "done"), pattern("b", "ready")]).unwrap();
    let text = "done\n".repeat(6) + "ready";
    let first_from = |line| {
        let mut counter = Counter::new(&set);
        counter.event(&says(&text));
        let hits = counter.finish(|hit| hit.line >= line);
        hits.into_iter().map(|hit| (hit.pattern, hit.line)).collect::<Vec<_>>()
    };
    let ready = ("b".to_owned(), 13);
    assert_eq!(first_from(10), [("a".to_owned(), 10), ready.clone()]);
    assert_eq!(first_from(11), [ready]);
}

#[test]
fn guards_look_at_a_hit_in_the_middle_of_a_long_line() {
    let unless = vec![Guard::Negation, Guard::Question];
    let patterns = [Pattern { unless, ..pattern("a", "all done") }];
    let filler = "x. ".repeat(GUARD_CONTEXT_BYTES);
    let column = 3 * GUARD_CONTEXT_BYTES as u32 + 1;
    check(&patterns, &format!("{filler}all done. {filler}"), &[("a", 7, column, 1)]);
    check(&patterns, &format!("{filler}all done? {filler}"), &[]);
    check(&patterns, &format!("{filler}not all done. {filler}"), &[]);
}

#[test]
fn only_packs_of_gate_mean_ascii_by_their_classes() {
    let word = pattern("a", r"f\wr all");
    for pack in [COMPLETION, SEED, REPORTS] {
        check(&[Pattern { pack: pack.to_owned(), ..word.clone() }], "für all", &[]);
    }
    let custom = Pattern { pack: "custom".to_owned(), ..word };
    check(&[custom], "für all", &[("a", 7, 1, 1)]);
}

#[test]
fn an_excerpt_begins_with_a_whole_word_before_the_hit() {
    assert_eq!(excerpt("the work is done", 12), "the work is done");
    assert_eq!(excerpt("a\u{7}b\tc", 0), "abc");
    let line = format!("{}claim {}", "wordy ".repeat(20), "x".repeat(200));
    let text_excerpt = excerpt(&line, 120);
    assert_eq!(text_excerpt, format!("{}claim {}", "wordy ".repeat(6), "x".repeat(78)));
    assert_eq!(text_excerpt.chars().count(), MAX_EXCERPT_CHARS);
    assert_eq!(excerpt(&"é".repeat(300), 400), "é".repeat(MAX_EXCERPT_CHARS));
}

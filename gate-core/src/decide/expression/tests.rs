//! Expressions match as their patterns say.

use super::*;
use crate::config::Pack;
use crate::decide::language::LANGUAGE_PACK;
use crate::decide::pack_text;

fn from_settings(source: &str) -> Expression {
    Expression::from_settings(&Matcher::Regex(source.to_owned()))
}

#[test]
fn an_expression_of_settings_is_compiled_when_a_text_holds_what_its_matches_need() {
    let expression = from_settings(r"\bquux+\b");
    assert!(!expression.is_match("qux"));
    assert!(expression.alternatives.get().is_none());
    assert_eq!(expression.find_iter("quux QUUXX").collect::<Vec<_>>(), [0..4, 5..10]);
    assert!(expression.alternatives.get().is_some());
}

#[test]
fn a_search_that_is_built_fast_finds_what_the_exact_expression_finds() {
    let rules = pack_text::tables(LANGUAGE_PACK, "[[rule]]");
    let values = |name: &'static str| {
        let keys = rules.iter().flat_map(|rule| pack_text::keys(rule));
        keys.filter_map(move |(key, value)| (key == name).then_some(value))
    };
    let samples = ["matches", "rejects"].into_iter().flat_map(values).flat_map(pack_text::texts);
    let samples: Vec<_> = samples.map(str::to_lowercase).collect();
    let texts: Vec<_> = samples.chunks(4).map(|several| several.join(". ")).collect();
    let mut hits = 0;
    for source in values("regex").map(pack_text::text) {
        let expression = Expression::from_pack(source, Vec::new());
        let tree = expression.tree(false).expect("it parses");
        let exact = Regex::builder().build_from_hir(&tree).expect("it compiles");
        for text in &texts {
            expression.searched_bytes.store(0, Ordering::Relaxed);
            let slow_match = expression.find(text);
            assert_eq!(slow_match, find_at(&exact, text, 0), "{source} in {text:?}");
            hits += usize::from(slow_match.is_some());
        }
        assert!(expression.fast_search.get().is_none(), "the text is too long");
    }
    assert!(hits > 900, "{hits}");
}

#[test]
fn much_text_is_searched_fast() {
    let expression = Expression::new(r"\bnot yet\b|\bdone$");
    let long = "all work is done so not yet ".repeat(1_000);
    assert_eq!(expression.find("not yet"), Some(0..7));
    assert!(expression.fast_search.get().is_none());
    assert_eq!(expression.find(&long), Some(20..27));
    assert!(expression.fast_search.get().is_some());
}

#[test]
fn alternatives_are_compiled_each_by_itself() {
    let texts = |source: &'static str| {
        let expression = Expression::new(source);
        expression.required().expect("it parses");
        let alternatives = expression.alternatives.get().expect("they are known");
        alternatives.iter().map(Alternative::required).cloned().collect::<Vec<_>>()
    };
    let group = |text: &str| vec![vec![text.to_owned()]];
    assert_eq!(texts("yes|no way"), [group("yes"), group("no way")]);
    assert_eq!(texts(r"\byes\b|\bno way"), [group("yes"), group("no way")]);
    assert_eq!(texts(r"a+|b+|yes|c+"), [vec![], group("yes"), vec![]]);
    assert_eq!(texts(r"x(?:yes|no way)").len(), 1);
}

/// One of gate's own finds what it finds without regard to case.
#[track_caller]
fn check(source: &str, texts: &[&str]) {
    let own = Expression::from_pack(source.to_owned(), Vec::new());
    let caseless = from_settings(&ascii::with_ascii_classes(source));
    for text in texts {
        let [own, caseless] =
            [&own, &caseless].map(|expression| expression.find_iter(text).collect::<Vec<_>>());
        assert_eq!(own, caseless, "{source} in {text:?}");
    }
}

#[test]
fn case_does_not_matter() {
    for (source, text) in [
        (r"\bdone\b", "DONE, undone, Done"),
        (r"^a.c$", "AbC\nabcd\naéc"),
        (r"^a.c$|^b|c$", "AbC"),
        (r"^\s*b|c$", "  abc"),
        (r"[^\w\s]+", "a-b ✅ _\u{b}\u{c}é"),
        (r"(?-i:Error): \d+", "Error: 7 error: 8"),
        (r"EXIT_SIGNAL\W*true", "exit_signal: TRUE"),
        (r"\bno\b[^,;.]{0,40}", "no more. No\tfewer, none"),
        ("[.!?…]\\s|[。🎉]", "A. b… c。d🎉"),
    ] {
        check(source, &[text]);
    }
}

#[test]
fn case_does_not_matter_in_the_samples_of_all_packs() {
    for name in ["completion", "seed"] {
        let pack = Pack::named(name).expect("the pack is right").expect("the pack exists");
        check_samples(&pack);
    }
    for name in ["errors", "limits"] {
        let pack = Pack::breaker_pack(name).expect("the pack is right").expect("the pack exists");
        check_samples(&pack);
    }
}

/// Each pattern on the samples of all patterns; its keywords hide none of its matches.
fn check_samples(pack: &Pack) {
    let samples = pack.patterns.iter().flat_map(|one| one.matches.iter().chain(&one.rejects));
    let samples: Vec<_> = samples.map(String::as_str).collect();
    assert!(samples.len() >= 4 * pack.patterns.len());
    for one in &pack.patterns {
        let source = source(&one.pattern.matcher);
        check(&source, &samples);
        let id = &one.pattern.id;
        let tree = tree(&ascii::with_ascii_classes(&source), false).expect("it parses");
        let required = literal::required(&tree);
        // The rarest texts of other languages are no English words either: those are chosen.
        if id.strip_prefix("done-").is_none_or(|language| language.len() != 2) {
            assert_eq!(required.first().unwrap_or(&Vec::new()), &one.pattern.keywords, "{id}");
        }
        let with = Expression::from_pack(source.clone(), one.pattern.keywords.clone());
        let without = Expression::from_pack(source, Vec::new());
        for sample in &samples {
            assert_eq!(with.is_match(sample), without.is_match(sample), "{id}");
        }
    }
}

#[test]
fn keywords_of_normalisation_hide_no_match() {
    let pack = Pack::breaker_pack("errors").expect("the pack is right").expect("the pack exists");
    let samples: Vec<_> = pack.rules.iter().flat_map(|rule| &rule.samples).collect();
    for rule in &pack.rules {
        let with = Expression::from_pack(rule.regex.clone(), rule.keywords.clone());
        let without = Expression::from_pack(rule.regex.clone(), Vec::new());
        for text in samples.iter().map(|sample| &sample.from) {
            assert_eq!(with.find(text), without.find(text), "{} in {text:?}", rule.id);
        }
    }
}

#[test]
fn it_finds_a_match_from_a_byte_on_in_sight_of_what_stands_before() {
    let expression = Expression::new(r"\bnot\b");
    let text = "not knot not";
    assert_eq!(expression.find(text), Some(0..3));
    assert_eq!(expression.find_from(text, 5), Some(9..12));
    assert_eq!(expression.find_from(text, 10), None);
}

#[test]
fn what_cannot_be_compiled_matches_nothing() {
    assert!(!from_settings("(").is_match("("));
}

#[test]
fn boundaries_are_ascii() {
    assert!(compile(r"\ball\b.*é").is_ok_and(|regex| regex.is_match("ALL É")));
}

#[test]
fn an_error_says_what_is_wrong() {
    assert!(compile("(").is_err_and(|error| error.contains("unclosed group")));
    assert!(compile("(a{999}){999}{999}").is_err_and(|error| error.contains("too large")));
}

#[test]
fn keywords_of_a_pack_are_what_its_matches_hold() {
    let expression = Expression::from_pack("[a-z]+ done", vec!["all".to_owned()]);
    assert_eq!(expression.required(), Ok(&[vec!["all".to_owned()]][..]));
    let expression = Expression::from_pack("[a-z]+ done", Vec::new());
    assert_eq!(expression.required(), Ok(&[vec![" done".to_owned()]][..]));
}

#[test]
fn only_own_expressions_are_tried_sentence_by_sentence() {
    let own = |source: &'static str| Expression::new(source).is_sentence_bound();
    assert!(own("all done") && !own("all.*done"));
    assert!(!from_settings("all done").is_sentence_bound());
}

#[test]
fn a_text_is_left_without_its_matches() {
    let marks = Expression::new("[*_]+");
    assert_eq!(marks.without("**all** _done_."), "all done.");
    assert_eq!(marks.without("all done"), "all done");
    assert_eq!(marks.without_matches_in("ÄxÖ", "Ä_Ö"), "ÄÖ");
}

#[test]
fn an_expression_has_upper_case_where_case_matters() {
    for (source, expected) in [
        ("error: ", false),
        (r"\W\S", false),
        ("(?-i:but)", true),
        ("(?-i:Error)", true),
        (r"\\E", true),
    ] {
        assert_eq!(has_upper_case(source), expected, "{source}");
    }
}

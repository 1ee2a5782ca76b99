//! Expressions match as their patterns say.

use super::*;

fn from_settings(source: &str) -> Expression {
    Expression::from(&Matcher::Regex(source.to_owned()))
}

#[test]
fn it_is_compiled_when_a_text_holds_what_its_matches_need() {
    let expression = from_settings(r"\bquux+\b");
    assert!(!expression.is_match("qux"));
    assert!(expression.regex.get().is_none());
    assert_eq!(expression.find_iter("quux QUUXX").collect::<Vec<_>>(), [0..4, 5..10]);
    assert!(expression.regex.get().is_some());
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

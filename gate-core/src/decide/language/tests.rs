//! Every rule of the pack, tried on its own samples, and rules of settings.

use std::collections::BTreeSet;

use proptest::strategy::{Strategy, ValueTree};
use proptest::string::string_regex_parsed;
use proptest::test_runner::TestRunner;
use regex_syntax::hir::{Hir, HirKind, Repetition};
use serde::Deserialize;

use super::*;
use crate::decide::expression::Expression;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Pack {
    doc: String,
    rule: Vec<PackRule>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PackRule {
    id: String,
    kinds: Vec<Kind>,
    language: String,
    reason: String,
    regex: String,
    keywords: Vec<String>,
    matches: Vec<String>,
    rejects: Vec<String>,
}

fn pack() -> Pack {
    toml::from_str(LANGUAGE_PACK).expect("the pack is right")
}

#[test]
fn the_pack_is_read_as_toml_reads_it() {
    let pack = pack();
    assert!(!pack.doc.is_empty());
    assert_eq!(pack.rule.len(), SHIPPED.len());
    for (rule, read) in pack.rule.iter().zip(&*SHIPPED) {
        assert_eq!(rule.id, read.id());
        assert_eq!(read.expression().source(), rule.regex, "{}", rule.id);
        assert!(rule.kinds.iter().all(|kind| read.is_of(*kind)), "{}", rule.id);
        assert_eq!(read.objection(), format!("{} (rule `{}`)", rule.reason, rule.id));
        assert_eq!(read.keywords(), rule.keywords, "{}", rule.id);
    }
}

#[test]
fn each_rule_matches_its_samples_and_no_other() {
    for (rule, read) in pack().rule.iter().zip(&*SHIPPED) {
        let (id, expression) = (&rule.id, read.expression());
        assert!(rule.matches.len() >= 2 && rule.rejects.len() >= 2, "{id} has too few samples");
        for text in &rule.matches {
            assert!(expression.is_match(&in_lower_case(text)), "{id} does not match {text:?}");
        }
        for text in &rule.rejects {
            assert!(!expression.is_match(&in_lower_case(text)), "{id} matches {text:?}");
        }
    }
}

#[test]
fn keywords_hide_no_match() {
    for PackRule { id, regex, keywords, matches, .. } in pack().rule {
        let stands_in = |text: &str| keywords.iter().any(|keyword| text.contains(keyword.as_str()));
        let is_shown = matches.iter().all(|text| stands_in(&text.to_lowercase()));
        assert!(keywords.is_empty() || is_shown, "{id}: a sample holds no keyword");
        for keyword in &keywords {
            assert_eq!(*keyword, keyword.to_lowercase(), "{id}");
        }
        // Where the expression's own literals are known, the keywords follow from them.
        let follow = [str::to_owned, without_case].iter().any(|written| {
            let without = Expression::from_pack(written(&regex), Vec::new());
            let keywords: Vec<_> = keywords.iter().map(|keyword| written(keyword)).collect();
            let stands_in = |text: &String| keywords.iter().any(|keyword| text.contains(keyword));
            let required = without.required().expect("it compiles");
            required.iter().any(|group| group.iter().all(stands_in))
        });
        if !keywords.is_empty() && !follow {
            for text in generated_matches(&regex) {
                assert!(stands_in(&text), "{id}: {text}");
            }
        }
    }
}

/// A text whose letters beyond ASCII are others that have no case: the literals of an
/// expression leave out letters that have one.
fn without_case(text: &str) -> String {
    let private = |c: char| char::from_u32(0xf_0000 + u32::from(c));
    text.chars().map(|c| if c.is_ascii() { c } else { private(c).unwrap_or(c) }).collect()
}

/// Random texts in lower case that an expression matches.
fn generated_matches(regex: &str) -> Vec<String> {
    let simple = [(r"\s", " "), (r"\S", "x"), (r"\w", "[a-z]"), (r"\W", "[ .:]")];
    let simple =
        simple.iter().fold(regex.to_owned(), |text, (class, one)| text.replace(class, one));
    let parsed = regex_syntax::parse(&simple).expect("it parses");
    let texts = string_regex_parsed(&without_looks(&parsed)).expect("texts can be made");
    let expression = Expression::from_pack(regex.to_owned(), Vec::new());
    let mut runner = TestRunner::deterministic();
    let texts = (0..600).map(|_| texts.new_tree(&mut runner).expect("a text").current());
    let texts = texts.map(|text| in_lower_case(&text.to_ascii_lowercase()).into_owned());
    let matches: Vec<_> = texts.filter(|text| expression.is_match(text)).collect();
    assert!(matches.len() > 30, "{regex}: {}", matches.len());
    matches
}

/// The expression without `^`, `$` and `\b`, for which no text can be made.
fn without_looks(hir: &Hir) -> Hir {
    match hir.kind() {
        HirKind::Look(_) => Hir::empty(),
        HirKind::Concat(parts) => Hir::concat(parts.iter().map(without_looks).collect()),
        HirKind::Alternation(parts) => Hir::alternation(parts.iter().map(without_looks).collect()),
        HirKind::Repetition(repetition) => {
            let sub = Box::new(without_looks(&repetition.sub));
            Hir::repetition(Repetition { sub, ..repetition.clone() })
        }
        HirKind::Capture(capture) => without_looks(&capture.sub),
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) => hir.clone(),
    }
}

#[test]
fn blank_texts_match_only_what_is_harmless() {
    // `Language::rule_in` tries no rule on a blank text, so none may need one.
    for PackRule { id, regex, .. } in pack().rule {
        let expression = Expression::from_pack(regex, Vec::new());
        let is_matched = ["", " ", "\t"].iter().any(|text| expression.is_match(text));
        assert_eq!(is_matched, id == "harmless-en", "{id}");
    }
}

#[test]
fn capital_letters_beyond_ascii_hide_no_word() {
    let language = Language::default();
    for (kind, text) in [
        (Kind::Denial, "O trabalho NÃO está concluído:"),
        (Kind::Denial, "РАБОТА ЕЩЁ НЕ ГОТОВА:"),
        (Kind::Denial, "Я НЕ МОГУ ЭТО ВЫВЕСТИ:"),
        (Kind::Negation, "ЧАСТИЧНО"),
        (Kind::Negation, "НЕ ВИКОНАНО"),
        (Kind::Condition, "ПІСЛЯ ТОГО ЯК УСЕ ГОТОВО"),
    ] {
        assert!(language.matches(kind, text), "{text}");
    }
    assert_eq!(language.head_length(Kind::None, "НЕТ ЗАДАЧ, ВСЁ"), "НЕТ ЗАДАЧ".len());
    assert_eq!(language.without(Kind::PastClause, "НЕ ГОТОВО"), "НЕ ГОТОВО");
}

#[test]
fn a_rule_of_settings_may_ask_for_capital_letters() {
    let language = Language::from(vec![own("loud", Kind::Denial, "(?-i:СТОП)")]);
    assert!(language.matches(Kind::Denial, "СТОП:") && !language.matches(Kind::Denial, "стоп:"));
}

#[test]
fn ids_differ() {
    let mut seen = BTreeSet::new();
    for rule in pack().rule {
        assert!(!rule.language.is_empty(), "{}", rule.id);
        assert!(seen.insert(rule.id.clone()), "{} stands twice", rule.id);
    }
}

fn own(id: &str, kind: Kind, regex: &str) -> LanguageChange {
    let rule = LanguageRule {
        kind,
        regex: regex.to_owned(),
        language: "any".to_owned(),
        reason: "our team says so".to_owned(),
    };
    LanguageChange { id: id.to_owned(), rule: Some(rule) }
}

#[test]
fn a_rule_of_settings_is_added_and_named() {
    let language = Language::from(vec![own("team-never", Kind::Denial, "nunca jamais")]);
    let rule = language.rule_in(Kind::Denial, "Nunca Jamais:").expect("it matches");
    assert_eq!(rule.objection(), "our team says so (rule `team-never`)");
    assert!(language.matches(Kind::Denial, "Not yet:"), "the shipped rules stay");
}

#[test]
fn a_shipped_rule_is_replaced_or_switched_off() {
    let off = LanguageChange { id: "none-pl".to_owned(), rule: None };
    assert!(Language::default().matches(Kind::None, "brak"));
    assert!(!Language::from(vec![off]).matches(Kind::None, "brak"));
    let replaced = Language::from(vec![own("none-pl", Kind::None, "^pustka")]);
    assert!(replaced.matches(Kind::None, "pustka") && !replaced.matches(Kind::None, "brak"));
}

#[test]
fn a_text_is_spared_the_rules_whose_keywords_it_does_not_hold() {
    let (empty, whole) = (Pairs::new(""), Pairs::new(&in_lower_case(LANGUAGE_PACK)));
    for rule in &*SHIPPED {
        let has_keywords = !rule.keywords().is_empty();
        assert_eq!(rule.may_match(&empty, false), !has_keywords, "{}", rule.id());
        assert!(rule.may_match(&whole, false), "{}", rule.id());
        let is_other_script = has_keywords && !rule.keywords().iter().any(|word| is_latin(word));
        assert_eq!(rule.may_match(&whole, true), !is_other_script, "{}", rule.id());
    }
}

#[test]
fn rules_of_settings_are_written_as_they_were_read() {
    let off = LanguageChange { id: "none-pl".to_owned(), rule: None };
    let changes = vec![off, own("loud", Kind::Denial, "СТОП")];
    let language = Language::from(changes.clone());
    assert!(!language.is_shipped() && Language::default().is_shipped());
    assert_eq!(language, Language::from(changes.clone()));
    assert_ne!(language, Language::default());
    assert_eq!(Vec::from(language), changes);
}

#[test]
fn settings_can_name_each_rule_of_the_pack() {
    let ids: Vec<_> = Language::shipped_ids().collect();
    let written = LANGUAGE_PACK.lines().filter_map(|line| line.strip_prefix("id = "));
    assert!(written.eq(ids.iter().map(|id| format!("{id:?}"))));
}

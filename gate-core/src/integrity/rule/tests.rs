//! Every rule finds its samples and leaves the others.

use std::collections::BTreeSet;

use super::*;

const TEXT: &str = gate_patterns::INTEGRITY;

fn language(name: &str) -> Language {
    use Language::{C, CSharp, Go, Java, Js, Kotlin, Make, Php, Python, Ruby, Rust, Shell, Yaml};
    let languages = [C, CSharp, Go, Java, Js, Kotlin, Make, Php, Python, Ruby, Rust, Shell, Yaml];
    languages.into_iter().find(|language| language.name() == name).unwrap()
}

/// The languages in which a sample of a rule may be written.
fn languages(rule: &Rule) -> Vec<Language> {
    rule.languages.iter().map(|name| language(name)).collect()
}

fn hits(rule: &Rule, language: Language, sample: &str) -> bool {
    let view = SourceView::new(sample, Some(language));
    (0..view.line_count()).any(|line| rule.find(&view, line).is_some())
}

#[test]
fn every_rule_finds_its_samples_and_leaves_the_others() {
    let pack: toml::Table = TEXT.parse().unwrap();
    let mut wrong = Vec::new();
    for table in pack["rule"].as_array().unwrap() {
        let id = table["id"].as_str().unwrap();
        let rule = PACK.iter().find(|rule| rule.info.id == id).unwrap();
        let samples = |key: &str| {
            let list: Vec<_> =
                table[key].as_array().unwrap().iter().map(|item| item.as_str().unwrap()).collect();
            assert!(list.len() >= 2, "{id}: two or more {key}");
            list
        };
        let is_found =
            |sample: &str| languages(rule).iter().any(|language| hits(rule, *language, sample));
        for sample in samples("matches") {
            wrong.extend((!is_found(sample)).then(|| format!("{id} does not find {sample:?}")));
        }
        for sample in samples("rejects") {
            wrong.extend(is_found(sample).then(|| format!("{id} finds {sample:?}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_rule_has_a_name_of_its_own_and_says_what_to_do() {
    let mut ids = BTreeSet::new();
    for info in rules() {
        assert!(ids.insert(info.id), "{} is there twice", info.id);
        let texts = [info.message, info.hint, info.doc];
        assert!(texts.iter().all(|text| !text.trim().is_empty()), "{}", info.id);
    }
}

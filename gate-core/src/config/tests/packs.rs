//! Pattern packs, and patterns that replace theirs.

use super::resolved;
use crate::config::pack::patterns;
use crate::config::{BREAKER_PACKS, PACKS, Pack, Rule, breaker_rules};
use crate::decide::pattern::Matcher;

/// The error of a pack's text, as one line without the file's name.
fn check(text: &str, expected: &str) {
    let error = Pack::parse("own", "own.toml", text).expect_err(text);
    assert_eq!(error.to_string(), format!("own.toml:{expected}"), "{text}");
}

/// The seed's six patterns.
const SIX: [(&str, &str); 6] = [
    ("promise-complete", "<promise>COMPLETE</promise>"),
    ("all-tasks-completed", "all tasks.*completed"),
    ("implementation-finished", "implementation.*finished"),
    ("ready-for-review", "ready for review"),
    ("no-remaining-work", "no remaining work"),
    ("acceptance-criteria-met", "all acceptance criteria.*met"),
];

#[test]
fn embedded_packs_are_in_order() {
    for (name, text) in PACKS {
        let pack = Pack::parse(name, name, text).unwrap();
        assert_eq!(Pack::named(name).unwrap().as_ref(), Some(&pack));
        assert_eq!(pack.name, name);
        assert!(!pack.doc.is_empty() && !pack.patterns.is_empty());
        assert!(
            pack.patterns
                .iter()
                .all(|pattern| pattern.pattern.pack == name && !pattern.doc.is_empty())
        );
    }
    assert_eq!(Pack::named("nobody").unwrap(), None);
}

#[test]
fn what_is_embedded_of_the_breakers_packs_is_what_their_texts_say() {
    for (name, text) in BREAKER_PACKS {
        let pack = Pack::parse(name, name, text).unwrap();
        assert_eq!(Pack::breaker_pack(name).unwrap(), Some(pack), "{name}");
    }
    assert_eq!(Pack::breaker_pack("completion").unwrap(), None);
}

#[test]
fn shipped_packs_are_read_as_toml_reads_them() {
    for (name, text) in PACKS.into_iter().chain(BREAKER_PACKS) {
        let pack = Pack::parse(name, name, text).unwrap();
        let (patterns, rules) = match breaker_rules(name) {
            Some(both) => both,
            None => (patterns(name).unwrap(), Vec::new()),
        };
        let expected = pack.patterns.into_iter().map(|one| one.pattern);
        assert_eq!(patterns, expected.collect::<Vec<_>>(), "{name}");
        let plain = |rule| Rule { doc: String::new(), samples: Vec::new(), ..rule };
        assert_eq!(rules, pack.rules.into_iter().map(plain).collect::<Vec<_>>(), "{name}");
    }
    assert!(breaker_rules("completion").is_none() && patterns("errors").is_none());
}

#[test]
fn the_seed_pack_is_exactly_the_seeds_six() {
    let pack = Pack::named("seed").unwrap().unwrap();
    let found: Vec<_> = pack.patterns.into_iter().map(|pattern| pattern.pattern).collect();
    assert_eq!(found.len(), SIX.len());
    for (pattern, (id, regex)) in found.iter().zip(SIX) {
        assert_eq!(pattern.id, id);
        assert_eq!(pattern.matcher, Matcher::Regex(regex.to_owned()));
        assert_eq!(pattern.weight, 1);
    }
}

#[test]
fn the_completion_pack_contains_the_seeds() {
    let pack = Pack::named("completion").unwrap().unwrap();
    for (id, _) in SIX {
        assert!(pack.patterns.iter().any(|pattern| pattern.pattern.id == id), "{id}");
    }
}

#[test]
fn a_custom_pattern_replaces_a_packs_in_its_place() {
    let patterns = resolved(
        "[patterns]\npacks = [\"seed\"]\n[[patterns.custom]]\nid = \"ready-for-review\"\n\
         literal = \"please review\"\nweight = 2\n[[patterns.custom]]\nid = \"own\"\nregex = \"x\"\n",
    )
    .policy
    .patterns;
    assert_eq!(patterns.len(), 7);
    assert_eq!(
        (patterns[3].id.as_str(), patterns[3].pack.as_str()),
        ("ready-for-review", "custom")
    );
    assert_eq!(patterns[3].matcher, Matcher::Literal("please review".to_owned()));
    assert_eq!((patterns[3].weight, patterns[6].id.as_str()), (2, "own"));
}

#[test]
fn a_later_pack_replaces_an_earlier_ones_patterns() {
    let patterns = resolved("[patterns]\npacks = [\"completion\", \"seed\"]\n").policy.patterns;
    let seed = patterns.iter().filter(|pattern| pattern.pack == "seed").count();
    assert_eq!(seed, 6);
    let mut ids: Vec<_> = patterns.iter().map(|pattern| &pattern.id).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), patterns.len());
}

#[test]
fn errors_of_packs_have_places() {
    let head = "doc = \"d\"\n[[pattern]]\nid = \"a\"\nregex = \"b\"\ndoc = \"d\"\n";
    check("", "1:1: `doc` is missing, say what it means");
    check("doc = 1\n", "1:7: `doc`: expected a string, found integer `1`");
    check("doc = \"d\"\n[[patern]]\n", "2:3: unknown key `patern`, did you mean `pattern`?");
    check(head, "2:1: `pattern[0].matches`: at least two sample lines are needed");
    check(
        &format!("{head}matches = [\"b\", \"B\"]\nrejects = [\"c\"]\n"),
        "7:11: `pattern[0].rejects`: at least two sample lines are needed",
    );
    check(&head.replace("\"b\"", "\"(b\""), "4:9: `pattern[0].regex`: pattern `a`: unclosed group");
    check(
        &head.replace("doc = \"d\"\n[[", "doc = \"d\"\n[[pattern]]\nid = \"a\"\nregex = \"x\"\n[["),
        "5:1: `pattern[1]`: duplicate pattern id `a`",
    );
}

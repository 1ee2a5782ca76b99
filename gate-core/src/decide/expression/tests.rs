//! A prepared expression finds what a compiled one finds.

use std::collections::BTreeSet;

use super::*;

/// A small generator of pseudo-random numbers (xorshift).
struct Random(u64);

impl Random {
    fn of<'t>(&mut self, list: &[&'t str]) -> &'t str {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        list[usize::try_from(self.0 % list.len() as u64).expect("below the length")]
    }
}

/// What stands between words, and what no expression names.
const OTHER: [&str; 40] = [
    " ", " ", " ", " ", " ", ". ", ", ", ": ", "; ", "! ", "? ", "\n", "\t", "- ", "-", "_", "/",
    "(", ")", "[ ] ", "[x] ", "**", "`", "\"", "“", "”", "’", "'", "<", ">", "# ", "1", "20", "0",
    "é", "ſ", "K", "✅", "。", "还有",
];

/// The words of an expression, as far as they can be told from its text.
fn words(source: &str) -> Vec<&str> {
    let words = source.split(|c: char| !c.is_alphanumeric() && c != ' ');
    words.filter(|word| !word.is_empty()).collect()
}

fn author(key: u64, source: &str) -> Author {
    let of = |author: &Author| dialect::key(source, *author) == key;
    [Author::Gate, Author::Settings].into_iter().find(of).expect("one of the two wrote it")
}

#[test]
fn prepared_and_compiled_expressions_find_the_same() {
    let mut random = Random(42);
    for (key, source) in prepared::sources() {
        let author = author(key, source);
        let prepared = Prepared::of(source, key).expect("it is prepared");
        let regex = build(source, author, Regex::config()).expect("it can be compiled");
        let own = words(source);
        for round in 0..400 {
            let pick = |at: usize| {
                let list = if at.is_multiple_of(2) { &own[..] } else { &OTHER[..] };
                let part = random.of(list);
                if at % 7 == round % 7 { part.to_uppercase() } else { part.to_owned() }
            };
            let text: String = (0..2 + round % 14).map(pick).collect();
            assert_eq!(prepared.is_match(&text), regex.is_match(&text), "{source}: {text:?}");
            assert_eq!(in_steps(&prepared, &text), regex.is_match(&text), "{source}: {text:?}");
            if prepared.finds() {
                let found = Matches(Way::Prepared(&prepared, &text, 0)).collect::<Vec<_>>();
                let expected = regex.find_iter(&text).map(|one| one.range()).collect::<Vec<_>>();
                assert_eq!(found, expected, "{source}: {text:?}");
            }
        }
    }
}

/// Whether a match is found that is looked for from one place to the next.
fn in_steps(prepared: &Prepared, text: &str) -> bool {
    let mut from = 0;
    for last in (0..=text.len()).step_by(3) {
        if last < from {
            continue;
        }
        match prepared.none_before(text, from, last) {
            None => return true,
            Some(place) => {
                assert!(place > last, "{text:?}");
                from = place;
            }
        }
    }
    from <= text.len() && prepared.none_before(text, from, text.len()).is_none()
}

#[test]
fn what_gate_and_its_packs_look_for_is_prepared() {
    let sources: BTreeSet<_> = prepared::sources().into_iter().map(|(_, text)| text).collect();
    let packs = crate::config::PACKS.map(|(name, _)| crate::config::Pack::named(name));
    let packs = packs.map(|pack| pack.expect("it is right").expect("it is there"));
    for pattern in packs.iter().flat_map(|pack| &pack.patterns) {
        let source = source(&pattern.pattern.matcher);
        assert!(sources.contains(source.as_str()), "{source}");
        let expression = Expression::of(&pattern.pattern.matcher);
        assert_eq!(expression.required(), Ok(literal::required(&source).expect("it is right")));
    }
    assert!(sources.len() > 70, "gate's own expressions are missing: {}", sources.len());
}

#[test]
fn what_is_not_prepared_is_compiled() {
    let expression = Expression::of(&Matcher::Regex(r"\bquux+\b".to_owned()));
    assert!(expression.prepared().is_none());
    assert_eq!(expression.find_iter("quux QUUXX").collect::<Vec<_>>(), [0..4, 5..10]);
    assert!(!Expression::of(&Matcher::Regex("(".to_owned())).is_match("("));
}

#[test]
fn long_texts_and_many_are_searched_all_the_same() {
    let text = format!("{}not yet", "word ".repeat(LONG / 5));
    let expression = Expression::to_find(r"\bnot\b");
    assert_eq!(expression.find(&text), Some(text.len() - 7..text.len() - 4));
    assert_eq!(expression.find("not"), Some(0..3));
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

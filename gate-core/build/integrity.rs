//! The rules of the pack `integrity` as a Rust static: nothing of them is read
//! when gate runs. Samples and what explains a rule to people who write rules
//! stay in the pack.

use toml::{Table, Value};

use crate::embedded::{Pack, text};
use crate::expressions::{Asked, Found};

/// The expressions of the rules.
pub(crate) fn expressions(pack: &Pack) -> Vec<Found> {
    let found = pack.list("rule").flat_map(|rule| {
        let regex = text(rule, "regex").map(|it| Found::of_gate(cased(it), asked(rule)));
        let unless = text(rule, "unless").map(|it| Found::of_gate(cased(it), Asked::Whether));
        regex.into_iter().chain(unless)
    });
    found.collect()
}

/// The static.
pub(crate) fn rules(pack: &Pack) -> String {
    let rules: Vec<_> = pack.list("rule").map(rule).collect();
    format!("static PACK: [Rule; {}] = [\n{}];\n", rules.len(), rules.concat())
}

fn rule(rule: &Table) -> String {
    let id = text(rule, "id").expect("a rule has an id");
    let known = ["id", "languages", "where", "part", "severity", "about", "lines", "unless"];
    let known = [&known[..], &["back", "regex", "message", "hint", "doc", "matches", "rejects"]];
    let unknown = rule.keys().find(|key| !known.concat().contains(&key.as_str()));
    assert_eq!(unknown, None, "rule {id}");
    let languages = rule.get("languages").and_then(Value::as_array).into_iter().flatten();
    let languages: Vec<_> = languages.map(|it| it.as_str().expect("it is a text")).collect();
    let one = |key: &str| text(rule, key).unwrap_or_else(|| panic!("rule {id}: {key} is missing"));
    let number = |key: &str| rule.get(key).and_then(Value::as_integer);
    let unless = text(rule, "unless")
        .map_or("None".to_owned(), |it| format!("Some(Expression::to_match({:?}))", cased(it)));
    format!(
        "    Rule {{ about: About {{ id: {id:?}, severity: Severity::{}, message: {:?}, hint: {:?}, \
         doc: {:?} }}, languages: &{languages:?}, place: Place::{}, part: Part::{}, of_test: {}, \
         lines: {}, unless: {unless}, back: {}, expression: Expression::to_find({:?}) }},\n",
        variant(one("severity")),
        one("message"),
        one("hint"),
        one("doc"),
        variant(one("where")),
        variant(one("part")),
        text(rule, "about") == Some("test"),
        number("lines").unwrap_or(1),
        number("back").unwrap_or(0),
        cased(one("regex")),
    )
}

/// A name as Rust writes a variant.
fn variant(name: &str) -> String {
    let (first, rest) = name.split_at(1);
    first.to_uppercase() + rest
}

/// Where it is asked where it matches: only over several lines.
fn asked(rule: &Table) -> Asked {
    if rule.contains_key("lines") { Asked::Where } else { Asked::Whether }
}

/// The rules tell upper from lower case, gate's other expressions do not.
fn cased(source: &str) -> String {
    format!("(?-i:{source})")
}

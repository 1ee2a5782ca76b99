//! What makes two errors the same: the rules of the pack `errors`.

use std::sync::LazyLock;

use super::pack;
use crate::decide::expression::Expression;
use crate::text::clean;

static RULES: LazyLock<Vec<Compiled>> = LazyLock::new(|| {
    let rules = pack::ERRORS.rules.iter();
    let compiled = rules.map(|rule| Compiled {
        finds: Expression::of_gate(rule.regex.clone()),
        with: rule.with.as_deref(),
    });
    compiled.collect()
});

struct Compiled {
    finds: Expression,
    with: Option<&'static str>,
}

/// The line without what says nothing about which error it is: paths but for
/// their last part, times, addresses, hashes, numbers.
///
/// What the rules find is taken from the left, each piece by the first rule
/// that finds it, so that no rule sees what another one has written.
pub fn normalise(line: &str) -> String {
    let line = clean(line);
    let mut normal = String::with_capacity(line.len());
    let mut at = 0;
    while let Some((start, end, rule)) = next(&line, at) {
        normal.push_str(&line[at..start]);
        normal.push_str(rule.with.unwrap_or(&line[start..end]));
        at = end;
    }
    normal.push_str(&line[at..]);
    normal.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The next piece that a rule finds, and the first rule that does.
fn next(line: &str, at: usize) -> Option<(usize, usize, &'static Compiled)> {
    let found = RULES.iter().filter_map(|rule| {
        let found = rule.finds.find_from(line, at)?;
        (!found.is_empty()).then_some((found.start, found.end, rule))
    });
    found.min_by_key(|(start, ..)| *start)
}

//! Normalises errors so that two occurrences of one error are equal: the rules of the
//! pack `errors`.

use std::ops::Range;

use super::pack::{self, rules};
use crate::text::clean;

/// The line without what does not identify the error: paths but for their last part, times,
/// addresses, hashes, numbers.
///
/// What the rules find is taken from the left, each piece by the first rule
/// that finds it, so that no rule sees what another one has written.
pub fn normalise(line: &str) -> String {
    let line = clean(line);
    let mut rules: Vec<_> = rules().iter().map(|rule| Search::new(rule, &line)).collect();
    let mut normal = String::with_capacity(line.len());
    let mut at = 0;
    while let Some((found, with)) = next(&mut rules, &line, at) {
        normal.push_str(&line[at..found.start]);
        normal.push_str(with.unwrap_or(&line[found.clone()]));
        at = found.end;
    }
    normal.push_str(&line[at..]);
    normal.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The next piece that a rule finds, and what the first rule that does writes
/// in its place.
fn next(
    rules: &mut [Search],
    line: &str,
    at: usize,
) -> Option<(Range<usize>, Option<&'static str>)> {
    let found = rules
        .iter_mut()
        .filter_map(|search| Some((search.find(line, at)?, search.rule.with.as_deref())));
    found.filter(|(found, _)| !found.is_empty()).min_by_key(|(found, _)| found.start)
}

/// A rule on its way through a line.
struct Search {
    rule: &'static pack::Rule,
    /// Its last match: as long as that lies ahead, it comes next.
    found: Option<Range<usize>>,
}

impl Search {
    fn new(rule: &'static pack::Rule, line: &str) -> Self {
        Self { rule, found: rule.expression.find(line) }
    }

    fn find(&mut self, line: &str, at: usize) -> Option<Range<usize>> {
        if self.found.as_ref().is_some_and(|found| found.start < at) {
            self.found = self.rule.expression.find_from(line, at);
        }
        self.found.clone()
    }
}

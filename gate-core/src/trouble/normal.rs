//! Normalises errors so that two occurrences of one error are equal: the rules of the
//! pack `errors`.

use std::ops::Range;

use super::pack::{self, rules};
use crate::text::clean;

/// The line without details that do not identify the error: paths but for their last part,
/// times, addresses, hashes, numbers.
///
/// Matches are replaced from the left, each by the first rule that has it, so that no rule sees
/// the replacement of another one.
pub fn normalise(line: &str) -> String {
    let line = clean(line);
    let mut searches: Vec<_> = rules().iter().map(|rule| Search::new(rule, &line)).collect();
    let mut normal = String::with_capacity(line.len());
    let mut start = 0;
    while let Some(Match { range, replacement }) = next_match(&mut searches, &line, start) {
        normal.push_str(&line[start..range.start]);
        normal.push_str(replacement.unwrap_or(&line[range.clone()]));
        start = range.end;
    }
    normal.push_str(&line[start..]);
    normal.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A match of a rule.
struct Match {
    range: Range<usize>,
    /// The rule's replacement; without one the match stays.
    replacement: Option<&'static str>,
}

/// The next match of any rule: of several at one place that of the first rule.
fn next_match(searches: &mut [Search], line: &str, start: usize) -> Option<Match> {
    let matches = searches.iter_mut().filter_map(|search| {
        let range = search.next_range(line, start)?;
        Some(Match { range, replacement: search.rule.replacement.as_deref() })
    });
    matches.filter(|next| !next.range.is_empty()).min_by_key(|next| next.range.start)
}

/// A rule on its way through a line.
struct Search {
    rule: &'static pack::Rule,
    /// Its last match: as long as that lies ahead, it comes next.
    last_match: Option<Range<usize>>,
}

impl Search {
    fn new(rule: &'static pack::Rule, line: &str) -> Self {
        Self { rule, last_match: rule.expression.find(line) }
    }

    fn next_range(&mut self, line: &str, start: usize) -> Option<Range<usize>> {
        if self.last_match.as_ref().is_some_and(|range| range.start < start) {
            self.last_match = self.rule.expression.find_from(line, start);
        }
        self.last_match.clone()
    }
}

//! Completion indicators: hits of patterns in what the agent wrote.
//!
//! All patterns are searched in one pass, however many there are: it looks for
//! the texts that their matches must hold, and only on a line that holds one
//! is a pattern tried by itself, with its guards.

mod prefilter;
mod search;

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::expression::Expression;
use super::literal::{Group, Needle};
use super::pattern::{Pattern, Scope};
use super::sentence::Phrase;
use crate::read::{Boundary, Event, Role, Text};
use search::Search;

/// How many lines with a hit are kept of each pattern, of which one counts:
/// the first ones may be the signal itself.
const KEPT: usize = 4;

/// The most groups of texts that are looked for on behalf of one pattern.
const GROUPS: usize = 8;

/// From how many bytes on the faster search is worth its preparation.
const LONG_INPUT_BYTES: usize = 1 << 20;

/// How much of a line is held against a hit, in bytes, on either side, and how
/// many hits of one pattern are tried in a line.
const AROUND: usize = 2_000;
const TRIES: usize = 100;

/// The longest excerpt of a hit, in characters.
const EXCERPT: usize = 120;

/// Patterns, ready to be searched for. A copy shares them.
#[derive(Clone, Debug)]
pub struct PatternSet(Arc<Prepared>);

#[derive(Debug)]
struct Prepared {
    patterns: Vec<Compiled>,
    search: Search,
    /// Faster and slower to prepare: made when a long input is there.
    long_search: OnceLock<Search>,
    /// Patterns without texts to be found by: they are tried on every line.
    everywhere: Vec<usize>,
}

impl Prepared {
    /// The search for an input of which this many bytes were searched.
    fn search(&self, bytes: usize) -> &Search {
        if bytes < LONG_INPUT_BYTES {
            return &self.search;
        }
        self.long_search
            .get_or_init(|| Search::at_length(self.patterns.iter().map(Compiled::rarest)))
    }
}

#[derive(Debug)]
struct Compiled {
    pattern: Pattern,
    /// Compiled, where it has to be, when a line first holds one of its texts.
    expression: Expression,
    /// The texts that its matches must hold, one of each group.
    groups: Vec<Group>,
}

/// A pattern that cannot be compiled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("pattern `{id}`: {message}")]
pub struct PatternError {
    /// The pattern's name.
    pub id: String,
    /// What is wrong with its expression.
    pub message: String,
}

/// Where a pattern was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Hit {
    /// The pattern's id.
    pub pattern: String,
    /// Its pack, or `custom`.
    pub pack: String,
    /// What it counts; 0 if another hit counts for the same words.
    pub weight: u32,
    /// Line of the input, from 1.
    pub line: u64,
    /// Column in characters, from 1, within the agent's line.
    pub column: u32,
    /// The text around it, at most 120 characters.
    pub excerpt: String,
    /// The pattern whose hit counts for the same words instead of this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_words_as: Option<String>,
    /// The text that the pattern matched.
    #[serde(skip)]
    pub matched: String,
}

impl PatternSet {
    /// Prepares the patterns.
    ///
    /// # Errors
    ///
    /// The first pattern whose expression is wrong, by its id.
    pub fn new(patterns: &[Pattern]) -> Result<Self, PatternError> {
        let patterns = patterns.iter().map(Compiled::new).collect::<Result<Vec<_>, _>>()?;
        let search = Search::briefly(patterns.iter().map(Compiled::rarest));
        let all = patterns.iter().enumerate();
        let everywhere = all.filter(|(_, one)| one.groups.is_empty()).map(|(index, _)| index);
        let everywhere = everywhere.collect();
        Ok(Self(Arc::new(Prepared { patterns, search, long_search: OnceLock::new(), everywhere })))
    }
}

impl Compiled {
    fn new(pattern: &Pattern) -> Result<Self, PatternError> {
        let expression = Expression::from(&pattern.matcher);
        let mut groups = expression
            .required()
            .map_err(|message| PatternError { id: pattern.id.clone(), message })?
            .to_vec();
        groups.truncate(GROUPS);
        Ok(Self { pattern: pattern.clone(), expression, groups })
    }

    /// The texts that it is found by.
    fn rarest(&self) -> &[Needle] {
        self.groups.first().map_or(&[], Vec::as_slice)
    }

    /// Whether a line in which one of the rarest texts stands holds the others.
    fn may_match(&self, line: &[u8]) -> bool {
        let mut others = self.groups.iter().skip(1);
        others.all(|group| group.iter().any(|text| search::stands_in(line, text.as_bytes())))
    }

    /// The first hit in the line that no guard takes away.
    fn find(&self, line: &str) -> Option<(usize, usize)> {
        let hits = self.expression.find_iter(line).map(|found| (found.start, found.end));
        hits.take(TRIES).find(|&(start, end)| {
            let from = line.floor_char_boundary(start.saturating_sub(AROUND));
            let window = &line[from..line.ceil_char_boundary(end.saturating_add(AROUND))];
            let phrase = Phrase::new(window, start - from, end - from);
            !self.pattern.unless.iter().any(|&guard| phrase.is(guard, self.expression.source()))
        })
    }

    fn hit(&self, line: &str, number: u64, (start, end): (usize, usize)) -> Hit {
        Hit {
            pattern: self.pattern.id.clone(),
            pack: self.pattern.pack.clone(),
            weight: self.pattern.weight,
            line: number,
            column: u32::try_from(line[..start].chars().count() + 1).unwrap_or(u32::MAX),
            excerpt: excerpt(line, start),
            same_words_as: None,
            matched: line[start..end].to_owned(),
        }
    }
}

/// Up to [`EXCERPT`] characters of the line, with the byte at `at` in it,
/// beginning with a whole word.
pub(crate) fn excerpt(line: &str, at: usize) -> String {
    let before = line[..at].chars().rev().take(EXCERPT / 3).map(char::len_utf8).sum::<usize>();
    let from = at - before;
    let word = line[from..at].find(' ').filter(|_| from > 0).map_or(from, |space| from + space);
    line[word..].trim().chars().filter(|c| !c.is_control()).take(EXCERPT).collect()
}

/// A hit with the exact words that it covers.
#[derive(Clone, Debug)]
struct Found {
    hit: Hit,
    /// Which of the texts that were searched holds them.
    text: u64,
    /// The bytes of that text.
    words: Range<usize>,
}

impl Found {
    fn overlaps(&self, other: &Self) -> bool {
        self.text == other.text
            && self.words.start < other.words.end
            && other.words.start < self.words.end
    }
}

/// Counts the hits of a pattern set over the events of a reader.
#[derive(Debug)]
pub struct Counter<'p> {
    set: &'p Arc<Prepared>,
    hits: Vec<Vec<Found>>,
    /// How many texts were searched, and how many bytes they have.
    texts: u64,
    searched: usize,
}

impl<'p> Counter<'p> {
    /// Counts nothing yet.
    pub fn new(set: &'p PatternSet) -> Self {
        let hits = vec![Vec::new(); set.0.patterns.len()];
        Self { set: &set.0, hits, texts: 0, searched: 0 }
    }

    /// Takes one event.
    pub fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Boundary(Boundary::Notification, _) => {}
            Event::Boundary(..) => self.forget_turn(),
            Event::Text(text) => self.text(text),
            Event::Fact(_) | Event::Problem(_) | Event::Tail => {}
        }
    }

    /// Whether a pattern looks for what others than the agent write.
    pub(crate) fn reads_all_roles(&self) -> bool {
        self.set.patterns.iter().any(|one| one.pattern.scope == Scope::Any)
    }

    /// The first hit of each pattern that counts, in the order of the patterns.
    /// Of hits of the pack `completion` that overlap, one keeps its weight.
    pub fn finish(self, counts: impl Fn(&Hit) -> bool) -> Vec<Hit> {
        let first = |hits: Vec<Found>| hits.into_iter().find(|found| counts(&found.hit));
        count_words_once(self.hits.into_iter().filter_map(first).collect())
    }

    /// Forgets all hits.
    pub(crate) fn forget(&mut self) {
        self.hits.iter_mut().for_each(Vec::clear);
    }

    fn forget_turn(&mut self) {
        for (hit, one) in self.hits.iter_mut().zip(&self.set.patterns) {
            if one.pattern.scope == Scope::Final {
                hit.clear();
            }
        }
    }

    fn text(&mut self, text: &Text<'_>) {
        if !self.is_open(text.role) {
            return;
        }
        self.texts += 1;
        self.everywhere(text);
        let set = self.set;
        let mut lines = Lines { text, counted: 0, line: text.line };
        self.searched = self.searched.saturating_add(text.text.len());
        set.search(self.searched).visit(text.text.as_bytes(), |index, range| {
            let (at, line) = (range.start, &text.text[range]);
            if !self.looks(index, text.role) || !set.patterns[index].may_match(line.as_bytes()) {
                return false;
            }
            self.try_on(index, line, at, lines.number(at));
            !self.is_open(text.role)
        });
    }

    /// Tries the patterns that no text tells on every line.
    fn everywhere(&mut self, text: &Text<'_>) {
        let set = self.set;
        if !set.everywhere.iter().any(|index| self.looks(*index, text.role)) {
            return;
        }
        let mut at = 0;
        for (number, line) in (text.line..).zip(text.text.split('\n')) {
            for &index in &set.everywhere {
                if self.looks(index, text.role) {
                    let number = if text.multiline { number } else { text.line };
                    self.try_on(index, line, at, number);
                }
            }
            at += line.len() + 1;
        }
    }

    /// Whether a pattern still looks for hits in such a text.
    fn looks(&self, index: usize, role: Role) -> bool {
        self.hits[index].len() < KEPT && self.set.patterns[index].pattern.scope.covers(role)
    }

    /// Whether any does.
    fn is_open(&self, role: Role) -> bool {
        (0..self.hits.len()).any(|index| self.looks(index, role))
    }

    /// Tries a pattern on a line, which begins at byte `at` of its text.
    fn try_on(&mut self, index: usize, line: &str, at: usize, number: u64) {
        let one = &self.set.patterns[index];
        let found = one.find(line).map(|(start, end)| Found {
            hit: one.hit(line, number, (start, end)),
            text: self.texts,
            words: at + start..at + end,
        });
        self.hits[index].extend(found);
    }
}

/// The packs whose patterns word one claim in many ways. In the second, each pattern
/// counts by itself, as its document says; a hit of the first beside it does not.
const COMPLETION: &str = "completion";
const SEED: &str = "seed";

/// Takes the weight from each hit of the pack `completion` whose words another hit
/// counts for already. Of several the heaviest counts, then the one that ends first:
/// a pattern that spans a whole line does not swallow the claims within that line.
fn count_words_once(found: Vec<Found>) -> Vec<Hit> {
    let of = |pack: &str| (0..found.len()).filter(|index| found[*index].hit.pack == pack).collect();
    let (mut counting, mut open): (Vec<usize>, Vec<usize>) = (of(SEED), of(COMPLETION));
    open.sort_by_key(|index| (Reverse(found[*index].hit.weight), found[*index].words.end));
    let mut repeated = Vec::new();
    for index in open {
        match counting.iter().find(|other| found[**other].overlaps(&found[index])) {
            Some(other) => repeated.push((index, found[*other].hit.pattern.clone())),
            None => counting.push(index),
        }
    }
    let mut hits: Vec<_> = found.into_iter().map(|found| found.hit).collect();
    for (index, pattern) in repeated {
        hits[index].weight = 0;
        hits[index].same_words_as = Some(pattern);
    }
    hits
}

/// Counts the lines of a text, from one place to the next.
struct Lines<'t> {
    text: &'t Text<'t>,
    counted: usize,
    line: u64,
}

impl Lines<'_> {
    /// The input's number of the line that begins at a byte.
    fn number(&mut self, begin: usize) -> u64 {
        if self.text.multiline {
            let between = &self.text.text.as_bytes()[self.counted..begin];
            self.line += memchr::memchr_iter(b'\n', between).count() as u64;
            self.counted = begin;
        }
        self.line
    }
}

impl Scope {
    fn covers(self, role: Role) -> bool {
        match self {
            Self::Final | Self::Assistant => role == Role::Assistant,
            Self::Any => true,
        }
    }
}

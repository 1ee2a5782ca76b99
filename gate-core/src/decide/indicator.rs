//! Completion indicators: hits of patterns in the agent's texts.
//!
//! A pattern is tried on a line that holds the literals that its matches need. One
//! search for the literals of all patterns finds these lines.

mod search;

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::expression::Expression;
use super::language::Language;
use super::pattern::{Matcher, Pattern, Scope};
use super::policy::Policy;
use super::sentence::Phrase;
use gate_transcript::{Boundary, Event, Role, Text};
use search::Search;

/// The most hits that are kept of each pattern, of which one counts: the first ones may
/// be the signal itself.
const MAX_KEPT_HITS: usize = 4;

/// The most of a line that guards look at on either side of a hit, in bytes.
const GUARD_CONTEXT_BYTES: usize = 2_000;

/// The most hits of one pattern that are tried in a line.
const MAX_TRIED_HITS: usize = 100;

/// The longest excerpt of a hit, in characters.
const MAX_EXCERPT_CHARS: usize = 120;

/// Patterns, ready to be searched for. A copy shares them.
#[derive(Clone, Debug)]
pub struct PatternSet(Arc<Prepared>);

#[derive(Debug)]
struct Prepared {
    language: Language,
    patterns: Vec<Compiled>,
    /// Finds the patterns whose matches need a literal.
    search: Search,
    /// Indices of the others, which are tried on every line.
    without_literal: Vec<usize>,
}

#[derive(Debug)]
struct Compiled {
    pattern: Pattern,
    expression: Expression,
    /// A match stands in one sentence: a long line need not be searched whole.
    is_sentence_bound: bool,
}

/// A pattern that cannot be compiled.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("pattern `{id}`: {message}")]
pub struct PatternError {
    /// The pattern's name.
    pub id: String,
    /// The problem with its expression.
    pub message: String,
}

/// A hit of a pattern.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Hit {
    /// The pattern's id.
    pub pattern: String,
    /// Its pack, or `custom`.
    pub pack: String,
    /// Its weight; 0 if another hit counts for the same words.
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
    /// Prepares the patterns, with guards of the shipped rules of language.
    ///
    /// # Errors
    ///
    /// The first pattern whose expression is wrong, by its id.
    pub fn new(patterns: &[Pattern]) -> Result<Self, PatternError> {
        Self::guarded(patterns, &Language::default())
    }

    /// The patterns of a policy, with guards of its rules of language.
    ///
    /// # Errors
    ///
    /// The first pattern whose expression is wrong, by its id.
    pub fn from_policy(policy: &Policy) -> Result<Self, PatternError> {
        Self::guarded(&policy.patterns, &policy.signal.language)
    }

    fn guarded(patterns: &[Pattern], language: &Language) -> Result<Self, PatternError> {
        let language = language.clone();
        let patterns = patterns.iter().map(Compiled::new).collect::<Result<Vec<_>, _>>()?;
        let (mut literals, mut without_literal) = (Vec::new(), Vec::new());
        for (index, compiled) in patterns.iter().enumerate() {
            match compiled.expression.required().unwrap_or_default().first() {
                Some(rarest) => {
                    literals.extend(rarest.iter().map(|literal| (literal.clone(), index)));
                }
                None => without_literal.push(index),
            }
        }
        let search = Search::new(literals);
        Ok(Self(Arc::new(Prepared { language, patterns, search, without_literal })))
    }
}

impl Compiled {
    fn new(pattern: &Pattern) -> Result<Self, PatternError> {
        let expression = match &pattern.matcher {
            Matcher::Regex(source) if is_shipped(&pattern.pack) => {
                Expression::from_pack(source.clone(), pattern.keywords.clone())
            }
            matcher => Expression::from_settings(matcher),
        };
        match expression.required() {
            Ok(_) => Ok(Self {
                is_sentence_bound: expression.is_sentence_bound(),
                pattern: pattern.clone(),
                expression,
            }),
            Err(message) => Err(PatternError { id: pattern.id.clone(), message }),
        }
    }

    /// The first hit in the line that no guard takes away.
    fn find(&self, line: &str, language: &Language) -> Option<(usize, usize)> {
        let hits = self.parts(line).flat_map(|(at, part)| {
            self.expression.find_iter(part).map(move |hit| (at + hit.start, at + hit.end))
        });
        hits.take(MAX_TRIED_HITS).find(|&(start, end)| {
            let from = line.floor_char_boundary(start.saturating_sub(GUARD_CONTEXT_BYTES));
            let window =
                &line[from..line.ceil_char_boundary(end.saturating_add(GUARD_CONTEXT_BYTES))];
            let phrase = Phrase::new(window, start - from, end - from);
            let own = self.expression.source();
            !self.pattern.unless.iter().any(|&guard| phrase.is(guard, own, language))
        })
    }

    /// The parts of a line that are searched one by one, each with its first byte in the line.
    fn parts<'l>(&self, line: &'l str) -> impl Iterator<Item = (usize, &'l str)> + use<'l> {
        let is_sentence_bound = self.is_sentence_bound;
        let is_end = move |c| is_sentence_bound && matches!(c, '.' | '!' | '?');
        line.split_inclusive(is_end).scan(0, |end, part| {
            let begin = *end;
            *end += part.len();
            Some((begin, part))
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

/// Up to 120 characters of the line, with the byte at `at` in it,
/// beginning with a whole word.
pub fn excerpt(line: &str, at: usize) -> String {
    let before =
        line[..at].chars().rev().take(MAX_EXCERPT_CHARS / 3).map(char::len_utf8).sum::<usize>();
    let from = at - before;
    let space = if from > 0 { line[from..at].find(' ') } else { None };
    let word = from + space.unwrap_or(0);
    line[word..].trim().chars().filter(|c| !c.is_control()).take(MAX_EXCERPT_CHARS).collect()
}

/// A hit with the exact words that it covers.
#[derive(Clone, Debug)]
struct Found {
    hit: Hit,
    /// The number of the text that holds them.
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
    set: &'p Prepared,
    hits: Vec<Vec<Found>>,
    /// The number of texts that were searched, and their bytes.
    texts: u64,
    searched: usize,
    /// The last text in lower case: memory that is used again.
    lower: Vec<u8>,
}

impl<'p> Counter<'p> {
    /// Counts nothing yet.
    pub fn new(set: &'p PatternSet) -> Self {
        let hits = vec![Vec::new(); set.0.patterns.len()];
        Self { set: &set.0, hits, texts: 0, searched: 0, lower: Vec::new() }
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

    /// A pattern looks for what others than the agent write.
    pub(crate) fn reads_all_roles(&self) -> bool {
        self.set.patterns.iter().any(|one| one.pattern.scope == Scope::Any)
    }

    /// The first hit of each pattern that counts, in the order of the patterns.
    /// Of hits of the pack `completion` that overlap, one keeps its weight.
    pub fn finish(self, counts: impl Fn(&Hit) -> bool) -> Vec<Hit> {
        let hits = self.hits.into_iter();
        let first = hits.filter_map(|hits| hits.into_iter().find(|found| counts(&found.hit)));
        count_words_once(first.collect())
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
        self.try_without_literal(text);
        let set = self.set;
        let mut lines = Lines { text, counted: 0, line: text.line };
        self.searched = self.searched.saturating_add(text.text.len());
        let mut lower = std::mem::take(&mut self.lower);
        for (range, index) in set.search.candidates(text.text, &mut lower, self.searched) {
            if self.looks(index, text.role) {
                let at = range.start;
                self.try_on(index, &text.text[range], at, || lines.number(at));
            } else if !self.is_open(text.role) {
                break;
            }
        }
        self.lower = lower;
    }

    fn try_without_literal(&mut self, text: &Text<'_>) {
        let set = self.set;
        if !set.without_literal.iter().any(|index| self.looks(*index, text.role)) {
            return;
        }
        let mut at = 0;
        for (number, line) in (text.line..).zip(text.text.split('\n')) {
            for &index in &set.without_literal {
                if self.looks(index, text.role) {
                    let number = if text.multiline { number } else { text.line };
                    self.try_on(index, line, at, || number);
                }
            }
            at += line.len() + 1;
        }
    }

    /// A pattern still looks for hits in texts of this role.
    fn looks(&self, index: usize, role: Role) -> bool {
        self.hits[index].len() < MAX_KEPT_HITS
            && self.set.patterns[index].pattern.scope.covers(role)
    }

    fn is_open(&self, role: Role) -> bool {
        (0..self.hits.len()).any(|index| self.looks(index, role))
    }

    /// Tries a pattern on a line, which begins at byte `at` of its text.
    fn try_on(&mut self, index: usize, line: &str, at: usize, number: impl FnOnce() -> u64) {
        let compiled = &self.set.patterns[index];
        if let Some((start, end)) = compiled.find(line, &self.set.language) {
            self.hits[index].push(Found {
                hit: compiled.hit(line, number(), (start, end)),
                text: self.texts,
                words: at + start..at + end,
            });
        }
    }
}

/// The packs whose patterns word one claim in many ways. In the second, each pattern
/// counts by itself, as its document says; a hit of the first beside it does not.
const COMPLETION: &str = "completion";
const SEED: &str = "seed";

/// The pack of an audit.
const REPORTS: &str = "reports";

/// True for a pack that is part of gate.
fn is_shipped(pack: &str) -> bool {
    matches!(pack, COMPLETION | SEED | REPORTS)
}

/// Takes the weight from each hit of the pack `completion` whose words another hit
/// counts for already. Of several the heaviest counts, then the one that ends first:
/// a pattern that spans a whole line does not swallow the claims within that line.
fn count_words_once(found: Vec<Found>) -> Vec<Hit> {
    let [mut counting, mut open] = [SEED, COMPLETION].map(|pack| {
        (0..found.len()).filter(|index| found[*index].hit.pack == pack).collect::<Vec<_>>()
    });
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

#[cfg(test)]
mod tests;

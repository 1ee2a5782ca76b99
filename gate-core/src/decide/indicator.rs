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
use search::{LineCandidate, LiteralSearch};

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
    patterns: Vec<CompiledPattern>,
    /// Finds the patterns whose matches need a literal.
    search: LiteralSearch,
    /// Indices of the others, which are tried on every line.
    without_literal: Vec<usize>,
}

#[derive(Debug)]
struct CompiledPattern {
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
        let patterns = patterns.iter().map(CompiledPattern::new).collect::<Result<Vec<_>, _>>()?;
        let (mut literals, mut without_literal) = (Vec::new(), Vec::new());
        for (index, compiled) in patterns.iter().enumerate() {
            match compiled.expression.required().unwrap_or_default().first() {
                Some(rarest) => {
                    literals.extend(rarest.iter().map(|literal| (literal.clone(), index)));
                }
                None => without_literal.push(index),
            }
        }
        let search = LiteralSearch::new(literals);
        Ok(Self(Arc::new(Prepared { language, patterns, search, without_literal })))
    }
}

impl CompiledPattern {
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

    /// The bytes of the first hit in the line that no guard takes away.
    fn find(&self, line: &str, language: &Language) -> Option<Range<usize>> {
        let hits = self.parts(line).flat_map(|(start, part)| {
            self.expression.find_iter(part).map(move |hit| start + hit.start..start + hit.end)
        });
        hits.take(MAX_TRIED_HITS).find(|hit| {
            // A line may be as long as a file. What is far away is no guard.
            let start = line.floor_char_boundary(hit.start.saturating_sub(GUARD_CONTEXT_BYTES));
            let end = line.ceil_char_boundary(hit.end.saturating_add(GUARD_CONTEXT_BYTES));
            let phrase = Phrase::new(&line[start..end], hit.start - start, hit.end - start);
            let source = self.expression.source();
            let mut guards = self.pattern.unless.iter();
            !guards.any(|guard| phrase.is_cancelled(*guard, source, language))
        })
    }

    /// The parts of a line that are searched one by one, each with its first byte in the line.
    fn parts<'l>(&self, line: &'l str) -> impl Iterator<Item = (usize, &'l str)> + use<'l> {
        let is_sentence_bound = self.is_sentence_bound;
        let is_end = move |c| is_sentence_bound && matches!(c, '.' | '!' | '?');
        line.split_inclusive(is_end).scan(0, |end, part| {
            let start = *end;
            *end += part.len();
            Some((start, part))
        })
    }

    fn hit(&self, line: &str, number: u64, span: Range<usize>) -> Hit {
        Hit {
            pattern: self.pattern.id.clone(),
            pack: self.pattern.pack.clone(),
            weight: self.pattern.weight,
            line: number,
            column: u32::try_from(line[..span.start].chars().count() + 1).unwrap_or(u32::MAX),
            excerpt: excerpt(line, span.start),
            same_words_as: None,
            matched: line[span].to_owned(),
        }
    }
}

/// Up to 120 characters of the line around the byte at `offset`, beginning with a whole word.
pub fn excerpt(line: &str, offset: usize) -> String {
    let preceding = line[..offset].chars().rev().take(MAX_EXCERPT_CHARS / 3);
    let start = offset - preceding.map(char::len_utf8).sum::<usize>();
    let space = if start > 0 { line[start..offset].find(' ') } else { None };
    let word_start = start + space.unwrap_or(0);
    let text = line[word_start..].trim().chars().filter(|c| !c.is_control());
    text.take(MAX_EXCERPT_CHARS).collect()
}

/// A hit with the exact words that it covers.
#[derive(Clone, Debug)]
struct PlacedHit {
    hit: Hit,
    /// The number of the text that holds the words.
    text: u64,
    /// The bytes of that text.
    words: Range<usize>,
}

impl PlacedHit {
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
    /// The hits of each pattern.
    hits: Vec<Vec<PlacedHit>>,
    /// The number of texts that were searched.
    texts: u64,
    /// The bytes of those texts.
    searched_bytes: usize,
    /// The last text in lower case: memory that is used again.
    lower: Vec<u8>,
}

impl<'p> Counter<'p> {
    /// Counts nothing yet.
    pub fn new(set: &'p PatternSet) -> Self {
        let hits = vec![Vec::new(); set.0.patterns.len()];
        Self { set: &set.0, hits, texts: 0, searched_bytes: 0, lower: Vec::new() }
    }

    /// Takes one event.
    pub fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Boundary(Boundary::Notification, _) => {}
            Event::Boundary(..) => self.forget_turn(),
            Event::Text(text) => self.search(text),
            Event::Fact(_) | Event::Problem(_) | Event::Tail => {}
        }
    }

    /// A pattern looks for what others than the agent write.
    pub(crate) fn reads_all_roles(&self) -> bool {
        self.set.patterns.iter().any(|compiled| compiled.pattern.scope == Scope::Any)
    }

    /// The first hit of each pattern that counts, in the order of the patterns.
    /// Of hits of the pack `completion` that overlap, one keeps its weight.
    pub fn finish(self, counts: impl Fn(&Hit) -> bool) -> Vec<Hit> {
        let hits = self.hits.into_iter();
        let first_hits = hits.filter_map(|hits| hits.into_iter().find(|hit| counts(&hit.hit)));
        count_words_once(first_hits.collect())
    }

    /// Forgets all hits.
    pub(crate) fn forget(&mut self) {
        self.hits.iter_mut().for_each(Vec::clear);
    }

    fn forget_turn(&mut self) {
        for (hits, compiled) in self.hits.iter_mut().zip(&self.set.patterns) {
            if compiled.pattern.scope == Scope::Final {
                hits.clear();
            }
        }
    }

    fn search(&mut self, text: &Text<'_>) {
        if !self.is_open(text.role) {
            return;
        }
        self.texts += 1;
        self.try_without_literal(text);
        let set = self.set;
        let mut line_counter = LineCounter { text, counted: 0, line: text.line };
        self.searched_bytes = self.searched_bytes.saturating_add(text.text.len());
        let mut lower = std::mem::take(&mut self.lower);
        let candidates = set.search.candidates(text.text, &mut lower, self.searched_bytes);
        for LineCandidate { line, pattern } in candidates {
            if self.wants_hits(pattern, text.role) {
                let start = line.start;
                self.try_on(pattern, &text.text[line], start, || line_counter.number(start));
            } else if !self.is_open(text.role) {
                break;
            }
        }
        self.lower = lower;
    }

    fn try_without_literal(&mut self, text: &Text<'_>) {
        let set = self.set;
        if !set.without_literal.iter().any(|pattern| self.wants_hits(*pattern, text.role)) {
            return;
        }
        let mut line_start = 0;
        for (number, line) in (text.line..).zip(text.text.split('\n')) {
            for &pattern in &set.without_literal {
                if self.wants_hits(pattern, text.role) {
                    let number = if text.multiline { number } else { text.line };
                    self.try_on(pattern, line, line_start, || number);
                }
            }
            line_start += line.len() + 1;
        }
    }

    /// A pattern still looks for hits in texts of this role.
    fn wants_hits(&self, pattern: usize, role: Role) -> bool {
        self.hits[pattern].len() < MAX_KEPT_HITS
            && self.set.patterns[pattern].pattern.scope.covers(role)
    }

    /// A pattern still looks for hits in texts of this role.
    fn is_open(&self, role: Role) -> bool {
        (0..self.hits.len()).any(|pattern| self.wants_hits(pattern, role))
    }

    /// Tries a pattern on a line, which begins at byte `line_start` of its text. The line's
    /// number is counted for a hit alone.
    fn try_on(
        &mut self,
        pattern: usize,
        line: &str,
        line_start: usize,
        number: impl FnOnce() -> u64,
    ) {
        let compiled = &self.set.patterns[pattern];
        if let Some(span) = compiled.find(line, &self.set.language) {
            self.hits[pattern].push(PlacedHit {
                words: line_start + span.start..line_start + span.end,
                hit: compiled.hit(line, number(), span),
                text: self.texts,
            });
        }
    }
}

/// The pack whose patterns word one claim in many ways, of which one counts.
const COMPLETION: &str = "completion";

/// A pack with other words for the same claims, in which each pattern counts by itself, as its
/// document says.
const SEED: &str = "seed";

/// The pack of an audit.
const REPORTS: &str = "reports";

/// A pack that is part of gate.
fn is_shipped(pack: &str) -> bool {
    matches!(pack, COMPLETION | SEED | REPORTS)
}

/// Takes the weight from each hit of the pack `completion` whose words another hit
/// counts for already. Of several the heaviest counts, then the one that ends first:
/// a pattern that spans a whole line does not swallow the claims within that line.
fn count_words_once(placed_hits: Vec<PlacedHit>) -> Vec<Hit> {
    let [mut counting, mut candidates] = [SEED, COMPLETION].map(|pack| {
        let indices = 0..placed_hits.len();
        indices.filter(|index| placed_hits[*index].hit.pack == pack).collect::<Vec<_>>()
    });
    candidates.sort_by_key(|index| {
        let placed = &placed_hits[*index];
        (Reverse(placed.hit.weight), placed.words.end)
    });
    let mut repetitions = Vec::new();
    for index in candidates {
        let overlaps = |counted: &&usize| placed_hits[**counted].overlaps(&placed_hits[index]);
        match counting.iter().find(overlaps) {
            Some(counted) => repetitions.push((index, placed_hits[*counted].hit.pattern.clone())),
            None => counting.push(index),
        }
    }
    let mut hits: Vec<_> = placed_hits.into_iter().map(|placed| placed.hit).collect();
    for (index, pattern) in repetitions {
        hits[index].weight = 0;
        hits[index].same_words_as = Some(pattern);
    }
    hits
}

/// Counts the lines of a text, from one offset to the next.
struct LineCounter<'t> {
    text: &'t Text<'t>,
    /// The bytes whose lines have been counted.
    counted: usize,
    line: u64,
}

impl LineCounter<'_> {
    /// The input's number of the line that begins at a byte.
    fn number(&mut self, line_start: usize) -> u64 {
        if self.text.multiline {
            let uncounted = &self.text.text.as_bytes()[self.counted..line_start];
            self.line += memchr::memchr_iter(b'\n', uncounted).count() as u64;
            self.counted = line_start;
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

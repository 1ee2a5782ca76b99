//! Completion indicators: hits of patterns in what the agent wrote.
//!
//! All patterns are searched in one pass, however many there are: it looks for
//! the texts that their matches must hold, and only on a line that holds one
//! is a pattern tried by itself, with its guards.

mod finder;
mod prefilter;
mod sought;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::expression::Expression;
use super::literal::Group;
use super::pattern::{Pattern, Scope};
use super::sentence::Phrase;
use crate::read::{Boundary, Event, Role, Text};
use finder::Finder;

pub(crate) use sought::Sought;

/// How many lines with a hit are kept of each pattern, of which one counts:
/// the first ones may be the signal itself.
const KEPT: usize = 4;

/// The most groups of texts that are looked for on behalf of one pattern.
const GROUPS: usize = 8;

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
    /// Finds the rarest texts of all patterns: what begins a closer look.
    rarest: Finder,
    /// Finds all texts that matches must hold.
    texts: Finder,
    /// The pattern, and the group of its texts, that each text belongs to.
    owners: Vec<(usize, u32)>,
    /// Patterns without such texts: they are tried on every line.
    everywhere: Vec<usize>,
}

#[derive(Debug)]
struct Compiled {
    pattern: Pattern,
    /// Compiled, where it has to be, when a line first holds one of its texts.
    expression: Expression,
    /// One bit for each group of texts.
    groups: u32,
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
    /// What it counts.
    pub weight: u32,
    /// Line of the input, from 1.
    pub line: u64,
    /// Column in characters, from 1, within the agent's line.
    pub column: u32,
    /// The text around it, at most 120 characters.
    pub excerpt: String,
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
        let (mut all, mut rarest) = (Texts::default(), Vec::new());
        let (mut compiled, mut everywhere) = (Vec::new(), Vec::new());
        for (index, pattern) in patterns.iter().enumerate() {
            let (one, groups) = Compiled::new(pattern.clone())?;
            rarest.extend(groups.first().cloned().unwrap_or_default());
            if groups.is_empty() {
                everywhere.push(index);
            }
            all.add(index, groups);
            compiled.push(one);
        }
        let (rarest, texts) = (Finder::new(rarest), Finder::new(all.texts));
        let owners = all.owners;
        Ok(Self(Arc::new(Prepared { patterns: compiled, rarest, texts, owners, everywhere })))
    }
}

impl Prepared {
    fn expression(&self, index: usize) -> &Expression {
        &self.patterns[index].expression
    }

    /// The groups of texts that a pattern's matches must hold.
    fn groups(&self, index: usize) -> Vec<Group> {
        let bits = (0..GROUPS).map(|bit| (index, 1 << bit));
        let texts = |owner: (usize, u32)| {
            let owned = self.owners.iter().zip(self.texts.texts());
            owned.filter(move |(known, _)| **known == owner).map(|(_, text)| text.clone())
        };
        bits.map(|owner| texts(owner).collect()).filter(|group: &Group| !group.is_empty()).collect()
    }

    /// The patterns that may match in the line: those of which it holds one
    /// text of each group.
    fn candidates(&self, line: &str) -> Vec<usize> {
        let mut seen: Vec<(usize, u32)> = Vec::new();
        self.texts.each(line, |text| {
            let (index, group) = self.owners[text];
            match seen.iter_mut().find(|(known, _)| *known == index) {
                Some((_, groups)) => *groups |= group,
                None => seen.push((index, group)),
            }
        });
        let whole =
            seen.into_iter().filter(|(index, groups)| *groups == self.patterns[*index].groups);
        whole.map(|(index, _)| index).chain(self.everywhere.iter().copied()).collect()
    }

    /// Where the next line begins that may hold a match, at or after a byte.
    fn next_line(&self, text: &str, at: usize) -> Option<usize> {
        if !self.everywhere.is_empty() {
            return (at < text.len()).then_some(at);
        }
        Some(line_start(text.as_bytes(), self.rarest.find(text, at)?))
    }
}

/// The texts of several patterns, with their owners.
#[derive(Default)]
struct Texts {
    texts: Vec<String>,
    owners: Vec<(usize, u32)>,
}

impl Texts {
    fn add(&mut self, index: usize, groups: Vec<Group>) {
        for (bit, group) in groups.into_iter().enumerate() {
            self.owners.extend(group.iter().map(|_| (index, 1 << bit)));
            self.texts.extend(group);
        }
    }
}

impl Compiled {
    /// The pattern with the texts that its matches must hold.
    fn new(pattern: Pattern) -> Result<(Self, Vec<Group>), PatternError> {
        let expression = Expression::of(&pattern.matcher);
        let mut groups = expression
            .required()
            .map_err(|message| PatternError { id: pattern.id.clone(), message })?;
        groups.truncate(GROUPS);
        let bits = groups.iter().enumerate().map(|(bit, _)| 1 << bit).sum();
        Ok((Self { pattern, expression, groups: bits }, groups))
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

/// Counts the hits of a pattern set over the events of a reader.
#[derive(Debug)]
pub struct Counter<'p> {
    set: &'p Arc<Prepared>,
    hits: Vec<Vec<Hit>>,
    /// What was told to be looked for, and for which patterns.
    sought: Option<(Arc<Sought>, Vec<bool>)>,
    /// How often patterns came to look for hits again that were told not to.
    reopened: u64,
}

/// After so many times, all patterns are said to look for hits.
const REOPENED: u64 = 16;

impl<'p> Counter<'p> {
    /// Counts nothing yet.
    pub fn new(set: &'p PatternSet) -> Self {
        let hits = vec![Vec::new(); set.0.patterns.len()];
        Self { set: &set.0, hits, sought: None, reopened: 0 }
    }

    /// Takes one event.
    pub fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Boundary(Boundary::Notification, _) => {}
            Event::Boundary(..) => self.forget_turn(),
            Event::Text(text) => self.text(text),
            Event::Fact(_) | Event::Problem(_) | Event::Near => {}
        }
    }

    /// What is still looked for in the main agent's texts; nothing where others'
    /// texts matter too.
    pub(crate) fn sought(&mut self, notice: fn(&[u8]) -> bool) -> Option<Arc<Sought>> {
        if self.set.patterns.iter().any(|one| one.pattern.scope == Scope::Any) {
            return None;
        }
        let open = self.hits.iter().map(|hits| hits.len() < KEPT || self.reopened > REOPENED);
        let open: Vec<bool> = open.collect();
        match &self.sought {
            Some((sought, known)) if *known == open => Some(sought.clone()),
            _ => {
                let sought = Arc::new(Sought::new(self.set, &open, notice));
                self.sought = Some((sought.clone(), open));
                Some(sought)
            }
        }
    }

    /// How often more was looked for than before.
    pub(crate) fn reopened(&self) -> u64 {
        self.reopened
    }

    /// The first hit of each pattern that counts, in the order of the patterns.
    pub fn finish(self, counts: impl Fn(&Hit) -> bool) -> Vec<Hit> {
        self.hits.into_iter().filter_map(|hits| hits.into_iter().find(|hit| counts(hit))).collect()
    }

    /// Forgets all hits.
    pub(crate) fn forget(&mut self) {
        self.hits.iter_mut().for_each(Vec::clear);
        self.sought = None;
    }

    fn forget_turn(&mut self) {
        for (hit, one) in self.hits.iter_mut().zip(&self.set.patterns) {
            if one.pattern.scope == Scope::Final {
                hit.clear();
            }
        }
        let closed = |(hits, open): (&Vec<Hit>, &bool)| hits.len() < KEPT && !open;
        let narrower = |open: &Vec<bool>| self.hits.iter().zip(open).any(closed);
        if self.sought.as_ref().is_some_and(|(_, open)| narrower(open)) {
            self.reopened += 1;
            self.sought = None;
        }
    }

    fn text(&mut self, text: &Text<'_>) {
        let bytes = text.text.as_bytes();
        let (mut at, mut counted, mut line) = (0, 0, text.line);
        while at < bytes.len() && self.is_open(text.role) {
            let Some(start) = self.set.next_line(text.text, at) else { return };
            let stop = line_end(bytes, start.max(at));
            if text.multiline {
                line += memchr::memchr_iter(b'\n', &bytes[counted..start]).count() as u64;
                counted = start;
            }
            self.line(&text.text[start..stop], line, text.role);
            at = stop + 1;
        }
    }

    /// Whether any pattern still looks for hits in such a text.
    fn is_open(&self, role: Role) -> bool {
        let mut slots = self.hits.iter().zip(&self.set.patterns);
        slots.any(|(hits, one)| hits.len() < KEPT && one.pattern.scope.covers(role))
    }

    /// Tries each pattern that may match and that still looks for hits.
    fn line(&mut self, line: &str, number: u64, role: Role) {
        for index in self.set.candidates(line) {
            let (one, slot) = (&self.set.patterns[index], &mut self.hits[index]);
            if slot.len() < KEPT && one.pattern.scope.covers(role) {
                slot.extend(one.find(line).map(|found| one.hit(line, number, found)));
            }
        }
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

fn line_start(bytes: &[u8], at: usize) -> usize {
    memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |found| found + 1)
}

fn line_end(bytes: &[u8], at: usize) -> usize {
    memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |found| at + found)
}

//! The tests of changed files as they were and as they are, and the code beside them.
//!
//! A test of the baseline is accounted for if it stands somewhere as it was, or if its claims
//! do. Code beside tests may move, follow the product's names, and grow.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use super::changed::Changed;
use super::direction::{Body, Words, follow, is_kept};
use super::finding::Finding;
use super::guarded::Guarded;
use super::language::Language;
use super::rule::{self, About};
use super::tests_in_source::{Suite, Test};
use super::token::Token;

/// A test, and where it stands.
#[derive(Debug)]
pub(super) struct Known {
    file: String,
    pub(super) name: String,
    pub(super) body: String,
    tokens: Vec<Token>,
    line: usize,
    language: Language,
    /// Its language, if the baseline's text of its file can be laid over.
    pub(super) apart: Option<Language>,
    /// Its file has a name by which runners find tests.
    collected: bool,
    read: OnceCell<Body>,
}

/// A line beside tests that is gone.
#[derive(Debug)]
pub(super) struct Gone {
    pub(super) line: usize,
    pub(super) text: String,
    pub(super) tokens: Vec<String>,
    pub(super) is_import: bool,
}

/// Code beside the tests of a file that is gone; the finding is about its first line.
#[derive(Debug)]
pub(super) struct GoneBeside {
    pub(super) file: String,
    pub(super) lines: Vec<Gone>,
    pub(super) apart: Option<Language>,
}

#[derive(Debug, Default)]
pub(super) struct KnownTests {
    pub(super) was: Vec<Known>,
    pub(super) now: Vec<Known>,
    /// The code beside the tests of each file as it is.
    beside: Vec<(Language, Vec<Token>)>,
    pub(super) gone: Vec<GoneBeside>,
    /// The lines that files of tests got.
    pub(super) added_lines: Vec<Vec<String>>,
    pub(super) words: Words,
}

/// A test of the baseline that is not accounted for.
pub(super) struct Missing<'k> {
    pub(super) was: &'k Known,
    /// The test of that name, if there is one.
    pub(super) now: Option<&'k Known>,
}

impl KnownTests {
    /// Adds the tests of a file.
    pub(super) fn add(
        &mut self,
        file: &Changed<'_>,
        language: Language,
        (old, new): (&Suite, &mut Suite),
        apart: Option<Language>,
    ) {
        let known = |test: &Test| Known::new(file, test, language, apart);
        self.was.extend(old.tests.iter().map(known));
        self.now.extend(new.tests.iter().map(known));
        self.beside.push((language, std::mem::take(&mut new.rest)));
    }

    /// The tests of the baseline that are not accounted for.
    pub(super) fn missing(&self) -> Vec<Missing<'_>> {
        let mut same: HashMap<(&str, &str, bool), Vec<usize>> = HashMap::new();
        for (at, test) in self.now.iter().enumerate() {
            let key = (test.name.as_str(), test.body.as_str(), test.collected);
            same.entry(key).or_default().push(at);
        }
        let (mut left, mut taken) = (Vec::new(), HashSet::new());
        for test in &self.was {
            let mut found = None;
            for collected in if test.collected { &[true][..] } else { &[false, true] } {
                let key = (test.name.as_str(), test.body.as_str(), *collected);
                found = found.or_else(|| same.get_mut(&key)?.pop());
            }
            match found {
                Some(at) => drop(taken.insert(at)),
                None => left.push(test),
            }
        }
        if left.is_empty() {
            return Vec::new();
        }
        // A test that another one is the same as accounts for no further one.
        let free = self.now.iter().enumerate().filter(|(at, _)| !taken.contains(at));
        let free: Vec<&Known> = free.map(|(_, test)| test).collect();
        let beside = self.beside.iter().map(|(language, rest)| Body::new(rest, "", *language));
        let beside: Vec<Body> = beside.collect();
        let beside: Vec<&Body> = beside.iter().collect();
        left.retain(|test| !self.is_kept(test, &free, &beside));
        left.into_iter().map(|was| Missing { was, now: self.named(was) }).collect()
    }

    fn is_kept(&self, test: &Known, free: &[&Known], beside: &[&Body]) -> bool {
        let fit = free
            .iter()
            .filter(|now| now.language == test.language && (now.collected || !test.collected));
        let (own, others): (Vec<&Known>, Vec<&Known>) =
            fit.copied().partition(|now| now.name == test.name);
        let all: Vec<&Body> = own.iter().chain(&others).map(|known| known.body()).collect();
        let is_kept = |now: &[&Body]| is_kept(test.body(), now, beside, &self.words);
        all.iter().any(|now| is_kept(&[now])) || is_kept(&all)
    }

    fn named(&self, test: &Known) -> Option<&Known> {
        let named = self.now.iter().filter(|now| now.name == test.name);
        let named = named.filter(|now| now.collected || !test.collected);
        named.min_by_key(|now| now.file != test.file)
    }

    /// The lines beside tests that are gone and stand nowhere else.
    pub(super) fn gone_beside(&self) -> impl Iterator<Item = (&GoneBeside, Vec<&Gone>)> {
        self.gone.iter().map(|beside| {
            let lines = beside.lines.iter().filter(|gone| {
                let was = plain(&gone.tokens);
                !self.added_lines.iter().any(|now| follow(&was, &plain(now), &self.words))
            });
            (beside, lines.collect())
        })
    }

    /// The new tests.
    pub(super) fn new_tests(&self) -> impl Iterator<Item = &Known> {
        let known: HashSet<&str> = self.was.iter().map(|test| test.name.as_str()).collect();
        self.now.iter().filter(move |test| !known.contains(test.name.as_str()))
    }
}

/// A line without what says who may use it, and with the newer names of annotations.
fn plain(tokens: &[String]) -> Vec<String> {
    const VISIBLE: &[&str] = &["public", "protected", "private", "internal", "static", "final"];
    const NEWER: &[(&str, &str)] = &[
        ("Before", "BeforeEach"),
        ("After", "AfterEach"),
        ("BeforeClass", "BeforeAll"),
        ("AfterClass", "AfterAll"),
    ];
    let kept = tokens.iter().filter(|token| !VISIBLE.contains(&token.as_str()));
    let newer = |token: &String| {
        let known = NEWER.iter().find(|(old, _)| old == token);
        known.map_or_else(|| token.clone(), |(_, new)| (*new).to_owned())
    };
    kept.map(newer).collect()
}

impl Known {
    fn new(file: &Changed<'_>, test: &Test, language: Language, apart: Option<Language>) -> Self {
        Self {
            file: file.path.to_owned(),
            name: test.name.clone(),
            body: test.body.clone(),
            tokens: test.tokens.clone(),
            line: test.lines.0,
            language,
            apart,
            collected: file.guarded != Some(Guarded::Support),
            read: OnceCell::new(),
        }
    }

    fn body(&self) -> &Body {
        self.read.get_or_init(|| Body::new(&self.tokens, &self.name, self.language))
    }

    pub(super) fn finding(&self, about: &About) -> Finding {
        let message = format!("{}: {}", about.message, crate::text::brief(&self.name, 80));
        let finding = Finding { message, ..about.finding(&self.file) };
        finding.at(self.line, "").for_test(&self.name)
    }
}

impl Missing<'_> {
    /// Its finding, and the language whose overlay would run it.
    pub(super) fn finding(&self) -> (Finding, Option<Language>) {
        match self.now {
            Some(now) => (now.finding(&rule::TEST_EDITED), self.was.apart),
            None => (self.was.finding(&rule::TEST_REMOVED), self.was.apart),
        }
    }
}

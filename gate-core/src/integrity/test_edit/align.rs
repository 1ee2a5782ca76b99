//! Walks two versions of a test file side by side, and judges each difference.

use std::collections::{BTreeMap, BTreeSet};

use super::imports::{Import, renames};
use super::new_test;
use super::product::ChangedProduct;
use super::reader::{Token, text, text_before};
use super::words::{is_foreign, is_free};
use crate::integrity::language::Language;

/// Two versions of a file: their imports, and their tokens without them.
pub(super) struct Alignment<'a> {
    pub(super) language: Language,
    pub(super) was: &'a [Import],
    pub(super) is: &'a [Import],
    pub(super) old: &'a [Token],
    pub(super) new: &'a [Token],
    pub(super) product: &'a ChangedProduct,
}

/// The differences that were found.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Tokens of the old version that have another name in the new one.
    pub(super) renamed: Vec<(usize, usize)>,
    /// Tokens of both versions that are the same.
    kept: Vec<usize>,
    /// Tokens before which the new version has more arguments: these stand from here to there.
    pub(super) added: Vec<(usize, (usize, usize))>,
}

impl Alignment<'_> {
    pub(super) fn is_adapted(&self) -> bool {
        let known: BTreeSet<&str> = self
            .old
            .iter()
            .filter(|token| token.is_word())
            .map(|token| token.text.as_str())
            .chain(self.was.iter().map(|import| import.binding.as_str()))
            .collect();
        let Some(imported) = renames(self.was, self.is, &known, self.product) else {
            return false;
        };
        let Some(found) = self.walk() else { return false };
        self.names_hold(&found, &known, &imported) && self.sides_hold(&found)
    }

    /// All differences; `None` if there is one of no known kind.
    fn walk(&self) -> Option<Found> {
        let mut found = Found::default();
        let (mut i, mut j) = (0, 0);
        let mut titles: BTreeSet<&str> = self.old.iter().map(|token| token.text.as_str()).collect();
        loop {
            if let Some(end) = new_test::end(self.language, self.new, j, &mut titles) {
                j = end;
                continue;
            }
            let (old, new) = (self.old.get(i), self.new.get(j));
            if old.is_some() && old == new {
                found.kept.push(i);
                (i, j) = (i + 1, j + 1);
                continue;
            }
            let (old, new) = match (old, new) {
                (None, None) => return Some(found),
                (_, Some(new)) => (old, new),
                _ => return None,
            };
            if let Some(end) = self.argument(i, j) {
                found.added.push((i, (j, end)));
                j = end;
            } else if self.unwraps(j) {
                j += 4;
            } else if old.is_some_and(|old| old.is_word() && new.is_word()) {
                found.renamed.push((i, j));
                (i, j) = (i + 1, j + 1);
            } else {
                return None;
            }
        }
    }

    /// `.unwrap()` after a call: it can only fail more often.
    fn unwraps(&self, j: usize) -> bool {
        let texts = self.new.get(j.saturating_sub(1)..j + 4).unwrap_or_default();
        let texts: Vec<&str> = texts.iter().map(|token| token.text.as_str()).collect();
        self.language == Language::Rust && texts == [")", ".", "unwrap", "(", ")"]
    }

    /// Each renamed name is one of the product's, and is another one everywhere.
    fn names_hold(
        &self,
        found: &Found,
        known: &BTreeSet<&str>,
        imported: &[(String, String)],
    ) -> bool {
        let mut names: BTreeMap<&str, &str> = BTreeMap::new();
        for (i, j) in &found.renamed {
            let (from, to) = (self.old[*i].text.as_str(), self.new[*j].text.as_str());
            if names.insert(from, to).is_some_and(|other| other != to) {
                return false;
            }
        }
        let targets: BTreeSet<&&str> = names.values().collect();
        if targets.len() != names.len() {
            return false;
        }
        names.iter().all(|(from, to)| {
            let is_own = self.was.iter().any(|import| import.binding == *from);
            let is_paired = imported.iter().any(|(old, new)| old == from && new == to);
            let fits = if is_own { is_paired } else { self.is_unbound(found, from) };
            let is_kept = found.kept.iter().any(|at| self.old[*at].text == *from);
            fits && is_free(from) && is_free(to) && !known.contains(to) && !is_kept
        })
    }

    /// A name that the file does not bind itself: an attribute, or what it sees by its place.
    fn is_unbound(&self, found: &Found, name: &str) -> bool {
        let by_place = matches!(self.language, Language::Rust | Language::Go);
        let places = found.renamed.iter().map(|(i, _)| *i);
        places.filter(|at| self.old[*at].text == name).all(|at| {
            let (before, after) = (text_before(self.old, at), text(self.old, at + 1));
            let is_attribute = matches!(before, "." | "::");
            let is_defined = matches!(
                before,
                "func" | "fn" | "def" | "let" | "struct" | "mut" | "const" | "mod"
            );
            let first = text(self.old, at + 2);
            let is_helper = after == "(" && matches!(first, "t" | "self" | "tb" | "b");
            let is_assigned = matches!(after, "=" | ":=" | ":");
            if is_attribute {
                return !is_assigned && self.is_product(self.root(at));
            }
            by_place && !is_defined && !is_helper && matches!(after, "(" | "::")
        })
    }

    /// The first name of a path that ends here.
    pub(super) fn root(&self, at: usize) -> usize {
        let mut root = at;
        while root >= 2 && matches!(self.old[root - 1].text.as_str(), "." | "::") {
            root -= 2;
        }
        root
    }

    /// A path that begins here leads to something of the product's.
    pub(super) fn is_product(&self, root: usize) -> bool {
        let token = &self.old[root];
        let import = self.was.iter().find(|import| import.binding == token.text);
        let is_foreign = import.is_some_and(|import| is_foreign(&import.module));
        token.is_word() && is_free(&token.text) && !is_foreign
    }
}

//! Walks two versions of a test file side by side, and judges each difference.

use std::collections::{BTreeMap, BTreeSet};

use super::imports::{Import, renames};
use super::new_test;
use super::reader::{Kind, Token};
use super::sides::Statements;
use super::words::{is_built_in, is_foreign, is_free, is_harmless};
use crate::integrity::language::Language;

/// Two versions of a file: their imports, and their tokens without them.
pub(super) struct Alignment<'a> {
    pub(super) language: Language,
    pub(super) was: &'a [Import],
    pub(super) is: &'a [Import],
    pub(super) old: &'a [Token],
    pub(super) new: &'a [Token],
}

/// The differences that were found.
#[derive(Debug, Default)]
struct Found {
    /// Tokens of the old version that have another name in the new one.
    renamed: Vec<(usize, usize)>,
    /// Tokens of both versions that are the same.
    kept: Vec<usize>,
    /// Tokens before which the new version has more arguments: these stand from here to there.
    added: Vec<(usize, (usize, usize))>,
}

/// The most tokens of an argument that is added.
const MAX_ARGUMENT_TOKENS: usize = 24;

impl Alignment<'_> {
    pub(super) fn is_adapted(&self) -> bool {
        let known: BTreeSet<&str> = self
            .old
            .iter()
            .filter(|token| token.is_word())
            .map(|token| token.text.as_str())
            .chain(self.was.iter().map(|import| import.binding.as_str()))
            .collect();
        let Some(imported) = renames(self.was, self.is, |name| known.contains(name)) else {
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

    /// The token after the arguments that begin here in the new version alone.
    fn argument(&self, i: usize, j: usize) -> Option<usize> {
        let (old, new) = (self.old.get(i)?, &self.new[j]);
        let before = self.old.get(i.checked_sub(1)?)?;
        let (from, is_last) = if old.is(")") && new.is(",") && !before.is("(") {
            (j + 1, true)
        } else if old.is(")") && before.is("(") {
            (j, true)
        } else if before.is("(") || before.is(",") {
            (j, false)
        } else {
            return None;
        };
        let (mut depth, mut at) = (0_usize, from);
        loop {
            let token = self.new.get(at)?;
            match token.text.as_str() {
                ")" if depth == 0 && is_last && at > from => return Some(at),
                "," if depth == 0 && !is_last && at > from => {
                    return (self.new.get(at + 1) == Some(old)).then_some(at + 1);
                }
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.checked_sub(1)?,
                _ => {}
            }
            at += 1;
            if at - from > MAX_ARGUMENT_TOKENS {
                return None;
            }
        }
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
        let is_kept = |name: &str| found.kept.iter().any(|at| self.old[*at].text == name);
        names.iter().all(|(from, to)| {
            let is_own = self.was.iter().any(|import| import.binding == *from);
            let is_paired = imported.iter().any(|(old, new)| old == from && new == to);
            let fits = if is_own { is_paired } else { self.is_unbound(found, from) };
            fits && is_free(from) && is_free(to) && !known.contains(to) && !is_kept(from)
        })
    }

    /// A name that the file does not bind itself: an attribute, or what it sees by its place.
    fn is_unbound(&self, found: &Found, name: &str) -> bool {
        let places = found.renamed.iter().map(|(i, _)| *i).filter(|i| self.old[*i].text == name);
        let text = |at: Option<usize>| {
            at.and_then(|at| self.old.get(at)).map_or("", |token| token.text.as_str())
        };
        let mut places = places.peekable();
        let by_place = matches!(self.language, Language::Rust | Language::Go);
        places.all(|at| {
            let (before, after) = (text(at.checked_sub(1)), text(Some(at + 1)));
            let is_attribute = matches!(before, "." | "::");
            let is_defined = matches!(
                before,
                "func" | "fn" | "def" | "let" | "struct" | "mut" | "const" | "mod"
            );
            let first = text(Some(at + 2));
            let is_helper = after == "(" && matches!(first, "t" | "self" | "tb" | "b");
            let is_assigned = matches!(after, "=" | ":=" | ":");
            if is_attribute {
                return !is_assigned && self.is_product(self.root(at));
            }
            by_place && !is_defined && !is_helper && matches!(after, "(" | "::")
        })
    }

    /// No difference touches what a test expects.
    fn sides_hold(&self, found: &Found) -> bool {
        let statements = Statements::new(self.old, self.language);
        let renamed: Vec<usize> = found.renamed.iter().map(|(i, _)| *i).collect();
        let mut added = Vec::new();
        for (at, (from, to)) in &found.added {
            let Some(open) = self.open_before(*at) else { return false };
            if !self.may_have_more(open) || !self.is_plain(&self.new[*from..*to]) {
                return false;
            }
            if !statements.is_new_there(open, &self.new[*from..*to]) {
                return false;
            }
            added.push(open);
        }
        statements.allow(&renamed, &added)
    }

    /// The bracket around a place in the old version.
    fn open_before(&self, at: usize) -> Option<usize> {
        let mut depth = 0_usize;
        for open in (0..at).rev() {
            match self.old[open].text.as_str() {
                ")" | "]" | "}" => depth += 1,
                "(" if depth == 0 => return Some(open),
                "[" | "{" if depth == 0 => return None,
                "(" | "[" | "{" => depth -= 1,
                _ => {}
            }
        }
        None
    }

    /// The call whose bracket this is is one of the product's.
    fn may_have_more(&self, open: usize) -> bool {
        let Some(at) = open.checked_sub(1) else { return false };
        let name = &self.old[at];
        if !name.is_word() || !is_free(&name.text) {
            return false;
        }
        let root = self.root(at);
        if !self.is_product(root) {
            return false;
        }
        let before = root.checked_sub(1).map_or("", |at| self.old[at].text.as_str());
        if matches!(before, "def" | "class" | "function" | "func" | "fn" | "@" | "!") {
            return false;
        }
        let root_name = self.old[root].text.as_str();
        let import = self.was.iter().find(|import| import.binding == root_name);
        let is_defined = (1..self.old.len()).any(|at| {
            let defines = ["def", "class", "function", "func", "fn"];
            self.old[at].text == name.text && defines.contains(&self.old[at - 1].text.as_str())
        });
        match (import, self.language) {
            _ if is_defined => false,
            (Some(import), _) => !is_foreign(&import.module) && !is_foreign(&import.name),
            // A method of something that the test made, or a function that it sees by its place.
            (None, _) if root != at => !is_built_in(root_name),
            (None, Language::Rust | Language::Go) => {
                !self.was.is_empty() || self.language == Language::Go
            }
            (None, _) => false,
        }
    }

    /// The first name of a path that ends here.
    fn root(&self, at: usize) -> usize {
        let mut root = at;
        while root >= 2 && matches!(self.old[root - 1].text.as_str(), "." | "::") {
            root -= 2;
        }
        root
    }

    /// A path that begins here leads to something of the product's.
    fn is_product(&self, root: usize) -> bool {
        let token = &self.old[root];
        let import = self.was.iter().find(|import| import.binding == token.text);
        let is_foreign = import.is_some_and(|import| is_foreign(&import.module));
        token.is_word() && is_free(&token.text) && !is_foreign
    }

    /// An argument that only says a value.
    fn is_plain(&self, argument: &[Token]) -> bool {
        const SIGNS: [&str; 16] =
            [",", ".", "::", "=", ":", "-", "&", "(", ")", "[", "]", "{", "}", "!", "new", "mut"];
        argument.iter().enumerate().all(|(at, token)| match token.kind {
            Kind::Literal => !token.text.starts_with('`') && !token.text.starts_with('/'),
            Kind::Break => false,
            Kind::Sign | Kind::Word if SIGNS.contains(&token.text.as_str()) => true,
            Kind::Sign => false,
            Kind::Word => {
                let is_called = argument.get(at + 1).is_some_and(|next| next.is("("));
                let makes = token.text.starts_with(char::is_uppercase)
                    || matches!(token.text.as_str(), "new" | "default");
                is_harmless_or_default(argument, at) && (!is_called || makes)
            }
        })
    }
}

/// A name that switches nothing off, or Rust's `default()`.
fn is_harmless_or_default(argument: &[Token], at: usize) -> bool {
    let text = argument[at].text.as_str();
    let is_path = argument.get(at + 1).is_some_and(|next| next.is("::"))
        || (at > 0 && argument[at - 1].is("::"));
    is_harmless(text) || (is_path && matches!(text, "Default" | "default"))
}

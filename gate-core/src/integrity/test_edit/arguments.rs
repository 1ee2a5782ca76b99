//! Arguments that calls of the product have got.

use std::collections::BTreeMap;

use super::align::{Alignment, Found};
use super::product::{Call, parts};
use super::reader::{Kind, Token, closed, text_before};
use super::sides::Statements;
use super::words::{is_built_in, is_foreign, is_free, is_harmless};
use crate::integrity::language::Language;

/// The most tokens of an argument that is added.
const MAX_ARGUMENT_TOKENS: usize = 24;

/// A call with more arguments than it had.
struct LongerCall<'a> {
    /// Its bracket in the old version.
    open: usize,
    name: &'a str,
    added: Vec<&'a [Token]>,
}

impl Alignment<'_> {
    /// The token after the arguments that begin here in the new version alone.
    pub(super) fn argument(&self, i: usize, j: usize) -> Option<usize> {
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

    /// No difference touches what a test expects.
    pub(super) fn sides_hold(&self, found: &Found) -> bool {
        let Some(calls) = self.longer_calls(found) else { return false };
        let statements = Statements::new(self.old, self.language);
        let renamed: Vec<usize> = found.renamed.iter().map(|(i, _)| *i).collect();
        let opens: Vec<usize> = calls.iter().map(|call| call.open).collect();
        calls.iter().all(|call| self.follows_product(call))
            && reveal_nothing(&calls, &statements)
            && statements.allow(&renamed, &opens)
    }

    fn longer_calls(&self, found: &Found) -> Option<Vec<LongerCall<'_>>> {
        let mut calls: BTreeMap<usize, LongerCall<'_>> = BTreeMap::new();
        for (at, (from, to)) in &found.added {
            let open = self.open_before(*at)?;
            let name = open.checked_sub(1)?;
            let renamed = found.renamed.iter().find(|(i, _)| *i == name);
            let name = renamed.map_or(&self.old[name], |(_, j)| &self.new[*j]).text.as_str();
            let call = LongerCall { open, name, added: Vec::new() };
            let added = parts(&self.new[*from..*to], self.language);
            calls.entry(open).or_insert(call).added.extend(added);
        }
        Some(calls.into_values().collect())
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

    /// A function of the product has got the parameters that the arguments are for.
    fn follows_product(&self, call: &LongerCall<'_>) -> bool {
        self.may_have_more(call.open)
            && call.added.iter().all(|argument| is_plain(argument))
            && self
                .calls(call)
                .is_some_and(|(old, new)| self.product.require(self.language, &old, &new))
    }

    /// The call as it was, and as it is.
    fn calls(&self, call: &LongerCall<'_>) -> Option<(Call, Call)> {
        let end = closed(self.old, call.open)?;
        let arguments = parts(&self.old[call.open + 1..end - 1], self.language);
        let old = Call::new(text_before(self.old, call.open), &arguments)?;
        let mut new = old.clone();
        call.name.clone_into(&mut new.name);
        new.add(&call.added)?;
        Some((old, new))
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
        let before = text_before(self.old, root);
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
}

/// No argument reveals a call's answer. A literal that is an answer too reveals nothing if the same
/// argument goes to a call with another answer: `add(2, 2, 0) == 4` beside `add(0, 0, 0) == 0`.
fn reveal_nothing(calls: &[LongerCall<'_>], statements: &Statements<'_>) -> bool {
    calls.iter().all(|call| {
        !reveals_answer(call, statements)
            || calls.iter().any(|other| {
                let is_same = other.name == call.name && other.added == call.added;
                is_same && statements.compares(other.open) && !reveals_answer(other, statements)
            })
    })
}

fn reveals_answer(call: &LongerCall<'_>, statements: &Statements<'_>) -> bool {
    let answers = statements.answers(call.open);
    let mut literals =
        call.added.iter().copied().flatten().filter(|token| token.kind == Kind::Literal);
    literals.any(|literal| answers.contains(&literal))
}

/// An argument that is only a value.
fn is_plain(argument: &[Token]) -> bool {
    const SIGNS: [&str; 15] =
        [",", ".", "::", "=", ":", "&", "(", ")", "[", "]", "{", "}", "!", "new", "mut"];
    argument.iter().enumerate().all(|(at, token)| {
        let before = at.checked_sub(1).map(|before| &argument[before]);
        match token.kind {
            Kind::Literal => {
                let is_more_of_one = before.is_some_and(|before| before.kind == Kind::Literal);
                !is_more_of_one && !token.text.starts_with(['`', '/'])
            }
            Kind::Break => false,
            Kind::Sign | Kind::Word if SIGNS.contains(&token.text.as_str()) => true,
            // It makes a number negative, and computes nothing.
            Kind::Sign => {
                token.is("-")
                    && before.is_none_or(|before| "= ( [ { , :".contains(before.text.as_str()))
            }
            Kind::Word => {
                let is_called = argument.get(at + 1).is_some_and(|next| next.is("("));
                let makes = token.text.starts_with(char::is_uppercase)
                    || matches!(token.text.as_str(), "new" | "default");
                is_harmless_or_default(argument, at) && (!is_called || makes)
            }
        }
    })
}

/// A name that switches nothing off, or Rust's `default()`.
fn is_harmless_or_default(argument: &[Token], at: usize) -> bool {
    let text = argument[at].text.as_str();
    let is_path = argument.get(at + 1).is_some_and(|next| next.is("::"))
        || (at > 0 && argument[at - 1].is("::"));
    is_harmless(text) || (is_path && matches!(text, "Default" | "default"))
}

//! The statements of a test, and which side of an assertion a place belongs to.

use std::collections::BTreeMap;

use super::reader::{Kind, Token, is_keyword};
use super::words::{is_built_in, is_expected, is_free, is_reserved};
use crate::integrity::language::Language;

/// The tokens of a file by statement.
pub(super) struct Statements<'t> {
    tokens: &'t [Token],
    language: Language,
    /// For each token the first one of its statement.
    starts: Vec<usize>,
    /// For each token the side of its statement that it stands on.
    sides: Vec<usize>,
    by_start: BTreeMap<usize, Vec<usize>>,
}

/// An open bracket.
struct Open {
    is_block: bool,
    /// The statement around it.
    start: usize,
    /// It belongs to a call that asserts.
    asserts: bool,
}

impl<'t> Statements<'t> {
    pub(super) fn new(tokens: &'t [Token], language: Language) -> Self {
        let mut all = Self {
            tokens,
            language,
            starts: Vec::with_capacity(tokens.len()),
            sides: Vec::with_capacity(tokens.len()),
            by_start: BTreeMap::new(),
        };
        all.read();
        for (at, start) in all.starts.iter().enumerate() {
            all.by_start.entry(*start).or_default().push(at);
        }
        all
    }

    fn read(&mut self) {
        let mut open: Vec<Open> = Vec::new();
        let mut side: BTreeMap<usize, usize> = BTreeMap::new();
        let mut start = 0;
        for (at, token) in self.tokens.iter().enumerate() {
            let text = if token.kind == Kind::Literal { "" } else { token.text.as_str() };
            let in_block = open.last().is_none_or(|open| open.is_block);
            let mut own = start;
            match text {
                "(" | "[" => {
                    let asserts = text == "(" && self.asserts(at);
                    open.push(Open { is_block: false, start, asserts });
                }
                "{" => {
                    let is_block = self.is_block(at, start, in_block);
                    open.push(Open { is_block, start, asserts: false });
                    start = if is_block { at + 1 } else { start };
                }
                ")" | "]" | "}" => {
                    if let Some(closed) = open.pop() {
                        start = closed.start;
                        own = start;
                        if closed.asserts {
                            *side.entry(start).or_default() += 1;
                        }
                        let outer = open.last().is_none_or(|open| open.is_block);
                        if closed.is_block && outer {
                            start = at + 1;
                        }
                    }
                }
                "," if open.last().is_some_and(|open| open.asserts) => {
                    *side.entry(start).or_default() += 1;
                }
                "==" | "!=" | "===" | "!==" | "<" | ">" | "<=" | ">=" | "is" | "in" | "not" => {
                    *side.entry(start).or_default() += 1;
                }
                ";" if in_block && !self.is_head(start) => start = at + 1,
                ";" => *side.entry(start).or_default() += 1,
                _ if token.kind == Kind::Break && in_block => start = at + 1,
                _ => {}
            }
            self.starts.push(own);
            self.sides.push(side.get(&own).copied().unwrap_or(0));
        }
    }

    /// The head of a condition in Go may hold a statement.
    fn is_head(&self, start: usize) -> bool {
        let first = self.tokens.get(start).map_or("", |token| token.text.as_str());
        self.language == Language::Go && matches!(first, "if" | "for" | "switch")
    }

    /// The call whose bracket this is asserts something.
    fn asserts(&self, open: usize) -> bool {
        let at = open.checked_sub(1).filter(|at| self.tokens[*at].is("!"));
        let name = at.unwrap_or(open).checked_sub(1).map(|at| &self.tokens[at]);
        name.is_some_and(|name| {
            // A test's own call holds its assertions.
            let is_test = matches!(name.text.as_str(), "it" | "test" | "describe");
            name.is_word() && is_reserved(&name.text) && !is_test
        })
    }

    fn is_block(&self, open: usize, start: usize, in_block: bool) -> bool {
        const OPENS: &[&str] = &[
            "class",
            "interface",
            "enum",
            "namespace",
            "export",
            "pub",
            "fn",
            "mod",
            "impl",
            "struct",
            "trait",
            "if",
            "match",
            "while",
            "for",
            "loop",
            "unsafe",
            "async",
            "#",
            "func",
            "switch",
            "select",
            "type",
            "go",
            "defer",
            "function",
        ];
        let text = |at: usize| self.tokens.get(at).map_or("", |token| token.text.as_str());
        let before = open.checked_sub(1).map_or("", text);
        let is_composite = open >= 2 && text(open - 2) == "]";
        match self.language {
            Language::Python => false,
            _ if matches!(before, ")" | "=>" | "else" | "try" | "finally" | "do") => true,
            Language::Rust
                if matches!(before, "|" | "||" | "unsafe" | "loop" | "async" | "move") =>
            {
                true
            }
            Language::Go if is_composite => false,
            _ if !in_block => false,
            _ => {
                matches!(before, "" | "{" | "}" | ";")
                    || open == start
                    || OPENS.contains(&text(start))
            }
        }
    }

    /// The literals that the call at this place may have to answer: those that its own assertion
    /// compares it with, or, if they stand elsewhere, all others of the test.
    pub(super) fn answers(&self, at: usize) -> Vec<&'t Token> {
        let start = self.starts[at];
        let mut places = self.other_sides(at);
        if places.is_empty() || places.iter().any(|other| self.names_value(*other, at)) {
            let mut before = self.by_start.range(..=start).rev();
            let from = before.find(|(_, statement)| self.begins_test(statement));
            let mut after = self.by_start.range(start + 1..);
            let to = after.find(|(_, statement)| self.begins_test(statement));
            let to = to.map_or(self.tokens.len(), |(to, _)| *to);
            let test = self.by_start.range(from.map_or(0, |(from, _)| *from)..to);
            places.extend(test.filter(|(other, _)| **other != start).flat_map(|(_, all)| all));
        }
        let tokens = places.into_iter().map(|place| &self.tokens[place]);
        tokens.filter(|token| token.kind == Kind::Literal).collect()
    }

    /// The call at this place has to equal a number or a text.
    pub(super) fn compares(&self, at: usize) -> bool {
        const EQUAL: &[&str] = &[
            "==",
            "===",
            "assert_eq",
            "assertEqual",
            "toBe",
            "toEqual",
            "toStrictEqual",
            "Equal",
            "equal",
            "strictEqual",
            "deepEqual",
            "deepStrictEqual",
        ];
        let statement = &self.by_start[&self.starts[at]];
        let mut words = statement.iter().map(|place| self.tokens[*place].text.as_str());
        let others = self.other_sides(at).into_iter().map(|place| &self.tokens[place]);
        let mut values = others.filter(|token| token.kind == Kind::Literal);
        words.any(|word| EQUAL.contains(&word) || (word == "!=" && self.is_head(self.starts[at])))
            && values.any(|value| value.text.starts_with(|c: char| c == '"' || c.is_ascii_digit()))
    }

    /// The tokens on the other sides of an assertion; none if this place belongs to no assertion.
    fn other_sides(&self, at: usize) -> Vec<usize> {
        let statement = &self.by_start[&self.starts[at]];
        if !self.is_assertion(statement) && !self.is_head(statement[0]) {
            return Vec::new();
        }
        statement.iter().copied().filter(|other| self.sides[*other] != self.sides[at]).collect()
    }

    /// A name for a value that does not stand on the side of the call itself.
    fn names_value(&self, at: usize, call: usize) -> bool {
        let token = &self.tokens[at];
        let mut own = self.by_start[&self.starts[at]].iter();
        token.is_word()
            && is_free(&token.text)
            && !own.any(|other| {
                self.sides[*other] == self.sides[call] && self.tokens[*other] == *token
            })
    }

    fn begins_test(&self, statement: &[usize]) -> bool {
        const HEADS: [&str; 10] =
            ["def", "class", "fn", "func", "@", "#", "it", "test", "describe", "async"];
        HEADS.contains(&self.tokens[statement[0]].text.as_str())
    }

    fn is_assertion(&self, statement: &[usize]) -> bool {
        statement.iter().any(|at| {
            let token = &self.tokens[*at];
            token.is_word() && is_reserved(&token.text)
        })
    }

    /// Edits at these places leave alone what is expected, and whether it is looked at.
    pub(super) fn allow(&self, renamed: &[usize], added: &[usize]) -> bool {
        let mut by_statement: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for at in renamed.iter().chain(added) {
            by_statement.entry(self.starts[*at]).or_default().push(*at);
        }
        by_statement.iter().all(|(start, edits)| {
            self.allows(*start, edits, edits.iter().any(|at| added.contains(at)))
        })
    }

    fn allows(&self, start: usize, edits: &[usize], adds: bool) -> bool {
        const CONTROL: &[&str] = &[
            "for", "while", "if", "elif", "with", "except", "@", "class", "def", "lambda", "match",
            "case", "switch", "func", "fn", "function", "async", "#", "try", "raise", "throw",
            "describe", "export", "go", "defer", "else",
        ];
        let statement = &self.by_start[&start];
        let text = |at: usize| self.tokens[at].text.as_str();
        let first = statement.first().map_or("", |at| text(*at));
        let is_check = self.language == Language::Go && first == "if";
        if (CONTROL.contains(&first) && !is_check) || (first == "return" && adds) {
            return false;
        }
        let names_expected = |at: &&usize| self.tokens[**at].is_word() && is_expected(text(**at));
        if !is_check && !self.is_assertion(statement) {
            return statement.iter().find(names_expected).is_none();
        }
        let side = self.sides[edits[0]];
        if edits.iter().any(|at| self.sides[*at] != side) {
            return false;
        }
        let others: Vec<usize> =
            statement.iter().copied().filter(|at| self.sides[*at] != side).collect();
        // What goes in on this side may stand on the other one.
        let is_input = |at: usize| {
            statement.iter().any(|own| self.sides[*own] == side && text(*own) == text(at))
        };
        let is_value = |at: &usize| {
            let token = &self.tokens[*at];
            let name = token.text.as_str();
            let is_known =
                is_keyword(name) || is_reserved(name) || is_built_in(name) || is_expected(name);
            let is_called = self.tokens.get(at + 1).is_some_and(|next| next.is("("));
            !token.is_word() || is_known || (!is_called && (!adds || is_input(*at)))
        };
        let says_value = others.iter().any(|at| {
            let (token, name) = (&self.tokens[*at], text(*at));
            let is_name =
                is_built_in(name) || is_expected(name) || !(is_keyword(name) || is_reserved(name));
            // A snapshot stands in a file of its own.
            let is_stored = name.ends_with("Snapshot");
            token.kind == Kind::Literal || (token.is_word() && (is_name || is_stored))
        });
        // Of `expect(…).toBe(…)` the second one is expected.
        let is_matched = statement
            .iter()
            .any(|at| self.tokens[*at].is_word() && text(*at).starts_with("expect"));
        says_value && others.iter().all(is_value) && (!is_matched || side == 0)
    }
}

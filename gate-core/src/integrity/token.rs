//! The tokens of a piece of code, without its layout.
//!
//! Two pieces with the same tokens differ in white space, comments, quotes and
//! trailing commas alone, as formatters leave them. Where indentation has a
//! meaning, steps of it are tokens.

use super::language::Language;
use super::lexer::{Class, View};

/// A word, a sign or a string, and the line that it stands in, from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) text: String,
    pub(super) line: usize,
}

impl Token {
    /// A comma, a semicolon or a step of indentation.
    pub(super) fn is_layout(&self) -> bool {
        matches!(self.text.as_str(), "," | ";" | "«" | "»")
    }
}

/// The tokens of some lines.
pub(super) fn tokens(view: &View<'_>, language: Language, lines: &[(usize, usize)]) -> Vec<Token> {
    let mut reader = Reader { view, language, tokens: Vec::new(), indents: vec![0], depth: 0 };
    for (from, to) in lines {
        (*from..*to).for_each(|line| reader.line(line));
    }
    reader.tokens
}

/// One text of the tokens, to be compared.
pub(super) fn joined(tokens: &[Token]) -> String {
    let texts: Vec<_> = tokens.iter().map(|token| token.text.as_str()).collect();
    texts.join("\u{1}")
}

struct Reader<'v, 't> {
    view: &'v View<'t>,
    language: Language,
    tokens: Vec<Token>,
    indents: Vec<usize>,
    depth: usize,
}

impl Reader<'_, '_> {
    fn line(&mut self, line: usize) {
        let (from, to) = self.view.range(line);
        if self.language.indents() && self.depth == 0 {
            self.indent(line, from, to);
        }
        let mut at = from;
        while at < to {
            at = match self.view.classes[at] {
                Class::Comment => at + 1,
                Class::Code => self.code(line, at, to),
                Class::Quote | Class::Text | Class::Long => self.string(line, at, to),
            };
        }
    }

    /// A step of indentation, where a line begins something.
    fn indent(&mut self, line: usize, from: usize, to: usize) {
        let line_bytes = &self.view.text.as_bytes()[from..to];
        let Some(width) = line_bytes.iter().position(|byte| !byte.is_ascii_whitespace()) else {
            return;
        };
        let first = from + width;
        if !matches!(self.view.classes[first], Class::Code | Class::Quote) {
            return;
        }
        if self.tokens.is_empty() {
            self.indents = vec![width];
        }
        if self.indents.last().is_some_and(|last| *last < width) {
            self.indents.push(width);
            self.push("»", line);
        }
        while self.indents.len() > 1 && self.indents.last().is_some_and(|last| *last > width) {
            self.indents.pop();
            self.push("«", line);
        }
    }

    fn code(&mut self, line: usize, at: usize, to: usize) -> usize {
        let rest = &self.view.text[at..to];
        let Some(c) = rest.chars().next() else { return to };
        if c.is_whitespace() {
            return at + c.len_utf8();
        }
        let length = if is_word(c) {
            let word = rest.char_indices().take_while(|(offset, c)| {
                is_word(*c) && self.view.classes[at + offset] == Class::Code
            });
            word.map(|(_, c)| c.len_utf8()).sum()
        } else {
            c.len_utf8()
        };
        self.sign(line, c, &rest[..length], &rest[length..]);
        at + length
    }

    fn sign(&mut self, line: usize, c: char, text: &str, after: &str) {
        match c {
            '(' | '[' | '{' => self.depth += 1,
            ')' | ']' | '}' => {
                self.depth = self.depth.saturating_sub(1);
                if self.tokens.last().is_some_and(|last| last.text == ",") {
                    self.tokens.pop();
                }
            }
            ';' if self.language == Language::Js && ends(after) => return,
            '>' if self.language == Language::Js => self.bare_parameter(),
            _ => {}
        }
        self.push(text, line);
    }

    /// `(a) =>` is `a =>`.
    fn bare_parameter(&mut self) {
        let at = self.tokens.len().saturating_sub(4);
        let texts: Vec<&str> = self.tokens[at..].iter().map(|token| token.text.as_str()).collect();
        if let ["(", name, ")", "="] = texts[..]
            && name.starts_with(is_word)
        {
            self.tokens.remove(at + 2);
            self.tokens.remove(at);
        }
    }

    /// A string, or a part of one: what is in it.
    fn string(&mut self, line: usize, at: usize, to: usize) -> usize {
        let class = self.view.classes[at];
        let end = (at..to).find(|at| self.view.classes[*at] != class).unwrap_or(to);
        if class != Class::Quote {
            let text = format!("\"{}", &self.view.text[at..end]);
            self.push(&text, line);
        } else if !self.tokens.last().is_some_and(|last| last.text.starts_with('"')) {
            // The beginning stands for a string that is empty, too.
            self.push("\"", line);
        }
        end
    }

    fn push(&mut self, text: &str, line: usize) {
        self.tokens.push(Token { text: text.to_owned(), line });
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The text after a `;` makes it superfluous.
fn ends(after: &str) -> bool {
    let after = after.trim_start();
    after.is_empty() || after.starts_with('}') || after.starts_with("//")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(language: Language, text: &str) -> String {
        let view = View::new(text, Some(language));
        joined(&tokens(&view, language, &[(0, view.len())]))
    }

    #[test]
    fn how_it_is_laid_out_says_nothing() {
        for (language, one, other) in [
            (Language::Rust, "f(a, b); // c", "f(\n    a,\n    b,\n);"),
            (Language::Python, "f( a,'b' )", "f(\n  a,\n  \"b\",\n)"),
            (Language::Python, "if a:\n  b\n  c", "if a:\n    b\n\n    # d\n    c"),
            (Language::Js, "it('a', () => { b(); });", "it(\"a\", () => {\n  b()\n})\n"),
            (Language::Js, "a.map((b) => b);", "a.map(b => b);"),
            (Language::Go, "if a {\n\tb()\n}", "if a { b() }"),
        ] {
            assert_eq!(said(language, one), said(language, other), "{one}");
        }
    }

    #[test]
    fn what_it_says_does() {
        for (language, one, other) in [
            (Language::Rust, "f(a, b);", "f(a, c);"),
            (Language::Rust, "f(\"a b\");", "f(\"a  b\");"),
            (Language::Python, "f('')", "f()"),
            (Language::Python, "if a:\n  b\n  c", "if a:\n  b\nc"),
            (Language::Js, "a(b);", "a(!b);"),
        ] {
            assert_ne!(said(language, one), said(language, other), "{one}");
        }
    }
}

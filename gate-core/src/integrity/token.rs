//! The tokens of a piece of code, without its layout.
//!
//! Two pieces with the same tokens differ in white space, comments, quotes and
//! trailing commas alone, as formatters leave them. Where indentation has a
//! meaning, steps of it are tokens.

use std::ops::Range;

use super::language::Language;
use super::lexer::{ByteClass, SourceView};

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
pub(super) fn tokens(view: &SourceView<'_>, language: Language, lines: Range<usize>) -> Vec<Token> {
    let mut tokenizer =
        Tokenizer { view, language, tokens: Vec::new(), indents: vec![0], depth: 0 };
    lines.for_each(|line| tokenizer.read_line(line));
    tokenizer.tokens
}

/// One text of the tokens, to be compared. The sign between them stands in no source.
pub(super) fn joined(tokens: &[Token]) -> String {
    let texts: Vec<_> = tokens.iter().map(|token| token.text.as_str()).collect();
    texts.join("\u{1}")
}

struct Tokenizer<'v, 't> {
    view: &'v SourceView<'t>,
    language: Language,
    tokens: Vec<Token>,
    /// The widths of the indentations that are open.
    indents: Vec<usize>,
    /// Brackets that are open. In them a line may be indented in any way.
    depth: usize,
}

impl Tokenizer<'_, '_> {
    fn read_line(&mut self, line: usize) {
        let span = self.view.line_span(line);
        if self.language.has_indented_blocks() && self.depth == 0 {
            self.read_indent(line, span.clone());
        }
        let Range { start: mut offset, end } = span;
        while offset < end {
            offset = match self.view.classes[offset] {
                ByteClass::Comment => offset + 1,
                ByteClass::Code => self.read_code(line, offset, end),
                ByteClass::Quote | ByteClass::Text | ByteClass::Long => {
                    self.read_string(line, offset, end)
                }
            };
        }
    }

    /// A step of indentation, where a line begins a statement.
    fn read_indent(&mut self, line: usize, span: Range<usize>) {
        let start = span.start;
        let line_bytes = &self.view.text.as_bytes()[span];
        let Some(width) = line_bytes.iter().position(|byte| !byte.is_ascii_whitespace()) else {
            return;
        };
        // A comment may stand further left than its block, and the text of a long string anywhere.
        if !matches!(self.view.classes[start + width], ByteClass::Code | ByteClass::Quote) {
            return;
        }
        // The first line is level, however deep its test stands in a class.
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

    /// Reads a word or a sign. Returns the offset after it.
    fn read_code(&mut self, line: usize, start: usize, line_end: usize) -> usize {
        let text = &self.view.text[start..line_end];
        let Some(c) = text.chars().next() else { return line_end };
        if c.is_whitespace() {
            return start + c.len_utf8();
        }
        let length = if is_word(c) {
            let word = text.char_indices().take_while(|(offset, c)| {
                is_word(*c) && self.view.classes[start + offset] == ByteClass::Code
            });
            word.map(|(_, c)| c.len_utf8()).sum()
        } else {
            c.len_utf8()
        };
        let (token, following) = text.split_at(length);
        self.push_code(line, token, following);
        start + length
    }

    /// Adds a word or a sign, and leaves out what formatters add and remove.
    fn push_code(&mut self, line: usize, text: &str, following: &str) {
        match text.chars().next().unwrap_or_default() {
            '(' | '[' | '{' => self.depth += 1,
            ')' | ']' | '}' => {
                self.depth = self.depth.saturating_sub(1);
                if self.tokens.last().is_some_and(|last| last.text == ",") {
                    self.tokens.pop();
                }
            }
            ';' if self.language == Language::Js && is_superfluous_before(following) => return,
            '>' if self.language == Language::Js => self.strip_lone_parameter(),
            _ => {}
        }
        self.push(text, line);
    }

    /// `(a) =>` is `a =>`.
    fn strip_lone_parameter(&mut self) {
        let first = self.tokens.len().saturating_sub(4);
        let last_tokens = &self.tokens[first..];
        let texts: Vec<&str> = last_tokens.iter().map(|token| token.text.as_str()).collect();
        if let ["(", name, ")", "="] = texts[..]
            && name.starts_with(is_word)
        {
            self.tokens.remove(first + 2);
            self.tokens.remove(first);
        }
    }

    /// Reads the text of a string, or one of its quotes. Returns the offset after it.
    fn read_string(&mut self, line: usize, start: usize, line_end: usize) -> usize {
        let class = self.view.classes[start];
        let is_other = |offset: &usize| self.view.classes[*offset] != class;
        let end = (start..line_end).find(is_other).unwrap_or(line_end);
        if class != ByteClass::Quote {
            let text = format!("\"{}", &self.view.text[start..end]);
            self.push(&text, line);
        } else if !self.tokens.last().is_some_and(|last| last.text.starts_with('"')) {
            // An empty string has quotes alone, and is a token as well.
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

/// A `;` of JavaScript may be left out before this text.
fn is_superfluous_before(following: &str) -> bool {
    let following = following.trim_start();
    following.is_empty() || following.starts_with('}') || following.starts_with("//")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token_text(language: Language, text: &str) -> String {
        let view = SourceView::new(text, Some(language));
        joined(&tokens(&view, language, 0..view.line_count()))
    }

    #[test]
    fn layout_makes_no_difference() {
        for (language, text, other_text) in [
            (Language::Rust, "f(a, b); // c", "f(\n    a,\n    b,\n);"),
            (Language::Python, "f( a,'b' )", "f(\n  a,\n  \"b\",\n)"),
            (Language::Python, "if a:\n  b\n  c", "if a:\n    b\n\n    # d\n    c"),
            (Language::Js, "it('a', () => { b(); });", "it(\"a\", () => {\n  b()\n})\n"),
            (Language::Js, "a.map((b) => b);", "a.map(b => b);"),
            (Language::Go, "if a {\n\tb()\n}", "if a { b() }"),
        ] {
            assert_eq!(token_text(language, text), token_text(language, other_text), "{text}");
        }
    }

    #[test]
    fn other_code_makes_a_difference() {
        for (language, text, other_text) in [
            (Language::Rust, "f(a, b);", "f(a, c);"),
            (Language::Rust, "f(\"a b\");", "f(\"a  b\");"),
            (Language::Python, "f('')", "f()"),
            (Language::Python, "if a:\n  b\n  c", "if a:\n  b\nc"),
            (Language::Js, "a(b);", "a(!b);"),
        ] {
            assert_ne!(token_text(language, text), token_text(language, other_text), "{text}");
        }
    }
}

//! The tokens of a test file, so that layout says nothing and all else is kept: where a
//! line break, an indentation or a comma has a meaning, it is a token.

use crate::integrity::language::Language;
use crate::integrity::lexer::{Class, View};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Kind {
    Word,
    Literal,
    Sign,
    /// The end of a line, or a step of indentation.
    Break,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Token {
    pub(super) text: String,
    pub(super) kind: Kind,
}

impl Token {
    pub(super) fn is(&self, text: &str) -> bool {
        self.text == text && self.kind != Kind::Literal
    }

    pub(super) fn is_word(&self) -> bool {
        self.kind == Kind::Word
    }
}

/// A test file as tokens.
#[derive(Debug, Default)]
pub(super) struct Read {
    pub(super) tokens: Vec<Token>,
    pub(super) comments: Vec<String>,
    /// Lines of comments and strings that end with a backslash.
    pub(super) continued: usize,
}

pub(super) const END: &str = "\u{b6}";
pub(super) const IN: &str = "\u{bb}";
pub(super) const OUT: &str = "\u{ab}";

const SIGNS: [&str; 32] = [
    "===", "!==", "**=", "//=", "...", "..=", "==", "!=", "<=", ">=", "=>", "->", "::", ":=", "&&",
    "||", "**", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", "..", "??", "?.", "++", "--", "<-",
    "//",
];

const CONSTANTS: [&str; 9] =
    ["True", "False", "None", "true", "false", "null", "nil", "undefined", "NaN"];

pub(super) fn read(text: &str, language: Language) -> Read {
    let view = View::new(text, Some(language));
    let mut reader = Reader {
        view: &view,
        language,
        read: Read::default(),
        open: Vec::new(),
        indents: vec![0],
        is_line_start: true,
        is_header: false,
    };
    let mut at = 0;
    while at < text.len() {
        at = reader.next(at);
    }
    reader.line_end();
    if language == Language::Python {
        reader.indent(0);
    }
    reader.read.continued = (0..view.len())
        .map(|line| view.range(line))
        .filter(|(from, to)| from < to && text.as_bytes()[to - 1] == b'\\' && !view.is_code(to - 1))
        .count();
    if language == Language::Python {
        without_docstrings(&mut reader.read.tokens);
    }
    reader.read
}

impl Read {
    /// The comments that a tool reads; all of them if one is an expected output.
    pub(super) fn directives(&self, language: Language) -> Vec<String> {
        const READ: &str = "coding go: +build @jest @vitest jest- vitest- @ts- istanbul c8 v8 pragma \
            output: doctest @jsx @flow export line mypy: pytest";
        let lower = |comment: &String| comment.to_lowercase();
        let has_output = |comment: &String| lower(comment).contains("output:");
        let reads_all = language == Language::Go && self.comments.iter().any(has_output);
        let is_read = |comment: &&String| {
            reads_all || READ.split_whitespace().any(|word| lower(comment).contains(word))
        };
        let mut directives: Vec<String> = self.comments.iter().filter(is_read).cloned().collect();
        if !reads_all {
            directives.sort();
        }
        directives
    }
}

struct Reader<'v, 't> {
    view: &'v View<'t>,
    language: Language,
    read: Read,
    /// The tokens that the open brackets are.
    open: Vec<usize>,
    indents: Vec<usize>,
    is_line_start: bool,
    /// The last `)` closed the head of a loop or a condition.
    is_header: bool,
}

impl Reader<'_, '_> {
    fn last(&self) -> Option<&Token> {
        self.read.tokens.last()
    }

    fn push(&mut self, text: &str, kind: Kind) {
        self.read.tokens.push(Token { text: text.to_owned(), kind });
    }

    fn next(&mut self, at: usize) -> usize {
        let text = self.view.text;
        let class = self.view.classes[at];
        let run = |same: fn(Class) -> bool| {
            (at..text.len()).find(|at| !same(self.view.classes[*at])).unwrap_or(text.len())
        };
        match class {
            Class::Comment => {
                let end = run(|class| class == Class::Comment);
                self.read
                    .comments
                    .push(text[at..end].split_whitespace().collect::<Vec<_>>().join(" "));
                // A comment on many lines ends a line as well.
                if text[at..end].contains('\n') {
                    self.line_end();
                }
                end
            }
            Class::Code => {
                let Some(c) = text[at..].chars().next() else { return text.len() };
                let end = at + c.len_utf8();
                if c == '\n' {
                    self.line_end();
                    return end;
                }
                if c.is_whitespace() {
                    return end;
                }
                if c == '\\' && text[end..].trim_start_matches('\r').starts_with('\n') {
                    return text[end..].find('\n').map_or(end, |line| end + line + 1);
                }
                self.begin(at);
                self.code(at, c)
            }
            _ => {
                let end = run(|class| matches!(class, Class::Quote | Class::Text | Class::Long));
                self.begin(at);
                let literal = self.quoted(&text[at..end]);
                self.push(&literal, Kind::Literal);
                end
            }
        }
    }

    /// The meaning of a token's place at the beginning of a line.
    fn begin(&mut self, at: usize) {
        if !std::mem::take(&mut self.is_line_start) {
            return;
        }
        if self.language == Language::Python && self.open.is_empty() {
            let before = &self.view.text[..at];
            let from = before.rfind('\n').map_or(0, |line| line + 1);
            self.indent(at - from);
        }
        if self.language == Language::Js {
            self.js_break(at);
        }
    }

    fn indent(&mut self, width: usize) {
        if self.indents.last().is_some_and(|last| *last < width) {
            self.indents.push(width);
            self.push(IN, Kind::Break);
        }
        while self.indents.len() > 1 && self.indents.last().is_some_and(|last| *last > width) {
            self.indents.pop();
            self.push(OUT, Kind::Break);
        }
    }

    fn line_end(&mut self) {
        self.is_line_start = true;
        match self.language {
            Language::Python => {
                let is_open = self.last().is_some_and(|last| last.kind != Kind::Break);
                if self.open.is_empty() && is_open {
                    self.push(END, Kind::Break);
                }
            }
            Language::Go => {
                let ends = self.last().is_some_and(|last| match last.kind {
                    Kind::Word => !matches!(
                        last.text.as_str(),
                        "func" | "if" | "for" | "else" | "var" | "const"
                    ),
                    Kind::Literal => true,
                    Kind::Sign => matches!(last.text.as_str(), ")" | "]" | "}" | "++" | "--"),
                    Kind::Break => false,
                });
                if ends {
                    self.push(";", Kind::Sign);
                }
            }
            _ => {}
        }
    }

    /// JavaScript ends a statement with a line where the next one cannot go on.
    fn js_break(&mut self, at: usize) {
        const GOES_ON: &str = "([`/+-*.,?:=&|<>%^)]}";
        let rest = &self.view.text[at..];
        let word: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let Some(last) = self.last() else { return };
        let jumps =
            matches!(last.text.as_str(), "return" | "throw" | "break" | "continue" | "yield");
        let is_step = rest.starts_with("++") || rest.starts_with("--");
        let goes_on = (rest.starts_with(|c| GOES_ON.contains(c)) && !is_step)
            || matches!(word.as_str(), "else" | "catch" | "finally" | "in" | "instanceof")
            || self.is_header
            || last.kind == Kind::Break
            || (last.kind == Kind::Sign
                && !matches!(last.text.as_str(), ")" | "]" | "}" | "++" | "--"));
        if jumps || !goes_on {
            self.push(END, Kind::Break);
        }
    }

    fn code(&mut self, at: usize, c: char) -> usize {
        let text = self.view.text;
        let rest = &text[at..];
        let was_header = std::mem::take(&mut self.is_header);
        let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
        if is_part(c) {
            let is_number = c.is_ascii_digit();
            let mut end = at;
            let mut before = ' ';
            for (offset, c) in rest.char_indices() {
                let place = at + offset;
                let next = rest[offset + c.len_utf8()..].chars().next();
                let in_number = is_number
                    && ((c == '.' && next.is_some_and(|next| next.is_ascii_digit()))
                        || (matches!(c, '+' | '-') && matches!(before, 'e' | 'E')));
                if !(is_part(c) || in_number) || !self.view.is_code(place) {
                    break;
                }
                before = c;
                end = place + c.len_utf8();
            }
            let word = &text[at..end];
            let is_literal = is_number || CONSTANTS.contains(&word);
            self.push(word, if is_literal { Kind::Literal } else { Kind::Word });
            return end;
        }
        let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign)).copied();
        let length = sign.map_or(c.len_utf8(), str::len);
        self.sign(&rest[..length], was_header);
        at + length
    }

    fn sign(&mut self, sign: &str, was_header: bool) {
        match sign {
            "(" | "[" | "{" => self.open.push(self.read.tokens.len()),
            ")" | "]" | "}" => {
                let open = self.open.pop();
                if self.language == Language::Go && self.last().is_some_and(|last| last.is(";")) {
                    self.read.tokens.pop();
                }
                if self.language == Language::Js
                    && sign == "}"
                    && self.last().is_some_and(|last| last.kind == Kind::Break)
                {
                    self.read.tokens.pop();
                }
                self.trailing_comma(sign, open);
                let head = open.and_then(|open| open.checked_sub(1));
                let head = head.map(|head| self.read.tokens[head].text.as_str());
                self.is_header =
                    sign == ")" && matches!(head, Some("if" | "for" | "while" | "with"));
            }
            ";" if self.language == Language::Js => {
                let in_head = self.open.last().is_some_and(|open| self.read.tokens[*open].is("("));
                let is_empty = was_header
                    || self.last().is_some_and(|last| matches!(last.text.as_str(), "else" | "do"));
                if !in_head && !is_empty {
                    if self.last().is_some_and(|last| last.kind != Kind::Break && !last.is("{")) {
                        self.push(END, Kind::Break);
                    }
                    return;
                }
            }
            _ => {}
        }
        self.push(sign, Kind::Sign);
    }

    /// A comma before a closing bracket is layout, unless it makes a tuple or a hole.
    fn trailing_comma(&mut self, sign: &str, open: Option<usize>) {
        let tokens = &self.read.tokens;
        let Some(open) = open else { return };
        if !tokens.last().is_some_and(|last| last.is(",")) || tokens.len() < open + 3 {
            return;
        }
        let is_hole = tokens[tokens.len() - 2].is(",");
        let before = open.checked_sub(1).map(|before| &tokens[before]);
        let follows_value = before.is_some_and(|before| match before.kind {
            Kind::Word => !is_keyword(&before.text),
            Kind::Literal => true,
            _ => matches!(before.text.as_str(), ")" | "]" | "!" | ">"),
        });
        let is_tuple = match (self.language, sign) {
            (Language::Python | Language::Rust, ")") => !follows_value,
            (Language::Python, "]") => follows_value,
            _ => false,
        };
        if !is_hole && !is_tuple {
            self.read.tokens.pop();
        }
    }

    /// A string with one kind of quotes, where the kind says nothing.
    fn quoted(&self, text: &str) -> String {
        let inner = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
        match inner {
            Some(inner)
                if matches!(self.language, Language::Python | Language::Js)
                    && !inner.contains(['\'', '"', '\\']) =>
            {
                format!("\"{inner}\"")
            }
            _ => text.to_owned(),
        }
    }
}

/// Takes strings out that stand alone and hold no example.
fn without_docstrings(tokens: &mut Vec<Token>) {
    let is_start = |at: usize, tokens: &[Token]| at == 0 || tokens[at - 1].kind == Kind::Break;
    let mut at = 0;
    while at + 1 < tokens.len() {
        let text = &tokens[at].text;
        let is_string = tokens[at].kind == Kind::Literal && text.ends_with(['"', '\'']);
        if is_string && is_start(at, tokens) && tokens[at + 1].is(END) && !text.contains(">>>") {
            tokens.drain(at..at + 2);
        } else {
            at += 1;
        }
    }
}

/// The text of a token; empty if there is none.
pub(super) fn text(tokens: &[Token], at: usize) -> &str {
    tokens.get(at).map_or("", |token| token.text.as_str())
}

/// The text of the token before.
pub(super) fn text_before(tokens: &[Token], at: usize) -> &str {
    at.checked_sub(1).map_or("", |before| text(tokens, before))
}

/// The token after the bracket that closes the one here.
pub(super) fn closed(tokens: &[Token], open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        if token.kind != Kind::Sign {
            continue;
        }
        match token.text.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

pub(super) fn is_keyword(word: &str) -> bool {
    const KEYWORDS: &[&str] = &[
        "and",
        "as",
        "assert",
        "async",
        "await",
        "break",
        "case",
        "catch",
        "chan",
        "class",
        "const",
        "continue",
        "def",
        "default",
        "defer",
        "del",
        "delete",
        "do",
        "elif",
        "else",
        "enum",
        "except",
        "export",
        "extends",
        "extern",
        "finally",
        "fn",
        "for",
        "from",
        "func",
        "function",
        "global",
        "go",
        "goto",
        "if",
        "impl",
        "import",
        "in",
        "instanceof",
        "interface",
        "is",
        "lambda",
        "let",
        "loop",
        "match",
        "mod",
        "move",
        "mut",
        "new",
        "nonlocal",
        "not",
        "of",
        "or",
        "package",
        "pass",
        "pub",
        "raise",
        "range",
        "ref",
        "return",
        "select",
        "static",
        "struct",
        "switch",
        "throw",
        "trait",
        "try",
        "type",
        "typeof",
        "unsafe",
        "use",
        "var",
        "void",
        "where",
        "while",
        "with",
        "yield",
    ];
    KEYWORDS.contains(&word)
}

//! The statements of a test, with the conditions that each stands under.

use std::collections::HashMap;

use super::language::Language;
use super::token::Token;

/// The longest value that stands for its variable, in tokens.
const MAX_VALUE_TOKENS: usize = 200;

/// Words of headers that decide whether what stands below them counts.
const GUARDS: &[&str] = &[
    "if",
    "elif",
    "else",
    "unless",
    "try",
    "except",
    "catch",
    "rescue",
    "while",
    "until",
    "switch",
    "suppress",
    "raises",
    "assertRaises",
    "throws",
    "raise_error",
    "def",
    "lambda",
    "catch_unwind",
    "patch",
    "mock",
];

/// A statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Statement {
    /// Its tokens; a variable that was set just once above has its value's tokens in its place.
    pub(super) tokens: Vec<String>,
    /// The headers that it stands under and that decide whether it counts.
    pub(super) guards: Vec<String>,
    /// It only gives a variable its value.
    pub(super) sets: bool,
    /// It opens a block.
    pub(super) opens: bool,
}

/// Signs of two or three characters.
const SIGNS: &[&str] =
    &["===", "!==", "==", "!=", "<=", ">=", "&&", "||", ":=", "=>", "->", "::", "+=", "-="];

/// The statements of some tokens.
pub(super) fn statements(tokens: &[Token], language: Language) -> Vec<Statement> {
    let mut splitter = Splitter::default();
    let mut at = 0;
    while at < tokens.len() {
        let line = tokens[at].line;
        let sign = SIGNS.iter().find(|sign| {
            let mut parts = tokens[at..].iter();
            sign.chars().all(|c| {
                parts.next().is_some_and(|part| part.line == line && part.text == c.to_string())
            })
        });
        let is_closure = language == Language::Rust && sign == Some(&"||");
        match sign {
            Some(sign) if !is_closure => {
                splitter.token(sign, line);
                at += sign.len();
            }
            _ => {
                splitter.token(&tokens[at].text, line);
                at += 1;
            }
        }
    }
    splitter.end(false);
    substituted(splitter.found)
}

#[derive(Default)]
struct Splitter {
    found: Vec<Statement>,
    tokens: Vec<String>,
    line: usize,
    /// The depth of round and square brackets in each open block.
    depths: Vec<usize>,
    /// For each open brace: whether it opens a block.
    braces: Vec<bool>,
    /// The header of each open block, if it is a guard.
    headers: Vec<Option<String>>,
    depth: usize,
    last_header: Option<String>,
}

impl Splitter {
    fn token(&mut self, text: &str, line: usize) {
        let opens = matches!(text, "»" | "{");
        if line != self.line && self.depth == 0 && !opens && !self.goes_on(text) {
            self.end(false);
        }
        self.line = line;
        match text {
            "»" => {
                self.end(true);
                self.open();
            }
            "«" => {
                self.end(false);
                self.headers.pop();
            }
            "{" => {
                let block = self.is_block();
                self.braces.push(block);
                if block {
                    self.end(true);
                    self.open();
                    self.depths.push(std::mem::take(&mut self.depth));
                } else {
                    self.depth += 1;
                    self.tokens.push(text.to_owned());
                }
            }
            "}" => {
                if self.braces.pop().unwrap_or(true) {
                    self.end(false);
                    self.headers.pop();
                    self.depth = self.depths.pop().unwrap_or(0);
                } else {
                    self.depth = self.depth.saturating_sub(1);
                    self.tokens.push(text.to_owned());
                }
            }
            ";" if self.depth == 0 && self.tokens.first().is_none_or(|first| first != "if") => {
                self.end(false);
            }
            _ => {
                match text {
                    "(" | "[" => self.depth += 1,
                    ")" | "]" => self.depth = self.depth.saturating_sub(1),
                    _ => {}
                }
                self.tokens.push(text.to_owned());
            }
        }
    }

    /// A line that begins so goes on with the one before.
    fn goes_on(&self, text: &str) -> bool {
        let last = self.tokens.last().map_or("", String::as_str);
        matches!(text, "." | "?" | "&&" | "||")
            || matches!(last, "=" | ":=" | "." | "," | "&&" | "||" | "==" | "+" | "=>")
    }

    /// A brace opens a block, and no literal.
    fn is_block(&self) -> bool {
        let Some(last) = self.tokens.last() else { return true };
        let asserts = self.tokens.iter().take(3).any(|word| is_assertion(word));
        let is_value = matches!(last.as_str(), "(" | "," | ":" | "=" | "[" | "return" | ":=" | "{");
        let is_name = self.depth > 0 && last.starts_with(|c: char| c.is_alphanumeric());
        !(asserts && self.depth > 0 || is_value || is_name)
    }

    fn open(&mut self) {
        self.headers.push(self.last_header.take());
    }

    fn end(&mut self, opens: bool) {
        let tokens = std::mem::take(&mut self.tokens);
        if opens {
            let is_guard = tokens.iter().any(|word| GUARDS.contains(&word.as_str()));
            // The test's own head is none.
            let is_head = self.headers.is_empty();
            let empty = tokens.windows(2).any(|pair| pair == ["in", "["] || pair == ["in", "("])
                && tokens.windows(2).any(|pair| pair == ["[", "]"] || pair == ["(", ")"]);
            self.last_header = ((is_guard && !is_head) || empty).then(|| tokens.join(" "));
        }
        if tokens.iter().all(|token| matches!(token.as_str(), ")" | "]" | "," | ";")) {
            return;
        }
        let guards = self.headers.iter().flatten().cloned().collect();
        self.found.push(Statement { tokens, guards, sets: false, opens });
    }
}

/// A word by which frameworks assert something.
pub(super) fn is_assertion(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    ["assert", "expect", "require", "verify", "should"].iter().any(|head| lower.starts_with(head))
}

/// Puts values in the place of variables.
fn substituted(statements: Vec<Statement>) -> Vec<Statement> {
    let mut values: HashMap<String, Vec<String>> = HashMap::new();
    let replaced = statements.into_iter().map(|statement| {
        let set = if statement.opens { None } else { assignment(&statement.tokens) };
        let from = set.as_ref().map_or(0, |(_, at)| *at);
        let mut tokens = statement.tokens[..from].to_vec();
        for (at, token) in statement.tokens.iter().enumerate().skip(from) {
            let is_member = at > 0 && matches!(statement.tokens[at - 1].as_str(), "." | "::");
            match values.get(token) {
                Some(value) if !is_member => tokens.extend(value.iter().cloned()),
                _ => tokens.push(token.clone()),
            }
        }
        if let Some((name, at)) = set {
            let value = tokens[at..].to_vec();
            if value.len() <= MAX_VALUE_TOKENS {
                values.insert(name, value);
                return Statement { tokens, sets: true, ..statement };
            }
        }
        let head = tokens.iter().position(|token| token == ":=");
        let end = tokens.iter().position(|token| token == ";");
        if let (Some(head), Some(end), Some("if")) = (head, end, tokens.first().map(String::as_str))
            && head == 2
            && head < end
        {
            // What is set in the condition itself.
            let (name, value) = (tokens[1].clone(), tokens[head + 1..end].to_vec());
            let mut short = vec!["if".to_owned()];
            for token in &tokens[end + 1..] {
                if *token == name {
                    short.extend(value.iter().cloned());
                } else {
                    short.push(token.clone());
                }
            }
            return Statement { tokens: short, ..statement };
        }
        Statement { tokens, ..statement }
    });
    replaced.collect()
}

/// The variable that a statement sets, and where its value begins.
fn assignment(tokens: &[String]) -> Option<(String, usize)> {
    let at = tokens.iter().position(|token| matches!(token.as_str(), "=" | ":="))?;
    let left = &tokens[..at];
    if left.iter().any(|token| matches!(token.as_str(), "." | "(" | "[" | "," | "@" | "#" | "{")) {
        return None;
    }
    let words =
        left.iter().filter(|token| token.starts_with(|c: char| c.is_alphabetic() || c == '_'));
    let declares = ["let", "const", "var", "val", "mut", "final", "auto"];
    let words: Vec<_> = words.filter(|word| !declares.contains(&word.as_str())).collect();
    let typed = left.iter().any(|token| token == ":");
    let name = if typed { words.first() } else { words.last() }?;
    Some(((*name).clone(), at + 1))
}

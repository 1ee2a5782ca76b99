//! Tests that follow a new name of the product: the old text of a test, with the names that the
//! product gave up replaced by those that it took instead.
//!
//! Names are what the product defines. A test's edit only shows which old name became which new
//! one: what runs is the old text, so that whatever else the edit did decides nothing.

use std::collections::{BTreeMap, BTreeSet};

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::compare::difference;
use super::language::Language;
use super::lexer::{Class, Part, View};

/// The names that a change of the product gave up, and those that it took.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProductNames {
    given_up: BTreeSet<String>,
    taken: BTreeSet<String>,
}

impl ProductNames {
    /// Adds a changed file of the product; a version is none if the file is not there in it.
    pub fn add_file(&mut self, path: &str, before: Option<&[u8]>, now: Option<&[u8]>) {
        // Modules and packages are called like their files and folders.
        let parts = words(path).map(|(_, word)| word.to_owned());
        match (before, now) {
            (None, Some(_)) => self.taken.extend(parts),
            (Some(_), None) => self.given_up.extend(parts),
            _ => {}
        }
        let language = Language::from_path(path);
        let [before, now] =
            [before, now].map(|bytes| String::from_utf8_lossy(bytes.unwrap_or_default()));
        let difference = difference(&before, &now);
        for (text, numbers, names) in [
            (&before, difference.removed, &mut self.given_up),
            (&now, difference.added, &mut self.taken),
        ] {
            let view = View::new(text, language);
            for number in numbers {
                names.extend(definitions(&view.part(number, Part::Code)));
            }
        }
    }

    /// True if the product has this new name in the place of this old one.
    fn has_renamed(&self, old: &str, new: &str) -> bool {
        let only = |one: &BTreeSet<String>, other: &BTreeSet<String>, name: &str| {
            one.contains(name) && !other.contains(name)
        };
        only(&self.given_up, &self.taken, old) && only(&self.taken, &self.given_up, new)
    }

    /// No name was given up, or none taken.
    pub fn is_empty(&self) -> bool {
        self.given_up.is_empty() || self.taken.is_empty()
    }
}

/// The old text of a test with the names of the product's new ones, as an edit of it shows them; none
/// if it shows none, or two for one.
pub fn with_new_names(
    path: &str,
    before: &[u8],
    now: &[u8],
    names: &ProductNames,
) -> Option<Vec<u8>> {
    let (before, now) = (std::str::from_utf8(before).ok()?, std::str::from_utf8(now).ok()?);
    let language = Language::from_path(path);
    let [old, new] = [before, now].map(|text| tokens(&View::new(text, language)));
    let renamed = aligned(&old, &new, names)?;
    let mut text = String::new();
    let mut end = 0;
    for token in old.iter().filter(|token| token.is_name) {
        let Some(name) = renamed.get(token.text) else { continue };
        text += &before[end..token.start];
        text += name;
        end = token.start + token.text.len();
    }
    text += &before[end..];
    (text != before).then(|| text.into_bytes())
}

/// A word or a sign.
struct Token<'t> {
    text: &'t str,
    /// Offset in bytes.
    start: usize,
    /// It may name something: a word of code, or a part of a path in a string.
    is_name: bool,
}

fn tokens<'t>(view: &View<'t>) -> Vec<Token<'t>> {
    let mut tokens = Vec::new();
    let mut end = 0;
    let text = view.text;
    let signs = |from: usize, to: usize, tokens: &mut Vec<Token<'t>>| {
        for (offset, sign) in text[from..to].char_indices().filter(|(_, c)| !c.is_whitespace()) {
            let (start, length) = (from + offset, sign.len_utf8());
            tokens.push(Token { text: &text[start..start + length], start, is_name: false });
        }
    };
    for (start, word) in words(text) {
        signs(end, start, &mut tokens);
        end = start + word.len();
        let is_in_path = |byte: Option<&u8>| matches!(byte, Some(b'.' | b'/' | b':'));
        let bytes = text.as_bytes();
        let before = start.checked_sub(1).and_then(|at| bytes.get(at));
        let is_name = match view.classes[start] {
            Class::Code => true,
            Class::Text | Class::Long => is_in_path(before) || is_in_path(bytes.get(end)),
            Class::Quote | Class::Comment => false,
        };
        tokens.push(Token { text: word, start, is_name });
    }
    signs(end, text.len(), &mut tokens);
    tokens
}

/// The new names by the old ones, from the places where an edit has one for the other.
fn aligned<'t>(
    old: &[Token<'t>],
    new: &[Token<'t>],
    names: &ProductNames,
) -> Option<BTreeMap<&'t str, &'t str>> {
    let [before, now] =
        [old, new].map(|tokens| tokens.iter().map(|token| token.text).collect::<Vec<_>>());
    let mut renamed = BTreeMap::new();
    for op in capture_diff_slices(Algorithm::Myers, &before, &now) {
        let DiffOp::Replace { old_index, old_len, new_index, new_len } = op else { continue };
        if old_len != new_len {
            continue;
        }
        let pairs = old[old_index..old_index + old_len].iter().zip(&new[new_index..]);
        for (old, new) in pairs.filter(|(old, new)| old.is_name && new.is_name) {
            if names.has_renamed(old.text, new.text)
                && *renamed.entry(old.text).or_insert(new.text) != new.text
            {
                return None;
            }
        }
    }
    (!renamed.is_empty()).then_some(renamed)
}

/// Words after which a name is defined.
const DEFINING: [&str; 28] = [
    "alias",
    "class",
    "const",
    "def",
    "define",
    "enum",
    "fn",
    "fun",
    "func",
    "function",
    "interface",
    "let",
    "mod",
    "module",
    "namespace",
    "object",
    "package",
    "protocol",
    "record",
    "struct",
    "sub",
    "trait",
    "type",
    "typedef",
    "union",
    "val",
    "var",
    "macro_rules",
];

/// Words that begin a statement which calls, and defines nothing.
const CALLING: [&str; 13] = [
    "assert", "await", "catch", "elif", "else", "for", "if", "match", "new", "return", "switch",
    "while", "with",
];

/// The names that a line of code defines: after a word that says so, at its beginning before `=` or
/// `:`, or as a method whose body it opens.
fn definitions(line: &str) -> Vec<String> {
    let opens_body = line.trim_end().ends_with('{');
    let all: Vec<_> = words(line).collect();
    let mut names = Vec::new();
    for (at, (start, word)) in all.iter().enumerate() {
        let (before, after) = (line[..*start].trim_end(), line[start + word.len()..].trim_start());
        let is_after_keyword = at > 0 && {
            let (keyword_start, keyword) = all[at - 1];
            let between = &line[keyword_start + keyword.len()..*start];
            DEFINING.contains(&keyword) && between.chars().all(|c| c.is_whitespace() || c == '!')
        };
        // A method of Go has its receiver between.
        let is_after_receiver = before.ends_with(')') && before.starts_with("func (");
        let has_modifiers_alone =
            before.chars().all(|c| c.is_alphanumeric() || " _\t<>[],?@".contains(c))
                && !all[..at].iter().any(|(_, word)| CALLING.contains(word));
        let is_value =
            after.starts_with('=') && !after.starts_with("==") && !after.starts_with("=>");
        let is_set = is_value && (has_modifiers_alone || before.ends_with('.'));
        let is_field = after.starts_with(':') && before.is_empty();
        let is_method = opens_body
            && after.starts_with('(')
            && has_modifiers_alone
            && !CALLING.contains(word)
            && !all[at..].iter().any(|(_, other)| DEFINING.contains(other));
        if is_after_keyword || is_after_receiver || is_set || is_field || is_method {
            names.push((*word).to_owned());
        }
    }
    names
}

/// Words that may be names, with their offsets.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            let begin = rest.find(|c: char| c.is_alphanumeric() || c == '_')?;
            rest = &rest[begin..];
            let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            let start = text.len() - rest.len();
            rest = after;
            if !word.starts_with(|c: char| c.is_ascii_digit()) {
                return Some((start, word));
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, product: [&str; 2], test: [&str; 2], expected: Option<&str>) {
        let mut names = ProductNames::default();
        let [before, now] = product.map(str::as_bytes);
        names.add_file(path, Some(before), Some(now));
        let text = with_new_names(path, test[0].as_bytes(), test[1].as_bytes(), &names);
        let text = text.map(|text| String::from_utf8(text).unwrap());
        assert_eq!(text.as_deref(), expected, "{names:?}");
    }

    #[test]
    fn the_old_text_gets_the_new_names() {
        check(
            "a.py",
            ["def total(a):\n    return a\n", "def price(a):\n    return a\n"],
            [
                "from a import total\nassert total(2) == 2\npatch('a.total', 'total')\n",
                "from a import price\nassert price(2) == 3\ncheck()\n",
            ],
            Some("from a import price\nassert price(2) == 2\npatch('a.price', 'total')\n"),
        );
        check(
            "a.rs",
            [
                "pub trait ToTrain {\n    fn to_train(&self);\n}\n",
                "pub trait ToHttp {\n    fn to_http(&self);\n}\n",
            ],
            ["use a::ToTrain;\nx.to_train();\n", "use a::ToHttp;\nx.to_http();\n"],
            Some("use a::ToHttp;\nx.to_http();\n"),
        );
        check(
            "a.go",
            ["func (c *Cart) Total() int {\n", "func (c *Cart) Sum() int {\n"],
            ["if c.Total() != 2 {\n", "if c.Sum() != 2 {\n"],
            Some("if c.Sum() != 2 {\n"),
        );
        check(
            "a.js",
            ["exports.total = (a) => a;\n", "exports.sum = (a) => a;\n"],
            ["expect(total(1)).toBe(1);\n", "expect(sum(1)).toBe(1);\n"],
            Some("expect(sum(1)).toBe(1);\n"),
        );
    }

    #[test]
    fn another_value_is_no_new_name() {
        let product = ["def f():\n    return RED\n", "def f():\n    return BLUE\n"];
        check("a.py", product, ["assert f() == RED\n", "assert f() == BLUE\n"], None);
        let product = ["A = 1\nB = 2\n", "A = 2\nB = 1\n"];
        check("a.py", product, ["assert f() == A\n", "assert f() == B\n"], None);
        // One name cannot become two.
        let product = ["def f():\n", "def g():\n    pass\ndef h():\n"];
        check("a.py", product, ["f(1)\nf(2)\n", "g(1)\nh(2)\n"], None);
    }

    #[test]
    fn a_line_defines_names() {
        for (line, expected) in [
            ("pub(crate) fn a<T>(b: T) -> C {", &["a"][..]),
            ("  public static final int A = b(c);", &["A"]),
            ("  total(items) {", &["total"]),
            ("  if (total(items)) {", &[]),
            ("this.a = b", &["a"]),
            ("a == b", &[]),
            ("  name: String,", &["name"]),
            ("export const a = (b) => {", &["a"]),
            ("return total(a)", &[]),
        ] {
            assert_eq!(definitions(line), expected, "{line}");
        }
    }
}

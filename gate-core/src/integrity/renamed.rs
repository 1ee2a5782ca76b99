//! Tests that follow a new name of the product: the old text of a test, with the names that the
//! product gave up replaced by those that it took instead.
//!
//! Names are what the product defines. A test's edit only shows which old name became which new
//! one: what runs is the old text, so that whatever else the edit did decides nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::compare::difference;
use super::language::Language;
use super::lexer::{ByteClass, LinePart, SourceView};

/// The names that a change of the product gave up, and those that it took.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProductNames {
    given_up: BTreeSet<String>,
    taken: BTreeSet<String>,
}

impl ProductNames {
    /// Adds a changed file of the product; `None` is a version without the file.
    pub fn add_file(&mut self, path: &str, baseline: Option<&[u8]>, tree: Option<&[u8]>) {
        // Modules and packages are called like their files and folders.
        let path_words = words(path).map(|word| word.text.to_owned());
        match (baseline, tree) {
            (None, Some(_)) => self.taken.extend(path_words),
            (Some(_), None) => self.given_up.extend(path_words),
            _ => {}
        }
        let language = Language::from_path(path);
        let [old_text, new_text] =
            [baseline, tree].map(|bytes| String::from_utf8_lossy(bytes.unwrap_or_default()));
        let difference = difference(&old_text, &new_text);
        for (text, lines, names) in [
            (&old_text, difference.removed, &mut self.given_up),
            (&new_text, difference.added, &mut self.taken),
        ] {
            let view = SourceView::new(text, language);
            for line in lines {
                names.extend(definitions(&view.part(line, LinePart::Code)));
            }
        }
    }

    /// The product has the new name in the place of the old one.
    fn has_renamed(&self, old_name: &str, new_name: &str) -> bool {
        // A name that is in both sets has only moved.
        let is_given_up = self.given_up.contains(old_name) && !self.taken.contains(old_name);
        let is_taken = self.taken.contains(new_name) && !self.given_up.contains(new_name);
        is_given_up && is_taken
    }

    /// No name was given up, or none taken.
    pub fn is_empty(&self) -> bool {
        self.given_up.is_empty() || self.taken.is_empty()
    }
}

/// The baseline's text of a test with the product's new names, as an edit of the test shows them;
/// `None` if it shows no new name, or two for one.
pub fn with_new_names(
    path: &str,
    baseline: &[u8],
    tree: &[u8],
    names: &ProductNames,
) -> Option<Vec<u8>> {
    let old_text = std::str::from_utf8(baseline).ok()?;
    let new_text = std::str::from_utf8(tree).ok()?;
    let language = Language::from_path(path);
    let [old_tokens, new_tokens] =
        [old_text, new_text].map(|text| tokens(&SourceView::new(text, language)));
    let new_names = aligned_names(&old_tokens, &new_tokens, names)?;
    let mut text = String::new();
    let mut copied = 0;
    for token in old_tokens.iter().filter(|token| token.is_name) {
        let Some(new_name) = new_names.get(token.text) else { continue };
        text += &old_text[copied..token.start];
        text += new_name;
        copied = token.start + token.text.len();
    }
    text += &old_text[copied..];
    (text != old_text).then(|| text.into_bytes())
}

/// A word or a sign.
struct NameToken<'t> {
    text: &'t str,
    /// Offset in bytes.
    start: usize,
    /// It may name something: a word of code, or a part of a path in a string.
    is_name: bool,
}

fn tokens<'t>(view: &SourceView<'t>) -> Vec<NameToken<'t>> {
    let mut tokens = Vec::new();
    let mut scanned = 0;
    let text = view.text;
    let push_signs = |span: Range<usize>, tokens: &mut Vec<NameToken<'t>>| {
        let span_start = span.start;
        let signs = text[span].char_indices().filter(|(_, c)| !c.is_whitespace());
        for (offset, sign) in signs {
            let (start, length) = (span_start + offset, sign.len_utf8());
            tokens.push(NameToken { text: &text[start..start + length], start, is_name: false });
        }
    };
    for Word { start, text: word } in words(text) {
        push_signs(scanned..start, &mut tokens);
        scanned = start + word.len();
        let joins_path = |byte: Option<&u8>| matches!(byte, Some(b'.' | b'/' | b':'));
        let bytes = text.as_bytes();
        let previous_byte = start.checked_sub(1).and_then(|offset| bytes.get(offset));
        let is_name = match view.classes[start] {
            ByteClass::Code => true,
            // `patch("shop.cart.total")` names a function; a word of prose is no name.
            ByteClass::Text | ByteClass::Long => {
                joins_path(previous_byte) || joins_path(bytes.get(scanned))
            }
            ByteClass::Quote | ByteClass::Comment => false,
        };
        tokens.push(NameToken { text: word, start, is_name });
    }
    push_signs(scanned..text.len(), &mut tokens);
    tokens
}

/// The new names by the old ones, from the places where an edit has one for the other; `None` if there
/// is no such place, or one old name got two new ones.
fn aligned_names<'t>(
    old_tokens: &[NameToken<'t>],
    new_tokens: &[NameToken<'t>],
    names: &ProductNames,
) -> Option<BTreeMap<&'t str, &'t str>> {
    let [old_texts, new_texts] = [old_tokens, new_tokens]
        .map(|tokens| tokens.iter().map(|token| token.text).collect::<Vec<_>>());
    let mut new_names = BTreeMap::new();
    for op in capture_diff_slices(Algorithm::Myers, &old_texts, &new_texts) {
        let DiffOp::Replace { old_index, old_len, new_index, new_len } = op else { continue };
        // Only in pieces of the same length the words stand for each other.
        if old_len != new_len {
            continue;
        }
        let old_piece = &old_tokens[old_index..old_index + old_len];
        for (old, new) in old_piece.iter().zip(&new_tokens[new_index..]) {
            if old.is_name
                && new.is_name
                && names.has_renamed(old.text, new.text)
                && *new_names.entry(old.text).or_insert(new.text) != new.text
            {
                return None;
            }
        }
    }
    (!new_names.is_empty()).then_some(new_names)
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
    let line_words: Vec<_> = words(line).collect();
    let mut names = Vec::new();
    for (index, word) in line_words.iter().enumerate() {
        let preceding_text = line[..word.start].trim_end();
        let following_text = line[word.start + word.text.len()..].trim_start();
        let (preceding_words, following_words) = line_words.split_at(index);
        let is_after_keyword = preceding_words.last().is_some_and(|keyword| {
            let between = &line[keyword.start + keyword.text.len()..word.start];
            DEFINING.contains(&keyword.text)
                && between.chars().all(|c| c.is_whitespace() || c == '!')
        });
        // A method of Go has its receiver between `func` and its name.
        let is_after_receiver =
            preceding_text.ends_with(')') && preceding_text.starts_with("func (");
        let has_modifiers_alone =
            preceding_text.chars().all(|c| c.is_alphanumeric() || " _\t<>[],?@".contains(c))
                && !preceding_words.iter().any(|word| CALLING.contains(&word.text));
        let is_before_value = following_text.starts_with('=')
            && !following_text.starts_with("==")
            && !following_text.starts_with("=>");
        let is_assigned = is_before_value && (has_modifiers_alone || preceding_text.ends_with('.'));
        let is_field = following_text.starts_with(':') && preceding_text.is_empty();
        let is_method = opens_body
            && following_text.starts_with('(')
            && has_modifiers_alone
            && !CALLING.contains(&word.text)
            && !following_words.iter().any(|word| DEFINING.contains(&word.text));
        if is_after_keyword || is_after_receiver || is_assigned || is_field || is_method {
            names.push(word.text.to_owned());
        }
    }
    names
}

/// A word that may be a name.
struct Word<'t> {
    /// Offset in bytes.
    start: usize,
    text: &'t str,
}

fn words(text: &str) -> impl Iterator<Item = Word<'_>> {
    let mut remaining = text;
    std::iter::from_fn(move || {
        loop {
            let begin = remaining.find(|c: char| c.is_alphanumeric() || c == '_')?;
            remaining = &remaining[begin..];
            let end = remaining
                .find(|c: char| !(c.is_alphanumeric() || c == '_'))
                .unwrap_or(remaining.len());
            let (word, following) = remaining.split_at(end);
            let start = text.len() - remaining.len();
            remaining = following;
            if !word.starts_with(|c: char| c.is_ascii_digit()) {
                return Some(Word { start, text: word });
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
        let [baseline, tree] = product.map(str::as_bytes);
        names.add_file(path, Some(baseline), Some(tree));
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

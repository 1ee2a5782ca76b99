//! The items of a source in Rust: where each begins and ends, and which are compiled for
//! tests alone. What stands in functions and in types is not looked at.

use std::ops::Range;

use crate::integrity::lexer::{ByteClass, SourceView};

/// A function, a module, an import, or another item.
#[derive(Debug)]
pub(super) struct RustItem {
    /// The modules and implementations around it.
    pub(super) container: String,
    /// Its kind and its name.
    pub(super) name: String,
    /// Its bytes, with its documentation and its attributes.
    pub(super) span: Range<usize>,
    /// The first byte after its documentation.
    pub(super) code_start: usize,
    /// The bytes between its braces.
    pub(super) body: Option<Range<usize>>,
    /// It is compiled for tests alone.
    pub(super) is_test: bool,
}

impl RustItem {
    pub(super) fn key(&self) -> String {
        format!("{}/{}", self.container, self.name)
    }

    pub(super) fn is_import(&self) -> bool {
        self.name.starts_with("use ")
    }
}

/// All items of a source.
#[derive(Debug, Default)]
pub(super) struct RustItems {
    /// In the order of the source; a module stands before its items.
    pub(super) items: Vec<RustItem>,
    /// The whole source is compiled for tests alone.
    pub(super) is_for_tests: bool,
}

impl RustItems {
    pub(super) fn read(view: &SourceView<'_>) -> Self {
        let mut scanner = ItemScanner { view, items: Self::default() };
        scanner.scan_container(0..view.text.len(), "", 0);
        scanner.items
    }

    /// The byte before which more items of a container may stand.
    pub(super) fn body_end(&self, container: &str) -> Option<usize> {
        let item = self.items.iter().find(|item| item.key() == container)?;
        item.body.as_ref().map(|body| body.end)
    }
}

struct ItemScanner<'v, 't> {
    view: &'v SourceView<'t>,
    items: RustItems,
}

/// Modules in modules that are looked into. Each takes a frame of the stack, and the source is the
/// agent's.
const MAX_DEPTH: usize = 32;

/// The first byte of code after layout and comments.
struct NextCode {
    offset: usize,
    /// The beginning of the documentation in front of it.
    documentation: Option<usize>,
}

/// The parts of an item in front of its body.
struct ItemHead {
    /// The first byte of its documentation, or of its code if it has none.
    start: usize,
    /// The first byte after its documentation.
    code_start: usize,
    attributes: Vec<Range<usize>>,
    signature_start: usize,
}

/// The end of an item.
struct ItemEnd {
    /// The byte after its last.
    end: usize,
    /// The bytes between its braces.
    body: Option<Range<usize>>,
}

impl ItemScanner<'_, '_> {
    fn byte(&self, offset: usize) -> u8 {
        self.view.text.as_bytes()[offset]
    }

    fn next_code(&self, start: usize, end: usize) -> NextCode {
        let (mut offset, mut documentation) = (start, None);
        while offset < end {
            match self.view.classes[offset] {
                ByteClass::Comment => {
                    let is_comment_start = offset == 0
                        || self.view.classes[offset - 1] != ByteClass::Comment
                        || self.byte(offset - 1) == b'\n';
                    let comment = &self.view.text.as_bytes()[offset..];
                    if is_comment_start && documentation.is_none() && is_outer_doc(comment) {
                        documentation = Some(offset);
                    }
                }
                ByteClass::Code if self.byte(offset).is_ascii_whitespace() => {}
                _ => break,
            }
            offset += 1;
        }
        NextCode { offset, documentation }
    }

    /// Reads the items of a module, of an implementation or of the whole source.
    fn scan_container(&mut self, span: Range<usize>, container: &str, depth: usize) {
        let (mut offset, end) = (span.start, span.end);
        while offset < end {
            let next = self.next_code(offset, end);
            if next.offset >= end {
                return;
            }
            if self.is_inner_attribute(next.offset) {
                let attribute_end = self.bracket_end(next.offset, end);
                // In a module `#![cfg(test)]` concerns that module, and not the whole source.
                let is_for_tests = is_for_tests(&self.code(next.offset + 2, attribute_end));
                self.items.is_for_tests |= container.is_empty() && is_for_tests;
                offset = attribute_end.max(offset + 1);
                continue;
            }
            let head = self.head(&next, end);
            offset = self.scan_item(&head, end, container, depth);
        }
    }

    fn is_inner_attribute(&self, offset: usize) -> bool {
        self.view.text.as_bytes()[offset..].starts_with(b"#!")
    }

    fn head(&self, first: &NextCode, end: usize) -> ItemHead {
        let (mut signature_start, mut attributes) = (first.offset, Vec::new());
        while signature_start < end && self.byte(signature_start) == b'#' {
            let is_inner = self.is_inner_attribute(signature_start);
            let attribute_end = self.bracket_end(signature_start, end);
            attributes.push(signature_start..attribute_end);
            signature_start = self.next_code(attribute_end, end).offset;
            if is_inner {
                break;
            }
        }
        ItemHead {
            start: first.documentation.unwrap_or(first.offset),
            code_start: first.offset,
            attributes,
            signature_start,
        }
    }

    /// Reads an item with those in it. Returns the byte after it.
    fn scan_item(&mut self, head: &ItemHead, end: usize, container: &str, depth: usize) -> usize {
        let ItemEnd { end, body } = self.item_end(head.signature_start, end);
        let signature_end = body.as_ref().map_or(end, |body| body.start.saturating_sub(1));
        let name = item_name(&self.code(head.signature_start, signature_end));
        let is_function = name.starts_with("fn ");
        let is_test = head.attributes.iter().any(|attribute| {
            let text = self.code(attribute.start + 1, attribute.end);
            is_for_tests(&text) || is_function && marks_test(&text)
        });
        let is_container = ["mod ", "impl", "trait "].iter().any(|kind| name.starts_with(kind));
        let item = RustItem {
            container: container.to_owned(),
            name,
            span: head.start..end,
            code_start: head.code_start,
            body: body.clone(),
            is_test,
        };
        let key = item.key();
        self.items.items.push(item);
        // A container for tests is set back as a whole, with what is in it.
        if let Some(body) = body
            && is_container
            && !is_test
            && depth < MAX_DEPTH
        {
            self.scan_container(body, &key, depth + 1);
        }
        // Text that is no Rust may give an item without bytes. The scan goes on behind it.
        end.max(head.signature_start + 1)
    }

    /// The code of a piece, with spaces in the place of its strings and comments.
    fn code(&self, start: usize, end: usize) -> String {
        let piece = self.view.text.get(start..end.max(start)).unwrap_or_default();
        let characters = piece.char_indices();
        characters
            .map(|(offset, c)| if self.view.is_code(start + offset) { c } else { ' ' })
            .collect()
    }

    /// The byte after the bracket that closes the next one.
    fn bracket_end(&self, start: usize, end: usize) -> usize {
        let mut depth = 0_usize;
        for offset in (start..end).filter(|offset| self.view.is_code(*offset)) {
            match self.byte(offset) {
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return offset + 1;
                    }
                }
                _ => {}
            }
        }
        end
    }

    fn item_end(&self, signature_start: usize, end: usize) -> ItemEnd {
        let ends_with_semicolon = ends_with_semicolon(&self.view.text[signature_start..end]);
        let (mut depth, mut last_sign) = (0_usize, b' ');
        for offset in signature_start..end {
            let byte = self.byte(offset);
            if !self.view.is_code(offset) || byte.is_ascii_whitespace() {
                continue;
            }
            match byte {
                // After these signs a brace begins a constant of a type: `[u8; { N }]` stands in
                // brackets, `A<{ N }>`, `= { N }` and `A<B, { N }>` do not.
                b'{' if depth == 0
                    && !ends_with_semicolon
                    && !matches!(last_sign, b'<' | b'=' | b',') =>
                {
                    let body_end = self.bracket_end(offset, end);
                    let is_closed = body_end > offset + 1 && self.byte(body_end - 1) == b'}';
                    let inner_end = if is_closed { body_end - 1 } else { body_end };
                    return ItemEnd { end: body_end, body: Some(offset + 1..inner_end) };
                }
                b'(' | b'[' | b'{' => depth += 1,
                // No brace is open: the source is broken, and the item ends here.
                b'}' if depth == 0 => return ItemEnd { end: offset + 1, body: None },
                b')' | b']' | b'}' => depth = depth.saturating_sub(1),
                b';' if depth == 0 => return ItemEnd { end: offset + 1, body: None },
                _ => {}
            }
            last_sign = byte;
        }
        ItemEnd { end, body: None }
    }
}

/// A comment that documents what follows.
pub(super) fn is_outer_doc(comment: &[u8]) -> bool {
    // A fourth slash or a third star makes a plain comment of it, and `/**/` is an empty one.
    let is_line = comment.starts_with(b"///") && !comment.starts_with(b"////");
    let is_block = comment.starts_with(b"/**") && !matches!(comment.get(3), Some(b'*' | b'/'));
    is_line || is_block
}

/// An item that ends with a semicolon, whatever braces it holds.
fn ends_with_semicolon(item: &str) -> bool {
    // The first words tell it. The item may be as long as the source.
    let beginning = item.char_indices().nth(200).map_or(item, |(end, _)| &item[..end]);
    let mut words = words(beginning).into_iter().skip_while(|word| is_visibility(word));
    match words.next().as_deref() {
        Some("use" | "static" | "type") => true,
        Some("const") => {
            !matches!(words.next().as_deref(), Some("fn" | "unsafe" | "async" | "extern"))
        }
        Some("extern") => words.next().as_deref() == Some("crate"),
        _ => false,
    }
}

fn is_visibility(word: &str) -> bool {
    matches!(word, "pub" | "crate" | "super" | "in" | "default" | "(" | ")")
}

/// The words and signs of a piece of code.
fn words(code: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut is_in_word = false;
    for c in code.chars() {
        let is_letter = c.is_alphanumeric() || c == '_';
        match words.last_mut() {
            Some(word) if is_letter && is_in_word => word.push(c),
            _ if c.is_whitespace() => {}
            _ => words.push(c.to_string()),
        }
        is_in_word = is_letter;
    }
    words
}

/// The kind and the name in an item's signature; all its words if it has no name.
fn item_name(signature: &str) -> String {
    const KINDS: [&str; 9] =
        ["fn", "mod", "struct", "enum", "union", "trait", "static", "const", "type"];
    let signature_words = words(signature);
    let visibility_words = signature_words.iter().take_while(|word| is_visibility(word)).count();
    let mut words = &signature_words[visibility_words..];
    while let Some((word, following)) = words.split_first() {
        let may_qualify =
            matches!(word.as_str(), "unsafe" | "async" | "extern" | "const" | "default");
        // `const` also begins an item of its own. It qualifies another one that follows soon.
        let is_qualifier = may_qualify
            && following
                .iter()
                .take(4)
                .any(|word| matches!(word.as_str(), "fn" | "impl" | "trait" | "mod"));
        if !is_qualifier {
            break;
        }
        words = following;
    }
    match words {
        [kind, name, ..] if KINDS.contains(&kind.as_str()) => format!("{kind} {name}"),
        [word, mark, name, ..] if word == "macro_rules" && mark == "!" => format!("macro {name}"),
        _ => words.join(" "),
    }
}

/// An attribute compiles what follows for tests alone: `cfg(…test…)`, not within `not`.
fn is_for_tests(attribute: &str) -> bool {
    let words = words(attribute);
    let first = words.iter().position(|word| word != "[").unwrap_or(0);
    if words.get(first).map(String::as_str) != Some("cfg") {
        return false;
    }
    let mut predicates: Vec<&str> = Vec::new();
    for (index, word) in words.iter().enumerate().skip(first) {
        let next_word = words.get(index + 1).map(String::as_str);
        // `test = "…"` and `test(…)` are other conditions.
        let is_bare = !matches!(next_word, Some("=" | "("));
        match word.as_str() {
            "(" => predicates.push(&words[index - 1]),
            ")" => drop(predicates.pop()),
            "test" if is_bare && !predicates.contains(&"not") => return true,
            _ => {}
        }
    }
    false
}

/// An attribute makes a function a test: its own name says so, or that which `cfg_attr`
/// gives it.
fn marks_test(attribute: &str) -> bool {
    let words = words(attribute);
    let path = words.iter().take_while(|word| *word != "(").filter(|word| *word != "]");
    match path.last().map_or("", String::as_str) {
        "cfg" => false,
        "cfg_attr" => words.iter().skip_while(|word| *word != ",").any(|word| word == "test"),
        // Frameworks have their own: `rstest`, `tokio::test`, `test_case`.
        name => ["test", "quickcheck", "bench"].iter().any(|part| name.contains(part)),
    }
}

//! The items of a source in Rust: where each begins and ends, and which are compiled for
//! tests alone. What stands in functions and in types is not looked at.

use crate::integrity::lexer::{Class, View};

/// A function, a module, an import, or another item.
#[derive(Debug)]
pub(super) struct Item {
    /// The modules and implementations around it.
    pub(super) container: String,
    /// Its kind and its name.
    pub(super) name: String,
    /// Its first byte, that of its documentation or its attributes if it has some.
    pub(super) from: usize,
    /// The first byte after its documentation.
    pub(super) start: usize,
    /// The byte after its last.
    pub(super) to: usize,
    /// The bytes between its braces.
    pub(super) body: Option<(usize, usize)>,
    /// It is compiled for tests alone.
    pub(super) is_test: bool,
}

impl Item {
    pub(super) fn key(&self) -> String {
        format!("{}/{}", self.container, self.name)
    }

    pub(super) fn is_import(&self) -> bool {
        self.name.starts_with("use ")
    }
}

/// All items of a source.
#[derive(Debug, Default)]
pub(super) struct Items {
    pub(super) items: Vec<Item>,
    /// The whole source is compiled for tests alone.
    pub(super) is_for_tests: bool,
}

impl Items {
    pub(super) fn read(view: &View<'_>) -> Self {
        let mut reader = Reader { view, found: Self::default() };
        reader.items((0, view.text.len()), "", 0);
        reader.found
    }

    /// The byte before which more items of a container may stand.
    pub(super) fn end_of(&self, container: &str) -> Option<usize> {
        let item = self.items.iter().find(|item| item.key() == container)?;
        item.body.map(|(_, to)| to)
    }
}

struct Reader<'v, 't> {
    view: &'v View<'t>,
    found: Items,
}

/// Modules in modules that are looked into.
const MAX_DEPTH: usize = 32;

impl Reader<'_, '_> {
    fn byte(&self, at: usize) -> u8 {
        self.view.text.as_bytes()[at]
    }

    /// The first byte of code from here on, and where documentation began before it.
    fn next(&self, mut at: usize, to: usize) -> (usize, Option<usize>) {
        let mut documented = None;
        while at < to {
            match self.view.classes[at] {
                Class::Comment => {
                    let begins = at == 0 || self.view.classes[at - 1] != Class::Comment || {
                        self.byte(at - 1) == b'\n'
                    };
                    let rest = &self.view.text.as_bytes()[at..];
                    if begins && documented.is_none() && is_outer(rest) {
                        documented = Some(at);
                    }
                }
                Class::Code if self.byte(at).is_ascii_whitespace() => {}
                _ => break,
            }
            at += 1;
        }
        (at, documented)
    }

    fn items(&mut self, (mut at, to): (usize, usize), container: &str, depth: usize) {
        while at < to {
            let (start, documented) = self.next(at, to);
            if start >= to {
                return;
            }
            let (mut head, mut attributes) = (start, Vec::new());
            while head < to && self.byte(head) == b'#' {
                let is_inner = self.view.text.as_bytes()[head + 1..].starts_with(b"!");
                let end = self.bracketed(head, to);
                attributes.push((head, end));
                head = self.next(end, to).0;
                if is_inner {
                    break;
                }
            }
            let first = attributes.first().map(|(from, _)| *from);
            if first.is_some_and(|from| self.view.text[from + 1..].starts_with('!')) {
                let (from, end) = attributes[0];
                let is_for_tests = is_for_tests(&self.code(from + 2, end));
                self.found.is_for_tests |= container.is_empty() && is_for_tests;
                at = end.max(at + 1);
                continue;
            }
            at = self.item(
                documented.unwrap_or(start),
                (start, head, to),
                &attributes,
                container,
                depth,
            );
        }
    }

    /// Reads an item, and gives the byte after it.
    fn item(
        &mut self,
        from: usize,
        (start, head, to): (usize, usize, usize),
        attributes: &[(usize, usize)],
        container: &str,
        depth: usize,
    ) -> usize {
        let (end, body) = self.end(head, to);
        let signature = self.code(head, body.map_or(end, |(open, _)| open.saturating_sub(1)));
        let name = name(&signature);
        let is_function = name.starts_with("fn ");
        let is_test = attributes.iter().any(|(from, to)| {
            let text = self.code(*from + 1, *to);
            is_for_tests(&text) || is_function && marks_test(&text)
        });
        let holds = ["mod ", "impl", "trait "].iter().any(|kind| name.starts_with(kind));
        let item =
            Item { container: container.to_owned(), name, from, start, to: end, body, is_test };
        let inner = item.key();
        self.found.items.push(item);
        if let Some(body) = body
            && holds
            && !is_test
            && depth < MAX_DEPTH
        {
            self.items(body, &inner, depth + 1);
        }
        end.max(head + 1)
    }

    /// The code of a piece, without what is in strings.
    fn code(&self, from: usize, to: usize) -> String {
        let piece = self.view.text.get(from..to.max(from)).unwrap_or_default();
        let kept = piece.char_indices().map(
            |(offset, c)| {
                if self.view.is_code(from + offset) { c } else { ' ' }
            },
        );
        kept.collect()
    }

    /// The byte after the bracket that closes the next one.
    fn bracketed(&self, from: usize, to: usize) -> usize {
        let mut depth = 0_usize;
        for at in (from..to).filter(|at| self.view.is_code(*at)) {
            match self.byte(at) {
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return at + 1;
                    }
                }
                _ => {}
            }
        }
        to
    }

    /// The byte after an item, and the bytes between its braces.
    fn end(&self, head: usize, to: usize) -> (usize, Option<(usize, usize)>) {
        let is_value = is_value(&self.view.text[head..to]);
        let (mut at, mut depth, mut last) = (head, 0_usize, b' ');
        while at < to {
            let byte = self.byte(at);
            if !self.view.is_code(at) || byte.is_ascii_whitespace() {
                at += 1;
                continue;
            }
            match byte {
                b'{' if depth == 0 && !is_value && !matches!(last, b'<' | b'=' | b',') => {
                    let end = self.bracketed(at, to);
                    let is_closed = end > at + 1 && self.byte(end - 1) == b'}';
                    return (end, Some((at + 1, if is_closed { end - 1 } else { end })));
                }
                b'(' | b'[' | b'{' => depth += 1,
                b'}' if depth == 0 => return (at + 1, None),
                b')' | b']' | b'}' => depth = depth.saturating_sub(1),
                b';' if depth == 0 => return (at + 1, None),
                _ => {}
            }
            last = byte;
            at += 1;
        }
        (to, None)
    }
}

/// A comment that documents what follows.
pub(super) fn is_outer(comment: &[u8]) -> bool {
    let line = comment.starts_with(b"///") && !comment.starts_with(b"////");
    let block = comment.starts_with(b"/**") && !matches!(comment.get(3), Some(b'*' | b'/'));
    line || block
}

/// An item that ends with a semicolon, whatever braces it holds.
fn is_value(text: &str) -> bool {
    let start = text.char_indices().nth(200).map_or(text, |(end, _)| &text[..end]);
    let mut words = words(start).into_iter().skip_while(|word| is_visibility(word));
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
    let mut is_open = false;
    for c in code.chars() {
        let is_part = c.is_alphanumeric() || c == '_';
        match words.last_mut() {
            Some(last) if is_part && is_open => last.push(c),
            _ if c.is_whitespace() => {}
            _ => words.push(c.to_string()),
        }
        is_open = is_part;
    }
    words
}

/// The kind and the name in an item's signature.
fn name(signature: &str) -> String {
    const KINDS: [&str; 9] =
        ["fn", "mod", "struct", "enum", "union", "trait", "static", "const", "type"];
    let all = words(signature);
    let mut rest = &all[all.iter().take_while(|word| is_visibility(word)).count()..];
    while let Some((first, more)) = rest.split_first() {
        let before_fn =
            matches!(first.as_str(), "unsafe" | "async" | "extern" | "const" | "default");
        let is_more = before_fn
            && more
                .iter()
                .take(4)
                .any(|word| matches!(word.as_str(), "fn" | "impl" | "trait" | "mod"));
        if !is_more {
            break;
        }
        rest = more;
    }
    match rest {
        [kind, name, ..] if KINDS.contains(&kind.as_str()) => format!("{kind} {name}"),
        [name, mark, of, ..] if name == "macro_rules" && mark == "!" => format!("macro {of}"),
        rest => rest.join(" "),
    }
}

/// An attribute compiles what follows for tests alone: `cfg(…test…)`, not within `not`.
fn is_for_tests(attribute: &str) -> bool {
    let words = words(attribute);
    let from = words.iter().position(|word| word != "[").unwrap_or(0);
    if words.get(from).map(String::as_str) != Some("cfg") {
        return false;
    }
    let mut around: Vec<&str> = Vec::new();
    for (at, word) in words.iter().enumerate().skip(from) {
        let next = words.get(at + 1).map(String::as_str);
        match word.as_str() {
            "(" => around.push(&words[at - 1]),
            ")" => drop(around.pop()),
            "test" if !matches!(next, Some("=" | "(")) && !around.contains(&"not") => return true,
            _ => {}
        }
    }
    false
}

/// An attribute makes a function a test: its own name says so, or that which `cfg_attr`
/// gives it.
fn marks_test(attribute: &str) -> bool {
    let words = words(attribute);
    let own = words.iter().take_while(|word| *word != "(").filter(|word| *word != "]").last();
    let own = own.map_or("", String::as_str);
    match own {
        "cfg" => false,
        "cfg_attr" => words.iter().skip_while(|word| *word != ",").any(|word| word == "test"),
        name => ["test", "quickcheck", "bench"].iter().any(|part| name.contains(part)),
    }
}

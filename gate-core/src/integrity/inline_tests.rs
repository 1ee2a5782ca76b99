//! A product's source with the tests in it set back to what they were at the baseline.
//!
//! Rust keeps tests beside what they test: items that are compiled for tests alone, and
//! the examples of documentation. Vitest reads suites in `if (import.meta.vitest)`. A test
//! that was changed is put back in its place, one that is gone is put back where it stood,
//! and one that is new is taken out. Python's doctests are not looked at.

mod doc;
mod doctests;
mod items;
#[cfg(test)]
mod tests;

use super::language::Language;
use super::lexer::{Class, View};
use items::{Item, Items};

/// The source `now` with the inline tests of `before`; `None` if no inline test differs.
pub fn with_baseline_inline_tests(path: &str, before: &[u8], now: &[u8]) -> Option<Vec<u8>> {
    if before == now {
        return None;
    }
    let (before, now) = (std::str::from_utf8(before).ok()?, std::str::from_utf8(now).ok()?);
    let edits = match Language::from_path(path)? {
        Language::Rust => rust(before, now),
        Language::Js => suites(before, now),
        _ => return None,
    };
    (!edits.is_empty()).then(|| applied(now, edits).into_bytes())
}

/// Tells if a source has tests in it, or examples in its documentation that run as tests.
pub fn has_inline_tests(path: &str, text: &[u8]) -> bool {
    with_baseline_inline_tests(path, text, b"").is_some()
}

/// A piece of a text that another takes the place of.
#[derive(Debug)]
struct Edit {
    from: usize,
    to: usize,
    text: String,
}

impl Edit {
    fn insert(at: usize, text: String) -> Self {
        Self { from: at, to: at, text }
    }
}

fn applied(text: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|edit| (edit.from, edit.to));
    let (mut done, mut result) = (0, String::new());
    for edit in edits {
        // A piece in one that is replaced is gone with it.
        if edit.from < done {
            continue;
        }
        result += &text[done..edit.from];
        result += &edit.text;
        done = edit.to;
    }
    result + &text[done..]
}

fn rust(before: &str, now: &str) -> Vec<Edit> {
    let views = [before, now].map(|text| View::new(text, Some(Language::Rust)));
    let [was, is] = [&views[0], &views[1]].map(Items::read);
    if was.is_for_tests {
        let differs = without_layout(&views[0], (0, before.len()))
            != without_layout(&views[1], (0, now.len()));
        let whole = Edit { from: 0, to: now.len(), text: before.to_owned() };
        return if differs { vec![whole] } else { Vec::new() };
    }
    let mut edits = blocks((&views[0], &was), (&views[1], &is));
    edits.extend(doctests::edits((&views[0], &was), (&views[1], &is)));
    edits
}

/// Sets the items back that are compiled for tests alone.
fn blocks((before, was): (&View<'_>, &Items), (now, is): (&View<'_>, &Items)) -> Vec<Edit> {
    let mut edits = Vec::new();
    let (old, new) = (numbered(was), numbered(is));
    for (key, item) in &old {
        let text = &before.text[item.from..item.to];
        let place = new.iter().find(|(other, _)| other == key).map(|(_, place)| *place);
        let plain = || {
            let same = |other: &&Item| !other.is_test && other.key() == item.key();
            is.items.iter().find(same)
        };
        match place.or_else(plain) {
            Some(place) if place.is_test || !item.is_import() => {
                if without_layout(before, (item.from, item.to))
                    != without_layout(now, (place.from, place.to))
                {
                    edits.push(Edit { from: place.from, to: place.to, text: text.to_owned() });
                }
            }
            // The product takes the same name now.
            Some(_) => {}
            None => {
                let at = is.end_of(&item.container).unwrap_or(now.text.len());
                edits.push(Edit::insert(at, format!("\n{text}\n")));
            }
        }
    }
    for (_, item) in new.iter().filter(|(key, _)| !old.iter().any(|(other, _)| other == key)) {
        edits.push(Edit { from: item.from, to: item.to, text: String::new() });
    }
    edits
}

/// The items that are for tests, with keys that tell those of one name apart.
fn numbered(items: &Items) -> Vec<((String, usize), &Item)> {
    let mut all: Vec<((String, usize), &Item)> = Vec::new();
    for item in items.items.iter().filter(|item| item.is_test) {
        let key = item.key();
        let number = all.iter().filter(|((other, _), _)| *other == key).count();
        all.push(((key, number), item));
    }
    all
}

/// A piece of a text without comments and layout.
fn without_layout(view: &View<'_>, (from, to): (usize, usize)) -> String {
    let mut plain = String::new();
    let mut is_apart = false;
    for (offset, c) in view.text[from..to].char_indices() {
        match view.classes[from + offset] {
            Class::Comment => is_apart = true,
            Class::Code if c.is_whitespace() => is_apart = true,
            _ => {
                let is_word = |c: char| c.is_alphanumeric() || c == '_';
                if is_apart && is_word(c) && plain.ends_with(is_word) {
                    plain.push(' ');
                }
                is_apart = false;
                plain.push(c);
            }
        }
    }
    plain
}

/// Of suites of vitest within a product's source: the blocks of `if (import.meta.vitest)`.
fn suites(before: &str, now: &str) -> Vec<Edit> {
    let views = [before, now].map(|text| View::new(text, Some(Language::Js)));
    let [old, new] = [&views[0], &views[1]].map(suite_blocks);
    let mut edits = Vec::new();
    for number in 0..old.len().max(new.len()) {
        match (old.get(number), new.get(number)) {
            (Some(&was), Some(&is)) => {
                if without_layout(&views[0], was) != without_layout(&views[1], is) {
                    let text = before[was.0..was.1].to_owned();
                    edits.push(Edit { from: is.0, to: is.1, text });
                }
            }
            (Some(&(from, to)), None) => {
                edits.push(Edit::insert(now.len(), format!("\n{}\n", &before[from..to])));
            }
            (None, Some(&(from, to))) => edits.push(Edit { from, to, text: String::new() }),
            (None, None) => {}
        }
    }
    edits
}

/// The blocks, each from its `if` to its last brace.
fn suite_blocks(view: &View<'_>) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    for (at, _) in view.text.match_indices("import.meta.vitest") {
        let is_inside = found.iter().any(|(from, to)| (*from..*to).contains(&at));
        let begins = view.text[..at].trim_end().strip_suffix('(').map(str::trim_end);
        let Some(head) = begins.and_then(|head| head.strip_suffix("if")) else { continue };
        if is_inside || !view.is_code(at) || !view.is_code(head.len()) {
            continue;
        }
        found.push((head.len(), block_end(view, at)));
    }
    found
}

fn block_end(view: &View<'_>, from: usize) -> usize {
    let mut depth = 0_usize;
    for at in (from..view.text.len()).filter(|at| view.is_code(*at)) {
        match view.text.as_bytes()[at] {
            b'{' => depth += 1,
            b'}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at + 1;
                }
            }
            b';' if depth == 0 => return at + 1,
            _ => {}
        }
    }
    view.text.len()
}

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

use std::ops::Range;

use super::language::Language;
use super::lexer::{ByteClass, SourceView};
use items::{RustItem, RustItems};

/// The tree's source with the baseline's inline tests; `None` if no inline test differs.
pub fn with_baseline_inline_tests(path: &str, baseline: &[u8], tree: &[u8]) -> Option<Vec<u8>> {
    if baseline == tree {
        return None;
    }
    let baseline = std::str::from_utf8(baseline).ok()?;
    let tree = std::str::from_utf8(tree).ok()?;
    let edits = match Language::from_path(path)? {
        Language::Rust => rust_edits(baseline, tree),
        Language::Js => vitest_edits(baseline, tree),
        _ => return None,
    };
    (!edits.is_empty()).then(|| with_edits(tree, edits).into_bytes())
}

/// A source has tests in it, or examples in its documentation that run as tests.
pub fn has_inline_tests(path: &str, text: &[u8]) -> bool {
    with_baseline_inline_tests(path, text, b"").is_some()
}

/// Puts `text` in the place of a piece of the tree's source.
#[derive(Debug)]
struct Edit {
    span: Range<usize>,
    text: String,
}

impl Edit {
    fn insert(offset: usize, text: String) -> Self {
        Self { span: offset..offset, text }
    }

    fn remove(span: Range<usize>) -> Self {
        Self { span, text: String::new() }
    }
}

fn with_edits(source: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|edit| (edit.span.start, edit.span.end));
    let (mut copied, mut result) = (0, String::new());
    for edit in edits {
        // An item for tests may hold another, and an example. Once the outer one is replaced, an
        // edit within it would cut into the text of the baseline.
        if edit.span.start < copied {
            continue;
        }
        result += &source[copied..edit.span.start];
        result += &edit.text;
        copied = edit.span.end;
    }
    result + &source[copied..]
}

/// One version of a source in Rust.
struct RustSource<'t> {
    view: SourceView<'t>,
    items: RustItems,
}

impl<'t> RustSource<'t> {
    fn read(text: &'t str) -> Self {
        let view = SourceView::new(text, Some(Language::Rust));
        let items = RustItems::read(&view);
        Self { view, items }
    }
}

/// Tells the items of one name apart: a name may be taken once under each `cfg`.
#[derive(Debug, PartialEq, Eq)]
struct ItemId {
    /// See [`RustItem::key`].
    key: String,
    /// The number of items before it with the same key.
    number: usize,
}

fn rust_edits(baseline: &str, tree: &str) -> Vec<Edit> {
    let [old, new] = [baseline, tree].map(RustSource::read);
    if old.items.is_for_tests {
        let old_code = without_layout(&old.view, 0..baseline.len());
        let is_changed = old_code != without_layout(&new.view, 0..tree.len());
        let whole = Edit { span: 0..tree.len(), text: baseline.to_owned() };
        return if is_changed { vec![whole] } else { Vec::new() };
    }
    let mut edits = test_item_edits(&old, &new);
    edits.extend(doctests::edits(&old, &new));
    edits
}

/// Sets the items back that are compiled for tests alone.
fn test_item_edits(old: &RustSource<'_>, new: &RustSource<'_>) -> Vec<Edit> {
    let mut edits = Vec::new();
    let (old_tests, new_tests) = (test_items(&old.items), test_items(&new.items));
    for test in &old_tests {
        let item = test.item;
        let text = &old.view.text[item.span.clone()];
        let successor = new_tests.iter().find(|new_test| new_test.id == test.id);
        // A test whose `cfg(test)` was taken away, or replaced by one that never holds, stands
        // there as an item of the product.
        let as_product = || {
            let mut items = new.items.items.iter();
            items.find(|new_item| !new_item.is_test && new_item.key() == item.key())
        };
        match successor.map(|new_test| new_test.item).or_else(as_product) {
            Some(new_item) if new_item.is_test || !item.is_import() => {
                let old_code = without_layout(&old.view, item.span.clone());
                if old_code != without_layout(&new.view, new_item.span.clone()) {
                    edits.push(Edit { span: new_item.span.clone(), text: text.to_owned() });
                }
            }
            // The product imports the same name now. A second import would not compile.
            Some(_) => {}
            None => {
                let end = new.items.body_end(&item.container).unwrap_or(new.view.text.len());
                edits.push(Edit::insert(end, format!("\n{text}\n")));
            }
        }
    }
    let is_added = |new_test: &&TestItem<'_>| !old_tests.iter().any(|old| old.id == new_test.id);
    let added = new_tests.iter().filter(is_added);
    edits.extend(added.map(|new_test| Edit::remove(new_test.item.span.clone())));
    edits
}

/// An item that is compiled for tests alone.
struct TestItem<'i> {
    id: ItemId,
    item: &'i RustItem,
}

fn test_items(items: &RustItems) -> Vec<TestItem<'_>> {
    let mut tests: Vec<TestItem<'_>> = Vec::new();
    for item in items.items.iter().filter(|item| item.is_test) {
        let key = item.key();
        let number = tests.iter().filter(|test| test.id.key == key).count();
        tests.push(TestItem { id: ItemId { key, number }, item });
    }
    tests
}

/// A piece of a text without comments and layout.
fn without_layout(view: &SourceView<'_>, span: Range<usize>) -> String {
    let start = span.start;
    let mut code = String::new();
    let mut is_after_gap = false;
    for (offset, c) in view.text[span].char_indices() {
        match view.classes[start + offset] {
            ByteClass::Comment => is_after_gap = true,
            ByteClass::Code if c.is_whitespace() => is_after_gap = true,
            _ => {
                let is_word = |c: char| c.is_alphanumeric() || c == '_';
                // Between two words alone a gap has a meaning.
                if is_after_gap && is_word(c) && code.ends_with(is_word) {
                    code.push(' ');
                }
                is_after_gap = false;
                code.push(c);
            }
        }
    }
    code
}

/// Sets the suites of vitest within a product's source back. Suites have no names, so that the first
/// is compared with the first.
fn vitest_edits(baseline: &str, tree: &str) -> Vec<Edit> {
    let [old, new] = [baseline, tree].map(|text| SourceView::new(text, Some(Language::Js)));
    let [old_suites, new_suites] = [&old, &new].map(vitest_suites);
    let mut edits = Vec::new();
    for number in 0..old_suites.len().max(new_suites.len()) {
        match (old_suites.get(number).cloned(), new_suites.get(number).cloned()) {
            (Some(old_suite), Some(new_suite)) => {
                let text = baseline[old_suite.clone()].to_owned();
                if without_layout(&old, old_suite) != without_layout(&new, new_suite.clone()) {
                    edits.push(Edit { span: new_suite, text });
                }
            }
            (Some(old_suite), None) => {
                edits.push(Edit::insert(tree.len(), format!("\n{}\n", &baseline[old_suite])));
            }
            (None, Some(new_suite)) => edits.push(Edit::remove(new_suite)),
            (None, None) => {}
        }
    }
    edits
}

/// The blocks of `if (import.meta.vitest)`, each from its `if` to its last brace.
fn vitest_suites(view: &SourceView<'_>) -> Vec<Range<usize>> {
    let mut suites: Vec<Range<usize>> = Vec::new();
    for (condition, _) in view.text.match_indices("import.meta.vitest") {
        // A suite takes its functions apart: `const { it } = import.meta.vitest`.
        let is_in_suite = suites.iter().any(|suite| suite.contains(&condition));
        let before_bracket = view.text[..condition].trim_end().strip_suffix('(');
        let Some(before_if) = before_bracket.and_then(|text| text.trim_end().strip_suffix("if"))
        else {
            continue;
        };
        let start = before_if.len();
        if is_in_suite || !view.is_code(condition) || !view.is_code(start) {
            continue;
        }
        suites.push(start..block_end(view, condition));
    }
    suites
}

/// The byte after the next block, or after the statement that stands in its place.
fn block_end(view: &SourceView<'_>, start: usize) -> usize {
    let mut depth = 0_usize;
    for offset in (start..view.text.len()).filter(|offset| view.is_code(*offset)) {
        match view.text.as_bytes()[offset] {
            b'{' => depth += 1,
            b'}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return offset + 1;
                }
            }
            b';' if depth == 0 => return offset + 1,
            _ => {}
        }
    }
    view.text.len()
}

//! The direction of an edit of a test file: nothing but layout, adapted to a changed
//! product, or something that a person has to look at.
//!
//! An adapted file is the old one but for three kinds of edits, each of which leaves all
//! expected values alone: a name of the product is another one everywhere, a call of the
//! product has arguments for parameters that its function has got, a whole new test stands
//! beside the others. Whatever else differs, or cannot be read, is changed.

mod align;
mod arguments;
mod imports;
mod new_test;
mod product;
mod reader;
mod sides;
#[cfg(test)]
mod tests;
mod words;

use super::guarded::guarded;
use super::inline_tests::tests_in;
use super::language::Language;
use align::Alignment;
pub use product::ChangedProduct;
use reader::read;

/// The meaning of an edit of a test file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestEdit {
    /// Nothing but layout, comments or the order of imports differs.
    Same,
    /// Each assertion and each literal is still there, with the same expected values.
    Adapted,
    /// Anything else.
    Changed,
}

/// Compares two texts of one test file. Of a product's source in Rust, the tests in it count.
pub fn compare_test_edit(
    path: &str,
    (before, now): (&[u8], &[u8]),
    product: &ChangedProduct,
) -> TestEdit {
    let language = Language::from_path(path).filter(|language| {
        matches!(language, Language::Python | Language::Rust | Language::Js | Language::Go)
    });
    let texts = (std::str::from_utf8(before), std::str::from_utf8(now));
    match (language, texts) {
        _ if before == now => TestEdit::Same,
        (Some(Language::Rust), (Ok(before), Ok(now))) if guarded(path).is_none() => {
            let [(was, old), (is, new)] = [before, now].map(tests_in);
            if old == new {
                in_language(Language::Rust, (&was, &is), product)
            } else {
                TestEdit::Changed
            }
        }
        (Some(language), (Ok(before), Ok(now))) => in_language(language, (before, now), product),
        _ if ends_stripped(before) == ends_stripped(now) => TestEdit::Same,
        _ => TestEdit::Changed,
    }
}

/// The lines without the white space that each ends with.
fn ends_stripped(text: &[u8]) -> Vec<&[u8]> {
    text.trim_ascii_end().split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end).collect()
}

fn in_language(
    language: Language,
    (before, now): (&str, &str),
    product: &ChangedProduct,
) -> TestEdit {
    let [old, new] = [before, now].map(|text| read(text, language));
    if new.continued > old.continued || old.directives(language) != new.directives(language) {
        return TestEdit::Changed;
    }
    let [(was, old), (is, new)] =
        [&old.tokens, &new.tokens].map(|tokens| imports::split(tokens, language));
    let [mut sorted_was, mut sorted_is] = [was.clone(), is.clone()];
    sorted_was.sort();
    sorted_is.sort();
    let same_imports = was == is || (sorted_was == sorted_is && imports::bind_once(&was));
    if same_imports && old == new {
        return TestEdit::Same;
    }
    let alignment = Alignment { language, was: &was, is: &is, old: &old, new: &new, product };
    if alignment.is_adapted() { TestEdit::Adapted } else { TestEdit::Changed }
}

//! The pages of the book that are made from gate itself: its codes, its help, its settings, its
//! schemas.

mod codes;
mod command_line;
mod json;
mod settings;

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::Path;

use serde_json::Value;

/// The text of each page by its name, relative to the folder of the book's sources.
pub(crate) type Pages = BTreeMap<&'static str, String>;

/// Says why a page cannot be made.
pub(crate) type Failure = Box<dyn Error>;

/// Calls gate with these words, and returns what it prints.
pub(crate) type Gate<'g> = dyn Fn(&str) -> Result<String, Failure> + 'g;

/// All pages. `root` is the repository.
pub(crate) fn all(root: &Path, gate: &Gate) -> Result<Pages, Failure> {
    let defaults = fs::read_to_string(root.join("gate-core/src/config/default.toml"))?;
    Ok(Pages::from([
        ("refusals/reasons.md", codes::reasons(root)?),
        ("refusals/warnings.md", codes::warnings()),
        ("refusals/errors.md", codes::errors(root)?),
        ("reference/command-line.md", command_line::page(gate)?),
        ("reference/exit-codes.md", command_line::exit_codes(&gate("help exit-codes")?)),
        ("reference/environment.md", command_line::environment(&gate("help environment")?)),
        ("reference/settings.md", settings::page(&defaults)),
        ("reference/json.md", json::page(root)?),
    ]))
}

/// Fills the pages into the chapters of a book, in the JSON that mdBook hands to preprocessors.
pub(crate) fn insert(book: &mut Value, pages: &Pages) {
    if let Some(chapter) = book.as_object_mut() {
        let path = chapter.get("path").and_then(Value::as_str);
        let text = path.and_then(|path| pages.get(path)).cloned();
        if let Some(text) = text {
            chapter.insert("content".to_owned(), Value::String(text));
        }
    }
    match book {
        Value::Object(members) => members.values_mut().for_each(|value| insert(value, pages)),
        Value::Array(values) => values.iter_mut().for_each(|value| insert(value, pages)),
        _ => {}
    }
}

#[test]
fn chapters_get_the_text_of_their_page() {
    let chapter = |path: &str, text: &str| serde_json::json!({ "path": path, "content": text });
    let mut book = serde_json::json!({ "items": [
        { "Chapter": chapter("start.md", "by hand") },
        { "Chapter": { "path": null, "content": "", "sub_items": [
            { "Chapter": chapter("reference/json.md", "# JSON") },
        ] } },
    ] });
    insert(&mut book, &Pages::from([("reference/json.md", "made".to_owned())]));
    assert_eq!(book["items"][0]["Chapter"]["content"], "by hand");
    assert_eq!(book["items"][1]["Chapter"]["sub_items"][0]["Chapter"]["content"], "made");
}

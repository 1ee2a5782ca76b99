//! The pages that mdBook's preprocessor makes from the codes, the command line, the settings and the
//! schemas. They are not in git, so what other tests say of pages they say of the text that is made
//! here.

#[path = "../../docs/book/pages/mod.rs"]
mod pages;

use std::fs;
use std::sync::LazyLock;

use self::pages::Pages;
use super::SOURCES;
use crate::here::files;
use crate::needs::root;
use crate::support::gate;
use crate::tidy::CRATES;

/// The pages that are made.
pub(super) static GENERATED: LazyLock<Pages> = LazyLock::new(|| {
    let gate = |words: &str| Ok(gate(words).code(0).stdout);
    pages::all(root(), &gate).unwrap()
});

#[test]
fn generated_pages_have_a_title_and_a_text() {
    for (page, text) in &*GENERATED {
        assert!(text.starts_with("# ") && text.lines().count() > 10, "{page}: {text}");
    }
}

#[test]
fn git_ignores_the_generated_pages() {
    let ignored = fs::read_to_string(root().join(".gitignore")).unwrap();
    let folder = format!("/{SOURCES}/");
    let ignored: Vec<_> = ignored.lines().filter_map(|line| line.strip_prefix(&folder)).collect();
    assert_eq!(ignored, GENERATED.keys().copied().collect::<Vec<_>>());
}

#[test]
fn every_variable_of_the_sources_is_described() {
    let topic = gate("help environment").code(0).stdout;
    let mut found = 0;
    for krate in CRATES {
        for file in files(&root().join(krate).join("src")) {
            let text = fs::read_to_string(&file).unwrap_or_default();
            let variables = text.split('"').filter(|text| {
                let name = text.strip_prefix("GATE_").unwrap_or_default();
                !name.is_empty() && name.chars().all(|c| c.is_ascii_uppercase() || c == '_')
            });
            for variable in variables {
                assert!(
                    topic.contains(&format!("{variable} ")),
                    "{variable} of {}",
                    file.display()
                );
                found += 1;
            }
        }
    }
    assert!(found >= 8, "{found}");
}

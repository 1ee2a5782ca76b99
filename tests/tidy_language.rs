//! The code speaks plainly: terms of the trade, docs that say more than a name.

use std::path::{Path, PathBuf};

use crate::here::files;
use crate::needs::root;
use crate::tidy::CRATES;

/// Words of hearsay: a type or module is named by what it is, not by who said, held or asked it.
const BANNED: [&str; 24] = [
    "Asked", "Begun", "Earlier", "Forsaken", "Given", "Held", "Kept", "Laid", "Looked", "Manager",
    "Said", "Says", "Sought", "Standing", "Telling", "Tells", "Told", "Tried", "Util", "Utils",
    "Wanted", "Wants", "Wish", "Helper",
];

/// Constants say their thing and unit.
const BANNED_CONSTANTS: [&str; 8] =
    ["AGAIN", "DEEPEST", "ENOUGH", "FEW", "LONGEST", "MANY", "MOST", "NEAR"];

/// Questions that a doc answers instead of repeating them.
const QUESTIONS: [&str; 6] = ["What", "Whether", "How", "Where", "Who", "Which"];

fn sources() -> Vec<PathBuf> {
    let all = CRATES.iter().flat_map(|krate| files(&root().join(krate).join("src")));
    let rust = all.filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    rust.filter(|path| !path.components().any(|part| part.as_os_str() == "tests")).collect()
}

/// The lines of a source before its tests, with their numbers.
fn lines(path: &Path) -> Vec<(usize, String)> {
    let text = std::fs::read_to_string(path).unwrap();
    let is_test = path.ends_with("tests.rs");
    let body = text.split("#[cfg(test)]\nmod ").next().filter(|_| !is_test).unwrap_or_default();
    body.lines().enumerate().map(|(index, line)| (index + 1, line.to_owned())).collect()
}

/// The lines of all sources that break a rule.
#[track_caller]
fn none(rule: &str, breaks: impl Fn(&str) -> bool) {
    let mut breaches = Vec::new();
    for path in sources() {
        for (number, line) in lines(&path).into_iter().filter(|(_, line)| breaks(line)) {
            let name = path.strip_prefix(root()).unwrap().display().to_string();
            breaches.push(format!("{name}:{number}: {}", line.trim()));
        }
    }
    assert!(breaches.is_empty(), "{rule}:\n  {}", breaches.join("\n  "));
}

fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with("//")
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// The texts that follow a word, wherever it stands alone.
fn texts_after<'l>(line: &'l str, word: &str) -> Vec<&'l str> {
    let matches = line.match_indices(word).filter(|(start, _)| !line[..*start].ends_with(is_word));
    let texts = matches.map(|(start, _)| &line[start + word.len()..]);
    texts.filter(|text| !text.starts_with(is_word)).collect()
}

/// A name in a pattern or before a dot: prose in a string has a word on one of its sides.
fn is_variable(line: &str, name: &str) -> bool {
    let code = line.split(" // ").next().unwrap_or_default();
    code.match_indices(name).any(|(start, _)| {
        let (head, tail) = (&code[..start], &code[start + name.len()..]);
        let is_alone = !head.ends_with(is_word) && !tail.starts_with(is_word);
        let is_bound = head.trim_end().ends_with(['|', '&', '(', ',']) || head.ends_with("let ");
        is_alone && is_bound && tail.trim_start().starts_with(['|', ')', ',', '.', ':', '='])
    })
}

#[test]
fn no_variable_is_called_it() {
    none("name the thing", |line| {
        let is_expression = line.trim_start().starts_with("r\"");
        !is_comment(line) && !is_expression && is_variable(line, "it")
    });
}

#[test]
fn a_variable_is_told_from_prose() {
    for line in ["list.map(|it| 1)", "|(index, it)| 2", "Some(it) => it.name", "let it = 1;"] {
        assert!(is_variable(line, "it"), "{line}");
    }
    for line in ["put it back (settings)", "wait(until)", "and begin it, then end"] {
        assert!(!is_variable(line, "it"), "{line}");
    }
}

#[test]
fn no_doc_begins_with_a_question() {
    let mut breaches = Vec::new();
    for path in sources() {
        let mut in_doc = false;
        for (number, line) in lines(&path) {
            let text = line.trim_start();
            let doc = text.strip_prefix("///").or_else(|| text.strip_prefix("//!"));
            let first = doc.and_then(|doc| doc.split_whitespace().next()).unwrap_or_default();
            if !in_doc && QUESTIONS.contains(&first) {
                breaches.push(format!("{}:{number}: {text}", path.display()));
            }
            in_doc = doc.is_some();
        }
    }
    let rule = "say the unit, range, error or source, or leave the doc out";
    assert!(breaches.is_empty(), "{rule}:\n  {}", breaches.join("\n  "));
}

#[test]
fn types_are_named_by_what_they_are() {
    let kinds = ["struct ", "enum ", "trait ", "type "];
    none("use a term of the trade", |line| {
        let code = line.trim_start();
        let item = match code.split_once(' ') {
            Some((first, item)) if first.starts_with("pub") => item,
            _ => code,
        };
        let after_kind = kinds.iter().find_map(|kind| item.strip_prefix(kind));
        let name = after_kind.and_then(|text| text.split(|letter| !is_word(letter)).next());
        name.is_some_and(|name| BANNED.contains(&name))
    });
}

#[test]
fn constants_say_their_unit() {
    none("say the thing and the unit, as in MAX_FEEDBACK_CHARS", |line| {
        let texts = texts_after(line, "const").into_iter();
        let mut names = texts.filter_map(|text| text.trim_start().split(':').next());
        !is_comment(line) && names.any(|name| BANNED_CONSTANTS.contains(&name))
    });
}

#[test]
fn an_if_is_written_as_one() {
    none("write an if", |line| !is_comment(line) && line.contains(&[".filter(", "|_|"].concat()));
}

#[test]
fn constructors_are_not_called_of() {
    none("new, parse, read or from_…", |line| {
        !is_comment(line)
            && texts_after(line, "fn").iter().any(|text| {
                let name = text.trim_start().split(|letter| !is_word(letter)).next();
                name.is_some_and(|name| name == "of" || name.starts_with("of_"))
            })
    });
}

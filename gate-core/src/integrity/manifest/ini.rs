//! `setup.cfg` and `tox.ini`: the sections of pytest, tox and coverage, and the plug-ins
//! that pytest loads by itself.

use super::python::{is_harmless, is_list_of_tests};

/// Keys of an environment that say what is installed in it.
const INSTALLED: [&str; 6] =
    ["deps", "extras", "requires", "dependency_groups", "min_version", "minversion"];

/// A key with its value.
type Entry = (String, String);

/// The new text, if it differs from the tree's.
pub(super) fn merged(before: &str, now: &str) -> Option<String> {
    let (was, is) = (Sections::new(before), Sections::new(now));
    let (mut text, mut is_changed) = (String::new(), false);
    for (at, (name, raw)) in is.texts.iter().enumerate() {
        let (old, new) = (was.entries(name), is.entries(name));
        let entries = set_back(name, &old, &new);
        if entries == new {
            text += raw;
            continue;
        }
        is_changed = true;
        // A name that stands twice is one section.
        let is_first = is.texts.iter().position(|(other, _)| other == name) == Some(at);
        if is_first && !entries.is_empty() {
            text += &written(name, &entries);
        }
    }
    let gone = was.texts.iter().enumerate().filter(|(at, (name, _))| {
        let is_first = was.texts.iter().position(|(other, _)| other == name) == Some(*at);
        is_first && !is.texts.iter().any(|(other, _)| other == name)
    });
    for (_, (name, _)) in gone {
        let entries = set_back(name, &was.entries(name), &[]);
        if !entries.is_empty() {
            is_changed = true;
            if !text.ends_with('\n') {
                text.push('\n');
            }
            text += &written(name, &entries);
        }
    }
    is_changed.then_some(text)
}

/// The entries of a section: the baseline's where they are about tests, else the tree's.
fn set_back(section: &str, before: &[Entry], now: &[Entry]) -> Vec<Entry> {
    let is_trees = |key: &str| {
        if section == "options.entry_points" {
            return key != "pytest11";
        }
        !runs_tests(section) || is_harmless(key) || INSTALLED.contains(&key)
    };
    let about_tests = |(key, _): &&Entry| !is_trees(key);
    let union = |(key, value): &Entry| {
        let trees = now.iter().find(|(other, _)| other == key && is_list_of_tests(key));
        let items: Vec<_> = value.split_whitespace().collect();
        let news = trees.into_iter().flat_map(|(_, value)| value.split_whitespace());
        let news: Vec<_> = news.filter(|item| !items.contains(item)).collect();
        let value = if news.is_empty() { value.clone() } else { [items, news].concat().join("\n") };
        (key.clone(), value)
    };
    let differs = !before.iter().filter(about_tests).eq(now.iter().filter(about_tests));
    if !differs {
        return now.to_vec();
    }
    let own = now.iter().filter(|(key, _)| is_trees(key));
    before.iter().filter(about_tests).map(union).chain(own.cloned()).collect()
}

fn written(section: &str, entries: &[Entry]) -> String {
    let lines =
        entries.iter().map(|(key, value)| format!("{key} = {}\n", value.replace('\n', "\n    ")));
    format!("[{section}]\n{}\n", lines.collect::<String>())
}

/// A file as its sections.
struct Sections<'t> {
    /// Each one's name and text; what stands before the first has no name.
    texts: Vec<(String, &'t str)>,
    entries: Vec<(String, String, String)>,
}

impl<'t> Sections<'t> {
    fn new(text: &'t str) -> Self {
        let mut texts: Vec<(String, &str)> = Vec::new();
        let (mut name, mut from, mut at) = (String::new(), 0, 0);
        for line in text.split_inclusive('\n') {
            let head = line.strip_prefix('[').and_then(|rest| rest.split_once(']'));
            if let Some((next, _)) = head {
                texts.push((name, &text[from..at]));
                (name, from) = (next.trim().to_owned(), at);
            }
            at += line.len();
        }
        texts.push((name, &text[from..]));
        Self { texts, entries: entries(text) }
    }

    fn entries(&self, section: &str) -> Vec<Entry> {
        let own = self.entries.iter().filter(|(name, ..)| name == section);
        own.map(|(_, key, value)| (key.clone(), value.clone())).collect()
    }
}

/// A section selects or runs tests.
fn runs_tests(section: &str) -> bool {
    ["pytest", "tool:pytest", "tox"].contains(&section)
        || section.starts_with("coverage:")
        || section.starts_with("testenv")
}

/// Each key with its section and its value; what is indented goes on.
fn entries(text: &str) -> Vec<(String, String, String)> {
    let (mut section, mut entries) = (String::new(), Vec::<(String, String, String)>::new());
    for line in text.lines() {
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.starts_with(['#', ';']) {
            continue;
        }
        let head = trimmed.strip_prefix('[').and_then(|rest| rest.split_once(']'));
        let is_indented = line.starts_with([' ', '\t']);
        if let Some((name, _)) = head
            && !is_indented
        {
            section = name.trim().to_owned();
        } else if is_indented && entries.last().is_some_and(|last| last.0 == section) {
            if let Some(last) = entries.last_mut() {
                last.2 += &format!("\n{trimmed}");
            }
        } else if let Some((key, value)) = trimmed.split_once(['=', ':']) {
            let key = key.trim().to_ascii_lowercase();
            entries.push((section.clone(), key, value.trim().to_owned()));
        }
    }
    entries
}

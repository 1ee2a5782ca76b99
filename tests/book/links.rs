//! Links of the book lead to pages and headings, and each page is in the table of contents.

use std::collections::BTreeSet;
use std::path::Path;

use super::{SOURCES, pages, read};
use crate::needs::root;

/// The text of a page with the files that it includes, as mdBook puts them in.
fn whole(page: &str) -> String {
    let folder = root().join(SOURCES).join(page);
    let folder = folder.parent().unwrap();
    let mut text = String::new();
    for line in read(page).lines() {
        let included = line.strip_prefix("{{#include ").and_then(|rest| rest.strip_suffix("}}"));
        let line = included.map_or_else(|| line.to_owned(), |path| include(folder, path));
        text.push_str(&line);
        text.push('\n');
    }
    text
}

fn include(folder: &Path, path: &str) -> String {
    let (path, anchor) = path.split_once(':').unwrap_or((path, ""));
    let text = std::fs::read_to_string(folder.join(path)).expect(path);
    if anchor.is_empty() {
        return text;
    }
    let (_, rest) = text.split_once(&format!("<!-- ANCHOR: {anchor} -->")).expect(anchor);
    rest.split_once(&format!("<!-- ANCHOR_END: {anchor} -->")).expect(anchor).0.to_owned()
}

/// The lines of a page outside of code blocks.
fn prose(text: &str) -> String {
    let mut inside = false;
    let lines = text.lines().filter(|line| {
        let fence = line.trim_start().starts_with("```");
        inside ^= fence;
        !inside && !fence
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The targets of the links of a page, but for addresses.
fn targets(text: &str) -> Vec<String> {
    let prose = prose(text);
    let targets = prose.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    targets.filter(|target| !target.contains("://")).map(str::to_owned).collect()
}

/// The anchors of a page's headings, as mdBook makes them.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    let prose = prose(text);
    for heading in prose.lines().filter(|line| line.starts_with('#')) {
        let title = heading.trim_start_matches('#').trim();
        let letters = title.chars().filter_map(|letter| match letter {
            ' ' => Some('-'),
            letter if letter.is_alphanumeric() || "-_".contains(letter) => Some(letter),
            _ => None,
        });
        let anchor = letters.collect::<String>().to_lowercase();
        let again = (1..).map(|count| format!("{anchor}-{count}"));
        let mut names = [anchor.clone()].into_iter().chain(again);
        let free = names.find(|name| !anchors.contains(name)).unwrap();
        anchors.insert(free);
    }
    anchors
}

/// A path without `.` and `..`, relative to the book.
fn resolved(page: &str, target: &str) -> String {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[test]
fn links_lead_to_pages_and_headings() {
    let pages = pages();
    for page in &pages {
        for target in targets(&whole(page)) {
            let (file, heading) = target.split_once('#').unwrap_or((&target, ""));
            let to = if file.is_empty() { page.clone() } else { resolved(page, file) };
            assert!(pages.contains(&to), "{page}: ({target}): there is no page {to}");
            let there = heading.is_empty() || anchors(&whole(&to)).contains(heading);
            assert!(there, "{page}: ({target}): there is no such heading");
        }
    }
}

#[test]
fn the_table_of_contents_names_each_page_once() {
    let mut listed = targets(&read("SUMMARY.md"));
    listed.sort();
    let mut pages = pages();
    pages.sort();
    assert_eq!(listed, pages);
}

#[test]
fn headings_have_anchors() {
    let text = "# gate run\n```sh\n# none\n```\n## `a-b`, and c!\n## `a-b`, and c!\n";
    let expected = ["a-b-and-c", "a-b-and-c-1", "gate-run"].map(str::to_owned);
    assert_eq!(anchors(text), BTreeSet::from(expected));
}

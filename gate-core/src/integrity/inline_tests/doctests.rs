//! Sets the examples of a source's documentation back, with the documentation around them.

use super::Edit;
use super::doc::Doc;
use super::items::{Item, Items, is_outer};
use crate::integrity::lexer::{Class, View};

/// A documentation comment, and what it documents.
#[derive(Debug)]
struct Documented<'t> {
    /// The item, and a number that tells those of one name apart.
    key: (String, usize),
    from: usize,
    to: usize,
    doc: Doc<'t>,
    is_inner: bool,
}

pub(super) fn edits(
    (before, was): (&View<'_>, &Items),
    (now, is): (&View<'_>, &Items),
) -> Vec<Edit> {
    let (old, new) = (documented(before, was), documented(now, is));
    let (mut edits, mut lost) = (Vec::new(), 0);
    for place in &new {
        let text = match old.iter().find(|doc| doc.key == place.key) {
            Some(doc) if doc.doc.tests() == place.doc.tests() => continue,
            Some(doc) => doc.doc.0.to_owned(),
            None if place.doc.tests().is_empty() => continue,
            None => place.doc.without_tests(),
        };
        edits.push(Edit { from: place.from, to: place.to, text });
    }
    let is_gone = |doc: &&Documented<'_>| !new.iter().any(|place| place.key == doc.key);
    for doc in old.iter().filter(is_gone).filter(|doc| !doc.doc.tests().is_empty()) {
        edits.push(put_back(doc, (now, is), &mut lost));
    }
    edits
}

/// Puts a comment back above what it documented, or above an item of its own.
fn put_back(doc: &Documented<'_>, (now, is): (&View<'_>, &Items), lost: &mut usize) -> Edit {
    let (name, number) = &doc.key;
    if doc.is_inner {
        let container = name.trim_end_matches("/!");
        if container.is_empty() {
            return Edit::insert(0, format!("{}\n", doc.doc.0));
        }
        if let Some((from, _)) =
            is.items.iter().find(|item| item.key() == container).and_then(|item| item.body)
        {
            return Edit::insert(from, format!("\n{}\n", doc.doc.0));
        }
    } else if let Some(item) = is.items.iter().filter(|item| item.key() == *name).nth(*number) {
        return Edit::insert(item.start, format!("{}\n", doc.doc.0));
    }
    *lost += 1;
    let text = doc.doc.as_outer();
    let item = format!("\n{text}#[allow(dead_code)]\nfn documented_before_{lost}() {{}}\n");
    Edit::insert(now.text.len(), item)
}

/// The comments of a source that document something outside of its tests.
fn documented<'t>(view: &View<'t>, items: &Items) -> Vec<Documented<'t>> {
    let mut found: Vec<Documented<'t>> = Vec::new();
    for (from, to) in comments(view) {
        let is_in_test = |item: &Item| item.is_test && (item.from..item.to).contains(&from);
        if items.items.iter().any(is_in_test) {
            continue;
        }
        let is_inner = !is_outer(&view.text.as_bytes()[from..]);
        let around = items
            .items
            .iter()
            .rfind(|item| item.body.is_some_and(|(open, close)| (open..close).contains(&from)));
        let around = around.map(Item::key).unwrap_or_default();
        let own = items.items.iter().find(|item| item.from <= from && from < item.start);
        let name = match own {
            _ if is_inner => format!("{around}/!"),
            Some(item) => item.key(),
            None => format!("{around}/{}", next_words(view, to)),
        };
        let number = match own {
            // Items of one name count, with or without documentation.
            Some(item) => items
                .items
                .iter()
                .filter(|other| other.key() == name && other.from < item.from)
                .count(),
            None => found.iter().filter(|doc| doc.key.0 == name).count(),
        };
        let doc = Doc(&view.text[from..to]);
        found.push(Documented { key: (name, number), from, to, doc, is_inner });
    }
    found
}

/// The runs of documentation comments: each one's first byte and the one after its last.
fn comments(view: &View<'_>) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize, bool)> = Vec::new();
    let mut open: Option<usize> = None;
    for line in 0..view.len() {
        let (from, to) = view.range(line);
        let first = from + view.line(line).len() - view.line(line).trim_start().len();
        let rest = view.text.as_bytes().get(first..to).unwrap_or_default();
        if let Some(start) = open {
            let is_comment = view.classes.get(from) == Some(&Class::Comment);
            if is_comment && view.classes.get(to) == Some(&Class::Comment) {
                continue;
            }
            let end = (from..to).take_while(|at| view.classes[*at] == Class::Comment).last();
            runs.push((start, end.map_or(from, |at| at + 1), false));
            open = None;
            continue;
        }
        let is_comment = view.classes.get(first) == Some(&Class::Comment);
        let is_inner = rest.starts_with(b"//!") || rest.starts_with(b"/*!");
        if !is_comment || !(is_inner || is_outer(rest)) {
            continue;
        }
        if rest.starts_with(b"/*") {
            if view.classes.get(to) == Some(&Class::Comment) {
                open = Some(first);
            } else {
                let end = (first..to).take_while(|at| view.classes[*at] == Class::Comment).last();
                runs.push((first, end.map_or(first, |at| at + 1), false));
            }
            continue;
        }
        match runs.last_mut() {
            Some((start, end, true))
                if view.text[*end..first].trim().is_empty()
                    && view.text[*end..first].matches('\n').count() == 1
                    && view.text[*start..].starts_with("//!") == is_inner =>
            {
                *end = to;
            }
            _ => runs.push((first, to, true)),
        }
    }
    runs.into_iter().map(|(from, to, _)| (from, to)).collect()
}

/// The first words of code after a place, on one line.
fn next_words(view: &View<'_>, at: usize) -> String {
    let rest = (at..view.text.len())
        .skip_while(|at| !view.is_code(*at) || view.text.as_bytes()[*at].is_ascii_whitespace());
    let Some(from) = rest.into_iter().next().filter(|at| view.text.is_char_boundary(*at)) else {
        return String::new();
    };
    let line = view.text[from..].lines().next().unwrap_or_default();
    let signature = line.split(['{', '(', '=', ':', ',']).next().unwrap_or_default();
    signature.split_whitespace().collect::<Vec<_>>().join(" ")
}

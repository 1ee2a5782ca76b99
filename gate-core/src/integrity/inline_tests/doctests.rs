//! Sets the examples of a source's documentation back, with the documentation around them.

use std::ops::Range;

use super::doc::DocComment;
use super::items::{RustItem, is_outer_doc};
use super::{Edit, ItemId, RustSource};
use crate::integrity::lexer::{ByteClass, SourceView};

/// A documentation comment, and what it documents.
#[derive(Debug)]
struct Documentation<'t> {
    item: ItemId,
    span: Range<usize>,
    comment: DocComment<'t>,
    /// It documents the item that it stands in.
    is_inner: bool,
}

pub(super) fn edits(old: &RustSource<'_>, new: &RustSource<'_>) -> Vec<Edit> {
    let (old_docs, new_docs) = (documentation(old), documentation(new));
    let mut edits = Vec::new();
    for new_doc in &new_docs {
        let examples = new_doc.comment.examples();
        let text = match old_docs.iter().find(|old_doc| old_doc.item == new_doc.item) {
            Some(old_doc) if old_doc.comment.examples() == examples => continue,
            Some(old_doc) => old_doc.comment.text.to_owned(),
            None if examples.is_empty() => continue,
            None => new_doc.comment.without_examples(),
        };
        edits.push(Edit { span: new_doc.span.clone(), text });
    }
    let mut stand_ins = 0;
    for old_doc in &old_docs {
        let is_gone = !new_docs.iter().any(|new_doc| new_doc.item == old_doc.item);
        if is_gone && !old_doc.comment.examples().is_empty() {
            edits.push(put_back(old_doc, new, &mut stand_ins));
        }
    }
    edits
}

/// Puts a comment back above what it documented. If that is gone, the comment documents a function
/// that stands in for it: its examples run wherever they stand. `stand_ins` counts these functions.
fn put_back(old_doc: &Documentation<'_>, new: &RustSource<'_>, stand_ins: &mut usize) -> Edit {
    let ItemId { key, number } = &old_doc.item;
    let comment = old_doc.comment;
    let mut items = new.items.items.iter();
    if old_doc.is_inner {
        let container = key.trim_end_matches(INNER);
        if container.is_empty() {
            return Edit::insert(0, format!("{}\n", comment.text));
        }
        let item = items.find(|item| item.key() == container);
        if let Some(body) = item.and_then(|item| item.body.as_ref()) {
            return Edit::insert(body.start, format!("\n{}\n", comment.text));
        }
    } else if let Some(item) = items.filter(|item| item.key() == *key).nth(*number) {
        return Edit::insert(item.code_start, format!("{}\n", comment.text));
    }
    *stand_ins += 1;
    let text = comment.as_outer();
    let item = format!("\n{text}#[allow(dead_code)]\nfn documented_before_{stand_ins}() {{}}\n");
    Edit::insert(new.view.text.len(), item)
}

/// Behind the key of a container: the comment within it that documents it.
const INNER: &str = "/!";

/// The comments of a source that document something outside of its tests.
fn documentation<'t>(source: &RustSource<'t>) -> Vec<Documentation<'t>> {
    let (view, items) = (&source.view, &source.items.items);
    let mut docs: Vec<Documentation<'t>> = Vec::new();
    for span in doc_comments(view) {
        let is_around = |item: &RustItem| item.is_test && item.span.contains(&span.start);
        if items.iter().any(is_around) {
            continue;
        }
        let is_inner = !is_outer_doc(&view.text.as_bytes()[span.start..]);
        // The last one is the innermost: a module stands before its items.
        let container = items
            .iter()
            .rfind(|item| item.body.as_ref().is_some_and(|body| body.contains(&span.start)));
        let container = container.map(RustItem::key).unwrap_or_default();
        let item =
            items.iter().find(|item| (item.span.start..item.code_start).contains(&span.start));
        let key = match item {
            _ if is_inner => format!("{container}{INNER}"),
            Some(item) => item.key(),
            // A field, a variant or a method of a type is no item here, and is known by its words.
            None => format!("{container}/{}", words_after(view, span.end)),
        };
        let number = match item {
            // All items of one name count, with or without documentation.
            Some(item) => {
                let is_earlier = |earlier: &&RustItem| {
                    earlier.key() == key && earlier.span.start < item.span.start
                };
                items.iter().filter(is_earlier).count()
            }
            None => docs.iter().filter(|doc| doc.item.key == key).count(),
        };
        let comment = DocComment { text: &view.text[span.clone()] };
        docs.push(Documentation { item: ItemId { key, number }, span, comment, is_inner });
    }
    docs
}

/// A block comment, or comments of one line below each other.
struct CommentRun {
    span: Range<usize>,
    /// It is of one-line comments, so that the next line may go on with it.
    is_of_lines: bool,
}

/// The documentation comments of a source, those of one line below each other as one.
fn doc_comments(view: &SourceView<'_>) -> Vec<Range<usize>> {
    let mut runs: Vec<CommentRun> = Vec::new();
    let mut block_start: Option<usize> = None;
    let is_comment = |offset: usize| view.classes.get(offset) == Some(&ByteClass::Comment);
    // The byte after the comment that a line begins with, from `start` on.
    let comment_end = |start: usize, end: usize| {
        let comment = (start..end).take_while(|offset| is_comment(*offset));
        comment.last().map_or(start, |last| last + 1)
    };
    for line in 0..view.line_count() {
        let Range { start: line_start, end: line_end } = view.line_span(line);
        // The end of a line is a byte of a block comment that goes on.
        let goes_on = is_comment(line_end);
        if let Some(start) = block_start {
            if is_comment(line_start) && goes_on {
                continue;
            }
            let span = start..comment_end(line_start, line_end);
            runs.push(CommentRun { span, is_of_lines: false });
            block_start = None;
            continue;
        }
        let start = line_start + view.line(line).len() - view.line(line).trim_start().len();
        let text = view.text.as_bytes().get(start..line_end).unwrap_or_default();
        let is_inner = text.starts_with(b"//!") || text.starts_with(b"/*!");
        if !is_comment(start) || !(is_inner || is_outer_doc(text)) {
            continue;
        }
        if text.starts_with(b"/*") {
            if goes_on {
                block_start = Some(start);
            } else {
                let span = start..comment_end(start, line_end);
                runs.push(CommentRun { span, is_of_lines: false });
            }
            continue;
        }
        match runs.last_mut() {
            Some(run) if run.is_of_lines && is_continued(view, &run.span, start, is_inner) => {
                run.span.end = line_end;
            }
            _ => runs.push(CommentRun { span: start..line_end, is_of_lines: true }),
        }
    }
    runs.into_iter().map(|run| run.span).collect()
}

/// A comment of one line at `start` goes on with a run: it is of the same kind, in the next line.
fn is_continued(view: &SourceView<'_>, run: &Range<usize>, start: usize, is_inner: bool) -> bool {
    let gap = &view.text[run.end..start];
    gap.trim().is_empty()
        && gap.matches('\n').count() == 1
        && view.text[run.start..].starts_with("//!") == is_inner
}

/// The first words of code after an offset, on one line.
fn words_after(view: &SourceView<'_>, offset: usize) -> String {
    let bytes = view.text.as_bytes();
    let is_layout = |offset: &usize| !view.is_code(*offset) || bytes[*offset].is_ascii_whitespace();
    let start = (offset..bytes.len()).find(|offset| !is_layout(offset));
    let Some(start) = start.filter(|start| view.text.is_char_boundary(*start)) else {
        return String::new();
    };
    let line = view.text[start..].lines().next().unwrap_or_default();
    let signature = line.split(['{', '(', '=', ':', ',']).next().unwrap_or_default();
    signature.split_whitespace().collect::<Vec<_>>().join(" ")
}

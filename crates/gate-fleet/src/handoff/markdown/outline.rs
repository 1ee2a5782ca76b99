//! The lists of a document, and the headings between them, as CommonMark has
//! them.
//!
//! The text of an item is taken from the source, and not as it would be shown:
//! `**/*.rs` and `snake_case` stay as they are.

use std::iter;
use std::ops::Range;

use pulldown_cmark::{Event, OffsetIter, Parser, Tag, TagEnd};

/// Items are read to this depth; deeper ones are text of the item above. A
/// handoff has four levels.
const MAX_DEPTH: usize = 5;

/// The items between two headings at the top of a document.
#[derive(Default)]
pub(super) struct Section<'s> {
    /// The words of the heading above; empty before the first one.
    pub(super) heading: String,
    /// Its line, from 1.
    pub(super) line: usize,
    pub(super) items: Vec<Item<'s>>,
}

/// An item of a list.
pub(super) struct Item<'s> {
    /// Its line, from 1.
    pub(super) line: usize,
    /// The whole item behind its marker.
    source: &'s str,
    /// Its own text, up to the first block in it that is no paragraph.
    head: &'s str,
    /// The items of the lists in it.
    pub(super) children: Vec<Item<'s>>,
    /// It has other content than its own text and a list below.
    pub(super) is_mixed: bool,
}

impl<'s> Item<'s> {
    /// An item that holds this text alone.
    pub(super) fn new(text: &'s str, line: usize) -> Self {
        Self { line, source: text, head: text, children: Vec::new(), is_mixed: false }
    }

    /// The lines of its own text, without the blank ones.
    pub(super) fn lines(&self) -> impl Iterator<Item = &str> {
        self.head.lines().map(str::trim).filter(|line| !line.is_empty())
    }

    /// Its own text: a paragraph is one line.
    pub(super) fn text(&self) -> String {
        let lines: Vec<_> = self.head.lines().map(str::trim).collect();
        let paragraphs = lines.split(|line| line.is_empty()).filter(|lines| !lines.is_empty());
        paragraphs.map(|lines| lines.join(" ")).collect::<Vec<_>>().join("\n\n")
    }

    pub(super) fn is_plain(&self) -> bool {
        self.children.is_empty() && !self.is_mixed
    }

    /// The whole item with its line breaks, without the indent of its lines.
    pub(super) fn dedented_source(&self) -> String {
        let mut lines = self.source.lines();
        let first_line = lines.next().unwrap_or_default();
        let written_lines = lines.clone().filter(|line| !line.trim().is_empty());
        let indent_of = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
        let indent = written_lines.map(indent_of).min().unwrap_or(0);
        let lines_below = lines.map(|line| line.get(indent..).unwrap_or_default().trim_end());
        let dedented: Vec<_> = iter::once(first_line.trim()).chain(lines_below).collect();
        dedented.join("\n").trim().to_owned()
    }
}

/// The sections of a document, in order. Quotations and all blocks but lists are passed over.
pub(super) fn read(text: &str) -> Vec<Section<'_>> {
    let breaks = text.match_indices('\n').map(|(at, _)| at).collect();
    let mut reader = Reader { text, breaks, events: Parser::new(text).into_offset_iter() };
    let mut sections = Vec::new();
    let mut section = Section::default();
    while let Some((event, range)) = reader.events.next() {
        match event {
            Event::Start(Tag::Heading { .. }) => {
                sections.push(section);
                let line = reader.line(range.start);
                section = Section { heading: reader.heading(), line, items: Vec::new() };
            }
            Event::Start(Tag::Item) => section.items.push(reader.item(range, 1)),
            Event::Start(Tag::BlockQuote(_)) => reader.skip_block(),
            _ => {}
        }
    }
    sections.push(section);
    sections
}

struct Reader<'s> {
    text: &'s str,
    /// The bytes at which lines end.
    breaks: Vec<usize>,
    events: OffsetIter<'s>,
}

impl<'s> Reader<'s> {
    /// The words of a heading that has begun.
    fn heading(&mut self) -> String {
        let mut words = String::new();
        for (event, _) in self.events.by_ref() {
            match event {
                Event::End(TagEnd::Heading(_)) => break,
                Event::Text(text) | Event::Code(text) => words.push_str(&text),
                _ => {}
            }
        }
        words
    }

    /// Passes over a block that has begun, up to its end.
    fn skip_block(&mut self) {
        let mut depth = 1;
        while depth > 0 {
            match self.events.next() {
                Some((Event::Start(_), _)) => depth += 1,
                Some((Event::End(_), _)) => depth -= 1,
                Some(_) => {}
                None => return,
            }
        }
    }

    /// An item that has begun.
    fn item(&mut self, range: Range<usize>, depth: usize) -> Item<'s> {
        let (text, line) = (self.text, self.line(range.start));
        let start = range.start + marker_length(&text[range.clone()]);
        let mut children = Vec::new();
        let mut is_mixed = false;
        let mut head_end = None;
        // The end of the last child; before the first child, the end of the item's own text.
        let mut covered_to = range.end;
        let has_text = |range: Range<usize>| !text.get(range).unwrap_or_default().trim().is_empty();
        while let Some((event, block)) = self.events.next() {
            if head_end.is_none() && ends_text(&event) {
                head_end = Some(block.start);
                covered_to = block.start;
            }
            match event {
                Event::End(TagEnd::Item) => break,
                Event::Start(Tag::Item) if depth < MAX_DEPTH => {
                    is_mixed |= has_text(covered_to..block.start);
                    covered_to = block.end;
                    children.push(self.item(block, depth + 1));
                }
                Event::Start(Tag::Item | Tag::BlockQuote(_)) => self.skip_block(),
                _ => {}
            }
        }
        is_mixed |= has_text(covered_to..range.end);
        let head_end = head_end.unwrap_or(range.end).max(start);
        let source = text.get(start..range.end.max(start)).unwrap_or_default();
        let head = text.get(start..head_end).unwrap_or_default();
        Item { line, source, head, children, is_mixed }
    }

    /// The line of a byte, from 1.
    fn line(&self, at: usize) -> usize {
        self.breaks.partition_point(|line_end| *line_end < at) + 1
    }
}

/// The beginning of a block that is no paragraph: the text of the item around it ends.
fn ends_text(event: &Event<'_>) -> bool {
    match event {
        Event::Start(tag) => matches!(
            tag,
            Tag::List(_)
                | Tag::CodeBlock(_)
                | Tag::HtmlBlock
                | Tag::Heading { .. }
                | Tag::BlockQuote(_)
        ),
        event => *event == Event::Rule,
    }
}

/// The length of an item's marker with the blanks before it, in bytes.
fn marker_length(source: &str) -> usize {
    let marked_text = source.trim_start();
    let digits = marked_text.bytes().take_while(u8::is_ascii_digit).count();
    let sign = usize::from(!marked_text[digits..].is_empty());
    source.len() - marked_text.len() + digits + sign
}

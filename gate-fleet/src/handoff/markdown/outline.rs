//! The lists of a document, and the headings between them, as CommonMark has
//! them.
//!
//! What an item says is taken from the source, not from what it would be shown
//! as: `**/*.rs` and `snake_case` stay what they are.

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

/// Items are read to this depth; what lies deeper is text of the item above. A
/// handoff has four.
const MAX_DEPTH: usize = 5;

/// A block at the top of a document.
pub(super) enum Block<'s> {
    Heading { text: String, line: usize },
    Item(Item<'s>),
}

/// An item of a list.
pub(super) struct Item<'s> {
    /// Its line, from 1.
    pub(super) line: usize,
    /// All of it, behind its marker.
    source: &'s str,
    /// Its own text, up to the first block in it that is no paragraph.
    head: &'s str,
    /// The items of the lists in it.
    pub(super) children: Vec<Item<'s>>,
    /// True if there is something in it beside its own text and a list below.
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
        let mut text = String::new();
        let mut ended = false;
        for line in self.head.lines().map(str::trim) {
            ended |= line.is_empty();
            if !line.is_empty() {
                let gap = if ended { "\n\n" } else { " " };
                text.push_str(if text.is_empty() { "" } else { gap });
                text.push_str(line);
                ended = false;
            }
        }
        text
    }

    pub(super) fn is_plain(&self) -> bool {
        self.children.is_empty() && !self.is_mixed
    }

    /// All of it with its line breaks, without what its lines are indented by.
    pub(super) fn whole(&self) -> String {
        let rest = self.source.lines().skip(1).filter(|line| !line.trim().is_empty());
        let indent = rest
            .map(|line| line.len() - line.trim_start_matches([' ', '\t']).len())
            .min()
            .unwrap_or(0);
        let mut lines = self.source.lines();
        let mut text = lines.next().unwrap_or_default().trim().to_owned();
        for line in lines {
            text.push('\n');
            text.push_str(line.get(indent..).unwrap_or_default().trim_end());
        }
        text.trim().to_owned()
    }
}

/// The headings and items at the top of a document, in order. Quotations and all
/// other blocks are passed over.
pub(super) fn read(text: &str) -> Vec<Block<'_>> {
    let mut reader = Reader { text, ..Reader::default() };
    for (event, range) in Parser::new(text).into_offset_iter() {
        reader.take(&event, range.start, range.end);
    }
    reader.blocks
}

#[derive(Default)]
struct Reader<'s> {
    text: &'s str,
    blocks: Vec<Block<'s>>,
    frames: Vec<Frame<'s>>,
    /// Open items beyond the greatest depth.
    deeper: usize,
    /// Open quotations.
    quotes: usize,
    heading: Option<String>,
    /// The byte up to which lines were counted, and their number.
    counted: (usize, usize),
}

/// An item that is being read.
struct Frame<'s> {
    line: usize,
    start: usize,
    end: usize,
    /// End of its own text.
    head_end: Option<usize>,
    /// End of the last child; before the first child, the end of its own text.
    covered_to: usize,
    children: Vec<Item<'s>>,
    is_mixed: bool,
}

impl<'s> Reader<'s> {
    fn take(&mut self, event: &Event<'_>, start: usize, end: usize) {
        match event {
            Event::Start(Tag::BlockQuote(_)) => {
                self.interrupt(start);
                self.quotes += 1;
            }
            Event::End(TagEnd::BlockQuote(_)) => self.quotes -= 1,
            _ if self.quotes > 0 => {}
            Event::Start(Tag::List(_) | Tag::CodeBlock(_) | Tag::HtmlBlock) | Event::Rule => {
                self.interrupt(start);
            }
            Event::Start(Tag::Item) => self.begin(start, end),
            Event::End(TagEnd::Item) => self.end(),
            Event::Start(Tag::Heading { .. }) => {
                self.interrupt(start);
                self.heading = Some(String::new());
            }
            Event::End(TagEnd::Heading(_)) => {
                let text = self.heading.take().unwrap_or_default();
                let line = self.line(start);
                if self.frames.is_empty() {
                    self.blocks.push(Block::Heading { text, line });
                }
            }
            Event::Text(text) | Event::Code(text) => {
                if let Some(heading) = &mut self.heading {
                    heading.push_str(text);
                }
            }
            _ => {}
        }
    }

    /// A block begins that is no paragraph: the text of the item around it ends.
    fn interrupt(&mut self, at: usize) {
        if let Some(frame) = self.frames.last_mut().filter(|frame| frame.head_end.is_none()) {
            frame.head_end = Some(at);
            frame.covered_to = at;
        }
    }

    fn begin(&mut self, start: usize, end: usize) {
        if self.frames.len() == MAX_DEPTH {
            self.deeper += 1;
            return;
        }
        let text = self.text;
        if let Some(above) = self.frames.last_mut() {
            above.pass_over(text, start);
        }
        let line = self.line(start);
        let source = &self.text[start..end];
        let start = start + marker(source);
        let frame = Frame {
            line,
            start,
            end,
            head_end: None,
            covered_to: end,
            children: Vec::new(),
            is_mixed: false,
        };
        self.frames.push(frame);
    }

    fn end(&mut self) {
        if self.deeper > 0 {
            self.deeper -= 1;
            return;
        }
        let Some(mut frame) = self.frames.pop() else { return };
        frame.pass_over(self.text, frame.end);
        let Frame { line, start, end, head_end, children, is_mixed, .. } = frame;
        let head_end = head_end.unwrap_or(end).max(start);
        let source = self.text.get(start..end.max(start)).unwrap_or_default();
        let head = self.text.get(start..head_end).unwrap_or_default();
        let item = Item { line, source, head, children, is_mixed };
        match self.frames.last_mut() {
            Some(above) => {
                above.children.push(item);
                above.covered_to = end;
            }
            None => self.blocks.push(Block::Item(item)),
        }
    }

    /// The line that a byte stands in; it has to lie behind the one before.
    fn line(&mut self, at: usize) -> usize {
        let (counted, lines) = self.counted;
        let new = self.text.as_bytes().get(counted..at).unwrap_or_default();
        let new = new.iter().filter(|byte| **byte == b'\n').count();
        self.counted = (counted.max(at), lines + new);
        self.counted.1 + 1
    }
}

impl Frame<'_> {
    /// Notes if there is anything between its own text or its last child and this byte.
    fn pass_over(&mut self, text: &str, to: usize) {
        let between = text.get(self.covered_to..to).unwrap_or_default();
        self.is_mixed |= !between.trim().is_empty();
    }
}

/// Length, in bytes, of an item's marker.
fn marker(source: &str) -> usize {
    let rest = source.trim_start();
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let mark = digits + usize::from(!rest[digits..].is_empty());
    source.len() - rest.len() + mark
}

//! Task lists in Markdown, as CommonMark and GitHub have them; Spec Kit's
//! tasks.md is one.
//!
//! Only a list item that begins with a box is a task: not a box in a fence, a
//! code span, a comment or a link, and not `[2026-01-29]`.

use std::rc::Rc;

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::lines::Lines;
use super::{Item, Plan, label};

/// As much of an item's text is kept.
const LONGEST: usize = 400;

/// Of the items that an item is a part of, so many are kept.
const DEEPEST: usize = 32;

/// Reads a document; items below a heading that is called like one of
/// `optional` do not block.
pub(super) fn read(text: &str, optional: &[String]) -> Plan {
    let options = Options::ENABLE_TASKLISTS | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS;
    let mut reader = Reader::new(text, optional);
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        reader.take(event, range.start);
    }
    let items = reader.items;
    let called = items.iter().filter(|item| label::has_id(&item.text)).count();
    Plan { format: "markdown", by_ids: called * 2 > items.len(), items }
}

/// A list item that is being read.
#[derive(Default)]
struct Frame {
    /// Its number among the tasks, where it is one.
    task: Option<usize>,
    text: String,
    /// Whether its first line is over.
    over: bool,
}

struct Reader<'a> {
    optional: Vec<String>,
    lines: Lines<'a>,
    items: Vec<Item>,
    frames: Vec<Frame>,
    /// How many quotations are open: their headings are not the document's.
    quotes: usize,
    /// The heading that is being read.
    heading: Option<(HeadingLevel, String)>,
    headings: Vec<(HeadingLevel, Rc<str>)>,
    /// The same, as items have it.
    above: Rc<[Rc<str>]>,
    below_optional: bool,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str, optional: &[String]) -> Self {
        Self {
            optional: optional.iter().map(|it| bare(it)).filter(|it| !it.is_empty()).collect(),
            lines: Lines::of(text),
            items: Vec::new(),
            frames: Vec::new(),
            quotes: 0,
            heading: None,
            headings: Vec::new(),
            above: Rc::default(),
            below_optional: false,
        }
    }

    fn take(&mut self, event: Event<'_>, offset: usize) {
        match event {
            Event::Start(Tag::Item) => self.begin(),
            Event::End(TagEnd::Item) => self.end(),
            Event::TaskListMarker(done) => self.task(done, offset),
            Event::Start(Tag::BlockQuote(_)) => self.quotes += 1,
            Event::End(TagEnd::BlockQuote(_)) => self.quotes -= 1,
            Event::Start(Tag::Heading { level, .. }) => self.heading = Some((level, String::new())),
            Event::End(TagEnd::Heading(_)) => self.end_heading(),
            Event::Text(text) | Event::Code(text) => self.text(&text),
            Event::SoftBreak | Event::HardBreak | Event::End(TagEnd::Paragraph) => self.line_ends(),
            _ => {}
        }
    }

    /// A list item begins; the first line of the one around it is over.
    fn begin(&mut self) {
        self.line_ends();
        self.frames.push(Frame::default());
    }

    fn end(&mut self) {
        let Some(frame) = self.frames.pop() else { return };
        if let Some(item) = frame.task.and_then(|task| self.items.get_mut(task)) {
            item.text = frame.text.trim().to_owned();
        }
    }

    fn task(&mut self, done: bool, offset: usize) {
        let line = self.lines.at(offset);
        let around = self.frames.len().saturating_sub(1);
        let texts = self.frames[..around].iter().rev().take(DEEPEST);
        let within = texts.map(|frame| Rc::from(frame.text.trim())).collect();
        let Some(frame) = self.frames.last_mut() else { return };
        frame.task = Some(self.items.len());
        self.items.push(Item {
            line,
            done,
            optional: self.below_optional,
            within,
            headings: Rc::clone(&self.above),
            ..Item::default()
        });
    }

    fn text(&mut self, text: &str) {
        if let Some((_, heading)) = &mut self.heading {
            heading.push_str(text);
        } else if let Some(frame) = self.frames.last_mut()
            && !frame.over
        {
            let room = LONGEST.saturating_sub(frame.text.len());
            frame.text.extend(text.chars().take(room));
        }
    }

    fn line_ends(&mut self) {
        if let Some(frame) = self.frames.last_mut() {
            frame.over |= !frame.text.is_empty();
        }
    }

    fn end_heading(&mut self) {
        let Some((level, text)) = self.heading.take() else { return };
        if self.quotes > 0 || !self.frames.is_empty() {
            return;
        }
        self.headings.retain(|(above, _)| *above < level);
        self.headings.push((level, Rc::from(text.as_str())));
        self.above = self.headings.iter().map(|(_, text)| Rc::clone(text)).collect();
        self.below_optional = self.above.iter().any(|text| self.optional.contains(&bare(text)));
    }
}

/// A heading without the marks around it, and without regard to case.
fn bare(heading: &str) -> String {
    heading.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase()
}

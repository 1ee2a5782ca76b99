//! Task lists in Markdown, as CommonMark and GitHub have them; Spec Kit's
//! tasks.md is one.
//!
//! Only a list item that begins with a box is a task: not a box in a fence, a code span, a comment or a
//! link, and not `[2026-01-29]`. In doubt a box is open: with another mark than `x`, without its
//! spaces, or in a block of HTML.

use std::rc::Rc;

use gate_core::decide::policy::CheckPolicy;
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::label;
use super::mark::Mark;
use super::plan::{Item, LineCounter, Plan, Verify};

/// The most of an item's text that is kept.
const MAX_ITEM_CHARS: usize = 400;

/// The most items around an item that are kept.
const MAX_DEPTH: usize = 32;

/// Boxes that are open even where no list item begins.
const OPEN_BOXES: &[&str] = &["[ ]", "[]", "[~]", "[/]"];

/// Reads a document by these rules.
pub(super) fn read(text: &str, rules: &CheckPolicy) -> Plan {
    let options = Options::ENABLE_TASKLISTS | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS;
    let mut reader = TaskReader::new(text, rules);
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        reader.take_event(event, range.start);
    }
    let items = reader.items;
    let with_id = items.iter().filter(|item| label::has_id(&item.text)).count();
    Plan { format: "markdown", has_ids: with_id * 2 > items.len(), items }
}

/// A list item that is being read.
#[derive(Default)]
struct ListItem {
    /// The index of the task, if the list item is one.
    task: Option<usize>,
    /// The box that the text begins with, if GitHub does not know its mark: it stands in the text.
    mark: String,
    text: String,
    /// The first line has ended. Only its text is kept.
    is_line_over: bool,
}

/// A heading, and those below which it stands come first in a list of them.
struct Heading {
    level: HeadingLevel,
    text: Rc<str>,
}

struct TaskReader<'a> {
    source: &'a str,
    /// Headings whose items do not block, bare.
    optional_headings: Vec<String>,
    done_marks: &'a [String],
    lines: LineCounter<'a>,
    items: Vec<Item>,
    /// The list items that are open at this place, from the outermost.
    list_items: Vec<ListItem>,
    /// The depth of quotations: their headings are not the document's.
    quotes: usize,
    is_in_code: bool,
    /// Inside of a comment in a block of HTML, which may have begun lines ago.
    is_in_comment: bool,
    /// The level and the text of a heading that is being read.
    open_heading: Option<(HeadingLevel, String)>,
    headings: Vec<Heading>,
    /// The texts of `headings`, as items share them.
    heading_texts: Rc<[Rc<str>]>,
    is_below_optional: bool,
}

impl<'a> TaskReader<'a> {
    fn new(text: &'a str, rules: &'a CheckPolicy) -> Self {
        Self {
            source: text,
            done_marks: &rules.done_marks,
            optional_headings: rules
                .optional
                .iter()
                .map(|heading| bare(heading))
                .filter(|heading| !heading.is_empty())
                .collect(),
            lines: LineCounter::new(text),
            items: Vec::new(),
            list_items: Vec::new(),
            quotes: 0,
            is_in_code: false,
            is_in_comment: false,
            open_heading: None,
            headings: Vec::new(),
            heading_texts: Rc::default(),
            is_below_optional: false,
        }
    }

    fn take_event(&mut self, event: Event<'_>, offset: usize) {
        match event {
            Event::Start(Tag::Item) => {
                // The first line of the item around this one is over.
                self.end_line();
                self.list_items.push(ListItem::default());
            }
            Event::End(TagEnd::Item) => self.end_list_item(),
            Event::TaskListMarker(done) => self.add_task(done, offset),
            Event::Start(Tag::BlockQuote(_)) => self.quotes += 1,
            Event::End(TagEnd::BlockQuote(_)) => self.quotes -= 1,
            Event::Start(Tag::Heading { level, .. }) => {
                self.open_heading = Some((level, String::new()));
            }
            Event::End(TagEnd::Heading(_)) => self.end_heading(),
            Event::Start(Tag::CodeBlock(_)) => self.is_in_code = true,
            Event::End(TagEnd::CodeBlock) => self.is_in_code = false,
            Event::End(TagEnd::HtmlBlock) => self.is_in_comment = false,
            Event::Html(html) => self.add_boxes_of_html(&html, offset),
            Event::Text(text) => {
                self.add_other_box(offset);
                self.take_verify(offset);
                self.push_text(&text);
            }
            Event::Code(text) => self.push_text(&text),
            Event::SoftBreak | Event::HardBreak | Event::End(TagEnd::Paragraph) => self.end_line(),
            _ => {}
        }
    }

    fn end_list_item(&mut self) {
        let Some(list_item) = self.list_items.pop() else { return };
        if let Some(item) = list_item.task.and_then(|task| self.items.get_mut(task)) {
            let text = list_item.text.trim();
            let unmarked = text.strip_prefix(list_item.mark.as_str()).unwrap_or(text);
            item.text = unmarked.trim().to_owned();
        }
    }

    /// Takes a command of the task that this text belongs to: `verify:` begins a line of its own, or a
    /// list item below the task. Several are run one after the other.
    fn take_verify(&mut self, offset: usize) {
        let source = self.source.get(offset..).unwrap_or_default();
        let line = source.lines().next().unwrap_or_default();
        let Some((key, value)) = line.split_at_checked("verify:".len()) else { return };
        if !key.eq_ignore_ascii_case("verify:") {
            return;
        }
        let command = value.trim().trim_matches('`').trim();
        let task = match self.list_items.as_slice() {
            [.., inner] if inner.task.is_some() && inner.is_line_over => inner.task,
            [.., outer, inner] if inner.task.is_none() && inner.text.is_empty() => outer.task,
            _ => None,
        };
        if let Some(item) = task.and_then(|task| self.items.get_mut(task))
            && !command.is_empty()
            && !self.is_in_code
        {
            let first = item.verify.take().map(|verify| format!("{}\n", verify.line()));
            item.verify = Some(Verify::Line(first.unwrap_or_default() + command));
        }
    }

    /// Adds the task of a box that GitHub does not know, if a text begins with it.
    fn add_other_box(&mut self, offset: usize) {
        if self.is_in_code || self.open_heading.is_some() {
            return;
        }
        let text = self.source.get(offset..).unwrap_or_default();
        let byte_before = self.source.as_bytes().get(..offset).and_then(|bytes| bytes.last());
        let is_escaped = byte_before == Some(&b'\\');
        let begins_list_item =
            self.list_items.last().is_some_and(|item| item.task.is_none() && item.text.is_empty());
        let begins_word =
            byte_before.is_none_or(|byte| matches!(byte, b'\n' | b'\r' | b' ' | b'\t' | b'>'));
        if begins_list_item
            && !is_escaped
            && let Some(mark) = Mark::at_start(text, self.done_marks)
        {
            self.add_marked_task(mark, offset);
        } else if begins_word
            && let Some(open_box) = text.strip_prefix(['-', '*', '+']).and_then(open_box)
        {
            // `-[ ] a`, without the space that a list item needs.
            self.add_open_task(offset, &text[1 + open_box.len()..]);
        }
    }

    /// Adds the open boxes in a part of a block of HTML. The parser knows no list in it.
    fn add_boxes_of_html(&mut self, html: &str, offset: usize) {
        let mut line_offset = offset;
        for line in html.split_inclusive('\n') {
            let visible = self.without_comments(line);
            let bullet =
                visible.trim_start().trim_start_matches(|char: char| char.is_ascii_digit());
            if let Some(text) = bullet.strip_prefix(['-', '*', '+', '.', ')']).map(str::trim_start)
                && let Some(mark) = Mark::at_start(text, &[])
                && !mark.done
            {
                self.add_open_task(line_offset, &text[mark.text.len()..]);
            }
            line_offset += line.len();
        }
    }

    /// A line of HTML without its comments.
    fn without_comments(&mut self, line: &str) -> String {
        let (mut visible, mut unread) = (String::new(), line);
        loop {
            let delimiter = if self.is_in_comment { "-->" } else { "<!--" };
            let end = unread.find(delimiter);
            if !self.is_in_comment {
                visible.push_str(&unread[..end.unwrap_or(unread.len())]);
            }
            let Some(end) = end else { return visible };
            // `<!-->` is a whole comment: the end may begin with the two last bytes of the start.
            unread = &unread[end + if self.is_in_comment { 3 } else { 2 }..];
            self.is_in_comment = !self.is_in_comment;
        }
    }

    /// Adds the task of an open box that begins no list item.
    fn add_open_task(&mut self, offset: usize, text: &str) {
        let line = text.lines().next().unwrap_or_default().trim();
        self.list_items.push(ListItem::default());
        self.add_task(false, offset);
        if let Some(list_item) = self.list_items.last_mut() {
            list_item.text.extend(line.chars().take(MAX_ITEM_CHARS));
        }
        self.end_list_item();
    }

    /// Adds a task with a mark that GitHub does not know.
    fn add_marked_task(&mut self, mark: Mark<'_>, offset: usize) {
        self.add_task(mark.done, offset);
        if let Some(item) = self.items.last_mut() {
            let is_blank = mark.text.trim_matches(['[', ']']).trim().is_empty();
            item.mark = (!mark.done && !is_blank).then(|| mark.text.to_owned());
        }
        if let Some(list_item) = self.list_items.last_mut() {
            mark.text.clone_into(&mut list_item.mark);
        }
    }

    fn add_task(&mut self, done: bool, offset: usize) {
        let line = self.lines.line_at(offset);
        let Some((innermost, outer)) = self.list_items.split_last_mut() else { return };
        let outer_texts = outer.iter().rev().take(MAX_DEPTH);
        let within = outer_texts.map(|list_item| Rc::from(list_item.text.trim())).collect();
        innermost.task = Some(self.items.len());
        self.items.push(Item {
            line,
            done,
            optional: self.is_below_optional,
            within,
            headings: Rc::clone(&self.heading_texts),
            ..Item::default()
        });
    }

    fn push_text(&mut self, text: &str) {
        if let Some((_, heading)) = &mut self.open_heading {
            heading.push_str(text);
        } else if let Some(list_item) = self.list_items.last_mut()
            && !list_item.is_line_over
        {
            let room = MAX_ITEM_CHARS.saturating_sub(list_item.text.len());
            list_item.text.extend(text.chars().take(room));
        }
    }

    fn end_line(&mut self) {
        if let Some(list_item) = self.list_items.last_mut() {
            list_item.is_line_over |= !list_item.text.is_empty();
        }
    }

    fn end_heading(&mut self) {
        let Some((level, text)) = self.open_heading.take() else { return };
        if self.quotes > 0 || !self.list_items.is_empty() {
            return;
        }
        self.headings.retain(|heading| heading.level < level);
        self.headings.push(Heading { level, text: Rc::from(text) });
        self.heading_texts = self.headings.iter().map(|heading| Rc::clone(&heading.text)).collect();
        self.is_below_optional =
            self.heading_texts.iter().any(|text| self.optional_headings.contains(&bare(text)));
    }
}

/// The open box that a text outside of a list begins with.
fn open_box(text: &str) -> Option<&'static str> {
    OPEN_BOXES.iter().copied().find(|open_box| {
        text.strip_prefix(open_box)
            .is_some_and(|text_after| text_after.chars().next().is_none_or(char::is_whitespace))
    })
}

/// A heading in lower case, without the marks around it.
fn bare(heading: &str) -> String {
    heading.trim_matches(|char: char| !char.is_alphanumeric()).to_lowercase()
}

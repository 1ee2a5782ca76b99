//! Task lists in Markdown, as CommonMark and GitHub have them; Spec Kit's
//! tasks.md is one.
//!
//! Only a list item that begins with a box is a task: not a box in a fence, a
//! code span, a comment or a link, and not `[2026-01-29]`. In doubt a box is
//! open: one with another mark than `x`, one without its spaces, one in a block of HTML.

use std::rc::Rc;

use gate_core::decide::policy::CheckPolicy;
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::label;
use super::mark::Mark;
use super::plan::{Item, Lines, Plan, Verify};

/// The most of an item's text that is kept.
const MAX_ITEM_CHARS: usize = 400;

/// The most items around an item that are kept.
const MAX_DEPTH: usize = 32;

/// Boxes without a mark of another kind, which are open even where no list item begins.
const OPEN: &[&str] = &["[ ]", "[]", "[~]", "[/]"];

/// Reads a document by these rules.
pub(super) fn read(text: &str, rules: &CheckPolicy) -> Plan {
    let options = Options::ENABLE_TASKLISTS | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS;
    let mut reader = Reader::new(text, rules);
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
    /// Its number among the tasks, if it is one.
    task: Option<usize>,
    /// The box that its text begins with, if that is none of GitHub's.
    mark: String,
    text: String,
    /// Its first line has ended.
    over: bool,
}

struct Reader<'a> {
    source: &'a str,
    optional: Vec<String>,
    done_marks: &'a [String],
    lines: Lines<'a>,
    items: Vec<Item>,
    frames: Vec<Frame>,
    /// The depth of quotations: their headings are not the document's.
    quotes: usize,
    /// Inside of a block of code; inside of a comment in a block of HTML.
    code: bool,
    comment: bool,
    /// The heading that is being read.
    heading: Option<(HeadingLevel, String)>,
    headings: Vec<(HeadingLevel, Rc<str>)>,
    /// The same, as items have it.
    above: Rc<[Rc<str>]>,
    below_optional: bool,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str, rules: &'a CheckPolicy) -> Self {
        Self {
            source: text,
            done_marks: &rules.done_marks,
            optional: rules
                .optional
                .iter()
                .map(|heading| bare(heading))
                .filter(|heading| !heading.is_empty())
                .collect(),
            lines: Lines::new(text),
            items: Vec::new(),
            frames: Vec::new(),
            quotes: 0,
            code: false,
            comment: false,
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
            Event::Start(Tag::CodeBlock(_)) => self.code = true,
            Event::End(TagEnd::CodeBlock) => self.code = false,
            Event::End(TagEnd::HtmlBlock) => self.comment = false,
            Event::Html(html) => self.html(&html, offset),
            Event::Text(text) => {
                self.look(offset);
                self.verify(offset);
                self.text(&text);
            }
            Event::Code(text) => self.text(&text),
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
            let text = frame.text.trim();
            item.text = text.strip_prefix(frame.mark.as_str()).unwrap_or(text).trim().to_owned();
        }
    }

    /// Takes the command of the task that this text belongs to: `verify:` begins a line of its
    /// own, or a list item below the task.
    fn verify(&mut self, offset: usize) {
        let rest = self.source.get(offset..).unwrap_or_default();
        let line = rest.lines().next().unwrap_or_default();
        let Some(command) = line.strip_prefix("verify:") else { return };
        let command = command.trim().trim_matches('`').trim();
        let task = match self.frames.as_slice() {
            [.., frame] if frame.task.is_some() && frame.over => frame.task,
            [.., above, frame] if frame.task.is_none() && frame.text.is_empty() => above.task,
            _ => None,
        };
        if let Some(item) = task.and_then(|task| self.items.get_mut(task))
            && !command.is_empty()
            && !self.code
        {
            item.verify = Some(Verify::Line(command.to_owned()));
        }
    }

    /// Looks for a box that is none of GitHub's where a text begins.
    fn look(&mut self, offset: usize) {
        let rest = self.source.get(offset..).unwrap_or_default();
        let before = self.source.as_bytes().get(..offset).and_then(|bytes| bytes.last());
        let first_of_item =
            self.frames.last().is_some_and(|frame| frame.task.is_none() && frame.text.is_empty());
        if self.code || self.heading.is_some() {
            return;
        }
        if first_of_item
            && before != Some(&b'\\')
            && let Some(mark) = Mark::at_start(rest, self.done_marks)
        {
            self.marked_task(mark, offset);
        } else if before.is_none_or(|byte| matches!(byte, b'\n' | b'\r' | b' ' | b'\t' | b'>'))
            && let Some(mark) = rest.strip_prefix(['-', '*', '+']).and_then(open_box)
        {
            self.open(offset, &rest[1 + mark.len()..]);
        }
    }

    /// Looks for open boxes in a part of a block of HTML.
    fn html(&mut self, html: &str, offset: usize) {
        let mut at = offset;
        for line in html.split_inclusive('\n') {
            let shown = self.without_comments(line);
            let item = shown.trim_start();
            let item = item.trim_start_matches(|c: char| c.is_ascii_digit());
            let rest = item.strip_prefix(['-', '*', '+', '.', ')']).map(str::trim_start);
            if let Some(rest) = rest
                && let Some(mark) = Mark::at_start(rest, &[])
                && !mark.done
            {
                self.open(at, &rest[mark.shown.len()..]);
            }
            at += line.len();
        }
    }

    /// A line of HTML without its comments.
    fn without_comments(&mut self, line: &str) -> String {
        let (mut shown, mut rest) = (String::new(), line);
        loop {
            let end = if self.comment { rest.find("-->") } else { rest.find("<!--") };
            if !self.comment {
                shown.push_str(&rest[..end.unwrap_or(rest.len())]);
            }
            let Some(end) = end else { return shown };
            // `<!-->` is a whole comment.
            rest = &rest[end + if self.comment { 3 } else { 2 }..];
            self.comment = !self.comment;
        }
    }

    /// An open box that begins no list item.
    fn open(&mut self, offset: usize, text: &str) {
        let text = text.lines().next().unwrap_or_default().trim();
        self.frames.push(Frame::default());
        self.task(false, offset);
        if let Some(frame) = self.frames.last_mut() {
            frame.text.extend(text.chars().take(MAX_ITEM_CHARS));
        }
        self.end();
    }

    /// A task with a mark that GitHub does not know.
    fn marked_task(&mut self, mark: Mark<'_>, offset: usize) {
        self.task(mark.done, offset);
        if let Some(item) = self.items.last_mut() {
            let is_blank = mark.shown.trim_matches(['[', ']']).trim().is_empty();
            item.mark = (!mark.done && !is_blank).then(|| mark.shown.to_owned());
        }
        if let Some(frame) = self.frames.last_mut() {
            mark.shown.clone_into(&mut frame.mark);
        }
    }

    fn task(&mut self, done: bool, offset: usize) {
        let line = self.lines.at(offset);
        let around = self.frames.len().saturating_sub(1);
        let texts = self.frames[..around].iter().rev().take(MAX_DEPTH);
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
            let room = MAX_ITEM_CHARS.saturating_sub(frame.text.len());
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

/// The open box that a text outside of a list begins with.
fn open_box(text: &str) -> Option<&'static str> {
    OPEN.iter().copied().find(|mark| {
        let rest = text.strip_prefix(mark);
        rest.is_some_and(|rest| rest.chars().next().is_none_or(char::is_whitespace))
    })
}

/// A heading without the marks around it, and without regard to case.
fn bare(heading: &str) -> String {
    heading.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase()
}

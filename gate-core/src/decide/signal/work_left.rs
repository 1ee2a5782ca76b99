//! Work of the task that the agent itself says is left, beside its claim that all is done.
//!
//! A box or a row that the final message marks as open contradicts the claim. A sentence says
//! that work is left by itself ("the export is not written yet"), or names a part of the work and
//! that this is open or put off ("the other two I do next time"). Words about the product, about
//! the past and about other work say nothing. The vocabulary is in the pack `language`.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::candidate::cut;
use super::layout::{BlockKind, Layout, Line};
use crate::decide::expression::Expression;
use crate::decide::language::{Kind, Language};
use crate::decide::sentence::sentences;
use crate::digest::digest;

/// The lines that are read, from the end of the message.
const MAX_LINES: usize = 400;

/// The lines that are read of plain text, in which all that the agent says on its way is one
/// message.
const MAX_PLAIN_LINES: usize = 40;

/// The most sentences and marks that are kept.
const MAX_KEPT: usize = 8;

/// The longest line that is read, in bytes.
const MAX_LINE_BYTES: usize = 2_000;

/// The most words of a label.
const MAX_LABEL_WORDS: usize = 8;

/// A sentence of the final message that says that work of the task is left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkLeft {
    /// The agent's words.
    pub sentence: String,
    /// A digest of the words as they were written.
    pub digest: String,
}

impl WorkLeft {
    fn new(sentence: &str) -> Self {
        let words: Vec<_> = sentence.split_whitespace().collect();
        let sentence = words.join(" ");
        Self { digest: digest(sentence.as_bytes()), sentence: cut(&sentence) }
    }
}

/// The open work in a message.
#[derive(Debug, Default)]
pub(super) struct OpenWork {
    /// Boxes and rows that are marked as open.
    pub(super) marks: Vec<String>,
    pub(super) sentences: Vec<WorkLeft>,
}

impl OpenWork {
    /// Reads the message around the signals at these bytes.
    pub(super) fn read(layout: &Layout<'_>, signals: &[Range<usize>]) -> Self {
        let mut reader = WorkReader::new(layout.language());
        let first_signal = signals.iter().map(|span| span.start).min().unwrap_or_default();
        let max_lines = if layout.word().multiline { MAX_PLAIN_LINES } else { MAX_LINES };
        let first_line = layout.index_of(first_signal).saturating_sub(max_lines);
        let lines = layout.lines().get(first_line..).unwrap_or_default();
        for line in lines.iter().take(max_lines + MAX_LINES) {
            let end = line.offset + line.text.len();
            if signals.iter().any(|span| span.start < end && line.offset < span.end) {
                reader.read_line(&without_signals(line, signals));
                reader.end_section();
            } else if line.block == BlockKind::Prose {
                reader.read_line(line.text);
            } else {
                reader.end_block();
            }
        }
        reader.finish()
    }
}

fn without_signals(line: &Line<'_>, signals: &[Range<usize>]) -> String {
    let is_outside =
        |offset: usize| !signals.iter().any(|span| span.contains(&(line.offset + offset)));
    let characters = line.text.char_indices().filter(|(offset, _)| is_outside(*offset));
    characters.map(|(_, c)| c).collect()
}

/// The text, which is the reason of a completion, says that work is left.
pub(super) fn is_said_in(language: &Language, text: &str) -> bool {
    sentences(text).any(|sentence| says_left(language, sentence, true))
}

/// A table whose columns may hold states.
#[derive(Debug, Default)]
struct Table {
    /// The cells of the line above.
    previous_cells: Vec<String>,
    /// The headings of the columns, once the line below them has been read.
    headings: Option<Vec<String>>,
}

/// Words that something else is done here than the task.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Aside {
    /// A label says so, and holds for the paragraph below it.
    Paragraph,
    /// A heading says so, and holds until the next one.
    Section,
}

/// Follows a message from line to line.
struct WorkReader<'l> {
    language: &'l Language,
    /// The paragraph or list item that is being read.
    block: String,
    /// The block before it, which may lead on to a signal.
    last_block: Option<String>,
    is_after_signal: bool,
    /// The lines are about other work.
    aside: Option<Aside>,
    /// The heading of a list of open work, if the list comes next.
    list_heading: Option<String>,
    table: Table,
    ticked_items: Vec<String>,
    marks: Vec<OpenMark>,
    sentences: Vec<WorkLeft>,
}

/// A line that marks work as open.
struct OpenMark {
    line: String,
    /// The work in lower case, without its mark.
    item: String,
}

impl<'l> WorkReader<'l> {
    fn new(language: &'l Language) -> Self {
        Self {
            language,
            block: String::new(),
            last_block: None,
            is_after_signal: false,
            aside: None,
            list_heading: None,
            table: Table::default(),
            ticked_items: Vec::new(),
            marks: Vec::new(),
            sentences: Vec::new(),
        }
    }

    fn read_line(&mut self, line: &str) {
        let text = line[..line.floor_char_boundary(MAX_LINE_BYTES)].trim();
        if text.is_empty() {
            self.end_block();
        } else if text.starts_with('|') {
            self.read_row(text);
        } else if is_heading(text) {
            self.read_heading(text);
        } else if let Some(item) = list_item(text) {
            self.read_item(text, item);
        } else {
            if self.block.is_empty() && self.aside == Some(Aside::Paragraph) {
                self.aside = None;
            }
            self.list_heading = None;
            self.block.push(' ');
            self.block.push_str(text);
        }
        if !text.starts_with('|') {
            self.table = Table::default();
        }
    }

    fn read_heading(&mut self, text: &str) {
        self.end_block();
        let scope = if text.starts_with('#') { Aside::Section } else { Aside::Paragraph };
        self.aside = self.is_about_other_work(text).then_some(scope);
        let is_list = self.aside.is_none() && self.language.matches(Kind::LeftHeading, text);
        self.list_heading = is_list.then(|| text.to_owned());
        if !is_list {
            self.block.push_str(text);
        }
    }

    fn read_item(&mut self, text: &str, item: &str) {
        self.end_block();
        if let Some(tick) = TICKED.find(item) {
            self.ticked_items.push(item[tick.end..].trim().to_lowercase());
            self.list_heading = None;
        } else if let Some(open_box) = OPEN_BOX.find(item) {
            self.add_mark(text, &item[open_box.end..]);
        } else if self.is_marked_open(item) {
            self.add_mark(text, item);
        } else if let Some(heading) = self.list_heading.take()
            && !self.language.matches(Kind::NoItem, item)
            && !self.is_about_other_work(item)
        {
            self.add_sentence(&format!("{heading} {item}"));
        }
        self.block.push_str(item);
    }

    /// `⏳ tax`, `tax 🚧` and `tax: not started`.
    fn is_marked_open(&self, item: &str) -> bool {
        const STATE_MARKS: [&str; 5] = [": ", " - ", " — ", " – ", " ("];
        let item = item.trim_end_matches(')');
        // The state stands behind the last of the marks.
        let endings = STATE_MARKS.iter().filter_map(|mark| item.rsplit_once(mark));
        let state = endings.map(|(_, ending)| ending).min_by_key(|ending| ending.len());
        OPEN_SIGN.is_match(item)
            || state.is_some_and(|state| {
                self.language.matches(Kind::OpenState, state) && !MANY_MEANINGS.is_match(state)
            })
    }

    fn read_row(&mut self, text: &str) {
        self.end_block();
        let cells: Vec<_> =
            text.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect();
        if cells.iter().all(|cell| is_separator(cell)) {
            self.table.headings = Some(std::mem::take(&mut self.table.previous_cells));
            return;
        }
        let is_state_column = |column: usize| {
            self.table.headings.as_ref().is_some_and(|headings| {
                let heading = headings.get(column).map(String::as_str).unwrap_or_default();
                heading.is_empty() || self.language.matches(Kind::StateHeading, heading)
            })
        };
        // The first column names the work.
        let mut columns = cells.iter().enumerate().skip(1);
        let is_open = columns.any(|(column, cell)| {
            is_state_column(column) && self.language.matches(Kind::OpenState, cell)
        });
        if is_open {
            self.add_mark(text, text);
        }
        self.table.previous_cells = cells;
    }

    fn add_mark(&mut self, line: &str, item: &str) {
        if self.aside.is_none() && !self.is_about_other_work(item) {
            let item = item.trim().to_lowercase();
            self.marks.push(OpenMark { line: line.to_owned(), item });
        }
    }

    /// Ends what stands above a signal.
    fn end_section(&mut self) {
        self.end_block();
        // The last block before the signal may announce the next work.
        if !self.is_after_signal
            && let Some(block) = self.last_block.take()
        {
            self.read_sentences(&block, true);
        }
        self.is_after_signal = true;
        self.aside = None;
        self.list_heading = None;
    }

    /// Reads the sentences of a block that is over.
    fn end_block(&mut self) {
        let block = std::mem::take(&mut self.block);
        if self.aside.is_some() || block.trim().is_empty() {
            return;
        }
        self.read_sentences(&block, self.is_after_signal);
        self.last_block = Some(block);
    }

    fn read_sentences(&mut self, block: &str, is_closing: bool) {
        let mut sentences = sentences(block).peekable();
        while let Some(sentence) = sentences.next() {
            let language = self.language;
            let is_other_work =
                sentences.peek().is_some_and(|next| language.matches(Kind::OtherWorkBefore, next));
            if !is_other_work && says_left(language, sentence, is_closing) {
                self.add_sentence(sentence);
            }
        }
    }

    fn add_sentence(&mut self, sentence: &str) {
        let sentence = WorkLeft::new(sentence);
        if self.sentences.len() < MAX_KEPT && !self.sentences.contains(&sentence) {
            self.sentences.push(sentence);
        }
    }

    fn is_about_other_work(&self, text: &str) -> bool {
        self.language.first_in(&[Kind::Aside, Kind::OtherWork], text).is_some()
    }

    fn finish(mut self) -> OpenWork {
        self.end_block();
        let Self { marks, ticked_items, sentences, .. } = self;
        // A plan may stand above with open boxes, and again below with ticks.
        let open_marks = marks.into_iter().filter(|mark| !ticked_items.contains(&mark.item));
        OpenWork { marks: open_marks.take(MAX_KEPT).map(|mark| mark.line).collect(), sentences }
    }
}

/// A sentence says that work of the task is left. One that closes the message may announce
/// the next work.
fn says_left(language: &Language, sentence: &str, is_closing: bool) -> bool {
    let unquoted = &QUOTED.without(sentence);
    let text = unquoted.trim_end();
    // What a colon announces stands below it, and is read there.
    let is_closing = is_closing && !text.ends_with([':', '：']);
    let mut parts = std::iter::once(text).chain(clauses(text));
    !text.ends_with(['?', '？'])
        && parts.any(|part| is_left(language, part, is_closing))
        && language.first_in(&[Kind::Aside, Kind::OtherWork], text).is_none()
}

fn is_left(language: &Language, text: &str, is_closing: bool) -> bool {
    let names_part = language.matches(Kind::LeftRest, text);
    let is_put_off = (names_part || language.matches(Kind::LeftAct, text))
        && language.matches(Kind::LeftLater, text);
    let says_left = language.matches(Kind::LeftWork, text)
        || is_put_off
        || (names_part && language.matches(Kind::LeftOpen, text))
        || is_fraction_done(text)
        || (is_closing && language.matches(Kind::LeftNext, text));
    says_left && language.first_in(&[Kind::NotLeft, Kind::NotOpen], text).is_none()
}

/// The parts of a sentence of which each may say something else.
fn clauses(text: &str) -> impl Iterator<Item = &str> {
    let breaks = CLAUSE.find_iter(text).chain(std::iter::once(text.len()..text.len()));
    let mut start = 0;
    let clauses = breaks.map(move |gap| &text[std::mem::replace(&mut start, gap.end)..gap.start]);
    clauses.filter(|clause| !clause.trim().is_empty())
}

/// `finished 3 of the 5 price lists`.
fn is_fraction_done(text: &str) -> bool {
    let lower = text.to_lowercase();
    let is_open = |fraction: Range<usize>| {
        let words = lower[fraction].split(|c: char| !c.is_alphanumeric());
        let numbers: Vec<_> = words.filter_map(number).collect();
        matches!(numbers[..], [.., count, total] if count < total)
    };
    [&DONE_OF, &OF_DONE].iter().any(|progress| progress.find_iter(&lower).any(is_open))
}

fn number(word: &str) -> Option<u64> {
    const WORDS: [&str; 12] = [
        "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
        "twelve",
    ];
    let spelled = WORDS.iter().position(|name| *name == word).map(|index| index as u64 + 1);
    spelled.or_else(|| word.parse().ok())
}

/// A heading, or a few words that are bold or end with a colon.
fn is_heading(text: &str) -> bool {
    let unmarked = text.trim_end_matches(['*', '_']);
    let is_bold = text.starts_with("**") && text.ends_with("**") && list_item(text).is_none();
    let is_short = text.split_whitespace().nth(MAX_LABEL_WORDS).is_none();
    text.starts_with('#')
        || (is_short && (is_bold || unmarked.ends_with([':', '：'])) && list_item(text).is_none())
}

/// The text of a list item; with its box, if it has one.
fn list_item(text: &str) -> Option<&str> {
    if OPEN_BOX.is_match(text) || TICKED.is_match(text) {
        return Some(text);
    }
    Some(text[ITEM.find(text)?.end..].trim())
}

/// The cell of a line that separates a table's head.
fn is_separator(cell: &str) -> bool {
    cell.contains('-') && cell.chars().all(|c| matches!(c, '-' | ':' | ' '))
}

static ITEM: Expression = Expression::new(r"^(?:[-*+•]|\d+[.)])\s+");

static TICKED: Expression = Expression::new(r"^(?:\[x\]|[✅✓✔☑])\s*");

static OPEN_BOX: Expression = Expression::new(r"^(?:\[[ ~/-]?\]|[☐⬜🔲])\s+");

static OPEN_SIGN: Expression = Expression::new(r"^[⏳🚧🔜⌛]|[⏳🚧🔜⌛]\W*$");

/// Words that name a state of the product as often as one of the work.
static MANY_MEANINGS: Expression = Expression::new(
    r"^\W*(?:open|pending|missing|next|later|blocked|partial|incomplete|outstanding|offen|pendiente|pendente|en attente|en cours|in corso|en curso)\W*$",
);

static QUOTED: Expression =
    Expression::new(r"\x22[^\x22]*\x22|“[^”]*”|«[^»]*»|`[^`]*`|「[^」]*」|„[^“”]*[“”]");

static CLAUSE: Expression = Expression::new(
    r";|—|–|,?\s(?:but|however|aber|jedoch|mais|pero|mas|ma|maar|ale|но|але)\s|，但是?|だが|が、|지만\s",
);

/// A number of parts that are done, out of all of them: `finished 3 of the 5 lists`.
static DONE_OF: Expression = Expression::new(
    r"\b(?:finished|implemented|done|completed|converted|migrated|ported|translated|wrote|written|covered|fixed|added|updated|handled|built|only|so far)\b[^.;]{0,60}?\b(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\s*(?:of|out of|/)\s*(?:the |all |your )?(?:\d+|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b",
);

/// The number before the verb: `three of the five lists are done`.
static OF_DONE: Expression = Expression::new(
    r"\b(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\s*(?:of|out of|/)\s*(?:the |all |your )?(?:\d+|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b[^.;0-9]{0,40}\b(?:is|are|were|has been|have been) (?:\w+ )?(?:done|finished|implemented|converted|ported|migrated|translated|written|covered|fixed|complete|completed|ready)\b",
);

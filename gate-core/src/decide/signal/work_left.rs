//! Work of the task that the agent itself says is left, beside its claim that all is done.
//!
//! A box or a row that the final message marks as open contradicts the claim. A sentence says
//! that work is left by itself ("the export is not written yet"), or names a rest of the work and
//! that this is open or put off ("the other two I do next time"). Words about the product, about
//! the past and about other work say nothing. The vocabulary is in the pack `language`.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::candidate::cut;
use super::layout::{BlockKind, Layout};
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
pub(super) struct OwnWords {
    /// Boxes and rows that are marked as open.
    pub(super) marks: Vec<String>,
    pub(super) sentences: Vec<WorkLeft>,
}

impl OwnWords {
    /// Reads the message around the signals at these bytes.
    pub(super) fn read(layout: &Layout<'_>, signals: &[Range<usize>]) -> Self {
        let mut reader = Reader::new(layout.language());
        let first = signals.iter().map(|span| span.start).min().unwrap_or_default();
        let limit = if layout.word().multiline { MAX_PLAIN_LINES } else { MAX_LINES };
        let from = layout.index_of(first).saturating_sub(limit);
        let lines = layout.lines().get(from..).unwrap_or_default();
        for line in lines.iter().take(limit + MAX_LINES) {
            let end = line.offset + line.text.len();
            if signals.iter().any(|span| span.start < end && line.offset < span.end) {
                reader.line(&without(line.text, line.offset, signals));
                reader.signal();
            } else if line.block == BlockKind::Prose {
                reader.line(line.text);
            } else {
                reader.end_block();
            }
        }
        reader.finish()
    }
}

/// A line without the signals in it.
fn without(line: &str, offset: usize, signals: &[Range<usize>]) -> String {
    let is_outside = |at: usize| !signals.iter().any(|span| span.contains(&(offset + at)));
    line.char_indices().filter(|(at, _)| is_outside(*at)).map(|(_, c)| c).collect()
}

/// True if the text, which is the reason of a completion, says that work is left.
pub(super) fn is_said_in(language: &Language, text: &str) -> bool {
    sentences(text).any(|sentence| says_left(language, sentence, true))
}

/// A table's columns that hold a state.
#[derive(Debug, Default)]
struct Table {
    /// The cells of the line above.
    above: Vec<String>,
    /// The headings of the columns.
    headings: Option<Vec<String>>,
}

/// Follows a message from line to line.
struct Reader<'l> {
    language: &'l Language,
    /// The paragraph or item that is being read.
    block: String,
    /// The blocks since the last signal, of which the last one leads on to the next signal.
    last_block: Option<String>,
    after_signal: bool,
    /// The section is about other work; true if a heading says so, which goes on over blank lines.
    aside: Option<bool>,
    /// The heading of a list of open work, if the list comes next.
    list_heading: Option<String>,
    table: Table,
    ticked: Vec<String>,
    marks: Vec<Mark>,
    sentences: Vec<WorkLeft>,
}

/// A line that marks work as open.
struct Mark {
    line: String,
    item: String,
}

impl<'l> Reader<'l> {
    fn new(language: &'l Language) -> Self {
        Self {
            language,
            block: String::new(),
            last_block: None,
            after_signal: false,
            aside: None,
            list_heading: None,
            table: Table::default(),
            ticked: Vec::new(),
            marks: Vec::new(),
            sentences: Vec::new(),
        }
    }

    fn line(&mut self, line: &str) {
        let text = line[..line.floor_char_boundary(MAX_LINE_BYTES)].trim();
        if text.is_empty() {
            self.end_block();
        } else if text.starts_with('|') {
            self.row(text);
        } else if is_heading(text) {
            self.heading(text);
        } else if let Some(item) = item(text) {
            self.item(text, item);
        } else {
            if self.block.is_empty() && self.aside == Some(false) {
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

    fn heading(&mut self, text: &str) {
        self.end_block();
        let stays = text.starts_with('#');
        self.aside = self.is_aside(text).then_some(stays);
        let is_list = self.aside.is_none() && self.language.is(Kind::LeftHeading, text);
        self.list_heading = is_list.then(|| text.to_owned());
        if !is_list {
            self.block.push_str(text);
        }
    }

    fn item(&mut self, text: &str, item: &str) {
        self.end_block();
        if let Some(done) = TICKED.find(item) {
            self.ticked.push(item[done.end..].trim().to_lowercase());
            self.list_heading = None;
        } else if let Some(open) = OPEN_BOX.find(item) {
            self.mark(text, &item[open.end..]);
        } else if self.is_marked_open(item) {
            self.mark(text, item);
        } else if let Some(heading) = self.list_heading.take()
            && !self.language.is(Kind::NoItem, item)
            && !self.is_aside(item)
        {
            self.keep(&format!("{heading} {item}"));
        }
        self.block.push_str(item);
    }

    /// True for `⏳ tax`, `tax 🚧` and `tax: not started`.
    fn is_marked_open(&self, item: &str) -> bool {
        let item = item.trim_end_matches(')');
        let state =
            [": ", " - ", " — ", " – ", " ("].iter().filter_map(|mark| item.rsplit_once(mark));
        let words = state.map(|(_, state)| state).min_by_key(|state| state.len());
        OPEN_SIGN.is_match(item)
            || words.is_some_and(|state| {
                self.language.is(Kind::OpenState, state) && !MANY_MEANINGS.is_match(state)
            })
    }

    fn row(&mut self, text: &str) {
        self.end_block();
        let cells: Vec<_> =
            text.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect();
        if cells.iter().all(|cell| is_rule(cell)) {
            self.table.headings = Some(std::mem::take(&mut self.table.above));
            return;
        }
        let is_state = |column: usize| {
            self.table.headings.as_ref().is_some_and(|headings| {
                let heading = headings.get(column).map(String::as_str).unwrap_or_default();
                heading.is_empty() || self.language.is(Kind::StateHeading, heading)
            })
        };
        let mut columns = cells.iter().enumerate().skip(1);
        if columns.any(|(at, cell)| is_state(at) && self.language.is(Kind::OpenState, cell)) {
            self.mark(text, text);
        }
        self.table.above = cells;
    }

    fn mark(&mut self, line: &str, item: &str) {
        if self.aside.is_none() && !self.is_aside(item) {
            self.marks.push(Mark { line: line.to_owned(), item: item.trim().to_lowercase() });
        }
    }

    fn signal(&mut self) {
        self.end_block();
        if !self.after_signal {
            self.end_closing();
        }
        self.after_signal = true;
        self.aside = None;
        self.list_heading = None;
    }

    /// Reads the sentences of a block that is over.
    fn end_block(&mut self) {
        let block = std::mem::take(&mut self.block);
        if self.aside.is_some() || block.trim().is_empty() {
            return;
        }
        self.sentences_of(&block, self.after_signal);
        self.last_block = Some(block);
    }

    /// The last block before the signal may announce the next work.
    fn end_closing(&mut self) {
        if let Some(block) = self.last_block.take() {
            self.sentences_of(&block, true);
        }
    }

    fn sentences_of(&mut self, block: &str, closes: bool) {
        let mut sentences = sentences(block).peekable();
        while let Some(sentence) = sentences.next() {
            let language = self.language;
            let is_other_work =
                sentences.peek().is_some_and(|next| language.is(Kind::OtherWorkBefore, next));
            if !is_other_work && says_left(language, sentence, closes) {
                self.keep(sentence);
            }
        }
    }

    fn keep(&mut self, sentence: &str) {
        let sentence = WorkLeft::new(sentence);
        if self.sentences.len() < MAX_KEPT && !self.sentences.contains(&sentence) {
            self.sentences.push(sentence);
        }
    }

    fn is_aside(&self, text: &str) -> bool {
        self.language.first_in(&[Kind::Aside, Kind::OtherWork], text).is_some()
    }

    fn finish(mut self) -> OwnWords {
        self.end_block();
        let Self { marks, ticked, sentences, .. } = self;
        let open = marks.into_iter().filter(|mark| !ticked.contains(&mark.item));
        OwnWords { marks: open.take(MAX_KEPT).map(|mark| mark.line).collect(), sentences }
    }
}

/// True if a sentence says that work of the task is left. One that `closes` the message may
/// announce the next work.
fn says_left(language: &Language, sentence: &str, closes: bool) -> bool {
    let sentence = &QUOTED.without(sentence);
    let text = sentence.trim_end();
    let closes = closes && !text.ends_with([':', '：']);
    let mut parts = std::iter::once(text).chain(clauses(text));
    !text.ends_with(['?', '？'])
        && parts.any(|part| is_left(language, part, closes))
        && language.first_in(&[Kind::Aside, Kind::OtherWork], text).is_none()
}

fn is_left(language: &Language, text: &str, closes: bool) -> bool {
    let is_part = language.is(Kind::LeftRest, text);
    let is_put_off =
        (is_part || language.is(Kind::LeftAct, text)) && language.is(Kind::LeftLater, text);
    let says = language.is(Kind::LeftWork, text)
        || is_put_off
        || (is_part && language.is(Kind::LeftOpen, text))
        || is_fraction_done(text)
        || (closes && language.is(Kind::LeftNext, text));
    says && language.first_in(&[Kind::NotLeft, Kind::NotOpen], text).is_none()
}

/// The parts of a sentence of which each may say something else.
fn clauses(text: &str) -> impl Iterator<Item = &str> {
    let ends =
        CLAUSE.find_iter(text).map(|end| (end.start, end.end)).chain([(text.len(), text.len())]);
    let clauses =
        ends.scan(0, |start, (end, next)| Some(&text[std::mem::replace(start, next)..end]));
    clauses.filter(|clause| !clause.trim().is_empty())
}

/// True for `finished 3 of the 5 price lists`.
fn is_fraction_done(text: &str) -> bool {
    let lower = text.to_lowercase();
    let is_open = |found: Range<usize>| {
        let words = lower[found].split(|c: char| !c.is_alphanumeric());
        let numbers: Vec<_> = words.filter_map(number).collect();
        matches!(numbers[..], [.., done, all] if done < all)
    };
    [&DONE_OF, &OF_DONE].iter().any(|progress| progress.find_iter(&lower).any(is_open))
}

fn number(word: &str) -> Option<u64> {
    const WORDS: [&str; 12] = [
        "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
        "twelve",
    ];
    let named = WORDS.iter().position(|known| *known == word).map(|at| at as u64 + 1);
    named.or_else(|| word.parse().ok())
}

/// A heading, or a few words that are bold or end with a colon.
fn is_heading(text: &str) -> bool {
    let bare = text.trim_end_matches(['*', '_']);
    let is_bold = text.starts_with("**") && text.ends_with("**") && item(text).is_none();
    let is_short = text.split_whitespace().nth(MAX_LABEL_WORDS).is_none();
    text.starts_with('#')
        || (is_short && (is_bold || bare.ends_with([':', '：'])) && item(text).is_none())
}

/// The text of a list item.
fn item(text: &str) -> Option<&str> {
    if OPEN_BOX.is_match(text) || TICKED.is_match(text) {
        return Some(text);
    }
    Some(text[ITEM.find(text)?.end..].trim())
}

/// True for the cell of a line that separates a table's head.
fn is_rule(cell: &str) -> bool {
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

/// The same the other way round: `three of the five lists are done`.
static OF_DONE: Expression = Expression::new(
    r"\b(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\s*(?:of|out of|/)\s*(?:the |all |your )?(?:\d+|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b[^.;0-9]{0,40}\b(?:is|are|were|has been|have been) (?:\w+ )?(?:done|finished|implemented|converted|ported|migrated|translated|written|covered|fixed|complete|completed|ready)\b",
);

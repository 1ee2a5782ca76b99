//! `EXIT_STATUS: COMPLETE` and its companions: the seed's protocol.
//!
//! Key and value are upper case and stand on one line, after at most list,
//! bold or code marks. The lines of one block stand together; a free text may
//! go on over the lines below its key.

use std::ops::Range;

use memchr::memmem;

use super::Spelling;
use super::promise::FOLLOWED;
use crate::decide::expression::Expression;
use crate::decide::language::Language;
use crate::decide::policy::{SignalPolicy, SignalValue};
use crate::decide::signal::candidate::{
    Candidate, MAX_CANDIDATES, PLACEHOLDER, Reading, Statement,
};
use crate::decide::signal::context::{Context, unmarked};
use crate::decide::signal::layout::{BlockKind, Layout};
use crate::decide::signal::marker::Marker;
use crate::decide::signal::objection::Objection;
use crate::decide::signal::prompt::{HEAD, MEANINGS};
use crate::decide::signal::value::{
    differ, is_blank_form, is_nothing, is_partial, is_placeholder, split_word, undecorated,
};

/// The keys of the protocol.
const KEYS: [&str; 6] = [
    "EXIT_STATUS",
    "EXIT_REASON",
    "REMAINING_WORK",
    "EXIT_CONFIDENCE",
    "EXIT_OVERRIDE",
    "EXIT_TOKEN",
];

/// See [`Spelling::parts`].
pub(super) const PARTS: &[Marker] = &[Marker::new("exit_", 1)];

/// The protocol in a prompt.
pub(super) fn protocol(_: &SignalPolicy) -> String {
    format!(
        "{HEAD},
every key at the beginning of a line:

EXIT_STATUS: {{COMPLETE|CONTINUE|BLOCKED}}
EXIT_REASON: {{one sentence}}
REMAINING_WORK: {{what is left, or the word none}}
{MEANINGS}"
    )
}

/// All candidates of this spelling in a message.
pub(super) fn candidates(layout: &Layout<'_>, _: &SignalPolicy) -> Vec<Candidate> {
    let text = layout.word().text.as_bytes();
    if memmem::find(text, b"EXIT_STATUS").is_none() {
        return Vec::new();
    }
    let (mut blocks, mut mentions) = (Vec::<Block<'_>>::new(), Vec::new());
    // Each key has an underscore, and few other lines have one.
    for index in layout.lines_at(memchr::memchr_iter(b'_', text)) {
        if blocks.last().is_some_and(|block| index < block.lines.end) {
            continue;
        }
        if field(layout, index).is_some() {
            blocks.push(Block::read(layout, index));
        } else {
            mentions.extend(layout.lines()[index].text.contains("EXIT_STATUS:").then_some(index));
        }
    }
    let last_blocks = blocks.split_off(blocks.len().saturating_sub(MAX_CANDIDATES));
    let last_mentions = mentions.split_off(mentions.len().saturating_sub(MAX_CANDIDATES));
    let mentions = last_mentions.into_iter().filter_map(|index| mention(layout, index));
    mentions.chain(last_blocks.iter().filter_map(|block| block.candidate(layout))).collect()
}

/// Fields that stand together.
struct Block<'l> {
    lines: Range<usize>,
    fields: Vec<Field>,
    language: &'l Language,
}

struct Field {
    key: &'static str,
    value: String,
    /// Its line in the message, from 0.
    index: usize,
}

/// The key and the value that a line holds.
fn field(layout: &Layout<'_>, index: usize) -> Option<Field> {
    let line = layout.lines()[index].text;
    // Most lines are no field, and to unmark a line takes a copy.
    if !line.contains('_') || !line.contains('E') || !line.contains([':', '：']) {
        return None;
    }
    let line = unmarked(line);
    let (key, value) = line.trim_start_matches(['>', '+', '-']).split_once([':', '：'])?;
    let key = KEYS.into_iter().find(|name| *name == undecorated(key))?;
    Some(Field { key, value: value.trim().to_owned(), index })
}

impl<'l> Block<'l> {
    /// Reads the fields from a line on. One blank line may stand between two, more before the work
    /// that remains, which must not be missed. A text with an empty or an open value goes on until
    /// a blank line.
    fn read(layout: &Layout<'l>, start: usize) -> Self {
        let language = layout.language();
        let mut fields: Vec<Field> = Vec::new();
        // The line after the last one that is not blank.
        let mut end = start;
        for (index, line) in layout.lines().iter().enumerate().skip(start) {
            if line.block == BlockKind::Fence {
                break;
            }
            let is_blank = line.text.trim().is_empty();
            let is_far = index > end + 1;
            if let Some(field) = field(layout, index) {
                let is_repeated = fields.iter().any(|earlier| earlier.key == field.key);
                if is_far && (field.key != "REMAINING_WORK" || is_repeated) {
                    break;
                }
                fields.push(field);
            } else if !is_blank {
                let may_continue = !is_far && !ENDS_TEXT.is_match(line.text);
                let is_next_line = index == end;
                let text_field = fields
                    .last_mut()
                    .filter(|field| may_continue && field.may_go_on(is_next_line, language));
                match text_field {
                    Some(field) => field.extend(line.text),
                    None => break,
                }
            }
            if !is_blank {
                end = index + 1;
            }
        }
        Self { lines: start..end, fields, language }
    }

    fn value(&self, key: &str) -> Option<&str> {
        self.values(key).next()
    }

    fn values(&self, key: &str) -> impl Iterator<Item = &str> {
        let fields = self.fields.iter().filter(move |field| field.key == key);
        fields.map(|field| field.value.as_str())
    }

    fn candidate(&self, layout: &Layout<'_>) -> Option<Candidate> {
        let status = self.fields.iter().find(|field| field.key == "EXIT_STATUS")?;
        let denies = denies(&status.value);
        let context = Context::new(layout, self.lines.clone()).for_denial(denies);
        let reading = match context.objection() {
            Some(objection) if denies => Reading::Doubtful(objection.reason),
            Some(objection) => Reading::Rejected(objection),
            None if split_word(&status.value).0 == "COMPLETE" && context.is_before_work() => {
                Reading::Rejected(Objection::new(FOLLOWED))
            }
            None => self.reading(status),
        };
        // The fields that say the same as the status.
        let deciding_fields = self
            .fields
            .iter()
            .filter(|field| matches!(field.key, "EXIT_STATUS" | "REMAINING_WORK"));
        let texts = deciding_fields.map(|field| format!("{}: {}", field.key, field.value));
        Some(Candidate {
            spelling: Spelling::ExitStatus,
            line: layout.number(status.index),
            index: status.index,
            span: layout.span(self.lines.clone()),
            text: format!("EXIT_STATUS: {}", status.value),
            texts: texts.collect(),
            reading,
        })
    }

    fn reading(&self, status: &Field) -> Reading {
        if is_placeholder(&status.value)
            || self.fields.iter().any(|field| is_blank_form(&field.value))
        {
            return Reading::Rejected(Objection::example(PLACEHOLDER));
        }
        let (word, comment) = split_word(&status.value);
        let value = match word {
            "COMPLETE" => SignalValue::Complete,
            "CONTINUE" => SignalValue::Continue,
            "BLOCKED" => SignalValue::Blocked,
            "" => return Reading::Rejected(Objection::new("it has no value")),
            _ => return Reading::Unreadable(unknown_value(word)),
        };
        Reading::Signal(self.statement(value, comment))
    }

    fn statement(&self, value: SignalValue, comment: &str) -> Statement {
        let remaining =
            self.value("REMAINING_WORK").filter(|text| !is_nothing(self.language, text));
        let mut problems = self.contradictions();
        if value == SignalValue::Complete
            && let Some(work) = remaining
        {
            problems.push(format!("EXIT_STATUS: COMPLETE, but REMAINING_WORK: {work}"));
        }
        if value == SignalValue::Complete && is_partial(self.language, comment) {
            problems.push(format!("EXIT_STATUS: COMPLETE is qualified: {}", comment.trim()));
        }
        Statement {
            value,
            reason: self.text("EXIT_REASON"),
            remaining_work: self.text("REMAINING_WORK"),
            confidence: self
                .value("EXIT_CONFIDENCE")
                .map(|text| split_word(text).0.to_ascii_lowercase()),
            override_requested: self
                .value("EXIT_OVERRIDE")
                .is_some_and(|text| split_word(text).0 == "true"),
            fields_agree: self.value("REMAINING_WORK").is_some() && remaining.is_none(),
            problems,
            exit_signal: None,
        }
    }

    /// The value of a key as a text; `None` for an empty one.
    fn text(&self, key: &str) -> Option<String> {
        self.value(key).filter(|text| !text.is_empty()).map(str::to_owned)
    }

    /// Keys that occur twice with different values.
    fn contradictions(&self) -> Vec<String> {
        let contradicted = KEYS.into_iter().filter(|key| differ(self.values(key)));
        contradicted.map(|key| format!("{key} stands twice, with different values")).collect()
    }
}

impl Field {
    /// A line may go on with this field's text. It has to be the next line, unless the text
    /// has not begun.
    fn may_go_on(&self, is_next_line: bool, language: &Language) -> bool {
        let is_text = match self.key {
            "EXIT_REASON" => true,
            "REMAINING_WORK" => self.value.is_empty() || !is_nothing(language, &self.value),
            _ => false,
        };
        is_text && (is_next_line || self.value.is_empty())
    }

    fn extend(&mut self, line: &str) {
        if !self.value.is_empty() {
            self.value.push(' ');
        }
        self.value.push_str(line.trim());
    }
}

const WITHIN_LINE: &str = "it stands within a line; a signal begins its line";

/// A line that says `EXIT_STATUS` without being a field.
fn mention(layout: &Layout<'_>, index: usize) -> Option<Candidate> {
    let text = layout.lines()[index].text;
    let offset = text.find("EXIT_STATUS:")?;
    Some(Candidate {
        spelling: Spelling::ExitStatus,
        line: layout.number(index),
        index,
        span: layout.line_span(index),
        text: crate::decide::indicator::excerpt(text, offset),
        texts: Vec::new(),
        reading: Reading::Rejected(Objection::new(WITHIN_LINE)),
    })
}

fn denies(value: &str) -> bool {
    !is_placeholder(value) && !matches!(split_word(value).0, "" | "COMPLETE")
}

fn unknown_value(word: &str) -> String {
    match word.to_ascii_uppercase().as_str() {
        upper @ ("COMPLETE" | "CONTINUE" | "BLOCKED") => {
            format!("the value is written `{word}`; `{upper}` would be accepted")
        }
        _ => format!("`{word}` is no status; COMPLETE, CONTINUE and BLOCKED are"),
    }
}

/// A line that ends a field's text: a rule, a heading, another key, a tool's mark.
static ENDS_TEXT: Expression =
    Expression::new(r"^\s*(?:[-=─━*_]{3,}\s*$|#|\[|⚡|===|```|[a-z][a-z_]{2,}:|tokens used)");

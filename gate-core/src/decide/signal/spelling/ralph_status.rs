//! The `RALPH_STATUS` block.
//!
//! A header with or without dashes, bold marks or a colon; keys and values,
//! values in any case; comments behind them; an end line that may be missing.
//! `EXIT_SIGNAL` decides, and `EXIT_SIGNAL: false` always wins.

mod json;

use std::ops::Range;

use json::JsonBlock;

use super::Spelling;
use crate::decide::expression::Expression;
use crate::decide::indicator::excerpt;
use crate::decide::language::{Kind, Language};
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
    differ, has_open_fraction, is_blank_form, is_failing, is_nothing, is_partial, is_placeholder,
    split_word, undecorated,
};

/// The longest block, in lines.
const MAX_BLOCK_LINES: usize = 200;

/// See [`Spelling::parts`]. Each header contains one, and so does what looks like a header.
pub(super) const PARTS: &[Marker] = &[Marker::new("ralph", 3), Marker::new("exit_", 1)];

/// The protocol in a prompt.
pub(super) fn protocol(_: &SignalPolicy) -> String {
    format!(
        "{HEAD}:

---RALPH_STATUS---
STATUS: {{COMPLETE|IN_PROGRESS|BLOCKED}}
TESTS_STATUS: {{PASSING|FAILING|NOT_RUN}}
EXIT_SIGNAL: {{true, only with COMPLETE and when nothing at all is left|false}}
RECOMMENDATION: {{one sentence}}
---END_RALPH_STATUS---
{MEANINGS}"
    )
}

/// All candidates of this spelling in a message.
pub(super) fn candidates(layout: &Layout<'_>, _: &SignalPolicy) -> Vec<Candidate> {
    let text = &layout.word().text;
    let mut offsets: Vec<_> = PARTS.iter().flat_map(|marker| marker.offsets(text)).collect();
    if offsets.is_empty() {
        return Vec::new();
    }
    offsets.sort_unstable();
    let marked_lines = layout.lines_at(offsets.into_iter());
    if !marked_lines.iter().any(|index| NAME.is_match(layout.lines()[*index].text)) {
        return Vec::new();
    }
    let (mut blocks, mut strays) = (Vec::<Block<'_>>::new(), Vec::new());
    for index in marked_lines {
        if blocks.last().is_some_and(|block| index < block.lines.end) {
            continue;
        }
        if BlockMark::read(layout.lines()[index].text) == Some(BlockMark::Header) {
            blocks.push(Block::read(layout, index));
        } else {
            strays.extend(STRAY.is_match(layout.lines()[index].text).then_some(index));
        }
    }
    let last_blocks = blocks.split_off(blocks.len().saturating_sub(MAX_CANDIDATES));
    let last_strays = strays.split_off(strays.len().saturating_sub(MAX_CANDIDATES));
    let strays = last_strays.into_iter().filter_map(|index| stray(layout, index));
    strays.chain(last_blocks.iter().map(|block| block.candidate(layout))).collect()
}

/// A line that begins or ends a block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BlockMark {
    Header,
    End,
}

impl BlockMark {
    fn read(line: &str) -> Option<Self> {
        // An object of JSON may begin on the line of its header.
        let line = line.split('{').next().unwrap_or_default();
        let name = line[HEADER.find(line)?].to_ascii_uppercase();
        Some(if name.contains("END") || name.contains('/') { Self::End } else { Self::Header })
    }
}

struct Block<'l> {
    lines: Range<usize>,
    fields: Vec<Field>,
    /// Its end was found: an end line, or the end of its object.
    is_closed: bool,
    language: &'l Language,
}

struct Field {
    /// In upper case.
    key: String,
    value: String,
    /// Its line in the message, from 0.
    index: usize,
}

impl<'l> Block<'l> {
    /// Reads from a header to its end line, to the next header, to the end of
    /// its fence, or to the first text that is no field.
    fn read(layout: &Layout<'l>, start: usize) -> Self {
        let language = layout.language();
        if let Some(JsonBlock { lines, members }) = json::block(layout, start) {
            let fields = members.into_iter().map(|(key, value)| Field {
                key: key.to_ascii_uppercase(),
                value,
                index: start,
            });
            return Self { lines, fields: fields.collect(), is_closed: true, language };
        }
        let mut block =
            Self { lines: start..start, fields: Vec::new(), is_closed: false, language };
        let lines = layout.lines().iter().enumerate().skip(start + 1).take(MAX_BLOCK_LINES);
        for (index, line) in lines {
            let mark = BlockMark::read(line.text);
            let is_fence = mark.is_none() && line.block == BlockKind::Fence;
            if mark == Some(BlockMark::Header) || is_fence {
                break;
            }
            block.lines.end = index + 1;
            if mark == Some(BlockMark::End) {
                block.is_closed = true;
                break;
            }
            block.fields.extend(field(language, line.text, index));
        }
        if !block.is_closed {
            block.shrink(layout, start);
        }
        block
    }

    /// Without an end line the block is the run of fields below its header.
    fn shrink(&mut self, layout: &Layout<'_>, header: usize) {
        let next_line = layout.lines().get(header + 1);
        let has_gap = next_line.is_some_and(|line| line.text.trim().is_empty());
        let first = header + 1 + usize::from(has_gap);
        let is_field = |index: &usize| self.fields.iter().any(|field| field.index == *index);
        let field_count = (first..self.lines.end).take_while(is_field).count();
        self.fields.truncate(field_count);
        self.lines.end = first + field_count;
    }

    fn field(&self, key: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.key == key)
    }

    fn values(&self, key: &str) -> impl Iterator<Item = &str> {
        let fields = self.fields.iter().filter(move |field| field.key == key);
        fields.map(|field| field.value.as_str())
    }

    fn value(&self, key: &str) -> Option<&str> {
        self.field(key).map(|field| field.value.as_str())
    }

    fn candidate(&self, layout: &Layout<'_>) -> Candidate {
        let denies = self.denies();
        let reading = match Context::new(layout, self.lines.clone()).for_denial(denies).objection()
        {
            Some(objection) if denies => Reading::Doubtful(objection.reason),
            Some(objection) => Reading::Rejected(objection),
            None => self.reading(),
        };
        let deciding_field = self.field("EXIT_SIGNAL").or_else(|| self.field("STATUS"));
        let status_keys = ["EXIT_SIGNAL", "STATUS", "TESTS_STATUS", "REMAINING_WORK"];
        let texts = status_keys.into_iter().filter_map(|key| self.field(key).map(Field::line));
        Candidate {
            spelling: Spelling::RalphStatus,
            line: layout.number(deciding_field.map_or(self.lines.start, |field| field.index)),
            index: self.lines.start,
            span: layout.span(self.lines.clone()),
            text: deciding_field.map_or_else(|| "RALPH_STATUS".to_owned(), Field::line),
            texts: texts.collect(),
            reading,
        }
    }

    fn reading(&self) -> Reading {
        if self.is_template() {
            return Reading::Rejected(Objection::example(PLACEHOLDER));
        }
        let status = self.value("STATUS").map(|status| undecorated(status).to_ascii_uppercase());
        let is_blocked = status.as_deref().is_some_and(|status| status.starts_with("BLOCKED"));
        match (self.value("EXIT_SIGNAL"), status.as_deref()) {
            (Some(signal), status) => match first_word(signal).as_str() {
                "true" => Reading::Signal(self.complete("EXIT_SIGNAL", status)),
                "false" if is_blocked => Reading::Signal(self.statement(SignalValue::Blocked)),
                "false" => Reading::Signal(self.statement(SignalValue::Continue)),
                _ => Reading::Unreadable(format!(
                    "`EXIT_SIGNAL: {signal}` is neither true nor false"
                )),
            },
            // The line that decides may have been cut off.
            (None, Some(_)) if !self.is_closed => {
                Reading::Unreadable("the block is cut off before its end".to_owned())
            }
            (None, Some(_)) if is_blocked => Reading::Signal(self.statement(SignalValue::Blocked)),
            (None, Some(status)) if is_complete(status) => {
                Reading::Signal(self.complete("STATUS", None))
            }
            (None, Some(_)) => Reading::Signal(self.statement(SignalValue::Continue)),
            (None, None) => {
                Reading::Rejected(Objection::new("the block holds neither EXIT_SIGNAL nor STATUS"))
            }
        }
    }

    fn denies(&self) -> bool {
        let denies = match self.value("EXIT_SIGNAL") {
            Some(signal) => first_word(signal) == "false",
            None => self.value("STATUS").is_some_and(|status| !is_complete(status)),
        };
        denies && !self.is_template()
    }

    /// The block is the prompt's own: it holds a choice of values, a placeholder, or an order
    /// in a comment.
    fn is_template(&self) -> bool {
        self.fields.iter().any(|Field { key, value, .. }| {
            let decides = matches!(key.as_str(), "STATUS" | "EXIT_SIGNAL");
            let wants_number = key.contains("TASKS") || key.contains("FILES");
            (decides && is_placeholder(value))
                || is_blank_form(value)
                || (wants_number && NO_NUMBER.is_match(value))
        })
    }

    /// Reads a block whose deciding key says complete. Everything in the block has to agree.
    fn complete(&self, deciding_key: &str, status: Option<&str>) -> Statement {
        let mut statement = self.statement(SignalValue::Complete);
        statement.fields_agree |= status.is_some();
        let claim = format!("{deciding_key}: {}", self.value(deciding_key).unwrap_or_default());
        let contradictions =
            self.fields.iter().filter(|field| field.contradicts_completion(self.language));
        statement.problems.extend(contradictions.map(|field| match field.key == deciding_key {
            true => format!("{claim} is qualified"),
            false => format!("{claim}, but {}: {}", field.key, field.value),
        }));
        statement
    }

    fn statement(&self, value: SignalValue) -> Statement {
        let tests = undecorated(self.value("TESTS_STATUS").unwrap_or_default());
        Statement {
            reason: self
                .value("RECOMMENDATION")
                .or_else(|| self.value("REASON"))
                .map(str::to_owned),
            remaining_work: self.value("REMAINING_WORK").map(str::to_owned),
            fields_agree: tests.to_ascii_uppercase().starts_with("PASS"),
            problems: self.repetitions(),
            ..Statement::new(value)
        }
    }

    /// Keys that occur twice with different values.
    fn repetitions(&self) -> Vec<String> {
        let mut keys = vec!["EXIT_SIGNAL", "STATUS"];
        keys.retain(|key| differ(self.values(key)));
        keys.iter().map(|key| format!("{key} stands twice, with different values")).collect()
    }
}

impl Field {
    fn line(&self) -> String {
        format!("{}: {}", self.key, self.value)
    }

    /// The field says that the work is not done after all.
    fn contradicts_completion(&self, language: &Language) -> bool {
        let value = self.value.as_str();
        match self.key.as_str() {
            "EXIT_SIGNAL" => is_partial(language, split_word(value).1),
            "STATUS" => !is_complete(value) || is_partial(language, split_word(value).1),
            "TESTS_STATUS" => is_failing(language, value),
            "RECOMMENDATION" => {
                language.matches(Kind::Recommendation, value)
                    || (OF_TASKS.is_match(value) && has_open_fraction(value))
            }
            key => OPEN_WORK_KEY.is_match(key) && !is_nothing(language, value),
        }
    }
}

/// A STATUS that agrees with `EXIT_SIGNAL: true`.
fn is_complete(status: &str) -> bool {
    const COMPLETE: [&str; 7] = [
        "complete",
        "completed",
        "done",
        "finished",
        "success",
        "all_complete",
        "project_complete",
    ];
    COMPLETE.contains(&first_word(status).as_str())
}

/// The first word of a value, in lower case.
fn first_word(value: &str) -> String {
    split_word(value).0.to_ascii_lowercase()
}

/// A line `KEY: value`; the value without its comment and its marks.
fn field(language: &Language, line: &str, index: usize) -> Option<Field> {
    let line = unmarked(line);
    let line = line.trim_start_matches(['>', '+']).trim_start();
    let (key, value) = line.split_once([':', '：'])?;
    let key = undecorated(key.trim());
    let is_key = !key.is_empty()
        && key.len() <= 40
        && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_key.then(|| Field {
        key: key.to_ascii_uppercase(),
        value: bare_value(language, value),
        index,
    })
}

/// A value without quotes, and without a comment behind ` # ` or ` // `. An
/// order in the comment stays: it marks a template.
fn bare_value(language: &Language, value: &str) -> String {
    let comment = [" # ", "\t# ", " // "].iter().filter_map(|mark| value.find(mark)).min();
    let is_order = |start: usize| language.matches(Kind::CommentOrder, &value[start..]);
    let end = comment.filter(|start| !is_order(*start)).unwrap_or(value.len());
    let value = value[..end].trim();
    if language.matches(Kind::CommentOrder, value) {
        return "...".to_owned();
    }
    let value = value.trim_matches(['"', '\'']);
    if is_blank_form(value) {
        value.to_owned()
    } else {
        value.trim_end_matches(['.', ',']).to_owned()
    }
}

/// `EXIT_SIGNAL: true` outside of any block, or a header within a line.
fn stray(layout: &Layout<'_>, index: usize) -> Option<Candidate> {
    let text = layout.lines()[index].text;
    let name = STRAY.find(text)?;
    if denies(layout, index) {
        let context = Context::new(layout, index..index + 1).for_denial(true);
        let reading = match context.objection() {
            Some(objection) => Reading::Doubtful(objection.reason),
            None => {
                let mut statement = Statement::new(SignalValue::Continue);
                statement.reason = Some("EXIT_SIGNAL: false".to_owned());
                Reading::Signal(statement)
            }
        };
        return Some(Candidate {
            spelling: Spelling::RalphStatus,
            line: layout.number(index),
            index,
            span: layout.line_span(index),
            text: "EXIT_SIGNAL: false".to_owned(),
            texts: Vec::new(),
            reading,
        });
    }
    let reason = if text[name.clone()].to_ascii_uppercase().contains("SIGNAL") {
        "it stands outside of a ---RALPH_STATUS--- block"
    } else {
        "the header is not recognised; it has a line of its own: ---RALPH_STATUS---"
    };
    Some(Candidate {
        spelling: Spelling::RalphStatus,
        line: layout.number(index),
        index,
        span: layout.line_span(index),
        text: excerpt(text, name.start),
        texts: Vec::new(),
        reading: Reading::Rejected(Objection::new(reason)),
    })
}

/// A line by itself says `EXIT_SIGNAL: false`, which forbids an exit even outside of a block.
fn denies(layout: &Layout<'_>, index: usize) -> bool {
    let field = field(layout.language(), layout.lines()[index].text, index);
    field.is_some_and(|field| {
        field.key == "EXIT_SIGNAL"
            && first_word(&field.value) == "false"
            && !is_placeholder(&field.value)
    })
}

/// The name of the block or of the field that decides. A message without it holds no block.
static NAME: Expression = Expression::new(r"ralph[_ ]status|exit_signal");

/// A header or an end line: the name with dashes, bold marks, a colon or
/// nothing around it, or glued to the end of a sentence with its dashes.
static HEADER: Expression = Expression::new(
    r"^[\s#*`=>+—–-]*<?/?(?:end[_ ])?ralph[_ ]status>?[\s*`=:：—–-]*$|[.!?…)]\s*-{2,}\s*ralph_status\s*-{2,}\s*$",
);

static STRAY: Expression =
    Expression::new(r"\bexit_signal[*`\x22]*\s*[:：]|-{2,}\s*(?:end_)?ralph[_ ]?status\s*-{2,}");

static OF_TASKS: Expression = Expression::new(r"\b(?:task|story|item|phase|step) \d+ of \d+\b");

/// Keys whose value is work that is open.
static OPEN_WORK_KEY: Expression = Expression::new(
    r"^(?:remaining|open|pending|incomplete|outstanding)(?:_|$)|_(?:remaining|left|open|pending)$",
);

/// A placeholder for a number.
static NO_NUMBER: Expression = Expression::new(r"^\W*(?:n|x|%d|number|count|#)\W*$");

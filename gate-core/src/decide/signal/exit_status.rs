//! `EXIT_STATUS: COMPLETE` and its companions: the seed's protocol.
//!
//! Key and value are upper case and stand on one line, after at most list,
//! bold or code marks. The lines of one block stand together; a free text may
//! go on over the lines below its key.

use std::ops::Range;

use super::layout::{Ground, Layout};
use super::place::{Place, is_blank_form, is_placeholder, undecorated, unmarked};
use super::{CANDIDATES, Candidate, PLACEHOLDER, Says, Statement};
use crate::decide::policy::{SignalValue, Spelling};
use crate::decide::sentence;

/// The keys of the protocol.
const KEYS: [&str; 6] = [
    "EXIT_STATUS",
    "EXIT_REASON",
    "REMAINING_WORK",
    "EXIT_CONFIDENCE",
    "EXIT_OVERRIDE",
    "EXIT_TOKEN",
];

/// All candidates of this spelling in a message.
pub(super) fn candidates(layout: &Layout<'_>) -> Vec<Candidate> {
    if !layout.word().text.contains("EXIT_STATUS") {
        return Vec::new();
    }
    let (mut blocks, mut found) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < layout.lines().len() {
        if field(layout, at).is_some() {
            let block = Block::read(layout, at);
            at = block.lines.end;
            blocks.push(block);
        } else {
            found.extend(mention(layout, at));
            at += 1;
        }
    }
    let last = blocks.split_off(blocks.len().saturating_sub(CANDIDATES));
    found = found.split_off(found.len().saturating_sub(CANDIDATES));
    found.extend(last.iter().filter_map(|block| block.candidate(layout)));
    found
}

/// Fields that stand together.
struct Block {
    lines: Range<usize>,
    fields: Vec<Field>,
}

struct Field {
    key: &'static str,
    value: String,
    line: usize,
}

/// The key and the value that a line holds.
fn field(layout: &Layout<'_>, index: usize) -> Option<Field> {
    let line = unmarked(layout.lines()[index].text);
    let (key, value) = line.trim_start_matches(['>', '+', '-']).split_once([':', '：'])?;
    let key = KEYS.into_iter().find(|known| *known == undecorated(key))?;
    Some(Field { key, value: value.trim().to_owned(), line: index })
}

impl Block {
    /// Reads the fields from a line on: one blank line may stand between two,
    /// and a text with an empty or an open value goes on until a blank line.
    fn read(layout: &Layout<'_>, start: usize) -> Self {
        let mut fields: Vec<Field> = Vec::new();
        let (mut at, mut end) = (start, start);
        while let Some(line) = layout.lines().get(at).filter(|line| line.ground != Ground::Fence) {
            let blank = line.text.trim().is_empty();
            if let Some(field) = field(layout, at) {
                fields.push(field);
            } else if blank && at > end {
                break;
            } else if !blank {
                match fields.last_mut().filter(|last| last.takes(at, end)) {
                    Some(last) => last.extend(line.text),
                    None => break,
                }
            }
            at += 1;
            end = if blank { end } else { at };
        }
        Self { lines: start..end.max(start + 1), fields }
    }

    fn value(&self, key: &str) -> Option<&str> {
        self.fields.iter().find(|field| field.key == key).map(|field| field.value.as_str())
    }

    fn candidate(&self, layout: &Layout<'_>) -> Option<Candidate> {
        let status = self.fields.iter().find(|field| field.key == "EXIT_STATUS")?;
        let place = Place::new(layout, self.lines.clone());
        let says = match place.objection() {
            Some(why) => Says::Nothing(why),
            None if self.fields.len() == 1 && place.work_follows() => {
                Says::Nothing("text about the next work follows it".to_owned())
            }
            None => self.says(status),
        };
        Some(Candidate {
            spelling: Spelling::ExitStatus,
            line: layout.number(status.line),
            text: format!("EXIT_STATUS: {}", status.value),
            taken: self.said(),
            says,
        })
    }

    fn says(&self, status: &Field) -> Says {
        if is_placeholder(&status.value)
            || self.fields.iter().any(|field| is_blank_form(&field.value) && field.value != "[]")
        {
            return Says::Nothing(PLACEHOLDER.to_owned());
        }
        let (word, comment) = split_word(&status.value);
        let value = match word {
            "COMPLETE" => SignalValue::Complete,
            "CONTINUE" => SignalValue::Continue,
            "BLOCKED" => SignalValue::Blocked,
            _ => return Says::Nothing(unknown_value(word)),
        };
        Says::Something(self.statement(value, comment))
    }

    fn statement(&self, value: SignalValue, comment: &str) -> Statement {
        let remaining = self.value("REMAINING_WORK").filter(|text| !is_nothing(text));
        let mut problems = self.contradictions();
        if let Some(work) = remaining.filter(|_| value == SignalValue::Complete) {
            problems.push(format!("EXIT_STATUS: COMPLETE, but REMAINING_WORK: {work}"));
        }
        if value == SignalValue::Complete && qualifies(comment) {
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
            token: self.text("EXIT_TOKEN"),
            agrees: self.value("REMAINING_WORK").is_some_and(is_nothing),
            problems,
        }
    }

    /// The fields that say the same as the status.
    fn said(&self) -> Vec<String> {
        let said = |field: &&Field| matches!(field.key, "EXIT_STATUS" | "REMAINING_WORK");
        self.fields
            .iter()
            .filter(said)
            .map(|field| format!("{}: {}", field.key, field.value))
            .collect()
    }

    fn text(&self, key: &str) -> Option<String> {
        self.value(key).filter(|text| !text.is_empty()).map(str::to_owned)
    }

    /// Keys that stand twice with different values.
    fn contradictions(&self) -> Vec<String> {
        let twice = |key: &&str| {
            let mut values =
                self.fields.iter().filter(|field| field.key == *key).map(|field| &field.value);
            values.next().is_some_and(|first| values.any(|other| other != first))
        };
        KEYS.iter()
            .filter(|key| twice(key))
            .map(|key| format!("{key} stands twice, with different values"))
            .collect()
    }
}

impl Field {
    /// Whether the line at `at` goes on with this field's text; `end` is the
    /// end of the lines read so far.
    fn takes(&self, at: usize, end: usize) -> bool {
        let free = matches!(self.key, "EXIT_REASON" | "REMAINING_WORK");
        free && (at == end || (self.value.is_empty() && at == self.line + 2))
    }

    fn extend(&mut self, line: &str) {
        if !self.value.is_empty() {
            self.value.push(' ');
        }
        self.value.push_str(line.trim());
    }
}

/// A line that says `EXIT_STATUS` without being a field.
fn mention(layout: &Layout<'_>, index: usize) -> Option<Candidate> {
    let text = layout.lines()[index].text;
    let at = text.find("EXIT_STATUS:")?;
    Some(Candidate {
        spelling: Spelling::ExitStatus,
        line: layout.number(index),
        text: crate::decide::indicator::excerpt(text, at),
        taken: Vec::new(),
        says: Says::Nothing("it stands within a line; a signal begins its line".to_owned()),
    })
}

/// The first word of a value, and what follows it.
fn split_word(value: &str) -> (&str, &str) {
    let value = undecorated(value);
    let end = value.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(value.len());
    value.split_at(end)
}

fn unknown_value(word: &str) -> String {
    match word.to_ascii_uppercase().as_str() {
        "" => "it has no value".to_owned(),
        upper @ ("COMPLETE" | "CONTINUE" | "BLOCKED") => {
            format!("the value is written `{word}`; `{upper}` would be accepted")
        }
        _ => format!("`{word}` is no status; COMPLETE, CONTINUE and BLOCKED are"),
    }
}

/// Whether a comment takes back what it stands behind.
pub(super) fn qualifies(comment: &str) -> bool {
    sentence::is_negated(comment)
        || sentence::is_conditional(comment)
        || sentence::has_exception(comment)
}

/// Whether a text says that nothing remains.
pub(super) fn is_nothing(text: &str) -> bool {
    const NOTHING: [&str; 15] = [
        "",
        "none",
        "nothing",
        "n/a",
        "na",
        "empty",
        "0",
        "-",
        "[]",
        "no remaining work",
        "0 tasks",
        "0 items",
        "无",
        "ninguno",
        "keine",
    ];
    let text = text.trim().trim_matches(['"', '\'']).to_ascii_lowercase();
    let end = text.find(['.', ';', ',', '(', '—', '–']).unwrap_or(text.len());
    let (head, comment) = text.split_at(end);
    let head = head
        .trim()
        .trim_start_matches("- ")
        .trim_end_matches(" remaining")
        .trim_end_matches(" left");
    NOTHING.contains(&head) && !says_more(comment)
}

/// Whether the comment behind a "none" names work after all.
fn says_more(comment: &str) -> bool {
    const MORE: [&str; 10] = [
        "but",
        "except",
        "however",
        "still",
        "only",
        "pending",
        "until",
        "apart",
        "other than",
        "todo",
    ];
    MORE.iter().any(|word| comment.split(|c: char| !c.is_alphanumeric()).any(|part| part == *word))
        || sentence::has_exception(comment)
}

//! The `RALPH_STATUS` block.
//!
//! A header with or without dashes, bold marks or a colon; keys and values,
//! values in any case; comments behind them; an end line that may be missing.
//! `EXIT_SIGNAL` decides, and `EXIT_SIGNAL: false` always wins.

use std::ops::Range;
use std::sync::LazyLock;

use regex_automata::meta::Regex;

use super::exit_status::{is_nothing, qualifies};
use super::layout::{Ground, Layout};
use super::place::{Place, is_blank_form, is_placeholder, unmarked};
use super::{Candidate, Says, Statement};
use crate::decide::expression::constant;
use crate::decide::policy::{SignalValue, Spelling};

/// The longest block, in lines.
const LONGEST: usize = 200;

/// All candidates of this spelling in a message.
pub(super) fn candidates(layout: &Layout<'_>) -> Vec<Candidate> {
    let text = &layout.word().text;
    if !text.contains("RALPH_STATUS") && !text.contains("EXIT_SIGNAL") {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut at = 0;
    while at < layout.lines().len() {
        if mark(layout.lines()[at].text) == Some(Mark::Begin) {
            let block = Block::read(layout, at);
            at = block.lines.end;
            found.push(block.candidate(layout));
        } else {
            found.extend(stray(layout, at));
            at += 1;
        }
    }
    found
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Begin,
    End,
}

/// Reads a header or an end line.
fn mark(line: &str) -> Option<Mark> {
    let decoration =
        |c: char| matches!(c, '-' | '=' | '*' | '`' | '#' | ':' | ' ' | '\t' | '+' | '>');
    match line.trim_matches(decoration) {
        "RALPH_STATUS" => Some(Mark::Begin),
        "END_RALPH_STATUS" | "/RALPH_STATUS" => Some(Mark::End),
        _ => None,
    }
}

struct Block {
    lines: Range<usize>,
    fields: Vec<(String, String)>,
    closed: bool,
}

impl Block {
    /// Reads from a header to its end line, to the next header, to the end of
    /// its fence, or to the first text that is no field.
    fn read(layout: &Layout<'_>, start: usize) -> Self {
        let mut block = Self { lines: start..start + 1, fields: Vec::new(), closed: false };
        let rest = layout.lines().iter().enumerate().skip(start + 1).take(LONGEST);
        for (index, line) in rest {
            match mark(line.text) {
                Some(Mark::Begin) => break,
                Some(Mark::End) => {
                    block.closed = true;
                    block.lines.end = index + 1;
                    break;
                }
                None if line.ground == Ground::Fence => break,
                None => {
                    block.fields.extend(field(line.text));
                    block.lines.end = index + 1;
                }
            }
        }
        if !block.closed {
            block.shrink(layout, start);
        }
        block
    }

    /// Without an end line the block is the run of fields below its header.
    fn shrink(&mut self, layout: &Layout<'_>, start: usize) {
        let lines = &layout.lines()[start + 1..self.lines.end];
        let run = lines
            .iter()
            .enumerate()
            .take_while(|(at, line)| {
                field(line.text).is_some() || (*at == 0 && line.text.trim().is_empty())
            })
            .count();
        self.fields = lines[..run].iter().filter_map(|line| field(line.text)).collect();
        self.lines.end = start + 1 + run;
    }

    fn value(&self, key: &str) -> Option<&str> {
        self.fields.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }

    fn candidate(&self, layout: &Layout<'_>) -> Candidate {
        let says = match Place::new(layout, self.lines.clone()).objection() {
            Some(why) => Says::Nothing(why.to_owned()),
            None => self.says(),
        };
        let key = if self.value("EXIT_SIGNAL").is_some() { "EXIT_SIGNAL" } else { "STATUS" };
        let text = self
            .value(key)
            .map_or_else(|| "RALPH_STATUS".to_owned(), |value| format!("{key}: {value}"));
        let said = [key, "STATUS", "TESTS_STATUS", "REMAINING_WORK"];
        let taken = said
            .into_iter()
            .filter_map(|key| Some(format!("{key}: {}", self.value(key)?)))
            .collect();
        Candidate {
            spelling: Spelling::RalphStatus,
            line: layout.number(self.lines.start),
            text,
            taken,
            says,
        }
    }

    fn says(&self) -> Says {
        let signal = self.value("EXIT_SIGNAL");
        let status = self.value("STATUS").map(str::to_ascii_uppercase);
        if self.is_template() {
            return Says::Nothing("a placeholder, not a signal".to_owned());
        }
        let blocked = status.as_deref().is_some_and(|status| status.starts_with("BLOCKED"));
        match signal.map(first_word).as_deref() {
            Some("true") => Says::Something(self.complete(status.as_deref())),
            Some("false") if blocked => {
                Says::Something(self.statement(SignalValue::Blocked, false))
            }
            Some("false") => Says::Something(self.statement(SignalValue::Continue, false)),
            None if blocked => Says::Something(self.statement(SignalValue::Blocked, false)),
            None if status.is_some() && !self.closed => {
                Says::Mangled("the block is cut off before its end".to_owned())
            }
            None if status.as_deref() == Some("COMPLETE") => Says::Something(self.complete(None)),
            None if status.is_some() => {
                Says::Something(self.statement(SignalValue::Continue, false))
            }
            None => Says::Nothing("the block holds neither EXIT_SIGNAL nor STATUS".to_owned()),
            Some(other) => {
                Says::Mangled(format!("`EXIT_SIGNAL: {other}` is neither true nor false"))
            }
        }
    }

    /// Whether the block is the prompt's own: a choice of values, or a
    /// placeholder for one.
    fn is_template(&self) -> bool {
        self.fields.iter().any(|(key, value)| {
            let decides = matches!(key.as_str(), "STATUS" | "EXIT_SIGNAL");
            (decides && is_placeholder(value)) || is_blank_form(value)
        })
    }

    /// What the block says where it says complete: everything in it has to agree.
    fn complete(&self, status: Option<&str>) -> Statement {
        let mut statement = self.statement(SignalValue::Complete, status.is_some());
        if let Some(signal) = self.value("EXIT_SIGNAL").filter(|value| qualifies(&value[4..])) {
            statement.problems.push(format!("EXIT_SIGNAL: {signal} is qualified"));
        }
        if let Some(status) = status.filter(|status| !is_complete(status)) {
            statement.problems.push(format!("EXIT_SIGNAL: true, but STATUS: {status}"));
        }
        if self
            .value("TESTS_STATUS")
            .is_some_and(|tests| tests.to_ascii_uppercase().starts_with("FAIL"))
        {
            statement.problems.push("EXIT_SIGNAL: true, but TESTS_STATUS: FAILING".to_owned());
        }
        if let Some(work) = self.value("RECOMMENDATION").filter(|text| REMAINING.is_match(text)) {
            statement.problems.push(format!("EXIT_SIGNAL: true, but RECOMMENDATION: {work}"));
        }
        if let Some(work) = self.value("REMAINING_WORK").filter(|text| !is_nothing(text)) {
            statement.problems.push(format!("EXIT_SIGNAL: true, but REMAINING_WORK: {work}"));
        }
        statement
    }

    fn statement(&self, value: SignalValue, status_agrees: bool) -> Statement {
        let passing = self
            .value("TESTS_STATUS")
            .is_some_and(|tests| tests.to_ascii_uppercase().starts_with("PASS"));
        Statement {
            value,
            reason: self
                .value("RECOMMENDATION")
                .or_else(|| self.value("REASON"))
                .map(str::to_owned),
            remaining_work: self.value("REMAINING_WORK").map(str::to_owned),
            agrees: status_agrees || passing,
            problems: self.contradictions(),
            ..Statement::new(value)
        }
    }

    fn contradictions(&self) -> Vec<String> {
        ["EXIT_SIGNAL", "STATUS"]
            .into_iter()
            .filter(|key| {
                let mut values =
                    self.fields.iter().filter(|(name, _)| name == key).map(|(_, value)| value);
                values
                    .next()
                    .is_some_and(|first| values.any(|other| !other.eq_ignore_ascii_case(first)))
            })
            .map(|key| format!("{key} stands twice, with different values"))
            .collect()
    }
}

/// The first word of a value, in lower case.
fn first_word(value: &str) -> String {
    let end = value.find(|c: char| !c.is_alphanumeric()).unwrap_or(value.len());
    value[..end].to_ascii_lowercase()
}

/// Whether a STATUS agrees with `EXIT_SIGNAL: true`.
fn is_complete(status: &str) -> bool {
    let word = status.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
    matches!(word, "COMPLETE" | "COMPLETED" | "DONE" | "FINISHED")
}

/// A line `KEY: value`; the value without its comment and its marks.
fn field(line: &str) -> Option<(String, String)> {
    let line = unmarked(line);
    let line = line.trim_start_matches(['>', '+']).trim_start();
    let (key, value) = line.split_once(':')?;
    let key = key.trim();
    let is_key = !key.is_empty()
        && key.len() <= 40
        && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_key.then(|| (key.to_ascii_uppercase(), bare(value)))
}

/// A value without quotes, and without a comment behind ` # ` or ` // `.
fn bare(value: &str) -> String {
    let end = [" # ", "\t# ", " // "].iter().filter_map(|mark| value.find(mark)).min();
    value[..end.unwrap_or(value.len())]
        .trim()
        .trim_matches(['"', '\''])
        .trim_end_matches(['.', ','])
        .to_owned()
}

/// `EXIT_SIGNAL: true` or a status outside of any block.
fn stray(layout: &Layout<'_>, index: usize) -> Option<Candidate> {
    let text = layout.lines()[index].text;
    let at = text.find("EXIT_SIGNAL")?;
    if !text[at..]
        .trim_start_matches("EXIT_SIGNAL")
        .trim_start_matches(['*', '`', '"'])
        .starts_with(':')
    {
        return None;
    }
    Some(Candidate {
        spelling: Spelling::RalphStatus,
        line: layout.number(index),
        text: crate::decide::indicator::excerpt(text, at),
        taken: Vec::new(),
        says: Says::Nothing("it stands outside of a ---RALPH_STATUS--- block".to_owned()),
    })
}

/// A recommendation that counts work that is left.
static REMAINING: LazyLock<Regex> = LazyLock::new(|| {
    constant(
        r"\bremaining [1-9]\d*\b|\b[1-9]\d* (?:more |other |open )?(?:remaining|(?:items?|tasks?|stor(?:y|ies)|issues?|steps?|phases?) (?:remain|left|to go|still))",
    )
});
